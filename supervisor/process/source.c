// See source.h.

#include "supervisor/process/source.h"

#include "config/limit.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/trace.h"
#include "supervisor/process/supervisor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void source_pass(void *ctx, const char *data, size_t len);

int source_open(struct source *s, struct supervisor *run, int which)
{
	const struct job *job = run->job;
	*s = (struct source){
		.fd = -1,
		.child = -1,
		.run = run,
		.is_stderr = which == 1,
		.sink = job->channels.sink[which],
		.person = job->channels.sink[which] == SINK_PERSON,
		.redactor = {.secrets = job->secrets, .out = source_pass, .ctx = s},
	};
	bool pty = job->channels.channel[which] == CHANNEL_PTY;
	if (pty) {
		const struct channels *l = &job->channels;
		bool jobs = l->jobs && which == (l->channel[1] == CHANNEL_PTY);
		enum pty_use use = l->controlling && which == 0 ? PTY_TYPED
				   : jobs                       ? PTY_JOBS
								: PTY_WRITTEN;
		struct pty opened;
		if (pty_open(&opened, job->cols, job->rows, use,
			     l->keyboard >= 0 ? &job->modes : NULL) == 0) {
			s->fd = opened.master;
			s->child = opened.slave;
			s->pty = true;
			s->lasting = use != PTY_WRITTEN;
			return 0;
		}
		TRACE(SINK, "no pseudo-terminal: %m");
		/* Without a pty the command gets the person's terminal itself: a pipe would hide
		   it. */
		if (s->person)
			return -1;
	}
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	s->fd = io_above_standard(ends[0]);
	s->child = io_above_standard(ends[1]);
	if (s->fd >= 0 && s->child >= 0 && fcntl(s->fd, F_SETFL, O_NONBLOCK) == 0)
		return 0;
	io_close(&s->fd);
	io_close(&s->child);
	return -1;
}

static struct artifact *source_on_artifact(void *ctx)
{
	struct source *s = ctx;
	int64_t *tick = &s->run->timer[TIMER_TICK];
	/* The text that was held back gets to the disk at the next tick, even if no more comes. */
	if (!*tick)
		*tick = clock_monotonic_ms() + TICK_MS;
	return record_open(&s->run->record);
}

static void source_on_print(void *ctx, const char *data, size_t len)
{
	struct source *s = ctx;
	output_queue_write(&s->queue, data, len);
	s->printed = true;
	if (s->sink == SINK_AGENT || s->sink == SINK_PIPE) {
		shown_add(&s->run->record.shown, data, len);
		s->shown += len;
	}
}

static enum interceptor_reader on_resolve(void *ctx)
{
	struct source *s = ctx;
	TRACE(SINK, "%s: begins to matter, looked at again", s->is_stderr ? "stderr" : "stdout");
	s->sink = sink_of_pipe(s->run->job->settings, s->queue.fd, s->run->job->front,
			       s->run->job->parent);
	/* Bytes that this stream's reader got do not count as shown; the other stream may still
	   have an agent as its reader. */
	if (s->sink != SINK_AGENT)
		shown_forget(&s->run->record.shown, s->shown);
	return s->sink == SINK_AGENT ? INTERCEPT_AGENT : INTERCEPT_PROGRAM;
}

static void source_on_reply(void *ctx, const char *data, size_t len)
{
	struct source *s = ctx;
	/* A person's terminal answers queries itself. */
	if (s->pty && !s->person && pty_is_raw(s->fd))
		supervisor_queue_input(s->run, data, len);
}

/* If there is no memory for the interceptor, the reader at least gets the bytes. */
struct interceptor *source_text(struct source *s)
{
	if (s->text || s->refused || !s->run)
		return s->text;
	const struct job *job = s->run->job;
	const struct settings *set = job->settings;
	/* channels_decide() has not decided who reads a pipe. Now the answer matters. */
	bool pipe = s->queue.type == S_IFIFO && set->format == FORMAT_TEXT &&
		    (s->sink == SINK_PIPE || s->sink == SINK_AGENT);
	enum interceptor_reader reader = INTERCEPT_AGENT;
	const bool full = set->print == PRINT_FULL;
	/* An agent gets text, a program what was written to a pipe. */
	if (full && pipe && !s->pty)
		on_resolve(s);
	if (set->format != FORMAT_TEXT)
		reader = full ? INTERCEPT_SILENT : INTERCEPT_COLLECTED;
	else if (s->sink == SINK_PERSON)
		reader = INTERCEPT_PERSON;
	else if (full || s->sink == SINK_PROGRAM || s->sink == SINK_FILE)
		reader = INTERCEPT_PROGRAM;
	/* Somebody may want to see the screen of a run that is recorded or that has outlived its
	   call. */
	bool watched = set->record || (job->channels.controlling && !s->person);
	struct interceptor_options options = {
		.terminal = {.cols = job->cols,
			     .rows = job->rows,
			     .onlcr = !(s->pty && job->channels.controlling && !s->is_stderr),
			     .returns = !s->pty,
			     .styles = watched && s->pty && !s->is_stderr,
			     .picture = true},
		.limit = limit_of(set, s->is_stderr),
		.reader = reader,
		.raw = (enum interceptor_raw)set->raw,
		.part = s->is_stderr ? ARTIFACT_ERR : ARTIFACT_OUT,
		.exact = !s->pty && s->sink != SINK_AGENT,
		.settle_ms = set->settle,
	};
	/* If there is no place to keep the text, whatever is not printed is lost, so more is
	   printed. */
	if (s->run->record.history < 0 || s->run->record.error)
		limit_widen(&options.limit, set);
	const struct interceptor_events events = {
		.artifact = source_on_artifact,
		.print = source_on_print,
		.resolve = pipe && set->print != PRINT_PREVIEW ? on_resolve : NULL,
		.reply = source_on_reply,
		.ctx = s,
	};
	s->text = interceptor_new(&options, &events);
	/* A later attempt would begin in the middle of the text. */
	s->refused = !s->text;
	return s->text;
}

