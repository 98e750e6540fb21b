// How the streams are connected, for what a person, an agent or a program starts.

#include "supervisor/base/io.h"
#include "supervisor/process/layout.h"
#include "tests/unit/child.h"

#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cmocka.h>

/* What a standard stream can be connected to. */
enum to { CLOSED, A, B, PROGRAM, OTHER_PROGRAM, SOCKET, FILE_A, FILE_B, DEV_NULL, TTY, KINDS };

static int kinds[KINDS] = {-1};
static int master;
static pid_t reader;

struct set_up {
	enum to in, out, err;
	struct settings settings;
	struct layout want;
};

static void decide(const void *ctx)
{
	const struct set_up *u = ctx;
	const enum to to[] = {u->in, u->out, u->err};
	struct layout l;
	int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
	/* No terminal behind /dev/tty, unless it is the person's. */
	CHECK(setsid() >= 0);
	if (u->in == TTY || u->out == TTY)
		CHECK(ioctl(kinds[TTY], TIOCSCTTY, 0) == 0);
	for (int i = 0; i < 3; i++) {
		if (to[i] == CLOSED)
			close(i);
		else
			CHECK(dup2(kinds[to[i]], i) == i);
	}
	layout_decide(&l, &u->settings);
	dup2(log, STDERR_FILENO);
	CHECK(l.direct == u->want.direct);
	CHECK(l.sink[0] == u->want.sink[0]);
	CHECK(l.sink[1] == u->want.sink[1]);
	CHECK(l.keyboard == u->want.keyboard || (l.keyboard > 2 && u->want.keyboard > 2));
	CHECK(l.keyboard <= 2 || fcntl(l.keyboard, F_GETFD) == FD_CLOEXEC);
	if (l.direct)
		return;
	CHECK(l.channel[0] == u->want.channel[0]);
	CHECK(l.channel[1] == u->want.channel[1]);
	CHECK(l.person == u->want.person);
	CHECK(l.controlling == u->want.controlling);
	CHECK(l.stdin_pty == u->want.stdin_pty);
}

static void is(const struct set_up *u)
{
	assert_int_equal(child_run(decide, u), 0);
}

/* What is common to all that an agent starts. */
#define UNTYPED .keyboard = -1

static void one_pipe_to_an_agent(void **state)
{
	(void)state;
	/* One open file: who reads it need not be known yet. */
	is(&(struct set_up){DEV_NULL, A, A, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
	is(&(struct set_up){A, SOCKET, SOCKET, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_AGENT, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, A, A, {.streams = STREAMS_SPLIT}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_PTY}, .sink = {SINK_PIPE, SINK_PIPE}}});
	is(&(struct set_up){DEV_NULL, A, A, {.pty = TRI_NO}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
}

static void two_pipes_to_an_agent(void **state)
{
	(void)state;
	is(&(struct set_up){DEV_NULL, A, B, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_AGENT, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, A, SOCKET, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_AGENT, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, A, B, {.streams = STREAMS_SPLIT}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_PTY}, .sink = {SINK_PIPE, SINK_PIPE}}});
}

/* `| grep` and `> file` behind the command: what is read by no agent stays apart. */
static void programs_and_files(void **state)
{
	(void)state;
	is(&(struct set_up){DEV_NULL, PROGRAM, A, {0}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_PTY}, .sink = {SINK_PROGRAM, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, PROGRAM, OTHER_PROGRAM, {0}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_PIPE}, .sink = {SINK_PROGRAM, SINK_PROGRAM}}});
	is(&(struct set_up){DEV_NULL, FILE_A, A, {0}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_PTY}, .sink = {SINK_FILE, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, A, DEV_NULL, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_PIPE}, .sink = {SINK_AGENT, SINK_FILE}}});
	is(&(struct set_up){DEV_NULL, FILE_A, FILE_A, {0}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_MERGED}, .sink = {SINK_FILE, SINK_FILE}}});
	is(&(struct set_up){DEV_NULL, FILE_A, FILE_B, {0}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_PIPE}, .sink = {SINK_FILE, SINK_FILE}}});
	is(&(struct set_up){DEV_NULL, FILE_A, A, {.pty = TRI_YES}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_PTY}, .sink = {SINK_FILE, SINK_AGENT}}});
	/* Told by hand. */
	is(&(struct set_up){DEV_NULL, FILE_A, A, {.print = PRINT_PREVIEW}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_AGENT, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, FILE_A, B, {.streams = STREAMS_MERGED}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_MERGED}, .sink = {SINK_FILE, SINK_PIPE}}});
}

static void closed_streams(void **state)
{
	(void)state;
	is(&(struct set_up){CLOSED, A, A, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
	is(&(struct set_up){DEV_NULL, CLOSED, A, {0}, {UNTYPED,
		.channel = {CHANNEL_INHERIT, CHANNEL_PTY}, .sink = {SINK_CLOSED, SINK_AGENT}}});
	is(&(struct set_up){DEV_NULL, A, CLOSED, {0}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_INHERIT}, .sink = {SINK_AGENT, SINK_CLOSED}}});
	is(&(struct set_up){CLOSED, CLOSED, CLOSED, {0}, {UNTYPED,
		.channel = {CHANNEL_INHERIT, CHANNEL_INHERIT},
		.sink = {SINK_CLOSED, SINK_CLOSED}}});
	is(&(struct set_up){CLOSED, CLOSED, CLOSED, {.print = PRINT_PREVIEW}, {UNTYPED,
		.channel = {CHANNEL_INHERIT, CHANNEL_INHERIT},
		.sink = {SINK_CLOSED, SINK_CLOSED}}});
}

