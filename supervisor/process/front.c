// See supervisor_internal.h: the front end, as the supervisor sees it.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/process/supervisor_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Interval between attempts to continue it. */
#define CONTINUE_MS 20

/* At most so long does a supervisor that goes on wait for the end of the front end. */
#define FRONT_GOES_MS 50

bool front_send(struct supervisor *s, enum frame_kind kind, int a, int b)
{
	return s->front.fd >= 0 && frame_send(s->front.fd, kind, a, b, NULL, 0, MSG_DONTWAIT) == 0;
}

void front_close(struct supervisor *s)
{
	s->front.asleep = 0;
	io_close(&s->front.fd);
}

/* Whether all children but this process (the watchdog) are stopped, or can't be seen. */
static bool front_children_are_stopped(pid_t pid)
{
	struct process_tree tree = {.passes = false};
	struct buffer children = BUFFER_INIT;
	struct process p;
	bool stopped = true;
	process_tree_children(&tree, pid, &children);
	const pid_t *pids = (const pid_t *)children.data;
	for (size_t i = 0; i < children.len / sizeof(*pids); i++)
		stopped &= pids[i] == getpid() || process_read(pids[i], &p) < 0 || p.state == 'T';
	process_tree_release(&tree);
	buffer_release(&children);
	return stopped;
}

void front_stop(struct supervisor *s, int sig)
{
	/* A front end that is stopped already continues the command when it goes on. */
	struct process p;
	if (!s->front.was_stopped || process_read(s->job->front, &p) < 0 || p.state != 'T')
		s->front.asleep += front_send(s, FRAME_STOPPED, sig, 0);
}

void front_continue(struct supervisor *s, int64_t now_ms)
{
	s->timer[TIMER_CONTINUE] = 0;
	if (s->stopped || s->front.asleep <= 0)
		return;
	TRACE(SIGNALS, "supervisor: SIGCONT to the front end");
	kill(s->job->front, SIGCONT);
	s->timer[TIMER_CONTINUE] = now_ms + CONTINUE_MS;
}

void front_follow(struct supervisor *s, int64_t now_ms)
{
	bool waits =
		s->front.fd >= 0 && s->state == SUPERVISOR_RUNNING && s->caller == CALLER_WAITS;
	s->timer[TIMER_FRONT] = waits ? now_ms + FRONT_MS : 0;
	/* A front end that was asked to stop is in the same state as the command. */
	if (!waits || s->stopped || s->front.asleep > 0)
		return;
	/* No event reports that it was stopped by SIGSTOP, which can't be passed on, or that it is
	   in the background of a shell. */
	struct process p, parent;
	bool there = process_read(s->job->front, &p) == 0, stops = there && p.state == 'T';
	if (stops != s->front.was_stopped)
		TRACE(SIGNALS, "supervisor: the front end %s",
		      stops ? "was stopped, so the command is" : "goes on");
	if (stops && !s->front.was_stopped)
		kill(front_children_are_stopped(s->job->front) ? -s->group : s->command, SIGSTOP);
	s->front.was_stopped = stops;
	/* In an orphaned group nobody would continue what is stopped for reading: the kernel does
	   not stop it either. */
	const struct source *terminal = supervisor_terminal(s);
	if (!there || stops || !terminal || s->job->channels.keyboard < 0 || p.foreground <= 0 ||
	    p.foreground == p.group || process_read(p.parent, &parent) < 0 ||
	    parent.session != p.session || parent.group == p.group)
		return;
	/* Only the terminal's foreground group is stopped; a shell may have put others into it. */
	pid_t group = tcgetpgrp(terminal->fd);
	struct wait w = {.input = INPUT_NONE};
	if (group > 0)
		wait_look(&w, s->device, group);
	if (w.input == INPUT_READ || (w.input == INPUT_POLLED && pty_is_raw(terminal->fd))) {
		TRACE(SIGNALS, "supervisor: SIGTTIN to group %d, which reads in the background",
		      (int)group);
		kill(-group, SIGTTIN);
	}
}

