// A call that does not come back is noticed; a person sees how far it is.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/progress.h"
#include "supervisor/reading/matcher.h"
#include "tests/unit/child.h"

#include <signal.h>
#include <unistd.h>

static volatile unsigned long count;
static volatile sig_atomic_t expired;

static void note(void *ctx)
{
	(void)ctx;
	expired++;
}

static void test_inside_too_long(void **state)
{
	(void)state;
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
static void test_only_one_call(void **state)
{
	(void)state;
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
static void test_progress_and_matches(void **state)
{
	char got[200];
	(void)state;
	assert_int_equal(child_run_output(tell_progress, NULL, got, sizeof(got)), 0);
	assert_string_equal(got, "\r\033[Ksearching: 50 %\r\033[K7:7\n8:8\n"
				 "\r\033[Ksearching: 75 %\r\033[K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside_too_long),
		cmocka_unit_test(test_only_one_call),
		cmocka_unit_test(test_progress_and_matches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
