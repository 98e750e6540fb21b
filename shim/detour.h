// How a string given to system() or popen() gets to an exec that can be seen.
//
// libc starts `/bin/sh -c COMMAND` for these through internal names that no other library can
// take the place of. So that shell is given `exec /bin/sh -c 'COMMAND' sh`: it becomes, by an
// execve() that is seen, the shell that libc would have started, $0 included. Signals,
// cancellation, descriptors, pclose() and the status stay libc's own business, and where the
// shim is not loaded or does nothing the command runs as it would have.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_DETOUR_H
#define TERSE_SHIM_DETOUR_H

#include <stddef.h>

/* Bytes that detour_write() writes for the command, its NUL included. 0 if the command is not to
   take the detour: a shell would read its start as an option. */
size_t detour_size(const char *command);

void detour_write(char *out, const char *command);

#endif
