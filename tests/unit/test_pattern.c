// Templates for shell strings, paths and values.

#include "config/pattern.h"
#include "tests/unit/unit.h"

TEST(texts_match_or_not)
{
	static const struct {
		const char *template, *text;
		bool matches;
	} rows[] = {
		{"", "", true},
		{"", "a", false},
		{"a", "a", true},
		{"a", "ab", false},
		{"ab", "a", false},
		{"*", "", true},
		{"*", "a\nb", true},
		{"a*", "a", true},
		{"*b", "ab", true},
		{"*b", "abc", false},
		{"*ab*", "aab", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "a-c-b", false},
		{"**", "a", true},
		{"\\*", "*", true},
		{"\\*", "a", false},
		{"\\\\", "\\", true},
		{"a\\nb", "a\nb", true},
		{"a\\nb", "anb", false},
		{"/tmp/*/x", "/tmp/a/b/x", true},
		{"{command}", "", true},
		{"{command}b", "ab", true},
		{"{word}", "", false},
		{"{word}", "a b", false},
		{"{word} b", "a b", true},
		{"{word}", "'a b'", true},
		{"{word}", "'a b", false},
		{"{word}", "a\\", true},
		{"{other}", "{other}", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (template_match(rows[i].template, rows[i].text) != rows[i].matches)
			fail_msg("%s: %s", rows[i].template, rows[i].text);
	}
}

TEST(what_is_asked_for_is_taken)
{
	static const struct {
		const char *template, *text, *part;
	} rows[] = {
		{"a*", "abc", "abc"},
		{"{command}", "echo hi", "echo hi"},
		{"{command}", "", ""},
		{"({command})", "(a)(b)", "a)(b"},
		{"a {command} b*", "a x b y b z", "x"},
		{"*&& {command}", "a && b && c", "b && c"},
		{"*eval {word} < x", "eval 'a' < x", "a"},
		{"*eval {word} < x", "eval a 'b' && eval 'c d' < x", "c d"},
		{"{word}", "'it'\"'\"'s'", "it's"},
		{"{word}", "'it'\\''s'", "it's"},
		{"{word}", "a\\ b", "a b"},
		{"{word}", "\"a \\\"b\\\" \\$c \\d\"", "a \"b\" $c \\d"},
		{"{word}", "''", ""},
		{"{word}|*", "a|b", "a"},
		{"{word}*", "'a\nb' c", "a\nb"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *part = NULL;
		if (template_take(rows[i].template, rows[i].text, &part) != 1)
			fail_msg("%s: %s", rows[i].template, rows[i].text);
		assert_string_equal(part, rows[i].part);
		free(part);
	}
}

TEST(mistakes_are_refused)
{
	static const char *const bad[] = {"", "\\", "a\\b", "{word}{word}", "{command} {word}"};
	static const char *const good[] = {"*", "\\n\\\\\\*", "a{word}b", "{", "{words}"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_non_null(template_refuse(bad[i]));
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_null(template_refuse(good[i]));
}

TEST_MAIN(NULL, NULL)
