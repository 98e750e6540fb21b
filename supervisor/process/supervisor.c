// See job.h, and supervisor_internal.h for the states of a run.

#include "lib/active.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"
#include "supervisor/process/supervisor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a run lives before it gets its socket. */
#define LIVE_OPEN_MS 100

/* Interval between checks for the command's end if no event reports it. */
#define CHILD_MS 1000

/* How much input may wait for the command to read its terminal; further input is dropped, as the
   kernel does. */
#define INPUT_MAX ((size_t)1024 * 1024)

/* Interval between looks for processes that have yet to print the command's last output
   (supervisor_on_finish()). */
#define FINISH_MS 10

/* How long a child that the command has just forked (`server >log &`) has to redirect its
   output. */
#define FORKED_MS 20

/* The most bytes to read directly after the command's exit: more than a pty or pipe holds, but a
   limit for a background process that writes without pause. */
#define DRAIN_MAX ((size_t)4 * 1024 * 1024)

#define DRAIN_TRIES 3

/* Limits for background processes that write after the end of a run was reported: RATE_LIMIT_BURST
   bytes are read at full speed, then RATE_LIMIT_RATE bytes a second. Processes that write more have
   to wait, so a flood costs neither processor nor disk. */
#define RATE_LIMIT_BURST ((int64_t)16 * 1024 * 1024)
#define RATE_LIMIT_RATE  ((int64_t)1024 * 1024)

/* Within that rate, the fewest bytes that are worth a wake-up. */
#define LEAST_TAKEN (RATE_LIMIT_RATE / 10)

/* A report within the usual limits needs less than this. */
#define OUT_RESERVE   ((size_t)128 * 1024)
#define PIECE_RESERVE ((size_t)64 * 1024)

/* Interval between attempts to set the session's niceness. A shorter run gets only the first
   attempt, and only if its process is niced, since the look at the group costs 5 us. */
#define NICE_MS 110

struct source *supervisor_terminal(struct supervisor *s)
{
	struct source *source = &s->sources[0];
	return source->pty && source->fd >= 0 ? source : NULL;
}

int supervisor_queue_input(struct supervisor *s, const char *data, size_t len)
{
	bool has_room = s->input.len + len <= INPUT_MAX;
	return has_room && buffer_try_append(&s->input, data, len) == 0 ? 0 : EAGAIN;
}

void supervisor_each_text(struct supervisor *s, void (*each)(struct interceptor *text))
{
	for (struct source *source = s->sources; source < s->end; source++) {
		if (source->text)
			each(source->text);
	}
}

void supervisor_end_tree(struct supervisor *s, int step)
{
	TRACE(PROCESS, "supervisor: the process tree is being ended");
	s->ending = true;
	supervisor_each_text(s, interceptor_cut);
	tree_end_step(&s->tree, step, clock_monotonic_ms());
}

static void supervisor_drain(struct supervisor *s)
{
	for (struct source *source = s->sources; source < s->end; source++) {
		size_t left = DRAIN_MAX;
		/* A read that found nothing is repeated, too: see source_read_once(). */
		for (int tries = 0; tries < DRAIN_TRIES && left > 0;) {
			int more = source_read(source, s->chunk, SOURCE_CHUNK);
			if (more < 0)
				break;
			if (more > 0)
				left -= SOURCE_CHUNK;
			else
				tries++;
		}
	}
}

/* Reads and drops the output of background processes after its recording has ended, so that their
   writes neither fail nor wait forever. `fds`: non-blocking pty masters or pipes, or -1. Closes
   each of them once its other side is closed, and returns after the last. Needs no memory. */
static void discard_output(struct supervisor *s, int fds[2])
{
	static struct loop loop;
	while (fds[0] >= 0 || fds[1] >= 0) {
		for (int i = 0; i < 2; i++)
			loop_watch(&loop, fds[i], POLLIN, NULL, NULL);
		loop_turn(&loop);
		for (int i = 0; i < 2; i++) {
			int end = EAGAIN;
			if (fds[i] >= 0 &&
			    source_read_once(fds[i], false, s->chunk, SOURCE_CHUNK, &end) == 0 &&
			    end != EAGAIN)
				io_close(&fds[i]);
		}
		/* Reads no faster than while the output was recorded. */
		poll(NULL, 0, (int)(SOURCE_CHUNK * 1000 / RATE_LIMIT_RATE));
	}
}

/* Whether the process is a shell's child that is about to read a pipe (`> >(reader)`): for a moment
   it holds both ends of the pipe. */
static bool is_on_its_way(pid_t pid)
{
	struct process_walk w;
	char link[64], ends[2][64] = {"", ""};
	bool found = false;
	for (long fd = process_walk(&w, PROCESS_DESCRIPTORS, pid); fd >= 0 && !found;
	     fd = process_walk_next(&w)) {
		if (!process_walk_link(&w, fd, link, sizeof(link)) ||
		    strncmp(link, "pipe:", 5) != 0)
			continue;
		char *end = ends[process_can_read(pid, (unsigned long)fd, NULL)];
		snprintf(end, sizeof(ends[0]), "%s", link);
		found = strcmp(ends[0], ends[1]) == 0;
	}
	process_walk_end(&w);
	return found;
}

