// For files that include glibc's header of this name.
#ifndef TERSE_LIB_MUSL_SYS_PIDFD_H
#define TERSE_LIB_MUSL_SYS_PIDFD_H

#include "lib/musl/libc.h"

#endif
