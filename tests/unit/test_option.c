// The option table: every option through every way in, by walking it, and what is
// written from it: help and sample. Where settings come from: files, the variables that name them,
// and TERSE_* variables, each winning over what comes before it. Flags on a command line: which
// words are flags, what they take, the words of their errors, and what a misspelled one was likely
// to be.

#include "config/error.h"
#include "lib/buffer.h"
#include "tests/unit/configured.h"

#include <ctype.h>
#include <inttypes.h>

static const void *field(const struct settings *s, const struct option *o)
{
	return (const char *)s + o->offset;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same(const struct settings *a, const struct settings *b, const struct option *o)
{
	const struct strings *x = field(a, o), *y = field(b, o);
	if (option_is_number(o))
		return *(const int64_t *)field(a, o) == *(const int64_t *)field(b, o);
	if (o->type == OPTION_STRING)
		return same_text(*(char *const *)field(a, o), *(char *const *)field(b, o));
	if (x->count != y->count)
		return false;
	for (size_t i = 0; i < x->count; i++) {
		if (!same_text(x->items[i], y->items[i]))
			return false;
	}
	return true;
}

/* Whether a profile or an agent's section can set it. */
static bool is_for_run(const struct option *o)
{
	static const char *const others[] = {"session", "gc",     "redact",     "remote",
					     "shim",    "prompt", "environment"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		if (strcmp(o->section, others[i]) == 0)
			return false;
	}
	return option_is_number(o);
}

static void assert_same(const struct settings *a, const struct settings *b,
			const struct option *except)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (o != except && !same(a, b, o))
			fail_msg("[%s] %s differs", o->section, o->key);
	}
}

/* settings_load() with no file there. */
static struct settings load(struct option_error *error)
{
	struct settings s;
	assert_int_equal(settings_load(&s, "/nowhere/terse.ini", error), 0);
	return s;
}

/* A value in the option's range that is not its default, as it is written. */
static const char *other_value(const struct option *o)
{
	static char number[32];
	const char *const *choices = o->choices;
	switch (o->type) {
	case OPTION_BOOL: return o->initial ? "no" : "yes";
	case OPTION_TRISTATE: return "no";
	case OPTION_ENUM: return choices[o->initial == 0];
	case OPTION_STRING: return strcmp(o->unit, "PLACE") == 0 ? "file:/other" : "other";
	case OPTION_LIST: return "OTHER=1";
	case OPTION_DURATION: snprintf(number, sizeof(number), "%" PRId64 "ms", o->min + 1); break;
	default: snprintf(number, sizeof(number), "%" PRId64, o->min + 1);
	}
	return number;
}

/* Names alone are items of the other lists. */
static const char *value_for(const struct option *o)
{
	const char *value = other_value(o);
	return o->type == OPTION_LIST && strcmp(o->unit, "NAME") == 0 ? "OTHER" : value;
}

static void assert_other(struct settings *s, const struct option *o, enum origin origin,
			 const char *by)
{
	struct settings plain = start();
	if (same(s, &plain, o))
		fail_msg("[%s] %s is not set by %s", o->section, o->key, by);
	assert_same(s, &plain, o);
	for (size_t i = 0; i < option_count; i++)
		assert_int_equal(option_source(s, &option_table[i])->by,
				 &option_table[i] == o ? origin : ORIGIN_BUILT_IN);
	settings_release(&plain);
}

TEST(rows_are_complete)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		char variable[64] = "TERSE_";
		size_t len = strlen(variable), help = strlen(o->help);
		const char *name = o->flag ? o->flag + 2 : o->variable ? o->variable + len : "";
		for (const char *p = name; *p; p++)
			variable[len++] = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
		variable[len] = '\0';
		/* What is sent elsewhere is a matter of files alone. */
		if ((strcmp(o->section, "remote") != 0 && strcmp(o->section, "prompt") != 0) ||
		    o->variable)
			assert_string_equal(o->variable, variable);
		if (o->flag)
			assert_memory_equal(o->flag, "--", 2);
		assert_true(isupper((unsigned char)o->help[0]) && o->help[help - 1] == '.');
		assert_int_equal(o->type == OPTION_ENUM, o->choices != NULL);
		if (!option_is_number(o) || o->type == OPTION_COUNT)
			assert_non_null(o->unit);
		assert_ptr_equal(option_by_key(o->section, o->key), o);
		char text[128], preset[VALUE_LEN];
		int length = snprintf(text, sizeof(text), "[profile x]\n%s = %s\n", o->key,
				      option_is_number(o) ? option_default(o, preset) : "x");
		if (o->type != OPTION_LIST)
			assert_int_equal(settings_check_text(ORIGIN_USER, "t.ini", text,
							     (size_t)length, NULL, NULL),
					 !is_for_run(o));
		for (size_t j = 0; j < i; j++) {
			if (o->flag && option_table[j].flag)
				assert_string_not_equal(o->flag, option_table[j].flag);
			assert_int_not_equal(o->offset, option_table[j].offset);
		}
	}
	assert_null(option_by_key("report", "cols"));
}

