// Flags on a command line: which words are flags, what they take, the words of
// their errors, and what a misspelled one was likely to be.

#include "config/error.h"
#include "config/option.h"
#include "tests/unit/unit.h"

static struct settings start(void)
{
	struct settings s;
	assert_int_equal(settings_init(&s), 0);
	return s;
}

/* Takes all of argv (NULL-terminated), which must be flags. */
static int take(struct settings *s, const char *const argv[], struct option_error *error)
{
	int argc = 0, index = 0;
	while (argv[argc])
		argc++;
	while (index < argc) {
		int result = settings_take_flag(s, argc, (char *const *)argv, &index, error);
		if (result <= 0)
			return result;
	}
	assert_int_equal(index, argc);
	return 1;
}

#define TAKE(s, error, ...) take(s, (const char *[]){__VA_ARGS__, NULL}, error)

TEST(flags_are_told_from_other_words)
{
	static const char *const others[] = {"--",        "-",         "--col", "--colss",
					     "--no-cols", "cols",      "-cols", "--no-",
					     "--no-full", "--formats", "",      NULL};
	struct option_error error = {""};
	struct settings s = start();
	int index = 0;
	for (; others[index]; index++) {
		int before = index;
		assert_int_equal(settings_take_flag(&s, 11, (char *const *)others, &index, &error),
				 0);
		assert_int_equal(index, before);
	}
	assert_int_equal(settings_take_flag(&s, 11, (char *const *)others, &index, &error), 0);
	assert_string_equal(error.text, "");
	settings_release(&s);
}

TEST(flags_without_values_take_none)
{
	const char *const argv[] = {"--pty", "no", NULL};
	struct option_error error = {""};
	struct settings s = start();
	int index = 0;
	assert_int_equal(settings_take_flag(&s, 2, (char *const *)argv, &index, &error), 1);
	assert_int_equal(index, 1);
	assert_int_equal(s.pty, TRI_YES);
	assert_int_equal(TAKE(&s, &error, "--no-pty", "--tty=auto", "--full", "--no-collapse"), 1);
	assert_int_equal(s.pty, TRI_NO);
	assert_int_equal(s.tty, TRI_AUTO);
	assert_int_equal(s.print, PRINT_FULL);
	assert_int_equal(s.collapse, 0);
	assert_int_equal(TAKE(&s, &error, "--preview", "--collapse"), 1);
	assert_int_equal(s.print, PRINT_PREVIEW);
	assert_int_equal(s.collapse, 1);
	settings_release(&s);
}

TEST(flags_refuse_in_the_right_words)
{
	static const struct {
		const char *argv[3];
		const char *message;
	} cases[] = {
		{{"--cols", "1"}, "--cols: 1: out of range (2 to 1000)"},
		{{"--cols=1"}, "--cols: 1: out of range (2 to 1000)"},
		{{"--cols", "-7"}, "--cols: -7: out of range (2 to 1000)"},
		{{"--cols"}, "--cols: needs a value (2 to 1000)"},
		{{"--cols="}, "--cols: not a whole number"},
		{{"--cols", "--rows"}, "--cols: --rows: not a whole number"},
		{{"--mode"}, "--mode: needs a value (smart, head, tail or ends)"},
		{{"--mode", "best"}, "--mode: best: not smart, head, tail or ends"},
		{{"--size", "4XB"}, "--size: 4XB: not a size (like 4096, 4KB or 1000tok)"},
		{{"--timeout"}, "--timeout: needs a value (up to 365d, or off)"},
		{{"--timeout", "x\n"},
		 "--timeout: x\xEF\xBF\xBD: not a duration (like 500ms, 2s, 5m or 1h)"},
		{{"--pty=perhaps"}, "--pty: perhaps: not auto, yes or no"},
		{{"--no-pty=yes"}, "--no-pty: yes: takes no value"},
		{{"--full=yes"}, "--full: yes: takes no value"},
		{{"--full="}, "--full: takes no value"},
		{{"--session"}, "--session: needs a value (NAME)"},
		{{"--env"}, "--env: needs a value (NAME=VALUE)"},
		{{"--env", "X"}, "--env: X: not NAME=VALUE"},
		{{"--env", ""}, "--env: not NAME=VALUE"},
		{{"--keep-env", "A B"}, "--keep-env: A B: not the name of a variable"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct option_error error = {""};
		struct settings s = start();
		const struct settings before = s;
		assert_int_equal(take(&s, cases[i].argv, &error), -1);
		assert_int_equal(errno, EINVAL);
		assert_string_equal(error.text, cases[i].message);
		assert_memory_equal(&s, &before, sizeof(s));
		settings_release(&s);
	}
}

TEST(list_flags_add)
{
	struct option_error error = {""};
	struct settings s = start();
	assert_int_equal(TAKE(&s, &error, "--env", "A=1", "--env=B=2\nx", "--unset-env", "C"), 1);
	assert_int_equal(s.env_set.count, 8);
	assert_string_equal(s.env_set.items[0], "PAGER=cat");
	assert_string_equal(s.env_set.items[6], "A=1");
	assert_string_equal(s.env_set.items[7], "B=2\nx");
	assert_null(s.env_set.items[8]);
	assert_int_equal(s.env_unset.count, 1);
	settings_release(&s);
}

TEST(near_words_are_found)
{
	static const struct {
		const char *flag, *nearest;
	} cases[] = {
		{"--colls", "--cols"},
		{"--clos", "--cols"},
		{"--col", "--cols"},
		{"--no-ptty", "--no-pty"},
		{"--maxlines", "--max-lines"},
		{"--ful", "--full"},
		{"--previwe", "--preview"},
		{"--frobnicate", NULL},
		{"--", NULL},
		{"", NULL},
		{"--xyz", NULL},
	};
	static const char *const none[] = {NULL};
	char word[200];
	struct nearest n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *nearest = option_nearest_flag(cases[i].flag, none);
		if (strcmp(nearest ? nearest : "", cases[i].nearest ? cases[i].nearest : "") != 0)
			fail_msg("%s: %s", cases[i].flag, nearest ? nearest : "none");
	}
	memset(word, 'a', sizeof(word));
	word[199] = '\0';
	nearest_init(&n, word);
	nearest_offer(&n, word);
	assert_null(n.best);
	nearest_init(&n, "size");
	nearest_offer(&n, word);
	nearest_offer(&n, "");
	nearest_offer(&n, "sise");
	nearest_offer(&n, "side");
	assert_string_equal(n.best, "sise");
	nearest_offer(&n, "size");
	assert_string_equal(n.best, "size");
}

TEST_MAIN(NULL, NULL)
