// A pager for a person, as git starts one: $TERSE_PAGER, else $PAGER, else less; none where that is
// empty or "cat", or where standard output is no terminal. less gets LESS=FRX unless it is set, so
// what fits on the screen is just printed.
#ifndef TERSE_COMMAND_PAGER_H
#define TERSE_COMMAND_PAGER_H

#include <sys/types.h>

/* Makes standard output a pipe to the pager. Returns its process, or 0: there is none, and standard
   output is as it was. */
pid_t pager_start(void);

/* Waits until the person has left it. `pager` may be 0. */
void pager_end(pid_t pager);

#endif