/* A project's file must not change what runs, where its output goes or what is kept. */
TEST(only_harmless_options_are_safe)
{
	static const char *const unsafe[] = {"run",    "spill", "session",    "prompt",
					     "remote", "shim",  "environment"};
	for (size_t i = 0; i < option_count; i++) {
		for (size_t j = 0; j < sizeof(unsafe) / sizeof(*unsafe); j++) {
			if (strcmp(option_table[i].section, unsafe[j]) == 0)
				assert_false(option_table[i].project_least);
		}
	}
	assert_false(option_by_key("report", "print")->project_least);
	assert_true(option_by_key("report", "size")->project_least);
}

TEST(every_row_covers_the_settings)
{
	size_t covered = 0;
	for (size_t i = 0; i < option_count; i++) {
		if (option_is_number(&option_table[i]))
			covered += sizeof(int64_t);
		else if (option_table[i].type == OPTION_STRING)
			covered += sizeof(char *);
		else
			covered += sizeof(struct strings);
	}
	assert_int_equal(covered, offsetof(struct settings, sources));
}

/* The words of enumerations, against the C names. */
TEST(words_have_their_positions)
{
	static const struct {
		const char *section, *key, *word;
		int64_t value;
	} words[] = {
		{"run", "pty", "auto", TRI_AUTO},
		{"run", "pty", "yes", TRI_YES},
		{"run", "pty", "off", TRI_NO},
		{"run", "streams", "merged", STREAMS_MERGED},
		{"run", "streams", "split", STREAMS_SPLIT},
		{"run", "detach", "true", 1},
		{"run", "detach", "on", 1},
		{"run", "detach", "1", 1},
		{"run", "detach", "YES", 1},
		{"run", "detach", "no", 0},
		{"run", "detach", "false", 0},
		{"run", "detach", "off", 0},
		{"run", "detach", "0", 0},
		{"run", "detach", "Off", 0},
		{"preview", "mode", "TAIL", MODE_TAIL},
		{"report", "unit", "matches", UNIT_MATCHES},
		{"report", "unit", "results", UNIT_RESULTS},
		{"report", "unit", "entries", UNIT_ENTRIES},
		{"report", "print", "preview", PRINT_PREVIEW},
		{"report", "print", "full", PRINT_FULL},
		{"report", "status", "failure", STATUS_FAILURE},
		{"report", "status", "always", STATUS_ALWAYS},
		{"preview", "mode", "head", MODE_HEAD},
		{"preview", "mode", "tail", MODE_TAIL},
		{"preview", "mode", "ends", MODE_ENDS},
	};
	struct option_error error = {""};
	struct settings s = start();

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		const struct option *o = option_by_key(words[i].section, words[i].key);
		assert_int_equal(option_set(&s, o, words[i].word, &error), 0);
		assert_int_equal(*(const int64_t *)field(&s, o), words[i].value);
	}
	static const char *const invalid[] = {"", "y", "2", "\"yes\"", "auto", "ye"};
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
		const struct option *o = option_by_key("run", "detach");
		assert_int_equal(option_set(&s, o, invalid[i], &error), -1);
		assert_int_equal(errno, EINVAL);
		assert_int_equal(s.detach, 0);
	}
	settings_release(&s);
}

TEST(each_is_set_by_ini)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		struct option_error error = {""};
		struct settings s = start();
		char text[256];
		int len = snprintf(text, sizeof(text), "[%s]\n%s = %s\n", o->section, o->key,
				   value_for(o));
		assert_int_equal(
			settings_load_text(&s, ORIGIN_USER, "t.ini", text, (size_t)len, &error), 0);
		assert_int_equal(option_source(&s, o)->line, 2);
		assert_other(&s, o, ORIGIN_USER, "ini");
		settings_release(&s);
	}
}

TEST(each_is_set_by_variable)
{
	struct settings plain = start();
	clear_variables();
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		struct option_error error;
		struct settings s;
		if (!o->variable)
			continue;
		setenv(o->variable, value_for(o), 1);
		s = load(&error);
		assert_string_equal(error.text, "");
		assert_other(&s, o, ORIGIN_VARIABLE, "variable");
		settings_release(&s);

		setenv(o->variable, "", 1); /* as if it were not there */
		s = load(&error);
		assert_string_equal(error.text, "");
		assert_same(&s, &plain, NULL);
		unsetenv(o->variable);
		settings_release(&s);
	}
	settings_release(&plain);
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

