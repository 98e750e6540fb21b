// When a shell is needed, and which.

#include "shim/exec_call.h"
#include "shim/shell.h"
#include "tests/unit/unit.h"

TEST(finding)
{
	assert_string_equal(shell_find("/opt/fish"), "/opt/fish");
	const char *shell = shell_find(NULL);
	assert_int_equal(access(shell, X_OK), 0);
	assert_string_equal(shell_find(""), shell);
	if (access("/bin/bash", X_OK) == 0)
		assert_string_equal(shell, "/bin/bash");
}

TEST(strings)
{
	static const char *const yes[] = {
		"ls -l",      "a && b",   "a|b",      "x>y",   "echo $HOME", "`date`", "a;b",
		"ls *.c",     "[ -f x ]", "VAR=1",    "~/bin", "a\tb",       "a\nb",   "'quoted'",
		"\"quoted\"", "a\\ b",    "f(){ x;}", "#note", "!true",      "ls ?",
	};
	static const char *const no[] = {
		"ls",         "",         "/bin/ls", "./configure",
		"g++",        "clang-14", "a,b",     "x86_64-linux-gnu-gcc",
		"python3.11", "foo@bar",  "a%b",     "a:b",
	};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(shell_is_string(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(shell_is_string(no[i]));
}

/* A file of that very name is a program, whatever is in its name. */
TEST(a_file_is_no_string)
{
	char path[] = "/tmp/terse test $(x) XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_false(shell_is_string(path));
	unlink(path);
	assert_true(shell_is_string(path));
	close(fd);
}

TEST(builtins)
{
	static const char *const yes[] = {"cd",    "export", "source", ".",      "alias", "set",
					  "VAR=x", "_a1=",   "A+=x",   "A[0]=1", "if",    "while"};
	static const char *const no[] = {"ls",   "cds",   "",     "=x",   "1A=x", "a/b=c", "./x=1",
					 "-a=b", "a b=c", "echo", "test", "ex",   "A[0",   "A["};
	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(shell_is_builtin(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(shell_is_builtin(no[i]));
}

TEST_MAIN(NULL, NULL)
