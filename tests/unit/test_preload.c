// The shim's own entry in LD_PRELOAD, and the strings of system() and popen() on their detour.

#include "shim/exec_call.h"
#include "tests/unit/unit.h"

#include <sys/wait.h>

#define NAME "libterse-shim.so"

TEST(removing)
{
	static const struct {
		const char *list, *rest;
	} cases[] = {
		{NAME, ""},
		{"/usr/lib/terse/" NAME, ""},
		{"/a/$LIB/" NAME ":/b.so", "/b.so"},
		{"/b.so:/a/" NAME, "/b.so"},
		{"/b.so /a/" NAME ":/c.so", "/b.so:/c.so"},
		{"/b.so:/a/" NAME " /c.so", "/b.so /c.so"},
		{"/a/" NAME " /c.so /d.so", "/c.so /d.so"},
		{NAME ":" NAME, ""},
		{NAME ":b.so:/x/" NAME " c.so", "b.so c.so"},
		{":" NAME ":", ":"},
		{"b.so::" NAME ":c.so", "b.so::c.so"},
	};
	char out[128];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(preload_remove(out, cases[i].list, NAME));
		assert_string_equal(out, cases[i].rest);
	}
}

TEST(keeping)
{
	static const char *const lists[] = {
		"",           "a.so",    " a.so : b.so:", "/x" NAME, "x" NAME ":" NAME "x",
		NAME "/b.so", "a/b so:",
	};
	char out[128];
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		assert_false(preload_remove(out, lists[i], NAME));
		assert_string_equal(out, lists[i]);
	}
}

static int run(const char *command)
{
	size_t size = detour_size(command);
	char *detour = malloc(size);
	assert_non_null(detour);
	detour_write(detour, command);
	assert_int_equal(strlen(detour) + 1, size);
	int status = system(detour);
	free(detour);
	return status;
}

/* Every byte that a shell could take for something else comes through, and so does $0. */
TEST(detours)
{
	assert_int_equal(WEXITSTATUS(run("exit 7")), 7);
	assert_int_equal(run(""), 0);
	assert_int_equal(run("[ \"$0\" = sh ] && [ $# = 0 ]"), 0);
	assert_int_equal(run("[ 'a\"$b`c`\\' = \"a\\\"\\$b\\`c\\`\\\\\" ]"), 0);
	assert_int_equal(run("[ \"'''\" = \\'\\'\\' ]\n# '\nexit 0"), 0);
	assert_int_equal(WTERMSIG(run("kill -9 $$")), 9);
	assert_int_equal(detour_size("-c true"), 0);
	assert_int_equal(detour_size("+x"), 0);
}

TEST_MAIN(NULL, NULL)