static void a_person(void **state)
{
	(void)state;
	is(&(struct set_up){TTY, TTY, TTY, {0}, {.person = true, .keyboard = 0,
		.controlling = true, .stdin_pty = true,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PERSON, SINK_PERSON}}});
	/* `echo x | terse less`: the keys come from the terminal all the same. */
	is(&(struct set_up){A, TTY, TTY, {0}, {.person = true, .keyboard = 3, .controlling = true,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PERSON, SINK_PERSON}}});
	is(&(struct set_up){TTY, TTY, FILE_A, {0}, {.person = true, .keyboard = 0,
		.controlling = true, .stdin_pty = true,
		.channel = {CHANNEL_PTY, CHANNEL_PIPE}, .sink = {SINK_PERSON, SINK_FILE}}});
	is(&(struct set_up){TTY, TTY, TTY, {.tty = TRI_NO}, {.person = true, .keyboard = -1,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PERSON, SINK_PERSON}}});
	is(&(struct set_up){TTY, TTY, TTY, {.pty = TRI_NO}, {.person = true, .keyboard = -1,
		.channel = {CHANNEL_PIPE, CHANNEL_MERGED}, .sink = {SINK_PERSON, SINK_PERSON}}});
}

/* A person's own pipeline or redirection needs nothing of terse. */
static void a_person_with_a_pipeline(void **state)
{
	(void)state;
	is(&(struct set_up){TTY, PROGRAM, TTY, {0}, {.direct = true, UNTYPED,
		.sink = {SINK_PROGRAM, SINK_PERSON}}});
	is(&(struct set_up){TTY, FILE_A, TTY, {0}, {.direct = true, UNTYPED,
		.sink = {SINK_FILE, SINK_PERSON}}});
	/* A time limit needs it. */
	is(&(struct set_up){TTY, FILE_A, TTY, {.timeout = 1000}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_INHERIT}, .sink = {SINK_FILE, SINK_PERSON}}});
	is(&(struct set_up){TTY, FILE_A, TTY, {.print = PRINT_PREVIEW}, {UNTYPED,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_AGENT, SINK_AGENT}}});
}

/* --tty: prompts can be answered, so standard input is the terminal unless something is in it. */
static void asked_for_a_terminal(void **state)
{
	(void)state;
	is(&(struct set_up){DEV_NULL, A, A, {.tty = TRI_YES}, {UNTYPED,
		.controlling = true, .stdin_pty = true,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
	is(&(struct set_up){B, A, A, {.tty = TRI_YES}, {UNTYPED, .controlling = true,
		.channel = {CHANNEL_PTY, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
	is(&(struct set_up){DEV_NULL, A, A, {.tty = TRI_YES, .pty = TRI_NO}, {UNTYPED,
		.channel = {CHANNEL_PIPE, CHANNEL_MERGED}, .sink = {SINK_PIPE, SINK_PIPE}}});
}

static int open_kinds(void **state)
{
	int ends[2], programs[2][2], ready[2];
	char byte;
	(void)state;
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		if (pipe2(ends, O_CLOEXEC) < 0 || pipe2(programs[i], O_CLOEXEC) < 0)
			return -1;
		kinds[A + i] = ends[1];
		kinds[PROGRAM + i] = programs[i][1];
	}
	/* A sibling that reads both of them. The ends of A and B stay with this process, the agent. */
	reader = fork();
	if (reader == 0) {
		const int keep[] = {programs[0][0], programs[1][0], ready[1]};
		io_close_others(3, keep, 3);
		CHECK(write(ready[1], "x", 1) == 1);
		for (;;)
			pause();
	}
	if (reader < 0 || read(ready[0], &byte, 1) != 1)
		return -1;
	close(programs[0][0]), close(programs[1][0]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	kinds[SOCKET] = ends[0];
	kinds[FILE_A] = memfd_create("a", MFD_CLOEXEC);
	kinds[FILE_B] = memfd_create("b", MFD_CLOEXEC);
	kinds[DEV_NULL] = open("/dev/null", O_RDWR | O_CLOEXEC);
	return openpty(&master, &kinds[TTY], NULL, NULL, NULL);
}

static int end_reader(void **state)
{
	(void)state;
	kill(reader, SIGKILL);
	child_wait(reader);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pipe_to_an_agent),
		cmocka_unit_test(two_pipes_to_an_agent),
		cmocka_unit_test(programs_and_files),
		cmocka_unit_test(closed_streams),
		cmocka_unit_test(a_person),
		cmocka_unit_test(a_person_with_a_pipeline),
		cmocka_unit_test(asked_for_a_terminal),
	};
	return cmocka_run_group_tests(tests, open_kinds, end_reader);
}
