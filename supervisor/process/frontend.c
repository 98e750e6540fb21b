// Both ends of the connection between front end and supervisor (protocol.h): first the front end,
// the process that the user started (job.h), then the supervisor's side (supervisor_internal.h).

#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/process/supervisor_internal.h"
#include "supervisor/remote/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_FAILED 125

/* Interval at which a front end in the background checks whether it is now in the foreground: the
   `fg` of a shell sends no signal to a job that is running. */
#define FOREGROUND_MS 300

/* If the command has not started after twice this time, the front end takes the supervisor's place
   (frontend_wait_for_end()) and checks more often. A single interval proves nothing, since the
   whole machine may have stalled. */
#define NOT_STARTED_MS 250
#define LATE_LOOK_MS   50

/* How long process 1 waits for the push of its run: container engines kill a container 10 s after
   asking it to stop. */
#define PUSH_MS ((int64_t)10 * 1000)

struct frontend {
	struct job *job;
	int supervisor;       /* socket */
	pid_t watchdog;       /* -1: none */
	int watchdog_socket;  /* for questions to the watchdog, or -1 */
	pid_t command, group; /* set once the command runs */
	pid_t session;        /* the supervisor's process ID */
	int signals;          /* signalfd */
	bool raw;             /* the person's terminal is in raw mode */
	bool waited;          /* the wait for the command's start has timed out once */
	bool late; /* the start took long, so the watchdog has left this process's group */
	struct tree_end ending;
	bool interrupt_typed, suspend_typed; /* keys were typed for which a terminal sends a
						signal */
	bool full;                           /* the supervisor does not read its frames */
	bool over;
	struct frame end; /* the last frame; once `over`, the one that reports the end */
};

static void frontend_enter_raw(struct frontend *f)
{
	int keyboard = f->job->channels.keyboard;
	pid_t group = keyboard >= 0 && !f->raw ? tcgetpgrp(keyboard) : 0;
	/* Only the foreground may read the controlling terminal; anybody may read another terminal
	   (a serial console). */
	if (group > 0 ? group == getpgrp() : group < 0 && errno == ENOTTY)
		f->raw = tcsetattr(keyboard, TCSADRAIN, &f->job->raw) == 0;
}

static void frontend_leave_raw(struct frontend *f)
{
	if (f->raw)
		tcsetattr(f->job->channels.keyboard, TCSADRAIN, &f->job->modes);
	f->raw = false;
}

static void frontend_forget(int sig)
{
	const struct timespec now = {0, 0};
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigtimedwait(&set, NULL, &now);
}

/* Signals the group of this process. A typed key has signalled only the command's group, in the
   command's terminal; on the person's own terminal, the script around this process would have got
   the signal, too. */
static void frontend_signal_group(const struct frontend *f, int sig)
{
	kill(0, sig);
	/* This signal must not be passed on to the command once more. */
	frontend_forget(sig);
	watchdog_ask(f->watchdog, f->watchdog_socket, sig);
}

