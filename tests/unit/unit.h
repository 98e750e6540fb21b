// What every unit begins with: the headers that its tests need, and tests that are listed where
// they stand. A unit ends with TEST_MAIN.
#ifndef TERSE_TESTS_UNIT_H
#define TERSE_TESTS_UNIT_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Reads a whole small file relative to `dir`. Returns its length, or -1 with errno. */
static inline ssize_t unit_read_file(int dir, const char *path, char *data, size_t cap)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, data, cap - 1);
	if (fd >= 0)
		close(fd);
	if (n >= 0)
		data[n] = '\0';
	return n;
}

/* How many descriptors are open besides the standard ones. */
static inline int unit_count_open(void)
{
	int count = 0;
	for (int fd = 3; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

#define UNIT_TESTS 128

static struct unit_tests {
	struct CMUnitTest tests[UNIT_TESTS];
	int lines[UNIT_TESTS]; /* where they stand */
	size_t count;
} unit_tests;

/* In the order of the file, whatever order the linker chose. */
static inline void unit_add(int line, struct CMUnitTest test)
{
	size_t i = unit_tests.count++;
	assert_true(unit_tests.count <= UNIT_TESTS);
	for (; i > 0 && unit_tests.lines[i - 1] > line; i--) {
		unit_tests.lines[i] = unit_tests.lines[i - 1];
		unit_tests.tests[i] = unit_tests.tests[i - 1];
	}
	unit_tests.lines[i] = line;
	unit_tests.tests[i] = test;
}

/* A test: TEST(name) { ... }. The other one runs between a set-up and a tear-down. */
#define TEST(test) TEST_IN(test, NULL, NULL)
#define TEST_IN(test, setup, teardown)                                                       \
	static void test(void **state);                                                      \
	__attribute__((constructor)) static void test##_is_a_test(void)                      \
	{                                                                                    \
		unit_add(__LINE__, (struct CMUnitTest){#test, test, setup, teardown, NULL}); \
	}                                                                                    \
	static void test(__attribute__((unused)) void **state)

/* Runs them, between a set-up and a tear-down of all. TEST_MAIN is a main() that does no more. */
static inline int unit_run(CMFixtureFunction before, CMFixtureFunction after)
{
	return _cmocka_run_group_tests("tests", unit_tests.tests, unit_tests.count, before, after);
}

#define TEST_MAIN(setup, teardown)                \
	int main(void)                            \
	{                                         \
		return unit_run(setup, teardown); \
	}

#endif
