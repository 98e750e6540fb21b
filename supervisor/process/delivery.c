// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/trace.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Standard output and error. */
#define SOURCES 2

struct output_queue *delivery_summary_queue(struct delivery *d)
{
	struct source *s = &d->sources[0];
	return s->job && !s->is_stderr ? &s->queue : NULL;
}

bool delivery_print(struct delivery *d)
{
	struct output_queue *o = delivery_summary_queue(d);
	struct buffer *piece = &d->summary.out;
	if (!d->summary.is_open || output_queue_is_full(o))
		return false;
	buffer_clear(piece);
	summary_next(&d->summary, piece);
	output_queue_write(o, piece->data, piece->len);
	shown_add(&d->record->shown, piece->data, piece->len);
	if (o->error)
		d->summary.is_open = false;
	/* The reader does not stall. */
	d->left = 0;
	return true;
}

void delivery_hurry(struct delivery *d, int64_t now_ms, int instead)
{
	if (!d->stall_at || !d->begun)
		d->stall_at = now_ms + DELIVERY_STALL_MS;
	if (!d->instead)
		d->instead = instead;
}

bool delivery_is_end(int sig)
{
	return sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT || sig == SIGKILL;
}

void delivery_signal(struct delivery *d, int64_t now_ms, int sig)
{
	if (delivery_is_end(sig))
		delivery_hurry(d, now_ms, sig);
}

void delivery_begin(struct delivery *d, int64_t now_ms, int64_t grace_ms)
{
	d->begun = true;
	if (!d->stall_at)
		return;
	if (now_ms - d->stall_at > grace_ms)
		d->stall_at = d->instead = 0;
	else
		d->stall_at = now_ms + DELIVERY_STALL_MS;
}

/* Prints on standard error what only terse knows. It comes after what is queued there, and never
   blocks, since standard error may be full or stall as well. */
static void delivery_print_line(struct delivery *d, const struct buffer *line)
{
	struct output_queue own = {.own = -1}, *queue = NULL;
	if (buffer_check(line) < 0)
		return;
	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &d->sources[i];
		if (s->job && !s->queue.error &&
		    (s->is_stderr || sink_is_same(s->queue.fd, STDERR_FILENO)))
			queue = &s->queue;
	}
	if (!queue) {
		queue = &own;
		output_queue_init(queue, STDERR_FILENO);
	}
	output_queue_write(queue, line->data, line->len);
	output_queue_release(&own);
}

void delivery_report_not_kept(struct delivery *d)
{
	const struct record *r = d->record;
	struct buffer line = BUFFER_INIT;
	int error = r->artifact ? artifact_error(r->artifact) : r->error;
	bool lost = false;
	for (int i = 0; i < SOURCES; i++) {
		const struct source *s = &d->sources[i];
		lost |= s->text && (s->fd >= 0 || interceptor_is_partial(s->text));
	}
	if (lost && error) {
		wording_not_kept(&line, error);
		delivery_print_line(d, &line);
	}
	buffer_release(&line);
}

/* The output of which the reader did not get all, or NULL. An agent or a person who went away has
   lost nothing. EBADF: there never was a reader. */
static const struct source *delivery_find_lost(const struct delivery *d)
{
	for (int i = 0; i < SOURCES; i++) {
		const struct source *s = &d->sources[i];
		bool gone = s->queue.error == EPIPE &&
			    (s->sink == SINK_AGENT || s->sink == SINK_PERSON);
		if (s->job && s->queue.error && s->queue.error != EBADF && !gone)
			return s;
	}
	return NULL;
}

/* Without terse, the write would have failed in the command, which would still have the text. */
static void delivery_report_lost(struct delivery *d, const struct source *s)
{
	struct buffer line = BUFFER_INIT;
	if (s->is_stderr || s->queue.error == EPIPE)
		return;
	for (int i = 0; i < SOURCES; i++) {
		if (d->sources[i].text)
			interceptor_spill(d->sources[i].text);
	}
	if (d->record->artifact)
		artifact_update(d->record->artifact);
	const struct wording_place place = record_place(d->record, false);
	wording_not_printed(&line, s->queue.error, &place);
	delivery_print_line(d, &line);
	buffer_release(&line);
}

static size_t delivery_count_left(const struct delivery *d)
{
	size_t left = d->summary.is_open;
	for (int i = 0; i < SOURCES; i++)
		left += d->sources[i].queue.queue.len - d->sources[i].queue.sent;
	return left;
}

bool delivery_step(struct delivery *d, int64_t now_ms)
{
	size_t left = delivery_count_left(d);
	if (left != d->left && d->stall_at)
		d->stall_at = now_ms + DELIVERY_STALL_MS;
	d->left = left;
	bool given_up = d->begun && d->stall_at && now_ms >= d->stall_at;
	if (left > 0 && given_up)
		TRACE(SINK, "the reader stalls, %zu bytes are given up", left);
	if (left > 0 && !given_up)
		return false;
	for (int i = 0; i < SOURCES; i++)
		output_queue_give_up(&d->sources[i].queue);
	d->summary.is_open = false;
	const struct source *lost = delivery_find_lost(d);
	if (!lost || d->reported)
		return true;
	d->reported = true;
	delivery_report_lost(d, lost);
	return delivery_count_left(d) == 0;
}

/* Returns the wait status after the signal that the kernel sends to a failed write. The command has
   inherited its disposition from this process. */
static int delivery_status_by(int sig)
{
	struct sigaction action;
	bool ignored = sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
	return ignored ? W_EXITCODE(1, 0) : sig;
}

int delivery_status(const struct delivery *d, int status)
{
	const struct source *lost = delivery_find_lost(d);
	int error = lost ? lost->queue.error : 0;
	/* The command got SIGPIPE since terse closed its pipe when a write had failed for another
	   reason. */
	bool stopped = error != EPIPE && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
	if (!error || (status != 0 && !stopped))
		return status;
	switch (error) {
	case EPIPE: return delivery_status_by(SIGPIPE);
	case EFBIG: return delivery_status_by(SIGXFSZ);
	case ETIMEDOUT: return d->instead ? d->instead : W_EXITCODE(1, 0);
	default: return W_EXITCODE(1, 0);
	}
}