/* Judges the processes that hold the output. HOLDERS_END: one of these processes has exited since
   it was found; a process's descriptors disappear from /proc a moment before they are closed. */
enum holders { HOLDERS_STAY, HOLDERS_END, HOLDERS_WORK };

/* HOLDERS_WORK: one of the holders still has something to do and ends soon. Its standard input is a
   pipe that has no writers and is not the command's own input; or it is a fork that has yet to
   execute a program, which is assumed of every fork if `just_ended`. */
static enum holders supervisor_judge_holders(const struct supervisor *s, bool just_ended)
{
	const struct stat *given = &s->job->channels.given[STDIN_FILENO];
	enum holders are = s->holder_count == 0 && just_ended ? HOLDERS_END : HOLDERS_STAY;
	for (int i = 0; i < s->holder_count; i++) {
		const pid_t pid = s->holders[i].pid;
		struct process process;
		if (process_read(pid, &process) < 0 || process.ending) {
			are = HOLDERS_END;
			continue;
		}
		if (process.forked && (just_ended || is_on_its_way(pid)))
			return HOLDERS_WORK;
		struct stat st;
		if (process_stat(pid, STDIN_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode) ||
		    (st.st_dev == given->st_dev && st.st_ino == given->st_ino))
			continue;
		/* Opens the pipe once more, so that poll() shows whether it has a writer. */
		struct pollfd p = {.fd = process_open(pid, "fd/0"), .events = POLLIN};
		bool finishing = p.fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
		io_close(&p.fd);
		if (finishing)
			return HOLDERS_WORK;
	}
	return are;
}

/* Called when the command has ended. `exec > >(tee log)` and `| tee &` leave a process that has yet
   to print the command's last output, which often says why it failed. Makes the report once such
   processes are gone, or after [run] finish. */
static void supervisor_on_finish(struct supervisor *s, int64_t now_ms)
{
	int fds[2] = {-1, -1};
	/* Looks at the channels whose late output a person or an agent would miss. */
	for (struct source *source = s->sources;
	     source < s->end && s->caller == CALLER_WAITS && !s->ending; source++) {
		if (source->fd >= 0 && source_text(source))
			interceptor_reader(source->text);
		if (source->sink == SINK_AGENT || source->sink == SINK_PERSON)
			fds[source - s->sources] = source->fd;
	}
	bool is_open = fds[0] >= 0 || fds[1] >= 0;
	bool waits = is_open && now_ms < s->ended_ms + s->job->settings->finish;
	bool just_ended = now_ms < s->ended_ms + FORKED_MS;
	/* Looks again for processes that hold the output: names change, and one that has ended may
	   have fed another. */
	if (is_open && !(waits && supervisor_judge_holders(s, just_ended) == HOLDERS_WORK)) {
		struct buffer who = BUFFER_INIT;
		int all = pipe_holder_find(fds, s->holders, HOLDERS);
		/* If none is seen now, those that were found before count. */
		if (all > 0)
			s->holder_count = all < HOLDERS ? all : HOLDERS;
		if (all > 0)
			quote_text(&who, s->holders[0].name, strlen(s->holders[0].name), 0);
		if (all > 1)
			buffer_printf(&who, " and %d other%s still write", all - 1,
				      all > 2 ? "s" : "");
		else if (all > 0)
			buffer_append_string(&who, " still writes");
		snprintf(s->who, sizeof(s->who), "%s", buffer_string(&who) ? who.data : "");
		buffer_release(&who);
	}
	if (waits && supervisor_judge_holders(s, just_ended) != HOLDERS_STAY) {
		s->timer[TIMER_FINISH] = now_ms + FINISH_MS;
		return;
	}
	s->timer[TIMER_FINISH] = 0;
	supervisor_drain(s);
	supervisor_report(s);
}

static void supervisor_on_child(void *ctx, short revents)
{
	struct supervisor *s = ctx;
	/* At most one of each signal in the set is pending. */
	struct signalfd_siginfo infos[2];
	(void)revents;
	int status;
	ssize_t n = read(s->signals, infos, sizeof(infos));
	for (ssize_t i = 0; i < n / (ssize_t)sizeof(*infos); i++) {
		/* The machine shuts down: the run is pushed with the output of background processes
		   so far. */
		if (infos[i].ssi_signo == SIGTERM && s->state == SUPERVISOR_LINGERING)
			snprintf(s->linger_why, sizeof(s->linger_why), "SIGTERM");
	}
	while (s->state == SUPERVISOR_RUNNING) {
		pid_t pid = waitpid(s->command, &status, WNOHANG | WUNTRACED | WCONTINUED);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid <= 0)
			break;
		TRACE(SIGNALS, "supervisor: the command %s (wait status 0x%x)",
		      WIFSTOPPED(status)     ? "was stopped"
		      : WIFCONTINUED(status) ? "goes on"
					     : "has ended",
		      (unsigned)status);
		if (WIFSTOPPED(status)) {
			s->stopped = true;
			front_stop(s, WSTOPSIG(status));
			live_tell_now(s, clock_monotonic_ms());
		} else if (WIFCONTINUED(status)) {
			s->stopped = false;
			front_continue(s, clock_monotonic_ms());
			live_tell_now(s, clock_monotonic_ms());
		}
		if (WIFSTOPPED(status) || WIFCONTINUED(status))
			continue;
		s->status = status;
		s->stopped = false;
		s->tree.command = 0;
		s->timer[TIMER_PERSON] = 0;
		if (s->group != s->command)
			waitpid(s->group, NULL, 0);
		front_continue(s, clock_monotonic_ms());
		/* The kernel sends HUP to the foreground group when the session leader ends or the
		   master is closed. Background children that the command has left in its group must
		   not get it. */
		for (struct source *source = s->sources; source < s->end; source++) {
			if (source->lasting && source->pty && source->fd >= 0)
				tcsetpgrp(source->fd, getpgrp());
			source->lasting = source->hung = false;
		}
		supervisor_drain(s);
		s->ended_ms = clock_monotonic_ms();
		looks_touch(&s->looks, s->ended_ms);
		s->state = SUPERVISOR_FINISHING;
		supervisor_on_finish(s, s->ended_ms);
	}
}

