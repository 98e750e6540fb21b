// The history of a session, read from its end.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "supervisor/artifact/history.h"
#include "supervisor/artifact/meta.h"
#include "tests/unit/home.h"

static struct store store;

static int setup(void **state)
{
	if (home_setup(state) != 0)
		return -1;
	return store_open_write(&store);
}

static int teardown(void **state)
{
	store_close(&store);
	return home_teardown(state);
}

/* A run of a session that ended then. */
static void add(const char *session, const char *word, int64_t ended)
{
	char *argv[] = {(char *)word, NULL};
	struct meta m = {.argv = argv,
			 .cwd = "/",
			 .session = session,
			 .started_ms = 1,
			 .ended_ms = ended,
			 .state = META_DONE};
	int dir = store_open_session(&store, session, true);
	assert_true(dir >= 0);
	assert_int_equal(meta_append_history(dir, &m), 0);
	close(dir);
}

static void add_bytes(const char *session, const char *data, size_t len)
{
	int dir = store_open_session(&store, session, true);
	int fd = store_open_file(dir, META_HISTORY, O_WRONLY | O_APPEND | O_CREAT);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
	close(dir);
}

/* The runs that are found, newest first, and the number of damaged lines. */
static void expect(const char *session, const char *words, uint64_t damaged)
{
	char got[256] = "";
	struct meta m;
	int result;
	struct history *h = history_open(&store, 1, session);
	assert_non_null(h);
	while ((result = history_next(h, &m)) == 1) {
		size_t len = strlen(got);
		assert_true(snprintf(got + len, sizeof(got) - len, "%s%s", len ? " " : "",
				     m.argv[0] ? m.argv[0] : "-") < (int)(sizeof(got) - len));
	}
	assert_int_equal(result, 0);
	assert_string_equal(got, words);
	assert_int_equal(history_damaged(h), damaged);
	history_close(h);
}

static void test_order(void **state)
{
	(void)state;
	expect("a", "", 0);
	expect(NULL, "", 0);
	add("a", "one", 10);
	expect("a", "one", 0);
	add("a", "two", 20);
	add("a", "three", 30);
	add("b", "four", 15);
	add("b", "five", 40);
	expect("a", "three two one", 0);
	expect("b", "five four", 0);
	expect(NULL, "five three two four one", 0);
	expect("c", "", 0);
}

static void test_damaged(void **state)
{
	(void)state;
	static char huge[10000];
	memset(huge, 'x', sizeof(huge));
	add_bytes("a", "{nonsense\n", 10);
	add("a", "one", 10);
	add_bytes("a", "\n\n", 2);
	add("a", "two", 20);
	add_bytes("a", huge, sizeof(huge));
	add_bytes("a", "\n", 1);
	add("a", "three", 30);
	/* A write that was cut: the next write begins a line of its own. */
	add_bytes("a", "{\"id\":", 6);
	add("a", "next", 40);
	add("a", "four", 50);
	add_bytes("a", "{\"id\":\"\"", 8);
	expect("a", "four next three two one", 4);
}

/* Meanwhile lines are taken out, so that it is another file, and a shorter one. */
static void test_changes_meanwhile(void **state)
{
	(void)state;
	struct meta m;
	for (int i = 1; i <= 5; i++)
		add("a", i % 2 ? "odd" : "even", 10 * i);
	struct history *h = history_open(&store, 1, "a");
	assert_int_equal(history_next(h, &m), 1);
	assert_int_equal(m.ended_ms, 50);
	int dir = store_open_session(&store, "a", false);
	assert_int_equal(unlinkat(dir, META_HISTORY, 0), 0);
	for (int i = 2; i <= 5; i++)
		add("a", "again", 10 * i);
	/* One was found before it was asked for. */
	for (int i = 4; i >= 2; i--) {
		assert_int_equal(history_next(h, &m), 1);
		assert_int_equal(m.ended_ms, 10 * i);
	}
	assert_int_equal(history_next(h, &m), 0);
	history_close(h);
	/* The end of a file that is gone is no error without a number. */
	char line[8];
	uint64_t start;
	size_t len;
	int fd = store_open_file(dir, META_HISTORY, O_RDONLY);
	errno = 0;
	assert_int_equal(history_last_line(fd, 1 << 20, line, sizeof(line), &start, &len), -1);
	assert_int_equal(errno, EIO);
	close(fd);
	close(dir);
}

static void test_last_line(void **state)
{
	(void)state;
	static const char text[] = "one\n\ntwo\n";
	char line[8];
	uint64_t start;
	size_t len;
	add_bytes("a", text, strlen(text));
	int dir = store_open_session(&store, "a", false);
	int fd = store_open_file(dir, META_HISTORY, O_RDONLY);
	assert_int_equal(history_last_line(fd, 9, line, sizeof(line), &start, &len), 1);
	assert_true(start == 5 && len == 3 && memcmp(line, "two", 3) == 0);
	assert_int_equal(history_last_line(fd, 5, line, 2, &start, &len), 1);
	assert_true(start == 0 && len == 3 && memcmp(line, "on", 2) == 0);
	assert_int_equal(history_last_line(fd, 0, line, sizeof(line), &start, &len), 0);
	close(fd);
	close(dir);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order),
		TEST(test_damaged),
		TEST(test_changes_meanwhile),
		TEST(test_last_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
