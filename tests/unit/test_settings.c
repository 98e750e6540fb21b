// What a command asks of terse in the comment that it ends with: read only where the shell reads a
// comment as the last one, and only from the closed list.

#include "config/settings.h"
#include "tests/unit/unit.h"

static void expect(const char *command, const char *flags)
{
	struct comment c;
	char text[256] = "";
	struct settings s = {0};
	struct option_error error;
	int status = comment_read(&c, command, &s, &error);
	assert_int_equal(status, strstr(command, "=1x") ? -1 : 0);
	for (size_t i = 0; i < c.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
			 c.flags[i]);
	if (strcmp(text, flags) != 0)
		fail_msg("%s: \"%s\", not \"%s\"", command, text, flags);
}

TEST(the_last_comment_is_read)
{
	expect("npm run dev # terse: yield=10s", "--yield=10s");
	expect("a; b #terse:yield=1s \n\n", "--yield=1s");
	expect("make # terse: timeout=5m, size=20KB yield=1x", "--timeout=5m --size=20KB");
	expect("a # first\nb | c &# terse: yield=1s", "--yield=1s");
	expect("if a; then b; fi # terse: yield=1s", "--yield=1s");
	expect("cat <<E\nx\nE\n# terse: size=2KB", "--size=2KB");
	expect("a \\\n # terse: yield=1s", "--yield=1s");
	expect("echo a#b $# ${x#y} 'c' # terse: yield=1s", "--yield=1s");
}

TEST(nothing_else_is)
{
	static const char *const commands[] = {
		"a",
		"# terse: yield=1s",
		"echo '# terse: yield=1s'",
		"echo \"a # terse: yield=1s\"",
		"echo a\\ # terse: yield=1s'",
		"echo \\# terse: yield=1s",
		"echo a# terse: yield=1s",
		"cat <<E\n# terse: yield=1s\nE",
		"cat <<E # terse: yield=1s\nx\nE",
		"cat <<E\nx\n# terse: yield=1s",
		"echo $(a # terse: yield=1s\n)",
		"(a # terse: yield=1s\n)",
		"a # terse: yield=1s\nb",
		"a # terse: yield=1s\n# b",
		"a `b # terse: yield=1s`",
		"a # b # terse: yield=1s",
		"a ${b:-# terse: yield=1s}",
		"a 'b # terse: yield=1s",
		"a # terse: mind the gap",
		"a # terse: yield",
		"a # terse: yield=1s pty=no",
		"a # terse: shell=/tmp/x",
		"a # terse: yield=1s; b",
		"a # terse: yield=1 yield=2 yield=3 yield=4",
		"a # terse:",
		"a # terse: size=11111111111111111111111111111111111111111111111111111111",
		"a # Terse: yield=1s",
		"a # terse : yield=1s"};
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		expect(commands[i], "");
}

TEST_MAIN(NULL, NULL)
