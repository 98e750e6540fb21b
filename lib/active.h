// TERSE_ACTIVE: the variable that tells a process that it is inside a run, which captures its
// output.
//
// Its value is PID-TIME: the supervisor's process ID, and a time (in clock ticks since boot) at
// which the supervisor existed, so that no later process with the same PID is mistaken for it. The
// value ends with "-person" if a person sees the output. Processes that outlive or leave their run
// (daemons, a tmux server) keep the variable, but are not inside.
#ifndef TERSE_LIB_ACTIVE_H
#define TERSE_LIB_ACTIVE_H

#include <stdbool.h>
#include <sys/types.h>

#define ACTIVE_NAME "TERSE_ACTIVE"

/* Room for "TERSE_ACTIVE=" and its value. */
#define ACTIVE_SIZE 64

/* Writes NAME=VALUE for a run that process `supervisor` is about to supervise. `person`: a person
   sees its output live. */
void active_name(char entry[ACTIVE_SIZE], pid_t supervisor, bool person);

/* Whether this process is inside the run that `value` names: a descendant of the run's live
   supervisor. True where that can't be checked: without /proc, and in a PID namespace that was made
   inside the run. */
bool active_is_inside(const char *value);

/* Whether `value` says that a person sees the output of its run live. */
bool active_has_person(const char *value);

#endif
