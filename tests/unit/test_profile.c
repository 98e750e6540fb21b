// Profiles: patterns, what a profile sets and over what it wins, several at once,
// profiles of files, and their mistakes in the right words.

#include "config/limit.h"
#include "config/pattern.h"
#include "config/profile.h"
#include "config/value.h"

#include "lib/buffer.h"
#include "tests/unit/configured.h"

#define WORDS(...) ((char *const *)(const char *const[]){__VA_ARGS__, NULL})
#define KB         ((int64_t)1 << 10)

static void load(struct settings *s, const char *text)
{
	struct option_error error = {""};
	if (settings_load_text(s, ORIGIN_USER, "t.ini", text, strlen(text), &error) < 0)
		fail_msg("%s", error.text);
}

static void take(struct settings *s, const char *flag)
{
	struct option_error error = {""};
	int index = 0;
	assert_int_equal(settings_take_flag(s, 1, WORDS(flag), &index, &error), 1);
}

/* How many profiles there are. */
static size_t built_in(void)
{
	size_t count = 0;
	while (section_name(NULL, &profiles_form, count))
		count++;
	return count;
}

/* Chooses for a shell string and applies; returns the profile's name. */
static const char *apply(struct settings *s, const char *string)
{
	struct option_error error = {""};
	struct profile_choice choice;
	assert_int_equal(profile_choose(s, NULL, string, &choice, &error), 0);
	profile_apply(s, &choice);
	return profile_name(&choice);
}

/* The table of the design. */
TEST(built_in_profiles_are_as_documented)
{
	static const struct {
		const char *string, *name;
		int64_t pty, size, max_lines, unit, mode;
	} rows[] = {
		{"python3 a.py", "script", TRI_AUTO, 8 * KB, 0, UNIT_LINES, MODE_SMART},
		{"env", "show", TRI_NO, 16 * KB, 0, UNIT_LINES, MODE_HEAD},
		{"curl a", "fetch", TRI_AUTO, 10 * KB, 0, UNIT_LINES, MODE_HEAD},
		{"journalctl", "log", TRI_NO, 10 * KB, 0, UNIT_LINES, MODE_ENDS},
		{"pytest", "pytest", TRI_AUTO, 4 * KB, 0, UNIT_LINES, MODE_SMART},
		{"npm test", "build", TRI_AUTO, 4 * KB, 0, UNIT_LINES, MODE_SMART},
		{"cat a", "read", TRI_NO, 30 * KB, 2000, UNIT_LINES, MODE_HEAD},
		{"grep a b", "search", TRI_NO, 10 * KB, 300, UNIT_MATCHES, MODE_HEAD},
		{"find /", "find", TRI_NO, 30 * KB, 1000, UNIT_RESULTS, MODE_HEAD},
		{"ls -R /", "list", TRI_NO, 30 * KB, 500, UNIT_ENTRIES, MODE_HEAD},
		{"git log", "history", TRI_NO, 10 * KB, 0, UNIT_LINES, MODE_HEAD},
		{"nohup a", "service", TRI_NO, 4 * KB, 0, UNIT_LINES, MODE_SMART},
		{"terse read a", "terse", TRI_NO, 16 * KB * KB, 0, UNIT_LINES, MODE_HEAD},
		{"mkdir a", "quiet", TRI_AUTO, 4 * KB, 0, UNIT_LINES, MODE_SMART},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct settings s = start();
		assert_string_equal(apply(&s, rows[i].string), rows[i].name);
		assert_int_equal(s.pty, rows[i].pty);
		assert_int_equal(s.size, rows[i].size);
		assert_int_equal(s.max_lines, rows[i].max_lines);
		assert_int_equal(s.unit, rows[i].unit);
		assert_int_equal(s.mode, rows[i].mode);
		settings_release(&s);
	}
}

TEST(built_in_values_are_in_their_ranges)
{
	size_t names = 0, values = 0;
	for (size_t i = 0; i < profiles_form.builtin_count; i++) {
		const struct section_entry *e = &profiles_form.builtin[i];
		bool known = false;
		if (e->kind == SECTION_NAME) {
			assert_null(section_refuse_name(e->text));
			names++;
		} else if (e->kind == SECTION_TEXT) {
			assert_null(pattern_refuse(e->text));
			assert_true(strlen(e->text) < 198); /* a line of an ini */
		}
		for (size_t j = 0; j < option_count && e->kind == SECTION_VALUE; j++) {
			const struct option *o = &option_table[j];
			if (o->offset != e->offset)
				continue;
			known = true;
			assert_true(option_is_number(o));
			if (o->max > 0)
				assert_in_range(e->value, o->or_zero ? 0 : o->min, o->max);
		}
		assert_int_equal(known, e->kind == SECTION_VALUE);
		values += known;
	}
	assert_int_equal(names, built_in());
	assert_true(values > 30);
}

