// See shell.h.

#include "shim/shell.h"

#include "shim/exec_call.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *shell_find(const char *configured)
{
	static const char *const candidates[] = {"/bin/bash", "/usr/bin/bash",
						 "/usr/local/bin/bash"};
	if (configured && *configured)
		return configured;
	for (size_t i = 0; i < sizeof(candidates) / sizeof(*candidates); i++) {
		if (access(candidates[i], X_OK) == 0)
			return candidates[i];
	}
	return "/bin/sh";
}

static bool is_usable(const char *path, bool strings)
{
	const char *name = path ? shell_call_name(path) : "";
	struct stat own, other;
	char real[PATH_MAX];
	if (*name == '\0' || shell_is_own_name(name) || access(path, X_OK) < 0)
		return false;
	/* The file may be this program, or a link to a launcher, which would execute this
	   program. */
	if (stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
	    own.st_dev == other.st_dev && own.st_ino == other.st_ino)
		return false;
	if (lstat(path, &other) == 0 && S_ISLNK(other.st_mode) && realpath(path, real) &&
	    shell_is_own_name(shell_call_name(real)))
		return false;
	return !strings || (shell_call_is_shell(name) && strcmp(name, "fish") != 0);
}

const char *shell_real(const char *configured, bool strings)
{
	const char *own = getenv("SHELL");
	return is_usable(configured, strings) ? configured
	       : is_usable(own, strings)      ? own
					      : shell_find(NULL);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

bool shell_is_assignment(const char *word)
{
	const char *end = word + strspn(word, LETTERS "0123456789");
	if (end == word || !strchr(LETTERS, *word))
		return false;
	if (*end == '[') {
		end += strcspn(end, "]");
		end += *end == ']';
	}
	end += *end == '+';
	return *end == '=';
}

bool shell_is_builtin(const char *word)
{
	static const char *const builtins[] = {
		".",     "alias",   "bg",     "bind",    "builtin", "cd",     "command", "declare",
		"dirs",  "disown",  "eval",   "exec",    "exit",    "export", "fg",      "for",
		"hash",  "if",      "jobs",   "local",   "popd",    "pushd",  "return",  "set",
		"shift", "shopt",   "source", "suspend", "trap",    "type",   "typeset", "ulimit",
		"umask", "unalias", "unset",  "until",   "wait",    "while",
	};
	if (shell_is_assignment(word))
		return true;
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		if (strcmp(word, builtins[i]) == 0)
			return true;
	}
	return false;
}
