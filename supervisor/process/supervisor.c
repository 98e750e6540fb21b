// See supervisor.h.
//
// Life of a run here:
//
//   start ─► running ─► (command exits: drain, report) ─► flushing ─► (reader has all:
//   tell the front end, let go of its descriptors) ─► lingering ─► exit
//
// A run that yields (--yield, --detach, a prompt) reports, lets go of the front end and the
// descriptors in the same way, and is running on: `yielded`.
//
// Lingering lasts while somebody still holds the command's end of a channel, or while
// the processes of a run that was cut short (timeout, front end killed) are being ended.

#include "supervisor/process/supervisor.h"

#include "config/profile.h"
#include "lib/human.h"
#include "lib/io.h"
#include "shim/active.h"
#include "supervisor/artifact/store.h"
#include "supervisor/process/delivery.h"
#include "supervisor/process/lingering.h"
#include "supervisor/process/live.h"
#include "supervisor/process/message.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/process/source.h"
#include "supervisor/process/spawn.h"
#include "supervisor/process/wait.h"
#include "supervisor/process/watchdog.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How often what is not final is brought to the artifact and to a live reader. */
#define TICK_MS 200

/* How often it is looked whether a process tree that is being ended has gone. */
#define LOOK_MS 20

/* How often it is looked for the command's end where nothing else would tell. */
#define CHILD_MS 1000

/* What may wait for the command to read its terminal; what is typed beyond that is dropped, as the
   kernel does. */
#define INPUT_MAX ((size_t)1024 * 1024)

/* What is read after the command's exit: more than a pty or pipe holds, yet an end to a
   background process that writes without pause. */
#define DRAIN_MAX ((size_t)4 * 1024 * 1024)

/* The longest time between two heartbeats, unless the first was set later. */
#define HEARTBEAT_MOST_MS ((int64_t)30 * 60 * 1000)

#define DRAIN_TRIES 3

/* How often it is looked how the front end is. */
#define FRONT_MS 1000

/* How long one who looks at the run from outside, and stalls, is waited for. */
#define STALL_MS 1000

enum supervisor_state { SUPERVISOR_RUNNING, SUPERVISOR_FLUSHING, SUPERVISOR_LINGERING };

struct supervisor {
	const struct job *job;
	enum supervisor_state state;
	int front; /* -1: the front end is gone, or was told the end */
	int watchdog;
	int signals;          /* signalfd for SIGCHLD */
	pid_t command, group; /* what it is started as, and in */
	int status;           /* of the command, once it has ended; then of the run */
	bool timed_out;
	bool interrupted;       /* the front end died first */
	bool stopped;           /* the command is, at the moment */
	bool yielding;          /* the reader was told that it goes on, or is being told ... */
	bool yielded;           /* ... and has all of it */
	bool asked;             /* it waited for input when it was ended for that */
	int ends_typed;         /* how often the end of input was typed because it waited */
	char prompt[LIVE_TEXT]; /* what it asked */
	bool halted;     /* the front end was stopped by somebody else, when it was looked last */
	int told, awake; /* how often the front end was told to stop, and said that it goes on */
	struct source sources[2];
	int source_count;
	struct record record;
	struct delivery delivery;
	struct buffer input; /* for the command's terminal */
	struct live live;
	struct keys keys;
	struct source *drawn; /* the terminal that `keys` is about */
	bool hung_up;         /* what waited for keys there was ended for that */
	dev_t device;         /* of the command's controlling terminal, or 0 */
	struct tree_end tree;
	bool ending;   /* the process tree is being ended */
	bool lingered; /* text may have come after the report */
	struct lingering lingering;
	/* Monotonic times; 0: not set. */
	int64_t heartbeat_ms; /* until the next */
	int64_t tick_at, timeout_at, heartbeat_at, stall_at, wake_at, yield_at, front_at;
	char *chunk; /* SOURCE_CHUNK bytes */
};

static struct source *terminal_source(struct supervisor *k)
{
	struct source *s = &k->sources[0];
	return s->pty && s->fd >= 0 ? s : NULL;
}

static void queue_input(void *ctx, const char *data, size_t len)
{
	struct supervisor *k = ctx;
	if (k->input.len + len <= INPUT_MAX)
		buffer_try_append(&k->input, data, len);
}

static int on_typed(void *ctx, const char *data, size_t len)
{
	struct supervisor *k = ctx;
	if (k->input.len + len > INPUT_MAX || buffer_try_append(&k->input, data, len) < 0)
		return EAGAIN;
	live_typed(&k->live, data, len);
	k->ends_typed = 0;
	return 0;
}

static void on_seen(void *ctx, const char *data, size_t len)
{
	struct supervisor *k = ctx;
	live_output(&k->live, data, len);
}