TEST(the_narrower_terminal_is_for_both)
{
	struct settings s = start();
	assert_string_equal(apply(&s, "make && pytest"), "mixed");
	assert_int_equal(s.cols, 80);
	settings_release(&s);
}

/* The output of `terse config --profiles` can be read again and means the same. */
TEST(the_list_is_an_ini)
{
	struct settings s = start(), again = start();
	struct buffer first = BUFFER_INIT, second = BUFFER_INIT;
	const char *name;
	assert_int_equal(section_write(&first, &s, &profiles_form), 0);
	load(&again, buffer_string(&first));
	for (size_t i = 0; (name = section_name(NULL, &profiles_form, i)) != NULL; i++) {
		const struct section_entry *a[SETTING_SLOTS], *b[SETTING_SLOTS];
		section_values(NULL, &profiles_form, name, a);
		section_values(&again, &profiles_form, name, b);
		for (size_t j = 0; j < SETTING_SLOTS; j++) {
			assert_int_equal(a[j] != NULL, b[j] != NULL);
			if (a[j]) {
				assert_int_equal(b[j]->by, ORIGIN_USER);
				assert_int_equal(a[j]->value, b[j]->value);
			}
		}
	}
	assert_null(section_name(&again, &profiles_form, built_in()));
	assert_int_equal(again.profiles.count, profiles_form.builtin_count);
	assert_int_equal(section_write(&second, &again, &profiles_form), 0);
	assert_non_null(strstr(buffer_string(&second), "[profile quiet]\nmatch =\n\tcd|"));
	buffer_release(&first);
	buffer_release(&second);
	settings_release(&s);
	settings_release(&again);
}

TEST(files_lose_and_variables_and_flags_win)
{
	struct settings s = start();
	load(&s, "[report]\nsize = 8KB\n[preview]\nmode = tail\n[run]\npty = yes\n");
	take(&s, "--max-lines=7");
	assert_string_equal(apply(&s, "cat a"), "read");
	assert_int_equal(s.size, 30 * KB);
	assert_int_equal(s.mode, MODE_HEAD);
	assert_int_equal(s.pty, TRI_NO);
	assert_int_equal(s.max_lines, 7);
	assert_int_equal(option_source(&s, option_by_key("report", "size"))->by, ORIGIN_PROFILE);
	assert_int_equal(option_source(&s, option_by_key("report", "max_lines"))->by, ORIGIN_FLAG);
	settings_release(&s);

	s = start();
	load(&s, "[report]\nsize = 8KB\n");
	assert_string_equal(apply(&s, "a b"), "default");
	assert_int_equal(s.size, 8 * KB);
	assert_int_equal(option_source(&s, option_by_key("report", "size"))->by, ORIGIN_USER);
	settings_release(&s);
}

TEST(several_get_the_largest_limits)
{
	struct settings s = start();
	assert_string_equal(apply(&s, "ls; grep a b"), "mixed");
	assert_int_equal(s.size, 30 * KB);
	assert_int_equal(s.max_lines, 500);
	assert_int_equal(s.unit, UNIT_LINES);
	assert_int_equal(s.max_line, 0);
	assert_int_equal(s.mode, MODE_SMART);
	assert_int_equal(s.pty, TRI_NO);
	settings_release(&s);

	s = start();
	assert_string_equal(apply(&s, "npm test; cat report"), "mixed");
	assert_int_equal(s.size, 30 * KB);
	assert_int_equal(s.max_lines, 0);
	assert_int_equal(s.max_line, 0);
	assert_int_equal(s.mode, MODE_SMART);
	assert_int_equal(s.pty, TRI_NO);
	settings_release(&s);

	s = start();
	load(&s,
	     "[profile a]\nmatch = a\ncols = 50\n[profile b]\nmatch = b\ncols = 50\nrows = 9\n");
	assert_string_equal(apply(&s, "a; b"), "mixed");
	assert_int_equal(s.cols, 50);
	assert_int_equal(s.rows, 50);
	settings_release(&s);
}

