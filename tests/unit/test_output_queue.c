// Printing without blocking, on every kind of standard stream.

#include "supervisor/process/output_queue.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <limits.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>

/* aarch64 has no poll(2) of its own. */
#ifndef SYS_poll
#define SYS_poll SYS_ppoll
#endif

/* The stream that is written: every byte tells its own place. */
#define TOTAL ((size_t)1000 * 1000)

static char byte_at(size_t i)
{
	return (char)('a' + (i * 2654435761u >> 15) % 26);
}

static void fill(char *data, size_t from, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = byte_at(from + i);
}

/* Reads what is there, checks it, returns how much it was; 0 at the end. */
static size_t take(int fd, size_t at, size_t most)
{
	static char data[65536];
	ssize_t n = read(fd, data, most < sizeof(data) ? most : sizeof(data));
	for (ssize_t i = 0; i < n; i++)
		CHECK(data[i] == byte_at(at + (size_t)i));
	return n > 0 ? (size_t)n : 0;
}

/* The open file keeps its flags, so that others who share it see no change. */
static void check_untouched(int fd, int flags)
{
	CHECK(fcntl(fd, F_GETFL) == flags);
	CHECK(!(flags & O_NONBLOCK));
}

/* Writes everything while nobody reads, then reads it. */
static void through_a_stalled_reader(int writer, int reader)
{
	static char data[TOTAL];
	struct output_queue o;
	int flags = fcntl(writer, F_GETFL);
	size_t got = 0;
	fill(data, 0, TOTAL);
	output_queue_init(&o, writer);
	CHECK(o.queue.len == 0 && !output_queue_is_full(&o) && output_queue_poll_fd(&o) == writer);
	for (size_t at = 0, n; at < TOTAL; at += n) {
		n = TOTAL - at < 3000 ? TOTAL - at : 3000;
		output_queue_write(&o, data + at, n);
		check_untouched(writer, flags);
	}
	CHECK(!o.error && output_queue_is_full(&o));
	output_queue_pump(&o);
	while (got < TOTAL) {
		struct pollfd p[] = {{.fd = reader, .events = POLLIN},
				     {.fd = o.queue.len == 0 ? -1 : output_queue_poll_fd(&o),
				      .events = POLLOUT}};
		CHECK(poll(p, 2, 60000) > 0);
		if (p[1].revents)
			output_queue_pump(&o);
		if (p[0].revents)
			got += take(reader, got, SIZE_MAX);
		check_untouched(writer, flags);
	}
	CHECK(got == TOTAL && o.queue.len == 0 && !o.error);
	output_queue_release(&o);
	CHECK(o.own == -1 && fcntl(writer, F_GETFL) == flags);
}

CHILD_TEST(stalled_pipe)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	through_a_stalled_reader(ends[1], ends[0]);
}

/* As where /proc is not mounted. */
CHILD_TEST(stalled_pipe_that_can_not_be_opened)
{
	int ends[2];
	CHECK(pipe(ends) == 0);
	CHECK(child_deny(SYS_openat, EACCES) == 0);
	through_a_stalled_reader(ends[1], ends[0]);
}

CHILD_TEST(stalled_socket)
{
	int ends[2];
	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	through_a_stalled_reader(ends[1], ends[0]);
}

CHILD_TEST(stalled_terminal)
{
	int master, slave;
	struct termios modes;
	CHECK(openpty(&master, &slave, NULL, NULL, NULL) == 0);
	CHECK(tcgetattr(slave, &modes) == 0);
	cfmakeraw(&modes);
	CHECK(tcsetattr(slave, TCSANOW, &modes) == 0);
	through_a_stalled_reader(slave, master);
}

/* A reader that is always a little behind: what waits stays bounded, and so does its memory. */
CHILD_TEST(slow_reader)
{
	static char data[32768];
	int ends[2];
	struct output_queue o;
	size_t written = 0, got = 0;
	CHECK(pipe(ends) == 0);
	output_queue_init(&o, ends[1]);
	while (got < 20 * TOTAL) {
		while (!output_queue_is_full(&o)) {
			fill(data, written, sizeof(data));
			output_queue_write(&o, data, sizeof(data));
			written += sizeof(data);
		}
		got += take(ends[0], got, PIPE_BUF);
		output_queue_pump(&o);
		CHECK(!o.error && o.queue.cap <= 4 * OUTPUT_QUEUE_FULL);
	}
	output_queue_release(&o);
}

static void check_broken(struct output_queue *o, int error)
{
	CHECK(o->error == error && o->queue.len == 0 && !output_queue_is_full(o));
	output_queue_write(o, "more", 4);
	output_queue_pump(o);
	CHECK(o->error == error && o->queue.len == 0);
	output_queue_release(o);
}

