// Strings that a matching line must have: which they are, and finding them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/buffer.h"
#include "lib/finder.h"
#include "lib/syntax.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;

/* xorshift64* */
static uint32_t next_random(uint32_t below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* --- which they are ---------------------------------------------------------- */

/* The set in words, those that are sure first, then "/" if there are others; folded letters in
   upper case. */
static void describe(const struct syntax *s, struct buffer *out)
{
	buffer_clear(out);
	for (unsigned i = 0; i < s->literals.count; i++) {
		const struct literal *l = &s->literals.items[i];
		if (i > 0)
			assert_int_equal(buffer_append(out, i == s->sure ? "/" : " ", 1), 0);
		for (unsigned n = 0; n < l->len; n++) {
			char c = (char)(l->bytes[n] - (l->fold >> n & 1 ? 0x20 : 0));
			assert_int_equal(buffer_append(out, &c, 1), 0);
		}
	}
	if (s->sure == s->literals.count && s->sure)
		assert_int_equal(buffer_append(out, "!", 1), 0);
	assert_non_null(buffer_string(out));
}

static void test_required(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *fold, *want;
		bool in_line, line_end;
	} cases[] = {
		/* "!": a line that has one of them matches. */
		{"error", "", "error!", true, false},
		{"error", "i", "ERROR!", true, false},
		{"a\\.b\\x41\\t", "", "a.bA\t!", true, false},
		{"error|warning", "", "error warning!", true, false},
		{"(?:err|warn)or", "", "error warnor!", true, false},
		{"(a|b)(c|d)", "", "ac ad bc bd!", true, false},
		{"https?://", "", "https:// http://!", true, false},
		{"[Ee]rror", "", "Error error!", true, false},
		{"[Ee]rror", "i", "ERROR!", true, false},
		{"ab{3}c", "", "abbbc!", true, false},
		{"\xc3\xa9t\xc3\xa9", "", "\xc3\xa9t\xc3\xa9!", true, false},
		{"(?i)error", "", "ERROR!", true, false},
		{"a(?i)b(?-i)c", "", "aBc!", true, false},
		{"a(?i:b)c", "", "aBc!", true, false},
		{"a(?<name>b)c", "", "abc!", true, false},
		{"a\\{2}", "", "a{2}!", true, false},
		{"a{,2", "", "", false, true},
		{"a{x", "", "a{x!", true, false},
		/* Two more characters are cases of s and k. */
		{"ask", "i", "ASK/\xc5\xbf \xe2\x84\xaa", true, false},
		{"ask", "", "ask!", true, false},
		{"a\xc3\xa9"
		 "bcd",
		 "i", "BCD", true, false},
		/* One of them is in a matching line, but that is not all. */
		{"^error", "", "error", true, false},
		{"error$", "", "error", true, true},
		{"\\berror\\b", "", "error", true, false},
		{"foo.*bar", "", "foo", true, false},
		{"fo.*barz", "", "barz", true, false},
		{"a+b", "", "ab", true, false},
		{"(ab)+c", "", "abc", true, false},
		{"(ab){2,}c", "", "abab", true, false},
		{"x(ab){2,}", "", "xabab", true, false},
		{"a[^b]c_z", "", "c_z", false, false},
		{"[0-9]+ ms", "", " ms", true, false},
		{"(\\d+)\\.(\\d+)", "", ".", true, false},
		{"(error|warn.ng) x", "", "error warn", true, false},
		{"(error|warn.ng) found", "", " found", true, false},
		{"foo(?=bar)baz", "", "foobaz", false, false},
		{"foo(?!bar)", "", "foo", false, true},
		{"(?<=x)foo", "", "foo", false, false},
		{"(?>a|b)foo", "", "afoo bfoo", false, true},
		{"fo++bar", "", "obar", false, true},
		{"(foo)\\1", "", "foo", false, false},
		{"\\Afoo", "", "foo", false, false},
		{"foo\\z", "", "foo", false, true},
		{"foo\\Kbar", "", "foobar", false, false},
		{"\\s+at", "", "at", false, false},
		/* Nothing has to be there. */
		{"", "", "", true, false},
		{"a*", "", "", true, false},
		{"a?", "", "", true, false},
		{"(abc)?", "", "", true, false},
		{"abc|", "", "", true, false},
		{"abc|.", "", "", true, false},
		{"a{0}", "", "", true, false},
		{"[a-z]+", "", "", true, false},
		{"[^x]", "", "", false, false},
		{"[^x\\n]", "", "", true, false},
		{"\\w+\\d", "", "", true, false},
		{"\\W", "", "", false, false},
		{"[[:alpha:]]", "", "", true, false},
		{"[[:space:]]", "", "", false, false},
		{"(?s).", "", "", false, false},
		{"\\n", "", "", false, false},
		/* What is not understood. */
		{"\\Qab\\E", "", "", false, true},
		{"(?x)a b", "", "", false, true},
		{"(*ANYCRLF)abc", "", "", false, true},
		{"(a)(?1)b", "", "", false, true},
		{"(?(?=a)b|c)", "", "", false, true},
		{"abc(?#d)", "", "", false, true},
		{"a\\cXb", "", "", false, true},
		{"[[:<:]]abc", "", "", false, true},
	};
	struct buffer got = BUFFER_INIT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct syntax s;
		syntax_read(&s, cases[i].pattern, strlen(cases[i].pattern), *cases[i].fold);
		describe(&s, &got);
		if (strcmp(got.data, cases[i].want) != 0 || s.in_line != cases[i].in_line ||
		    s.line_end != cases[i].line_end)
			fail_msg("%s: %s, in_line %d, line_end %d", cases[i].pattern, got.data,
				 s.in_line, s.line_end);
	}
	buffer_release(&got);
}