/* Whether the reader still gets what is written: an agent or person until the command ends or the
   run yields, a program for longer. */
static bool supervisor_delivers(const struct supervisor *s, const struct source *source)
{
	return source->fd >= 0 && source->sink != SINK_PERSON &&
	       (source->onward || (supervisor_has_reader(s) && s->front.fd >= 0));
}

/* Called when the reader is gone or its disk is full: lets the command notice that, almost as if
   terse were not there. If only an agent's preview finds the disk full, the command continues,
   since its text is kept. */
static void supervisor_on_broken_queue(struct supervisor *s, struct source *source)
{
	source->gone |= source->queue.error == EPIPE || source->queue.error == ECONNRESET;
	if (!supervisor_delivers(s, source) || (source->sink == SINK_AGENT && !source->gone))
		return;
	TRACE(SINK, "%s: the reader takes no more: %s", source->is_stderr ? "stderr" : "stdout",
	      source->gone ? "it has gone" : strerror(source->queue.error));
	bool runs = s->state == SUPERVISOR_RUNNING;
	if (runs && source->queue.error == EFBIG)
		kill(-s->group, SIGXFSZ);
	else if (runs && source->pty)
		kill(-s->group, SIGPIPE);
	source_close(source);
}

static void supervisor_on_tick(struct supervisor *s, int64_t now_ms)
{
	(void)now_ms;
	s->timer[TIMER_TICK] = 0;
	for (struct source *source = s->sources; source < s->end; source++) {
		struct interceptor *text = source->text;
		source->hung = false;
		if (text && source->fd >= 0)
			interceptor_update_live(text);
	}
}

static void supervisor_on_pause(struct supervisor *s, int64_t now_ms)
{
	for (struct source *source = s->sources; source < s->end; source++) {
		int64_t due = source->text ? interceptor_facts(source->text).settle_due : 0;
		if (!due || now_ms < due)
			continue;
		interceptor_settle(source->text, now_ms);
		interceptor_update_live(source->text);
		live_tell_soon(s, now_ms);
	}
	supervisor_print_held(s, INTERCEPT_PAUSE, now_ms);
}

static void supervisor_on_timeout(struct supervisor *s, int64_t now_ms)
{
	s->timer[TIMER_TIMEOUT] = 0;
	if (s->state == SUPERVISOR_RUNNING) {
		s->timed_out = true;
		supervisor_end_tree(s, TREE_TERM);
	}
	supervisor_hurry(s, now_ms, W_EXITCODE(EXIT_TIMEOUT, 0));
}

/* Gives the session the niceness of its processes. The kernel shares the processors among sessions
   by the niceness of each session (sched(7)). That of a new session is 0, so the caller's `nice`
   would have no effect. */
static void supervisor_on_niceness(struct supervisor *s, int64_t now_ms)
{
	char text[64];
	int group = 0;
	s->timer[TIMER_NICE] = 0;
	if (process_file(s->job->front, text, sizeof(text), "autogroup") < 0 ||
	    sscanf(text, "/autogroup-%*d nice %d", &group) != 1)
		return;
	int nice = group + getpriority(PRIO_PROCESS, (id_t)s->job->front);
	nice = nice < PRIO_MIN ? PRIO_MIN : nice >= PRIO_MAX ? PRIO_MAX - 1 : nice;
	int fd = nice ? open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC) : -1;
	snprintf(text, sizeof(text), "%d", nice);
	/* The kernel allows this once every tenth of a second on the whole machine. */
	if (fd >= 0 && write(fd, text, strlen(text)) < 0 && errno == EAGAIN)
		s->timer[TIMER_NICE] = now_ms + NICE_MS;
	io_close(&fd);
}

static void supervisor_on_tree(struct supervisor *s, int64_t now_ms)
{
	s->ending = tree_end_step(&s->tree, 0, now_ms);
}

/* Called when background processes have been silent for long. Processes with sessions of their own
   need no terminal, so this process does not stay for them. */
