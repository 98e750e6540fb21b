// See supervisor_internal.h: the supervisor's side of the front end.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"
#include "supervisor/process/prompt.h"
#include "supervisor/process/spawn.h"
#include "supervisor/process/supervisor_internal.h"
#include "supervisor/process/watchdog.h"

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

bool front_send(struct supervisor *s, enum message_kind kind, int a, int b)
{
	struct message m = {.kind = kind, .a = a, .b = b};
	return s->front.fd >= 0 && message_send(s->front.fd, &m, 0) == 0;
}

bool front_is_asleep(const struct supervisor *s)
{
	return s->front.stops > s->front.wakes && s->front.fd >= 0;
}

/* The state of the front end. No event reports that it was stopped by SIGSTOP, which can't be
   passed on, or that it is in the background of a shell. */
struct front_state {
	bool stopped;
	bool background; /* of a terminal whose shell would continue it */
};

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

/* In an orphaned group nobody would continue what is stopped for reading: the kernel does not stop
   it either. */
static bool front_is_in_background(const struct process *p)
{
	struct process parent;
	return p->foreground > 0 && p->foreground != p->group &&
	       process_read(p->parent, &parent) == 0 && parent.session == p->session &&
	       parent.group != p->group;
}

/* Nothing is set if the process has gone. */
static struct front_state front_look(pid_t pid)
{
	struct process p;
	struct front_state state = {.stopped = false};
	if (process_read(pid, &p) < 0)
		return state;
	state.stopped = p.state == 'T';
	state.background = front_is_in_background(&p);
	return state;
}

void front_stop(struct supervisor *s, int sig)
{
	/* A front end that is stopped already continues the command when it goes on. */
	if (!s->front.was_stopped || !front_look(s->job->front).stopped)
		s->front.stops += front_send(s, MESSAGE_STOPPED, sig, 0);
}

void front_continue(struct supervisor *s, int64_t now_ms)
{
	s->timer[TIMER_CONTINUE] = 0;
	if (s->live.state == LIVE_STOPPED || !front_is_asleep(s))
		return;
	TRACE(SIGNALS, "supervisor: SIGCONT to the front end");
	kill(s->job->front, SIGCONT);
	s->timer[TIMER_CONTINUE] = now_ms + CONTINUE_MS;
}

/* Only the terminal's foreground group is stopped; a shell may have put others into it. */
static void front_stop_reader(const struct supervisor *s, const struct source *terminal)
{
	pid_t group = tcgetpgrp(terminal->fd);
	enum prompt_group does = group > 0 ? prompt_look(group, s->device) : PROMPT_BUSY;
	if (does != PROMPT_READS && (does != PROMPT_POLLS || !pty_is_raw(terminal->fd)))
		return;
	TRACE(SIGNALS, "supervisor: SIGTTIN to group %d, which reads in the background",
	      (int)group);
	kill(-group, SIGTTIN);
}

void front_follow(struct supervisor *s, int64_t now_ms)
{
	bool waits =
		s->front.fd >= 0 && s->state == SUPERVISOR_RUNNING && s->caller == CALLER_WAITS;
	s->timer[TIMER_FRONT] = waits ? now_ms + FRONT_MS : 0;
	/* A front end that was asked to stop is in the same state as the command. */
	if (!waits || s->live.state == LIVE_STOPPED || s->front.stops > s->front.wakes)
		return;
	const struct front_state front = front_look(s->job->front);
	struct source *terminal = supervisor_terminal(s);
	if (front.stopped != s->front.was_stopped)
		TRACE(SIGNALS, "supervisor: the front end %s",
		      front.stopped ? "was stopped, so the command is" : "goes on");
	if (front.stopped && !s->front.was_stopped)
		kill(front_children_are_stopped(s->job->front) ? -s->group : s->command, SIGSTOP);
	else if (front.background && terminal && s->job->channels.keyboard >= 0)
		front_stop_reader(s, terminal);
	s->front.was_stopped = front.stopped;
}