void front_look_at_agent(struct supervisor *s, int64_t now_ms)
{
	struct process now;
	/* An error that says nothing of the process ends no run. */
	errno = 0;
	bool lives = process_read(s->agent.pid, &now) < 0
			     ? errno != ENOENT && errno != ESRCH
			     : now.started == s->agent.started && process_is_alive(&now);
	s->timer[TIMER_AGENT] = lives ? now_ms + FRONT_MS : 0;
	if (lives || s->state != SUPERVISOR_RUNNING)
		return;
	TRACE(PROCESS, "supervisor: the agent has gone");
	s->interrupted = true;
	supervisor_end_tree(s, TREE_HUP);
}

bool signal_is_end(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT || sig == SIGKILL;
}

/* A signal that the front end got. */
static void front_pass(struct supervisor *s, const struct frame *f, size_t len)
{
	siginfo_t queued;
	/* An agent that gives up may read what is there now. */
	if (signal_is_end(f->a))
		supervisor_print_held(s, INTERCEPT_LAST_WORDS, clock_monotonic_ms());
	if (s->state == SUPERVISOR_RUNNING) {
		TRACE(SIGNALS, "supervisor: %s to the command's %s", HUMAN_SIGNAL(f->a),
		      f->b || len == sizeof(queued) ? "process" : "group");
		if (len == sizeof(queued)) {
			memcpy(&queued, f->data, len);
			syscall(SYS_rt_sigqueueinfo, s->command, f->a, &queued);
		} else if (f->b) {
			kill(s->command, f->a);
		} else {
			/* Keys of the caller's terminal are for the job in the foreground of the
			   command's, if that has any. */
			bool key = f->a == SIGINT || f->a == SIGQUIT || f->a == SIGTSTP;
			pid_t group = key && s->job->channels.jobs && s->drawn
					      ? tcgetpgrp(s->drawn->fd)
					      : 0;
			kill(group > 0 ? -group : -s->group, f->a);
		}
	}
	if (signal_is_end(f->a))
		supervisor_hurry(s, clock_monotonic_ms(), f->a);
}

void front_receive(void *supervisor, short revents)
{
	struct supervisor *s = supervisor;
	struct frame f;
	(void)revents;
	ssize_t len;
	while (s->front.fd >= 0 && (len = frame_receive(s->front.fd, &f, MSG_DONTWAIT)) >= 0) {
		s->front.was_stopped = false;
		switch (f.kind) {
		case FRAME_TYPE: supervisor_type(s, f.data, (size_t)len); break;
		case FRAME_RESIZE: live_resize(s, (unsigned)f.a, (unsigned)f.b, true); break;
		case FRAME_PASS: front_pass(s, &f, (size_t)len); break;
		case FRAME_AWAKE:
			if (--s->front.asleep <= 0)
				s->timer[TIMER_CONTINUE] = 0;
			break;
		default: break;
		}
	}
	if (s->front.fd < 0 || errno == EAGAIN)
		return;
	TRACE(PROCESS, "supervisor: the front end has gone");
	front_close(s);
	watchdog_restore_terminal(s->job);
	if (s->caller != CALLER_WAITS)
		return;
	if (s->state == SUPERVISOR_RUNNING) {
		/* Whoever has killed it may read what is there now. */
		supervisor_print_held(s, INTERCEPT_LAST_WORDS, clock_monotonic_ms());
		s->interrupted = true;
		supervisor_end_tree(s, TREE_HUP);
	}
	supervisor_hurry(s, clock_monotonic_ms(), 0);
}

void front_end(struct supervisor *s, int bits)
{
	struct pollfd gone = {.fd = s->front.fd, .events = POLLIN};
	bool sent =
		front_send(s, FRAME_ENDED, s->status, bits | (s->timed_out ? ENDED_TIMED_OUT : 0));
	/* The front end was woken on this CPU: it would wait for what this process does next. */
	if (sent && (bits & ENDED_LIVES_ON))
		io_poll(&gone, 1, FRONT_GOES_MS);
	front_close(s);
}
