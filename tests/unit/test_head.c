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
	assert_int_equal(next, preview_facts(p).lines + 1);
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
		random_lines(&text, &seed);
		const char *newline = text.len ? memchr(text.data, '\n', text.len) : NULL;
		size_t first = newline ? (size_t)(newline - text.data) + 1 : 0;
		if (first > budget)
			first = 0;
		const struct head_place at = {
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
			assert_true(!limit.count || preview_facts(p).shown <= limit.count);
			preview_free(p);
		}
		assert_true(buffer_is(&outs[0], outs[1].data, outs[1].len));
		buffer_release(&text);
		buffer_release(&outs[0]);
		buffer_release(&outs[1]);
	}
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
