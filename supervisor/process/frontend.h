// The process that was typed: it starts supervisor and watchdog, waits, passes signals on, reads
// the person's keyboard, and ends as the command did.
#ifndef TERSE_PROCESS_FRONTEND_H
#define TERSE_PROCESS_FRONTEND_H

#include "supervisor/process/job.h"

/* Runs the job and ends this process with the command's status. Returns only when the command could
   not be executed: its errno, which the caller reports. */
int frontend_run(struct job *job);

/* Runs the command in this process, without terse. Returns errno on failure. */
int frontend_exec(const struct job *job);

#endif