TEST(each_is_set_by_flag)
{
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		struct option_error error = {""};
		struct settings s = start();
		char attached[128], flag[64];
		if (!o->flag) {
			settings_release(&s);
			continue;
		}
		snprintf(attached, sizeof(attached), "%s=%s", o->flag, value_for(o));
		assert_int_equal(TAKE(&s, &error, attached), 1);
		assert_other(&s, o, ORIGIN_FLAG, "--flag=value");
		settings_release(&s);

		s = start();
		bool is_off = o->type == OPTION_BOOL && !o->initial;
		snprintf(flag, sizeof(flag), "--%s%s", option_is_switch(o) && !is_off ? "no-" : "",
			 o->flag + 2);
		snprintf(attached, sizeof(attached), "%s", value_for(o));
		if (option_is_switch(o))
			assert_int_equal(TAKE(&s, &error, flag), 1);
		else
			assert_int_equal(TAKE(&s, &error, flag, attached), 1);
		assert_other(&s, o, ORIGIN_FLAG, "--flag value");
		settings_release(&s);
	}
}

/* Both ends of each range, and one beyond them, in the exact words. */
TEST(each_range_is_kept)
{
	static const struct {
		const char *flag, *range;
	} ranges[] = {
		{"--timeout", "up to 365d, or off"},
		{"--grace", "1ms to 1h"},
		{"--finish", "up to 1h, or off"},
		{"--linger-idle", "up to 365d, or off"},
		{"--yield", "up to 365d, or off"},
		{"--yield-status", "0 to 255"},
		{"--hand-over", "up to 1d, or off"},
		{"--hang-up", "up to 1h, or off"},
		{"--cols", "2 to 1000"},
		{"--rows", "2 to 500"},
		{"--settle", "up to 1m, or off"},
		{"--size", "64 to 16MB"},
		{"--failure-size", "64 to 16MB"},
		{"--max-lines", "0 to 1000000000"},
		{"--err-size", "64 to 16MB, or 0"},
		{"--max-err-lines", "0 to 1000000000"},
		{"--heartbeat", "up to 1d, or off"},
		{"--ceiling", "512 to 16MB, or 0"},
		{"--failure-ceiling", "512 to 16MB, or 0"},
		{"--cut-ceiling", "512 to 16MB, or 0"},
		{"--line-ceiling", "0 to 1000000000"},
		{"--exit-delay", "up to 10s, or off"},
		{"--head-share", "0 to 100"},
		{"--end-share", "0 to 100"},
		{"--max-line", "64 to 1MB, or 0"},
		{"--max-artifact", "64KB to 1PB"},
		{"--min-free", "0 to 1PB"},
		{"--gc-age", "up to 3650d, or off"},
		{"--gc-size", "0 to 1PB"},
		{"--gc-count", "0 to 1000000000"},
	};
	size_t seen = 0;

	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const char *unit = o->type == OPTION_DURATION ? "ms" : "";
		const int64_t bad[] = {o->min - 1, o->max + 1};
		struct option_error error = {""};
		struct settings s = start();
		char value[48], flag[64], expected[160];
		if (o->max == 0 || !option_is_number(o) || !o->flag) {
			settings_release(&s);
			continue;
		}
		assert_string_equal(o->flag, ranges[seen].flag);
		snprintf(flag, sizeof(flag), "%s", o->flag);
		for (size_t j = 0; j < 2; j++) {
			snprintf(value, sizeof(value), "%" PRId64 "%s", j ? o->max : o->min, unit);
			assert_int_equal(TAKE(&s, &error, flag, value), 1);
			assert_int_equal(*(const int64_t *)field(&s, o), j ? o->max : o->min);
			snprintf(value, sizeof(value), "%" PRId64 "%s", bad[j], unit);
			assert_int_equal(TAKE(&s, &error, flag, value), -1);
			assert_int_equal(errno, EINVAL);
			snprintf(expected, sizeof(expected), "%s: %s: out of range (%s)", flag,
				 value, ranges[seen].range);
			assert_string_equal(error.text, expected);
			assert_int_equal(*(const int64_t *)field(&s, o), j ? o->max : o->min);
		}
		assert_int_equal(TAKE(&s, &error, flag), -1);
		snprintf(expected, sizeof(expected), "%s: needs a value (%s)", flag,
			 ranges[seen].range);
		assert_string_equal(error.text, expected);
		seen++;
		settings_release(&s);
	}
	assert_int_equal(seen, sizeof(ranges) / sizeof(*ranges));
}

