// A program and its arguments: is that a shell that runs a string?
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_EXEC_CALL_H
#define TERSE_SHIM_EXEC_CALL_H

#include <stdbool.h>
#include <stddef.h>

/* What follows the last slash. */
const char *shell_call_name(const char *path);

/* Whether a file of that name (the last component of a path) is taken for a shell. */
bool shell_call_is_shell(const char *name);

/* The string that a shell runs which is called with these arguments (`-c STRING`, `-lc STRING`,
   `-euo pipefail -c -- STRING` ...): one of argv's. NULL if it runs none, or if the string is
   missing, or if argv is NULL or empty. */
const char *shell_call_script(char *const *argv);

// How a string given to system() or popen() gets to an exec that can be seen.
//
// libc starts `/bin/sh -c COMMAND` for these through internal names that no other library can
// take the place of. So that shell is given `exec /bin/sh -c 'COMMAND' sh`: it becomes, by an
// execve() that is seen, the shell that libc would have started, $0 included. Signals,
// cancellation, descriptors, pclose() and the status stay libc's own business, and where the
// shim is not loaded or does nothing the command runs as it would have.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.

/* Bytes that detour_write() writes for the command, its NUL included. 0 if the command is not to
   take the detour: a shell would read its start as an option. */
size_t detour_size(const char *command);

void detour_write(char *out, const char *command);

// The value of LD_PRELOAD: libraries, with colons or blanks between them.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.

/* Writes `list` without the libraries whose file name is `name`, in whatever directory, to `out`,
   which has room for the whole list. The others, their order and what stands between them stay.
   Returns whether there were any. */
bool preload_remove(char *out, const char *list, const char *name);

#endif
