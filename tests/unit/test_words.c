// Shell strings taken apart: the commands with their words, and where each one's
// output goes. test_profile_strings.c covers the profiles that result.

#include "config/words.h"
#include "tests/unit/unit.h"

/* The commands as "a|b|c>1; ...": words with bars between them and where they lead. */
static char *describe(const struct words *w)
{
	static char text[4096];
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < w->count; i++) {
		const struct words_command *c = &w->commands[i];
		char *const *words = &w->words[c->first];
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", i ? "; " : "");
		for (size_t j = 0; j < c->count; j++)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						j ? "|" : "", words[j]);
		assert_null(words[c->count]);
		if (c->into == WORDS_NOWHERE)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ">-");
		else if (c->into != WORDS_OUT)
			len += (size_t)snprintf(text + len, sizeof(text) - len, ">%d", c->into);
	}
	return text;
}

static void expect(const char *string, const char *commands)
{
	struct words w;
	if (words_parse(&w, string) < 0)
		fail_msg("%s: %s", string, strerror(errno));
	assert_string_equal(describe(&w), commands);
	words_release(&w);
	assert_null(w.commands);
}

TEST(words_lose_their_quotes)
{
	expect("a b  c\td", "a|b|c|d");
	expect("'a b' \"c d\" e\\ f", "a b|c d|e f");
	expect("a''b \"\" ''", "ab||");
	expect("'a\\b' \"a\\b\" \"a\\\"b\" \"a\\$b\" \"a\\\nb\"", "a\\b|a\\b|a\"b|a$b|ab");
	expect("a\\\nb", "ab");
	expect("a \\\n b", "a|b");
	expect("$'a\\'b'", "a\\'b");
	expect("a\\", "a\\");
	expect("a=b c", "c");
	expect("a=b", "");
	expect("a+=b c[1]=d 1a=b", "1a=b");
	expect("a b=c", "a|b=c");
	expect("'a'#b #c", "a#b");
	expect("x {a,b} a{b", "x|{a,b}|a{b");
	expect("\xC3\xA4 '\xFF'", "\xC3\xA4|\xFF");
}

TEST(expansions_stay_as_they_are)
{
	expect("a $b ${c} ${d:-\"}\"} \"$e\"", "a|$b|${c}|${d:-\"}\"}|$e");
	expect("a $(b | c; d) e", "a|$(b | c; d)|e");
	expect("a \"x $(b \"c)\" ')') y\"", "a|x $(b \"c)\" ')') y");
	expect("a $((1 + (2))) b", "a|$((1 + (2)))|b");
	expect("a `b \\`c\\` ;` d", "a|`b \\`c\\` ;`|d");
	expect("a <(b | c) >(d) e", "a|<(b | c)|>(d)|e");
	expect("a $(case x in y) b;; esac) c", "a|$(case x in y) b;; esac)|c");
	expect("a $(cat <<E\n)'\nE\n) c", "a|$(cat <<E\n)'\nE\n)|c");
	expect("a $(# ) ' comment\n) c", "a|$(# ) ' comment\n)|c");
	expect("a=(b 'c d') e", "e");
	expect("rm !(a|b) ?(c) x@(d|e)", "rm|!(a|b)|?(c)|x@(d|e)");
	expect("$a", "$a");
}

TEST(output_is_followed)
{
	expect("a | b | c", "a>1; b>2; c");
	expect("a || b && c; d & e\nf", "a; b; c; d; e; f");
	expect("a |& b", "a>1; b");
	expect("a > f | b", "a>-; b");
	expect("a >f; b >>f; c >|f; d &>f; e &>>f; f >& f; g 1>f",
	       "a>-; b>-; c>-; d>-; e>-; f>-; g>-");
	expect("a 2>f; b 2>>f; c <f; d 2>&1; e >&2; f <>f; g 3>f; h <&3; i 12>f",
	       "a; b; c; d; e; f; g; h; i");
	expect("a >&-; b >/dev/null; c >/dev/stderr; d > /dev/tty; e > >(f)", "a>-; b>-; c; d; e");
	expect("a > f >&2; b", "a; b");
	expect(">f a b <g c", "a|b|c>-");
	expect("a | (b; c) | d", "a>-; b>3; c>3; d");
	expect("a | (b)", "a>1; b");
	expect("(a; b) > f; { c; } > f; if d; then e; fi > f; while g; do h; done > f",
	       "a>-; b>-; c>-; d>-; e>-; g>-; h>-");
	expect("((a; b) | c) | d", "a>2; b>2; c>3; d");
	expect("{ { a; b; } | c; } | d", "a>2; b>2; c>3; d");
	expect("[[ a < b && (c > d) ]] | e", "[[>1; e");
	expect("f() { a; }; g() (b); e", "a>-; b>-; e");
}