static void front_on_gone(struct supervisor *s)
{
	const struct job *job = s->job;
	TRACE(PROCESS, "supervisor: the front end has gone");
	io_close(&s->front.fd);
	if (job->channels.keyboard >= 0)
		watchdog_restore_terminal(job->channels.keyboard, &job->modes, &job->raw);
	if (s->caller != CALLER_WAITS)
		return;
	if (s->state == SUPERVISOR_RUNNING) {
		/* Whoever has killed it may read what is there now. */
		supervisor_print_held(s, INTERCEPT_LAST_WORDS, clock_monotonic_ms());
		s->interrupted = true;
		supervisor_end_tree(s, TREE_HUP);
	}
	delivery_hurry(&s->delivery, clock_monotonic_ms(), 0);
}

void front_bind_to_agent(struct supervisor *s, int64_t now_ms)
{
	const struct settings *set = s->job->settings;
	const char *agent = s->job->deliberate ? NULL : rule_agent(set);
	if (!agent || !rule_outermost(set, agent, s->job->front, &s->agent))
		return;
	TRACE(PROCESS, "supervisor: the run ends with process %d of agent %s", (int)s->agent.pid,
	      agent);
	s->timer[TIMER_AGENT] = now_ms + FRONT_MS;
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

/* Whom a signal for the command's group is for: keys of the caller's terminal are for the job in
   the foreground of the command's, if that has any. */
static pid_t front_find_group(const struct supervisor *s, int sig)
{
	bool key = sig == SIGINT || sig == SIGQUIT || sig == SIGTSTP;
	pid_t group = key && s->job->channels.jobs && s->drawn ? tcgetpgrp(s->drawn->fd) : 0;
	return group > 0 ? group : s->group;
}

static void front_pass_signal(const struct supervisor *s, const struct message *m, size_t len)
{
	siginfo_t queued;
	TRACE(SIGNALS, "supervisor: %s to the command's %s", HUMAN_SIGNAL(m->a),
	      m->b || len == sizeof(queued) ? "process" : "group");
	if (len == sizeof(queued)) {
		memcpy(&queued, m->data, len);
		syscall(SYS_rt_sigqueueinfo, s->command, m->a, &queued);
	} else {
		kill(m->b ? s->command : -front_find_group(s, m->a), m->a);
	}
}

static void front_on_message(struct supervisor *s, const struct message *m, size_t len)
{
	switch (m->kind) {
	case MESSAGE_SIGNAL:
		/* An agent that gives up may read what is there now. */
		if (delivery_is_end(m->a))
			supervisor_print_held(s, INTERCEPT_LAST_WORDS, clock_monotonic_ms());
		if (s->state == SUPERVISOR_RUNNING)
			front_pass_signal(s, m, len);
		delivery_signal(&s->delivery, clock_monotonic_ms(), m->a);
		break;
	case MESSAGE_AWAKE:
		if (++s->front.wakes >= s->front.stops)
			s->timer[TIMER_CONTINUE] = 0;
		break;
	case MESSAGE_INPUT:
		supervisor_type(s, m->data, len);
		live_typed(&s->live, m->data, len);
		break;
	case MESSAGE_WINDOW: live_resize(&s->live, (unsigned)m->a, (unsigned)m->b); break;
	default: break;
	}
}

void front_receive(struct supervisor *s)
{
	struct message m;
	ssize_t len;
	while (s->front.fd >= 0 && (len = message_receive(s->front.fd, &m, MSG_DONTWAIT)) >= 0) {
		s->front.was_stopped = false;
		front_on_message(s, &m, (size_t)len);
	}
	if (s->front.fd >= 0 && errno != EAGAIN)
		front_on_gone(s);
}

void front_end(struct supervisor *s, int bits)
{
	struct pollfd gone = {.fd = s->front.fd, .events = POLLIN};
	bool sent = front_send(s, MESSAGE_ENDED, s->status,
			       bits | (s->timed_out ? ENDED_TIMED_OUT : 0));
	/* The front end was woken on this CPU: it would wait for what this process does next. */
	if (sent && (bits & ENDED_LIVES_ON))
		io_poll(&gone, 1, FRONT_GOES_MS);
	io_close(&s->front.fd);
}