/* Passes on bytes in which secrets were replaced. */
static void source_pass(void *ctx, const char *data, size_t len)
{
	struct source *s = ctx;
	source_text(s);
	bool is_reported = s->run->job->settings->format != FORMAT_TEXT;
	if (s->person || (!s->text && !is_reported)) {
		source_on_print(s, data, len);
		s->last = data[len - 1];
	}
	if (s->text)
		interceptor_feed(s->text, data, len);
	if (s == s->run->sources)
		live_output(s->run, data, len);
}

#define PTY_HANGUPS 3

size_t source_read_once(int fd, bool first, char *data, size_t len, int *end)
{
	const unsigned most = first ? 1 : PTY_HANGUPS;
	for (unsigned hangups = 0;;) {
		ssize_t n = read(fd, data, len);
		*end = n == 0 ? 0 : n < 0 ? errno : -1;
		if (n > 0)
			return (size_t)n;
		/* Linux: while no slave is open, a read of the master that finds nothing in the
		   line discipline's buffer (4 KB) gives EIO. Output beyond that lies in the port's
		   flip buffer, which flush_to_ldisc() empties from a workqueue. The read first
		   waits for that work (tty_buffer_flush_work()), but not for work that was queued
		   again meanwhile. So EIO means the end only if later reads give it, too; one such
		   read is enough while nothing has come, since the buffer was never full then, and
		   all writes had queued their work before the first EIO. */
		if (*end != EINTR && (*end != EIO || hangups++ == most))
			return 0;
	}
}

/* A pty hands out at most this many bytes at a time. Rendering each piece separately would cost
   more. */
#define LEAST_READ ((size_t)4096)

/* How much the kernel holds for a pty (Linux: pty_common_install()) before the writing command has
   to wait. If more were read first, the command would wait while that is rendered. */
#define PTY_CHUNK ((size_t)8192)

int source_read(struct source *s, char chunk[SOURCE_CHUNK], size_t most)
{
	const size_t size = s->pty ? PTY_CHUNK : SOURCE_CHUNK;
	size_t got = 0;
	int end = -1;
	while (s->fd >= 0 && got < most && end < 0) {
		/* Once the reader is gone, one read is enough, since the command must fail at its
		   next write. */
		size_t len = 0, n = 1;
		while (n > 0 && size - len >= LEAST_READ && (!s->gone || len == 0)) {
			n = source_read_once(s->fd, s->came + len == 0, chunk + len, size - len,
					     &end);
			len += n;
		}
		s->came += len;
		got += len;
		if (len > 0 && s->redactor.secrets)
			redactor_feed(&s->redactor, chunk, len);
		else if (len > 0)
			source_pass(s, chunk, len);
		if (end < 0 && output_queue_is_full(&s->queue))
			return 1;
	}
	if (s->fd < 0)
		return -1;
	if (end < 0)
		return 1;
	if (end == EAGAIN) {
		if (s->text) {
			interceptor_pause(s->text);
			/* No line is redrawn through a pipe, so each is final at once. */
			if (!s->pty)
				interceptor_settle_all(s->text);
		}
		return 0;
	}
	if (s->lasting && end == EIO) {
		s->hung = true;
		return 0;
	}
	/* At the end of a pipe read(2) returns 0; at the end of a pty it fails with EIO. */
	source_close(s);
	return -1;
}

void source_report(struct source *s, const struct interceptor_ending *ending)
{
	if (interceptor_is_worth_telling(ending))
		source_text(s);
	if (!s->text)
		return;
	bool running = ending->ending.state == WORDING_RUNNING;
	interceptor_report(s->text, ending);
	bool untold = running || ending->ending.background || ending->ending.timed_out;
	if (s->person && (untold || !interceptor_facts(s->text).fits)) {
		struct buffer line = BUFFER_INIT;
		if (ending->ending.timed_out && !ending->place.id)
			wording_status(&line, &ending->ending, &ending->place);
		else if (ending->ending.timed_out || running)
			wording_footer(&line, &ending->ending, &ending->place);
		else if (ending->place.id)
			wording_person(&line, &ending->ending, &ending->place);
		if (line.len > 0 && buffer_check(&line) == 0) {
			/* The person's terminal may still be raw: every line end is spelled out. */
			if (s->last && s->last != '\n')
				output_queue_write(&s->queue, "\r\n", 2);
			output_queue_write(&s->queue, line.data, line.len - 1);
			output_queue_write(&s->queue, "\r\n", 2);
		}
		buffer_release(&line);
		return;
	}
	/* A program that starts a run with --detach gets the ID: id=$(terse --detach server). */
	if (running && s->run->job->settings->detach && !ending->is_second &&
	    interceptor_reader(s->text) == INTERCEPT_PROGRAM) {
		output_queue_write(&s->queue, ending->place.id, strlen(ending->place.id));
		output_queue_write(&s->queue, "\n", 1);
	}
}

void source_let_go(struct source *s)
{
	s->person = false;
	output_queue_release(&s->queue);
	s->queue.error = 0;
}

void source_close(struct source *s)
{
	io_close(&s->fd);
	if (s->redactor.secrets)
		redactor_finish(&s->redactor);
	if (s->text)
		interceptor_finish(s->text);
}

void source_release(struct source *s)
{
	io_close(&s->fd);
	io_close(&s->child);
	interceptor_free(s->text);
	redactor_release(&s->redactor);
	s->text = NULL;
	output_queue_release(&s->queue);
}
