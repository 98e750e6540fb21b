// What a shell is needed for, and which one runs it.
#ifndef TERSE_SHIM_SHELL_H
#define TERSE_SHIM_SHELL_H

#include <stdbool.h>

/* The shell that runs a shell string: `configured` if not NULL, else bash where
   there is one, else sh. The result is `configured` or static. */
const char *shell_find(const char *configured);

/* Whether a program of this name (without a directory) is terse as a shell. Two names, since Claude
   Code takes only a shell for one whose path has "bash" or "zsh" in it. */
bool shell_is_own_name(const char *name);

/* The user's own shell, for a process that stands in its place: `configured`, else SHELL, else what
   /etc/passwd says, else what shell_find() finds; never terse-sh under any name. `strings`: it has
   to read what is written for sh and bash, as shells for agents are. Writes into `room` (PATH_MAX
   bytes) or returns `configured`, a variable's value or a constant. */
const char *shell_real(const char *configured, bool strings, char *room);

/* Whether a command given as one argument is a shell string: it has a blank or shell
   syntax in it and no file has that name. */
bool shell_is_string(const char *argument);

/* Whether `word` as a command needs a shell: a builtin that no program stands for (cd, export,
   source ...) or an assignment (VAR=x). */
bool shell_is_builtin(const char *word);

#endif
