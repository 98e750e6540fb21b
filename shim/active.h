// TERSE_ACTIVE: by which a process knows that it is inside a run, which captures its output.
//
// It names the run: PID-TIME, the process that supervises it and a moment (clock ticks after the
// start of the machine) at which that was there, so that a later process of the same number is
// not taken for it. What outlives its run, and what has left it (a tmux server, a daemon), has
// the variable still; it is not inside.
#ifndef TERSE_SHIM_ACTIVE_H
#define TERSE_SHIM_ACTIVE_H

#include <stdbool.h>

#define ACTIVE_NAME "TERSE_ACTIVE"

/* Bytes of "TERSE_ACTIVE=" and its value. */
#define ACTIVE_SIZE 64

/* Writes NAME=VALUE for a run that this process supervises. */
void active_name(char entry[ACTIVE_SIZE]);

/* Whether this process is inside the run that `value` (may be NULL) names: below the supervisor,
   which lives. Believed where that can't be seen: no /proc, or a PID namespace made inside. */
bool active_is_inside(const char *value);

#endif
