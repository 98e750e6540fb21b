// Delivers the output of a run to its reader: hands out the summary as the reader takes it, decides
// how long to wait, and reports on standard error that the reader did not get all.
//
// A reader may take as long as it likes until somebody wants the run to end. From then on one that
// takes nothing for DELIVERY_STALL_MS is given up.
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
	/* Set by the owner. */
	const struct job *job;
	struct source *sources;
	struct record *record;
	struct summary summary; /* of the run, in a format other than text */
	/* Private, zeroed. */
	int64_t stall_at; /* monotonic time when a reader that stalls is given up; 0: never */
	int instead;      /* wait status of a run whose reader was given up; 0: exit status 1 */
	size_t left;      /* bytes that waited at the last step */
	bool begun;       /* the command has ended */
	bool reported;    /* that the reader did not get all */
};

/* Where the summary goes, or NULL. */
struct output_queue *delivery_summary_queue(struct delivery *d);

/* Prints the next piece of the summary if its reader takes it. Returns whether it did; the owner
   then need not wait before its next turn. */
bool delivery_print(struct delivery *d);

/* Somebody wants the run to end: a reader that stalls is given up from now on, or from the end of
   the command on if it ends for this reason (delivery_begin()). `instead`: the wait status of the
   run then, if the command itself has succeeded. */
void delivery_hurry(struct delivery *d, int64_t now_ms, int instead);

/* Whether this signal is meant to end a run. */
bool delivery_is_end(int sig);

/* The same after `sig` was sent to the run, if that signal is meant to end it. */
void delivery_signal(struct delivery *d, int64_t now_ms, int sig);

/* The command has ended, and everything is queued. A wish to end it that is older than `grace_ms`
   is not the reason. */
void delivery_begin(struct delivery *d, int64_t now_ms, int64_t grace_ms);

/* When delivery_step() is due next; 0: not before something happens. */
int64_t delivery_due(const struct delivery *d);

/* Returns whether nothing is left to do for the reader: it has everything, or can't have it, and
   that was said. Call it after delivery_begin(), or when the command goes on without its reader. A
   text that was not delivered is spilled. */
bool delivery_step(struct delivery *d, int64_t now_ms);

/* The wait status of the run where the command ended with `status`. */
int delivery_status(const struct delivery *d, int status);

/* The same as an exit code. */
int delivery_exit_code(const struct delivery *d, int status);

/* Reports text that was lost because it could not be kept, if there is any. */
void delivery_report_not_kept(struct delivery *d);

#endif
