// The time after a run has told its end, while background processes still hold its output: how fast
// that is taken, and until when it is recorded.
#ifndef TERSE_PROCESS_LINGERING_H
#define TERSE_PROCESS_LINGERING_H

#include "config/settings.h"
#include "supervisor/process/pace.h"

#include <stdbool.h>
#include <stdint.h>

/* Zeroed until it begins. */
struct lingering {
	const struct settings *settings;
	int64_t end_at, idle_at; /* monotonic; 0: never */
	struct pace pace;
	char why[96]; /* the recording has ended; "": it goes on */
};

/* The end of the run was told, and its output is held. */
void lingering_begin(struct lingering *l, const struct settings *settings, int64_t now_ms);

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
