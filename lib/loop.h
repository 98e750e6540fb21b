// The one poll loop. At each turn its owner says again, according to its state, what it waits for:
//
//	struct loop l;
//	loop_begin(&l);
//	while (!over) {
//		loop_watch(&l, fd, POLLIN, on_input, ctx);
//		loop_until(&l, due_ms);
//		loop_turn(&l);
//	}
//
// A signal is a descriptor, too: signalfd(2).
#ifndef TERSE_LIB_LOOP_H
#define TERSE_LIB_LOOP_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#define LOOP_MOST 2048

struct loop {
	/* Filled from its end, so that a few descriptors use only one page. */
	struct {
		void (*ready)(void *ctx, short revents);
		void *ctx;
	} watches[LOOP_MOST];
	size_t count;
	int64_t until_ms;
	struct pollfd fds[LOOP_MOST];
};

/* Clears only the two members that need it: array entries that are never used stay untouched and
   cost no memory. A zeroed loop is valid, too. */
void loop_begin(struct loop *l);

/* For this turn: calls `ready` (NULL: it only ends the turn) when one of `events` comes, or an
   error or a hang-up. An `fd` of -1 is ignored, and so is one for which there is no room. */
void loop_watch(struct loop *l, int fd, short events, void (*ready)(void *ctx, short revents),
		void *ctx);

/* For `ready`: sets the bool at `ctx`. */
void loop_note(void *ctx, short revents);

/* Ends this turn at this monotonic time at the latest. If it is called several times, the earliest
   time counts. 0: no limit. */
void loop_until(struct loop *l, int64_t at_ms);

/* Waits, then calls what is ready in the order of loop_watch(). Returns how many descriptors are
   ready; 0 if the time limit has passed; -1 if a signal came. Where poll(2) fails (no memory, more
   descriptors than the limit), all count as ready a moment later. */
int loop_turn(struct loop *l);

#endif
