// What a shell leaves to the next command, and the sessions that keep it.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/buffer.h"
#include "supervisor/mcp/sessions.h"

#include <errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
static void takes_changes(void **state)
{
	struct shell_state s, before;
	(void)state;
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
static void merges(void **state)
{
	struct shell_state s, before;
	(void)state;
	make(&s, "/a", WORDS("A=1"));
	assert_int_equal(shell_state_init(&before, s.directory, s.env), 0);
	assert_int_equal(TAKE(&s, &before, "/b\0A=1\0B=2\0"), 0);
	assert_int_equal(TAKE(&s, &before, "/a\0A=3\0"), 0);
	assert_string_equal(s.directory, "/b");
	assert_env(&s, "A=3 B=2 PWD=/b");
	shell_state_release(&s);
	shell_state_release(&before);
}

static void refuses_what_is_none(void **state)
{
	struct shell_state s, before;
	(void)state;
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
static void leaves(void **state)
{
	struct shell_leave l;
	char file[64], *left;
	size_t len;
	char **env = WORDS("A=1");
	(void)state;
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

static void leave_command(void **state)
{
	const struct shell_leave l = {.fd = 7, .mark = "m"};
	char want[100];
	(void)state;
	char *command = shell_leave_command(&l, "/a'b/terse");
	snprintf(want, sizeof(want), "'/a'\\''b/terse' mcp --leave /proc/%d/fd/7 m 2>/dev/null",
		 (int)getpid());
	assert_string_equal(command, want);
	free(command);
}

static void named_sessions(void **state)
{
	struct sessions s;
	char **env = WORDS("A=1");
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_changes),        cmocka_unit_test(merges),
		cmocka_unit_test(refuses_what_is_none), cmocka_unit_test(leaves),
		cmocka_unit_test(leave_command),        cmocka_unit_test(named_sessions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
