// remote = file:/DIR: objects as files below a directory, such as a shared mount.
//
// The directory has to be there, so that a mount that is missing is an error. What is made in it
// gets its permissions: in a directory of mode 0750 a file has 0640. An object appears whole, under
// its name, or not at all.
#ifndef TERSE_REMOTE_DIRECTORY_H
#define TERSE_REMOTE_DIRECTORY_H

#include "supervisor/remote/remote.h"

/* Does the work for one object. Returns 0, or -1 with errno after a line on standard error; ENOENT:
   the directory is there, the object is not. */
int directory_move(const char *directory, enum remote_work work,
		   const struct remote_object *object);

#endif