static void supervisor_on_silence(struct supervisor *s, int64_t now_ms)
{
	char time[HUMAN_LEN];
	const int fds[] = {s->sources[0].fd, s->sources[1].fd};
	const int64_t idle = s->job->settings->linger_idle;
	int count = pipe_holder_find(fds, s->holders, HOLDERS), daemons = 0;
	for (int i = 0; i < count && i < HOLDERS; i++)
		daemons += s->holders[i].session != getpid();
	if (count > 0 && daemons == count)
		snprintf(s->linger_why, sizeof(s->linger_why), "silent for %s ([run] linger_idle)",
			 human_duration(time, idle));
	s->timer[TIMER_LINGER_IDLE] = now_ms + idle;
}

static bool supervisor_is_open(const struct supervisor *s)
{
	return s->sources[0].fd >= 0 || s->sources[1].fd >= 0;
}

/* The earlier of two times; 0: not set. */
static int64_t timer_sooner(int64_t a, int64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Sets the timers of the supervisor's parts, which keep their own deadlines. */
static void supervisor_look_at_clocks(struct supervisor *s)
{
	int64_t pause = 0;
	for (struct source *source = s->sources; source < s->end; source++) {
		if (!source->text)
			continue;
		pause = timer_sooner(pause, interceptor_facts(source->text).settle_due);
		if (supervisor_has_reader(s))
			pause = timer_sooner(pause, interceptor_pause_due(source->text));
	}
	bool unseen = s->caller == CALLER_LEFT || s->job->channels.keyboard < 0;
	bool asks = s->device && unseen && s->state < SUPERVISOR_FLUSHING && s->sources[0].fd >= 0;
	bool draws = s->drawn && s->state == SUPERVISOR_RUNNING && !s->stopped && s->looks.at;
	s->timer[TIMER_LOOK] = asks    ? s->looks.at
			       : draws ? timer_sooner(s->looks.at, s->looks.screen_at)
				       : 0;
	s->timer[TIMER_PAUSE] = pause;
	/* The next signal to the tree and the next look at it have separate times. */
	int64_t tree = s->tree.next_ms < s->tree.look_ms ? s->tree.next_ms : s->tree.look_ms;
	s->timer[TIMER_TREE] = s->ending ? tree : 0;
}

/* The handlers of the timers, in the order in which they are called. A handler's prefix names its
   file: front_, live_, prompt_. Handlers that tell the reader something are in
   supervisor_report.c. */
static const struct {
	const char *name; /* NULL: not traced, since it is due too often */
	void (*handle)(struct supervisor *s, int64_t now_ms);
} deadlines[TIMERS] = {
	[TIMER_CONTINUE] = {"continue the front end", front_continue},
	[TIMER_TICK] = {"tick", supervisor_on_tick},
	[TIMER_HEARTBEAT] = {"heartbeat", supervisor_heartbeat},
	[TIMER_TIMEOUT] = {"timeout", supervisor_on_timeout},
	[TIMER_YIELD] = {"yield", supervisor_yield},
	[TIMER_HAND_OVER] = {"hand over", supervisor_hand_over},
	[TIMER_FRONT] = {"look at the front end", front_look},
	[TIMER_PERSON] = {"the person has not answered", prompt_on_unanswered},
	[TIMER_FINISH] = {"finish", supervisor_on_finish},
	[TIMER_NICE] = {"niceness", supervisor_on_niceness},
	[TIMER_LINGER_IDLE] = {"silence", supervisor_on_silence},
	[TIMER_OPEN] = {NULL, live_try_open},
	[TIMER_CHANGED] = {NULL, live_tell_now},
	[TIMER_LOOK] = {NULL, prompt_on_look},
	[TIMER_PAUSE] = {NULL, supervisor_on_pause},
	[TIMER_TREE] = {NULL, supervisor_on_tree},
};

static void supervisor_on_time(struct supervisor *s, int64_t now_ms)
{
	supervisor_look_at_clocks(s);
	for (int i = 0; i < TIMERS; i++) {
		if (!s->timer[i] || now_ms < s->timer[i])
			continue;
		if (deadlines[i].name)
			TRACE(PROCESS, "supervisor: deadline: %s", deadlines[i].name);
		deadlines[i].handle(s, now_ms);
	}
}

/* Closes all descriptors of the caller, except the pipe of a program that still reads. A supervisor
   that ends with the front end need not do this. */
static void supervisor_drop_caller(struct supervisor *s)
{
	if (s->caller == CALLER_LEFT)
		return;
	s->caller = CALLER_LEFT;
	summary_release(&s->summary);
	/* Standard input was usually closed when the command got it. */
	bool kept[STDERR_FILENO + 1] = {s->job->channels.keyboard != STDIN_FILENO};
	for (struct source *source = s->sources; source < s->end; source++) {
		if (source->onward)
			kept[source->queue.fd] = true;
		else
			source_let_go(source);
	}
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (!kept[fd])
			io_null(fd, fd);
	}
	if (s->job->channels.keyboard > STDERR_FILENO)
		close(s->job->channels.keyboard);
}

