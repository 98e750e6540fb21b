// Strings that a matching line must have, and whether a pattern stays within a line.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/buffer.h"
#include "lib/syntax.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define OPTIONS (PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C)

/* The set in words, those that are sure first, then "/" if there are others; folded letters in
   upper case. */
static void describe(const struct syntax *s, struct buffer *out)
{
	buffer_clear(out);
	for (unsigned i = 0; i < s->literals.count; i++) {
		const struct literal *l = &s->literals.items[i];
		if (i > 0)
			buffer_append(out, i == s->sure ? "/" : " ", 1);
		for (unsigned n = 0; n < l->len; n++) {
			char c = (char)(l->bytes[n] - (l->fold >> n & 1 ? 0x20 : 0));
			buffer_append(out, &c, 1);
		}
	}
	if (s->sure == s->literals.count && s->sure)
		buffer_append(out, "!", 1);
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
		{"error|warning", "", "error warning!", true, false},
		{"error|error", "", "error!", true, false},
		{"\xc3\xa9t\xc3\xa9", "", "\xc3\xa9t\xc3\xa9!", true, false},
		{"(?i)error", "", "ERROR!", true, false},
		{"a\\{2\\}\\/]", "", "a{2}/]!", true, false},
		{"a{,b", "", "a{,b!", true, false},
		{"a{x", "", "a{x!", true, false},
		{"gr[ae]y", "", "gray grey!", true, false},
		{"gr[ae]y", "i", "GRAY GREY!", true, false},
		{"gr[aa]y|z", "i", "GRAY Z!", true, false},
		{"x[01][23]y", "", "x02y x03y x12y x13y!", true, false},
		/* Two more characters are cases of s and k. */
		{"ask", "i", "ASK/\xc5\xbf \xe2\x84\xaa", true, false},
		{"ask", "", "ask!", true, false},
		{"a\xc3\xa9"
		 "bcd",
		 "i", "BCD", true, false},
		/* One of them is in a matching line, but that is not all. */
		{"a\\.b\\x41\\t", "", "a.b", true, false},
		{"(?:err|warn)or", "", "err warn", true, false},
		{"(a|b)(c|d)", "", "c d", true, false},
		{"https?://", "", "http", true, false},
		{"[Ee]rror", "", "rror", true, false},
		{"[Ee]rror", "i", "RROR", true, false},
		{"x[01]+yz", "", "yz", true, false},
		{"yz[0-1]x", "", "yz", true, false},
		{"yz[01234][56]x", "", "yz0 yz1 yz2 yz3 yz4", true, false},
		{"zab{3}c", "", "za", true, false},
		{"^error", "", "error", true, false},
		{"error$", "", "error", true, true},
		{"\\berror\\b", "", "error", true, false},
		{"foo.*bar", "", "foo", true, false},
		{"fo.*barz", "", "barz", true, false},
		{"a+b", "", "b", true, false},
		{"(ab)+c", "", "ab", true, false},
		{"(ab){2,}c", "", "ab", true, false},
		{"x(ab){2,}", "", "ab", true, false},
		{"((ab|cd){2}e){3}f", "", "ab cd", true, false},
		{"a(?<name>b)c", "", "b", true, false},
		{"a(?i:b)c", "", "B", true, false},
		{"ab(?i)CD|e", "", "ab E", true, false},
		{"(a(?i)b)c", "", "B", true, false},
		{"a[^b]c_z", "", "c_z", false, false},
		{"[0-9]+ ms", "", " ms", true, false},
		{"(\\d+)\\.(\\d+)", "", ".", true, false},
		{"(error|warn.ng) x", "", "error warn", true, false},
		{"(error|warn.ng) found", "", " found", true, false},
		{"foo(?=bar)baz", "", "baz", false, true},
		{"foo(?!bar)", "", "foo", false, true},
		{"(?<=x)foo", "", "foo", false, true},
		{"(?<!x)foo", "", "foo", false, true},
		{"(?>a|b)foo", "", "foo", false, true},
		{"fo++bar", "", "bar", false, true},
		{"(foo)?+bar", "", "bar", false, true},
		{"(foo)\\1", "", "foo", false, false},
		{"\\Afoo", "", "foo", false, true},
		{"foo\\z", "", "foo", false, true},
		{"foo\\Kbar", "", "foo", false, true},
		{"\\s+at", "", "at", false, false},
		{"abc(?#d)", "", "ab", true, false},
		{"a\\cXb", "", "b", true, false},
		{"[[:<:]]abc", "", "abc", true, false},
		/* No string is required. */
		{"", "", "", true, false},
		{"a*", "", "", true, false},
		{"a?", "", "", true, false},
		{"(abc)?", "", "", true, false},
		{"(abc)*", "", "", true, false},
		{"(abc){0}", "", "", true, false},
		{"(abc){0,2}", "", "", true, false},
		{"abc|", "", "", true, false},
		{"abc|.", "", "", true, false},
		{"(abc|)", "", "", true, false},
		{"a{0}", "", "", true, false},
		{"[a-z]+", "", "", true, false},
		{"\\w+\\d", "", "", true, false},
		{"\\p{Lu}\\N", "", "", true, false},
		/* A newline may be in it. */
		{"[^x]", "", "", false, false},
		{"[^x]{100}", "", "", false, false},
		{"[^x]*?", "", "", false, false},
		{"[^x\\n]", "", "", true, false},
		{"[\\t-x]", "", "", false, false},
		{"\\W", "", "", false, false},
		{"\\X\\R", "", "", false, false},
		{"[[:alpha:]]", "", "", true, false},
		{"[[:space:]]", "", "", false, false},
		{"\\n", "", "", false, false},
		{"\\x{a}", "", "", false, false},
		{"\n", "", "", false, false},
		/* Not understood. */
		{"\\Qab\\E", "", "", false, true},
		{"x\\Qa|b\\E", "", "", false, true},
		{"(?x)a b", "", "", false, true},
		{"(?s).", "", "", false, true},
		{"a(?-i)b", "i", "", false, true},
		{"(*ANYCRLF)abc", "", "", false, true},
		{"abc(*ACCEPT)d", "", "", false, true},
		{"(?#d)abc", "", "", false, true},
		{"(?C1)abc", "", "", false, true},
		{"(a)(?1)b", "", "", false, true},
		{"(?(?=a)b|c)", "", "", false, true},
	};
	struct buffer got = BUFFER_INIT;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct syntax s;
		syntax_read(&s, cases[i].pattern, strlen(cases[i].pattern),
			    OPTIONS | (*cases[i].fold ? PCRE2_CASELESS : 0));
		describe(&s, &got);
		if (strcmp(got.data, cases[i].want) != 0 || s.in_line != cases[i].in_line ||
		    s.line_end != cases[i].line_end)
			fail_msg("%s: %s, in_line %d, line_end %d", cases[i].pattern, got.data,
				 s.in_line, s.line_end);
	}
	buffer_release(&got);
}

/* However large: bounded, and no false claim is made. */
static void test_large_patterns(void **state)
{
	(void)state;
	struct buffer b = BUFFER_INIT;
	struct syntax s;
	for (int i = 0; i < 1000; i++)
		buffer_append_string(&b, "(");
	syntax_read(&s, b.data, b.len, OPTIONS);
	assert_int_equal(s.literals.count, 0);
	buffer_clear(&b);
	for (int i = 0; i < 100; i++)
		buffer_append_string(&b, "0123456789");
	syntax_read(&s, b.data, b.len, OPTIONS);
	assert_int_equal(s.literals.count, 1);
	assert_int_equal(s.sure, 0);
	assert_true(s.literals.items[0].len <= LITERAL_LEN);
	buffer_clear(&b);
	for (int i = 0; i < 100; i++)
		buffer_printf(&b, "word%d|", i);
	b.len--;
	syntax_read(&s, b.data, b.len, OPTIONS);
	assert_int_equal(s.literals.count, 0);
	buffer_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_required),
		cmocka_unit_test(test_large_patterns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
