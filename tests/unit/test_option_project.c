// The .terse.ini of a project: where it is looked for, what is taken from it, and
// when it is not trusted.

#include "tests/unit/configured.h"
#include "tests/unit/home.h"

#include <limits.h>

static char begun[PATH_MAX]; /* the test's own directory is `home`, with the project in home/repo */

static int setup(void **state)
{
	home_setup(state);
	clear_variables();
	assert_non_null(getcwd(begun, sizeof(begun)));
	assert_int_equal(chdir(home), 0);
	assert_int_equal(mkdir("repo", 0700), 0);
	assert_int_equal(mkdir("repo/a", 0700), 0);
	assert_int_equal(mkdir("repo/a/b", 0700), 0);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(chdir(begun), 0);
	return home_teardown(state);
}

/* Names below are relative to the test's directory. */
static void enter(const char *dir)
{
	assert_int_equal(chdir(home), 0);
	assert_int_equal(chdir(dir), 0);
}

static void put_file(const char *name, const char *text)
{
	enter(".");
	write_file(name, text);
	assert_int_equal(chmod(name, 0644), 0);
}

/* In the current directory. */
static void expect_size(int64_t size, const char *message)
{
	char expected[512] = "";
	struct option_error error;
	struct settings s;
	assert_int_equal(settings_load(&s, "/nowhere/terse.ini", &error), 0);
	if (*message)
		snprintf(expected, sizeof(expected), "%s/%s", home, message);
	assert_string_equal(error.text, expected);
	assert_int_equal(s.size, size);
	settings_release(&s);
}

static void expect_found(const char *dir, const char *name)
{
	char path[PATH_MAX] = "", expected[PATH_MAX];
	enter(dir);
	assert_int_equal(project_find(path), *name != '\0');
	snprintf(expected, sizeof(expected), "%s/%s", home, name);
	if (*name)
		assert_string_equal(path, expected);
}

TEST_IN(it_is_found_up_to_the_repository_s_home, setup, teardown)
{
	put_file(".terse.ini", "[report]\nsize = 10000\n");
	expect_found(".", ".terse.ini");
	expect_found("repo", ""); /* not in a repository */
	enter(".");
	assert_int_equal(mkdir(".git", 0700), 0); /* the outer directory is one now */
	expect_found("repo/a/b", ".terse.ini");
	enter(".");
	assert_int_equal(mkdir("repo/.git", 0700), 0);
	expect_found("repo/a/b", "");
	put_file("repo/.terse.ini", "[report]\nsize = 20000\n");
	expect_found("repo/a/b", "repo/.terse.ini");
	expect_found("repo", "repo/.terse.ini");
	expect_size(20000, "");
	put_file("repo/a/.terse.ini", "[report]\nsize = 30000\n");
	expect_found("repo/a/b", "repo/a/.terse.ini");
	expect_size(30000, "");
	enter(".");
	assert_int_equal(rmdir("repo/.git"), 0);
	put_file("repo/.git", "gitdir: elsewhere\n"); /* as in a worktree */
	expect_found("repo/a/b", "repo/a/.terse.ini");
}

TEST_IN(directories_without_one_are_no_trouble, setup, teardown)
{
	char path[PATH_MAX];
	assert_int_equal(chdir("/"), 0);
	assert_false(project_find(path));
	enter("repo/a");
	assert_false(project_find(path));
	expect_size(4096, "");
	assert_int_equal(rmdir("../a/b"), 0);
	enter("repo/a");
	assert_int_equal(rmdir("../a"), 0);
	assert_false(project_find(path)); /* the current directory is gone */
	expect_size(4096, "");
}

/* Its settings come after the user's file's, and before variables. */
TEST_IN(it_has_its_place_among_the_sources, setup, teardown)
{
	struct option_error error;
	struct settings s;
	char path[128];
	put_file("user.ini", "[report]\nsize = 99\nmax_lines = 7\nheartbeat = 5s\n");
	put_file("repo/.terse.ini", "[report]\nsize = 20000\nheartbeat = 6s\n");
	snprintf(path, sizeof(path), "%s/user.ini", home);
	setenv("TERSE_CONFIG", path, 1);
	setenv("TERSE_HEARTBEAT", "7s", 1);
	enter("repo");
	assert_int_equal(settings_load(&s, "/nowhere/terse.ini", &error), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(s.size, 20000);
	assert_int_equal(s.max_lines, 7);
	assert_int_equal(s.heartbeat, 7000);
	assert_int_equal(option_source(&s, option_by_key("report", "size"))->by, ORIGIN_PROJECT);
	assert_int_equal(option_source(&s, option_by_key("report", "size"))->line, 2);
	assert_int_equal(option_source(&s, option_by_key("report", "max_lines"))->by, ORIGIN_USER);
	assert_string_equal(s.files[ORIGIN_USER], path);
	assert_null(s.files[ORIGIN_SYSTEM]);
	assert_non_null(strstr(s.files[ORIGIN_PROJECT], "/repo/.terse.ini"));
	settings_release(&s);
	unsetenv("TERSE_CONFIG");
	unsetenv("TERSE_HEARTBEAT");
}

TEST_IN(only_safe_options_are_taken, setup, teardown)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		char text[256], message[256] = "";
		if (o->project_least)
			continue;
		snprintf(text, sizeof(text), "[report]\nsize = 10000\n\n[%s]\n%s = 1\n",
			 strcmp(o->section, "report") == 0 ? "report" : o->section, o->key);
		snprintf(message, sizeof(message),
			 "repo/.terse.ini:5: [%s] %s: not allowed in a project's file", o->section,
			 o->key);
		put_file("repo/.terse.ini", text);
		enter("repo");
		expect_size(4096, message);
	}
	put_file("repo/.terse.ini", "[profile read]\nmatch = x\nsize = 3KB\npty = yes\n");
	enter("repo");
	expect_size(4096, "repo/.terse.ini:4: [profile read] pty: not allowed in a project's file");
	put_file("repo/.terse.ini", "[profile read]\nmatch = x\nsize = 3KB\n");
	enter("repo");
	expect_size(4096, "");
}

