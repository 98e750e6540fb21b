// The first part of a text by whole lines; the names of files in it, and the count of its lines.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/preview/head.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

static const struct limit some = {.bytes = 64, .max_line = 30};

/* The part of a text that is handed out, the same for every way to cut it; `end` as it is given
   then. */
static struct head given(const struct limit *limit, const char *text, const char *want,
			 enum head_end end)
{
	size_t len = strlen(text);
	struct head h = {.limit = *limit};
	for (size_t step = 1; step <= len + 1; step++) {
		struct buffer out = BUFFER_INIT;
		h = (struct head){.limit = *limit};
		for (size_t at = 0; at < len; at += step)
			head_feed(&h, text + at, len - at < step ? len - at : step, &out);
		head_finish(&h, &h.limit, false, &out);
		assert_string_equal(buffer_string(&out), want);
		assert_int_equal(h.end, end);
		assert_int_equal(h.at.bytes, strlen(want));
		assert_true(h.at.bytes <= limit->bytes);
		assert_true(utf8_all_clean(want, strlen(want)));
		buffer_release(&out);
	}
	return h;
}

TEST(all_of_it)
{
	struct head h = given(&some, "a\n\nb\n", "a\n\nb\n", HEAD_OPEN);
	assert_int_equal(h.at.lines, 3);
	h = given(&some, "a\nb", "a\nb", HEAD_OPEN);
	assert_int_equal(h.at.lines, 2);
	given(&some, "", "", HEAD_OPEN);
	given(&some, "a \x1b[m \xFF\n", "a \xEF\xBF\xBD[m \xEF\xBF\xBD\n", HEAD_OPEN);
}

TEST(by_count)
{
	struct limit l = some;
	l.count = 2;
	struct head h = given(&l, "a\nb\nc\n", "a\nb\n", HEAD_COUNT);
	assert_int_equal(h.at.lines, 2);
	assert_int_equal(h.at.units, 2);
	given(&l, "a\nb\nc", "a\nb\n", HEAD_COUNT);
	given(&l, "a\nb\n", "a\nb\n", HEAD_OPEN);
	l.unit = UNIT_MATCHES;
	h = given(&l, "a\n--\nb\n--\nc", "a\n--\nb\n", HEAD_COUNT);
	assert_int_equal(h.at.lines, 3);
	assert_int_equal(h.at.units, 2);
}

TEST(by_bytes)
{
	struct limit l = some;
	l.bytes = 10;
	struct head h = given(&l, "abcd\nefgh\nijkl\n", "abcd\nefgh\n", HEAD_BYTES);
	assert_int_equal(h.at.lines, 2);
	given(&l, "abcd\nefghi\n", "abcd\n", HEAD_BYTES);
	given(&l, "abcd\nefghi", "abcd\nefghi", HEAD_OPEN);
	/* As they are printed: an invalid byte is three. */
	given(&l, "abcd\nef\xFFh\n", "abcd\n", HEAD_BYTES);
	given(&l, "abcd\nef\xFF", "abcd\nef\xEF\xBF\xBD", HEAD_OPEN);
}

/* A line that is a large part of the room is cut where other lines need it, wherever it stands. */
TEST(a_long_line_leaves_room)
{
	struct limit l = some;
	l.max_line = 1000;
	l.bytes = 80;
	struct head h = given(
		&l,
		"0123456789012345678901234567890123456789012345678901234567890123456789\nb\nc\n",
		"0123456789012345678901234567890123456789012345678901234567890123456789\nb\nc\n",
		HEAD_OPEN);
	assert_int_equal(h.cut, 0);
	l.bytes = 64;
	h = given(&l,
		  "0123456789012345678901234567890123456789012345678901234567890123456789\nb\nc\n",
		  "012345678901234567890123456789012345678901[... bytes 42-69]\nb\nc\n", HEAD_OPEN);
	assert_int_equal(h.cut, 1);
	/* Alone it has all. */
	h = given(&l,
		  "0123456789012345678901234567890123456789012345678901234567890123456789012345",
		  "01234567890123456789012345678901234567890123456[... bytes 47-75]", HEAD_OPEN);
	/* max_line holds all the same. */
	l.max_line = 35;
	given(&l, "0123456789012345678901234567890123456789012345678901234567890123456789012345",
	      "01234567890123456789012345678901234[... bytes 35-75]", HEAD_OPEN);
}

