// Which calls are those of a shell with a string.

#include "shim/exec_call.h"
#include "tests/unit/unit.h"

TEST(names)
{
	static const char *const yes[] = {"sh",  "bash", "dash", "zsh",
					  "ksh", "mksh", "ash",  "fish"};
	static const char *const no[] = {"",      "SH",  "bash5",    "csh",
					 "shell", "sh ", "terse-sh", "node"};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(shell_call_is_shell(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(shell_call_is_shell(no[i]));
	assert_string_equal(shell_call_name("/bin/sh"), "sh");
	assert_string_equal(shell_call_name("sh"), "sh");
	assert_string_equal(shell_call_name("/bin/"), "");
}

static const char *script(const char *const *argv)
{
	return shell_call_script((char *const *)(uintptr_t)argv);
}

/* Words up to a NULL; "S" is the string. */
TEST(strings)
{
	static const char *const calls[][10] = {
		{"sh", "-c", "S"},
		{"-bash", "-c", "S", "name", "argument"},
		{"bash", "-lc", "S"},
		{"bash", "-l", "-c", "S"},
		{"bash", "-c", "-l", "S"},
		{"bash", "-ic", "S"},
		{"bash", "-ce", "S"},
		{"sh", "-c", "--", "S"},
		{"sh", "-c", "-", "S"},
		{"bash", "-euo", "pipefail", "-c", "S"},
		{"bash", "-o", "pipefail", "-ec", "S"},
		{"bash", "-coo", "pipefail", "errexit", "S"},
		{"bash", "+B", "-c", "S"},
		{"bash", "+o", "history", "-c", "S"},
		{"bash", "-O", "extglob", "-c", "S"},
		{"bash", "--norc", "--noprofile", "-c", "S"},
		{"bash", "--rcfile", "-c", "-c", "S"},
		{"bash", "--init-file", "file", "-c", "S"},
		{"zsh", "--emulate", "sh", "-c", "S"},
	};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_string_equal(script(calls[i]), "S");
	static const char *const empty[] = {"sh", "-c", "", NULL};
	assert_string_equal(script(empty), "");
}

TEST(no_strings)
{
	static const char *const calls[][8] = {
		{NULL},
		{"sh"},
		{"sh", "-c"},
		{"sh", "-c", "--"},
		{"sh", "-c", "-e"},
		{"sh", "-s"},
		{"sh", "script", "-c", "S"},
		{"sh", "--", "-c", "S"},
		{"sh", "-", "-c", "S"},
		{"sh", "", "-c", "S"},
		{"bash", "-o"},
		{"bash", "-co"},
		{"bash", "-o", "-c", "S"},
		{"bash", "-c", "-o", "pipefail"},
		{"bash", "+c", "S"},
		{"bash", "--rcfile"},
		{"bash", "--command", "S"},
		{"bash", "--version"},
	};
	assert_null(shell_call_script(NULL));
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_null(script(calls[i]));
}

TEST(interactive)
{
	static const char *const yes[][6] = {
		{"bash", "-i", "-c", "S"},      {"-zsh", "-ic", "S"}, {"/bin/sh", "-c", "-i", "S"},
		{"bash", "-o", "emacs", "-li"}, {"dash", "-i"},
	};
	static const char *const no[][6] = {
		{"bash", "-c", "-", "-i"}, {"bash", "-c", "S", "-i"}, {"bash", "+i", "-c", "S"},
		{"bash", "--init-file"},   {"sed", "-i", "S"},        {"bash", "-O", "-i"},
	};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(shell_call_is_interactive((char *const *)(uintptr_t)yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(shell_call_is_interactive((char *const *)(uintptr_t)no[i]));
}

TEST_MAIN(NULL, NULL)
