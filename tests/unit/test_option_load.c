// Where settings come from: files, the variables that name them, and TERSE_*
// variables, each winning over what comes before it.

#include "config/option.h"
#include "config/settings.h"
#include "tests/unit/unit.h"

static void clear_variables(void)
{
	for (size_t i = 0; i < option_count; i++)
		if (option_table[i].variable)
			unsetenv(option_table[i].variable);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("TERSE_CONFIG");
	unsetenv("HOME");
}

TEST(variables_refuse_in_the_right_words)
{
	struct option_error error;
	struct settings s;
	clear_variables();
	setenv("TERSE_COLS", "1", 1);
	assert_int_equal(settings_load_after(&s, "/nowhere/terse.ini", &error), 0);
	assert_string_equal(error.text, "TERSE_COLS: 1: out of range (2 to 1000)");
	assert_int_equal(s.cols, 160);
	settings_release(&s);
	unsetenv("TERSE_COLS");

	/* Other programs' variables, and terse's that are no options. */
	setenv("TERSE_CO", "x", 1);
	setenv("TERSE_ACTIVE", "x", 1);
	setenv("COLS", "x", 1);
	setenv("TERSE_UNSET_ENV", "A\nB\n\nC", 1);
	assert_int_equal(settings_load_after(&s, "/nowhere/terse.ini", &error), 0);
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
	FILE *file;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
		*p = '\0';
		if (mkdir(path, 0700) < 0)
			assert_int_equal(errno, EEXIST);
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* settings_load() with SYSTEM below the directory; checks size and the error. */
static void expect_size(const char *dir, int64_t size, const char *message)
{
	char system_file[256], expected[512];
	struct option_error error;
	struct settings s;
	snprintf(system_file, sizeof(system_file), "%s/etc/terse.ini", dir);
	assert_int_equal(settings_load_after(&s, system_file, &error), 0);
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

TEST(public_load_fills_everything_in)
{
	struct option_error error;
	struct settings s;
	clear_variables();
	setenv("TERSE_COLS", "77", 1);
	assert_int_equal(settings_load(&s, &error), 0);
	assert_int_equal(s.cols, 77);
	settings_release(&s);
	clear_variables();
}

TEST_MAIN(NULL, NULL)
