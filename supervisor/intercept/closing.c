// What a live reader is told when the command has ended, or has been silent for long. See
// interceptor.h.

#include "supervisor/intercept/internal.h"

#include "supervisor/base/utf8.h"

#include <string.h>

struct marker {
	const struct wording_place *place;
	uint64_t lines_before;
};

static int make_marker(struct buffer *out, const struct preview_piece *piece,
		       const struct marker *m)
{
	struct preview_piece numbered = *piece;
	numbered.from += m->lines_before;
	numbered.to += m->lines_before;
	return wording_marker(out, &numbered, m->place);
}

/* Marker callback of preview_choose(): the same words that are printed. */
static size_t measure_marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	struct buffer text = BUFFER_INIT;
	size_t len = 0;
	if (make_marker(&text, piece, ctx) == 0) {
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
	for (uint64_t number = piece->from + s->options.lines_before; at < end; number++) {
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

static void print_preview(struct interceptor *s, const struct interceptor_ending *e)
{
	const struct preview_piece *pieces;
	struct marker marker = {&e->place, s->options.lines_before};
	const struct preview_ask ask = {
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.status = e->ending.state == WORDING_INTERRUPTED || e->ending.exit_code != 0,
		.marker = measure_marker,
		.ctx = &marker,
	};
	struct buffer line = BUFFER_INIT;
	int count = preview_choose(s->preview, &ask, &pieces);
	for (int i = 0; i < count; i++) {
		const struct preview_piece *piece = &pieces[i];
		if (piece->kind == PREVIEW_TEXT && piece->numbered)
			print_numbered(s, piece);
		else if (piece->kind == PREVIEW_TEXT)
			intercept_print_clean(s, piece->text, piece->len);
		else if (make_marker(&line, piece, &marker) == 0)
			print_line(s, &line);
	}
	if (wording_footer(&line, &e->ending, &e->place) == 0)
		print_line(s, &line);
	buffer_release(&line);
}

bool interceptor_is_worth_telling(const struct interceptor_ending *e)
{
	bool failed = e->ending.exit_code != 0;
	if (e->is_second)
		return false;
	return e->status_line == STATUS_LINE_ALWAYS || e->ending.prompt ||
	       (e->status_line == STATUS_LINE_FAILURE && failed) || e->ending.timed_out ||
	       e->ending.state != WORDING_ENDED;
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
	if (told && e->ending.state != WORDING_ENDED)
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
	struct head *h = &s->head;
	struct buffer line = BUFFER_INIT;
	head_finish(h, &line);
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
	if (e->ending.state == WORDING_RUNNING && wording_footer(&line, &e->ending, &e->place) == 0)
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
	e.ending.lines = s->options.lines_before + interceptor_lines(s);
	e.ending.bytes = s->options.bytes_before + interceptor_bytes(s);
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
