// How fast the output of background processes is taken once the command has ended: as fast as it
// comes, until it is a flood. Then they wait in their writes, and nobody pays for it with a
// processor or a disk.
#ifndef TERSE_PROCESS_LINGERING_H
#define TERSE_PROCESS_LINGERING_H

#include "config/settings.h"

#include <stdbool.h>
#include <stdint.h>

/* So much at once, and then so much a second. */
#define PACE_BURST ((int64_t)16 * 1024 * 1024)
#define PACE_RATE  ((int64_t)1024 * 1024)

/* Zeroed: nothing was taken yet. */
struct pace {
	int64_t taken; /* bytes that count against the burst ... */
	int64_t at_ms; /* ... at this monotonic time */
};

/* So many bytes were taken. */
void pace_take(struct pace *p, uint64_t bytes, int64_t now_ms);

/* Milliseconds until more may be taken; 0: now. */
int64_t pace_wait(const struct pace *p, int64_t now_ms);

// Reads what background processes still write when nobody records it any more, so that a write of
// theirs does not fail or wait for ever, and drops it.

/* Until the last of `fds` (non-blocking pty masters or pipes, or -1) is closed by the other side;
   closes them. To be called when all else was let go: it needs no memory. */
void discard_all(int fds[2]);

// The time after a run has told its end, while background processes still hold its output: how fast
// that is taken, and until when it is recorded.

/* Zeroed until it begins. */
struct lingering {
	const struct settings *settings;
	int64_t end_at, idle_at; /* monotonic; 0: never */
	struct pace pace;
	char why[96]; /* the recording has ended; "": it goes on */
};

/* The end of the run was told, and its output is held. */
void lingering_begin(struct lingering *l, const struct settings *settings, int64_t now_ms);

/* Whether it has begun: text may have come since the end was reported. */
bool lingering_has_begun(const struct lingering *l);

/* Output came. */
void lingering_came(struct lingering *l, uint64_t bytes, int64_t now_ms);

/* Whether nothing may be read for now. */
bool lingering_is_paused(const struct lingering *l, int64_t now_ms);

/* Somebody wants it to end as soon as it can, also before it has begun. */
void lingering_end(struct lingering *l);

/* When lingering_is_over() has to be asked again; 0: not before something happens. */
int64_t lingering_due(const struct lingering *l, int64_t now_ms);

/* Whether the recording ends now; then l->why tells why. `fds`: our ends of what is held, or -1. */
bool lingering_is_over(struct lingering *l, const int fds[2], int64_t now_ms);

#endif