TEST(zero_is_good_where_it_means_none)
{
	struct option_error error = {""};
	struct settings s = start();
	assert_int_equal(TAKE(&s, &error, "--max-line", "500", "--err-size=4KB"), 1);
	assert_int_equal(TAKE(&s, &error, "--max-line", "0", "--err-size=0"), 1);
	assert_int_equal(s.max_line, 0);
	assert_int_equal(s.err_size, 0);
	assert_int_equal(TAKE(&s, &error, "--size=0"), -1);
	settings_release(&s);
}

TEST(help_tells_every_flag)
{
	struct buffer out = BUFFER_INIT;
	const char *text;
	option_print_help(&out, "");
	text = buffer_string(&out);
	for (size_t i = 0; i < option_count; i++) {
		char flag[64], word[64];
		if (!option_table[i].flag)
			continue;
		snprintf(flag, sizeof(flag), "\n  --%s%s",
			 option_is_switch(&option_table[i]) ? "[no-]" : "",
			 option_table[i].flag + 2);
		assert_non_null(strstr(text, flag));
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(option_table[i].help, " "),
			 option_table[i].help);
		assert_non_null(strstr(strstr(text, flag), word));
	}
	assert_non_null(strstr(text, "\n  --preview "));
	assert_non_null(strstr(text, "\n  --full "));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		assert_true(strcspn(line, "\n") <= 80);
		/* A flag, the column beside it, a section or nothing. */
		assert_true(strncmp(line, "  --", 4) == 0 || strspn(line, " ") == 28 ||
			    *line == '[' || *line == '\n');
	}
	assert_non_null(strstr(text, "\n  --cols N                  Width of the"));
	assert_non_null(strstr(text, "\n  --mode smart|head|tail|ends\n                  "));
	buffer_release(&out);
}

/* Takes the # away in front of every setting. */
TEST(the_sample_holds_the_defaults)
{
	struct buffer sample = BUFFER_INIT, bare = BUFFER_INIT;
	struct option_error error = {""};
	struct settings s = {0}, plain = start();
	size_t keys = 0;
	assert_int_equal(option_print_sample(&sample), 0);
	assert_non_null(buffer_string(&sample));
	for (const char *line = sample.data; *line; line += strcspn(line, "\n") + 1) {
		bool setting = line[0] == '#' && line[1] != ' ' && line[1] != '\n';
		size_t len = strcspn(line, "\n") + 1;
		keys += setting && line[1] != '\t';
		buffer_append(&bare, line + setting, len - setting);
	}
	assert_int_equal(keys, option_count);

	/* From nothing: a value that is left out would be seen. Then on top of other ones. */
	for (int round = 0; round < 2; round++) {
		if (settings_load_text(&s, ORIGIN_USER, "terse.ini", bare.data, bare.len, &error) <
		    0)
			fail_msg("%s", error.text);
		assert_same(&s, &plain, NULL);
		for (size_t i = 0; i < option_count; i++)
			assert_int_equal(option_set(&s, &option_table[i],
						    value_for(&option_table[i]), &error),
					 0);
	}
	if (settings_load_text(&s, ORIGIN_USER, "terse.ini", sample.data, sample.len, &error) < 0)
		fail_msg("%s", error.text);
	settings_release(&s);
	settings_release(&plain);
	buffer_release(&sample);
	buffer_release(&bare);
}

TEST(variables_refuse_in_the_right_words)
{
	struct option_error error;
	struct settings s;
	clear_variables();
	setenv("TERSE_COLS", "1", 1);
	assert_int_equal(settings_load(&s, "/nowhere/terse.ini", &error), 0);
	assert_string_equal(error.text, "TERSE_COLS: 1: out of range (2 to 1000)");
	assert_int_equal(s.cols, 160);
	settings_release(&s);
	unsetenv("TERSE_COLS");

	/* Other programs' variables, and terse's that are no options. */
	setenv("TERSE_CO", "x", 1);
	setenv("TERSE_ACTIVE", "x", 1);
	setenv("COLS", "x", 1);
	setenv("TERSE_UNSET_ENV", "A\nB\n\nC", 1);
	assert_int_equal(settings_load(&s, "/nowhere/terse.ini", &error), 0);
	assert_string_equal(error.text, "");
	assert_int_equal(s.env_unset.count, 3);
	assert_string_equal(s.env_unset.items[2], "C");
	settings_release(&s);
	unsetenv("TERSE_CO");
	unsetenv("TERSE_ACTIVE");
	clear_variables();
}

