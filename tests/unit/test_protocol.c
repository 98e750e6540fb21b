// Frames between the processes of a run.

#include "supervisor/process/protocol.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void open_pair(int ends[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
}

TEST(one_after_another)
{
	static const size_t lengths[] = {0, 1, 100, FRAME_DATA - 1, FRAME_DATA};
	static char data[FRAME_DATA];
	struct frame in;
	int ends[2];
	open_pair(ends);
	memset(data, 'k', sizeof(data));
	for (int i = 0; i < 5; i++)
		assert_int_equal(
			frame_send(ends[0], FRAME_TYPE, i - 1, 1 << i, data, lengths[i], 0), 0);
	for (size_t i = 0; i < 5; i++) {
		memset(&in, 0, sizeof(in));
		assert_int_equal(frame_receive(ends[1], &in, 0), lengths[i]);
		assert_int_equal(in.kind, FRAME_TYPE);
		assert_int_equal(in.a, (int)i - 1);
		assert_int_equal(in.b, 1 << i);
		assert_memory_equal(in.data, data, lengths[i]);
	}
	assert_int_equal(frame_receive(ends[1], &in, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(ends[0]), close(ends[1]);
}

/* A stopped process reads nothing: its sender must not block. */
TEST(the_other_side_is_stopped)
{
	struct frame in;
	int ends[2], sent = 0, got = 0;
	open_pair(ends);
	while (frame_send(ends[0], FRAME_STOPPED, SIGTSTP, 0, NULL, 0, MSG_DONTWAIT) == 0)
		sent++;
	assert_int_equal(errno, EAGAIN);
	while (frame_receive(ends[1], &in, MSG_DONTWAIT) == 0)
		got++;
	assert_int_equal(got, sent);
	close(ends[0]), close(ends[1]);
}

/* It has not read all that was sent to it, which the kernel tells first. */
TEST(the_other_side_ends_early)
{
	struct frame in;
	int ends[2];
	open_pair(ends);
	assert_int_equal(frame_send(ends[1], FRAME_PASS, SIGTERM, 0, NULL, 0, 0), 0);
	assert_int_equal(frame_send(ends[0], FRAME_ENDED, 256, 0, NULL, 0, 0), 0);
	close(ends[0]);
	assert_int_equal(frame_receive(ends[1], &in, 0), 0);
	assert_int_equal(in.kind, FRAME_ENDED);
	assert_int_equal(frame_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

/* Messages sent before the other side ended still arrive; then the end is reported. */
TEST(the_other_side_ends)
{
	struct frame in;
	int ends[2];
	open_pair(ends);
	assert_int_equal(frame_send(ends[0], FRAME_ENDED, 256, 0, NULL, 0, 0), 0);
	close(ends[0]);
	assert_int_equal(frame_receive(ends[1], &in, 0), 0);
	assert_int_equal(in.kind, FRAME_ENDED);
	assert_int_equal(in.a, 256);
	assert_int_equal(frame_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPIPE);
	assert_int_equal(frame_receive(ends[1], &in, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EPIPE);
	/* No SIGPIPE, whatever its disposition. */
	assert_int_equal(frame_send(ends[1], FRAME_ENDED, 256, 0, NULL, 0, 0), -1);
	assert_int_equal(errno, EPIPE);
	close(ends[1]);
}

TEST(not_a_frame)
{
	static char huge[2 * sizeof(struct frame)];
	const struct frame other = {.version = PROTOCOL_VERSION + 1};
	struct frame in;
	int ends[2];
	open_pair(ends);
	assert_int_equal(send(ends[0], "short", 5, 0), 5);
	assert_int_equal(send(ends[0], huge, sizeof(huge), 0), sizeof(huge));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(frame_receive(ends[1], &in, 0), -1);
		assert_int_equal(errno, EPROTO);
	}
	assert_int_equal(send(ends[0], &other, FRAME_HEAD, 0), FRAME_HEAD);
	assert_int_equal(frame_receive(ends[1], &in, 0), -1);
	assert_int_equal(errno, EPROTONOSUPPORT);
	assert_int_equal(frame_send(ends[0], FRAME_TYPE, 0, 0, huge, FRAME_DATA + 1, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	close(ends[0]), close(ends[1]);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A signal while waiting is not an answer. */
TEST(waits_through_signals)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct frame m;
	int ends[2];
	open_pair(ends);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	pid_t waiter = fork();
	if (waiter == 0) {
		close(ends[0]);
		_exit(frame_receive(ends[1], &m, 0) == 0 && m.kind == FRAME_STARTED ? 0 : 1);
	}
	close(ends[1]);
	for (int i = 0; i < 1000; i++)
		kill(waiter, SIGUSR1);
	assert_int_equal(frame_send(ends[0], FRAME_STARTED, 0, 0, NULL, 0, 0), 0);
	int status = -1;
	waitpid(waiter, &status, 0);
	assert_int_equal(status, 0);
	close(ends[0]);
	signal(SIGUSR1, SIG_DFL);
}

TEST_MAIN(NULL, NULL)