static void write_input(struct supervisor *k)
{
	struct source *s = terminal_source(k);
	while (s && k->input.len > 0) {
		ssize_t n = write(s->fd, k->input.data, k->input.len);
		if (n > 0)
			buffer_consume(&k->input, (size_t)n);
		else if (errno != EINTR)
			break;
	}
	if (!s)
		buffer_clear(&k->input);
}

/* Returns whether the front end is there and gets it. */
static bool supervisor_tell(struct supervisor *k, enum message_kind kind, int a, int b)
{
	struct message m = {.kind = kind, .a = a, .b = b};
	return k->front >= 0 && message_send(k->front, &m, 0) == 0;
}

/* Nothing was started: the front end runs the command without us, or tells that it can't be. */
_Noreturn static void supervisor_refuse(struct supervisor *k, enum message_kind kind, int error)
{
	supervisor_tell(k, kind, error, 0);
	_exit(0);
}

static void open_sources(struct supervisor *k)
{
	const struct layout *l = &k->job->layout;
	for (int i = 0; i < 2; i++) {
		if (l->channel[i] == CHANNEL_INHERIT || l->channel[i] == CHANNEL_MERGED)
			continue;
		if (source_open(&k->sources[k->source_count], k->job, i) < 0)
			supervisor_refuse(k, MESSAGE_REFUSED, errno);
		k->source_count++;
	}
}

/* The command's end of the channel that stands for stdout (0) or stderr (1). */
static int child_end(const struct supervisor *k, int which)
{
	const struct layout *l = &k->job->layout;
	if (l->channel[which] == CHANNEL_MERGED)
		which = 0;
	if (l->channel[which] == CHANNEL_INHERIT)
		return -1;
	for (int i = 0; i < k->source_count; i++) {
		if (k->sources[i].is_stderr == (which == 1))
			return k->sources[i].child;
	}
	return -1;
}

static void start_command(struct supervisor *k)
{
	const struct job *job = k->job;
	const struct layout *l = &job->layout;
	bool terminal = l->controlling && k->sources[0].pty;
	if (terminal && ioctl(k->sources[0].child, TIOCSCTTY, 0) < 0)
		terminal = false;
	struct stat st;
	if (terminal && fstat(k->sources[0].child, &st) == 0)
		k->device = st.st_rdev;
	for (int i = 0; i < k->source_count && !terminal && !l->person; i++) {
		if (!k->sources[i].pty || k->drawn || fstat(k->sources[i].child, &st) < 0)
			continue;
		k->drawn = &k->sources[i];
		k->keys.master = k->sources[i].fd;
		k->keys.device = st.st_rdev;
	}
	char active[ACTIVE_SIZE];
	active_name(active);
	char **envp = environment_make(environ, job->settings, !l->person, active);
	if (!envp)
		supervisor_refuse(k, MESSAGE_REFUSED, errno);
	const struct spawn spawn = {
		.program = job->program,
		.argv = job->argv,
		.envp = envp,
		.fds = {terminal && l->stdin_pty ? k->sources[0].child : -1, child_end(k, 0),
			child_end(k, 1)},
		.terminal = terminal ? k->sources[0].child : -1,
		.signals = &job->signals,
		.leads = job->leads,
	};
	k->command = spawn_command(&spawn, &k->group);
	if (k->command <= 0)
		supervisor_refuse(k, k->command < 0 ? MESSAGE_REFUSED : MESSAGE_NOT_FOUND, errno);
	free(envp);
	for (int i = 0; i < k->source_count; i++)
		io_close(&k->sources[i].child);
}

/* Lets go of every descriptor the caller handed down that is not ours to use, so that its other
   end sees the command close it. */
static void supervisor_close_inherited(struct supervisor *k)
{
	const int keep[] = {k->front,         k->watchdog,      k->signals,
			    k->sources[0].fd, k->sources[1].fd, k->job->layout.keyboard};
	io_close_others(STDERR_FILENO + 1, keep, sizeof(keep) / sizeof(*keep));
	if (k->job->layout.keyboard != STDIN_FILENO)
		io_null(STDIN_FILENO, STDIN_FILENO);
}

/* What the command was started with stays its own: that a text can be kept does not depend on it.
 */
static void raise_limits(void)
{
	static const int raised[] = {RLIMIT_NOFILE, RLIMIT_FSIZE};
	for (size_t i = 0; i < sizeof(raised) / sizeof(*raised); i++) {
		struct rlimit limit;
		if (getrlimit(raised[i], &limit) < 0 || limit.rlim_cur == limit.rlim_max)
			continue;
		limit.rlim_cur = limit.rlim_max;
		setrlimit(raised[i], &limit);
	}
}

