// The matches of a pattern, and those in many lines against PCRE2 itself, line by line.

#include "lib/buffer.h"
#include "supervisor/reading/matcher.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

/* --- many lines against PCRE2 ------------------------------------------------ */

struct reference {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *limits;
};

static bool reference_open(struct reference *r, const char *pattern, bool fold)
{
	int number;
	size_t offset;
	r->code = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern),
				PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
					PCRE2_NEVER_BACKSLASH_C | (fold ? PCRE2_CASELESS : 0) |
					(strstr(pattern, "(?=") ? PCRE2_NO_START_OPTIMIZE : 0),
				&number, &offset, NULL);
	if (!r->code)
		return false;
	r->data = pcre2_match_data_create(1, NULL);
	r->limits = pcre2_match_context_create(NULL);
	pcre2_set_match_limit(r->limits, 100000);
	pcre2_jit_compile(r->code, PCRE2_JIT_COMPLETE);
	return true;
}

static void reference_close(struct reference *r)
{
	pcre2_code_free(r->code);
	pcre2_match_data_free(r->data);
	pcre2_match_context_free(r->limits);
}

/* 1, 0, or -1: too much. */
static int reference_line(struct reference *r, const char *line, size_t len)
{
	int rc = pcre2_match(r->code, (PCRE2_SPTR)line, len, 0, 0, r->data, r->limits);
	if (rc == PCRE2_ERROR_NOMATCH && len > 0 && line[len - 1] == '\r')
		rc = pcre2_match(r->code, (PCRE2_SPTR)line, len - 1, 0, 0, r->data, r->limits);
	return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : -1;
}

static void fail_compare(const char *pattern, bool fold, bool got, const char *line, size_t len)
{
	struct buffer b = BUFFER_INIT;
	for (size_t i = 0; i < len; i++)
		buffer_printf(&b, line[i] > ' ' && line[i] < 0x7F ? "%c" : "\\x%02x",
			      (unsigned char)line[i]);
	fail_msg("%s%s: %s the line \"%.*s\"", pattern, fold ? " (caseless)" : "",
		 got ? "matches" : "misses", (int)b.len, b.data);
}

static void compare(const char *pattern, bool fold, const char *text, size_t len)
{
	struct reference r;
	if (!reference_open(&r, pattern, fold))
		return;
	const struct matcher_options options = {.ignore_case = fold};
	struct matcher *m = make(pattern, &options);
	size_t from = 0, found = 0;
	enum matcher_result result = matcher_next(m, text, len, &found);
	while (from < len) {
		const char *newline = memchr(text + from, '\n', len - from);
		size_t stop = newline ? (size_t)(newline - text) : len;
		int want = reference_line(&r, text + from, stop - from);
		if (want < 0 || result == MATCHER_GAVE_UP)
			break;
		bool got = result == MATCHER_FOUND && found == from;
		if (got != want)
			fail_compare(pattern, fold, got, text + from, stop - from);
		from = stop + 1;
		if (got && from < len) {
			result = matcher_next(m, text + from, len - from, &found);
			found += from;
		}
	}
	matcher_free(m);
	reference_close(&r);
}

static const char *pick(const char *const *list, size_t count)
{
	return list[random_below((uint32_t)count)];
}

#define PICK(list) pick(list, sizeof(list) / sizeof(*(list)))

static void add_regex(struct buffer *b, int depth);

static void add_atom(struct buffer *b, int depth)
{
	static const char *const atoms[] = {
		"a",
		"b",
		"k",
		"s",
		"K",
		"S",
		"ab",
		"foo",
		"bar",
		"error",
		"\xc3\xa9",
		"\xc5\xbf",
		"\xe2\x9c\x93",
		".",
		"\\.",
		" ",
		"\\d",
		"\\w",
		"\\s",
		"\\S",
		"\\W",
		"\\D",
		"\\h",
		"\\b",
		"\\B",
		"^",
		"$",
		"[ab]",
		"[^a]",
		"[a-f]",
		"[[:alpha:]]",
		"[^[:space:]]",
		"[ks]",
		"[\\d.-]",
		"\\x61",
		"\\x{e9}",
		"\\x{17f}",
		"\\r",
		"\\n",
		"\\t",
		"\\1",
		"(?i)",
		"(?-i)",
		"(?s)",
		"\\K",
		"\\A",
		"\\z",
		"\\Z",
		"\\N",
		"\\R",
		"\\X",
		"\\Qa.\\E",
		"{",
		"]",
		"a{2}",
		"\\p{Lu}",
		"-",
		"1",
		"\\/",
		"[\xc3\xa9k]",
		"(?#c)",
		"\\012",
		"[^\\n]",
	};
	static const char *const groups[] = {"(",   "(?:",   "(",    "(?:",  "(?i:",
					     "(?>", "(?=",   "(?!",  "(?<=", "(?<!",
					     "(?|", "(?<n>", "(?s:", "(?-i:"};
	if (depth > 0 && random_below(4) == 0) {
		buffer_append_string(b, PICK(groups));
		add_regex(b, depth - 1);
		buffer_append_string(b, ")");
	} else {
		buffer_append_string(b, PICK(atoms));
	}
}

