// In which lines two texts differ: what is reported turns the one into the other, and is little.

#include "supervisor/compare/differ.h"

#include "lib/buffer.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

struct made {
	const struct buffer *texts;
	struct buffer patched; /* the first text with the changes */
	uint64_t at[2];        /* where the change before ended */
	uint64_t numbers[2];
	uint64_t changes, lines;
	int stop; /* answer to the second change */
	struct differ_facts facts;
};

static uint64_t lines_in(const struct buffer *b, uint64_t from, uint64_t to)
{
	uint64_t n = 0;
	for (uint64_t i = from; i < to; i++)
		n += b->data[i] == '\n';
	return n + (to > from && b->data[to - 1] != '\n');
}

static int take(void *ctx, const struct differ_change *c)
{
	struct made *m = ctx;
	const struct differ_lines *old = &c->lines[0], *new = &c->lines[1];
	assert_true(old->offset >= m->at[0] && new->offset >= m->at[1]);
	assert_true(old->count + new->count > 0);
	/* The lines between two changes are as many in both. */
	assert_int_equal(old->from - m->numbers[0], new->from - m->numbers[1]);
	for (int i = 0; i < 2; i++) {
		const struct differ_lines *l = &c->lines[i];
		assert_int_equal(l->from,
				 m->numbers[i] + lines_in(&m->texts[i], m->at[i], l->offset));
		assert_int_equal(l->count, lines_in(&m->texts[i], l->offset, l->end));
		m->numbers[i] = l->from + l->count;
		m->lines += l->count;
	}
	buffer_append(&m->patched, m->texts[0].data + m->at[0], old->offset - m->at[0]);
	buffer_append(&m->patched, m->texts[1].data + new->offset, new->end - new->offset);
	m->at[0] = old->end;
	m->at[1] = new->end;
	return ++m->changes == 2 ? m->stop : 0;
}

static void open_text(struct text *t, const struct buffer *b)
{
	char path[] = "/tmp/terse-differ-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, b->len), b->len);
	close(fd);
	assert_int_equal(text_open_file(t, path), 0);
	unlink(path);
}

/* Compares two texts and checks that the changes make one of the other. */
static struct made compare(const struct buffer texts[2], bool exact, int stop)
{
	struct made m = {.texts = texts, .numbers = {1, 1}, .stop = stop};
	struct text opened[2];
	for (int i = 0; i < 2; i++)
		open_text(&opened[i], &texts[i]);
	const struct differ d = {.texts = {&opened[0], &opened[1]},
				 .exact = exact,
				 .change = take,
				 .ctx = &m,
				 .facts = &m.facts};
	int result = differ_run(&d);
	assert_true(m.changes == 0 || !m.facts.same);
	assert_true(!exact || m.facts.same == (m.changes == 0));
	assert_int_equal(result, stop && m.changes >= 2 ? stop : 0);
	if (exact && result == 0) {
		buffer_append(&m.patched, texts[0].data + m.at[0], texts[0].len - m.at[0]);
		struct buffer expected = BUFFER_INIT;
		buffer_add(&expected, &texts[1]);
		assert_int_equal(m.patched.len, expected.len);
		assert_true(expected.len == 0 ||
			    memcmp(m.patched.data, expected.data, expected.len) == 0);
		buffer_release(&expected);
	}
	buffer_release(&m.patched);
	for (int i = 0; i < 2; i++)
		text_close(&opened[i]);
	return m;
}

static struct made compare_strings(const char *a, const char *b, bool exact)
{
	struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
	buffer_append_string(&texts[0], a);
	buffer_append_string(&texts[1], b);
	struct made m = compare(texts, exact, 0);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
	return m;
}

