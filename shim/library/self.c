// See self.h.

#include "shim/library/self.h"

#include "shim/shell_call.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SHELL_NAME "terse-sh"

/* A copy, since some programs write over the environment that they were started with. */
static char shell[PATH_MAX];

static void set_shell(const char *directory, size_t len, const char *file)
{
	size_t file_len = strlen(file);
	if (len + file_len >= sizeof(shell))
		return;
	memcpy(shell, directory, len);
	memcpy(shell + len, file, file_len + 1);
}

static __attribute__((constructor)) void self_find(void)
{
	const char *active = getenv("TERSE_ACTIVE"), *told = getenv("TERSE_SHIM_SHELL");
	Dl_info info;
	if (active && *active)
		return;
	if (told) {
		if (*told == '/')
			set_shell("", 0, told);
	} else if (dladdr(shell, &info) && info.dli_fname && *info.dli_fname == '/') {
		const char *name = shell_call_name(info.dli_fname);
		set_shell(info.dli_fname, (size_t)(name - info.dli_fname), SHELL_NAME);
	}
}

const char *self_shell(void)
{
	return *shell ? shell : NULL;
}