/* However large: bounded, and nothing is claimed that is not so. */
static void test_large_patterns(void **state)
{
	(void)state;
	struct buffer b = BUFFER_INIT;
	struct syntax s;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buffer_append_string(&b, "("), 0);
	syntax_read(&s, b.data, b.len, false);
	assert_int_equal(s.literals.count, 0);
	buffer_clear(&b);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buffer_append_string(&b, "0123456789"), 0);
	syntax_read(&s, b.data, b.len, false);
	assert_int_equal(s.literals.count, 1);
	assert_int_equal(s.sure, 0);
	assert_true(s.literals.items[0].len <= LITERAL_LEN);
	buffer_clear(&b);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buffer_printf(&b, "word%d|", i), 0);
	b.len--;
	syntax_read(&s, b.data, b.len, false);
	assert_int_equal(s.literals.count, 0);
	buffer_release(&b);
}

/* --- finding them ------------------------------------------------------------ */

static char fold_byte(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 0x20) : c;
}

static size_t find_slowly(const struct literal_set *s, const char *data, size_t from, size_t len)
{
	for (size_t at = from; at < len; at++) {
		for (unsigned i = 0; i < s->count; i++) {
			const struct literal *l = &s->items[i];
			size_t n = 0;
			while (n < l->len && at + n < len &&
			       l->bytes[n] ==
				       (l->fold >> n & 1 ? fold_byte(data[at + n]) : data[at + n]))
				n++;
			if (n == l->len)
				return at;
		}
	}
	return len;
}

