// remote = file:/DIR: objects as files below a directory, such as a shared mount.
//
// The directory has to be there, so that a mount that is missing is an error. What is made in it
// gets its permissions: in a directory of mode 0750 a file has 0640. An object appears whole, under
// its name, or not at all.
#ifndef TERSE_REMOTE_DIRECTORY_H
#define TERSE_REMOTE_DIRECTORY_H

#include "supervisor/remote/remote.h"

/* Does the work. Returns 0, or -1 with errno after a line on standard error; ENOENT: the directory
   is there, the object or the day is not. */
int directory_run(const char *directory, const struct remote_call *call);

/* Calls `each` for the regular files below the directory `path`, with its path and with what of it
   is behind the first `top` bytes (0: behind `path`), until it returns other than 0. Returns that,
   or -1 with errno. */
int directory_walk(const char *path, size_t top,
		   int (*each)(void *ctx, const char *file, const char *below), void *ctx);

/* How many there are; -1 with errno: not known. */
int64_t directory_count(const char *path);

#endif
