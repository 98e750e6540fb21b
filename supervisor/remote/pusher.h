// Pushes what waits in a store's spool: up to push_jobs uploads at a time, by one process.
//
// After a run its supervisor becomes the pusher, when nobody waits for it any more. If another
// process holds the lock, it packs its own run and leaves: the holder looks at the spool again
// before it lets go. While uploads fail one process stays, tries again after 1 s, 2 s, 4 s ... up
// to 5 min, and leaves after an hour; then the next run or `terse push` goes on. SIGTERM makes it
// try once more at once, and leave.
#ifndef TERSE_REMOTE_PUSHER_H
#define TERSE_REMOTE_PUSHER_H

#include "supervisor/remote/spool.h"
#include "supervisor/remote/transfer.h"

#include <stdint.h>

struct pusher_result {
	uint64_t pushed, left; /* runs */
	struct spool_numbers dropped;
	unsigned unpacked;      /* runs that could not be packed ... */
	int error;              /* ... the last for this reason */
	bool busy;              /* another process is pushing */
	bool late;              /* the time was over */
	bool index_left;        /* the index is not in the remote as it should be */
	char why[TRANSFER_WHY]; /* the last failure, "": none */
};

/* In a process that nobody waits for, with all signals blocked. */
void pusher_stay(const struct spool *s, const struct settings *settings);

/* Pushes all there is, and what comes meanwhile: once each or, with `until_ms` (monotonic), as
   often as there is time until then. Takes over from a process that only waits. Returns 0, or -1
   with errno (the settings). */
int pusher_run(const struct spool *s, const struct settings *settings, int64_t until_ms,
	       struct pusher_result *result);

/* What waits, for people. */
struct pusher_state {
	uint64_t runs, bytes;
	int64_t oldest_ms;      /* start of the first of them, real time */
	uint64_t failures;      /* of the remote, one after the other ... */
	char why[TRANSFER_WHY]; /* ... the last for this reason; "": not known */
	bool index_left;
};
struct pusher_state pusher_look(const struct spool *s);

/* Milliseconds to wait after so many failures. */
int64_t pusher_delay(uint64_t failures);

#endif