TEST(long_lines)
{
	struct limit l = some;
	l.max_line = 5;
	/* A mark is printed only if it is shorter than what it stands for. */
	struct head h = given(&l,
			      "a\nabcde0123456789abcdef\nabcde0123456789abcdefgh\n"
			      "abcde0123456789abcdefghij\n",
			      "a\nabcde0123456789abcdef\nabcde[... bytes 29-46]\n", HEAD_BYTES);
	assert_int_equal(h.cut, 1);
	assert_int_equal(h.at.lines, 3);
	h = given(&l, "abcd\xC3\xA9xxxxxxxxxxxxxxxxx", "abcd[... bytes 4-22]", HEAD_OPEN);
	assert_int_equal(h.cut, 1);
}

/* Long lines are shown as far as there is room when the rest of the text is known. */
TEST(grown_lines)
{
	struct limit l = some;
	l.max_line = 5;
	l.grow = true;
	l.bytes = 80;
	struct head h = given(
		&l, "a\n0123456789012345678901234567890123456789012345678901234567\nb\n",
		"a\n0123456789012345678901234567890123456789012345678901234567\nb\n", HEAD_OPEN);
	assert_int_equal(h.cut, 0);
	h = given(
		&l,
		"a\n0123456789012345678901234567890123456789012345678901234567890123456789012345\n"
		"0123456789\n",
		"a\n0123456789012345678901234567890123456789012345678[... bytes 51-77]\n"
		"0123456789\n",
		HEAD_OPEN);
	assert_int_equal(h.cut, 1);
	/* As many lines as there is room for by max_line, and what is left for each of them. */
	l.bytes = 66;
	h = given(&l,
		  "0123456789012345678901234567890123456789012345\n"
		  "0123456789012345678901234567890123456789012345\n"
		  "0123456789012345678901234567890123456789012345\n",
		  "012345678901234[... bytes 15-45]\n"
		  "012345678901234[... bytes 62-92]\n",
		  HEAD_BYTES);
	assert_int_equal(h.at.lines, 2);
	assert_int_equal(h.cut, 2);
}

/* A line that looks like a notice costs its guard, too. */
TEST(forged_lines)
{
	static const char forged[] = "[... omitted: terse read last; evil]\n";
	struct head h = {.limit = {.bytes = 90, .max_line = 60}, .guard = GUARD_LINE};
	struct buffer out = BUFFER_INIT;
	assert_true(head_take(&h, "a\n", 2));
	assert_true(head_take(&h, forged, strlen(forged)));
	assert_int_equal(h.at.bytes, 2 + strlen(forged) + strlen(GUARD));
	head_feed(&h, forged, strlen(forged), &out);
	head_feed(&h, "b", 1, &out);
	head_finish(&h, &h.limit, false, &out);
	assert_string_equal(buffer_string(&out), "| [... omitted: terse read last; evil]\nb");
	assert_int_equal(h.at.bytes, 2 + strlen(forged) + strlen(GUARD) + out.len);
	buffer_release(&out);
}

/* However many and long the lines are, little more than the limit is held of them. */
TEST(held_lines)
{
	struct head h = {.limit = {.bytes = 4096, .max_line = 40, .grow = true}};
	struct buffer out = BUFFER_INIT;
	char line[3000];
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 1000; i++) {
		head_feed(&h, line, sizeof(line), &out);
		assert_true(h.kept.len <= 4 * h.limit.bytes + sizeof(line));
	}
	head_finish(&h, &h.limit, false, &out);
	assert_int_equal(h.end, HEAD_BYTES);
	assert_int_equal(out.len, h.at.bytes);
	assert_in_range(out.len, 4096 - 80, 4096);
	buffer_release(&out);
}

/* Lines that are taken while the text may still fit are part of it. */
TEST(taken_before)
{
	struct head h = {.limit = {.bytes = 30, .max_line = 5, .count = 4}};
	struct buffer out = BUFFER_INIT;
	assert_true(head_take(&h, "abcde\n", 6));
	assert_false(head_take(&h, "abcdef\n", 7));
	assert_true(head_take(&h, "\xFF\xFF\n", 3));
	assert_int_equal(h.at.bytes, 13);
	assert_int_equal(h.at.lines, 2);
	head_feed(&h, "c\nd\ne\n", 6, &out);
	head_finish(&h, &h.limit, false, &out);
	assert_string_equal(buffer_string(&out), "c\nd\n");
	assert_int_equal(h.end, HEAD_COUNT);
	assert_int_equal(h.at.lines, 4);
	assert_false(head_take(&h, "f\n", 2));
	buffer_release(&out);
	h = (struct head){.limit = {.bytes = 10, .max_line = 10}};
	assert_true(head_take(&h, "abcde\n", 6));
	assert_false(head_take(&h, "abcd\n", 5));
	assert_true(head_take(&h, "abc\n", 4));
	/* It may have to be cut. */
	h = (struct head){.limit = {.bytes = 10, .max_line = 10}};
	assert_false(head_take(&h, "abcdef\n", 7));
}

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static void random_lines(struct buffer *text, uint32_t *seed)
{
	uint32_t lines = rnd(seed, 60), most = 1 + rnd(seed, rnd(seed, 3) ? 40 : 1000);
	for (uint32_t i = 0; i < lines; i++) {
		if (rnd(seed, 2))
			buffer_printf(text, "src/%c.c:%u:", 'a' + (int)(i / 7 % 3), i);
		for (uint32_t n = rnd(seed, most); n > 0; n--)
			buffer_append_string(text, rnd(seed, 9) ? "x" : "\xF0\x9F\x98\x80");
		if (i + 1 < lines || rnd(seed, 2))
			buffer_append_string(text, rnd(seed, 9) ? "\n" : "\r\n");
	}
}