static int watch_children(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	return io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

static void cut_texts(struct supervisor *k)
{
	for (int i = 0; i < k->source_count; i++) {
		if (k->sources[i].text)
			interceptor_cut(k->sources[i].text);
	}
}

static void begin_ending(struct supervisor *k, int step)
{
	k->ending = true;
	cut_texts(k);
	tree_end_step(&k->tree, step, clock_monotonic_ms());
}

static int supervisor_on_signal(void *ctx, int sig)
{
	struct supervisor *k = ctx;
	delivery_signal(&k->delivery, clock_monotonic_ms(), sig ? sig : SIGTERM);
	if (sig == 0)
		lingering_end(&k->lingering);
	if (sig == 0 || sig == SIGKILL)
		begin_ending(k, sig ? TREE_KILL : TREE_TERM);
	else if (k->state != SUPERVISOR_RUNNING)
		return ESRCH;
	else if (kill(-k->group, sig) < 0)
		return errno;
	return 0;
}

static struct interceptor_ending supervisor_describe_end(const struct supervisor *k,
							 const struct source *s,
							 enum wording_state state)
{
	const struct meta *m = &k->record.meta;
	bool running = state == WORDING_RUNNING;
	const struct meta_stream *text = s->is_stderr ? &m->err : &m->out;
	struct interceptor_ending e = {
		.ending = {.state = state,
			   .timed_out = k->timed_out && !running,
			   .background = s->fd >= 0 && !running,
			   .project_ignored = k->job->settings->project_is_wrong,
			   .exit_code = running ? 0 : m->exit_code,
			   .signal = m->signal,
			   .duration_ms = running ? clock_monotonic_ms() - k->job->begun_ms
						  : m->duration_ms,
			   .lines = text->lines,
			   .bytes = text->bytes,
			   .prompt = k->asked ? k->prompt : NULL,
			   .typing = k->live.terminal,
			   .hung_up = k->hung_up},
		.place = record_place(&k->record, s->is_stderr),
		.status_line = STATUS_LINE_NEVER,
	};
	/* Told once, where an agent reads. */
	e.is_second = s->is_stderr && k->sources[0].sink == SINK_AGENT && !k->sources[0].is_stderr;
	if (!s->is_stderr)
		e.status_line = (enum status_when)k->job->settings->status;
	return e;
}

static void take_summary(struct supervisor *k)
{
	struct summary *summary = &k->delivery.summary;
	if (!delivery_summary_queue(&k->delivery))
		return;
	summary_init(summary, k->job, &k->record);
	if (k->asked)
		report_warn(&summary->report,
			    "waiting for input: \"%s\"; answer: terse send %s TEXT --key enter "
			    "--await",
			    k->prompt, k->record.meta.id);
	if (k->hung_up)
		report_warn(&summary->report,
			    "hung up: it waited for keys that nobody can type; to type: terse "
			    "--yield 5s COMMAND");
	for (int i = 0; i < k->source_count; i++) {
		const struct source *s = &k->sources[i];
		summary_add(summary, s->text, s->is_stderr, s->fd >= 0, &k->record);
		if (s->lost)
			report_warn(&summary->report, "%s: %s", s->is_stderr ? "stderr" : "stdout",
				    strerror(ENOMEM));
	}
}

static void supervisor_tell_report(struct supervisor *k)
{
	enum wording_state state = k->interrupted ? WORDING_INTERRUPTED : WORDING_ENDED;
	if (k->job->settings->format != FORMAT_TEXT) {
		take_summary(k);
		return;
	}
	for (int i = 0; i < k->source_count; i++) {
		const struct interceptor_ending e =
			supervisor_describe_end(k, &k->sources[i], state);
		source_report(&k->sources[i], &e);
	}
	delivery_tell_not_kept(&k->delivery);
}

static void spill_all(struct supervisor *k)
{
	for (int i = 0; i < k->source_count; i++) {
		if (k->sources[i].text)
			interceptor_spill(k->sources[i].text);
	}
}

/* Once one of two texts is kept, both are. */
static void keep_both(struct supervisor *k)
{
	struct artifact *a = k->record.artifact;
	if (!a || k->source_count < 2)
		return;
	spill_all(k);
	artifact_use(a, ARTIFACT_ERR);
}

static void supervisor_report(struct supervisor *k)
{
	bool failed = k->interrupted || k->timed_out || k->status != 0;
	for (int i = 0; i < k->source_count; i++) {
		struct source *s = &k->sources[i];
		if (s->fd < 0)
			source_close(s);
		if (s->text)
			interceptor_conclude(s->text, failed);
		/* It lives on in the background: what comes later must have a place. Or nobody may
		   read what is printed now. */
		if (s->fd >= 0 && !k->ending)
			source_text(s);
		if (s->text && (s->fd >= 0 || k->interrupted)) {
			interceptor_spill(s->text);
			interceptor_update_live(s->text);
		}
		k->record.meta.binary |= s->text && interceptor_is_binary(s->text);
	}
	/* What is printed whole, too. */
	if (k->job->settings->spill == SPILL_ALWAYS && !look_is(k->job->shown) &&
	    record_open(&k->record))
		spill_all(k);
	keep_both(k);
	int64_t duration = clock_monotonic_ms() - k->job->begun_ms;
	k->record.meta.told = k->live.told;
	record_end(&k->record, k->status, k->timed_out, k->interrupted, duration);
	if (!k->yielding)
		supervisor_tell_report(k);
	k->live.ended = true;
	k->live.timed_out = k->timed_out;
	live_changed(&k->live);
	k->state = SUPERVISOR_FLUSHING;
	delivery_begin(&k->delivery, clock_monotonic_ms(),
		       k->tree.step ? INT64_MAX : k->job->settings->grace);
}

/* The caller has waited long enough, or the command waits for input: it goes on by itself. Where
   nobody could reach it then, the caller keeps waiting. */
static void yield(struct supervisor *k)
{
	k->yield_at = 0;
	if (k->state != SUPERVISOR_RUNNING || k->front < 0 || k->ending || live_open(&k->live) < 0)
		return;
	for (int i = 1; i < k->source_count; i++) {
		if (source_text(&k->sources[i]))
			interceptor_pause(k->sources[i].text);
	}
	uint64_t bytes;
	live_count(&k->live, &k->live.told, &bytes);
	for (int i = 0; i < k->source_count; i++) {
		struct source *s = &k->sources[i];
		struct interceptor_ending e = supervisor_describe_end(k, s, WORDING_RUNNING);
		e.ending.lines = k->live.told;
		e.ending.bytes = bytes;
		if (s->text)
			interceptor_spill(s->text);
		if (k->job->settings->format == FORMAT_TEXT)
			source_report(s, &e);
	}
	if (k->job->settings->format != FORMAT_TEXT)
		take_summary(k);
	k->yielding = true;
	k->heartbeat_at = 0;
}

static void drop_callers(struct supervisor *k)
{
	summary_release(&k->delivery.summary);
	for (int i = 0; i < k->source_count; i++)
		source_let_go(&k->sources[i]);
	io_null(STDIN_FILENO, STDERR_FILENO);
	if (k->job->layout.keyboard > STDERR_FILENO)
		close(k->job->layout.keyboard);
}

/* The reader has the report: nothing of the caller's is held any more. */
static void finish_yield(struct supervisor *k)
{
	k->yielded = true;
	int status = (int)k->job->settings->yield_status << 8;
	int code = delivery_exit_code(&k->delivery, status);
	drop_callers(k);
	/* What goes on must not keep a file system busy. */
	store_settle();
	chdir("/");
	k->live.asks = k->live.terminal;
	supervisor_tell(k, MESSAGE_YIELDED, code, 0);
	io_close(&k->front);
}

/* It asks, and nobody sees it. */
static void on_prompt(struct supervisor *k)
{
	enum prompting prompting = (enum prompting)k->job->settings->prompt;
	if (k->state != SUPERVISOR_RUNNING || k->front < 0 || k->yielding ||
	    prompting == PROMPTING_AWAIT)
		return;
	live_prompt(&k->live, k->prompt);
	/* The end of input does not impress everything. */
	if (prompting == PROMPTING_EOF && k->ends_typed < 2) {
		int typed = k->ends_typed + 1;
		live_type_end(&k->live);
		k->ends_typed = typed;
		return;
	}
	k->asked = true;
	if (prompting == PROMPTING_REPORT) {
		yield(k);
		k->asked = false;
	} else {
		begin_ending(k, TREE_HUP);
	}
}

static void drain(struct supervisor *k)
{
	for (int i = 0; i < k->source_count; i++) {
		size_t left = DRAIN_MAX;
		source_take_back(&k->sources[i]);
		/* "Nothing there" is asked for again, too; see reader_thread_read(). */
		for (int tries = 0; tries < DRAIN_TRIES && left > 0;) {
			int more = source_read(&k->sources[i], k->chunk, SOURCE_CHUNK);
			if (more < 0)
				break;
			if (more > 0)
				left -= SOURCE_CHUNK;
			else
				tries++;
		}
	}
}

/* The kernel hangs up the foreground group when the session leader ends or the master is closed;
   background children that the command left in its group are not to feel that. */
static void release_terminal(struct supervisor *k)
{
	struct source *s = terminal_source(k);
	if (s && s->lasting)
		tcsetpgrp(s->fd, getpgrp());
	k->sources[0].lasting = k->sources[0].hung = false;
}

/* The command goes on or has ended, though nobody told the front end that waits with it: it is
   continued until it says that it is awake, since it may be just about to stop. */
static void wake_front(struct supervisor *k)
{
	k->wake_at = 0;
	if (k->stopped || k->told <= k->awake || k->front < 0)
		return;
	kill(k->job->front, SIGCONT);
	k->wake_at = clock_monotonic_ms() + LOOK_MS;
}

/* Only the group of the terminal is to be told; a shell may have put others into it. */
static void stop_reader(const struct supervisor *k, const struct source *s)
{
	pid_t group = tcgetpgrp(s->fd);
	enum prompt_group does = group > 0 ? prompt_look(group, k->device) : PROMPT_BUSY;
	if (does == PROMPT_READS || (does == PROMPT_POLLS && pty_is_raw(s->fd)))
		kill(-group, SIGTTIN);
}

/* What the kernel would do to the command, had it the place of the front end: it is stopped with
   it, and for reading the terminal in the background. */
static void look_at_front(struct supervisor *k, int64_t now)
{
	k->front_at = k->front >= 0 && k->state == SUPERVISOR_RUNNING && !k->yielding
			      ? now + FRONT_MS
			      : 0;
	/* One that was told to stop is as the command is. */
	if (!k->front_at || k->stopped || k->told > k->awake)
		return;
	const struct front_state front = front_look(k->job->front, getpid());
	struct source *s = terminal_source(k);
	if (front.stopped && !k->halted)
		kill(front.group_stopped ? -k->group : k->command, SIGSTOP);
	else if (front.background && s && k->job->layout.keyboard >= 0)
		stop_reader(k, s);
	k->halted = front.stopped;
}

static void on_exit_of_command(struct supervisor *k, int status)
{
	k->status = status;
	k->tree.command = 0;
	if (k->group != k->command)
		waitpid(k->group, NULL, 0);
	k->stopped = k->live.stopped = false;
	wake_front(k);
	release_terminal(k);
	drain(k);
	supervisor_report(k);
}

/* Whether the command has changed its state. */
static bool has_changed(struct supervisor *k, int *status)
{
	pid_t pid;
	do {
		pid = waitpid(k->command, status, WNOHANG | WUNTRACED | WCONTINUED);
	} while (pid < 0 && errno == EINTR);
	return pid > 0;
}

static void on_child(struct supervisor *k)
{
	struct signalfd_siginfo info;
	int status;
	while (read(k->signals, &info, sizeof(info)) > 0)
		;
	while (k->state == SUPERVISOR_RUNNING && has_changed(k, &status)) {
		if (WIFSTOPPED(status)) {
			k->stopped = k->live.stopped = true;
			/* One that is stopped already continues the command when it goes on. */
			if (!k->halted || !front_look(k->job->front, getpid()).stopped)
				k->told += supervisor_tell(k, MESSAGE_STOPPED, WSTOPSIG(status), 0);
			live_changed(&k->live);
		} else if (WIFCONTINUED(status)) {
			k->stopped = k->live.stopped = false;
			wake_front(k);
			live_changed(&k->live);
		} else {
			on_exit_of_command(k, status);
		}
	}
}

static void restore_terminal(struct supervisor *k)
{
	const struct job *job = k->job;
	if (job->layout.keyboard >= 0)
		watchdog_restore_terminal(job->layout.keyboard, &job->modes, &job->raw);
}

static void on_front_gone(struct supervisor *k)
{
	io_close(&k->front);
	restore_terminal(k);
	if (k->yielding)
		return;
	if (k->state == SUPERVISOR_RUNNING) {
		k->interrupted = true;
		begin_ending(k, TREE_HUP);
	}
	delivery_hurry(&k->delivery, clock_monotonic_ms(), 0);
}

static void supervisor_pass_signal(const struct supervisor *k, const struct message *m, size_t len)
{
	siginfo_t queued;
	if (len == sizeof(queued)) {
		memcpy(&queued, m->data, len);
		syscall(SYS_rt_sigqueueinfo, k->command, m->a, &queued);
	} else {
		kill(m->b ? k->command : -k->group, m->a);
	}
}

static void on_front(struct supervisor *k)
{
	struct message m;
	ssize_t len;
	while (k->front >= 0 && (len = message_receive(k->front, &m, MSG_DONTWAIT)) >= 0) {
		k->halted = false;
		switch (m.kind) {
		case MESSAGE_SIGNAL:
			if (k->state == SUPERVISOR_RUNNING)
				supervisor_pass_signal(k, &m, (size_t)len);
			delivery_signal(&k->delivery, clock_monotonic_ms(), m.a);
			break;
		case MESSAGE_AWAKE:
			if (++k->awake >= k->told)
				k->wake_at = 0;
			break;
		case MESSAGE_INPUT:
			queue_input(k, m.data, (size_t)len);
			live_typed(&k->live, m.data, (size_t)len);
			break;
		case MESSAGE_WINDOW: live_resize(&k->live, (unsigned)m.a, (unsigned)m.b); break;
		default: break;
		}
	}
	if (k->front >= 0 && errno != EAGAIN)
		on_front_gone(k);
}

/* The reader is gone or its disk is full: the command finds that out as it would without terse, or
   nearly so. An agent's command goes on, since its text is kept. */
static void on_broken_queue(struct supervisor *k, struct source *s)
{
	if (s->fd < 0 || k->state != SUPERVISOR_RUNNING)
		return;
	/* SINK_PIPE: nobody asked who reads, and now nobody does. */
	if (s->sink != SINK_PROGRAM && s->sink != SINK_FILE && s->sink != SINK_PIPE)
		return;
	if (s->queue.error == EFBIG)
		kill(-k->group, SIGXFSZ);
	else if (s->pty)
		kill(-k->group, SIGPIPE);
	source_close(s);
}

static void on_readable(struct supervisor *k, struct source *s)
{
	uint64_t before = s->came;
	source_read(s, k->chunk, SOURCE_TURN);
	lingering_came(&k->lingering, s->came - before, clock_monotonic_ms());
	k->keys.active = true;
	if (s->queue.error)
		on_broken_queue(k, s);
	keep_both(k);
	bool wants_tick =
		s->hung || (s->text && (interceptor_is_unsettled(s->text) || k->record.artifact));
	if (!k->tick_at && wants_tick)
		k->tick_at = clock_monotonic_ms() + TICK_MS;
}

static void on_tick(struct supervisor *k, int64_t now)
{
	k->tick_at = 0;
	for (int i = 0; i < k->source_count; i++) {
		struct interceptor *text = k->sources[i].text;
		k->sources[i].hung = false;
		if (!text || k->sources[i].fd < 0)
			continue;
		interceptor_settle(text, now);
		interceptor_update_live(text);
		if (interceptor_is_unsettled(text))
			k->tick_at = now + TICK_MS;
	}
}

/* A line with the ID, so that an agent can look even if it gives up waiting. */
static void print_heartbeat(struct supervisor *k, struct source *s, const struct wait *wait,
			    int64_t now)
{
	interceptor_spill(s->text);
	interceptor_update_live(s->text);
	const struct wording_place place = record_place(&k->record, s->is_stderr);
	interceptor_heartbeat(s->text, now - k->job->begun_ms, wait->kind, wait->name, &place);
}

/* An agent has seen nothing new for long, or not all there is. */
static void on_heartbeat(struct supervisor *k, int64_t now)
{
	struct source *s = &k->sources[0];
	struct interceptor *text = source_text(s);
	if (text && k->state == SUPERVISOR_RUNNING) {
		interceptor_settle_all(text);
		bool is_told = s->printed && !interceptor_is_holding(text);
		if (!is_told && interceptor_reader(text) == INTERCEPT_PREVIEW) {
			struct wait wait;
			wait_look(&wait, k->keys.device);
			print_heartbeat(k, s, &wait, now);
			/* Less and less often, so that they do not add up to more than a preview.
			 */
			if (k->heartbeat_ms < HEARTBEAT_MOST_MS)
				k->heartbeat_ms *= 2;
		}
	}
	s->printed = false;
	k->heartbeat_at = now + k->heartbeat_ms;
}

/* A command waits for keys that nobody can type. */
static void on_keys(struct supervisor *k, enum keys_found found, int64_t now)
{
	struct source *s = k->drawn;
	if (found == KEYS_HUNG_UP) {
		k->hung_up = true;
		cut_texts(k);
	} else if (s->text && k->job->settings->format == FORMAT_TEXT &&
		   interceptor_reader(s->text) == INTERCEPT_PREVIEW) {
		interceptor_settle_all(s->text);
		print_heartbeat(k, s, &k->keys.wait, now);
	}
}

static void look_for_keys(struct supervisor *k, int64_t now)
{
	struct interceptor *text =
		k->state == SUPERVISOR_RUNNING && k->drawn ? k->drawn->text : NULL;
	const struct terminal *t = text ? interceptor_terminal(text) : NULL;
	enum keys_found found = KEYS_NOTHING;
	if (k->state == SUPERVISOR_RUNNING && !k->stopped && k->keys.look_at)
		found = keys_step(&k->keys, t, now);
	if (found != KEYS_NOTHING)
		on_keys(k, found, now);
}

static bool is_due(int64_t at, int64_t now)
{
	return at && now >= at;
}

static void on_time(struct supervisor *k, int64_t now)
{
	if (is_due(k->wake_at, now))
		wake_front(k);
	if (is_due(k->tick_at, now))
		on_tick(k, now);
	if (is_due(k->heartbeat_at, now))
		on_heartbeat(k, now);
	if (is_due(k->timeout_at, now)) {
		k->timeout_at = 0;
		if (k->state == SUPERVISOR_RUNNING) {
			k->timed_out = true;
			begin_ending(k, TREE_TERM);
		}
		delivery_hurry(&k->delivery, now, W_EXITCODE(EXIT_TIMEOUT, 0));
	}
	if (is_due(k->yield_at, now)) {
		/* A front end that is stopped with the command can't be told. */
		if (k->stopped)
			k->yield_at = now + TICK_MS;
		else
			yield(k);
	}
	if (is_due(k->front_at, now))
		look_at_front(k, now);
	if (live_step(&k->live, now))
		on_prompt(k);
	look_for_keys(k, now);
	if (k->ending)
		k->ending = tree_end_step(&k->tree, 0, now);
}

/* Whether more output may come. */
static bool supervisor_is_open(const struct supervisor *k)
{
	return k->sources[0].fd >= 0 || k->sources[1].fd >= 0;
}

static int supervisor_next_wait(const struct supervisor *k, int64_t now)
{
	const int64_t times[] = {
		k->wake_at, k->yield_at, live_due(&k->live), k->tick_at, k->timeout_at,
		k->heartbeat_at, lingering_due(&k->lingering, now), k->stall_at, k->front_at,
		k->ending ? k->tree.look_ms : 0, delivery_due(&k->delivery),
		/* What has closed all its output mostly ends. */
		k->state == SUPERVISOR_RUNNING && !supervisor_is_open(k) ? now + CHILD_MS : 0,
		k->state == SUPERVISOR_RUNNING && !k->stopped ? keys_due(&k->keys) : 0};
	int64_t wait = -1;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (!times[i])
			continue;
		int64_t left = times[i] > now ? times[i] - now : 0;
		if (wait < 0 || left < wait)
			wait = left;
	}
	return wait > 1000000 ? 1000000 : (int)wait;
}

