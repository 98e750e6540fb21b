// Background processes that still write after the end of a run was reported: how fast their output
// is read, how long it is recorded, and what happens to it then.

#include "config/option.h"
#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <pty.h>
#include <termios.h>

#define SECOND ((int64_t)1000)

TEST(a_flood_is_slowed)
{
	struct rate_limit p = {0};
	int64_t now = 5 * SECOND, taken = RATE_LIMIT_BURST;
	assert_int_equal(rate_limit_wait(&p, now), 0);
	rate_limit_take(&p, RATE_LIMIT_BURST - 1, now);
	assert_int_equal(rate_limit_wait(&p, now), 0);
	rate_limit_take(&p, 1, now);
	assert_true(rate_limit_wait(&p, now) > 0);
	/* As in a flood: everything that may be read is read, 64 KB at a time. */
	for (int64_t end = now + 3600 * SECOND; now < end; now += rate_limit_wait(&p, now)) {
		rate_limit_take(&p, 65536, now);
		taken += 65536;
	}
	assert_true(taken <= RATE_LIMIT_BURST + 3601 * RATE_LIMIT_RATE);
	assert_true(taken >= RATE_LIMIT_BURST + 3500 * RATE_LIMIT_RATE);
}

TEST(a_log_is_not)
{
	struct rate_limit p = {0};
	for (int64_t now = SECOND; now < 3600 * SECOND; now += SECOND) {
		assert_int_equal(rate_limit_wait(&p, now), 0);
		rate_limit_take(&p, (uint64_t)RATE_LIMIT_RATE * 9 / 10, now);
	}
}

static void set(struct settings *s, int64_t most, int64_t idle)
{
	assert_int_equal(settings_init(s), 0);
	s->linger = most;
	s->linger_idle = idle;
}

TEST(it_is_recorded_for_some_time)
{
	struct lingering l = {.end_at = 0};
	struct settings s;
	const int none[2] = {-1, -1};
	set(&s, 12 * 3600 * SECOND, 0);
	assert_int_equal(lingering_due(&l, SECOND), 0);
	lingering_came(&l, 1, SECOND);
	lingering_begin(&l, &s, SECOND);
	assert_int_equal(lingering_due(&l, SECOND), SECOND + s.linger);
	assert_false(lingering_is_over(&l, none, s.linger));
	lingering_came(&l, RATE_LIMIT_BURST, 2 * SECOND);
	assert_true(rate_limit_wait(&l.pace, 2 * SECOND) > 0);
	assert_in_range(lingering_due(&l, 2 * SECOND), 2 * SECOND + 1, 3 * SECOND);
	assert_true(lingering_is_over(&l, none, SECOND + s.linger));
	assert_string_equal(l.why, "12 h 0 min after the command ([run] linger)");
	settings_release(&s);
}

TEST(it_ends_when_that_is_asked_for)
{
	struct lingering l = {.end_at = 0};
	struct settings s;
	const int none[2] = {-1, -1};
	set(&s, 0, 0);
	lingering_end(&l, "terse signal ended the run");
	lingering_begin(&l, &s, SECOND);
	assert_int_equal(lingering_due(&l, SECOND), 0);
	assert_true(lingering_is_over(&l, none, SECOND));
	assert_string_equal(l.why, "terse signal ended the run");
	settings_release(&s);
}

/* A process that holds `fd` until it is killed. */
static pid_t hold(int fd, bool daemon)
{
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (daemon)
			setsid();
		dup2(fd, STDOUT_FILENO);
		write(ready[1], "", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* In a session of its own, as the supervisor is. */
CHILD_TEST(silent_daemons_are_not_waited_for)
{
	struct lingering l = {.end_at = 0};
	struct settings s;
	int ends[2];
	setsid();
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	const int fds[2] = {-1, ends[0]};
	set(&s, 0, 600 * SECOND);
	pid_t daemon = hold(ends[1], true), job = hold(ends[1], false);
	close(ends[1]);
	lingering_begin(&l, &s, SECOND);
	CHECK(lingering_due(&l, SECOND) == 601 * SECOND);
	lingering_came(&l, 1, 2 * SECOND);
	CHECK(!lingering_is_over(&l, fds, 601 * SECOND));
	CHECK(lingering_due(&l, 601 * SECOND) == 602 * SECOND);
	/* The recording goes on as long as one of the holders is no daemon. */
	CHECK(!lingering_is_over(&l, fds, 602 * SECOND));
	CHECK(lingering_due(&l, 602 * SECOND) == 1202 * SECOND);
	kill(job, SIGKILL);
	child_wait(job);
	CHECK(lingering_is_over(&l, fds, 1202 * SECOND));
	CHECK(strcmp(l.why, "silent for 10 min 0 s ([run] linger_idle)") == 0);
	kill(daemon, SIGKILL);
	child_wait(daemon);
	settings_release(&s);
}

/* Writes more than a pty or pipe holds. */
static pid_t writer(int fd)
{
	static const char text[300 * 1024];
	pid_t pid = fork();
	if (pid == 0) {
		for (size_t at = 0; at < sizeof(text);) {
			ssize_t n = write(fd, text + at, sizeof(text) - at);
			if (n <= 0)
				_exit(1);
			at += (size_t)n;
		}
		_exit(0);
	}
	return pid;
}

TEST(what_nobody_records_can_still_be_written)
{
	int ends[2], master, slave;
	struct termios raw;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	fcntl(master, F_SETFL, O_NONBLOCK);
	pid_t one = writer(ends[1]), other = writer(slave);
	close(ends[1]);
	close(slave);
	int fds[2] = {ends[0], master};
	discard_output(fds);
	assert_int_equal(fds[0], -1);
	assert_int_equal(fds[1], -1);
	assert_int_equal(child_wait(one), 0);
	assert_int_equal(child_wait(other), 0);
	discard_output(fds);
}

TEST_MAIN(NULL, NULL)