static void test_find(void **state)
{
	(void)state;
	static const char alphabet[] = "abAB{[@\x01\xC3\xA9\n!";
	char data[600];
	for (int round = 0; round < 20000; round++) {
		size_t len = next_random(sizeof(data));
		/* Few different bytes, for many near misses. */
		uint32_t kinds = 2 + next_random(sizeof(alphabet) - 3);
		for (size_t i = 0; i < len; i++)
			data[i] = alphabet[next_random(kinds)];
		struct literal_set s = {.count = 1 + next_random(4)};
		for (unsigned i = 0; i < s.count; i++) {
			struct literal *l = &s.items[i];
			l->len = (unsigned char)(1 + next_random(round % 10 ? 4 : LITERAL_LEN));
			for (unsigned n = 0; n < l->len; n++) {
				l->bytes[n] = alphabet[next_random(kinds)];
				if (l->bytes[n] >= 'a' && l->bytes[n] <= 'z' && next_random(2))
					l->fold |= UINT64_C(1) << n;
			}
		}
		struct finder f;
		finder_init(&f, &s);
		/* In memory that ends with the data. */
		char *copy = malloc(len + 1);
		assert_non_null(copy);
		memmove(copy + 1, data, len);
		size_t from = 0;
		while (from <= len) {
			unsigned which = 99;
			size_t want = find_slowly(&s, data, from, len);
			size_t got = finder_find(&f, copy + 1, from, len, &which);
			assert_int_equal(got, want);
			assert_true(got == len || which < s.count);
			from = got + 1;
		}
		free(copy);
	}
}

static void test_find_high(void **state)
{
	(void)state;
	char high[100], other[100];
	for (size_t at = 0; at < sizeof(high); at++) {
		memset(high, 'a', sizeof(high));
		memset(other, 'a', sizeof(other));
		high[at] = (char)0x80;
		other[at] = '\r';
		for (size_t from = 0; from <= at; from++) {
			assert_int_equal(finder_find_high(high, from, sizeof(high), 0x80), at);
			assert_int_equal(finder_find_high(high, from, sizeof(high), '\r'), at);
			assert_int_equal(finder_find_high(other, from, sizeof(other), '\r'), at);
			assert_int_equal(finder_find_high(other, from, sizeof(other), 0x80),
					 sizeof(other));
			assert_int_equal(finder_find_high(other, from, at, '\r'), at);
		}
	}
}

/* --- sets -------------------------------------------------------------------- */

static struct literal_set make_set(const char *const *words)
{
	struct literal_set s = {.count = 0};
	for (; *words; words++) {
		struct literal *l = &s.items[s.count++];
		l->len = (unsigned char)strlen(*words);
		memcpy(l->bytes, *words, l->len);
	}
	return s;
}

#define SET(...) make_set((const char *const[]){__VA_ARGS__, NULL})

static void test_sets(void **state)
{
	(void)state;
	struct literal_set a = SET("a", "b"), b = SET("", "x", "yz"), empty;
	assert_true(literal_set_append(&a, &b));
	assert_int_equal(a.count, 6);
	assert_int_equal(a.items[2].len, 3);
	assert_memory_equal(a.items[2].bytes, "ayz", 3);
	assert_memory_equal(a.items[4].bytes, "bx", 2);
	assert_true(literal_set_join(&a, &b));
	assert_int_equal(a.count, 9);
	assert_true(literal_set_join(&a, &b));
	assert_int_equal(a.count, 9);
	/* Too many: as it was. */
	assert_false(literal_set_append(&a, &b));
	assert_int_equal(a.count, 9);
	literal_set_empty(&empty);
	assert_true(literal_set_append(&a, &empty));
	assert_int_equal(a.count, 9);
	/* Too long. */
	struct literal_set l = SET("0123456789012345678901234567890");
	assert_false(literal_set_append(&l, &l));

	struct literal_set none = {.count = 0};
	assert_int_equal(literal_set_rarity(&none), 0);
	assert_int_equal(literal_set_rarity(&empty), 0);
	assert_int_equal(literal_set_rarity(&b), 0);
	struct literal_set common = SET("e"), rare = SET("@"), rarer = SET("@@"),
			   two = SET("@", "!");
	assert_true(literal_set_rarity(&common) < literal_set_rarity(&rare));
	assert_true(literal_set_rarity(&rare) < literal_set_rarity(&rarer));
	assert_true(literal_set_rarity(&two) < literal_set_rarity(&rare));
	assert_true(literal_set_rarity(&two) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_required), cmocka_unit_test(test_large_patterns),
		cmocka_unit_test(test_find),     cmocka_unit_test(test_find_high),
		cmocka_unit_test(test_sets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