static void supervisor_dismiss_watchdog(struct supervisor *k)
{
	if (k->watchdog >= 0)
		io_write(k->watchdog, "", 1);
	io_close(&k->watchdog);
}

static void tell_ended(struct supervisor *k, int bits)
{
	if (k->front < 0)
		return;
	supervisor_tell(k, MESSAGE_ENDED, k->status, bits | (k->timed_out ? ENDED_TIMED_OUT : 0));
	io_close(&k->front);
}

static bool is_held(const struct supervisor *k)
{
	return k->ending || supervisor_is_open(k);
}

/* The reader has everything: nothing of the caller's is held any more, and the front end may end.
   When this process ends as well, it tells so last (finish), to be waited for. */
static void supervisor_let_go(struct supervisor *k)
{
	const int fds[] = {k->sources[0].fd, k->sources[1].fd};
	struct pipe_holder found[META_HOLDERS];
	k->status = delivery_status(&k->delivery, k->status);
	if (!k->yielded)
		drop_callers(k);
	k->state = SUPERVISOR_LINGERING;
	k->delivery.stall_at = k->heartbeat_at = 0;
	if (!is_held(k))
		return;
	if (!k->ending)
		supervisor_dismiss_watchdog(k);
	/* What lives on must not keep a file system busy. */
	k->lingered = true;
	store_settle();
	chdir("/");
	lingering_begin(&k->lingering, k->job->settings, clock_monotonic_ms());
	tell_ended(k, ENDED_LIVES_ON | (k->watchdog >= 0 ? ENDED_WATCHED : 0));
	if (!supervisor_is_open(k))
		return;
	/* Now that nobody waits any more. */
	live_open(&k->live);
	record_held(&k->record, found, pipe_holder_find(fds, 2, found, META_HOLDERS));
}