/* It can show more, not less. */
TEST_IN(small_values_are_refused, setup, teardown)
{
	static const struct {
		const char *section, *value, *reason;
	} rows[] = {
		{"report", "size = 2047", "size: 2047: under 2KB"},
		{"report", "failure_size = 64", "failure_size: 64: under 2KB"},
		{"report", "err_size = 64", "err_size: 64: under 2KB"},
		{"report", "max_lines = 1", "max_lines: 1: under 50"},
		{"report", "status = never", "status: never"},
		{"preview", "mode = head", "mode: head"},
		{"preview", "max_line = 64", "max_line: 64: under 500"},
		{"terminal", "cols = 2", "cols: 2: under 80"},
		{"profile x", "size = 64", "size: 64: under 2KB"},
		{"profile x", "mode = head", "mode: head"},
	};
	char text[128], message[160];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(text, sizeof(text), "[%s]\n%s\n", rows[i].section, rows[i].value);
		snprintf(message, sizeof(message),
			 "repo/.terse.ini:2: [%s] %s: not allowed in a project's file",
			 rows[i].section, rows[i].reason);
		put_file("repo/.terse.ini", text);
		enter("repo");
		expect_size(4096, message);
	}
	put_file("repo/.terse.ini", "[profile terse]\nmatch = make\n");
	enter("repo");
	expect_size(4096, "repo/.terse.ini:1: [profile terse]: not allowed in a project's file");
	put_file("repo/.terse.ini",
		 "[report]\nsize = 2KB\nmax_lines = 0\nerr_size = 0\nstatus = failure\n"
		 "[preview]\nmode = ends\nmax_line = 0\n[terminal]\ncols = 80\n");
	enter("repo");
	expect_size(2048, "");
}

TEST_IN(what_is_not_trusted_is_refused, setup, teardown)
{
	put_file("repo/.terse.ini", "[report]\nsize = 10000\n");
	enter("repo");
	expect_size(10000, "");
	assert_int_equal(chmod(".terse.ini", 0664), 0);
	expect_size(10000, "");
	assert_int_equal(chmod(".terse.ini", 0666), 0);
	expect_size(4096, "repo/.terse.ini: not read: everybody can write to it");
	assert_int_equal(chmod(".terse.ini", 0602), 0);
	expect_size(4096, "repo/.terse.ini: not read: everybody can write to it");
	assert_int_equal(rename(".terse.ini", "other"), 0);
	assert_int_equal(symlink("other", ".terse.ini"), 0);
	expect_size(4096, "repo/.terse.ini: not read: a symbolic link");
	assert_int_equal(unlink(".terse.ini"), 0);
	assert_int_equal(mkfifo(".terse.ini", 0600), 0);
	alarm(60);
	expect_size(4096, "repo/.terse.ini: not read: not a plain file");
	alarm(0);
	assert_int_equal(unlink(".terse.ini"), 0);
	assert_int_equal(mkdir(".terse.ini", 0700), 0);
	expect_size(4096, "repo/.terse.ini: not read: not a plain file");
	assert_int_equal(rmdir(".terse.ini"), 0);
}

/* Only root can give files away. */
TEST_IN(a_foreign_file_is_refused, setup, teardown)
{
	if (geteuid() != 0)
		skip();
	put_file("repo/.terse.ini", "[report]\nsize = 10000\n");
	enter("repo");
	assert_int_equal(chown(".terse.ini", 12345, (gid_t)-1), 0);
	expect_size(4096, "repo/.terse.ini: not read: it belongs to another user");
	assert_int_equal(chown(".terse.ini", 0, (gid_t)-1), 0);
	assert_int_equal(chmod(home, 0755), 0);
	assert_int_equal(chmod("../repo", 0755), 0);
	assert_int_equal(seteuid(12345), 0);
	expect_size(10000, ""); /* root's is good for everybody */
	assert_int_equal(seteuid(0), 0);
}

TEST_MAIN(NULL, NULL)