/* Lets the caller go after its reader got the report that the run continues. */
static void supervisor_finish_yield(struct supervisor *s)
{
	const struct settings *set = s->job->settings;
	int status = s->handed_over ? s->hand_over.status : (int)set->yield_status;
	status = supervisor_outcome(s, W_EXITCODE(status, 0));
	supervisor_drop_caller(s);
	chdir("/"); /* a process without a caller must not keep a file system busy */
	/* Unless somebody asked for the front end to leave, the run ends with the agent that
	   started it. */
	const char *agent = s->job->deliberate ? NULL : rule_agent(set);
	if (agent && rule_outermost(set, agent, s->job->front, &s->agent)) {
		TRACE(PROCESS, "supervisor: the run ends with process %d of agent %s",
		      (int)s->agent.pid, agent);
		s->timer[TIMER_FRONT] = clock_monotonic_ms() + FRONT_MS;
	} else {
		s->agent.pid = 0;
	}
	front_send(s, FRAME_YIELDED,
		   WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), 0);
	front_close(s);
}

static bool supervisor_is_held(const struct supervisor *s)
{
	return s->ending || supervisor_is_open(s) || s->sources[0].onward || s->sources[1].onward;
}

/* Called when the reader has everything: the front end may end, and the caller's descriptors are
   closed. If this process ends as well, it sends the front end that frame at the very end
   (supervisor_finish()). */
static void supervisor_linger(struct supervisor *s)
{
	const int fds[] = {s->sources[0].fd, s->sources[1].fd};
	s->status = supervisor_outcome(s, s->status);
	s->state = SUPERVISOR_LINGERING;
	s->stall_at = s->timer[TIMER_HEARTBEAT] = 0;
	static const struct buffer none = BUFFER_INIT;
	const struct buffer *texts[2] = {NULL, NULL};
	for (const struct source *source = s->sources; source < s->end; source++)
		texts[source->is_stderr] = source->text ? interceptor_held(source->text) : &none;
	if (record_keep(&s->record, texts) < 0 && record_open(&s->record)) {
		supervisor_each_text(s, interceptor_spill);
		supervisor_keep_both(s);
		artifact_update(s->record.artifact);
	}
	shown_keep(&s->record.shown, s->record.artifact);
	TRACE(PROCESS, "supervisor: the reader has everything%s",
	      supervisor_is_held(s) ? ", and the output is still held" : "");
	if (!supervisor_is_held(s))
		return;
	supervisor_drop_caller(s);
	if (!s->ending)
		watchdog_tell(&s->watchdog, 0);
	chdir("/"); /* a process without a caller must not keep a file system busy */
	s->lingers = true;
	/* There is no time limit for the pipe of a program. */
	const int64_t idle = s->job->settings->linger_idle;
	if (idle && !s->sources[0].onward && !s->sources[1].onward)
		s->timer[TIMER_LINGER_IDLE] = clock_monotonic_ms() + idle;
	/* If the run is being ended, its processes may stay alive for the grace time, and the
	   caller may look for the run before that. */
	if (s->ending)
		record_add_history(&s->record);
	front_end(s, ENDED_LIVES_ON | (s->watchdog >= 0 ? ENDED_WATCHED : 0));
	if (!supervisor_is_open(s))
		return;
	/* The rest is done only now, since nobody waits for it. */
	live_open(s);
	struct meta *m = &s->record.meta;
	int count = pipe_holder_find(fds, s->holders, HOLDERS);
	for (m->holders = 0; m->holders < count && m->holders < META_HOLDERS; m->holders++) {
		struct meta_holder *h = &m->held_by[m->holders];
		h->pid = s->holders[m->holders].pid;
		memcpy(h->name, s->holders[m->holders].name, sizeof(h->name));
	}
	record_tell_shown(&s->record);
	if (s->record.artifact)
		artifact_update(s->record.artifact);
}

/* Goes on to the next state when it is time. Returns whether the last state is over. */
static bool supervisor_is_done(struct supervisor *s, int64_t now_ms)
{
	if (s->state == SUPERVISOR_FINISHING && !supervisor_is_open(s))
		supervisor_on_finish(s, now_ms);
	if (s->caller == CALLER_YIELDING && supervisor_deliver(s, now_ms))
		supervisor_finish_yield(s);
	if (s->state == SUPERVISOR_FLUSHING && s->front.asleep <= 0 &&
	    supervisor_deliver(s, now_ms))
		supervisor_linger(s);
	if (s->state != SUPERVISOR_LINGERING)
		return false;
	/* Ends a program's pipe once the program has everything that was written. */
	for (struct source *source = s->sources; source < s->end; source++) {
		if (!source->onward || source->fd >= 0 || source->queue.queue.len > 0)
			continue;
		source->onward = false;
		source_let_go(source);
		io_null(source->queue.fd, source->queue.fd);
	}
	if (supervisor_is_held(s) && (s->ending || !*s->linger_why))
		return false;
	/* Waits until the clients have got the end of the run, unless they stall. */
	if (!live_is_pending(&s->live))
		return true;
	if (!s->stall_at)
		s->stall_at = now_ms + STALL_MS;
	return now_ms >= s->stall_at;
}

static void supervisor_on_writable(void *ctx, short revents)
{
	struct source *source = ctx;
	output_queue_pump(&source->queue);
	if (!source->queue.error && !(revents & (POLLERR | POLLHUP)))
		return;
	if (!source->queue.error)
		source->gone = true;
	/* From now on the command's writes to a pipe fail. A terminal is closed only at the next
	   write. */
	if (source->queue.error || !source->pty)
		supervisor_on_broken_queue(source->run, source);
}