TEST(here_documents_are_skipped)
{
	expect("a <<E\nb | c '\nE\nd", "a; d");
	expect("a <<-E\n\tb\n\t\tE\nd", "a; d");
	expect("a <<'E F'\nb\nE F\nd", "a; d");
	expect("a <<E\"F\"\\G\nb\nEFG\nd", "a; d");
	expect("a <<E <<F | b\nx\nE\ny\nF\nc", "a>1; b; c");
	expect("a <<E; b\nx\nE", "a; b");
	expect("a <<E && b\nE\nc", "a; b; c");
	expect("a <<E\nE ", "a");
	expect("a <<E\nx", "a");
	expect("a <<E\r\nx\r\nE\r\nb", "a; b");
	expect("a <<<'b c' d", "a|d");
	expect("a << E\nE\nb", "a; b");
	expect("while a; do b <<E\nx\nE\ndone; c", "a; b; c");
}

TEST(compound_commands_are_opened)
{
	expect("if a; then b; elif c; then d; else e; fi", "a; b; c; d; e");
	expect("for x in 1 2; do a; done; for y; do b; done; for z\ndo c; done", "a; b; c");
	expect("for ((;;)); do a; done; for ((i=0;i<3;i++)) do b; done", "a; b");
	expect("while a; b; do c; done <f", "a; b; c");
	expect("until a; do b; done", "a; b");
	expect("case a in b) c;; (d|e) f;& g) ;; h) i; esac; j", "c; f; i; j");
	expect("case a in esac", "");
	expect("case $(a) in\n # b )\n c) d\n;;\nesac", "d");
	expect("! a | b; time (c); ((1 < 2)); d", "a>1; b; c; d");
	expect("time a; ! time b | time c; time { d; }", "a; b>2; c; d");
	expect("time -p a; time -f x a", "time|-p|a; time|-f|x|a");
	expect("if (a) then b; fi", "a; b");
	expect("echo if then fi done", "echo|if|then|fi|done");
	expect("'if' a", "if|a");
}

#define LONG "0123456789012345678901234567890123456789012345678901234567890123"

TEST(what_is_unclear_is_refused)
{
	static const char *const strings[] = {
		"'",
		"\"",
		"a $(",
		"a `",
		"a ${",
		"a $((1)",
		"(a",
		"a)",
		"{ a",
		"}",
		"fi",
		"done",
		"esac",
		"if a; fi; fi",
		"a | ",
		"| a",
		"a | | b",
		"&& a",
		"; a",
		"a;; b",
		"a >",
		"a > ;",
		"a <<",
		"[[ a",
		"case a",
		"case a in",
		"case a b",
		"for x in a",
		"a (b)",
		"a ( b",
		"f() ",
		"a <(b",
		"x=(a",
		"((a",
		"while a; done; }",
		"a <<" LONG "\n",
		"function f { a; }",
		"a <<A <<B <<C <<D <<E <<F <<G <<H <<I\n",
	};
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		struct words w;
		errno = 0;
		if (words_parse(&w, strings[i]) == 0)
			fail_msg("%s: taken", strings[i]);
		assert_int_equal(errno, EINVAL);
		assert_null(w.commands);
		assert_null(w.words);
		assert_null(w.text);
	}
}

/* `count` times `begin`, then `middle`, then `count` times `end`. */
static char *nest(const char *begin, size_t count, const char *middle, const char *end)
{
	char *text = malloc(count * (strlen(begin) + strlen(end)) + strlen(middle) + 1), *p = text;
	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		p = stpcpy(p, begin);
	p = stpcpy(p, middle);
	for (size_t i = 0; i < count; i++)
		p = stpcpy(p, end);
	return text;
}

TEST(nesting_is_bounded)
{
	static const struct {
		const char *begin, *middle, *end;
	} nests[] = {
		{"(", " a", ")"},     {"{ ", "a;", " }"},      {"if a; then ", "b", "; fi"},
		{"a $(", "b", ")"},   {"a \"$(", "b", ")\""},  {"${a:-", "b", "}"},
		{"a <(", "b", ")"},   {"a \"${x-", "", "}\""}, {"f() { ", "a;", "}"},
		{"a \"`", "", "`\""}, {"x=(", "a", ")"},
	};

	for (size_t i = 0; i < sizeof(nests) / sizeof(*nests); i++) {
		for (size_t deep = 0; deep < 2; deep++) {
			char *text = nest(nests[i].begin, deep ? 100000 : 5, nests[i].middle,
					  nests[i].end);
			struct words w;
			if (words_parse(&w, text) == 0)
				words_release(&w);
			else
				assert_int_equal(errno, EINVAL);
			free(text);
		}
	}
}

TEST(the_number_of_commands_is_bounded)
{
	char *text = nest("a;", WORDS_COMMANDS_MAX, "", "");
	struct words w;
	assert_int_equal(words_parse(&w, text), 0);
	assert_int_equal(w.count, WORDS_COMMANDS_MAX);
	words_release(&w);
	free(text);
	text = nest("a;", WORDS_COMMANDS_MAX + 1, "", "");
	assert_int_equal(words_parse(&w, text), -1);
	free(text);
	text = nest("a | ", WORDS_COMMANDS_MAX - 1, "a", "");
	assert_int_equal(words_parse(&w, text), 0);
	assert_int_equal(w.commands[0].into, 1);
	words_release(&w);
	free(text);
	text = nest("a ", 100000, "", "");
	assert_int_equal(words_parse(&w, text), 0);
	assert_int_equal(w.commands[0].count, 100000);
	words_release(&w);
	free(text);
}

TEST_MAIN(NULL, NULL)