TEST(small_texts)
{
	static const struct {
		const char *a, *b;
		uint64_t changes, lines;
	} cases[] = {
		{"", "", 0, 0},
		{"a\n", "a\n", 0, 0},
		{"a\n", "a", 1, 2},
		{"a\nb", "a\nb", 0, 0},
		{"", "a\n", 1, 1},
		{"a\nb\n", "", 1, 2},
		{"a\nb\nc\n", "a\nx\nc\n", 1, 2},
		{"a\nb\nc\n", "b\nc\nd\n", 2, 2},
		{"a\na\na\n", "a\na\n", 1, 1},
		{"x\na\nb\nc\ny\n", "y\na\nb\nc\nx\n", 2, 4},
		{"{\n}\n{\n}\n", "{\n}\n{\n{\n}\n}\n", 1, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made m = compare_strings(cases[i].a, cases[i].b, true);
		assert_int_equal(m.changes, cases[i].changes);
		assert_int_equal(m.lines, cases[i].lines);
	}
}

TEST(masked_lines_are_equal)
{
	assert_int_equal(compare_strings("a 1\nb 2\nc\n", "a 7\nb 8\nd\n", false).lines, 2);
	assert_int_equal(compare_strings("a 1\nb 2\nc\n", "a 7\nb 8\nd\n", true).lines, 6);
	struct made m = compare_strings("took 3 ms\n", "took 9.1 s\n", false);
	assert_true(m.changes == 0 && !m.facts.same);
	m = compare_strings("a\ntook 3 ms\n", "a\ntook 3 ms", false);
	assert_true(m.changes == 1 && !m.facts.same);
	m = compare_strings("a\ntook 3 ms", "a\ntook 4 ms", false);
	assert_true(m.changes == 0 && !m.facts.same);
}

/* Edits of all kinds at random places; among lines of which many are the same. */
static void make_pair(struct buffer texts[2], uint32_t *r)
{
	uint32_t lines = random_next(r) % 3000, kinds = 2 + random_next(r) % 400;
	uint32_t each = 2 + random_next(r) % 200;
	for (uint32_t i = 0; i < lines; i++) {
		char line[64];
		uint32_t kind = random_next(r) % kinds;
		snprintf(line, sizeof(line), "%.*s%x\n", (int)(kind % 30),
			 "a line of some words, and more", (unsigned)kind);
		uint32_t edit = random_next(r) % each;
		if (edit != 0)
			buffer_append_string(&texts[0], line);
		if (edit != 1)
			buffer_append_string(&texts[1], line);
	}
	if (random_next(r) % 2)
		buffer_append_string(&texts[random_next(r) % 2], "an open end");
}

TEST(changes_make_the_second_text)
{
	for (uint32_t round = 0; round < 150; round++) {
		uint32_t r = random_start(round);
		struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
		make_pair(texts, &r);
		compare(texts, true, 0);
		compare(texts, false, 0);
		buffer_release(&texts[0]);
		buffer_release(&texts[1]);
	}
}

/* How many elements two sequences have in common, by the table of all beginnings. */
static uint32_t longest(const uint32_t *a, uint32_t a_count, const uint32_t *b, uint32_t b_count)
{
	uint32_t *table = calloc((size_t)(a_count + 1) * (b_count + 1), sizeof(*table));
	uint32_t row = b_count + 1;
	for (uint32_t x = 1; x <= a_count; x++) {
		for (uint32_t y = 1; y <= b_count; y++) {
			uint32_t up = table[(x - 1) * row + y], left = table[x * row + y - 1];
			table[x * row + y] = a[x - 1] == b[y - 1] ? table[(x - 1) * row + y - 1] + 1
					     : up > left          ? up
								  : left;
		}
	}
	uint32_t result = table[a_count * row + b_count];
	free(table);
	return result;
}

TEST(as_few_as_can_be)
{
	for (uint32_t round = 0; round < 1000; round += RANDOM_STEP) {
		uint32_t r = random_start(round), kinds = 1 + random_next(&r) % 40;
		struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
		uint32_t counts[2], numbers[2][120];
		for (int i = 0; i < 2; i++) {
			counts[i] = random_next(&r) % 120;
			for (uint32_t k = 0; k < counts[i]; k++) {
				numbers[i][k] = random_next(&r) % kinds;
				buffer_printf(&texts[i], "%x\n", (unsigned)numbers[i][k]);
			}
		}
		uint32_t same = longest(numbers[0], counts[0], numbers[1], counts[1]);
		assert_int_equal(compare(texts, true, 0).lines, counts[0] + counts[1] - 2 * same);
		buffer_release(&texts[0]);
		buffer_release(&texts[1]);
	}
}

/* Nothing is in its order: searches end early, and what is reported is right all the same. */
TEST(where_that_is_not_affordable)
{
	enum { COUNT = 50000 };
	for (uint32_t kinds = 1; kinds < 100000; kinds *= 30) {
		uint32_t r = random_start(kinds);
		struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
		for (uint32_t k = 0; k < COUNT; k++) {
			for (uint32_t i = 0; i < 2; i++)
				/* In the first round, the one backwards. */
				buffer_printf(&texts[i], "%x\n",
					      (unsigned)(kinds > 1 ? random_next(&r) % kinds
							 : i       ? COUNT - k
								   : k + 1));
		}
		assert_true(compare(texts, true, 0).lines < 2 * COUNT);
		buffer_release(&texts[0]);
		buffer_release(&texts[1]);
	}
}

TEST(ends_when_it_is_told)
{
	struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
	for (int i = 0; i < 300; i++) {
		buffer_printf(&texts[0], "same%x\n%s", (unsigned)i, i % 100 ? "" : "old\n");
		buffer_printf(&texts[1], "same%x\n%s", (unsigned)i, i % 100 ? "" : "new\n");
	}
	assert_int_equal(compare(texts, true, 7).changes, 2);
	assert_int_equal(compare(texts, true, -1).changes, 2);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
}

static void add_lines(struct buffer *b, char mark, unsigned from, unsigned count)
{
	for (unsigned i = from; i < from + count; i++)
		buffer_printf(b, "%c%x\n", mark, i);
}

/* Long runs of lines are new, and others have gone. */
TEST(large_changes)
{
	struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
	add_lines(&texts[0], 'a', 0, 1000);
	add_lines(&texts[1], 'a', 0, 1000);
	add_lines(&texts[1], 'x', 0, 300000);
	add_lines(&texts[0], 'b', 0, 300000);
	add_lines(&texts[1], 'b', 0, 300000);
	add_lines(&texts[0], 'y', 0, 10);
	add_lines(&texts[0], 'c', 0, 20000);
	add_lines(&texts[1], 'c', 0, 20000);
	struct made m = compare(texts, true, 0);
	assert_int_equal(m.changes, 2);
	assert_int_equal(m.lines, 300010);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
}

/* Nothing is the same, in two long texts. */
TEST(nothing_in_common)
{
	struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
	add_lines(&texts[0], 'a', 0, 300000);
	add_lines(&texts[1], 'b', 0, 270000);
	struct made m = compare(texts, true, 0);
	assert_int_equal(m.changes, 1);
	assert_int_equal(m.lines, 570000);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
}

/* Lines that no block holds. */
TEST(very_long_lines)
{
	struct buffer texts[2] = {BUFFER_INIT, BUFFER_INIT};
	for (int i = 0; i < 2; i++) {
		buffer_append_string(&texts[i], i ? "first\n" : "");
		for (int k = 0; k < 100000; k++)
			buffer_append_string(&texts[i], k == 99999 && i ? "abcdefgX" : "abcdefgh");
		buffer_append_string(&texts[i], "\n");
		for (int k = 0; k < 100000; k++)
			buffer_append_string(&texts[i], "ijklmnop");
		buffer_append_string(&texts[i], "\nlast\n");
	}
	struct made m = compare(texts, true, 0);
	assert_int_equal(m.changes, 1);
	assert_int_equal(m.lines, 3);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
}

TEST_MAIN(NULL, NULL)