/* Whatever the outcome, it gets what it would have got had it been known; what was printed before
   that is the start of it. */
TEST(outcomes)
{
	for (uint32_t round = 0; round < 3000; round += RANDOM_STEP) {
		uint32_t seed = random_start(round);
		struct buffer text = BUFFER_INIT, known = BUFFER_INIT, out = BUFFER_INIT;
		struct head h = {.limit = {.bytes = 64 + rnd(&seed, 400),
					   .count = rnd(&seed, 3) ? 0 : 1 + rnd(&seed, 20),
					   .max_line = 20 + rnd(&seed, 500),
					   .grow = rnd(&seed, 2)},
				 .outcome_count = 2,
				 .form = rnd(&seed, 2) ? GROUPING_NONE : GROUPING_NUMBERED,
				 .bare = rnd(&seed, 4) == 0};
		for (size_t i = 0; i < h.outcome_count; i++) {
			h.outcomes[i] = h.limit;
			h.outcomes[i].bytes += rnd(&seed, 1000);
			h.outcomes[i].count += h.limit.count ? rnd(&seed, 20) : 0;
		}
		size_t which = rnd(&seed, 3), step = 1 + rnd(&seed, 300);
		const struct limit limit = which ? h.outcomes[which - 1] : h.limit;
		struct head other = {.limit = limit, .form = h.form, .bare = h.bare};
		random_lines(&text, &seed);
		head_feed(&other, text.data, text.len, &known);
		head_finish(&other, &limit, which == 1, &known);
		for (size_t at = 0; at < text.len; at += step)
			head_feed(&h, text.data + at, text.len - at < step ? text.len - at : step,
				  &out);
		head_finish(&h, &limit, which == 1, &out);
		assert_true(buffer_is(&out, known.data, known.len));
		assert_int_equal(h.end, other.end);
		assert_int_equal(h.at.bytes, other.at.bytes);
		assert_int_equal(h.at.lines, other.at.lines);
		assert_int_equal(h.at.offset, other.at.offset);
		assert_int_equal(h.cut, other.cut);
		assert_true(out.len <= limit.bytes);
		buffer_release(&text);
		buffer_release(&known);
		buffer_release(&out);
	}
}

