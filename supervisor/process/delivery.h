// Whether the reader of a run gets what is printed for it: the account in pieces as it takes them,
// how long it is waited for, and what is said on standard error where it did not get all.
//
// A reader may take as long as it likes, until somebody wants the run to end: then one that takes
// nothing for DELIVERY_STALL_MS is given up.
#ifndef TERSE_PROCESS_DELIVERY_H
#define TERSE_PROCESS_DELIVERY_H

#include "supervisor/process/record.h"
#include "supervisor/process/source.h"
#include "supervisor/process/summary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DELIVERY_STALL_MS 1000

struct delivery {
	/* The owner's, set by it. */
	const struct job *job;
	struct source *sources;
	struct record *record;
	struct summary summary; /* of the run, in a format other than text */
	/* Our own, zeroed. */
	int64_t stall_at; /* monotonic time when a reader that stalls is given up; 0: never */
	int instead;      /* status, as of waitpid, of a run whose reader was; 0: exit status 1 */
	size_t left;      /* bytes that waited at the last step */
	bool begun;       /* the command has ended */
	bool told;        /* that the reader did not get all */
};

/* Where the account goes, or NULL. */
struct queue *delivery_summary_queue(struct delivery *d);

/* Prints some more of the account if its reader takes it. Returns whether it did: then there may be
   no reason to wait for anything. */
bool delivery_print(struct delivery *d);

/* Somebody wants the run to end: a reader that stalls is given up from now on, or from the end of
   the command on if it ends of this (delivery_begin). `instead`: what the run then ends with if the
   command itself has succeeded, as from waitpid. */
void delivery_hurry(struct delivery *d, int64_t now_ms, int instead);

/* The same where `sig` was sent to the run, if that is a signal that is sent to end one. */
void delivery_signal(struct delivery *d, int64_t now_ms, int sig);

/* The command has ended, and all that is to be printed is queued. What was wanted of it more than
   `grace_ms` ago is not why. */
void delivery_begin(struct delivery *d, int64_t now_ms, int64_t grace_ms);

/* When delivery_step() is due next; 0: not before something happens. */
int64_t delivery_due(const struct delivery *d);

/* Whether nothing is left to be done for the reader: it has everything, or can't have it, and that
   was said. To be called after delivery_begin(), or when the command goes on without its reader. A
   text that was not delivered is spilled. */
bool delivery_step(struct delivery *d, int64_t now_ms);

/* What the run ends with, as from waitpid, where the command ended with `status`. */
int delivery_status(const struct delivery *d, int status);

/* The same as an exit code. */
int delivery_exit_code(const struct delivery *d, int status);

/* Says that text was lost because it could not be kept, if so. */
void delivery_tell_not_kept(struct delivery *d);

#endif