static bool is_done(struct supervisor *k, int64_t now)
{
	if (k->yielding && !k->yielded && delivery_step(&k->delivery, now))
		finish_yield(k);
	/* A front end that is about to stop would never read that it may end. */
	bool asleep = k->told > k->awake && k->front >= 0;
	if (k->state == SUPERVISOR_FLUSHING && !asleep && delivery_step(&k->delivery, now))
		supervisor_let_go(k);
	if (k->state != SUPERVISOR_LINGERING)
		return false;
	const int fds[] = {k->sources[0].fd, k->sources[1].fd};
	if (is_held(k) && (k->ending || !lingering_is_over(&k->lingering, fds, now)))
		return false;
	/* Those who look at it get its end, if they do not stall. */
	if (!control_is_pending(&k->live.control))
		return true;
	if (!k->stall_at)
		k->stall_at = now + STALL_MS;
	return is_due(k->stall_at, now);
}

/* One turn: waits for what can happen next and deals with it. */
static void supervisor_turn(struct supervisor *k, int64_t now)
{
	struct pollfd fds[6 + 1 + CONTROL_CLIENTS];
	struct source *readers[6] = {NULL}, *writers[6] = {NULL};
	nfds_t n = 0;
	bool busy = delivery_print(&k->delivery), paused = lingering_is_paused(&k->lingering, now);
	if (k->input.len > 0)
		source_take_back(&k->sources[0]);
	fds[n++] = (struct pollfd){.fd = k->signals, .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = k->front, .events = POLLIN};
	for (int i = 0; i < k->source_count; i++) {
		struct source *s = &k->sources[i];
		if (s->fd >= 0 && !s->hung && !paused && !output_queue_is_full(&s->queue)) {
			short events = POLLIN | (i == 0 && k->input.len > 0 ? POLLOUT : 0);
			readers[n] = s;
			fds[n++] = (struct pollfd){.fd = source_poll_fd(s), .events = events};
		}
		if (!output_queue_is_empty(&s->queue)) {
			writers[n] = s;
			fds[n++] = (struct pollfd){.fd = output_queue_poll_fd(&s->queue),
						   .events = POLLOUT};
		}
	}
	nfds_t ours = n;
	if (k->live.control.fd >= 0)
		n += control_poll(&k->live.control, fds + n, 1 + CONTROL_CLIENTS);
	int ready = io_poll(fds, n, busy ? 0 : supervisor_next_wait(k, now));
	if (ready < 0)
		return;
	for (nfds_t i = 2; i < ours; i++) {
		if (writers[i] && fds[i].revents) {
			output_queue_pump(&writers[i]->queue);
			if (writers[i]->queue.error)
				on_broken_queue(k, writers[i]);
		}
		if (readers[i] && (fds[i].revents & ~POLLOUT))
			on_readable(k, readers[i]);
	}
	if (k->live.control.fd >= 0 && ready > 0)
		control_serve(&k->live.control);
	if (k->input.len > 0)
		write_input(k);
	if (fds[1].revents)
		on_front(k);
	/* Nothing happens: perhaps nobody told of its end. */
	if (fds[0].revents || ready == 0)
		on_child(k);
}

