// The first part of a text; the names of files in it, and the count of its lines.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/preview/preview.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

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

/* Appends what is chosen as the first part, behind the first `printed` lines. */
static void choose(struct preview *p, size_t budget, uint64_t printed, uint64_t bytes,
		   struct buffer *out)
{
	const struct preview_piece *pieces;
	const struct preview_ask ask = {.is_head = true,
					.budget = budget,
					.used = bytes,
					.used_lines = printed,
					.printed_bytes = bytes,
					.printed_lines = printed};
	int count = preview_choose(p, &ask, &pieces);
	uint64_t next = printed + 1;
	for (int i = 0; i < count; i++) {
		assert_int_equal(pieces[i].from, next);
		next = pieces[i].to + 1;
		if (pieces[i].kind == PREVIEW_TEXT)
			utf8_clean(out, pieces[i].text, pieces[i].len);
		else
			assert_int_equal(i, count - 1);
	}
	assert_int_equal(next, preview_lines(p) + 1);
}

/* However a text comes, and whatever its outcome, its first part is the same, and within the
   limit. */
TEST(first_parts)
{
	for (uint32_t round = 0; round < 3000; round += RANDOM_STEP) {
		uint32_t seed = random_start(round);
		struct buffer text = BUFFER_INIT, outs[2] = {BUFFER_INIT, BUFFER_INIT};
		struct limit limit = {.bytes = 64 + rnd(&seed, 4000),
				      .count = rnd(&seed, 3) ? 0 : 1 + rnd(&seed, 20),
				      .max_line = 64 + rnd(&seed, 500),
				      .mode = MODE_HEAD,
				      .grow = rnd(&seed, 2)};
		const struct preview_options options = {.limit = limit, .bare = rnd(&seed, 4) == 0};
		size_t step = 1 + rnd(&seed, 300), budget = 64 + rnd(&seed, limit.bytes - 63);
		bool is_grouped = rnd(&seed, 2);
		random_lines(&text, &seed);
		const char *newline = text.len ? memchr(text.data, '\n', text.len) : NULL;
		size_t first = newline ? (size_t)(newline - text.data) + 1 : 0;
		if (is_grouped || first > budget)
			first = 0;
		const struct head_place at = {
			.form = is_grouped ? GROUPING_NUMBERED : GROUPING_NONE,
			.bytes = first,
			.lines = first > 0,
			.units = first > 0,
		};
		for (int way = 0; way < 2; way++) {
			struct preview *p = preview_new(&options);
			size_t n = way ? step : text.len;
			preview_begin_head(p, &at);
			for (size_t i = 0; i < text.len; i += n)
				preview_feed(p, text.data + i, text.len - i < n ? text.len - i : n);
			for (size_t i = first; i < text.len; i += n)
				preview_feed_head(p, text.data + i,
						  text.len - i < n ? text.len - i : n);
			choose(p, budget, at.lines, first, &outs[way]);
			assert_true(first + outs[way].len <= budget);
			assert_true(!limit.count || preview_shown(p) <= limit.count);
			preview_free(p);
		}
		assert_true(buffer_is(&outs[0], outs[1].data, outs[1].len));
		buffer_release(&text);
		buffer_release(&outs[0]);
		buffer_release(&outs[1]);
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
