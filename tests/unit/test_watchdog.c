// The process that ends a run whose supervisor was killed.

#include "lib/proc.h"
#include "supervisor/process/supervisor_internal.h"
#include "tests/unit/child.h"

#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>

#include "tests/unit/session.h"
#include "tests/unit/unit.h"

static const struct settings soon = {.grace = 1};
static const struct job no_terminal = {.settings = &soon, .channels.keyboard = -1};

struct set_up {
	struct session session;
	pid_t front;  /* who started the watchdog, and waits for its end */
	int pipe;     /* the supervisor's end */
	int held[2];  /* a pipe of the caller's that the watchdog must not hold */
	int terminal; /* slave */
	int master;
	struct termios modes, raw;
};

/* Starts a watchdog over a session; a terminal is in raw mode, as terse sets it. */
static void start(struct set_up *u)
{
	int ends[2];
	session_start(&u->session);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(pipe2(u->held, O_CLOEXEC), 0);
	assert_int_equal(openpty(&u->master, &u->terminal, NULL, NULL, NULL), 0);
	assert_int_equal(tcgetattr(u->terminal, &u->modes), 0);
	u->raw = u->modes;
	cfmakeraw(&u->raw);
	assert_int_equal(tcsetattr(u->terminal, TCSANOW, &u->raw), 0);
	u->pipe = ends[1];
	u->front = fork();
	if (u->front == 0) {
		/* It does not hold the supervisor's end. */
		close(ends[1]);
		for (int i = 0; i < MEMBERS; i++)
			close(u->session.alive[i]);
		const struct settings settings = {.grace = 50};
		const struct job job = {.settings = &settings,
					.channels.keyboard = u->terminal,
					.modes = u->modes,
					.raw = u->raw};
		int asked;
		CHECK(watchdog_start(&job, u->session.leader, ends[0], &asked) > 0 && asked >= 0);
		_exit(child_wait(-1) == 0 ? 0 : 1);
	}
	assert_true(u->front > 0);
	close(ends[0]);
	close(u->held[1]);
}

static bool is_raw(const struct set_up *u)
{
	struct termios now;
	assert_int_equal(tcgetattr(u->terminal, &now), 0);
	return !(now.c_lflag & ICANON);
}

static void end(struct set_up *u)
{
	close(u->held[0]), close(u->terminal), close(u->master);
	session_release(&u->session);
}

static void watchdog_ends_well(const struct set_up *u)
{
	assert_int_equal(child_wait(u->front), 0);
}

TEST(supervisor_is_killed)
{
	struct set_up u;
	start(&u);
	close(u.pipe);
	watchdog_ends_well(&u);
	for (int i = MEMBER_PLAIN; i <= MEMBER_OWN_GROUP; i++)
		session_wait_for_end_of(&u.session, (enum member)i);
	assert_true(session_has(&u.session, MEMBER_DAEMON));
	assert_false(is_raw(&u));
	end(&u);
}

/* Has a watchdog for `session`, whose supervisor is killed. */
static void ends(const void *session)
{
	int ends[2], asked;
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	pid_t pid = watchdog_start(&no_terminal, *(const pid_t *)session, ends[0], &asked);
	CHECK(pid > 0 && close(ends[1]) == 0 && child_wait(pid) == 0);
}

TEST(leaves_others_alone)
{
	const pid_t sessions[] = {0, 1, -1, getsid(0)};
	for (size_t i = 0; i < sizeof(sessions) / sizeof(*sessions); i++) {
		/* Otherwise a fault would end more than this test. */
		assert_int_equal(tree_signal(sessions[i], 0), 0);
		assert_int_equal(child_run(ends, &sessions[i]), 0);
	}
}

/* All of the run have gone, and somebody has made a session that has got the same number. */
TEST(leaves_a_younger_session_alone)
{
	struct session s;
	int ends[2], asked;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t session = fork();
	if (session == 0)
		_exit(0);
	pid_t pid = watchdog_start(&no_terminal, session, ends[0], &asked);
	assert_true(pid > 0 && child_wait(session) == 0);
	/* It looks when there is the new one. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	close(ends[1]);
	/* The kernel tells a start in hundredths of a second. */
	usleep(30000);
	session_start_as(&s, session);
	assert_int_equal(kill(pid, SIGCONT), 0);
	assert_int_equal(child_wait(pid), 0);
	for (int i = MEMBER_PLAIN; i <= MEMBER_OWN_GROUP; i++)
		assert_true(session_has(&s, (enum member)i));
	session_release(&s);
	close(ends[0]), close(asked);
}

TEST(all_is_well)
{
	struct set_up u;
	start(&u);
	watchdog_tell(&u.pipe, 1234);
	watchdog_tell(&u.pipe, 0);
	watchdog_ends_well(&u);
	assert_true(session_has(&u.session, MEMBER_PLAIN));
	assert_true(is_raw(&u));
	end(&u);
}

/* While it waits it keeps none of the caller's descriptors open. */
TEST(holds_nothing)
{
	struct set_up u;
	char byte;
	start(&u);
	/* The process that started it holds them, until it is killed. It sleeps once it has started
	   the watchdog. */
	session_wait_for_state(u.front, 'S');
	kill(u.front, SIGKILL);
	child_wait(u.front);
	assert_int_equal(read(u.held[0], &byte, 1), 0);
	/* It is still there, and does its work. */
	assert_true(session_has(&u.session, MEMBER_STUBBORN));
	close(u.pipe);
	session_wait_for_end_of(&u.session, MEMBER_STUBBORN);
	end(&u);
}

