// Signal state: what the caller had set, what terse does with it, and how a
// process ends the way another one did.
#ifndef TERSE_PROCESS_SIGNALS_H
#define TERSE_PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* The mask a process was started with, and the one disposition that terse changes. */
struct signals {
	sigset_t mask;
	bool children_ignored;
};

/* Saves the caller's state and blocks every signal: terse's processes are ended by none of them,
   and the front end passes them on. */
void signals_take(struct signals *saved);

/* In the command's process before exec: everything as the caller had it. */
void signals_restore(const struct signals *saved);

/* Ends this process as `status` (from waitpid) tells: the same exit code, or by the same signal
   without a core dump of its own. */
_Noreturn void signals_end_like(int status);

#endif
