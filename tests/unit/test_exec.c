// The search for a program in PATH.

#include "lib/exec.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

static char dir[] = "/tmp/terse-test-XXXXXX";

static void write_file(const char *name, const void *data, size_t len, mode_t mode)
{
	char path[100];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	write_file(name, text, strlen(text), mode);
}

struct call {
	const char *path, *file; /* NULL: PATH is not set */
};

/* In the test's directory. */
static void call_it(const void *ctx)
{
	const struct call *call = ctx;
	const char *argv[] = {call->file, "one", "two three", NULL};
	CHECK(chdir(dir) == 0);
	CHECK((call->path ? setenv("PATH", call->path, 1) : unsetenv("PATH")) == 0);
	dprintf(STDOUT_FILENO, "error %d\n", exec_search(call->file, (char **)argv));
}

static void gives(const char *path, const char *file, const char *want)
{
	const struct call call = {path, file};
	char got[200];
	assert_int_equal(child_run_output(call_it, &call, got, sizeof(got)), 0);
	assert_string_equal(got, want);
}

#define SCRIPT "echo \"$0 $# $2\"\n"

TEST(finds_the_first_that_can_be_executed)
{
	gives("b", "tool", "b/tool 2 two three\n");
	gives("nosuch:b", "tool", "b/tool 2 two three\n");
	/* A directory, a file without the bit to execute it, an interpreter that is missing. */
	gives("directory:b", "tool", "b/tool 2 two three\n");
	gives("plain:b", "tool", "b/tool 2 two three\n");
	gives("lost:b", "tool", "b/tool 2 two three\n");
	gives("plain/tool:b", "tool", "b/tool 2 two three\n");
	/* An empty entry is this directory. */
	gives("nosuch:", "here", "here 2 two three\n");
	gives("", "here", "here 2 two three\n");
	gives("b", "./here", "./here 2 two three\n");
	gives(NULL, "echo", "one two three\n");
}

static void fails(const char *path, const char *file, int error)
{
	char want[32];
	snprintf(want, sizeof(want), "error %d\n", error);
	gives(path, file, want);
}

TEST(tells_why_none)
{
	fails("b", "nosuch", ENOENT);
	fails("b", "", ENOENT);
	fails("plain:nosuch", "tool", EACCES);
	fails("b", "plain/tool", EACCES);
	fails("b", "here/tool", ENOTDIR);
	/* A binary of another machine is no script, and ends the search. */
	fails("binary:b", "tool", ENOEXEC);
	fails("b", "binary/tool", ENOEXEC);
}

static int make_files(void **state)
{
	static const char *const folders[] = {"b",         "plain",          "lost",
					      "directory", "directory/tool", "binary"};
	char path[100];
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, folders[i]);
		if (mkdir(path, 0700) < 0)
			return -1;
	}
	write_text("b/tool", SCRIPT, 0700);
	write_text("here", SCRIPT, 0700);
	write_text("plain/tool", SCRIPT, 0600);
	write_text("lost/tool", "#!/no/such/interpreter\n" SCRIPT, 0700);
	write_file("binary/tool", "\177ELF\0\0\n", 7, 0700);
	return 0;
}

static int remove_files(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

TEST_MAIN(make_files, remove_files)
