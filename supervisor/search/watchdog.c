// See watchdog.h.

#include "supervisor/search/watchdog.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

static void watchdog_look(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	struct watchdog *d = info->si_value.sival_ptr;
	/* Somebody else's SIGALRM. */
	if (info->si_code != SI_TIMER || !d)
		return;
	unsigned long now = *d->count;
	d->waited = now % 2 == 1 && now == d->seen ? d->waited + 1 : 0;
	d->seen = now;
	if (d->waited == d->seconds) {
		int saved = errno;
		d->expired(d->ctx);
		errno = saved;
	}
}

int watchdog_start(struct watchdog *d)
{
	struct sigaction action = {.sa_sigaction = watchdog_look,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
	const struct itimerspec every = {{.tv_sec = 1}, {.tv_sec = 1}};
	sigset_t alarm;
	event.sigev_value.sival_ptr = d;
	sigemptyset(&action.sa_mask);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	/* It may be blocked or ignored by whoever started us. */
	if (sigaction(SIGALRM, &action, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &alarm, NULL) < 0 ||
	    timer_create(CLOCK_MONOTONIC, &event, &d->timer) < 0)
		return -1;
	return timer_settime(d->timer, 0, &every, NULL);
}

void watchdog_stop(struct watchdog *d)
{
	timer_delete(d->timer);
}
