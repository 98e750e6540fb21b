// Empties a store's outbox into the remote: archives first, then the index of those that have
// gone; one process at a time, in a loop until it is empty.
//
// After a run its supervisor does so, when nobody waits for it any more. If another process holds
// the lock, it archives its own run and leaves: the holder looks at the outbox again before it lets
// go. While the remote fails one process stays, tries again after 1 s, 2 s, 4 s ... up to 5 min,
// and leaves after an hour; then the next run or `terse push` goes on. SIGTERM makes it try once
// more at once, and leave.
#ifndef TERSE_REMOTE_MOVER_H
#define TERSE_REMOTE_MOVER_H

#include "supervisor/remote/outbox.h"

#include <stdbool.h>
#include <stdint.h>

struct mover_result {
	uint64_t pushed, left; /* runs */
	struct outbox_numbers dropped;
	bool index_left;      /* the index is not in the remote as it should be */
	char why[REMOTE_WHY]; /* something is left, "": nothing */
};

/* In a process that nobody waits for, with all signals blocked. */
void mover_stay(const struct outbox *o, const struct settings *settings);

/* Moves all there is, and what comes meanwhile: once or, with `until_ms` (monotonic), as often as
   there is time until then. Takes over from a process that only waits. */
void mover_run(const struct outbox *o, const struct settings *settings, int64_t until_ms,
	       struct mover_result *result);

/* What waits, for people. */
struct mover_state {
	struct outbox_state outbox;
	uint64_t failures;    /* of the remote, one after the other ... */
	char why[REMOTE_WHY]; /* ... the last for this reason; "": not known */
	bool index_left;
};
struct mover_state mover_look(const struct outbox *o);

/* Milliseconds to wait after so many failures. */
int64_t mover_delay(uint64_t failures);

#endif