static void supervisor_on_readable(void *ctx, short revents)
{
	struct source *source = ctx;
	struct supervisor *s = source->run;
	uint64_t before = source->came;
	/* The input is written after the turn. */
	if (source->fd < 0 || !(revents & ~POLLOUT))
		return;
	source_read(source, s->chunk, source->gone ? 1 : SOURCE_TURN);
	int64_t now_ms = clock_monotonic_ms();
	if (!source->onward && s->lingers && source->came > before) {
		/* Each byte advances `paid` by the time that it takes at the allowed rate. */
		int64_t now = now_ms * (RATE_LIMIT_RATE / 1000);
		s->paid = (s->paid > now ? s->paid : now) + (int64_t)(source->came - before);
		if (s->timer[TIMER_LINGER_IDLE])
			s->timer[TIMER_LINGER_IDLE] = now_ms + s->job->settings->linger_idle;
	}
	if (source->came > before)
		looks_touch(&s->looks, now_ms);
	if (source->text && source->came > before)
		interceptor_came(source->text, now_ms);
	if (source->queue.error || (source->gone && source->came > before))
		supervisor_on_broken_queue(s, source);
	supervisor_keep_both(s);
	if (!s->timer[TIMER_TICK] && (source->hung || (source->text && s->record.artifact)))
		s->timer[TIMER_TICK] = now_ms + TICK_MS;
}

/* One turn of the loop: waits for what can happen next and deals with it. */
static void supervisor_turn(struct supervisor *s, int64_t now_ms)
{
	static struct loop loop; /* a stack may not grow so much where memory is limited */
	struct loop *l = &loop;
	loop_begin(l);
	supervisor_look_at_clocks(s);
	int64_t over = s->paid - now_ms * (RATE_LIMIT_RATE / 1000) - RATE_LIMIT_BURST;
	int64_t pace = over < 0 ? 0 : now_ms + (over + LEAST_TAKEN) / (RATE_LIMIT_RATE / 1000);
	loop_until(l, pace);
	if (s->state >= SUPERVISOR_FLUSHING)
		loop_until(l, s->stall_at);
	/* A command that has closed its output usually ends soon. */
	if (s->state == SUPERVISOR_RUNNING && !supervisor_is_open(s))
		loop_until(l, now_ms + CHILD_MS);
	/* The reader of the summary has taken a piece, so the next piece follows without
	   waiting. */
	if (s->summary.is_open && supervisor_print_summary(s))
		loop_until(l, now_ms);
	/* Queues are served before the sources are read, so that the end of a reader is noticed
	   before later output of the command. */
	for (struct source *source = s->sources; source < s->end; source++) {
		bool waits = source->queue.queue.len > 0;
		bool has_end = source->queue.type == S_IFIFO || source->queue.type == S_IFSOCK;
		/* The end of a reader must be noticed even while nothing is written. */
		bool watches = has_end && !source->gone && !source->queue.error &&
			       supervisor_delivers(s, source);
		if (waits || watches)
			loop_watch(l, output_queue_poll_fd(&source->queue), waits ? POLLOUT : 0,
				   supervisor_on_writable, source);
	}
	for (struct source *source = s->sources; source < s->end; source++) {
		/* Not read while FLUSHING: the front end ends once the program has what the
		   command itself wrote. */
		bool rests = source->onward ? s->state == SUPERVISOR_FLUSHING : pace > 0;
		if (source->fd >= 0 && !source->hung && !rests &&
		    !output_queue_is_full(&source->queue))
			loop_watch(l, source->fd,
				   POLLIN |
					   (source == s->sources && s->input.len > 0 ? POLLOUT : 0),
				   supervisor_on_readable, source);
	}
	live_watch(&s->live, l);
	loop_watch(l, s->front.fd, POLLIN, front_receive, s);
	loop_watch(l, s->signals, POLLIN, supervisor_on_child, s);
	for (int i = 0; i < TIMERS; i++)
		loop_until(l, s->timer[i]);
	int ready = loop_turn(l);
	/* Nothing has happened, so checks whether the command has ended without a signal. */
	if (ready == 0)
		supervisor_on_child(s, 0);
	if (ready > 0 && s->live.clients)
		live_serve(s);
	while (s->input.len > 0) {
		const struct source *terminal = supervisor_terminal(s);
		ssize_t n = terminal ? write(terminal->fd, s->input.data, s->input.len) : -1;
		/* Without a terminal nobody can read the input. */
		if (!terminal)
			buffer_clear(&s->input);
		else if (n > 0)
			buffer_consume(&s->input, (size_t)n);
		else if (errno != EINTR)
			break;
	}
}

/* Ends the recording. Puts the descriptors to which background processes still write into
   `left`. */
