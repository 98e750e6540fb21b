// What this library knows about itself in a process: found by its constructor, read only after it.
//
// Before the constructor, and for ever in a process in which it has nothing to do, it is not
// armed, and every call goes through untouched.
#ifndef TERSE_SHIM_LIBRARY_SELF_H
#define TERSE_SHIM_LIBRARY_SELF_H

/* The environment variables that this library reads (see libterse-shim.h). */
#define SELF_SHELL  "TERSE_SHIM_SHELL"
#define SELF_ACTIVE "TERSE_ACTIVE"

/* The absolute path of terse-sh. NULL: not armed. */
const char *self_shell(void);

/* The file name of this library, without its directory. */
const char *self_name(void);

#endif
