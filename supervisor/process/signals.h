// Signal state: what the caller had set, what terse does with it, and how a
// process ends the way another one did.
#ifndef TERSE_PROCESS_SIGNALS_H
#define TERSE_PROCESS_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* The mask and the dispositions a process was started with. */
struct signals {
	sigset_t mask;
	sigset_t ignored; /* of the signals terse changes */
};

/* Saves the caller's state and blocks the signals that terse handles itself. */
void signals_take(struct signals *saved);

/* In the command's process before exec: everything as the caller had it. */
void signals_restore(const struct signals *saved);

/* The signals the front end passes on, blocked since signals_take(); those that the caller ignores
   are left out, as the kernel drops them. */
void signals_forwarded(const struct signals *saved, sigset_t *set);

/* Ends this process as `status` (from waitpid) tells: the same exit code, or by the same signal
   without a core dump of its own. */
_Noreturn void signals_end_like(int status);

#endif
