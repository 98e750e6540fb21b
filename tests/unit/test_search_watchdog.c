// A call that does not come back is noticed, and what was found before is printed.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/human.h"
#include "supervisor/command/search.h"
#include "supervisor/reading/matcher.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
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

static void test_what_is_said(void **state)
{
	(void)state;
	int ends[2];
	char got[200];
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct search s = {.time_limit = {.seconds = 10}};
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		buffer_append_string(&s.who, "terse search: x: gave up at line ");
		buffer_append_string(&s.listing.out, "1:found\n");
		search_give_up_now(&s);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 125);
	close(ends[1]);
	ssize_t n = read(ends[0], got, sizeof(got) - 1);
	assert_true(n > 0);
	got[n] = '\0';
	close(ends[0]);
	assert_string_equal(got,
			    "1:found\nterse search: x: gave up at line 0 or behind it: one line "
			    "takes over 10 s\n");
}

/* A match takes the line of the progress, which goes on below it. */
static void test_progress_and_matches(void **state)
{
	(void)state;
	int ends[2];
	char got[200];
	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct search s = {.size = 200, .began_ms = clock_monotonic_ms() - 3600000};
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		search_tell_progress(&s, 100);
		search_print(&s, "7:7\n", 4);
		search_print(&s, "8:8\n", 4);
		s.shown_ms -= 3600000;
		search_tell_progress(&s, 150);
		search_end_progress(&s);
		search_end_progress(&s);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	close(ends[1]);
	ssize_t n = read(ends[0], got, sizeof(got) - 1);
	assert_true(n > 0);
	got[n] = '\0';
	close(ends[0]);
	assert_string_equal(got, "\r\033[Ksearching: 50 %\r\033[K7:7\n8:8\n"
				 "\r\033[Ksearching: 75 %\r\033[K");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside_too_long),
		cmocka_unit_test(test_only_one_call),
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_progress_and_matches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