TEST(terminal_of_somebody_else)
{
	int master, slave;
	struct termios modes, raw, now;
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	assert_int_equal(tcgetattr(slave, &modes), 0);
	raw = modes;
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	const struct job job = {.channels.keyboard = slave, .modes = modes, .raw = raw};
	watchdog_restore_terminal(&job);
	assert_int_equal(tcgetattr(slave, &now), 0);
	assert_int_equal(now.c_lflag, modes.c_lflag);
	assert_int_equal(now.c_oflag, modes.c_oflag);
	assert_int_equal(now.c_iflag, modes.c_iflag);
	/* A shell has set its own meanwhile: they stay. */
	raw.c_lflag |= ISIG;
	assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
	watchdog_restore_terminal(&job);
	assert_int_equal(tcgetattr(slave, &now), 0);
	assert_false(now.c_lflag & ICANON);
	close(slave), close(master);
	watchdog_restore_terminal(&no_terminal);
}

/* A signal to one process is distinguished from a signal to its group, and reported once. */
CHILD_TEST(is_a_witness)
{
	struct signals saved;
	int ends[2], asked;
	CHECK(setpgid(0, 0) == 0);
	signals_take(&saved);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	pid_t pid = watchdog_start(&no_terminal, getpid(), ends[0], &asked);
	CHECK(pid > 0);
	CHECK(getpgid(pid) == getpgrp());
	CHECK(kill(getpid(), SIGTERM) == 0 && !watchdog_ask(pid, asked, SIGTERM));
	CHECK(kill(0, SIGTERM) == 0 && kill(0, SIGRTMAX) == 0 && kill(0, SIGCONT) == 0);
	CHECK(watchdog_ask(pid, asked, SIGTERM) && watchdog_ask(pid, asked, SIGRTMAX) &&
	      watchdog_ask(pid, asked, SIGCONT));
	CHECK(!watchdog_ask(pid, asked, SIGTERM) && !watchdog_ask(pid, asked, SIGINT));
	/* It does not keep the group of a front end that has ended. */
	watchdog_ask(pid, asked, WATCHDOG_LEAVE);
	CHECK(getsid(pid) == pid);
	watchdog_tell(&ends[1], 0);
	CHECK(child_wait(pid) == 0);
	/* Nobody can tell any more: the group. */
	CHECK(watchdog_ask(pid, asked, SIGTERM) && watchdog_ask(pid, -1, SIGTERM));
}

/* It is stopped with its group: it does not answer, and later answers are not mixed up. */
CHILD_TEST(stopped_witness)
{
	struct signals saved;
	int ends[2], asked, status;
	CHECK(setpgid(0, 0) == 0);
	signals_take(&saved);
	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	pid_t pid = watchdog_start(&no_terminal, getpid(), ends[0], &asked);
	CHECK(pid > 0 && kill(pid, SIGSTOP) == 0 && waitpid(pid, &status, WUNTRACED) == pid);
	CHECK(watchdog_ask(pid, asked, SIGINT));
	CHECK(kill(pid, SIGCONT) == 0 && kill(0, SIGUSR1) == 0);
	CHECK(watchdog_ask(pid, asked, SIGUSR1) && !watchdog_ask(pid, asked, SIGUSR2));
	watchdog_tell(&ends[1], 0);
	CHECK(child_wait(pid) == 0);
}

/* Once it is asked, says no after the asker has gone to sleep so often. */
static pid_t say_no_late(const int ends[2], long sleeps)
{
	unsigned char what;
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	CHECK(recv(ends[1], &what, 1, 0) == 1);
	for (long first = -1, now = 0; now < first + sleeps || first < 0; poll(NULL, 0, 5)) {
		char text[4096];
		CHECK(process_file(getppid(), text, sizeof(text), "status") > 0);
		const char *found = strstr(text, "\nvoluntary_ctxt_switches:");
		CHECK(found && sscanf(found, "%*s %ld", &now) == 1);
		first = first < 0 ? now : first;
	}
	_exit(send(ends[1], &what, 1, 0) != 1);
}

/* One that is late is waited for longer than until the first look at it. */
CHILD_TEST(late_witness)
{
	int ends[2];
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	pid_t pid = say_no_late(ends, 3);
	CHECK(!watchdog_ask(pid, ends[0], SIGTERM));
	CHECK(child_wait(pid) == 0);
}

/* One that a debugger holds is looked at once, and counts as there. */
CHILD_TEST(traced_witness)
{
	int ends[2], status;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
	pid_t traced = fork();
	if (traced == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	CHECK(waitpid(traced, &status, 0) == traced && WIFSTOPPED(status));
	pid_t late = say_no_late(ends, 5);
	CHECK(watchdog_ask(traced, ends[0], SIGTERM));
	CHECK(kill(late, SIGKILL) == 0 && kill(traced, SIGKILL) == 0);
}

int main(void)
{
	child_default_signals();
	return unit_run(NULL, NULL);
}