static void add_regex(struct buffer *b, int depth)
{
	static const char *const quantifiers[] = {"*",  "+",  "?",  "{2}", "{0}", "{1,2}", "{2,}",
						  "*?", "+?", "??", "++",  "*+",  "{0,1}", "{1}"};
	for (uint32_t n = 1 + random_below(4); n > 0; n--) {
		add_atom(b, depth);
		if (random_below(3) == 0)
			buffer_append_string(b, PICK(quantifiers));
		if (random_below(8) == 0)
			buffer_append_string(b, "|");
	}
}

static void add_text(struct buffer *b)
{
	static const char *const words[] = {
		"a",
		"b",
		"aa",
		"ab",
		"k",
		"s",
		"K",
		"S",
		"foo",
		"bar",
		"Error",
		"ERROR",
		"error",
		" ",
		".",
		"\xc3\xa9",
		"\xc5\xbf",
		"\xe2\x84\xaa",
		"\xe2\x9c\x93",
		"1",
		"42",
		"\t",
		"\r",
		"\n",
		"\n",
		"\n",
		"\r\n",
		"\xff",
		"\xc3",
		"{",
		"]",
		"-",
		"/",
		"A",
		"B",
		"FOO",
		"\n\n",
		"_",
		"-x",
		"\f",
	};
	for (uint32_t n = random_below(40); n > 0; n--)
		buffer_append_string(b, PICK(words));
	/* Long enough to be found in more than the remainder after blocks of sixteen bytes. */
	if (random_below(4) == 0) {
		for (int i = 0; i < 12; i++)
			buffer_append_string(b, "zzzzzzzzzzzzzz\n");
	}
}

TEST(test_random)
{
	struct buffer pattern = BUFFER_INIT, text = BUFFER_INIT;
	const char *rounds = getenv("SEARCH_ROUNDS");
	for (long n = rounds ? strtol(rounds, NULL, 10) : 20000; n > 0; n--) {
		buffer_clear(&pattern);
		buffer_clear(&text);
		add_regex(&pattern, 3);
		for (int i = 0; i < 4; i++)
			add_text(&text);
		assert_non_null(buffer_string(&pattern));
		assert_int_equal(buffer_reserve(&text, 1), 0);
		compare(pattern.data, random_below(3) == 0, text.data, text.len);
	}
	buffer_release(&pattern);
	buffer_release(&text);
}

TEST(test_window)
{
	static const struct {
		const char *pattern, *data;
		size_t start, last;
		bool begins, ends;
		int from;
	} cases[] = {
		{"b", "abc", 0, 3, true, false, 1},
		{"b", "abc", 2, 3, false, false, -1},
		{"b", "abc", 0, 1, true, false, -1}, /* left to the next window */
		{"b", "abc", 0, 1, true, true, 1},
		{"c", "abc", 0, 3, true, false, -1}, /* its end may not be the word's */
		{"c", "abc", 0, 3, true, true, 2},
		{"^a", "abc", 0, 3, true, false, 0},
		{"^a", "abc", 0, 3, false, false, -1},
		{"c$", "abc", 0, 3, false, true, 2},
		{"bc$", "abc", 0, 3, false, false, -1},
		{"\\bb", "abc", 1, 3, false, true, -1}, /* what is before counts */
		{"x*", "abc", 0, 3, true, false, 0},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct matcher_options options = {.ignore_case = false};
		struct matcher *m = make(cases[i].pattern, &options);
		const struct matcher_window w = {
			.data = cases[i].data,
			.len = strlen(cases[i].data),
			.start = cases[i].start,
			.last = cases[i].last,
			.begins = cases[i].begins,
			.ends = cases[i].ends,
		};
		struct matcher_span span = {99, 99};
		enum matcher_result got = matcher_window(m, &w, &span);
		if (got != (cases[i].from < 0 ? MATCHER_NONE : MATCHER_FOUND) ||
		    (got == MATCHER_FOUND && span.from != (size_t)cases[i].from))
			fail_msg("case %zu, %s: %d", i, cases[i].pattern, got);
		matcher_free(m);
	}
}

TEST_MAIN(NULL, NULL)
