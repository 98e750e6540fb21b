// A store of its own for a test: a temporary directory that TERSE_HOME names, with
// every other variable that could lead elsewhere unset. Include after cmocka.h.
#ifndef TERSE_TESTS_HOME_H
#define TERSE_TESTS_HOME_H

#include "tests/unit/unit.h"

#include <ftw.h>

static char home[64]; /* the temporary directory */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* cmocka setup: TERSE_HOME is $home/store. */
static int home_setup(void **state)
{
	(void)state;
	static const char *const others[] = {"XDG_STATE_HOME",         "HOME",
					     "XDG_RUNTIME_DIR",        "TERSE_SESSION",
					     "CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		unsetenv(others[i]);
	snprintf(home, sizeof(home), "/tmp/terse-test-XXXXXX");
	assert_non_null(mkdtemp(home));
	char path[sizeof(home) + 8];
	snprintf(path, sizeof(path), "%s/store", home);
	setenv("TERSE_HOME", path, 1);
	snprintf(path, sizeof(path), "%s/tmp", home);
	assert_int_equal(mkdir(path, 0700), 0);
	setenv("TMPDIR", path, 1);
	return 0;
}

static int home_teardown(void **state)
{
	(void)state;
	return nftw(home, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
