// Whether a command is one of terse's own, that looks at what other runs have left.
#ifndef TERSE_CONFIG_LOOK_H
#define TERSE_CONFIG_LOOK_H

#include <stdbool.h>

/* Whether `argv` (NULL-terminated), or the shell string in it, runs a verb of terse, as in
   `cd web && terse read last | grep error`, and no other command but such that read its output or
   print next to nothing. */
bool look_is(char *const argv[]);

#endif
