// A call that does not come back is noticed; a person sees how far it is.

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/person.h"
#include "supervisor/reading/matcher.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <signal.h>

static volatile unsigned long count;
static volatile sig_atomic_t expired;

static void note(void *ctx)
{
	(void)ctx;
	expired++;
}

TEST(test_inside_too_long)
{
	sigset_t blocked, before;
	/* The state in which the caller may have left the signal. */
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGALRM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	struct time_limit d = {.count = &count, .seconds = 1, .expired = note};
	expired = 0;
	count = 1;
	assert_int_equal(time_limit_start(&d), 0);
	while (!expired)
		;
	time_limit_stop(&d);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* By spending processor time. */
static void wait_for_tick(const volatile struct time_limit *d)
{
	while (d->seen != count)
		;
}

/* Ticks that find it outside, or in another call, do not count. */
TEST(test_only_one_call)
{
	struct time_limit d = {.count = &count, .seconds = 1, .expired = note};
	expired = 0;
	count = 2;
	assert_int_equal(time_limit_start(&d), 0);
	raise(SIGALRM); /* somebody else's */
	for (int tick = 0; tick < 3; tick++) {
		wait_for_tick(&d);
		count += tick == 1 ? 1 : 2;
	}
	time_limit_stop(&d);
	assert_int_equal(expired, 0);
}

static void tell_progress(const void *ctx)
{
	struct progress p = {.on = true, .began_ms = clock_monotonic_ms() - 3600000};
	(void)ctx;
	progress_tell(&p, "searching: %u %%", 50);
	progress_end(&p);
	io_write(STDOUT_FILENO, "7:7\n", 4);
	progress_end(&p);
	io_write(STDOUT_FILENO, "8:8\n", 4);
	p.shown_ms -= 3600000;
	progress_tell(&p, "searching: %u %%", 75);
	progress_end(&p);
	progress_end(&p);
	/* Too early, and where no person waits. */
	progress_begin(&p);
	p.on = true;
	progress_tell(&p, "searching: %u %%", 75);
	p = (struct progress){.on = false};
	progress_tell(&p, "searching: %u %%", 75);
}

/* A match takes the line of the progress, which goes on below it. */
TEST(test_progress_and_matches)
{
	char got[200];
	assert_int_equal(child_run_output(tell_progress, NULL, got, sizeof(got)), 0);
	assert_string_equal(got, "\r\033[Ksearching: 50 %\r\033[K7:7\n8:8\n"
				 "\r\033[Ksearching: 75 %\r\033[K");
}

TEST_MAIN(NULL, NULL)
