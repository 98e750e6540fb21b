// See supervisor_internal.h: the start of the command.

#include "lib/active.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/process/spawn.h"
#include "supervisor/process/supervisor_internal.h"
#include "supervisor/process/watchdog.h"
#include "supervisor/remote/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nothing was started: the front end runs the command without us, or reports that it can't be. */
_Noreturn static void supervisor_refuse(struct supervisor *s, enum frame_kind kind, int error)
{
	watchdog_tell(s->watchdog, 0);
	front_send(s, kind, error, 0);
	_exit(0);
}

static void supervisor_open_sources(struct supervisor *s)
{
	const struct channels *l = &s->job->channels;
	for (int i = 0; i < 2; i++) {
		if (l->channel[i] == CHANNEL_INHERIT || l->channel[i] == CHANNEL_MERGED)
			continue;
		if (source_open(&s->sources[s->source_count], s->job, i) < 0)
			supervisor_refuse(s, FRAME_REFUSED, errno);
		s->source_count++;
	}
}

/* The command's end of the channel that stands for stdout (0) or stderr (1). */
static int supervisor_child_end(const struct supervisor *s, int which)
{
	const enum channel *channels = s->job->channels.channel, channel = channels[which];
	if (channel == CHANNEL_MERGED && channels[0] == CHANNEL_INHERIT)
		return STDOUT_FILENO;
	bool is_stderr = which == 1 && channel != CHANNEL_MERGED;
	for (int i = 0; i < s->source_count && channel != CHANNEL_INHERIT; i++) {
		if (s->sources[i].is_stderr == is_stderr)
			return s->sources[i].child;
	}
	return -1;
}

/* Returns whether the command gets a controlling terminal. */
static bool supervisor_take_terminal(struct supervisor *s)
{
	const struct channels *l = &s->job->channels;
	struct stat st;
	bool terminal = l->controlling && s->sources[0].pty &&
			ioctl(s->sources[0].child, TIOCSCTTY, 0) == 0;
	if (terminal && fstat(s->sources[0].child, &st) == 0)
		s->device = st.st_rdev;
	for (int i = 0; i < s->source_count && !terminal && !l->person; i++) {
		bool other = l->jobs && !s->sources[i].lasting;
		if (!s->sources[i].pty || other || s->drawn || fstat(s->sources[i].child, &st) < 0)
			continue;
		s->drawn = &s->sources[i];
		s->keys.master = s->sources[i].fd;
		s->keys.device = st.st_rdev;
	}
	return terminal;
}

static void supervisor_start_command(struct supervisor *s)
{
	const struct job *job = s->job;
	bool terminal = supervisor_take_terminal(s);
	char active[ACTIVE_SIZE];
	active_name(active, s->job->channels.person);
	char **envp = environment_make(environ, job->settings, !job->channels.person, active);
	if (!envp)
		supervisor_refuse(s, FRAME_REFUSED, errno);
	const struct spawn spawn = {
		.program = job->program,
		.argv = job->argv,
		.envp = envp,
		.fds = {terminal && job->channels.stdin_pty ? s->sources[0].child : -1,
			supervisor_child_end(s, 0), supervisor_child_end(s, 1)},
		.terminal = terminal             ? s->sources[0].child
			    : job->channels.jobs ? supervisor_child_end(s, 1)
						 : -1,
		.signals = &job->signals,
		.leads = job->leads,
	};
	/* A front end that was killed before it had a watchdog leaves nothing behind. */
	struct frame guarded;
	if (frame_receive(s->front.fd, &guarded, 0) < 0 && errno == EPIPE)
		_exit(0);
	s->command = spawn_command(&spawn, &s->group);
	watchdog_tell(s->watchdog, s->group);
	if (s->command > 0)
		TRACE(PROCESS, "supervisor: command %d in group %d%s", (int)s->command,
		      (int)s->group, terminal ? ", with a controlling terminal" : "");
	else
		TRACE(PROCESS, "supervisor: the command can't be started: %m");
	if (s->command <= 0)
		supervisor_refuse(s, s->command < 0 ? FRAME_REFUSED : FRAME_NOT_FOUND, errno);
	free(envp);
	for (int i = 0; i < s->source_count; i++)
		io_close(&s->sources[i].child);
}

/* Closes every descriptor that the caller handed down and that is not ours to use, so that its
   other end sees the command close it. */
static void supervisor_close_inherited(struct supervisor *s)
{
	const int keep[] = {trace_fd(),
			    s->front.fd,
			    s->watchdog,
			    s->signals,
			    s->sources[0].fd,
			    s->sources[1].fd,
			    s->job->channels.keyboard,
			    s->job->caller > 0 ? s->job->caller : -1};
	io_close_others(STDERR_FILENO + 1, keep, sizeof(keep) / sizeof(*keep));
	if (s->job->channels.keyboard != STDIN_FILENO)
		io_null(STDIN_FILENO, STDIN_FILENO);
}

/* SIGCHLD; and SIGTERM where something is to be pushed before the machine goes down. */
static int supervisor_watch_signals(const struct settings *settings)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (remote_pushes(settings))
		sigaddset(&set, SIGTERM);
	return io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void supervisor_start(struct supervisor *s)
{
	const struct job *job = s->job;
	setsid();
	fstat(STDIN_FILENO, &s->given);
	s->signals = supervisor_watch_signals(job->settings);
	s->chunk = malloc(SOURCE_CHUNK);
	if (s->signals < 0 || !s->chunk)
		supervisor_refuse(s, FRAME_REFUSED, errno);
	if (job->settings->format != FORMAT_TEXT && summary_reserve(&s->delivery.summary) < 0)
		supervisor_refuse(s, FRAME_REFUSED, errno);
	supervisor_open_sources(s);
	supervisor_start_command(s);
	front_send(s, FRAME_STARTED, s->command, s->group);
	supervisor_close_inherited(s);
}
