// See shell_string.h.

#include "shim/shell_string.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

bool shell_is_string(const char *argument)
{
	return strpbrk(argument, " \t\n|&;<>()$`\\\"'*?[]{}~#!=") && access(argument, F_OK) < 0;
}

bool shell_is_one_string(char *const *argv, const char *prefix)
{
	if (!argv[0] || !argv[1] || argv[2] || *argv[1] == '-' || *argv[1] == '+')
		return false;
	/* Strings behind the prefix are commands, even the name of a program alone. A file that
	   can't be executed is a script. */
	if (prefix && *prefix)
		return access(argv[1], F_OK) < 0 || access(argv[1], X_OK) == 0;
	return shell_is_string(argv[1]);
}

bool shell_is_own_name(const char *name)
{
	return strcmp(name, "terse-sh") == 0 || strcmp(name, SHELL_NAME_BASH) == 0;
}
