// Lines that are appended while others are taken out.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/io.h"
#include "supervisor/artifact/removal.h"
#include "supervisor/artifact/store.h"
#include "tests/unit/child.h"
#include "tests/unit/home.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int open_dir(void)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	int dir = store_open_session(&s, "test", true);
	assert_true(dir >= 0);
	store_close(&s);
	return dir;
}

static void append(int dir, const char *line)
{
	assert_int_equal(journal_append(dir, "j", line, strlen(line)), 0);
}

static void equals(int dir, const char *want)
{
	char text[65536];
	assert_true(io_read_file(dir, "j", text, sizeof(text)) >= 0);
	assert_string_equal(text, want);
}

/* Lines that hold the string `ctx` go. */
static size_t keep_without(void *ctx, const char *line, size_t len)
{
	return memmem(line, len, ctx, strlen(ctx)) ? 0 : len;
}

static size_t keep_last_two(void *ctx, const char *line, size_t len)
{
	(void)ctx;
	(void)line;
	return len < 2 ? 0 : 2;
}

static void test_filter(void **state)
{
	(void)state;
	int dir = open_dir();
	char x[] = "x", y[] = "y";
	assert_int_equal(journal_filter(dir, "j", keep_without, x), -1);
	assert_int_equal(errno, ENOENT);
	append(dir, "a\n");
	append(dir, "bx\n");
	append(dir, "c\n");
	assert_int_equal(journal_filter(dir, "j", keep_without, y), 0);
	equals(dir, "a\nbx\nc\n");
	assert_int_equal(journal_filter(dir, "j", keep_without, x), 1);
	equals(dir, "a\nc\n");
	append(dir, "d\n");
	equals(dir, "a\nc\nd\n");
	close(dir);
}

/* The disk is full in the middle of a line: nothing of it stays, and the next one is whole. */
static void test_short_write(void **state)
{
	(void)state;
	struct rlimit before, few = {7, RLIM_INFINITY};
	int dir = open_dir();
	append(dir, "one\n");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	few.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	int result = journal_append(dir, "j", "two, too long\n", 14), error = errno;
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(result, -1);
	assert_int_equal(error, ENOSPC);
	equals(dir, "one\n");
	append(dir, "three\n");
	equals(dir, "one\nthree\n");
	close(dir);
}

static void test_cut(void **state)
{
	(void)state;
	int dir = open_dir();
	append(dir, "ab\n");
	append(dir, "tor"); /* a write that was cut short */
	append(dir, "cd\n");
	append(dir, "e");
	equals(dir, "ab\ntor\ncd\ne");
	assert_int_equal(journal_filter(dir, "j", keep_last_two, NULL), 2);
	equals(dir, "ab\nor\ncd\n");
	close(dir);
}

static void test_long_lines(void **state)
{
	(void)state;
	int dir = open_dir();
	static char line[300000];
	char x[] = "x";
	append(dir, "a\n");
	memset(line, 'z', sizeof(line) - 1);
	line[sizeof(line) - 2] = '\n';
	append(dir, line);
	append(dir, "b\n");
	assert_true(journal_filter(dir, "j", keep_without, x) >= 1);
	char text[65536];
	assert_true(io_read_file(dir, "j", text, sizeof(text)) >= 0);
	assert_int_equal(strncmp(text, "a\n", 2), 0);
	assert_string_equal(text + strlen(text) - 3, "\nb\n");
	close(dir);
}

/* The time of the last appended line is the time the session was last used. */
static void test_time(void **state)
{
	(void)state;
	int dir = open_dir();
	char x[] = "x";
	const struct timespec times[2] = {{1000, 0}, {1000, 5000000}};
	struct stat st;
	append(dir, "a\nx\n");
	assert_int_equal(utimensat(dir, "j", times, 0), 0);
	assert_int_equal(journal_filter(dir, "j", keep_without, x), 1);
	assert_int_equal(fstatat(dir, "j", &st, 0), 0);
	assert_int_equal(st.st_mtim.tv_sec, 1000);
	close(dir);
}

static void test_links(void **state)
{
	(void)state;
	int dir = open_dir();
	char x[] = "x", path[sizeof(home) + 16], text[64];
	snprintf(path, sizeof(path), "%s/outside", home);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "x\n", 2), 2);
	close(fd);
	assert_int_equal(symlinkat(path, dir, "j"), 0);
	assert_int_equal(journal_append(dir, "j", "y\n", 2), -1);
	assert_int_equal(journal_filter(dir, "j", keep_without, x), -1);
	assert_int_equal(unlinkat(dir, "j", 0), 0);
	assert_int_equal(linkat(AT_FDCWD, path, dir, "j", 0), 0);
	assert_int_equal(journal_append(dir, "j", "y\n", 2), -1);
	assert_int_equal(errno, EPERM);
	assert_true(io_read_file(AT_FDCWD, path, text, sizeof(text)) >= 0);
	assert_string_equal(text, "x\n");
	close(dir);
}

#define WRITERS 4
#define LINES   400

/* Four append and two take lines out: every line that is to stay is there, once. */
static void test_together(void **state)
{
	(void)state;
	int dir = open_dir();
	pid_t pids[WRITERS + 2];
	for (int w = 0; w < WRITERS + 2; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] > 0)
			continue;
		char line[32], x[] = "x";
		int failed = 0;
		for (int i = 0; i < LINES && w < WRITERS; i++) {
			snprintf(line, sizeof(line), "%c%d%s\n", 'a' + w, i, i % 3 ? "" : "x");
			failed |= journal_append(dir, "j", line, strlen(line)) < 0;
		}
		for (int i = 0; i < LINES && w >= WRITERS; i++)
			failed |= journal_filter(dir, "j", keep_without, x) < 0 && errno != ENOENT;
		_exit(failed);
	}
	for (int w = 0; w < WRITERS + 2; w++)
		assert_int_equal(child_wait(pids[w]), 0);
	char x[] = "x";
	assert_true(journal_filter(dir, "j", keep_without, x) >= 0);
	static char text[65536];
	ssize_t len = io_read_file(dir, "j", text, sizeof(text));
	assert_true(len > 0);
	int next[WRITERS] = {0}, count = 0;
	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		int w = line[0] - 'a';
		assert_true(w >= 0 && w < WRITERS);
		next[w] += next[w] % 3 == 0;
		assert_int_equal(strtol(line + 1, NULL, 10), next[w]++);
		count++;
	}
	assert_int_equal(count, WRITERS * (LINES - (LINES + 2) / 3));
	close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_filter, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_short_write, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_cut, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_long_lines, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_time, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_links, home_setup, home_teardown),
		cmocka_unit_test_setup_teardown(test_together, home_setup, home_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
