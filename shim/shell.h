// Which commands need a shell, and which shell runs them.
#ifndef TERSE_SHIM_SHELL_H
#define TERSE_SHIM_SHELL_H

#include <stdbool.h>

/* Returns the shell for shell strings: `configured` unless that is NULL, else bash if it is
   installed, else sh. The result is `configured` or static. */
const char *shell_find(const char *configured);

/* The user's shell, for a process that replaces it: `configured`, else SHELL, else shell_find()'s;
   never terse-sh under any name. `strings`: the shell has to understand scripts for sh and bash.
   Returns `configured`, a variable's value or a constant. */
const char *shell_real(const char *configured, bool strings);

/* Whether the word is NAME=..., NAME+=... or NAME[...]=... */
bool shell_is_assignment(const char *word);

/* Whether the command `word` needs a shell: a builtin without a program of that name (cd, export,
   source ...), or an assignment (VAR=x). */
bool shell_is_builtin(const char *word);

#endif
