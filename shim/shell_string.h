// Whether an argument is a shell string. Used without libc's state, by the launcher, too.
#ifndef TERSE_SHIM_SHELL_STRING_H
#define TERSE_SHIM_SHELL_STRING_H

#include <stdbool.h>

/* Whether a command that is one argument is a shell string: it has a blank or shell syntax, and no
   file has that name. */
bool shell_is_string(const char *argument);

/* The variable that Claude Code sets for whatever it starts through its shell prefix. */
#define SHELL_PREFIX "CLAUDE_CODE_SHELL_PREFIX"

/* Whether terse-sh, called so, was given one argument that is a shell string and not a file.
   `prefix`: the value of SHELL_PREFIX, or NULL. */
bool shell_is_one_string(char *const *argv, const char *prefix);

/* Whether a program of this name (without its directory) is terse as a shell. One of the two names
   has "bash" in it, because Claude Code accepts no other shells than bash and zsh. */
bool shell_is_own_name(const char *name);

#define SHELL_NAME_BASH "terse-bash"

#endif
