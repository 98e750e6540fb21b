// The value of LD_PRELOAD: libraries, with colons or blanks between them.
//
// Part of libterse-shim.so: no allocation, no state, async-signal-safe.
#ifndef TERSE_SHIM_PRELOAD_H
#define TERSE_SHIM_PRELOAD_H

#include <stdbool.h>

/* Writes `list` without the libraries whose file name is `name`, in whatever directory, to `out`,
   which has room for the whole list. The others, their order and what stands between them stay.
   Returns whether there were any. */
bool preload_remove(char *out, const char *list, const char *name);

#endif
