// What this library knows about itself in a process: found by its constructor, read only after it.
//
// Before the constructor, and for ever in a process in which it has nothing to do, it is not
// armed, and every call goes through untouched.
#ifndef TERSE_SHIM_LIBRARY_SELF_H
#define TERSE_SHIM_LIBRARY_SELF_H

/* The file name of this library: how it finds itself in LD_PRELOAD. */
#define SELF_NAME "libterse-shim.so"

/* The absolute path of terse-sh. NULL: not armed. */
const char *self_shell(void);
#endif
