// Messages between front end and supervisor.

#include "supervisor/process/message.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void open_pair(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
}

static void one_after_another(void **state)
{
	static const size_t lengths[] = {0, 1, 100, MESSAGE_DATA - 1, MESSAGE_DATA};
	struct message out = {.kind = MESSAGE_INPUT}, in;
	int ends[2];
	(void)state;
	open_pair(ends);
	memset(out.data, 'k', sizeof(out.data));
	for (size_t i = 0; i < 5; i++) {
		out.a = (int)i - 1;
		out.b = 1 << i;
		assert_int_equal(message_send(ends[0], &out, lengths[i]), 0);
	}
	for (size_t i = 0; i < 5; i++) {
		memset(&in, 0, sizeof(in));
		assert_int_equal(message_receive(ends[1], &in, 0), lengths[i]);
		assert_int_equal(in.kind, MESSAGE_INPUT);
		assert_int_equal(in.a, (int)i - 1);
		assert_int_equal(in.b, 1 << i);
		assert_memory_equal(in.data, out.data, lengths[i]);
	}
	assert_int_equal(message_receive(ends[1], &in, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(ends[0]), close(ends[1]);
}

/* A stopped process reads nothing: its sender must not block. */
static void the_other_side_is_stopped(void **state)
{
	const struct message m = {.kind = MESSAGE_STOPPED, .a = SIGTSTP};
	struct message in;
	int ends[2], sent = 0, got = 0;
	(void)state;
	open_pair(ends);
	while (message_send(ends[0], &m, 0) == 0)
		sent++;
	assert_int_equal(errno, EAGAIN);
	while (message_receive(ends[1], &in, MSG_DONTWAIT) == 0)
		got++;
	assert_int_equal(got, sent);
	close(ends[0]), close(ends[1]);
}

/* It has not read all that was sent to it, which the kernel tells first. */
static void the_other_side_ends_early(void **state)
{
	const struct message signal = {.kind = MESSAGE_SIGNAL, .a = SIGTERM};
	const struct message ended = {.kind = MESSAGE_ENDED, .a = 256};
	struct message in;
	int ends[2];
	(void)state;
	open_pair(ends);
	assert_int_equal(message_send(ends[1], &signal, 0), 0);
	assert_int_equal(message_send(ends[0], &ended, 0), 0);
	close(ends[0]);
	assert_int_equal(message_receive(ends[1], &in, 0), 0);
	assert_int_equal(in.kind, MESSAGE_ENDED);
	assert_int_equal(message_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

/* Messages sent before the other side ended still arrive; then the end is reported. */
static void the_other_side_ends(void **state)
{
	const struct message out = {.kind = MESSAGE_ENDED, .a = 256};
	struct message in;
	int ends[2];
	(void)state;
	open_pair(ends);
	assert_int_equal(message_send(ends[0], &out, 0), 0);
	close(ends[0]);
	assert_int_equal(message_receive(ends[1], &in, 0), 0);
	assert_int_equal(in.kind, MESSAGE_ENDED);
	assert_int_equal(in.a, 256);
	assert_int_equal(message_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(message_receive(ends[1], &in, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EPIPE);
	/* No SIGPIPE, whatever its disposition. */
	assert_int_equal(message_send(ends[1], &out, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

static void not_a_message(void **state)
{
	struct message in;
	int ends[2];
	(void)state;
	open_pair(ends);
	assert_int_equal(send(ends[0], "short", 5, 0), 5);
	assert_int_equal(message_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[0]), close(ends[1]);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A signal while waiting is not an answer. */
static void waits_through_signals(void **state)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct message m = {.kind = MESSAGE_STARTED};
	int ends[2];
	(void)state;
	open_pair(ends);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pid_t waiter = fork();
	if (waiter == 0) {
		close(ends[0]);
		_exit(message_receive(ends[1], &m, 0) == 0 && m.kind == MESSAGE_STARTED ? 0 : 1);
	}
	close(ends[1]);
	for (int i = 0; i < 1000; i++)
		kill(waiter, SIGUSR1);
	assert_int_equal(message_send(ends[0], &m, 0), 0);
	int status = -1;
	waitpid(waiter, &status, 0);
	assert_int_equal(status, 0);
	close(ends[0]);
	signal(SIGUSR1, SIG_DFL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_after_another),   cmocka_unit_test(the_other_side_is_stopped),
		cmocka_unit_test(the_other_side_ends), cmocka_unit_test(the_other_side_ends_early),
		cmocka_unit_test(not_a_message),       cmocka_unit_test(waits_through_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
