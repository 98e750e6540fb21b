// See place.h.

#include "supervisor/wiring/place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first of these that is there, below the directory of the program. */
static void command_place_find(char out[PATH_MAX], const char *folder, const char *const *names,
			       int mode)
{
	char path[PATH_MAX + 64], real[PATH_MAX];

	for (*out = '\0'; *names; names++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *names);
		if (access(path, mode) < 0)
			continue;
		/* Without the "..", but terse-sh stays the link it is. */
		if (strncmp(*names, "../", 3) == 0 && realpath(path, real))
			snprintf(out, PATH_MAX, "%s", real);
		else
			snprintf(out, PATH_MAX, "%.*s", PATH_MAX - 1, path);
		return;
	}
}

void place_find(struct place *p)
{
	static const char *const shells[] = {"terse-sh", NULL};
	static const char *const libraries[] = {"libterse-shim.so", "../lib/terse/libterse-shim.so",
						NULL};
	static const char *const scripts[] = {"../lib/terse/bash-env", "../shim/bash-env", NULL};
	ssize_t len = readlink("/proc/self/exe", p->program, sizeof(p->program) - 1);
	char folder[PATH_MAX];

	p->program[len < 0 ? 0 : len] = '\0';
	snprintf(folder, sizeof(folder), "%s", p->program);
	char *slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	command_place_find(p->shell, folder, shells, X_OK);
	command_place_find(p->library, folder, libraries, R_OK);
	command_place_find(p->bash_env, folder, scripts, R_OK);
	size_t path_len = strlen(p->bash_env);
	if (path_len > 0)
		snprintf(p->bash_env + path_len, PATH_MAX - path_len, PLACE_UNLESS_VERBOSE);
}
