// See self.h.

#include "shim/library/self.h"

#include "shim/shell_call.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Whether this process is in the session of the run that TERSE_ACTIVE names (shim/active.h), which
   lives. Elsewhere it is for terse-sh to find out. */
static bool is_in_run(void)
{
	const char *active = getenv("TERSE_ACTIVE");
	long supervisor = 0;
	while (active && *active >= '0' && *active <= '9' && supervisor < INT_MAX)
		supervisor = 10 * supervisor + (*active++ - '0');
	return supervisor > 0 && syscall(SYS_getsid, 0) == supervisor &&
	       (syscall(SYS_kill, supervisor, 0) == 0 || errno == EPERM);
}

static __attribute__((constructor)) void self_find(void)
{
	const char *told = getenv("TERSE_SHIM_SHELL");
	Dl_info info;
	if (is_in_run())
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
