// See internal.h.

#include "supervisor/command/internal.h"

#include "config/limit.h"
#include "config/profile.h"
#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/text.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define CHUNK ((size_t)64 * 1024)

int excerpts_apply_profile(const char *verb, struct settings *s)
{
	char *const none[] = {NULL};
	struct option_error error = {""};
	struct profile_choice choice;
	if (!s->profile)
		return 0;
	int result = profile_choose(s, none, NULL, &choice, &error);
	if (result < 0 && *error.text) {
		verb_error(verb, "%s", error.text);
		if (SETTING_ORIGIN(s, profile) == ORIGIN_FLAG)
			return -1;
	}
	profile_apply(s, &choice);
	return 0;
}

void excerpts_print(void *excerpts, const char *data, size_t len)
{
	struct excerpts *d = excerpts;
	if (d->error)
		return;
	if (d->into)
		buffer_append(d->into, data, len);
	if ((d->into ? buffer_check(d->into) : io_write(STDOUT_FILENO, data, len)) < 0)
		d->error = errno;
}

static struct artifact *excerpts_on_artifact(void *ctx)
{
	struct excerpts *d = ctx;
	return d->artifact ? d->artifact(d) : NULL;
}

int excerpts_init(struct excerpts *d, const struct settings *s, struct interceptor_options *o)
{
	const struct interceptor_events events = {
		.artifact = excerpts_on_artifact, .print = excerpts_print, .ctx = d};
	o->terminal.cols = (unsigned)s->cols;
	o->terminal.rows = (unsigned)s->rows;
	o->limit = limit_of(s, o->part == ARTIFACT_ERR);
	o->raw = INTERCEPT_RAW_NO;
	d->text = interceptor_new(o, &events);
	return d->text ? 0 : -1;
}

/* Takes the rest of the text, from its current position. A gap becomes a line. Adds to *lines the
   number of complete lines that were taken. Returns 0, or -1 with errno. */
static int excerpts_feed(struct excerpts *d, struct text *t, uint64_t *lines)
{
	struct text_piece piece;
	char line[GAP_ANNOUNCE_MAX], *chunk = io_block(CHUNK);
	int result = chunk ? 0 : -1;
	while (result == 0 && !d->error) {
		result = text_next(t, chunk, CHUNK, &piece);
		if (result < 0 || piece.kind == TEXT_END)
			break;
		if (piece.kind != TEXT_GAP) {
			interceptor_feed(d->text, chunk, piece.len);
			*lines += newline_count(chunk, piece.len);
			continue;
		}
		/* One line announces the gap, but lines after it keep their numbers and offsets.
		   The gap may end inside a line; then the rest of that line follows. */
		size_t len = gap_announce(line, &piece.gap);
		uint64_t missing = piece.gap.bytes > len ? piece.gap.bytes - len : 0;
		uint64_t gone = piece.gap.to - piece.gap.from + !piece.goes_on;
		*lines = piece.gap.to - piece.goes_on;
		if (gone > 0)
			interceptor_skip(d->text, line, len, missing, gone - 1);
		else
			interceptor_feed(d->text, line, len - 1);
	}
	free(chunk);
	return result;
}

struct wording_ending excerpts_ending(const struct meta *m)
{
	static const enum wording_state states[] = {
		[META_RUNNING] = WORDING_RUNNING,
		[META_DONE] = WORDING_ENDED,
		[META_INTERRUPTED] = WORDING_INTERRUPTED,
	};
	return (struct wording_ending){
		.state = states[m->state],
		.timed_out = m->timed_out,
		.exit_code = m->exit_code,
		.signal = m->signal,
		.duration_ms =
			m->state == META_RUNNING ? clock_real_ms() - m->started_ms : m->duration_ms,
	};
}

int excerpts_take(struct excerpts *d, const struct settings *settings, struct text *t,
		  uint64_t *lines, enum interceptor_reader reader,
		  const struct interceptor_ending *end)
{
	uint64_t none = 0, total;
	int sought = lines ? text_seek(t, *lines + 1, &total) : 0;
	if (sought < 0)
		return -1;
	if (!lines) {
		text_seek_byte(t, 0);
		lines = &none;
	} else if (sought == 1) {
		*lines = total;
	}
	struct interceptor_options options = {
		.reader = reader,
		.part = t->part,
		.terminal = {.onlcr = true, .returns = true},
		.lines_before = *lines,
		.bytes_before = sought == 1 ? t->size : t->offset,
	};
	if (excerpts_init(d, settings, &options) < 0 ||
	    (sought == 0 && excerpts_feed(d, t, lines) < 0))
		return -1;
	interceptor_finish(d->text);
	if (end)
		interceptor_report(d->text, end);
	errno = d->error;
	return d->error ? -1 : 0;
}

int excerpts_text(const struct settings *settings, struct text *t, uint64_t *lines,
		  const struct interceptor_ending *end, struct buffer *into)
{
	struct excerpts d = {.into = into};
	int result = excerpts_take(&d, settings, t, lines, INTERCEPT_AGENT, end);
	interceptor_free(d.text);
	return result;
}

struct interceptor_ending excerpts_end(const struct settings *settings, const struct meta *m,
				       const char *place, enum artifact_part part)
{
	const struct wording_ending file = {.state = WORDING_FILE};
	const bool is_stderr = part == ARTIFACT_ERR;
	struct interceptor_ending end = {
		.ending = m ? excerpts_ending(m) : file,
		.place = {.id = place, .is_stderr = is_stderr, .words = settings->words},
		.status_line = (enum status_when)settings->status,
	};
	if (m)
		end.place.gaps = meta_gaps(is_stderr ? &m->err : &m->out);
	return end;
}
