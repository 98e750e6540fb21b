// What a live reader is told when the command has ended, or has been silent for long. See
// interceptor.h.

#include "supervisor/intercept/internal.h"

#include "supervisor/base/utf8.h"

#include <string.h>

/* Marker callback of preview_choose(): the same words that print_marker() prints. */
static size_t measure_marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	struct buffer text = BUFFER_INIT;
	size_t len = 0;
	if (wording_marker(&text, piece, ctx) == 0) {
		len = text.len;
		memcpy(out, text.data, len < cap ? len : cap);
	}
	buffer_release(&text);
	return len;
}

/* Ends an unfinished line, so that what follows stands on its own. */
static void end_line(struct interceptor *s)
{
	if (!s->ended_line)
		intercept_print(s, "\n", 1);
}

static void print_line(struct interceptor *s, struct buffer *line)
{
	end_line(s);
	intercept_print(s, line->data, line->len);
	buffer_clear(line);
}

static void print_numbered(struct interceptor *s, const struct preview_piece *piece)
{
	struct buffer out = BUFFER_INIT;
	const char *at = piece->text, *end = piece->text + piece->len;
	for (uint64_t number = piece->from; at < end; number++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop + 1 : end) - at);
		if (buffer_printf(&out, "%llu: ", (unsigned long long)number) < 0 ||
		    buffer_append(&out, at, len) < 0)
			break;
		at += len;
	}
	intercept_print_clean(s, out.data, out.len);
	buffer_release(&out);
}

static bool has_failed(const struct wording_ending *e)
{
	return e->state == WORDING_INTERRUPTED || e->exit_code != 0;
}

void interceptor_conclude(struct interceptor *s, bool failed)
{
	if (s->options.print != INTERCEPT_PREVIEW || !failed)
		return;
	s->most = limit_most(s->options.limit.failure_bytes);
	if (s->fits && !s->reported && intercept_is_over(s, false))
		intercept_overflow(s);
}

static void print_preview(struct interceptor *s, const struct interceptor_ending *e)
{
	const struct preview_piece *pieces;
	const struct wording_place *place = &e->place;
	const struct preview_ask ask = {
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.status = has_failed(&e->ending),
		.marker = measure_marker,
		.ctx = (void *)place,
	};
	struct buffer line = BUFFER_INIT;
	int count = preview_choose(s->preview, &ask, &pieces);
	for (int i = 0; i < count; i++) {
		const struct preview_piece *piece = &pieces[i];
		if (piece->kind == PREVIEW_TEXT && piece->numbered)
			print_numbered(s, piece);
		else if (piece->kind == PREVIEW_TEXT)
			intercept_print_clean(s, piece->text, piece->len);
		else if (wording_marker(&line, piece, place) == 0)
			print_line(s, &line);
	}
	if (wording_footer(&line, &e->ending, place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->is_second)
		return false;
	return e->status_line == STATUS_LINE_ALWAYS ||
	       (e->status_line == STATUS_LINE_FAILURE && failed) || e->ending.timed_out ||
	       e->ending.state == WORDING_INTERRUPTED;
}

/* The rest of a text that fits. A program gets it as it is, and no words of ours. */
static void print_rest(struct interceptor *s, const struct interceptor_ending *e)
{
	struct buffer line = BUFFER_INIT;
	size_t len = s->held.len - s->printed;
	const char *rest = len ? s->held.data + s->printed : "";
	bool told = interceptor_is_worth_telling(e);
	if (told || !utf8_all_clean(rest, len))
		intercept_resolve(s);
	if (s->options.print != INTERCEPT_PREVIEW)
		return;
	intercept_print_clean(s, rest, len);
	int made = -1;
	/* Whoever interrupted it may not have read this far. */
	if (told && e->ending.state == WORDING_INTERRUPTED)
		made = wording_footer(&line, &e->ending, &e->place);
	else if (told)
		made = wording_status(&line, &e->ending);
	if (made == 0)
		print_line(s, &line);
	buffer_release(&line);
}

/* The rest of the first part of a text, and how to go on. */
static void print_end_of_head(struct interceptor *s, const struct interceptor_ending *e)
{
	static const enum wording_reason reasons[] = {
		[HEAD_OPEN] = WORDING_NOTHING_LEFT,
		[HEAD_COUNT] = WORDING_COUNT,
		[HEAD_BYTES] = WORDING_BYTES,
		[HEAD_LINE] = WORDING_FIRST_LINE,
	};
	bool is_full = s->has_full && !has_failed(&e->ending);
	struct head *h = is_full ? &s->full : &s->head;
	struct buffer line = BUFFER_INIT;
	head_finish(h, is_full ? &s->more : &line);
	if (is_full && s->more.len > s->more_len)
		intercept_print(s, s->more.data + s->more_len, s->more.len - s->more_len);
	intercept_print(s, line.data, line.len);
	buffer_clear(&line);
	const struct wording_head told = {
		.reason = reasons[h->end],
		.limit = h->limit,
		.lines = h->lines,
		.units = h->units,
		.total_units = tally_units(&s->tally),
		.cut = h->cut,
		.first_cut = h->first_cut,
		.first_length = h->first_length,
		.first_shown = h->first_shown,
		.with_status = e->status_line == STATUS_LINE_ALWAYS,
	};
	int made = -1;
	if (h->end != HEAD_OPEN || h->cut > 0)
		made = wording_head(&line, &told, &e->ending, &e->place);
	else if (interceptor_is_worth_telling(e))
		made = wording_status(&line, &e->ending);
	if (made == 0)
		print_line(s, &line);
	buffer_release(&line);
}

static void print_binary(struct interceptor *s, const struct interceptor_ending *e)
{
	struct buffer line = BUFFER_INIT;
	if (wording_binary(&line, &e->ending, s->kind, &e->place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

void interceptor_report(struct interceptor *s, const struct interceptor_ending *given)
{
	struct interceptor_ending e = *given;
	interceptor_pause(s);
	intercept_take_pending(s);
	e.ending.lines = interceptor_lines(s);
	e.ending.bytes = interceptor_bytes(s);
	e.ending.limit = s->options.limit;
	e.ending.broken = s->broken;
	if (s->options.print == INTERCEPT_PREVIEW) {
		if (s->binary) {
			print_binary(s, &e);
		} else if (s->fits) {
			print_rest(s, &e);
		} else if (intercept_is_by_head(s)) {
			print_end_of_head(s, &e);
		} else {
			print_preview(s, &e);
		}
	}
	s->reported = true;
	buffer_release(&s->held);
}

void interceptor_heartbeat(struct interceptor *s, int64_t elapsed_ms,
			   const struct wording_place *place)
{
	struct buffer line = BUFFER_INIT, pending = BUFFER_INIT;
	uint64_t lines = terminal_lines(s->terminal), bytes = interceptor_bytes(s);
	if (!s->binary && terminal_pending(s->terminal, &pending) == 0)
		bytes += pending.len;
	if (wording_heartbeat(&line, elapsed_ms, lines, bytes, place) == 0)
		print_line(s, &line);
	buffer_release(&pending);
	buffer_release(&line);
}