/* Ends the recording. What is still held, and nobody records any more, is put into `left`. */
static void supervisor_finish(struct supervisor *k, int left[2])
{
	for (int i = 0; i < 2; i++)
		left[i] = source_abandon(&k->sources[i], k->lingering.why);
	live_close(&k->live);
	record_close(&k->record, k->lingered);
	supervisor_dismiss_watchdog(k);
	/* Nobody is to wait for a cleaning up. */
	tell_ended(k, k->record.gc_due ? ENDED_LIVES_ON : 0);
	record_clean_up(&k->record, k->job->settings);
}

_Noreturn void supervisor_run(const struct job *job, int front, int watchdog)
{
	struct supervisor k = {.job = job,
			       .front = front,
			       .watchdog = watchdog,
			       .sources = {{.fd = -1, .child = -1}, {.fd = -1, .child = -1}}};
	setsid();
	k.signals = watch_children();
	k.chunk = malloc(SOURCE_CHUNK);
	if (k.signals < 0 || !k.chunk)
		supervisor_refuse(&k, MESSAGE_REFUSED, errno);
	if (job->settings->format != FORMAT_TEXT && summary_reserve(&k.delivery.summary) < 0)
		supervisor_refuse(&k, MESSAGE_REFUSED, errno);
	open_sources(&k);
	start_command(&k);
	supervisor_tell(&k, MESSAGE_STARTED, k.command, k.group);
	supervisor_close_inherited(&k);
	record_init(&k.record, job);
	k.record.meta.command = k.command;
	record_prepare(&k.record, job->settings->gc_interval);
	for (int i = 0; i < k.source_count; i++)
		source_connect(&k.sources[i], &k.record, queue_input, i == 0 ? on_seen : NULL, &k);
	raise_limits();
	k.delivery.job = job;
	k.delivery.sources = k.sources;
	k.delivery.record = &k.record;
	const struct live_events live = {
		.type = on_typed, .signal = supervisor_on_signal, .ctx = &k};
	live_init(&k.live, job, &k.sources[0], &k.record, k.device, &live);
	k.tree = (struct tree_end){.session = getpid(),
				   .command = k.command,
				   .group = k.group,
				   .grace_ms = job->settings->grace};
	int64_t now = clock_monotonic_ms();
	if (job->settings->timeout)
		k.timeout_at = job->begun_ms + job->settings->timeout;
	k.front_at = now + FRONT_MS;
	if (job->settings->yield || job->settings->detach)
		k.yield_at = job->settings->detach ? now : job->begun_ms + job->settings->yield;
	k.heartbeat_ms = job->settings->heartbeat;
	if (k.heartbeat_ms && !job->layout.person && job->settings->format == FORMAT_TEXT)
		k.heartbeat_at = now + k.heartbeat_ms;
	k.keys.hang_up = job->settings->hang_up;
	k.keys.grace = job->settings->grace;
	keys_begin(&k.keys, now);
	for (on_time(&k, now); !is_done(&k, now); on_time(&k, now)) {
		supervisor_turn(&k, now);
		now = clock_monotonic_ms();
	}
	int left[2];
	supervisor_finish(&k, left);
	for (int i = 0; i < k.source_count; i++)
		source_release(&k.sources[i]);
	buffer_release(&k.input);
	free(k.chunk);
	io_close_others(STDERR_FILENO + 1, left, 2);
	/* Background processes may live for months. */
	malloc_trim(0);
	discard_all(left);
	_exit(0);
}
