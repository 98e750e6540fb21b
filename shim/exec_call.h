// Calls that execute a shell with a string, strings of system() and popen(), and LD_PRELOAD.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_EXEC_CALL_H
#define TERSE_SHIM_EXEC_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* The part behind the last slash. */
const char *shell_call_name(const char *path);

/* Whether a file of this name (without its directory) is a shell. */
bool shell_call_is_shell(const char *name);

/* The string that a shell with these arguments runs (`-c STRING`, `-lc STRING`,
   `-euo pipefail -c -- STRING` ...), which is one of argv. NULL if there is none, or if argv is
   NULL or empty. */
const char *shell_call_script(char *const *argv);

/* Set where files may be tool calls, or calls are watched: then every call of what runs files is
   for terse-sh, not only one with a string. */
#define SHIM_FILES "TERSE_SHIM_FILES"

/* The file that they name in place of a string, also those of python; NULL if there is none. */
const char *shell_call_file(char *const *argv);

/* Whether a file of this name runs such files. */
bool shell_call_runs_files(const char *name);

/* Whether it is a shell that is asked to be interactive (`-i`). */
bool shell_call_is_interactive(char *const *argv);

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

// The detour of system() and popen().
//
// libc starts `/bin/sh -c COMMAND` for them through internal symbols, which no library can
// interpose. So libc gets `exec /bin/sh -c 'COMMAND' sh`: its shell calls execve(), which is
// interposed, and becomes the shell that was meant, $0 included. Signals, cancellation,
// descriptors, pclose() and the status stay with libc. Where the shim does nothing, the command
// runs all the same.

/* Bytes that detour_write() writes for the command, with the NUL. 0: no detour, since a shell would
   read the command's start as an option. */
size_t detour_size(const char *command);

void detour_write(char *out, const char *command);

/* Writes the LD_PRELOAD `list` without the libraries of the file name `name`, in any directory, to
   `out`, which has room for the whole list. The other libraries and their separators stay. Returns
   whether it removed any. */
bool preload_remove(char *out, const char *list, const char *name);

#endif
