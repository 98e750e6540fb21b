// terse config: what it prints of settings and profiles, checking and writing files,
// and the completion script, in bash.

#include "lib/buffer.h"
#include "supervisor/command/verb.h"

#include <jansson.h>
#include <sys/wait.h>

#include "tests/unit/configured.h"
#include "tests/unit/home.h"

static char said[1 << 17]; /* what the last run printed, stderr as well */

/* In a directory of its own, with no configuration. */
static int setup(void **state)
{
	static char where[64];
	home_setup(state);
	clear_variables();
	snprintf(where, sizeof(where), "%s", home);
	setenv("HOME", where, 1);
	return chdir(home);
}

static int teardown(void **state)
{
	return chdir("/") == 0 ? home_teardown(state) : -1;
}

static void child(int argc, char **argv)
{
	int out = open("said", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct option_error error;
	struct settings s;
	struct verb_call c = {
		.verb = verb_named("config"), .settings = &s, .argc = argc, .argv = argv};
	dup2(out, 1);
	dup2(out, 2);
	if (settings_load(&s, "/nowhere/terse.ini", &error) < 0)
		_exit(99);
	_exit(c.verb->run(&c));
}

/* terse config WORDS...; returns the exit status. */
static int run(const char *const *words)
{
	const char *argv[16] = {"config"};
	int argc = 1, status;
	pid_t pid;
	while (*words)
		argv[argc++] = *words++;
	pid = fork();
	if (pid == 0)
		child(argc, (char **)argv);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_true(unit_read_file(AT_FDCWD, "said", said, sizeof(said)) >= 0);
	return WEXITSTATUS(status);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static void expect_line(const char *line)
{
	const char *found = strstr(said, line);
	if (!found || (found > said && found[-1] != '\n') || found[strlen(line)] != '\n')
		fail_msg("no line \"%s\" in:\n%s", line, said);
}

TEST_IN(origins_are_told, setup, teardown)
{
	write_file(".terse.ini", "[report]\nheartbeat = 9s\n");
	write_file("user.ini", "# mine\n[report]\nsize = 8KB\n[environment]\nset =\n A=1\n B=2\n");
	setenv("TERSE_CONFIG", "user.ini", 1);
	setenv("TERSE_ROWS", "60", 1);
	assert_int_equal(RUN("--cols", "90", "--no-collapse"), 0);
	expect_line("[run]");
	expect_line("timeout = off                    ; built in");
	expect_line("size = 8KB                       ; user.ini:3");
	expect_line("rows = 60                        ; TERSE_ROWS");
	expect_line("cols = 90                        ; --cols");
	expect_line("collapse = no                    ; --collapse");
	expect_line("name =                           ; built in");
	expect_line("set =                            ; user.ini:5");
	expect_line("\tA=1");
	expect_line("\tB=2");
	assert_non_null(strstr(said, "/.terse.ini:2\n"));
	assert_int_equal(RUN("grep", "-rn", "foo"), 0);
	expect_line("size = 10KB                      ; profile search");
	expect_line("failure_size = 10KB              ; profile search");
	expect_line("max_lines = 300                  ; profile search");
	expect_line("unit = matches                   ; profile search");
	assert_int_equal(RUN("--size=1KB", "--", "ls; cat a"), 0);
	expect_line("size = 1KB                       ; --size");
	expect_line("mode = smart                     ; profile mixed");
	assert_int_equal(RUN("--", "check"), 0);
	expect_line("size = 8KB                       ; user.ini:3");
}

TEST_IN(what_is_printed_can_be_loaded, setup, teardown)
{
	struct option_error error = {""};
	struct settings s;
	assert_int_equal(RUN("--size", "5KB", "--timeout=90s", "--env", "X=1"), 0);
	assert_int_equal(settings_init(&s), 0);
	if (settings_load_text(&s, ORIGIN_USER, "said", said, strlen(said), &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(s.size, 5 * 1024);
	assert_int_equal(s.timeout, 90000);
	assert_string_equal(s.env_set.items[s.env_set.count - 1], "X=1");
	assert_null(s.session);
	settings_release(&s);
}

static const json_t *setting(const json_t *root, const char *key)
{
	const json_t *settings = json_object_get(root, "settings");
	for (size_t i = 0; i < json_array_size(settings); i++) {
		const json_t *one = json_array_get(settings, i);
		if (strcmp(json_string_value(json_object_get(one, "key")), key) == 0)
			return one;
	}
	fail_msg("%s is not told", key);
	return NULL;
}

TEST_IN(json_tells_the_same, setup, teardown)
{
	static const struct {
		const char *key, *member, *text;
	} strings[] = {
		{"size", "text", "30KB"},       {"size", "origin", "profile list"},
		{"unit", "value", "entries"},   {"name", "value", "\xEF\xBF\xBD"},
		{"pty", "origin", "TERSE_PTY"}, {"name", "origin", "user.ini:4"},
		{"cols", "origin", "--cols"},   {"rows", "origin", "built in"},
	};
	write_file("user.ini", "[report]\nsize = 8KB\n[session]\nname = \xFF\n");
	setenv("TERSE_CONFIG", "user.ini", 1);
	setenv("TERSE_PTY", "no", 1);
	assert_int_equal(RUN("--json", "--cols=90", "ls"), 0);
	json_t *root = json_loads(said, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "settings")), option_count);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		const json_t *in = setting(root, strings[i].key);
		assert_string_equal(json_string_value(json_object_get(in, strings[i].member)),
				    strings[i].text);
	}
	assert_string_equal(json_string_value(json_object_get(root, "profile")), "list");
	assert_string_equal(json_string_value(json_array_get(json_object_get(root, "files"), 0)),
			    "user.ini");
	assert_int_equal(json_integer_value(json_object_get(setting(root, "size"), "value")),
			 30 * 1024);
	assert_true(json_is_true(json_object_get(setting(root, "collapse"), "value")));
	assert_true(json_is_null(json_object_get(setting(root, "shell"), "value")));
	assert_int_equal(json_array_size(json_object_get(setting(root, "set"), "value")), 6);
	json_decref(root);
}

TEST_IN(profiles_are_listed, setup, teardown)
{
	write_file("user.ini", "[profile read]\nmatch = mdcat\nsize = 16KB\n[profile mine]\n"
			       "match = x\n");
	setenv("TERSE_CONFIG", "user.ini", 1);
	assert_int_equal(RUN("--profiles"), 0);
	expect_line("[profile read]");
	expect_line("\tmdcat ; user.ini:2");
	expect_line("size = 16KB ; user.ini:3");
	expect_line("max_lines = 2000");
	expect_line("[profile mine]");
	expect_line("\tx ; user.ini:5");
	assert_int_equal(RUN("--profiles", "--json"), EXIT_TERSE);
}

TEST_IN(check_tells_of_all_errors, setup, teardown)
{
	write_file("good.ini", "[report]\nsize = 8KB\n");
	write_file("bad.ini", "lost = 1\n"
			      "[report]\n"
			      "size = 4XB\n"
			      "sise = 4KB\n"
			      "; \n"
			      "max_lines = 2\n"
			      "  more\n"
			      "[reprot]\n"
			      "size = whatever\n"
			      "[profile a b]\n"
			      "size = whatever\n"
			      "  more\n"
			      "[profile a]\n"
			      "size = 1\n"
			      "match = x\n"
			      "  -y\n"
			      "[run\n"
			      "pty = maybe\n"
			      "[environment]\n"
			      "set = A\n"
			      "  B\n"
			      "  C=1\n"
			      "end");
	assert_int_equal(RUN("check", "good.ini"), 0);
	assert_string_equal(said, "good.ini: no errors\n");
	assert_int_equal(RUN("check", "bad.ini", "missing.ini", "good.ini"), 1);
	assert_string_equal(
		said,
		"bad.ini:1: lost: a key before the first [section]\n"
		"bad.ini:3: [report] size: 4XB: not a size (like 4096, 4KB or 1000tok)\n"
		"bad.ini:4: [report] sise: no such key (did you mean size?)\n"
		"bad.ini:7: [report] max_lines: more: an indented line adds to a list, and this "
		"takes one value\n"
		"bad.ini:8: [reprot]: no such section (did you mean report?)\n"
		"bad.ini:10: [profile a b]: a name is 1 to 40 letters, digits, _ . or -\n"
		"bad.ini:14: [profile a] size: 1: out of range (64 to 16MB)\n"
		"bad.ini:16: [profile a] match: -y: a pattern starts with the name of a program\n"
		"bad.ini:17: [run: a section is [NAME] on a line of its own\n"
		"bad.ini:20: [environment] set: A: not NAME=VALUE\n"
		"bad.ini:21: [environment] set: B: not NAME=VALUE\n"
		"bad.ini:23: end: neither [section] nor key = value\n"
		"missing.ini: No such file or directory\n"
		"good.ini: no errors\n");
	write_file(".terse.ini", "[run]\npty = no\n[report]\nsize = 8KB\ncols = 1\n");
	assert_int_equal(RUN("check", ".terse.ini"), 1);
	assert_string_equal(said, ".terse.ini:2: [run] pty: not allowed in a project's file\n"
				  ".terse.ini:5: [report] cols: no such key (did you mean "
				  "[terminal] cols?)\n");
	assert_int_equal(chmod(".terse.ini", 0666), 0);
	assert_int_equal(RUN("check", ".terse.ini"), 1);
	assert_string_equal(said, ".terse.ini: not read: everybody can write to it\n");
}

TEST_IN(check_looks_at_the_files_of_a_run, setup, teardown)
{
	setenv("TERSE_CONFIG", "user.ini", 1);
	if (access("/etc/terse.ini", F_OK) == 0)
		skip();
	assert_int_equal(RUN("check"), 0);
	assert_string_equal(said, "there is no configuration file\n");
	write_file("user.ini", "[report]\nsize = 1\n");
	write_file(".terse.ini", "[report]\nsize = 2\n");
	assert_int_equal(RUN("check"), 1);
	assert_memory_equal(said, "user.ini:2: ", 12);
	assert_non_null(strstr(said, "/.terse.ini:2: "));
}

TEST_IN(init_writes_the_sample_once, setup, teardown)
{
	struct buffer sample = BUFFER_INIT;
	char text[1 << 16], path[128];
	struct stat st;
	assert_int_equal(option_print_sample(&sample), 0);
	assert_int_equal(RUN("init"), 0);
	snprintf(path, sizeof(path), "%s/.config/terse/terse.ini", home);
	assert_memory_equal(said, path, strlen(path));
	assert_true(unit_read_file(AT_FDCWD, path, text, sizeof(text)) > 0);
	assert_string_equal(text, buffer_string(&sample));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	write_file(path, "[report]\nsize = 8KB\n");
	assert_int_equal(RUN("init"), 1);
	assert_non_null(strstr(said, "exists already"));
	assert_int_equal(RUN("init", "-"), 0);
	assert_string_equal(said, sample.data);
	assert_int_equal(RUN("init", "here.ini"), 125);
	unsetenv("HOME");
	assert_int_equal(RUN("init"), 125);
	buffer_release(&sample);
}

TEST_IN(bad_usage_is_refused, setup, teardown)
{
	assert_int_equal(RUN("--bogus"), 125);
	assert_string_equal(said,
			    "terse config: --bogus: no such option (see terse help config)\n");
	assert_int_equal(RUN("--size", "1"), 125);
	assert_string_equal(said, "terse config: --size: 1: out of range (64 to 16MB)\n");
	assert_int_equal(RUN("--profile", "raed"), 125);
	assert_string_equal(said, "terse config: --profile: raed: no such profile (did you mean "
				  "read?)\n");
}

TEST_MAIN(NULL, NULL)
