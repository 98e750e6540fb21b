// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/proc.h"
#include "lib/trace.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define LOOK_MS 20

/* How long after a signal to the process a signal to its group may come: timeout(1) signals its
   child, then its group. */
#define LATER_MS 3

/* After this time without an answer the asker checks whether the watchdog can run, since answers
   are late on a machine that stalls. */
#define ANSWER_MS    300
#define ANSWER_LOOKS 20

/* A question is the number of a signal, or WATCHDOG_LEAVE; the answer is the same number, with the
   bit YES or without. */
#define YES 0x80

void watchdog_restore_terminal(const struct job *job)
{
	const int terminal = job->channels.keyboard;
	const struct termios *raw = &job->raw;
	struct termios now;
	/* By now a shell may have noticed the end, and set its own modes. */
	if (terminal >= 0 && tcgetattr(terminal, &now) == 0 && now.c_lflag == raw->c_lflag &&
	    now.c_iflag == raw->c_iflag && now.c_oflag == raw->c_oflag)
		tcsetattr(terminal, TCSADRAIN, &job->modes);
}

/* Answers a question. Returns false if the asker is gone. */
static bool watchdog_answer(int asked)
{
	unsigned char what;
	ssize_t n = recv(asked, &what, 1, MSG_DONTWAIT);
	if (n != 1)
		return n < 0 && errno == EAGAIN;
	if (what == WATCHDOG_LEAVE)
		setsid();
	const struct timespec later = {.tv_nsec = LATER_MS * 1000000};
	sigset_t set;
	sigemptyset(&set);
	if (what != WATCHDOG_LEAVE)
		sigaddset(&set, what);
	if (what == WATCHDOG_LEAVE || sigtimedwait(&set, NULL, &later) == what)
		what |= YES;
	TRACE(SIGNALS, "watchdog: asked about %d: %s", what & ~YES, what & YES ? "yes" : "no");
	return io_send(asked, &what, 1, MSG_NOSIGNAL) == 1;
}

_Noreturn static void watch(const struct job *job, pid_t session, int pipe, int asked)
{
	pid_t group = 0, told[2];
	bool is_blind = false;
	static struct loop loop; /* as in supervisor_turn() */
	loop_begin(&loop);
	io_close_others(0, (int[]){pipe, job->channels.keyboard, asked, trace_fd}, 4);
	for (ssize_t n = -1; n != 0 && !is_blind;) {
		int waiting;
		bool ends = false, asks = false;
		/* POLLPRI never comes, so only the pipe's end wakes the watchdog (or each look,
		   where poll() fails). */
		loop_watch(&loop, pipe, POLLPRI, loop_note, &ends);
		loop_watch(&loop, asked, POLLIN, loop_note, &asks);
		loop_turn(&loop);
		if (ends) {
			n = read(pipe, told, sizeof(told));
			/* Reading failed, or the supervisor's message says that there is nothing to
			   end. */
			if ((n < 0 && errno != EAGAIN) ||
			    (n > 0 && told[n / (ssize_t)sizeof(*told) - 1] == 0))
				_exit(0);
			group = n > 0 ? told[0] : group;
		}
		if (!asks || watchdog_answer(asked))
			continue;
		/* The front end is gone. The supervisor sleeps until the command has been executed,
		   so it may not have noticed. */
		asked = -1;
		is_blind = group == 0 && ioctl(pipe, FIONREAD, &waiting) == 0 && waiting == 0;
	}
	TRACE(PROCESS, "watchdog: the %s was killed, the command is ended",
	      is_blind ? "front end" : "supervisor");
	watchdog_restore_terminal(job);
	struct tree_end end = {
		.session = session, .group = group, .grace_ms = job->settings->grace};
	/* Goes on only while the session's number can't belong to a new process. The supervisor was
	   forked before this process, so a process of that number must not be younger than this
	   one. */
	struct process leader, self;
	while ((process_read(session, &leader) < 0 ||
		(process_read(getpid(), &self) == 0 && leader.started <= self.started)) &&
	       tree_end_step(&end, TREE_HUP, clock_monotonic_ms()))
		poll(NULL, 0, LOOK_MS);
	_exit(0);
}

void watchdog_tell(int *pipe, pid_t group)
{
	/* Tries the write twice: without the message the watchdog would end processes that must
	   stay alive. */
	if (*pipe >= 0 && io_write(*pipe, &group, sizeof(group)) < 0)
		io_write(*pipe, &group, sizeof(group));
	if (group == 0)
		io_close(pipe);
}

pid_t watchdog_start(const struct job *job, pid_t session, int pipe, int *asked)
{
	int pair[2];
	*asked = -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pair[0] = io_above_standard(pair[0]);
	pair[1] = io_above_standard(pair[1]);
	pid_t pid = pair[0] >= 0 && pair[1] >= 0 ? fork() : -1;
	if (pid == 0)
		watch(job, session, pipe, pair[1]);
	if (pid > 0)
		*asked = pair[0];
	return pid;
}

bool watchdog_ask(pid_t watchdog, int asked, int what)
{
	const struct timeval limit = {.tv_usec = ANSWER_MS * 1000};
	const unsigned char question = (unsigned char)what;
	unsigned char said;
	struct process p;
	if (io_send(asked, &question, 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return true;
	setsockopt(asked, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (int looks = 0; looks <= ANSWER_LOOKS;) {
		ssize_t n = recv(asked, &said, 1, 0);
		/* Ignores a late answer to an earlier question. */
		if (n == 1 && (said & ~YES) == what)
			return said & YES;
		/* A watchdog that is stopped, traced or waits for a disk may not answer for
		   hours. */
		looks += n < 0;
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
		    (n < 0 &&
		     (process_read(watchdog, &p) < 0 || (p.state != 'S' && p.state != 'R'))))
			return true;
	}
	return true;
}