/* Writes one [report] key; makes the directories above the file. */
static void write_ini(const char *dir, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0700) < 0)
			assert_int_equal(errno, EEXIST);
	}
	write_file(path, text);
}

/* settings_load() with SYSTEM below the directory; checks size and the error. */
static void expect_size(const char *dir, int64_t size, const char *message)
{
	char system_file[256], expected[512];
	struct option_error error;
	struct settings s;
	snprintf(system_file, sizeof(system_file), "%s/etc/terse.ini", dir);
	assert_int_equal(settings_load(&s, system_file, &error), 0);
	assert_int_equal(s.size, size);
	snprintf(expected, sizeof(expected), "%s%s", message && *message == '/' ? dir : "",
		 message ? message : "");
	assert_string_equal(error.text, expected);
	settings_release(&s);
}

TEST(later_sources_win)
{
	char dir[] = "/tmp/terse-test-XXXXXX", path[256], command[64];
	clear_variables();
	assert_non_null(mkdtemp(dir));
	expect_size(dir, 4096, NULL);
	write_ini(dir, "etc/terse.ini", "[report]\nsize = 100\nmax_lines = 3\n");
	expect_size(dir, 100, NULL);
	write_ini(dir, "home/.config/terse/terse.ini", "[report]\nsize = 200\n");
	snprintf(path, sizeof(path), "%s/home", dir);
	setenv("HOME", path, 1);
	expect_size(dir, 200, NULL);
	write_ini(dir, "xdg/terse/terse.ini", "[report]\nsize = 300\n");
	snprintf(path, sizeof(path), "%s/xdg", dir);
	setenv("XDG_CONFIG_HOME", path, 1);
	expect_size(dir, 300, NULL);
	setenv("XDG_CONFIG_HOME", "xdg", 1);
	expect_size(dir, 200, NULL);
	setenv("TERSE_CONFIG", "", 1);
	expect_size(dir, 100, NULL);
	write_ini(dir, "own.ini", "[report]\nsize = 400\n");
	snprintf(path, sizeof(path), "%s/own.ini", dir);
	setenv("TERSE_CONFIG", path, 1);
	expect_size(dir, 400, NULL);
	setenv("TERSE_SIZE", "500", 1);
	expect_size(dir, 500, NULL);

	/* Errors: the first one is reported, and its source counts as absent. */
	setenv("TERSE_SIZE", "7", 1);
	expect_size(dir, 400, "TERSE_SIZE: 7: out of range (64 to 16MB)");
	write_ini(dir, "own.ini", "[report]\nmax_lines = 9\nsize = 5\n");
	expect_size(dir, 100, "/own.ini:3: [report] size: 5: out of range (64 to 16MB)");
	write_ini(dir, "etc/terse.ini", "[report]\nsize = 101\nmax_lines = x\n");
	expect_size(dir, 4096, "/etc/terse.ini:3: [report] max_lines: x: not a whole number");
	unsetenv("TERSE_SIZE");
	write_ini(dir, "etc/terse.ini", "[report]\nsize = 102\n");
	setenv("TERSE_CONFIG", "/nowhere/x.ini", 1);
	expect_size(dir, 102, "TERSE_CONFIG: /nowhere/x.ini: No such file or directory");
	setenv("TERSE_CONFIG", "/dev/null", 1);
	expect_size(dir, 102, NULL);

	clear_variables();
	setenv("HOME", "relative", 1);
	expect_size(dir, 102, NULL);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	clear_variables();
}

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
	assert_int_equal(TAKE(&s, &error, "--no-pty", "--tty=auto", "--full", "--no-detach"), 1);
	assert_int_equal(s.pty, TRI_NO);
	assert_int_equal(s.tty, TRI_AUTO);
	assert_int_equal(s.print, PRINT_FULL);
	assert_int_equal(s.detach, 0);
	assert_int_equal(TAKE(&s, &error, "--preview", "--detach"), 1);
	assert_int_equal(s.print, PRINT_PREVIEW);
	assert_int_equal(s.detach, 1);
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
		 "--timeout: x\\n: not a duration (like 500ms, 2s, 5m or 1h)"},
		{{"--pty=perhaps"}, "--pty: perhaps: not auto, yes or no"},
		{{"--no-pty=yes"}, "--no-pty: yes: takes no value"},
		{{"--full=yes"}, "--full: yes: takes no value"},
		{{"--full="}, "--full: takes no value"},
		{{"--session"}, "--session: needs a value (SESSION)"},
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
	char word[200];
	struct nearest n;
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
