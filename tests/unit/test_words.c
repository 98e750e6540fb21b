// Shell strings taken apart: the commands with their words, and where each one's
// output goes. test_profile_strings.c covers the profiles that result.

#include "config/words.h"
#include "tests/unit/cases.h"

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
	errno = 0;
	if (words_parse(&w, string) == 0) {
		if (strcmp(describe(&w), strcmp(commands, "nothing") == 0 ? "" : commands) != 0)
			fail_msg("%s\nis %s, not %s", string, describe(&w), commands);
		words_release(&w);
	} else if (errno != EINVAL || strcmp(commands, "unclear") != 0) {
		fail_msg("%s: %s", string, strerror(errno));
	}
	assert_null(w.commands);
	assert_null(w.words);
	assert_null(w.text);
}

TEST(commands_of_strings)
{
	cases_each("tests/unit/words.cases", expect);
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