TEST(files_add_to_profiles)
{
	struct settings s = start();
	load(&s, "[profile read]\n"
		 "match =\n"
		 "\tglow|mdcat\n"
		 "\tkubectl get|describe ; comment\n"
		 "size = 16KB\n"
		 "[profile tests]\n"
		 "match = pytest\n"
		 "max_lines = 50\n"
		 "cols = 100\n"
		 "[profile default]\n"
		 "match = cat\n"
		 "max_lines = 9\n");
	assert_string_equal(apply(&s, "glow README.md"), "read");
	assert_int_equal(s.size, 16 * KB);
	assert_int_equal(s.max_lines, 2000);
	assert_int_equal(s.mode, MODE_HEAD);
	settings_release(&s);

	s = start();
	load(&s, "[profile tests]\nmatch = pytest|npm test\n[profile tests]\nmatch = make\n"
		 "max_lines = 50\n[profile default]\nmatch = cat\nmax_lines = 9\n");
	assert_string_equal(apply(&s, "make"), "tests");
	assert_int_equal(s.max_lines, 50);
	assert_string_equal(apply(&s, "cat a"), "default");
	settings_release(&s);

	/* More words win over a later file, and that over an earlier one. */
	s = start();
	load(&s, "[profile mine]\nmatch =\n\tgit\n\tls\n\tgit show\n");
	load(&s, "[profile theirs]\nmatch = ls\n");
	assert_string_equal(apply(&s, "git diff"), "read");
	assert_string_equal(apply(&s, "git status"), "mine");
	assert_string_equal(apply(&s, "git show x"), "mine");
	assert_string_equal(apply(&s, "ls"), "theirs");
	assert_string_equal(section_name(&s, &profiles_form, built_in()), "mine");
	assert_string_equal(section_name(&s, &profiles_form, built_in() + 1), "theirs");
	assert_null(section_name(&s, &profiles_form, 18));
	settings_release(&s);
}

TEST(a_profile_can_be_asked_for)
{
	struct option_error error = {""};
	struct profile_choice choice;
	struct settings s = start();
	take(&s, "--profile=log");
	assert_string_equal(apply(&s, "cat a"), "log");
	assert_int_equal(s.mode, MODE_ENDS);
	take(&s, "--profile=default");
	assert_string_equal(apply(&s, "cat a"), "default");
	take(&s, "--profile=raed");
	assert_int_equal(profile_choose(&s, NULL, "ls", &choice, &error), -1);
	assert_int_equal(errno, EINVAL);
	assert_string_equal(error.text, "--profile: raed: no such profile (did you mean read?)");
	assert_string_equal(profile_name(&choice), "default");
	settings_release(&s);

	s = start();
	load(&s, "[profile mine]\nsize = 1KB\n[run]\nprofile = mine\n");
	assert_string_equal(apply(&s, "cat a"), "mine");
	assert_int_equal(s.size, KB);
	settings_release(&s);
}