static void supervisor_finish(struct supervisor *s, int left[2])
{
	if (*s->linger_why)
		TRACE(PROCESS, "supervisor: the recording ends: %s", s->linger_why);
	for (int i = 0; i < 2; i++) {
		struct source *source = &s->sources[i];
		left[i] = source->fd;
		source->fd = -1;
		source_close(source);
		if (left[i] >= 0 && source->text && s->record.artifact &&
		    !interceptor_facts(source->text).is_binary)
			artifact_end_recording(s->record.artifact,
					       source->is_stderr ? ARTIFACT_ERR : ARTIFACT_OUT,
					       s->linger_why);
	}
	record_close(&s->record, s->lingers);
	/* Closes the socket only now, so that clients that wait for the end find the run kept. */
	live_close(&s->live);
	bool goes_on = s->record.gc_due || s->record.push_due;
	/* The front end gets its frame first; otherwise the end of the watchdog would wake it,
	   too. */
	if (!goes_on)
		front_end(s, 0);
	watchdog_tell(&s->watchdog, 0);
	if (goes_on)
		supervisor_drop_caller(s);
	TRACE(PROCESS, "supervisor: ends%s%s", s->record.gc_due ? ", after a cleanup" : "",
	      s->record.push_due ? ", after a push" : "");
	/* Nobody must wait for the cleanup and the push. */
	if (goes_on)
		front_end(s, ENDED_LIVES_ON);
	if (s->record.gc_due)
		record_clean_up(&s->record);
}

/* Pushes the run; in a child, if this process has to read what background processes write. */
static void supervisor_push(struct supervisor *s, const int left[2])
{
	bool reads = left[0] >= 0 || left[1] >= 0;
	if (reads && fork() != 0)
		return;
	const int keep[] = {trace_fd, s->record.outbox.dir};
	io_close_others(STDERR_FILENO + 1, keep, 2);
	chdir("/"); /* a process without a caller must not keep a file system busy */
	malloc_trim(0);
	setpriority(PRIO_PROCESS, 0, PRIO_MAX / 2);
	outbox_stay(&s->record.outbox, s->record.pushing);
	_exit(0);
}

/* Ends this process before anything was started: the front end executes the command itself, or
   reports why that is impossible. */
_Noreturn static void supervisor_refuse(struct supervisor *s, enum frame_kind kind, int error)
{
	watchdog_tell(&s->watchdog, 0);
	front_send(s, kind, error, 0);
	_exit(0);
}

/* Opens the channels and starts the command. If that fails, ends this process. */
static void supervisor_start(struct supervisor *s)
{
	const struct job *job = s->job;
	const struct channels *l = &job->channels;
	sigset_t set;
	const pid_t session = setsid();
	s->tree.session = session > 0 ? session : getpid();
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	/* Watches for SIGTERM, since the run must be pushed before the machine shuts down. */
	if (settings_push(job->settings))
		sigaddset(&set, SIGTERM);
	s->signals = io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	s->chunk = io_block(SOURCE_CHUNK);
	if (s->signals < 0 || !s->chunk)
		supervisor_refuse(s, FRAME_REFUSED, errno);
	/* Reserves memory for most reports, so that the end of a run does not fail for lack of
	   memory. */
	if (!s->is_text && (buffer_reserve(&s->summary.out, OUT_RESERVE) < 0 ||
			    buffer_reserve(&s->summary.report.piece, PIECE_RESERVE) < 0))
		supervisor_refuse(s, FRAME_REFUSED, errno);
	for (int i = 0; i < 2; i++) {
		if (l->channel[i] == CHANNEL_INHERIT || l->channel[i] == CHANNEL_MERGED)
			continue;
		if (source_open(s->end, s, i) < 0)
			supervisor_refuse(s, FRAME_REFUSED, errno);
		s->end++;
	}
	struct stat st;
	bool terminal = l->controlling && s->sources[0].pty &&
			ioctl(s->sources[0].child, TIOCSCTTY, 0) == 0;
	if (terminal && fstat(s->sources[0].child, &st) == 0)
		s->device = st.st_rdev;
	s->looks = (struct looks){.master = s->sources[0].fd, .device = s->device};
	/* Nobody can type keys into this terminal, so checks whether the command waits for keys. */
	for (struct source *source = s->sources; source < s->end && !terminal && !l->person;
	     source++) {
		bool other = l->jobs && !source->lasting;
		if (!source->pty || other || s->drawn || fstat(source->child, &st) < 0)
			continue;
		s->drawn = source;
		s->looks = (struct looks){.master = source->fd, .device = st.st_rdev};
	}
	char active[ACTIVE_SIZE];
	active_name(active, s->tree.session, l->person);
	char **envp = environment_make(environ, job->settings, !l->person, active);
	if (!envp)
		supervisor_refuse(s, FRAME_REFUSED, errno);
	/* The command's ends. */
	int fds[] = {terminal && l->stdin_pty ? s->sources[0].child : -1, -1, -1};
	for (const struct source *source = s->sources; source < s->end; source++)
		fds[source->is_stderr ? STDERR_FILENO : STDOUT_FILENO] = source->child;
	if (l->channel[1] == CHANNEL_MERGED)
		fds[2] = fds[1] >= 0 ? fds[1] : STDOUT_FILENO;
	const int foreground = terminal ? s->sources[0].child : l->jobs ? fds[2] : -1;
	/* If the front end was killed before it had a watchdog, nothing is started. */
	if (frame_receive(s->front.fd, &s->front.frame, 0) < 0 && errno == EPIPE)
		_exit(0);
	if (getpriority(PRIO_PROCESS, 0) != 0)
		supervisor_on_niceness(s, 0);
	s->command = spawn_command(job, envp, fds, foreground, &s->group);
	watchdog_tell(&s->watchdog, s->group);
	if (s->command > 0)
		TRACE(PROCESS, "supervisor: command %d in group %d%s", (int)s->command,
		      (int)s->group, terminal ? ", with a controlling terminal" : "");
	else
		TRACE(PROCESS, "supervisor: the command can't be started: %m");
	if (s->command <= 0)
		supervisor_refuse(s, s->command < 0 ? FRAME_REFUSED : FRAME_NOT_FOUND, errno);
	free(envp);
	for (struct source *source = s->sources; source < s->end; source++)
		io_close(&source->child);
	front_send(s, FRAME_STARTED, s->command, s->group);
	/* Closes the descriptors that the caller has passed down for the command, so that the
	   processes at their other ends notice when the command closes them. */
	const int keep[] = {trace_fd,    s->front.fd,      s->watchdog,
			    s->signals,  s->sources[0].fd, s->sources[1].fd,
			    l->keyboard, job->caller,      job->lock};
	io_close_others(STDERR_FILENO + 1, keep, sizeof(keep) / sizeof(*keep));
	if (l->stdin_held)
		io_null(STDIN_FILENO, STDIN_FILENO);
}

