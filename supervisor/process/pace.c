// See pace.h.

#include "supervisor/process/pace.h"

/* What is waited for is worth a wake-up. */
#define LEAST (PACE_RATE / 10)

static int64_t taken_at(const struct pace *p, int64_t now_ms)
{
	int64_t over = (now_ms - p->at_ms) * (PACE_RATE / 1000);
	return p->taken > over ? p->taken - over : 0;
}

void pace_take(struct pace *p, uint64_t bytes, int64_t now_ms)
{
	p->taken = taken_at(p, now_ms) + (int64_t)bytes;
	p->at_ms = now_ms;
}

int64_t pace_wait(const struct pace *p, int64_t now_ms)
{
	int64_t taken = taken_at(p, now_ms);
	return taken < PACE_BURST ? 0 : (taken - PACE_BURST + LEAST) / (PACE_RATE / 1000);
}
