// What a session remembers of the lines that were shown.

#include "supervisor/artifact/memory.h"

#include "lib/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/home.h"

static int directory(void)
{
	struct store s;
	assert_int_equal(store_open_write(&s), 0);
	int dir = store_open_session(&s, "s", true);
	assert_true(dir >= 0);
	store_close(&s);
	return dir;
}

static void id_of(unsigned run, char id[ID_LEN + 1])
{
	id_unpack(id_first_at(1700000000000 + run), id);
}

/* `count` lines of a run, from print `first` on. */
static void add(int dir, unsigned run, uint64_t first, size_t count)
{
	struct memory_line *lines = calloc(count, sizeof(*lines));
	char id[ID_LEN + 1];
	assert_non_null(lines);
	for (size_t i = 0; i < count; i++)
		lines[i] = (struct memory_line){.print = first + i,
						.exact = (uint32_t)(run * 1000 + i),
						.number = (uint32_t)i + 1};
	id_of(run, id);
	/* As after memory_read(), or by somebody who has not read it. */
	struct memory m;
	assert_int_equal(memory_read(&m, dir), 0);
	assert_int_equal(memory_add(dir, id, lines, count, run % 2 ? m.size : 0), 0);
	memory_release(&m);
	free(lines);
}

/* The run that a line is remembered of, or 0. */
static unsigned found_in(int dir, uint64_t print, uint32_t exact, uint32_t *number)
{
	struct memory m;
	unsigned run = 0;
	assert_int_equal(memory_read(&m, dir), 0);
	const struct memory_entry *e = memory_find(&m, print, exact);
	if (e) {
		run = (unsigned)(id_time_ms(id_pack(m.ids[e->run])) - 1700000000000);
		*number = e->line.number;
	}
	memory_release(&m);
	return run;
}

static size_t runs_in(int dir)
{
	struct memory m;
	assert_int_equal(memory_read(&m, dir), 0);
	size_t runs = m.runs;
	memory_release(&m);
	return runs;
}

static void remembers(void **state)
{
	int dir = directory();
	uint32_t number = 0;
	(void)state;
	assert_int_equal(found_in(dir, 100, 0, &number), 0);
	add(dir, 1, 100, 10);
	add(dir, 2, 105, 10);
	assert_int_equal(found_in(dir, 99, 0, &number), 0);
	assert_int_equal(found_in(dir, 104, 0, &number), 1);
	assert_int_equal(number, 5);
	/* The newest of those that have it ... */
	assert_int_equal(found_in(dir, 105, 0, &number), 2);
	assert_int_equal(number, 1);
	/* ... but rather one that is the same in every byte. */
	assert_int_equal(found_in(dir, 105, 1005, &number), 1);
	assert_int_equal(number, 6);
	io_close(&dir);
}

static void is_bounded(void **state)
{
	int dir = directory();
	uint32_t number = 0;
	struct stat st;
	(void)state;
	for (unsigned run = 1; run <= 60; run++) {
		add(dir, run, run * 10000, 500);
		assert_int_equal(found_in(dir, run * 10000, 0, &number), run);
		assert_int_equal(fstatat(dir, MEMORY_FILE, &st, 0), 0);
		assert_true((size_t)st.st_size <= MEMORY_MOST);
	}
	/* The oldest have gone. */
	assert_int_equal(found_in(dir, 10000, 0, &number), 0);
	assert_true(runs_in(dir) >= 15);
	/* One run has half of it: its first lines. */
	add(dir, 61, 5000000, 9000);
	assert_int_equal(found_in(dir, 5000000, 0, &number), 61);
	assert_int_equal(found_in(dir, 5008000, 0, &number), 61);
	assert_int_equal(found_in(dir, 5008999, 0, &number), 0);
	io_close(&dir);
}

static void forgets(void **state)
{
	int dir = directory();
	uint32_t number = 0;
	char from[ID_LEN + 1], to[ID_LEN + 1];
	(void)state;
	id_of(2, from);
	id_of(3, to);
	assert_int_equal(memory_forget(dir, id_pack(from), id_pack(to)), 0);
	for (unsigned run = 1; run <= 4; run++)
		add(dir, run, run * 100, 5);
	assert_int_equal(memory_forget(dir, id_pack(from), id_pack(to)), 0);
	assert_int_equal(runs_in(dir), 2);
	assert_int_equal(found_in(dir, 100, 0, &number), 1);
	assert_int_equal(found_in(dir, 200, 0, &number), 0);
	assert_int_equal(found_in(dir, 300, 0, &number), 0);
	assert_int_equal(found_in(dir, 400, 0, &number), 4);
	io_close(&dir);
}

static void put(int dir, const char *data, size_t len)
{
	int fd = store_open_file(dir, MEMORY_FILE, O_WRONLY | O_CREAT | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, data, len), 0);
	io_close(&fd);
}

/* A file that is not whole is ignored, whatever is in it, and written anew. */
static void ignores_what_is_damaged(void **state)
{
	static char data[MEMORY_MOST + 1000];
	int dir = directory();
	uint32_t number = 0;
	(void)state;
	add(dir, 1, 100, 20);
	add(dir, 2, 200, 20);
	int fd = store_open_file(dir, MEMORY_FILE, O_RDONLY);
	ssize_t len = io_read(fd, data, sizeof(data));
	io_close(&fd);
	assert_true(len > 600);
	for (ssize_t i = 0; i < len; i += 7) {
		data[i] ^= 0x41;
		put(dir, data, (size_t)len);
		assert_int_equal(runs_in(dir), 0);
		data[i] ^= 0x41;
	}
	for (ssize_t i = 1; i < len; i += 13) {
		put(dir, data, (size_t)i);
		assert_true(runs_in(dir) <= 1);
		add(dir, 3, 300, 5);
		assert_int_equal(found_in(dir, 300, 0, &number), 3);
	}
	put(dir, data, sizeof(data));
	assert_int_equal(runs_in(dir), 0);
	add(dir, 3, 300, 5);
	assert_int_equal(runs_in(dir), 1);
	io_close(&dir);
}

/* Two that add at the same time both count. */
static void added_at_once(void **state)
{
	int dir = directory();
	pid_t children[8];
	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			int own = directory();
			for (unsigned k = 0; k < 10; k++)
				add(own, 1 + i * 10 + k, 1000 * i + 100 * k, 30);
			_exit(0);
		}
	}
	for (unsigned i = 0; i < 8; i++) {
		int status;
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(runs_in(dir), 80);
	io_close(&dir);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, home_setup, home_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(remembers),     TEST(is_bounded), TEST(forgets), TEST(ignores_what_is_damaged),
		TEST(added_at_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
