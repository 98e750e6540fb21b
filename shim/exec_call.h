// Recognises calls that execute a shell with a string; rewrites strings of system() and popen(),
// and LD_PRELOAD.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_EXEC_CALL_H
#define TERSE_SHIM_EXEC_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* The part after the last slash. */
const char *shell_call_name(const char *path);

/* Whether a file of this name (without its directory) is a shell. */
bool shell_call_is_shell(const char *name);

/* Which of the arguments is the string that the shell runs (`-c STRING`, `-lc STRING`, `-euo
   pipefail -c -- STRING` ...). NULL: there is no such argument, or argv is NULL or empty. */
const char *shell_call_script(char *const *argv);

/* If this variable is set, terse-sh gets every call of a program that runs files, not only calls
   with a string. terse agent sets it for agents that run files or type into a shell, and for terse
   probe. */
#define SHIM_FILES "TERSE_SHIM_FILES"

/* The script file that the arguments of a shell or of python name; NULL if they name none. */
const char *shell_call_file(char *const *argv);

/* Whether a program of this file name is a shell or python, which run files. */
bool shell_call_runs_files(const char *name);

/* Whether these are the arguments of an interactive shell (`-i`). */
bool shell_call_is_interactive(char *const *argv);

/* Whether a command of one argument is a shell string: it has a blank or shell syntax and is not
   the name of a file. */
bool shell_is_string(const char *argument);

/* The variable that Claude Code sets for every process that it starts through its shell prefix. */
#define SHELL_PREFIX "CLAUDE_CODE_SHELL_PREFIX"

/* Whether this is a call of terse-sh with one argument that is a shell string and not a file.
   `prefix`: the value of SHELL_PREFIX, or NULL. */
bool shell_is_one_string(char *const *argv, const char *prefix);

/* Whether this is a name (without a directory) of terse as a shell. One of the two names has "bash"
   in it, because Claude Code accepts no other shells than bash and zsh. */
bool shell_is_own_name(const char *name);

#define SHELL_NAME_BASH "terse-bash"

// The detour of system() and popen().
//
// libc starts `/bin/sh -c COMMAND` for them through internal symbols, which no library can
// interpose. So the library passes `exec /bin/sh -c 'COMMAND' sh` to libc. The shell that libc
// starts calls execve(), which is interposed, and becomes the shell for COMMAND, with the same $0.
// Signals, cancellation, descriptors, pclose() and the status stay with libc. If execve() is not
// interposed after all, the command still runs.

/* Bytes that detour_write() writes for the command, with the NUL. 0: no detour is possible, since
   the command begins like an option. */
size_t detour_size(const char *command);

void detour_write(char *out, const char *command);

/* Copies the LD_PRELOAD `list` to `out`, which has room for the whole list. Leaves out libraries
   with the file name `name`, in any directory; the other libraries and their separators stay.
   Returns whether it removed any. */
bool preload_remove(char *out, const char *list, const char *name);

#endif
