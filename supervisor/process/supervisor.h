// The process that owns the pty: it starts the command, reads what it writes,
// renders, spills and prints, answers queries, passes signals on, ends everything when
// the front end dies, and outlives it while background processes still write.
#ifndef TERSE_PROCESS_SUPERVISOR_H
#define TERSE_PROCESS_SUPERVISOR_H

#include "supervisor/process/job.h"

/* Runs in the supervisor's process, which it ends. `front` is its end of the socket pair
   (protocol.h), `watchdog` the write end of the watchdog's pipe or -1. */
_Noreturn void supervisor_run(const struct job *job, int front, int watchdog);

#endif
