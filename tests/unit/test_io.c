// Reading and writing to the end of the request, and the handling of descriptors.

#include "lib/io.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define BIG ((size_t)3 * 1024 * 1024)

static char byte_at(size_t i)
{
	return (char)(i * 2654435761u >> 13);
}

/* Reads to the end of file and checks that every byte is in its place. */
static void read_all(const void *ctx)
{
	const int *ends = ctx;
	static char data[70000];
	size_t at = 0;
	ssize_t n;
	close(ends[1]);
	while ((n = read(ends[0], data, sizeof(data))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			CHECK(data[i] == byte_at(at + (size_t)i));
		at += (size_t)n;
	}
	CHECK(n == 0 && at == BIG);
}

static void write_to_reader(int flags)
{
	int ends[2];
	char *data = malloc(BIG);
	assert_non_null(data);
	for (size_t i = 0; i < BIG; i++)
		data[i] = byte_at(i);
	assert_int_equal(pipe2(ends, 0), 0);
	pid_t reader = fork();
	if (reader == 0) {
		read_all(ends);
		_exit(0);
	}
	close(ends[0]);
	assert_int_equal(fcntl(ends[1], F_SETFL, flags), 0);
	assert_int_equal(io_write(ends[1], data, BIG), 0);
	close(ends[1]);
	assert_int_equal(child_wait(reader), 0);
	free(data);
}

static void on_alarm(int sig)
{
	(void)sig;
}

TEST(writes_all_between_signals)
{
	const struct sigaction action = {.sa_handler = on_alarm};
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	write_to_reader(0);
	write_to_reader(O_NONBLOCK);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	signal(SIGALRM, SIG_DFL);
}

TEST(reports_why_it_can_not_write)
{
	int ends[2];
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	close(ends[0]);
	assert_int_equal(io_write(ends[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
	assert_int_equal(io_write(ends[1], "x", 1), -1);
	assert_int_equal(errno, EBADF);
	assert_int_equal(io_write(-1, "", 0), 0);
	int full = open("/dev/full", O_WRONLY);
	assert_int_equal(io_write(full, "x", 1), -1);
	assert_int_equal(errno, ENOSPC);
	close(full);
}

TEST(positions_are_kept_by_the_at_functions)
{
	char data[16];
	int fd = memfd_create("test", 0);
	assert_true(fd >= 0);
	assert_int_equal(io_write(fd, "0123456789", 10), 0);
	assert_int_equal(io_write_at(fd, "abc", 3, 4), 0);
	assert_int_equal(io_write_at(fd, "X", 1, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 10);
	assert_int_equal(io_read_at(fd, data, sizeof(data), 2), 8);
	assert_memory_equal(data, "23abc789", 8);
	assert_int_equal(io_read_at(fd, data, 1, 0), 1);
	assert_int_equal(data[0], 'X');
	assert_int_equal(io_read_at(fd, data, 4, 100), 0);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 10);
	assert_int_equal(io_read(fd, data, 4), 0);
	close(fd);
	assert_int_equal(io_read(fd, data, 4), -1);
	assert_int_equal(errno, EBADF);
}

TEST(reads_across_short_counts)
{
	int ends[2];
	char data[64];
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	pid_t writer = fork();
	if (writer == 0) {
		close(ends[0]);
		for (int i = 0; i < 40; i++) {
			CHECK(io_write(ends[1], &"0123456789"[i % 10], 1) == 0);
			sched_yield();
		}
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(io_read(ends[0], data, 30), 30);
	assert_memory_equal(data, "012345678901234567890123456789", 30);
	assert_int_equal(io_read(ends[0], data, 30), 10);
	assert_int_equal(child_wait(writer), 0);
	close(ends[0]);
}

TEST(close_keeps_errno)
{
	int fd = open("/dev/null", O_RDONLY), none = -1, bad = 9999;
	int was = fd;
	errno = EDOM;
	io_close(&fd);
	io_close(&none);
	io_close(&bad);
	assert_int_equal(errno, EDOM);
	assert_int_equal(fd, -1);
	assert_int_equal(bad, -1);
	assert_int_equal(fcntl(was, F_GETFD), -1);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

CHILD_TEST(closed_standard_streams_are_not_taken)
{
	close(0);
	close(1);
	int fd = open("/dev/null", O_RDONLY);
	CHECK(fd == 0);
	int moved = io_above_standard(fd);
	CHECK(moved > 2 && !is_open(0));
	CHECK(fcntl(moved, F_GETFD) == FD_CLOEXEC);
	CHECK(io_above_standard(moved) == moved);
	errno = EIO;
	CHECK(io_above_standard(-1) == -1 && errno == EIO);
	/* No room above: closed all the same. */
	const struct rlimit three = {3, 3};
	close(moved);
	CHECK(setrlimit(RLIMIT_NOFILE, &three) == 0);
	fd = open("/dev/null", O_RDONLY);
	CHECK(fd == 0);
	errno = 0;
	CHECK(io_above_standard(fd) == -1 && errno == EINVAL);
	CHECK(!is_open(0));
}

#define FIRST 100
#define LAST  140

/* Opens all of FIRST..LAST. */
static void open_many(void)
{
	int null = open("/dev/null", O_RDONLY);
	for (int fd = FIRST; fd <= LAST; fd++)
		CHECK(dup2(null, fd) == fd);
	close(null);
}

/* Closes with `keep` and looks at every descriptor from 0 on. */
static void check_close_others(int first, const int *keep, size_t count)
{
	bool was_open[LAST + 2];
	open_many();
	for (int fd = 0; fd <= LAST + 1; fd++)
		was_open[fd] = is_open(fd);
	io_close_others(first, keep, count);
	for (int fd = 0; fd <= LAST + 1; fd++) {
		bool kept = fd < first;
		for (size_t i = 0; i < count; i++)
			kept |= keep[i] == fd;
		CHECK(is_open(fd) == (was_open[fd] && kept));
	}
}

static void close_some(const void *ctx)
{
	(void)ctx;
	static const int unsorted[] = {FIRST + 7, -1, FIRST + 3, LAST, FIRST + 7, FIRST + 4, 1, -1};
	static const int edges[] = {FIRST, LAST};
	static const int below[] = {0, 2, 50};
	static const int above[] = {LAST + 1, 5000};
	static const int sixteen[] = {100, 138, 102, 136, 104, 134, 106, 132,
				      108, 130, 110, 128, 112, 126, 114, 124};
	/* Standard error is kept by all, to tell what fails. */
	check_close_others(FIRST, unsorted, 8);
	check_close_others(FIRST, edges, 2);
	check_close_others(FIRST, below, 3);
	check_close_others(FIRST, above, 2);
	check_close_others(FIRST, sixteen, 16);
	check_close_others(FIRST, NULL, 0);
	check_close_others(LAST, NULL, 0);
	check_close_others(3, (int[]){FIRST}, 1);
	check_close_others(0, (int[]){2}, 1);
}

static void close_some_without_close_range(const void *ctx)
{
	CHECK(child_deny(SYS_close_range, ENOSYS) == 0);
	close_some(ctx);
}

TEST(close_others)
{
	assert_int_equal(child_run(close_some, NULL), 0);
	assert_int_equal(child_run(close_some_without_close_range, NULL), 0);
}

static void check_is_null(int fd)
{
	struct stat null, st;
	char byte;
	CHECK(stat("/dev/null", &null) == 0 && fstat(fd, &st) == 0);
	CHECK(st.st_rdev == null.st_rdev);
	CHECK(read(fd, &byte, 1) == 0 && write(fd, "x", 1) == 1);
}

CHILD_TEST(put_null)
{
	int ends[2];
	char byte;
	CHECK(pipe(ends) == 0 && dup2(ends[1], 1) == 1);
	close(ends[1]);
	io_null(1, 1);
	check_is_null(1);
	/* The other end sees that the pipe was let go. */
	CHECK(read(ends[0], &byte, 1) == 0);
	close(0);
	io_null(0, 0);
	check_is_null(0);
	close(1);
	io_null(0, 2);
	check_is_null(0);
	check_is_null(1);
	check_is_null(2);
	for (int fd = 0; fd <= 2; fd++)
		CHECK(fcntl(fd, F_GETFD) == 0);
	/* No descriptor is free for opening it first. */
	struct rlimit full = {3, 3};
	int none;
	CHECK(dup2(ends[0], 0) == 0 && dup2(ends[0], 1) == 1 && dup2(ends[0], 2) == 2);
	io_close_others(3, NULL, 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &full) == 0);
	none = open("/dev/null", O_RDONLY);
	CHECK(none == -1 && errno == EMFILE);
	io_null(1, 1);
	check_is_null(1);
	io_null(0, 2);
	for (int fd = 0; fd <= 2; fd++)
		check_is_null(fd);
}

TEST_MAIN(NULL, NULL)
