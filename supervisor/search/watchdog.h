// Notices that the program is inside one call for too long, where the call itself
// can't be told to end.
#ifndef TERSE_SEARCH_WATCHDOG_H
#define TERSE_SEARCH_WATCHDOG_H

#include <time.h>

struct watchdog {
	/* Set by the caller. `count` is odd while it is inside, and differs from call to call. */
	const volatile unsigned long *count;
	unsigned seconds;
	void (*expired)(void *ctx); /* called from a signal handler */
	void *ctx;

	timer_t timer;
	unsigned long seen;
	unsigned waited;
};

/* Looks once a second, by SIGALRM, until watchdog_stop(); *d must stay where it is. Returns 0,
   or -1 with errno. */
int watchdog_start(struct watchdog *d);
void watchdog_stop(struct watchdog *d);

#endif
