// The environment the command gets: the caller's, but for what [environment] sets
// when output is captured, and TERSE_ACTIVE, by which terse inside terse knows itself.
#ifndef TERSE_PROCESS_ENVIRONMENT_H
#define TERSE_PROCESS_ENVIRONMENT_H

#include "config/settings.h"

#include <stdbool.h>

#define ENVIRONMENT_ACTIVE "TERSE_ACTIVE"

/* A NULL-terminated array whose strings belong to `from` and `s`; free() the
   array alone. `captured`: apply [environment]. NULL with errno ENOMEM. */
char **environment_make(char *const *from, const struct settings *s, bool captured);

#endif
