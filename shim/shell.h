// What a shell is needed for, and which one runs it.
#ifndef TERSE_SHIM_SHELL_H
#define TERSE_SHIM_SHELL_H

#include <stdbool.h>

/* The shell that runs a shell string: `configured` if not NULL, else bash where
   there is one, else sh. The result is `configured` or static. */
const char *shell_find(const char *configured);

/* Whether a command given as one argument is a shell string: it has a blank or shell
   syntax in it and no file has that name. */
bool shell_is_string(const char *argument);

/* Whether `word` as a command needs a shell: a builtin that no program stands for (cd, export,
   source ...) or an assignment (VAR=x). */
bool shell_is_builtin(const char *word);

#endif
