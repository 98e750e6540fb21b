// The environment the command gets: the caller's, but for what [environment] sets
// when output is captured, and TERSE_ACTIVE (shim/active.h).
#ifndef TERSE_PROCESS_ENVIRONMENT_H
#define TERSE_PROCESS_ENVIRONMENT_H

#include "config/settings.h"

#include <stdbool.h>

/* A NULL-terminated array whose strings belong to `from`, `s` and the caller; free() the
   array alone. `captured`: apply [environment]. `active`: the entry that is set in any case. NULL
   with errno ENOMEM. */
char **environment_make(char *const *from, const struct settings *s, bool captured, char *active);

#endif