static void supervisor_prepare(struct supervisor *s)
{
	static const int raised[] = {RLIMIT_NOFILE, RLIMIT_FSIZE};
	const struct job *job = s->job;
	const struct settings *set = job->settings;
	record_init(&s->record, job);
	s->record.meta.command = s->command;
	record_prepare(&s->record, set->gc_interval);
	for (struct source *source = s->sources; source < s->end; source++)
		output_queue_init(&source->queue,
				  source->is_stderr ? STDERR_FILENO : STDOUT_FILENO);
	/* The caller's limits are for the command. Whether a text can be kept must not depend on
	   them. */
	for (size_t i = 0; i < sizeof(raised) / sizeof(*raised); i++) {
		struct rlimit limit;
		if (getrlimit(raised[i], &limit) < 0 || limit.rlim_cur == limit.rlim_max)
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(raised[i], &limit);
	}
	s->live = (struct live){
		.dir = -1,
		.fd = -1,
		.recording = set->record,
		.cols = job->cols,
		.rows = job->rows,
	};
	s->timer[TIMER_OPEN] = job->begun_ms + LIVE_OPEN_MS;
	if (job->caller)
		live_adopt(&s->live, job->caller, true);
	if (job->lock > 0) {
		live_try_open(s, job->begun_ms);
		close(job->lock);
	}
	s->tree.command = s->command;
	s->tree.group = s->group;
	s->tree.grace_ms = set->grace;
	int64_t now_ms = clock_monotonic_ms();
	if (set->timeout)
		s->timer[TIMER_TIMEOUT] = job->begun_ms + set->timeout;
	s->timer[TIMER_FRONT] = now_ms + FRONT_MS;
	s->timer[TIMER_NICE] = now_ms + NICE_MS;
	/* Takes over the niceness of the front end at once, since the front end may leave soon. */
	if (set->yield || set->detach) {
		s->timer[TIMER_YIELD] = set->detach ? now_ms : job->begun_ms + set->yield;
		s->timer[TIMER_NICE] = now_ms;
	}
	s->hand_over = rule_hand_over(set, set->agent);
	if (s->hand_over.after)
		s->timer[TIMER_HAND_OVER] = job->begun_ms + s->hand_over.after;
	s->heartbeat_ms = set->heartbeat;
	if (s->heartbeat_ms && !job->channels.person && s->is_text)
		s->timer[TIMER_HEARTBEAT] = now_ms + s->heartbeat_ms;
	prompt_begin(s, now_ms);
}

_Noreturn void supervisor_run(const struct job *job, int front, int watchdog)
{
	/* Static, so that pages that a run never touches are never allocated. */
	static struct supervisor s;
	s.job = job;
	s.is_text = job->settings->format == FORMAT_TEXT;
	s.front.fd = front;
	s.watchdog = watchdog;
	s.end = s.sources;
	for (int i = 0; i < 2; i++)
		s.sources[i].fd = s.sources[i].child = -1;
	supervisor_start(&s);
	supervisor_prepare(&s);
	int64_t now = clock_monotonic_ms();
	for (supervisor_on_time(&s, now); !supervisor_is_done(&s, now);
	     supervisor_on_time(&s, now)) {
		supervisor_turn(&s, now);
		now = clock_monotonic_ms();
	}
	int left[2];
	supervisor_finish(&s, left);
	bool goes_on = left[0] >= 0 || left[1] >= 0;
	/* A push may take an hour, and background processes may live for months. */
	for (struct source *source = s.sources; source < s.end && (goes_on || s.record.push_due);
	     source++)
		source_release(source);
	buffer_release(&s.input);
	if (s.record.push_due)
		supervisor_push(&s, left);
	if (goes_on) {
		trace_close();
		io_close_others(STDERR_FILENO + 1, left, 2);
		malloc_trim(0);
		discard_output(&s, left);
	}
	_exit(0);
}
