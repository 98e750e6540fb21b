// See loop.h.

#include "lib/loop.h"

#include "lib/human.h"

#include <errno.h>
#include <stdbool.h>
#include <time.h>

void loop_begin(struct loop *l)
{
	l->count = 0;
	l->until_ms = 0;
}

void loop_watch(struct loop *l, int fd, short events, void (*ready)(void *ctx, short revents),
		void *ctx)
{
	if (fd < 0 || l->count == LOOP_MOST)
		return;
	l->fds[l->count] = (struct pollfd){.fd = fd, .events = events};
	l->count++;
	l->watches[LOOP_MOST - l->count].ready = ready;
	l->watches[LOOP_MOST - l->count].ctx = ctx;
}

void loop_note(void *ctx, short revents)
{
	*(bool *)ctx = revents;
}

void loop_until(struct loop *l, int64_t at_ms)
{
	if (at_ms && (!l->until_ms || at_ms < l->until_ms))
		l->until_ms = at_ms;
}

int loop_turn(struct loop *l)
{
	const struct timespec moment = {.tv_nsec = 20 * 1000 * 1000};
	const int64_t most = 1000000;
	int64_t wait = -1;
	if (l->until_ms) {
		wait = l->until_ms - clock_monotonic_ms();
		wait = wait < 0 ? 0 : wait > most ? most : wait;
	}
	const size_t count = l->count;
	int ready = poll(l->fds, count, (int)wait);
	/* Waits a moment, so that a caller's loop neither hangs nor spins. */
	if (ready < 0 && errno != EINTR) {
		nanosleep(&moment, NULL);
		for (ready = 0; ready < (int)count; ready++)
			l->fds[ready].revents = l->fds[ready].events;
	}
	l->count = 0;
	l->until_ms = 0;
	for (size_t i = 0; ready > 0 && i < count; i++) {
		const size_t k = LOOP_MOST - 1 - i;
		if (l->fds[i].revents && l->watches[k].ready)
			l->watches[k].ready(l->watches[k].ctx, l->fds[i].revents);
	}
	return ready;
}
