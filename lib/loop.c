// See loop.h.

#include "lib/loop.h"

#include "lib/human.h"
#include "lib/io.h"

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
	l->watches[l->count].ready = ready;
	l->watches[l->count++].ctx = ctx;
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
	const int64_t most = 1000000;
	int64_t wait = -1;
	if (l->until_ms) {
		wait = l->until_ms - clock_monotonic_ms();
		wait = wait < 0 ? 0 : wait > most ? most : wait;
	}
	const size_t count = l->count;
	int ready = io_poll(l->fds, count, (int)wait);
	loop_begin(l);
	for (size_t i = 0; ready > 0 && i < count; i++) {
		if (l->fds[i].revents && l->watches[i].ready)
			l->watches[i].ready(l->watches[i].ctx, l->fds[i].revents);
	}
	return ready;
}
