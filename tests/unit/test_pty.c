// The pseudo-terminal a command gets.

#include "supervisor/process/spawn.h"
#include "tests/unit/child.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void size_is(int fd, unsigned cols, unsigned rows)
{
	struct winsize size;
	assert_int_equal(ioctl(fd, TIOCGWINSZ, &size), 0);
	assert_int_equal(size.ws_col, cols);
	assert_int_equal(size.ws_row, rows);
}

static void close_both(struct pty *p)
{
	close(p->master);
	close(p->slave);
}

TEST(size_and_flags)
{
	struct pty p;
	assert_int_equal(pty_open(&p, 160, 50, PTY_WRITTEN, NULL), 0);
	size_is(p.slave, 160, 50);
	assert_int_equal(pty_resize(p.master, 1000, 500), 0);
	size_is(p.slave, 1000, 500);
	assert_int_equal(fcntl(p.master, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(p.slave, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(p.master, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(p.slave, F_GETFL) & O_NONBLOCK);
	assert_true(isatty(p.slave));
	close_both(&p);
}

TEST(plain_modes)
{
	struct pty p;
	struct termios t;
	assert_int_equal(pty_open(&p, 80, 24, PTY_WRITTEN, NULL), 0);
	assert_int_equal(tcgetattr(p.slave, &t), 0);
	assert_false(t.c_oflag & OPOST);
	assert_false(t.c_lflag & (ECHO | ECHONL));
	assert_true(t.c_iflag & IUTF8);
	assert_true(t.c_lflag & ICANON);
	assert_false(pty_is_raw(p.master));
	cfmakeraw(&t);
	assert_int_equal(tcsetattr(p.slave, TCSANOW, &t), 0);
	assert_true(pty_is_raw(p.master));
	close_both(&p);
	assert_false(pty_is_raw(p.master));
}

TEST(cooked_modes)
{
	struct pty p;
	struct termios t, like;
	assert_int_equal(pty_open(&p, 80, 24, PTY_TYPED, NULL), 0);
	assert_int_equal(tcgetattr(p.slave, &like), 0);
	assert_true((like.c_oflag & (OPOST | ONLCR)) == (OPOST | ONLCR));
	assert_true(like.c_lflag & ECHO);
	assert_true(like.c_iflag & IUTF8);
	close_both(&p);
	/* A person's own settings: another interrupt key, no echo. */
	like.c_cc[VINTR] = 7;
	like.c_lflag &= ~(tcflag_t)ECHO;
	like.c_iflag &= ~(tcflag_t)IUTF8;
	assert_int_equal(pty_open(&p, 80, 24, PTY_TYPED, &like), 0);
	assert_int_equal(tcgetattr(p.slave, &t), 0);
	assert_int_equal(t.c_cc[VINTR], 7);
	assert_false(t.c_lflag & ECHO);
	assert_true(t.c_iflag & IUTF8);
	close_both(&p);
}

TEST(output_passes_unchanged)
{
	static const char bytes[] = "a\nb\r\nc\td\x1b[m\xff\0\x03\x04 end";
	struct pty p;
	char data[64];
	assert_int_equal(pty_open(&p, 80, 24, PTY_WRITTEN, NULL), 0);
	assert_int_equal(write(p.slave, bytes, sizeof(bytes)), sizeof(bytes));
	assert_int_equal(read(p.master, data, sizeof(data)), sizeof(bytes));
	assert_memory_equal(data, bytes, sizeof(bytes));
	/* No typed text comes back. */
	assert_int_equal(write(p.master, "abc\n", 4), 4);
	assert_int_equal(read(p.master, data, sizeof(data)), -1);
	assert_int_equal(errno, EAGAIN);
	/* Nobody can wait for input, either. */
	assert_int_equal(read(p.slave, data, sizeof(data)), -1);
	assert_int_equal(errno, EBADF);
	/* All output is read before the end is reported. */
	assert_int_equal(write(p.slave, "last", 4), 4);
	close(p.slave);
	assert_int_equal(read(p.master, data, sizeof(data)), 4);
	assert_int_equal(read(p.master, data, sizeof(data)), -1);
	assert_int_equal(errno, EIO);
	close(p.master);
}

CHILD_TEST(standard_streams_are_closed)
{
	struct pty p;
	close(0), close(1);
	CHECK(pty_open(&p, 80, 24, PTY_WRITTEN, NULL) == 0);
	CHECK(p.master > 2 && p.slave > 2);
	CHECK(fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0);
	CHECK(fcntl(p.master, F_GETFD) == FD_CLOEXEC && fcntl(p.slave, F_GETFD) == FD_CLOEXEC);
	CHECK(fcntl(p.master, F_GETFL) & O_NONBLOCK);
}

/* Whichever step fails, nothing stays open. */
CHILD_TEST(no_descriptors)
{
	struct pty p;
	int before = unit_count_open();
	for (rlim_t room = 0; room < 6; room++) {
		const struct rlimit limit = {3 + room, 256};
		CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
		bool done = pty_open(&p, 80, 24, PTY_WRITTEN, NULL) == 0;
		if (done)
			close_both(&p);
		else
			CHECK(p.master == -1 && p.slave == -1 && errno == EMFILE);
		CHECK(unit_count_open() == before);
	}
}

CHILD_TEST(no_pty_device)
{
	struct pty p;
	CHECK(child_deny(SYS_openat, ENOENT) == 0);
	CHECK(pty_open(&p, 80, 24, PTY_WRITTEN, NULL) == -1 && errno == ENOENT);
	CHECK(p.master == -1 && p.slave == -1);
}

/* A shell controls its jobs through it, and nobody can be asked. */
CHILD_TEST(for_jobs)
{
	struct pty p;
	char byte;
	CHECK(setsid() >= 0);
	CHECK(pty_open(&p, 80, 24, PTY_JOBS, NULL) == 0);
	CHECK(tcgetpgrp(p.slave) == getpgrp() && tcsetpgrp(p.slave, getpgrp()) == 0);
	CHECK(write(p.slave, "x", 1) == 1);
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY);
	CHECK(fd >= 0 || errno == EBUSY);
	CHECK(fd < 0 || read(fd, &byte, 1) == 0);
}

TEST_MAIN(NULL, NULL)