TEST(words_of_a_command_are_matched)
{
	static const struct {
		const char *pattern;
		const char *words[6];
		unsigned count;
	} rows[] = {
		{"cat", {"cat"}, 1},
		{"cat", {"/bin/cat", "x"}, 1},
		{"cat", {"cats"}, 0},
		{"cat", {"ca"}, 0},
		{"tac|cat|nl", {"cat"}, 1},
		{"tac|cat|nl", {"tac|cat"}, 0},
		{"py*", {"python3"}, 1},
		{"*py*3*", {"/x/cpython3.11"}, 1},
		{"*", {""}, 1},
		{"a*b", {"ab"}, 1},
		{"a*b", {"abc"}, 0},
		{"git diff", {"git", "diff"}, 2},
		{"git diff", {"git"}, 0},
		{"git diff", {"git", "log", "diff"}, 0},
		{"git diff|show", {"git", "-C", "diff", "show"}, 2},
		{"git diff", {"git", "-C", "diff"}, 0},
		{"git diff", {"git", "--no-pager", "-p", "diff"}, 2},
		{"git stash show", {"git", "stash", "-q", "show"}, 3},
		{"git *", {"git", "x"}, 2},
		{"npm run test*", {"npm", "run", "test:unit"}, 3},
		{"npm run", {"npm", "--prefix", "a", "run"}, 2},
		{"grep -l", {"grep", "-l", "x"}, 2},
		{"grep -l", {"grep", "x", "-rnl"}, 2},
		{"grep -l", {"grep", "--", "-l"}, 0},
		{"grep -l", {"grep", "--color"}, 0},
		{"grep -A", {"grep", "-nA5"}, 2},
		{"grep -A", {"grep", "-5A"}, 0},
		{"grep --count|-c", {"grep", "--count"}, 2},
		{"rg --context", {"rg", "--context=3"}, 2},
		{"rg --context", {"rg", "--context-separator"}, 0},
		{"rg --con*", {"rg", "--context-separator"}, 2},
		{"find -exec", {"find", ".", "-exec", "a"}, 2},
		{"find -exec", {"find", ".", "-execdir", "a"}, 0},
		{"git log -p|--patch", {"git", "log", "--patch"}, 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (pattern_match(rows[i].pattern, (char *const *)rows[i].words) != rows[i].count)
			fail_msg("%s, %s", rows[i].pattern, rows[i].words[0]);
	}
}

TEST(programs_that_run_others_are_opened)
{
	assert_string_equal(wrapper_inner(WORDS("sudo", "-u", "me", "-n", "A=1", "cat", "x"))[0],
			    "cat");
	assert_string_equal(wrapper_inner(WORDS("timeout", "-k", "5", "10", "make"))[0], "make");
	assert_string_equal(wrapper_inner(WORDS("/usr/bin/env", "-i", "--", "ls"))[0], "ls");
	assert_string_equal(wrapper_inner(WORDS("xargs", "-I{}", "-n", "1", "grep"))[0], "grep");
	assert_null(wrapper_inner(WORDS("xargs")));
	assert_null(wrapper_inner(WORDS("timeout", "5")));
	assert_null(wrapper_inner(WORDS("sudo", "-u")));
	assert_null(wrapper_inner(WORDS("sudo", "-l", "cat")));
	assert_null(wrapper_inner(WORDS("cat", "ls")));
	assert_null(wrapper_inner(WORDS("")));
	assert_string_equal(wrapper_string(WORDS("bash", "-lc", "a b")), "a b");
	assert_string_equal(wrapper_string(WORDS("/bin/sh", "-o", "x", "-c", "a")), "a");
	assert_string_equal(wrapper_string(WORDS("bash", "-euo", "pipefail", "-c", "a")), "a");
	assert_string_equal(wrapper_string(WORDS("eval", "a b")), "a b");
	assert_null(wrapper_string(WORDS("eval", "a", "b")));
	assert_null(wrapper_string(WORDS("bash", "a.sh", "-c")));
	assert_null(wrapper_string(WORDS("bash", "-c")));
	assert_null(wrapper_string(WORDS("bash")));
	assert_null(wrapper_string(WORDS("")));
	assert_null(wrapper_string(WORDS("/")));
}

/* Words as they are executed, without a shell. */
TEST(arguments_are_chosen_for)
{
	static const struct {
		const char *words[5];
		const char *name;
	} rows[] = {
		{{"cat", "a"}, "read"},
		{{"./cat"}, "read"},
		{{"sudo", "grep", "a|b", "c"}, "search"},
		{{"bash", "-c", "cd x && ls"}, "list"},
		{{"make", "| cat"}, "build"},
		{{"$x"}, "default"},
		{{""}, "default"},
		{{"git", "-C", "x", "log"}, "history"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct option_error error = {""};
		struct profile_choice choice;
		struct settings s = start();
		assert_int_equal(
			profile_choose(&s, (char *const *)rows[i].words, NULL, &choice, &error), 0);
		assert_string_equal(profile_name(&choice), rows[i].name);
		settings_release(&s);
	}
}

static void assert_items(const struct strings *list, const char *expected)
{
	struct buffer all = BUFFER_INIT;
	for (size_t i = 0; i < list->count; i++)
		buffer_printf(&all, "%s\n", list->items[i]);
	assert_string_equal(buffer_string(&all), expected);
	buffer_release(&all);
}

TEST(profiles_add_to_lists)
{
	struct settings s = start();
	struct buffer out = BUFFER_INIT;
	load(&s, "[preview]\npatterns = every run\n[profile a]\nmatch = a\n"
		 "patterns =\n  of the a\n  every run\nignore = noise of a\n");
	load(&s, "[profile a]\npatterns = later\n[profile b]\nmatch = b\npatterns = of b's\n");
	/* A phrase is no pattern for commands. */
	assert_string_equal(apply(&s, "later"), "default");
	assert_items(&s.patterns, "every run\n");
	assert_string_equal(apply(&s, "a x"), "a");
	assert_items(&s.patterns, "every run\nof the a\nlater\n");
	assert_items(&s.ignore, "noise of a\n");
	/* Applying a profile again changes nothing; another profile adds to it. */
	assert_string_equal(apply(&s, "a x; b"), PROFILE_MIXED);
	assert_items(&s.patterns, "every run\nof the a\nlater\nof b's\n");
	assert_int_equal(option_source(&s, option_by_key("preview", "ignore"))->by, ORIGIN_PROFILE);
	assert_int_equal(section_write(&out, &s, &profiles_form), 0);
	assert_non_null(strstr(buffer_string(&out),
			       "[profile a]\nmatch =\n\ta\npatterns =\n\tof the a\n"
			       "\tevery run\n\tlater\nignore =\n\tnoise of a\n"));
	buffer_release(&out);
	settings_release(&s);
}

/* If there are too many, the first ones count. A repository could hide what went wrong. */
TEST(lists_of_profiles_are_bounded)
{
	struct option_error error = {""};
	struct buffer text = BUFFER_INIT;
	struct settings s = start();
	buffer_append_string(&text, "[profile a]\nmatch = a\npatterns =\n");
	for (int i = 1; i <= PHRASE_COUNT + 8; i++)
		buffer_printf(&text, " pattern %d\n", i);
	load(&s, buffer_string(&text));
	load(&s, "[preview]\npatterns = the first one\n");
	apply(&s, "a");
	assert_int_equal(s.patterns.count, PHRASE_COUNT);
	assert_string_equal(s.patterns.items[0], "the first one");
	buffer_clear(&text);
	buffer_append_string(&text, "[profile a]\nignore = error\n");
	assert_int_equal(
		settings_load_text(&s, ORIGIN_PROJECT, "t.ini", text.data, text.len, &error), -1);
	assert_string_equal(error.text,
			    "t.ini:2: [profile a] ignore: not allowed in a project's file");
	buffer_release(&text);
	settings_release(&s);
}

/* A repository's file must not make a run slow. */
TEST(lines_of_profiles_are_bounded)
{
	struct option_error error = {""};
	struct settings s = start();
	struct buffer text = BUFFER_INIT;
	buffer_append_string(&text, "[profile a]\nmatch =\n");
	for (int i = 1; i < SECTION_LINES_MAX; i++)
		buffer_printf(&text, " p%d\n", i);
	assert_int_equal(settings_load_text(&s, ORIGIN_USER, "t.ini", text.data, text.len, &error),
			 0);
	buffer_append_string(&text, " q\n");
	assert_int_equal(settings_load_text(&s, ORIGIN_USER, "t.ini", text.data, text.len, &error),
			 -1);
	assert_string_equal(
		error.text,
		"t.ini:1002: [profile a] match: more than 1,000 lines of such sections");
	assert_string_equal(apply(&s, "p999"), "a");
	buffer_release(&text);
	settings_release(&s);
}

TEST(limits_are_per_stream)
{
	struct settings s = start();
	struct limit l;
	assert_string_equal(apply(&s, "grep a b"), "search");
	l = limit_of(&s, false);
	assert_int_equal(l.bytes, 10 * KB);
	assert_int_equal(l.count, 300);
	assert_int_equal(l.unit, UNIT_MATCHES);
	assert_int_equal(l.max_line, 500);
	assert_true(l.grow);
	assert_int_equal(l.mode, MODE_HEAD);
	assert_int_equal(l.head_share, 5);
	l = limit_of(&s, true);
	assert_int_equal(l.bytes, 4 * KB);
	assert_int_equal(l.count, 0);
	assert_int_equal(l.unit, UNIT_LINES);
	/* A path that is cut is none. */
	settings_release(&s);
	for (int i = 0; i < 2; i++) {
		s = start();
		apply(&s, i ? "git ls-files" : "find /");
		assert_int_equal(limit_of(&s, false).max_line, KB * KB);
		settings_release(&s);
	}
	s = start();
	s.max_line = 100;
	l = limit_of(&s, false);
	assert_int_equal(l.max_line, 100);
	assert_false(l.grow);
	s.max_line = 0;
	s.ceiling = 30 * KB;
	limit_widen(&l, &s);
	assert_int_equal(l.max_line, 500);
	assert_true(l.grow);
	settings_release(&s);

	s = start();
	take(&s, "--size=1KB");
	take(&s, "--max-err-lines=3");
	l = limit_of(&s, true);
	assert_int_equal(l.bytes, KB);
	assert_int_equal(l.count, 3);
	settings_release(&s);
}

/* failure_size counts unless size is set in a later place. */
TEST(a_size_that_is_set_later_sets_both)
{
	static const struct {
		const char *file, *command, *flag, *second;
		size_t bytes, failure_bytes;
	} rows[] = {
		{"", "make", NULL, NULL, 4 * KB, 6 * KB},
		{"", "make", "--size=2KB", NULL, 2 * KB, 2 * KB},
		{"", "make", "--failure-size=2KB", NULL, 4 * KB, 2 * KB},
		{"", "make", "--failure-size=9KB", "--size=2KB", 2 * KB, 9 * KB},
		{"[report]\nsize = 8KB\n", "make", NULL, NULL, 8 * KB, 8 * KB},
		{"[report]\nsize = 8KB\nfailure_size = 9KB\n", "make", NULL, NULL, 8 * KB, 9 * KB},
		{"[report]\nfailure_size = 9KB\n", "make", "--size=2KB", NULL, 2 * KB, 2 * KB},
		{"[report]\nfailure_size = 9KB\n", "cat a", NULL, NULL, 30 * KB, 30 * KB},
		{"[profile t]\nmatch = t\nsize = 8KB\n", "t", NULL, NULL, 8 * KB, 8 * KB},
		{"[profile t]\nmatch = t\nfailure_size = 8KB\n", "t", NULL, NULL, 4 * KB, 8 * KB},
		{"[profile t]\nmatch = t\nsize = 8KB\nfailure_size = 2KB\n", "t; cat a", NULL, NULL,
		 30 * KB, 30 * KB},
		{"[profile read]\nfailure_size = 8KB\n", "cat a", NULL, NULL, 30 * KB, 8 * KB},
		{"[profile read]\nfailure_size = 8KB\n", "cat a; make", NULL, NULL, 30 * KB,
		 8 * KB},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct settings s = start();
		load(&s, rows[i].file);
		if (rows[i].flag)
			take(&s, rows[i].flag);
		if (rows[i].second)
			take(&s, rows[i].second);
		apply(&s, rows[i].command);
		struct limit l = limit_of(&s, false);
		assert_int_equal(l.bytes, rows[i].bytes);
		assert_int_equal(l.failure_bytes, rows[i].failure_bytes);
		settings_release(&s);
	}
	/* A file's size is above the failure_size that is built in. */
	struct settings s = start();
	static const char system[] = "[profile t]\nmatch = t\nsize = 8KB\nfailure_size = 2KB\n";
	struct option_error error;
	assert_int_equal(settings_load_text(&s, ORIGIN_SYSTEM, "system.ini", system,
					    sizeof(system) - 1, &error),
			 0);
	load(&s, "[profile t]\nsize = 3KB\n");
	apply(&s, "t");
	assert_int_equal(limit_of(&s, false).failure_bytes, 3 * KB);
	settings_release(&s);
}

TEST(lines_count_by_their_unit)
{
	static const struct {
		enum unit unit;
		const char *line;
		bool counts;
	} rows[] = {
		{UNIT_LINES, "", true},          {UNIT_LINES, "--", true},
		{UNIT_MATCHES, "a:1:b", true},   {UNIT_MATCHES, "--", false},
		{UNIT_MATCHES, "", false},       {UNIT_MATCHES, "---", true},
		{UNIT_RESULTS, "./a", true},     {UNIT_RESULTS, "", false},
		{UNIT_ENTRIES, "a", true},       {UNIT_ENTRIES, "", false},
		{UNIT_ENTRIES, "/usr:", false},  {UNIT_ENTRIES, "total 8", false},
		{UNIT_ENTRIES, "total", true},   {UNIT_ENTRIES, "totals 8", true},
		{UNIT_ENTRIES, "total x", true}, {UNIT_ENTRIES, "-rw-r--r-- 1 a b 3 c", true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (limit_counts(rows[i].unit, rows[i].line, strlen(rows[i].line)) !=
		    rows[i].counts)
			fail_msg("%d %s", (int)rows[i].unit, rows[i].line);
	}
}

TEST(parts_of_a_limit_have_names)
{
	static const char *const units[] = {"lines", "matches", "results", "entries"};
	struct limit l = {.unit = UNIT_LINES};
	assert_null(limit_name(&l, LIMIT_NONE));
	assert_string_equal(limit_name(&l, LIMIT_BYTES), "bytes");
	assert_string_equal(limit_name(&l, LIMIT_CUT), "line_length");
	for (int i = 0; i < 4; i++) {
		l.unit = (enum unit)i;
		assert_string_equal(limit_name(&l, LIMIT_COUNT), units[i]);
	}
}

TEST_MAIN(NULL, NULL)