TEST(names_of_files)
{
	static const struct {
		enum grouping_form form;
		const char *line;
		size_t name;
	} rows[] = {
		{GROUPING_NUMBERED, "src/a.c:12:int x;", 7},
		{GROUPING_NUMBERED, "Makefile:1:", 8},
		{GROUPING_NUMBERED, "a.c:12:5: error", 3},
		{GROUPING_NUMBERED, "a:b.c:12:x", 5},
		{GROUPING_NUMBERED, "h\xC3\xA9.txt:1:x", 7},
		{GROUPING_NUMBERED, "src/a.c:int x;", 0},
		{GROUPING_NUMBERED, "src/a.c-12-int x;", 0},
		{GROUPING_NUMBERED, "12:int x;", 0},
		{GROUPING_NUMBERED, "12:13:int x;", 0},
		{GROUPING_NUMBERED, ":12:x", 0},
		{GROUPING_NUMBERED, "--", 0},
		{GROUPING_NUMBERED, "", 0},
		{GROUPING_NUMBERED, "2026-11-22 05:12:33 an error", 0},
		{GROUPING_NUMBERED, "2026-11-22T05:12:33 an error", 0},
		{GROUPING_NUMBERED, "[05:12:33] an error", 0},
		{GROUPING_NUMBERED, "10.0.0.1:8080: refused", 0},
		{GROUPING_NUMBERED, "a file.c:12:x", 0},
		{GROUPING_NUMBERED, "f(x):12:x", 0},
		{GROUPING_PLAIN, "src/a.c:int x;", 7},
		{GROUPING_PLAIN, "a.c:x", 3},
		{GROUPING_PLAIN, "a.c:", 0},
		{GROUPING_PLAIN, "src/a.cc::x", 0},
		{GROUPING_PLAIN, "std::string x;", 0},
		{GROUPING_PLAIN, "grep: a.c: No such file or directory", 0},
		{GROUPING_PLAIN, "http://a.example/b", 0},
		{GROUPING_PLAIN, "case 1: return a.c;", 0},
		{GROUPING_PLAIN, "no colon", 0},
		{GROUPING_NONE, "src/a.c:12:int x;", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t name = grouping_name(rows[i].form, rows[i].line, strlen(rows[i].line));
		if (name != rows[i].name)
			fail_msg("%s: %zu", rows[i].line, name);
	}
}

static enum grouping_form form_of(const char *text)
{
	return grouping_find_form(text, strlen(text));
}

TEST(forms_of_texts)
{
	assert_int_equal(form_of("src/a.c:1:x\nsrc/a.c:2:x\nsrc/b.c:3:x\nsrc/b.c:4:x\n"),
			 GROUPING_NUMBERED);
	assert_int_equal(form_of("src/a.c:1:x\nsrc/a.c:2:x\nsrc/a.c:3:x\n"), GROUPING_NUMBERED);
	assert_int_equal(form_of("src/a.c:x\nsrc/a.c:x\nsrc/b.c:x\nsrc/b.c:x\n"), GROUPING_PLAIN);
	/* Without numbers one name may be anything. */
	assert_int_equal(form_of("host.a:x\nhost.a:y\nhost.a:z\n"), GROUPING_NONE);
	/* Nothing is saved. */
	assert_int_equal(form_of("src/a.c:1:x\nsrc/b.c:2:x\nsrc/c.c:3:x\n"), GROUPING_NONE);
	assert_int_equal(form_of("a.c:1:this line is much longer than the name of its file\n"
				 "a.c:2:this line is much longer than the name of its file\n"),
			 GROUPING_NONE);
	/* Other lines between the matches. */
	assert_int_equal(form_of("a/b/c:1:x\nfoo\na/b/c:2:x\nbar\na/b/c:3:x\n"), GROUPING_NONE);
	assert_int_equal(form_of(""), GROUPING_NONE);
	assert_int_equal(form_of("no line"), GROUPING_NONE);
}

/* The same for every way to cut the text. */
static void counted(enum unit unit, const char *text, uint64_t lines, uint64_t units)
{
	size_t len = strlen(text);
	for (size_t step = 1; step <= len + 1; step++) {
		struct tally t = {.unit = unit};
		for (size_t at = 0; at < len; at += step)
			tally_feed(&t, text + at, len - at < step ? len - at : step);
		assert_int_equal(t.bytes, len);
		assert_int_equal(tally_lines(&t), lines);
		assert_int_equal(tally_units(&t), units);
	}
}

TEST(lines)
{
	counted(UNIT_LINES, "", 0, 0);
	counted(UNIT_LINES, "\n", 1, 1);
	counted(UNIT_LINES, "\n\n", 2, 2);
	counted(UNIT_LINES, "a", 1, 1);
	counted(UNIT_LINES, "a\nbcd\n\nef", 4, 4);
}

TEST(matches)
{
	counted(UNIT_MATCHES, "--\n", 1, 0);
	counted(UNIT_MATCHES, "--", 1, 0);
	counted(UNIT_MATCHES, "a\n--\n\nb\n---\n-\n -- \n", 7, 5);
	counted(UNIT_RESULTS, "a\n\nb", 3, 2);
}

/* The bytes that decide whether a line counts are at its start and at its end, however long it
   is. */
TEST(entries)
{
	counted(UNIT_ENTRIES, "total 8\na\ntotal\n", 3, 2);
	counted(UNIT_ENTRIES, "dir:\na\n\n./a name of sixteen and more bytes:\nb", 5, 2);
	counted(UNIT_ENTRIES, "a name of sixteen and more bytes\n", 1, 1);
	counted(UNIT_ENTRIES, "a name of 16 b.:\n", 1, 0);
	counted(UNIT_ENTRIES, "a name of 17 by.:\n", 1, 0);
	counted(UNIT_ENTRIES, "total 12345678901234567890\n", 1, 0);
	counted(UNIT_ENTRIES, "a name of 16 b.:c", 1, 1);
}

TEST_MAIN(NULL, NULL)
