// What a shell leaves to the next command, and the sessions that keep it.

#include "lib/buffer.h"
#include "supervisor/mcp/sessions.h"
#include "tests/unit/unit.h"

/* A list of words with its NULL. */
#define WORDS(...) ((char **)(const char *[]){__VA_ARGS__, NULL})

static void make(struct shell_state *s, const char *directory, char **env)
{
	assert_int_equal(shell_state_init(s, directory, env), 0);
}

static void assert_env(const struct shell_state *s, const char *want)
{
	struct buffer out = BUFFER_INIT;
	for (size_t i = 0; i < s->count; i++)
		buffer_printf(&out, "%s%s", i ? " " : "", s->env[i]);
	assert_null(s->env[s->count]);
	assert_string_equal(buffer_string(&out), want);
	buffer_release(&out);
}

static int take(struct shell_state *s, const struct shell_state *before, const char *left,
		size_t len)
{
	return shell_state_take(s, before, left, len);
}

#define TAKE(s, before, left) take(s, before, left, sizeof(left) - 1)

/* Set, changed, removed; what belongs to one process is not taken over. */
TEST(takes_changes)
{
	struct shell_state s, before;
	make(&s, "/a", WORDS("A=1", "B=2", "C=3", "SHLVL=1", "TERSE_ACTIVE=9", "_=x"));
	assert_env(&s, "A=1 B=2 C=3");
	assert_int_equal(shell_state_init(&before, s.directory, s.env), 0);
	assert_int_equal(
		TAKE(&s, &before, "/b\0A=1\0B=two\0D=\0SHLVL=2\0_=/bin/x\0TERSE_ACTIVE=1\0"), 0);
	assert_string_equal(s.directory, "/b");
	assert_env(&s, "A=1 B=two D= PWD=/b");
	shell_state_release(&s);
	shell_state_release(&before);
}

/* Two commands at the same time: the one that ends last takes back nothing of the other. */
TEST(merges)
{
	struct shell_state s, before;
	make(&s, "/a", WORDS("A=1"));
	assert_int_equal(shell_state_init(&before, s.directory, s.env), 0);
	assert_int_equal(TAKE(&s, &before, "/b\0A=1\0B=2\0"), 0);
	assert_int_equal(TAKE(&s, &before, "/a\0A=3\0"), 0);
	assert_string_equal(s.directory, "/b");
	assert_env(&s, "A=3 B=2 PWD=/b");
	shell_state_release(&s);
	shell_state_release(&before);
}

TEST(refuses_what_is_none)
{
	struct shell_state s, before;
	make(&s, "/a", WORDS("A=1"));
	assert_int_equal(shell_state_init(&before, s.directory, s.env), 0);
	static const struct {
		const char *left;
		size_t len;
	} wrong[] = {{"", 0}, {"/b", 2}, {"b\0", 2}, {"/b\0A=2", 6}, {"\0", 1}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(take(&s, &before, wrong[i].left, wrong[i].len), -1);
		assert_int_equal(errno, EPROTO);
	}
	assert_string_equal(s.directory, "/a");
	assert_env(&s, "A=1");
	shell_state_release(&s);
	shell_state_release(&before);
}

/* A shell's child writes to the file that the server has opened, and to no other. */
TEST(leaves)
{
	struct shell_leave l;
	char file[64], *left;
	size_t len;
	char **env = WORDS("A=1");
	assert_int_equal(shell_leave_open(&l), 0);
	snprintf(file, sizeof(file), "/proc/%d/fd/%d", (int)getpid(), l.fd);
	assert_int_equal(shell_leave_read(&l, &left, &len), -1);
	assert_int_equal(errno, ENODATA);
	assert_int_equal(shell_leave_main(file, "0123456789abcdef0123456789abcdef", env), 1);
	assert_int_equal(shell_leave_main("/dev/null", l.mark, env), 1);
	assert_int_equal(shell_leave_main("/nosuch", l.mark, env), 1);
	assert_int_equal(shell_leave_read(&l, &left, &len), -1);
	unsetenv("PWD");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(shell_leave_main(file, l.mark, env), 0);
	assert_int_equal(shell_leave_read(&l, &left, &len), 0);
	assert_int_equal(len, 6);
	assert_memory_equal(left, "/\0A=1", 6);
	free(left);
	shell_leave_close(&l);
}

TEST(leave_command)
{
	const struct shell_leave l = {.fd = 7, .mark = "m"};
	char want[100];
	char *command = shell_leave_command(&l, "/a'b/terse");
	snprintf(want, sizeof(want), "'/a'\\''b/terse' mcp --leave /proc/%d/fd/7 m 2>/dev/null",
		 (int)getpid());
	assert_string_equal(command, want);
	free(command);
}

TEST(named_sessions)
{
	struct sessions s;
	char **env = WORDS("A=1");
	assert_int_equal(sessions_init(&s, "/a", env), 0);
	struct session *one = sessions_begin(&s, "one", "/b", env);
	assert_string_equal(one->name, "one");
	assert_string_equal(sessions_begin(&s, NULL, "/b", env)->name, "session-2");
	assert_null(sessions_begin(&s, "one", "/b", env));
	assert_int_equal(errno, EEXIST);
	static const char *const wrong[] = {"", "a b", "a/b", "\xc3\xbc"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_null(sessions_begin(&s, wrong[i], "/b", env));
		assert_int_equal(errno, EINVAL);
	}
	assert_string_equal(sessions_find(&s, NULL)->name, "default");
	uint64_t number = sessions_find(&s, "default")->number;
	assert_int_equal(sessions_end(&s, "default", "/c", env), 0);
	assert_string_equal(sessions_find(&s, "default")->state.directory, "/c");
	/* A command of the session that was ended leaves nothing to the new one. */
	assert_null(sessions_by_number(&s, number));
	assert_int_equal(sessions_end(&s, "none", "/c", env), -1);
	assert_int_equal(errno, ENOENT);
	while (s.count < SESSIONS_MAX)
		assert_non_null(sessions_begin(&s, NULL, "/b", env));
	assert_null(sessions_begin(&s, NULL, "/b", env));
	assert_int_equal(errno, ENFILE);
	sessions_release(&s);
}

TEST_MAIN(NULL, NULL)