static void reader_goes_away(const void *ctx)
{
	static char data[200000];
	const bool *socket = ctx;
	int ends[2];
	struct output_queue o;
	if (*socket) {
		/* Must not need the signal to be ignored. */
		signal(SIGPIPE, SIG_DFL);
		CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	} else {
		signal(SIGPIPE, SIG_IGN);
		CHECK(pipe(ends) == 0);
	}
	output_queue_init(&o, ends[1]);
	output_queue_write(&o, "first", 5);
	CHECK(o.queue.len == 0);
	output_queue_write(&o, data, sizeof(data));
	output_queue_write(&o, data, sizeof(data));
	CHECK(o.queue.len > 0 && !o.error);
	close(ends[0]);
	output_queue_pump(&o);
	check_broken(&o, EPIPE);
	output_queue_init(&o, ends[1]);
	output_queue_write(&o, "x", 1);
	check_broken(&o, EPIPE);
}

static void full_disk(const void *ctx)
{
	struct output_queue o;
	int full = open("/dev/full", O_WRONLY);
	(void)ctx;
	output_queue_init(&o, full);
	output_queue_write(&o, "x", 1);
	check_broken(&o, ENOSPC);
}

static void closed_stream(const void *ctx)
{
	struct output_queue o;
	(void)ctx;
	output_queue_init(&o, 77);
	check_broken(&o, EBADF);
	output_queue_init(&o, -1);
	check_broken(&o, EBADF);
}

/* The caller's limit holds for the caller's file, though the process has raised its own. */
static void file_size(const void *ctx)
{
	static const char text[8192];
	struct rlimit limit = {4096, 65536}, now;
	struct stat st;
	struct output_queue o;
	int fd = memfd_create("test", 0);
	(void)ctx;
	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	output_queue_init(&o, fd);
	limit.rlim_cur = limit.rlim_max;
	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	output_queue_write(&o, text, sizeof(text));
	CHECK(fstat(fd, &st) == 0 && st.st_size == 4096);
	CHECK(getrlimit(RLIMIT_FSIZE, &now) == 0 && now.rlim_cur == limit.rlim_max);
	check_broken(&o, EFBIG);
}

static void given_up(const void *ctx)
{
	static const char text[100 * 1024];
	struct output_queue o;
	int ends[2];
	(void)ctx;
	CHECK(pipe(ends) == 0);
	output_queue_init(&o, ends[1]);
	output_queue_give_up(&o);
	CHECK(!o.error);
	output_queue_write(&o, text, sizeof(text));
	CHECK(o.queue.len > 0);
	output_queue_give_up(&o);
	check_broken(&o, ETIMEDOUT);
}

/* Where poll(2) is refused, a pipe is opened once more. */
static void no_poll(const void *ctx)
{
	struct output_queue o;
	char byte;
	int ends[2];
	(void)ctx;
	CHECK(pipe(ends) == 0);
	CHECK(child_deny(SYS_poll, ENOMEM) == 0);
	output_queue_init(&o, ends[1]);
	output_queue_write(&o, "x", 1);
	CHECK(o.queue.len == 0 && !o.error);
	CHECK(read(ends[0], &byte, 1) == 1);
}

TEST(broken)
{
	assert_int_equal(child_run(reader_goes_away, &(bool){false}), 0);
	assert_int_equal(child_run(reader_goes_away, &(bool){true}), 0);
	assert_int_equal(child_run(full_disk, NULL), 0);
	assert_int_equal(child_run(closed_stream, NULL), 0);
	assert_int_equal(child_run(file_size, NULL), 0);
	assert_int_equal(child_run(given_up, NULL), 0);
	assert_int_equal(child_run(no_poll, NULL), 0);
}

/* A file is shared with who else writes to it: no position of our own, nothing opened. */
TEST(file)
{
	char data[64];
	struct output_queue o;
	int fd = memfd_create("test", 0), other = dup(fd);
	output_queue_init(&o, fd);
	assert_int_equal(write(other, "before ", 7), 7);
	output_queue_write(&o, "text ", 5);
	assert_true(o.queue.len == 0);
	assert_int_equal(write(other, "after", 5), 5);
	assert_int_equal(pread(fd, data, sizeof(data), 0), 17);
	assert_memory_equal(data, "before text after", 17);
	assert_int_equal(o.own, -1);
	output_queue_release(&o);
	close(other);
	close(fd);
}

TEST(nothing_is_nothing)
{
	struct output_queue o;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	output_queue_init(&o, ends[1]);
	output_queue_write(&o, NULL, 0);
	assert_true(o.queue.len == 0 && !o.error);
	output_queue_release(&o);
	output_queue_release(&o);
	close(ends[0]);
	close(ends[1]);
}

TEST_MAIN(NULL, NULL)
