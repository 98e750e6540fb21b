// The matches of a pattern. tests/fuzz/fuzz_search.c compares them with PCRE2's own, line by line.

#include "supervisor/reading/matcher.h"
#include "tests/unit/unit.h"

static struct matcher *make(const char *pattern, const struct matcher_options *options)
{
	struct matcher_error error;
	struct matcher *m = matcher_new(pattern, options, &error);
	if (!m)
		fail_msg("%s: at offset %zu: %s", pattern, error.offset, error.text);
	return m;
}

/* --- a table of what matches ------------------------------------------------- */

TEST(test_table)
{
	static const struct {
		const char *flags, *pattern, *line;
		int from, to; /* from -1: no match */
	} cases[] = {
		{"", "b+", "abbc", 1, 3},
		{"", "", "abc", 0, 0},
		{"", "", "", 0, 0},
		{"", "^$", "", 0, 0},
		{"", "^$", "a", -1, 0},
		{"", "^abc$", "abc", 0, 3},
		{"", "x", "abc", -1, 0},
		{"", "(a|b)c", "xbc", 1, 3},
		/* Case: of Unicode. */
		{"i", "error", "an ERROR", 3, 8},
		{"i", "straße", "STRAßE", 0, 7},
		{"i", "müll", "MÜLL", 0, 5},
		{"i", "task", "ta\xc5\xbf\xe2\x84\xaa", 0, 7},
		{"", "(?i)Key", "KEY", 0, 3},
		{"", "error", "ERROR", -1, 0},
		/* Characters, not bytes. */
		{"", "^.$", "\xe2\x9c\x93", 0, 3},
		{"", "gr\\w+e",
		 "eine gr\xc3\xb6\xc3\x9f"
		 "e",
		 5, 12},
		{"", "\\bx", "\xc3\xa9x", -1, 0},
		{"", "\\d", "\xd9\xa3", 0, 2},
		{"", "[\xc3\xa4-\xc3\xbc]", "b\xc3\xb6", 1, 3},
		/* Bytes that are not UTF-8 match nothing, and do no harm. */
		{"", "a.b",
		 "a\xff"
		 "b a b",
		 4, 7},
		{"", "b",
		 "\xff\xfe"
		 "b\xc3",
		 2, 3},
		{"", "\xc3\xa9", "\xc3\xc3\xa9", 1, 3},
		/* A carriage return at the end. */
		{"", "end$", "the end\r", 4, 7},
		{"", "end\r", "the end\r", 4, 8},
		{"", "end\\r$", "the end\r", 4, 8},
		{"", "^$", "\r", 0, 0},
		{"", "end$", "end\rx", -1, 0},
		{"", "\xc3\xa9$", "\xc3\xa9\r", 0, 2},
		/* Words. */
		{"w", "use", "user use", 5, 8},
		{"w", "use", "user", -1, 0},
		{"w", "-x", "a -x b", 2, 4},
		{"w", "a|ab", "ab", 0, 2},
		{"w", "use", "use\xc3\xa9", -1, 0},
		{"w", "(?x)use # c", "user use", 5, 8},
		{"w", "\\Quse", "user use", 5, 8},
		{"wi", "use", "user USE", 5, 8},
		/* Strings. */
		{"F", "a.b", "axb a.b", 4, 7},
		{"F", "(", "a(", 1, 2},
		{"F", "a\\Eb*", "a\\Eb*", 0, 5},
		{"F", "[x]#{2}^$|?+", "[x]#{2}^$|?+", 0, 12},
		{"F", " # ", "a # b", 1, 4},
		{"Fi", "A.B", "a.b", 0, 3},
		{"Fw", "a+", "aa+ a+ ", 4, 6},
		/* Lookaround. */
		{"", "foo(?=bar)", "foo foobar", 4, 7},
		{"", "foo(?!bar)", "foobar foo", 7, 10},
		{"", "(?<=a)b", "b ab", 3, 4},
		{"", "(?=b)a?b", "b", 0, 1},
		{"", "(a)\\1", "a aa", 2, 4},
		{"", "foo\\Kbar", "foobar", 3, 6},
		{"", "a++b", "aab", 0, 3},
		{"", "(*NO_JIT)b+c?", "abbc", 1, 4},
		{"", "(*UTF)\xc3\xa9", "a\xc3\xa9", 1, 3},
		{"w", "(*UCP)use", "user use", 5, 8},
		{"", "\\Aa", "aa", 0, 1},
		{"", "a\\z", "aa", 1, 2},
		{"", "(?s)a.b", "a\nb", 0, 3},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct matcher_options options = {
			.ignore_case = strchr(cases[i].flags, 'i'),
			.word = strchr(cases[i].flags, 'w'),
			.literal = strchr(cases[i].flags, 'F'),
		};
		struct matcher *m = make(cases[i].pattern, &options);
		struct matcher_span span = {9, 9};
		enum matcher_result want = cases[i].from < 0 ? MATCHER_NONE : MATCHER_FOUND;
		enum matcher_result got =
			matcher_line(m, cases[i].line, strlen(cases[i].line), &span);
		if (got != want || (got == MATCHER_FOUND && (span.from != (size_t)cases[i].from ||
							     span.to != (size_t)cases[i].to)))
			fail_msg("%s in %s: %d, %zu to %zu", cases[i].pattern, cases[i].line, got,
				 span.from, span.to);
		matcher_free(m);
	}
}

