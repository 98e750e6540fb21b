// UTF-8 against a second description of it: the encodings of scalar values and their prefixes, by
// arithmetic.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "tests/unit/unit.h"

#define LAST_CP 0x10FFFFu

/* Every byte at which a row of Unicode's table 3-7 begins or ends, and some that are in none. */
static const unsigned char edges[] = {
	0x00, 0x0A, 0x1B, 0x41, 0x7E, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
	0xA8, 0xBD, 0xBE, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xE2,
	0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFE, 0xFF,
};
#define EDGES (sizeof(edges) / sizeof(*edges))

static bool is_surrogate(uint32_t cp)
{
	return cp >= 0xD800 && cp <= 0xDFFF;
}

static size_t encode(uint32_t cp, unsigned char out[4])
{
	if (cp < 0x80) {
		out[0] = (unsigned char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (unsigned char)(0xC0 + cp / 64);
		out[1] = (unsigned char)(0x80 + cp % 64);
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (unsigned char)(0xE0 + cp / 4096);
		out[1] = (unsigned char)(0x80 + cp / 64 % 64);
		out[2] = (unsigned char)(0x80 + cp % 64);
		return 3;
	}
	out[0] = (unsigned char)(0xF0 + cp / 262144);
	out[1] = (unsigned char)(0x80 + cp / 4096 % 64);
	out[2] = (unsigned char)(0x80 + cp / 64 % 64);
	out[3] = (unsigned char)(0x80 + cp % 64);
	return 4;
}

/* Whether it is the beginning of an encoding, but not a whole one: it leaves open some scalar
   values that need as many bytes. */
static bool is_prefix(const unsigned char *data, size_t len)
{
	const size_t size = data[0] < 0xC0 ? 1 : data[0] < 0xE0 ? 2 : data[0] < 0xF0 ? 3 : 4;
	static const uint32_t least[] = {[2] = 0x80, [3] = 0x800, [4] = 0x10000};
	if (len >= size || data[0] > 0xF7)
		return false;
	uint32_t first = data[0] - (0xF00u >> size & 0xFF);
	for (size_t i = 1; i < size; i++) {
		if (i < len && (data[i] & 0xC0) != 0x80)
			return false;
		first = first * 64 + (i < len ? data[i] % 64 : 0);
	}
	const uint32_t last = first + (1u << 6 * (size - len)) - 1;
	return last >= least[size] && first <= LAST_CP &&
	       !(is_surrogate(first) && is_surrogate(last));
}

/* As the Unicode standard recommends: a character, or the longest beginning of one, or a byte. */
static size_t expected(const unsigned char *data, size_t len, uint32_t *cp)
{
	size_t n = 0;
	while (n < len && n < 3 && is_prefix(data, n + 1))
		n++;
	*cp = UTF8_REPLACEMENT;
	if (data[0] < 0x80) {
		*cp = data[0];
		return 1;
	}
	/* The next byte completes it if it is a continuation and no longer prefix was found. */
	if (n > 0 && n < len && (data[n] & 0xC0) == 0x80) {
		size_t whole = data[0] < 0xE0 ? 2 : data[0] < 0xF0 ? 3 : 4;
		if (n + 1 == whole) {
			uint32_t value = data[0] & (whole == 2   ? 0x1Fu
						    : whole == 3 ? 0x0Fu
								 : 0x07u);
			for (size_t i = 1; i < whole; i++)
				value = value * 64 + (data[i] & 0x3Fu);
			*cp = value;
			return whole;
		}
	}
	return n ? n : 1;
}

TEST(every_scalar_value_both_ways)
{
	for (uint32_t cp = 0; cp <= LAST_CP; cp++) {
		unsigned char bytes[4];
		char out[4];
		uint32_t back;
		if (is_surrogate(cp))
			continue;
		size_t n = encode(cp, bytes);
		assert_int_equal(utf8_put(cp, out), n);
		assert_memory_equal(out, bytes, n);
		assert_int_equal(utf8_decode(out, n, &back), n);
		assert_int_equal(back, cp);
		/* Cut short it is a replacement that takes all there is, and more could complete
		   it. */
		for (size_t len = 1; len < n; len++) {
			size_t tail = 0;
			assert_int_equal(utf8_decode(out, len, &back), len);
			assert_int_equal(back, UTF8_REPLACEMENT);
			assert_true(utf8_incomplete(out, len, &tail));
			assert_int_equal(tail, len);
		}
	}
}

/* Whether `data` ends in the beginning of a character. */
static bool expected_incomplete(const unsigned char *data, size_t len, size_t *tail)
{
	size_t at = 0, step = 0;
	for (; at < len; at += step) {
		uint32_t cp;
		step = expected(data + at, len - at, &cp);
		if (at + step == len && cp == UTF8_REPLACEMENT && step <= 3 &&
		    is_prefix(data + at, step)) {
			*tail = step;
			return true;
		}
	}
	return false;
}

/* Where the text may be cut: not inside a valid character. */
static size_t expected_floor(const unsigned char *data, size_t total, size_t len)
{
	size_t best = 0;
	for (size_t at = 0; at < total;) {
		uint32_t cp;
		size_t step = expected(data + at, total - at, &cp);
		bool valid = cp != UTF8_REPLACEMENT || (step == 3 && data[at] == 0xEF);
		for (size_t i = valid ? step : 1; i <= step; i++) {
			if (at + i <= len)
				best = at + i;
		}
		at += step;
	}
	return best;
}

static void check_sequence(const unsigned char *data, size_t len)
{
	const char *text = (const char *)data;
	uint32_t cp, want_cp;
	size_t tail = 0, want_tail = 0;
	size_t want = expected(data, len, &want_cp);
	assert_int_equal(utf8_decode(text, len, &cp), want);
	assert_int_equal(cp, want_cp);
	bool incomplete = expected_incomplete(data, len, &want_tail);
	assert_int_equal(utf8_incomplete(text, len, &tail), incomplete);
	assert_int_equal(tail, want_tail);
	for (size_t cut = 0; cut <= len + 1; cut++)
		assert_int_equal(utf8_floor(text, len, cut), expected_floor(data, len, cut));
}

TEST(every_boundary_of_the_table)
{
	unsigned char data[4];
	for (size_t a = 0; a < EDGES; a++) {
		data[0] = edges[a];
		check_sequence(data, 1);
		for (size_t b = 0; b < EDGES; b++) {
			data[1] = edges[b];
			check_sequence(data, 2);
			for (size_t c = 0; c < EDGES; c++) {
				data[2] = edges[c];
				check_sequence(data, 3);
			}
		}
	}
	/* Four bytes: leads that can have them, and one that can't. */
	for (size_t i = 0; i < 5 * EDGES * EDGES * EDGES; i++) {
		static const unsigned char leads[] = {0xE2, 0xF0, 0xF1, 0xF4, 0xF5};
		data[0] = leads[i % 5];
		data[1] = edges[i / 5 % EDGES];
		data[2] = edges[i / 5 / EDGES % EDGES];
		data[3] = edges[i / 5 / EDGES / EDGES];
		check_sequence(data, 4);
	}
}

static bool in(uint32_t cp, uint32_t first, uint32_t last)
{
	return cp >= first && cp <= last;
}

TEST(clean_code_points)
{
	for (uint32_t cp = 0; cp <= LAST_CP; cp++) {
		bool control = (cp < 0x20 && cp != '\n' && cp != '\t') || in(cp, 0x7F, 0x9F);
		bool bidi = cp == 0x200E || cp == 0x200F || cp == 0x61C || in(cp, 0x2028, 0x202E) ||
			    in(cp, 0x2066, 0x2069);
		bool none = in(cp, 0xFDD0, 0xFDEF) || cp % 0x10000 >= 0xFFFE || is_surrogate(cp);
		bool dirty = control || bidi || none || in(cp, 0xE0000, 0xE007F) || cp == 0xFEFF;
		assert_int_equal(utf8_is_clean(cp), !dirty);
	}
}

static void cleans(const char *data, size_t len, const char *want)
{
	struct buffer out = BUFFER_INIT;
	utf8_clean(&out, data, len);
	assert_string_equal(buffer_string(&out), want);
	assert_int_equal(utf8_clean(NULL, data, len), out.len);
	assert_int_equal(utf8_all_clean(data, len),
			 out.len == len && memcmp(out.data, data, len) == 0);
	buffer_release(&out);
}

#define R             "\xEF\xBF\xBD"
#define CLEANS(in, w) cleans(in, sizeof(in) - 1, w)

TEST(clean_texts)
{
	CLEANS("", "");
	CLEANS("plain\ttext\n", "plain\ttext\n");
	CLEANS("a\x1b[31mred\x1b[m\r\n", "a" R "[31mred" R "[m\r\n");
	CLEANS("nul\0nul", "nul\u2400nul");
	CLEANS("gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F");
	CLEANS("\xF0\x9F\x99\x82", "\xF0\x9F\x99\x82");
	CLEANS("latin \xFC.", "latin " R ".");
	CLEANS("cut \xF0\x9F\x99", "cut " R);
	CLEANS("\xF0\x9F\x99 \xE2\x82", R " " R);
	CLEANS("\xED\xA0\x80", R R R);
	CLEANS("real " R " stays", "real " R " stays");
	CLEANS("\xC2\x85", R);
	CLEANS("\xE2\x80\xAE evil", R " evil");
	CLEANS("\xF3\xA0\x81\x81tag", R "tag");
	CLEANS("\xEF\xBB\xBF"
	       "bom",
	       R "bom");
	CLEANS("\xF4\x8F\xBF\xBF", R);
	CLEANS("\xEF\xBF\xBF", R);
	CLEANS("\x7F", R);
}

/* Those that came with Unicode 16 and 17, too. */
TEST(widths)
{
	static const struct {
		uint32_t cp;
		unsigned width;
	} known[] = {
		{'a', 1},     {0xAD, 1},    {0xE9, 1},    {0x300, 0},   {0x36F, 0},   {0x483, 0},
		{0x903, 1},   {0x1100, 2},  {0x1160, 0},  {0x11FF, 0},  {0x200B, 0},  {0x200D, 0},
		{0x2014, 1},  {0x2028, 1},  {0x20AC, 1},  {0x20E3, 0},  {0x231A, 2},  {0x2500, 1},
		{0x2588, 1},  {0x2705, 2},  {0x2713, 1},  {0x2801, 1},  {0x3000, 2},  {0x3042, 2},
		{0x4E00, 2},  {0x9FFF, 2},  {0xAC00, 2},  {0xD7A3, 2},  {0xE0B0, 1},  {0xF900, 2},
		{0xFA6E, 2},  {0xFE0F, 0},  {0xFF21, 2},  {0xFF71, 1},  {0x1F1E9, 1}, {0x1F600, 2},
		{0x1F680, 2}, {0x1F9D1, 2}, {0x1FAE0, 2}, {0x20000, 2}, {0x3FFFD, 2}, {0xE0001, 0},
		{0x301, 0},   {0x4E2D, 2},  {0x1FAE9, 2}, {0x1FA89, 2}, {0x1FA8F, 2}, {0x1FABE, 2},
		{0x1FAC6, 2}, {0x1FADC, 2}, {0x1FADF, 2}, {0x1FA8A, 2}, {0x1FA8E, 2}, {0x1FAC8, 2},
		{0x1FACD, 2}, {0x1FAEA, 2}, {0x1FAEF, 2}, {0x1F6D8, 2}, {0x31E4, 2},  {0x0897, 0},
		{0x1AE0, 0},  {0x18CFF, 2}, {0x1FA60, 1},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_int_equal(utf8_width(known[i].cp), known[i].width);
	assert_true(utf8_joins(0x1FAEF, ZWJ, 0x1F600));
}

TEST_MAIN(NULL, NULL)
