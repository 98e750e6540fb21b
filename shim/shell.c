// See shell.h.

#include "shim/shell.h"

#include <stddef.h>
#include <string.h>
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

bool shell_is_string(const char *argument)
{
	return strpbrk(argument, " \t\n|&;<>()$`\\\"'*?[]{}~#!=") && access(argument, F_OK) < 0;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"

/* NAME=, NAME+= or NAME[...]= */
static bool is_assignment(const char *word)
{
	const char *end = word + strspn(word, LETTERS "0123456789");
	if (end == word || !strchr(LETTERS, *word))
		return false;
	if (*end == '[')
		end += strcspn(end, "]=");
	if (*end == ']' || *end == '+')
		end++;
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
	if (is_assignment(word))
		return true;
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++) {
		if (strcmp(word, builtins[i]) == 0)
			return true;
	}
	return false;
}