TEST(test_errors)
{
	static const struct {
		const char *pattern;
		size_t offset;
		const char *text;
	} cases[] = {
		{"a(bcd", 5, "missing closing parenthesis"},
		{"a)", 1, "unmatched closing parenthesis"},
		{"[a", 2, "missing terminating ] for character class"},
		{"*a", 0, "quantifier does not follow a repeatable item"},
		{"a\\", 2, "\\ at end of pattern"},
		{"\xff", 0, "UTF-8 error: illegal byte (0xfe or 0xff)"},
		{"\\C", 2, "using \\C is disabled by the application"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* The position is one in the pattern as it was given. */
		for (int word = 0; word < 2; word++) {
			struct matcher_options options = {.word = word};
			struct matcher_error error;
			errno = 0;
			assert_null(matcher_new(cases[i].pattern, &options, &error));
			assert_int_equal(errno, EINVAL);
			assert_string_equal(error.text, cases[i].text);
			assert_int_equal(error.offset, cases[i].offset);
		}
	}
}

TEST(test_gives_up)
{
	static const char text[] = "one\ntwo\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\nthree\n";
	static const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$",
					       "(*NO_JIT)(a+)+$"};
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		const struct matcher_options options = {.ignore_case = false};
		struct matcher *m = make(patterns[i], &options);
		size_t at = 0;
		assert_int_equal(matcher_next(m, text, strlen(text), &at), MATCHER_GAVE_UP);
		assert_int_equal(at, 8);
		assert_string_equal(
			matcher_reason(m),
			"it takes over 10 million steps, as repeats inside repeats do: (a+)+");
		matcher_free(m);
	}
}

/* No beginning of a match takes too many steps, but all of them together do. */
TEST(test_takes_too_long)
{
	static char text[64 * 1024];
	const struct matcher_options options = {.ignore_case = false};
	struct matcher *m = make("(a?){20}c|b$", &options);
	size_t at = 0;
	memset(text, 'a', sizeof(text));
	text[0] = '\n';
	text[sizeof(text) - 1] = 'b';
	assert_int_equal(matcher_next(m, text, sizeof(text), &at), MATCHER_GAVE_UP);
	assert_int_equal(at, 1);
	assert_non_null(strstr(matcher_reason(m), "a second a megabyte"));
	matcher_free(m);
	/* One that takes many is still found at its place, in a short line and in a long one. */
	for (size_t len = 3000; len < sizeof(text); len += 60000) {
		struct matcher_span span;
		m = make("(?:a|aa){1,10}c|b", &options);
		assert_int_equal(matcher_line(m, text + sizeof(text) - len, len, &span),
				 MATCHER_FOUND);
		assert_true(span.from == len - 1 && span.to == len);
		matcher_free(m);
	}
}

/* A part of a long line: what is in front of it, and behind. */
TEST(test_part)
{
	static const struct {
		const char *pattern;
		size_t start;
		bool ends;
		int from;
	} cases[] = {
		{"b", 0, false, 1},  {"b", 2, false, -1},   {"c", 0, false, 2},
		{"^a", 0, false, 0}, {"^b", 1, false, -1},  {"bc$", 0, false, -1},
		{"bc$", 1, true, 1}, {"\\bb", 1, true, -1}, /* what is before counts */
		{"x*", 0, false, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct matcher_options options = {.ignore_case = false};
		struct matcher *m = make(cases[i].pattern, &options);
		struct matcher_span span = {99, 99};
		enum matcher_result got =
			matcher_part(m, "abc", 3, cases[i].start, cases[i].ends, &span);
		if (got != (cases[i].from < 0 ? MATCHER_NONE : MATCHER_FOUND) ||
		    (got == MATCHER_FOUND && span.from != (size_t)cases[i].from))
			fail_msg("case %zu, %s: %d", i, cases[i].pattern, got);
		matcher_free(m);
	}
}

TEST_MAIN(NULL, NULL)
