// See self.h.

#include "shim/library/self.h"

#include "shim/shell_call.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define SHELL_NAME "terse-sh"

/* Copies, since some programs write over the environment they were started with. `name` is the
   dynamic linker's and stays. */
static char shell[PATH_MAX];
static const char *name;

static void copy_shell(const char *directory, size_t len, const char *file)
{
	size_t file_len = strlen(file);
	if (len + file_len >= sizeof(shell))
		return;
	memcpy(shell, directory, len);
	memcpy(shell + len, file, file_len + 1);
}

static __attribute__((constructor)) void self_find(void)
{
	const char *active = getenv(SELF_ACTIVE), *told = getenv(SELF_SHELL);
	Dl_info info;
	if ((active && *active) || dladdr(shell, &info) == 0 || !info.dli_fname)
		return;
	name = shell_call_name(info.dli_fname);
	if (told && *told == '/')
		copy_shell("", 0, told);
	else if (!told && *info.dli_fname == '/')
		copy_shell(info.dli_fname, (size_t)(name - info.dli_fname), SHELL_NAME);
}

const char *self_shell(void)
{
	return *shell ? shell : NULL;
}

const char *self_name(void)
{
	return name;
}
