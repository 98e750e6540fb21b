// See clock.h.

#include "supervisor/base/clock.h"

#include <time.h>

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_monotonic_ms(void)
{
	return now(CLOCK_MONOTONIC);
}

int64_t clock_real_ms(void)
{
	return now(CLOCK_REALTIME);
}
