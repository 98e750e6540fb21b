// What a shell leaves to the next command.

#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/mcp/server.h"
#include "tests/unit/unit.h"

/* A list of words with its NULL. */
#define WORDS(...) ((char **)(const char *[]){__VA_ARGS__, NULL})

static struct buffer make(const char *directory, char **env)
{
	struct buffer s = BUFFER_INIT;
	shell_state_init(&s, directory, env);
	return s;
}

/* "NAME=VALUE ..." */
static void assert_state(const struct buffer *s, const char *want)
{
	struct buffer out = BUFFER_INIT;
	char **strings = shell_strings(s);
	for (char **at = strings; *at; at++)
		buffer_printf(&out, "%s%s", at > strings ? " " : "", *at);
	assert_string_equal(buffer_string(&out), want);
	free(strings);
	buffer_release(&out);
}

#define TAKE(s, before, left) shell_state_take(s, before, left, sizeof(left) - 1)

/* Set, changed, removed; what belongs to one process is not taken over. */
TEST(takes_changes)
{
	struct buffer s =
		make("/a", WORDS("A=1", "B=2", "C=3", "SHLVL=1", "TERSE_ACTIVE=9", "_=x"));
	struct buffer before = make("/a", WORDS("A=1", "B=2", "C=3"));
	assert_state(&s, "A=1 B=2 C=3 PWD=/a");
	assert_int_equal(
		TAKE(&s, &before, "PWD=/b\0A=1\0B=two\0D=\0SHLVL=2\0_=/bin/x\0TERSE_ACTIVE=1\0"),
		0);
	assert_state(&s, "A=1 PWD=/b B=two D=");
	buffer_release(&s);
	buffer_release(&before);
}

TEST(refuses_what_is_none)
{
	struct buffer s = make("/a", WORDS("A=1"));
	static const struct {
		const char *left;
		size_t len;
	} wrong[] = {{"", 0},   {"PWD=/b", 6}, {"PWD=b\0", 6},  {"PWD=/b\0A=2", 10},
		     {"\0", 1}, {"A=2", 4},    {"A=2\0PWD", 8}, {"PWD=/b\0PWD=b", 13}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(shell_state_take(&s, &s, wrong[i].left, wrong[i].len), -1);
		assert_int_equal(errno, EPROTO);
	}
	assert_state(&s, "A=1 PWD=/a");
	buffer_release(&s);
}

/* A shell's child writes to the file that the server has opened, and to no other. */
TEST(leaves)
{
	char file[64], mark[SHELL_MARK_MAX];
	struct buffer left = BUFFER_INIT;
	char **env = WORDS("A=1");
	int fd, found;
	char *command = shell_leave_open(&fd, "/a'b/terse");
	const char *leave = strstr(command, " mcp --leave ");
	assert_non_null(strstr(command, "/a'\\''\\'\\'''\\''b/terse"));
	assert_int_equal(
		sscanf(leave, " mcp --leave %63s %39s 2>/dev/null' EXIT%n", file, mark, &found), 2);
	assert_int_equal(found, strlen(leave));
	free(command);
	assert_int_equal(shell_leave_main(file, "0-0", env), 1);
	assert_int_equal(shell_leave_main("/dev/null", mark, env), 1);
	assert_int_equal(shell_leave_main("/nosuch", mark, env), 1);
	/* So far the file has only the line by which a shell knows it, which is no state. */
	assert_int_equal(io_read_all(fd, &left, SHELL_STATE_MAX), 0);
	assert_int_equal(left.len, strlen(mark) + 1);
	assert_int_equal(shell_state_take(&left, &left, left.data, left.len), -1);
	buffer_release(&left);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	unsetenv("PWD");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(shell_leave_main(file, mark, env), 0);
	assert_int_equal(io_read_all(fd, &left, SHELL_STATE_MAX), 0);
	assert_state(&left, "A=1 PWD=/");
	buffer_release(&left);
	close(fd);
}

TEST_MAIN(NULL, NULL)