static void frontend_stop(struct frontend *f, int sig)
{
	frontend_leave_raw(f);
	TRACE(SIGNALS, "front end: stops with the command");
	if (f->suspend_typed)
		frontend_signal_group(f, SIGTSTP);
	f->suspend_typed = false;
	sigset_t set;
	sigemptyset(&set);
	/* Stops this process by the same signal, so that its parent learns why, until somebody
	   continues it. In an orphaned group the kernel ignores such a signal; then SIGSTOP stops
	   this process. */
	if (sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU) {
		struct sigaction was, action = {.sa_handler = SIG_DFL};
		sigemptyset(&action.sa_mask);
		sigaddset(&set, sig);
		sigaction(sig, &action, &was);
		kill(getpid(), sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		sigprocmask(SIG_BLOCK, &set, NULL);
		sigaction(sig, &was, NULL);
		sigpending(&set);
	}
	if (!sigismember(&set, SIGCONT))
		kill(getpid(), SIGSTOP);
	TRACE(SIGNALS, "front end: goes on");
	frame_send(f->supervisor, FRAME_AWAKE, 0, 0, NULL, 0, MSG_DONTWAIT);
	frontend_enter_raw(f);
}

static void frontend_pass_signal(const struct frontend *f, const struct signalfd_siginfo *info)
{
	const int sig = (int)info->ssi_signo;
	const bool starts = f->late && f->group == 0, has_value = info->ssi_code == SI_QUEUE;
	/* Finds out whether the signal was sent to this process alone or to its group: the
	   watchdog, which is in the group, knows. A signal that is neither from kill(2) nor from
	   the kernel was sent to a single process. */
	bool is_for_one = info->ssi_code < 0;
	if (!is_for_one) {
		is_for_one = !f->late && !watchdog_ask(f->watchdog, f->watchdog_socket, sig);
		/* timeout(1) sends a signal to the process and directly afterwards to its group.
		   The command would have noticed only one of the two without terse, so it gets
		   one. */
		if (sig < SIGRTMIN)
			frontend_forget(sig);
	}
	siginfo_t queued = {.si_signo = sig, .si_code = SI_QUEUE};
	queued.si_pid = (pid_t)info->ssi_pid;
	queued.si_uid = info->ssi_uid;
	queued.si_value.sival_ptr = (void *)(uintptr_t)info->ssi_ptr;
	/* Finds out whether the signal came from the command's session, or from a session that the
	   command has made. If a command signals all processes (kill -TERM -1), the signal does not
	   go back to the command; sudo does the same. */
	pid_t session = !starts && info->ssi_code <= 0 && info->ssi_pid > 0
				? getsid((pid_t)info->ssi_pid)
				: 0;
	bool echo = session > 0 && (session == f->session || session == f->command);
	TRACE(SIGNALS, "front end: %s from %d, for the %s: %s", HUMAN_SIGNAL(sig),
	      (int)info->ssi_pid, is_for_one ? "process" : "group",
	      starts ? "sent to the session, as the command has not started"
	      : echo ? "the command's own, dropped"
		     : "passed to the supervisor");
	if (starts)
		tree_signal(f->session, sig);
	else if (!echo)
		frame_send(f->supervisor, FRAME_PASS, sig, is_for_one, &queued,
			   has_value ? sizeof(queued) : 0, MSG_DONTWAIT);
}

/* Whether a message can be sent now: a supervisor that is stopped must not block this process. */
static bool frontend_has_room(const struct frontend *f)
{
	struct pollfd fd = {.fd = f->supervisor, .events = POLLOUT};
	return poll(&fd, 1, 0) < 0 || (fd.revents & POLLOUT);
}

static void frontend_on_signals(void *ctx, short revents)
{
	struct frontend *f = ctx;
	struct signalfd_siginfo info;
	(void)revents;
	while (!(f->full = !frontend_has_room(f)) &&
	       read(f->signals, &info, sizeof(info)) == sizeof(info)) {
		int sig = (int)info.ssi_signo;
		if (sig == SIGCONT)
			frontend_enter_raw(f);
		struct winsize size;
		const int keyboard = f->job->channels.keyboard;
		if ((sig == SIGWINCH || sig == SIGCONT) && keyboard >= 0 &&
		    ioctl(keyboard, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && size.ws_row > 1)
			frame_send(f->supervisor, FRAME_RESIZE, size.ws_col, size.ws_row, NULL, 0,
				   MSG_DONTWAIT);
		/* Nothing to pass on: the kernel signals a new size to the command, the supervisor
		   has continued the command already, or a child of this process has ended. */
		bool is_known = (sig == SIGWINCH && keyboard >= 0) ||
				(sig == SIGCONT && (pid_t)info.ssi_pid == f->session) ||
				(sig == SIGCHLD && info.ssi_code > 0);
		if (!is_known)
			frontend_pass_signal(f, &info);
	}
}

static void frontend_on_keys(void *ctx, short revents)
{
	struct frontend *f = ctx;
	const int keyboard = f->job->channels.keyboard;
	char keys[FRAME_REQUEST];
	int len;
	f->full = f->full || !frontend_has_room(f);
	/* If poll() fails, the loop reports every descriptor as ready, so this checks first. */
	if (f->full || (revents == POLLIN && ioctl(keyboard, FIONREAD, &len) == 0 && len == 0))
		return;
	ssize_t n = read(keyboard, keys, sizeof(keys));
	if (n > 0) {
		const cc_t *special = f->job->modes.c_cc;
		for (ssize_t i = 0; i < n; i++) {
			const cc_t key = (cc_t)keys[i];
			if (key == _POSIX_VDISABLE)
				continue;
			f->interrupt_typed |= key == special[VINTR] || key == special[VQUIT];
			f->suspend_typed |= key == special[VSUSP];
		}
		frame_send(f->supervisor, FRAME_TYPE, 0, 0, keys, (size_t)n, MSG_DONTWAIT);
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
		frontend_leave_raw(f); /* the terminal is gone; HUP follows */
	}
}

/* Ends the command's processes after the supervisor was killed; the command's status is lost. */
_Noreturn static void frontend_on_supervisor_gone(struct frontend *f)
{
	struct tree_end end = {
		.session = f->session, .group = f->group, .grace_ms = f->job->settings->grace};
	TRACE(PROCESS, "front end: the supervisor has gone, the command is ended");
	frontend_leave_raw(f);
	while (tree_end_step(&end, TREE_HUP, clock_monotonic_ms()))
		poll(NULL, 0, 20);
	static const struct report failure = {
		.error_code = "supervisor_killed",
		.error_message =
			"the process that supervised the command was killed; the command was "
			"ended, its status is unknown",
		.state = REPORT_INTERRUPTED,
		.exit_code = -1,
	};
	if (f->job->settings->format != FORMAT_TEXT)
		summary_print_failure(f->job, &failure);
	else
		fprintf(stderr, "terse: %s\n", failure.error_message);
	exit(EXIT_FAILED);
}

static void frontend_on_frame(void *ctx, short revents)
{
	struct frontend *f = ctx;
	if (!(revents & ~POLLOUT))
		return;
	if (frame_receive(f->supervisor, &f->end, MSG_DONTWAIT) < 0) {
		if (errno == EAGAIN)
			return;
		frontend_on_supervisor_gone(f);
	}
	if (f->end.kind == FRAME_STARTED) {
		f->command = f->end.a;
		f->group = f->end.b;
		/* Descriptors that the command has closed must not stay open here. */
		const int keep[] = {f->supervisor, f->signals, f->watchdog_socket,
				    f->job->channels.keyboard, trace_fd};
		io_close_others(STDERR_FILENO + 1, keep, sizeof(keep) / sizeof(*keep));
		if (f->job->channels.stdin_held)
			io_null(STDIN_FILENO, STDIN_FILENO);
	} else if (f->end.kind == FRAME_STOPPED) {
		frontend_stop(f, f->end.a);
	} else {
		f->over = true;
	}
}

static void frontend_wait_for_end(struct frontend *f)
{
	static struct loop l; /* static, since the stack may not grow so much if memory is
				   limited */
	loop_begin(&l);
	while (!f->over) {
		int64_t now = clock_monotonic_ms();
		if (f->group == 0)
			loop_until(&l, now + (f->late ? LATE_LOOK_MS : NOT_STARTED_MS));
		else if (f->job->channels.keyboard >= 0 && !f->raw)
			loop_until(&l, now + FOREGROUND_MS);
		if (!f->full)
			loop_watch(&l, f->signals, POLLIN, frontend_on_signals, f);
		if (!f->full && f->raw)
			loop_watch(&l, f->job->channels.keyboard, POLLIN, frontend_on_keys, f);
		loop_watch(&l, f->supervisor, f->full ? POLLIN | POLLOUT : POLLIN,
			   frontend_on_frame, f);
		f->full = false;
		int ready = loop_turn(&l);
		/* The supervisor sleeps until the command has been executed. If the exec hangs (a
		   file server does not answer, somebody has stopped the child), this process ends
		   the command at its timeout and passes signals on. If this process is killed, the
		   watchdog ends the command, even if the whole group of this process was killed. */
		const bool waits = ready == 0 && f->group == 0;
		if (waits && f->waited) {
			const int64_t timeout = f->job->settings->timeout;
			now = clock_monotonic_ms();
			TRACE(PROCESS, "front end: the command has not started yet");
			if (!f->late)
				watchdog_ask(f->watchdog, f->watchdog_socket, WATCHDOG_LEAVE);
			f->late = true;
			if (timeout && now >= f->job->begun_ms + timeout)
				tree_end_step(&f->ending, TREE_TERM, now);
		}
		f->waited |= waits;
		if (ready >= 0 && !f->over)
			frontend_enter_raw(f);
	}
}

/* Forks the supervisor. Returns 0, or -1 with errno when there is no supervisor. Descriptors whose
   closing nobody waits for stay open until the command has started, or until exec. */
static int frontend_start(struct frontend *f)
{
	int pair[2], watch[2] = {-1, -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	/* If this fails, the run does without a watchdog. */
	if (pipe2(watch, O_CLOEXEC | O_NONBLOCK) < 0)
		watch[0] = watch[1] = -1;
	int *const all[] = {&pair[0], &pair[1], &watch[0], &watch[1]};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		*all[i] = io_above_standard(*all[i]);
	/* Tests whether frames can be received, before one was sent. A sandbox may prevent that;
	   the end of the command would then be lost. The first frame that is sent tests sending. */
	bool can_talk = pair[0] >= 0 && pair[1] >= 0 &&
			frame_receive(pair[0], &f->end, MSG_DONTWAIT) < 0 && errno == EAGAIN;
	pid_t pid = can_talk ? fork() : -1;
	if (pid == 0) {
		io_close(&pair[0]);
		io_close(&watch[0]);
		supervisor_run(f->job, pair[1], watch[1]);
	}
	io_close(&pair[1]);
	io_close(&watch[1]);
	if (pid < 0)
		return -1;
	f->supervisor = pair[0];
	f->session = pid;
	f->ending = (struct tree_end){.session = pid, .grace_ms = f->job->settings->grace};
	/* Starts the watchdog while the supervisor makes terminals. If that fails, the run does
	   without one. */
	if (watch[0] >= 0)
		f->watchdog = watchdog_start(f->job, pid, watch[0], &f->watchdog_socket);
	if (frame_send(f->supervisor, FRAME_GUARDED, 0, 0, NULL, 0, MSG_DONTWAIT) == 0 ||
	    errno == EPIPE || errno == ECONNRESET)
		return 0;
	/* The supervisor waits for that frame and has started nothing yet. The watchdog ends with
	   the supervisor. */
	kill(pid, SIGKILL);
	spawn_reap(pid);
	spawn_reap(f->watchdog);
	return -1;
}

static int frontend_exec_directly(const struct job *job)
{
	TRACE(PROCESS, "front end: no supervisor (%m), the command is run without");
	signals_restore(&job->signals);
	return spawn_exec(job, environ);
}

int frontend_run(struct job *job)
{
	static struct frontend f; /* static, as in supervisor_run() */
	sigset_t set;
	f.job = job;
	f.watchdog = f.watchdog_socket = -1;
	job->front = getpid();
	job->parent = getppid();
	/* The leader of a group can't make a session, so a setsid(1) that is a leader forks, and
	   nobody waits for its command. So setsid gets a group with another leader; other commands
	   do not, since one more process costs time on a busy machine. */
	const char *slash = strrchr(job->argv[0], '/');
	job->leads =
		strcmp(slash ? slash + 1 : job->argv[0], "setsid") != 0 || getpgrp() == job->front;
	signals_take(&job->signals);
	sigfillset(&set);
	f.signals = io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	/* Without a signalfd this process could not wait for the end of the command. */
	if (f.signals < 0)
		return frontend_exec_directly(job);
	/* Sets raw mode before the command can ask for anything, since keys must not be echoed
	   twice. */
	frontend_enter_raw(&f);
	if (frontend_start(&f) < 0) {
		frontend_leave_raw(&f);
		return frontend_exec_directly(job);
	}
	frontend_wait_for_end(&f);
	frontend_leave_raw(&f);
	TRACE(PROCESS, "front end: %s (%d)",
	      f.end.kind == FRAME_REFUSED     ? "nothing was started"
	      : f.end.kind == FRAME_NOT_FOUND ? "no such program"
	      : f.end.kind == FRAME_YIELDED   ? "the run goes on"
					      : "the run has ended",
	      f.end.a);
	/* The agent may not yet have read the last output. */
	if (f.end.kind != FRAME_REFUSED && job->settings->exit_delay &&
	    job->channels.sink[0] == SINK_AGENT)
		poll(NULL, 0, (int)job->settings->exit_delay);
	switch (f.end.kind) {
	case FRAME_REFUSED:
	case FRAME_NOT_FOUND:
		/* Reaps both here, since not every container has an init that would reap them. */
		spawn_reap(f.session);
		spawn_reap(f.watchdog);
		return f.end.kind == FRAME_REFUSED ? frontend_exec_directly(job) : f.end.a;
	case FRAME_YIELDED:
		watchdog_ask(f.watchdog, f.watchdog_socket, WATCHDOG_LEAVE);
		_exit(f.end.a);
	default: break;
	}
	if (f.end.b & ENDED_WATCHED)
		watchdog_ask(f.watchdog, f.watchdog_socket, WATCHDOG_LEAVE);
	else
		spawn_reap(f.watchdog);
	if (!(f.end.b & ENDED_LIVES_ON))
		spawn_reap(f.session);
	/* When process 1 of a container ends, all others end with it, even the one that pushes. So
	   process 1 pushes, too. */
	struct store store;
	struct outbox outbox;
	if (job->front == 1 && settings_push(job->settings) && store_open_write(&store) == 0) {
		if (outbox_open(&outbox, &store, false) == 0)
			outbox_push(&outbox, job->settings, clock_monotonic_ms() + PUSH_MS);
		outbox_close(&outbox);
		store_close(&store);
	}
	if (f.end.b & ENDED_TIMED_OUT)
		_exit(EXIT_TIMEOUT);
	int sig = WIFSIGNALED(f.end.a) ? WTERMSIG(f.end.a) : 0;
	if (f.interrupt_typed && (sig == SIGINT || sig == SIGQUIT))
		frontend_signal_group(&f, sig);
	if (sig && job->settings->signal_status)
		_exit(128 + sig);
	signals_end_like(f.end.a);
}

/* --- the supervisor's end ----------------------------------------------------------------------
 */

/* Interval between attempts to continue the front end. */
#define CONTINUE_MS 20

/* How long a supervisor that outlives the front end waits for it to end. */
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

/* Whether all children of process `pid`, other than the caller, are stopped or can't be seen. */
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
	/* A front end that is stopped already needs no frame: it continues the command when it is
	   continued itself. */
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

static void front_look_at_agent(struct supervisor *s, int64_t now_ms)
{
	struct process now;
	/* Only an error that means that the process is gone ends the run. */
	errno = 0;
	bool lives = process_read(s->agent.pid, &now) < 0
			     ? errno != ENOENT && errno != ESRCH
			     : now.started == s->agent.started && process_is_alive(&now);
	s->timer[TIMER_FRONT] = lives ? now_ms + FRONT_MS : 0;
	if (lives || s->state != SUPERVISOR_RUNNING)
		return;
	TRACE(PROCESS, "supervisor: the agent has gone");
	s->interrupted = true;
	supervisor_end_tree(s, TREE_HUP);
}

void front_look(struct supervisor *s, int64_t now_ms)
{
	bool waits =
		s->front.fd >= 0 && s->state == SUPERVISOR_RUNNING && s->caller == CALLER_WAITS;
	s->timer[TIMER_FRONT] = waits ? now_ms + FRONT_MS : 0;
	if (s->agent.pid)
		front_look_at_agent(s, now_ms);
	/* A front end that was asked to stop needs no look: it does what the command does. */
	if (!waits || s->stopped || s->front.asleep > 0)
		return;
	/* No event reports that SIGSTOP, which can't be passed on, has stopped the front end, or
	   that a shell has put it into the background. */
	struct process p, parent;
	bool there = process_read(s->job->front, &p) == 0, stops = there && p.state == 'T';
	if (stops != s->front.was_stopped)
		TRACE(SIGNALS, "supervisor: the front end %s",
		      stops ? "was stopped, so the command is" : "goes on");
	if (stops && !s->front.was_stopped)
		kill(front_children_are_stopped(s->job->front) ? -s->group : s->command, SIGSTOP);
	s->front.was_stopped = stops;
	/* Like the kernel, does not stop a reader in an orphaned group, since nobody would continue
	   it. */
	const struct source *terminal = supervisor_terminal(s);
	if (!there || stops || !terminal || s->job->channels.keyboard < 0 || p.foreground <= 0 ||
	    p.foreground == p.group || process_read(p.parent, &parent) < 0 ||
	    parent.session != p.session || parent.group == p.group)
		return;
	/* Stops the foreground group of the terminal, which a shell may have changed. */
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

bool signal_is_end(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT || sig == SIGKILL;
}

static void front_pass(struct supervisor *s, const struct frame *f, size_t len)
{
	siginfo_t queued;
	/* An agent that gives up may read the held text now. */
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
			/* A key typed at the caller's terminal signals the foreground job of the
			   command's terminal, if that terminal has jobs. */
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
	const struct frame *f = &s->front.frame;
	(void)revents;
	ssize_t len;
	while (s->front.fd >= 0 &&
	       (len = frame_receive(s->front.fd, &s->front.frame, MSG_DONTWAIT)) >= 0) {
		s->front.was_stopped = false;
		switch (f->kind) {
		case FRAME_TYPE: prompt_type(s, f->data, (size_t)len); break;
		case FRAME_RESIZE: live_resize(s, (unsigned)f->a, (unsigned)f->b, true); break;
		case FRAME_PASS: front_pass(s, f, (size_t)len); break;
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
		/* Whoever killed the front end may read the held text now. */
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
	/* The frame has woken the front end on this CPU, where it can't run until this process
	   sleeps. */
	if (sent && (bits & ENDED_LIVES_ON))
		poll(&gone, 1, FRONT_GOES_MS);
	front_close(s);
}
