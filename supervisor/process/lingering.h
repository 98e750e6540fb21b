// The time after the end of a run was reported, while background processes still hold its output:
// how fast that output is read, until when it is recorded, and what becomes of it then.
#ifndef TERSE_PROCESS_LINGERING_H
#define TERSE_PROCESS_LINGERING_H

#include "config/settings.h"
#include "supervisor/process/process_tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Bytes that are read as fast as they come, then bytes a second. Background processes that write
   more wait in their writes, so a flood costs neither processor nor disk. */
#define RATE_LIMIT_BURST ((int64_t)16 * 1024 * 1024)
#define RATE_LIMIT_RATE  ((int64_t)1024 * 1024)

/* Zeroed: nothing was read yet. */
struct rate_limit {
	int64_t used;  /* bytes that count against the burst ... */
	int64_t at_ms; /* ... at this monotonic time */
};

/* `bytes` were read. */
void rate_limit_take(struct rate_limit *p, uint64_t bytes, int64_t now_ms);

/* Milliseconds until more may be read; 0: now. */
int64_t rate_limit_wait(const struct rate_limit *p, int64_t now_ms);

/* Reads and drops what background processes write when nobody records it any more, so that their
   writes neither fail nor wait for ever. Returns when the other side has closed the last of `fds`
   (non-blocking pty masters or pipes, or -1), which it closes. Needs no memory. */
void discard_output(int fds[2]);

#define LINGERING_HOLDERS 16

/* Zeroed until it begins. */
struct lingering {
	/* Who holds the output when the command has ended, the first ones, and in words: "tee still
	   writes", "" if nobody can be seen. */
	struct pipe_holder holders[LINGERING_HOLDERS];
	int count;
	char who[96];
	const struct settings *settings;
	int64_t end_at, idle_at; /* monotonic; 0: never */
	struct rate_limit pace;
	char why[96]; /* why the recording has ended; "": it goes on */
};

/* The command has ended: finds out who holds `fds`, our ends of its output, or -1. */
void lingering_look(struct lingering *l, const int fds[2]);

/* Whether one of them only works off what was written to it, so that it ends soon: its standard
   input is a pipe that nobody can write to any more, and not `input`, which was the command's. Or
   `just_ended`: it was forked and has executed no program yet, which may be on its way. */
bool lingering_finishes(const struct lingering *l, const struct stat *input, bool just_ended);

/* The end of the run was reported, and its output is held. */
void lingering_begin(struct lingering *l, const struct settings *settings, int64_t now_ms);

/* Whether it has begun: text may have come since the end was reported. */
bool lingering_has_begun(const struct lingering *l);

/* Output came. */
void lingering_came(struct lingering *l, uint64_t bytes, int64_t now_ms);

/* Whether reading has to pause. */
bool lingering_is_paused(const struct lingering *l, int64_t now_ms);

/* Ends it as soon as it can, also before it has begun; `why` is for the text. */
void lingering_end(struct lingering *l, const char *why);

/* When to ask lingering_is_over() again; 0: not before something happens. */
int64_t lingering_due(const struct lingering *l, int64_t now_ms);

/* Whether the recording ends now, for the reason in l->why. `fds`: our ends of what is held, or
   -1. */
bool lingering_is_over(struct lingering *l, const int fds[2], int64_t now_ms);

#endif
