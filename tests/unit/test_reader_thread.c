// Reading ahead: all bytes come out, in order and once, however the thread and its owner take
// turns.

#include "supervisor/process/source.h"
#include "supervisor/process/spawn.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#define MUCH ((size_t)6 * 1024 * 1024)

/* A process that writes bytes with a pattern which is no multiple of any buffer. */
struct writer {
	int fd; /* what it writes to comes out here */
	pid_t pid;
};

static char pattern(size_t at)
{
	return (char)('!' + at % 89);
}

static _Noreturn void write_all(int fd, size_t len)
{
	static char data[10007];
	for (size_t at = 0; at < len;) {
		size_t n = 1 + at % sizeof(data);
		if (n > len - at)
			n = len - at;
		for (size_t i = 0; i < n; i++)
			data[i] = pattern(at + i);
		for (size_t done = 0; done < n;) {
			ssize_t written = write(fd, data + done, n - done);
			if (written < 0)
				_exit(1);
			done += (size_t)written;
		}
		at += n;
	}
	_exit(0);
}

static struct writer start(bool through_pty, size_t len)
{
	struct writer w;
	int child;
	if (through_pty) {
		struct pty pty;
		assert_int_equal(pty_open(&pty, 80, 24, PTY_WRITTEN, NULL), 0);
		w.fd = pty.master;
		child = pty.slave;
	} else {
		int ends[2];
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
		w.fd = ends[0];
		child = ends[1];
	}
	w.pid = fork();
	assert_true(w.pid >= 0);
	if (w.pid == 0) {
		close(w.fd);
		write_all(child, len);
	}
	close(child);
	return w;
}

static void stop(const struct writer *w)
{
	int status;
	close(w->fd);
	assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Where there is one processor only, reading ahead is of no use and tests of it have nothing
   to show. */
static struct reader_thread *begin(const struct writer *w)
{
	cpu_set_t set;
	struct reader_thread *in = reader_thread_begin(w->fd);
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);
	assert_true((in != NULL) == (CPU_COUNT(&set) > 1));
	return in;
}

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 60000), 1);
}

static void check(const char *data, size_t len, size_t *at)
{
	for (size_t i = 0; i < len; i++, ++*at) {
		if (data[i] != pattern(*at))
			fail_msg("wrong byte at %zu", *at);
	}
}

/* Takes until so much came in all, or to the end. Returns why it ended, or -1. */
static int take(struct reader_thread *in, size_t most, size_t *at)
{
	while (*at < most) {
		const char *data;
		int end;
		size_t len = reader_thread_next(in, &data, &end);
		if (len > 0) {
			check(data, len, at);
		} else if (end != EAGAIN) {
			return end;
		} else {
			wait_readable(reader_thread_poll_fd(in));
		}
	}
	return -1;
}

TEST(all_comes)
{
	for (int through_pty = 0; through_pty < 2; through_pty++) {
		struct writer w = start(through_pty, MUCH);
		struct reader_thread *in = begin(&w);
		size_t at = 0;
		if (in) {
			assert_int_equal(take(in, SIZE_MAX, &at), through_pty ? EIO : 0);
			assert_int_equal(at, MUCH);
		}
		reader_thread_free(in);
		close(w.fd);
		waitpid(w.pid, NULL, 0);
	}
}

/* Programs that write and are gone at once, with more than the kernel holds in one place. */
TEST(writers_that_end_at_once)
{
	for (size_t run = 0; run < 400; run++) {
		size_t at = 0, n, len = 1 + run * 7919 % 40000;
		struct writer w = start(true, len);
		static char data[16384];
		int end = EAGAIN;
		while (end == EAGAIN) {
			wait_readable(w.fd);
			while ((n = reader_thread_read(w.fd, data, 1 + run * 31 % sizeof(data),
						       &end)) > 0)
				check(data, n, &at);
		}
		assert_int_equal(end, EIO);
		assert_int_equal(at, len);
		stop(&w);
	}
}

/* Bytes that the thread has not read are read from the descriptor after it has ended. */
TEST(ended_in_between)
{
	for (int through_pty = 0; through_pty < 2; through_pty++) {
		struct writer w = start(through_pty, MUCH);
		struct reader_thread *in = begin(&w);
		static char data[4096];
		size_t at = 0, len;
		const char *rest;
		int end = -1;
		if (in) {
			take(in, MUCH / 3, &at);
			reader_thread_end(in);
			while ((len = reader_thread_next(in, &rest, &end)) > 0)
				check(rest, len, &at);
			assert_int_equal(end, EAGAIN);
			assert_true(at < MUCH);
		}
		reader_thread_free(in);
		for (end = EAGAIN; end == EAGAIN;) {
			wait_readable(w.fd);
			while ((len = reader_thread_read(w.fd, data, sizeof(data), &end)) > 0)
				check(data, len, &at);
		}
		assert_int_equal(at, MUCH);
		assert_int_equal(end, through_pty ? EIO : 0);
		stop(&w);
	}
}

/* A single byte wakes the owner, too, and nothing does before it. */
TEST(little_comes)
{
	int ends[2], end;
	const char *data;
	struct reader_thread *in;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	in = begin(&(struct writer){.fd = ends[0]});
	if (in) {
		assert_int_equal(reader_thread_next(in, &data, &end), 0);
		assert_int_equal(end, EAGAIN);
		for (int i = 0; i < 3; i++) {
			assert_int_equal(write(ends[1], "x", 1), 1);
			wait_readable(reader_thread_poll_fd(in));
			assert_int_equal(reader_thread_next(in, &data, &end), 1);
			assert_int_equal(end, -1);
			assert_int_equal(reader_thread_next(in, &data, &end), 0);
			assert_int_equal(poll(&(struct pollfd){.fd = reader_thread_poll_fd(in),
							       .events = POLLIN},
					      1, 0),
					 0);
		}
	}
	reader_thread_free(in);
	close(ends[0]);
	close(ends[1]);
}

TEST(one_processor)
{
	cpu_set_t before, one;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
		if (CPU_ISSET(i, &before))
			CPU_SET(i, &one);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_null(reader_thread_begin(STDIN_FILENO));
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void check_refused(const void *ctx)
{
	const int *number = ctx;
	int before = unit_count_open();
	CHECK(child_deny(*number, EPERM) == 0);
	CHECK(!reader_thread_begin(STDIN_FILENO));
	CHECK(unit_count_open() == before);
}

/* No descriptor or no thread is to be had: nothing is left behind. */
TEST(refused)
{
	static const int calls[] = {SYS_eventfd2, SYS_clone3};
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_int_equal(child_run(check_refused, &calls[i]), 0);
}

TEST_MAIN(NULL, NULL)
