// What is printed of a text that does not fit, with the notices around it. See interceptor.h.

#include "supervisor/intercept/internal.h"

#include "supervisor/report/wording.h"

#include <stdio.h>
#include <string.h>

static bool shown_is_bare(const struct interceptor *s)
{
	return s->options.form == INTERCEPT_BARE;
}

struct marker {
	const struct wording_place *place;
	uint64_t lines_before;
	struct buffer *line; /* where it is measured */
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
	const struct marker *m = ctx;
	buffer_clear(m->line);
	if (make_marker(m->line, piece, m) < 0)
		return 0;
	memcpy(out, m->line->data, m->line->len < cap ? m->line->len : cap);
	return m->line->len;
}

struct buffer *intercept_line(struct interceptor *s)
{
	buffer_clear(&s->line);
	return &s->line;
}

void intercept_print_line(struct interceptor *s, int made)
{
	if (made < 0)
		return;
	/* An unfinished line is ended, so that this one stands on its own. */
	if (!s->ended_line)
		intercept_print(s, "\n", 1);
	intercept_print(s, s->line.data, s->line.len);
}

/* Adds to what is printed at once, or prints it where there is no memory for that. */
static void shown_add(struct interceptor *s, struct buffer *out, const char *data, size_t len)
{
	if (buffer_append(out, data, len) == 0)
		return;
	intercept_print_clean(s, out->data, out->len);
	buffer_clear(out);
	intercept_print_clean(s, data, len);
}

static void print_numbered(struct interceptor *s, const struct preview_piece *piece)
{
	struct buffer out = BUFFER_INIT;
	char label[24];
	const char *at = piece->text, *end = piece->text + piece->len;
	for (uint64_t number = piece->from + s->options.lines_before; at < end; number++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop + 1 : end) - at);
		int n = snprintf(label, sizeof(label), "%llu: ", (unsigned long long)number);
		shown_add(s, &out, label, (size_t)n);
		shown_add(s, &out, at, len);
		at += len;
	}
	intercept_print_clean(s, out.data, out.len);
	buffer_release(&out);
}

static void print_piece(struct interceptor *s, const struct preview_piece *piece,
			const struct marker *marker)
{
	if (piece->kind == PREVIEW_TEXT && piece->numbered && !shown_is_bare(s))
		print_numbered(s, piece);
	else if (piece->kind == PREVIEW_TEXT)
		intercept_print_clean(s, piece->text, piece->len);
	else if (!shown_is_bare(s))
		intercept_print_line(s, make_marker(intercept_line(s), piece, marker));
}

/* Takes down which lines a piece has shown. */
static int note_piece(struct interceptor *s, struct report_stream *report,
		      const struct preview_piece *piece)
{
	if (!s->cut.bytes)
		s->cut = piece->gap;
	/* Of folded lines the one before them says what they are, but a program has to see ranges.
	 */
	if (!report || piece->kind != PREVIEW_TEXT)
		return 0;
	report->lines_truncated += piece->cut;
	report->last_line_partial = piece->cut_last;
	return report_add_range(report, piece->from, piece->to);
}

static bool has_failed(const struct wording_ending *e)
{
	return e->state == WORDING_INTERRUPTED || e->exit_code != 0;
}

/* What keeps the preview from showing more of the text. */
static enum limit_part what_limits(const struct interceptor *s, uint64_t cut)
{
	uint64_t shown = preview_shown(s->preview);
	if (shown == preview_lines(s->preview) && cut > 0 && preview_is_line_limited(s->preview))
		return LIMIT_CUT;
	return s->broken == LIMIT_COUNT && shown < s->options.limit.count ? LIMIT_BYTES : s->broken;
}

int intercept_print_preview(struct interceptor *s, const struct interceptor_ending *e,
			    struct report_stream *report)
{
	const struct preview_piece *pieces;
	struct marker marker = {&e->place, s->options.lines_before, &s->line};
	const struct preview_ask ask = {
		.printed_bytes = s->printed,
		.printed_lines = s->printed_lines,
		.bytes_before = s->options.bytes_before,
		.status = has_failed(&e->ending),
		.marker = measure_marker,
		.ctx = &marker,
	};
	uint64_t cut = 0;
	int result = 0, count = preview_choose(s->preview, &ask, &pieces);
	if (report && s->printed_lines > 0)
		result = report_add_range(report, 1, s->printed_lines);
	for (int i = 0; i < count && result == 0; i++) {
		print_piece(s, &pieces[i], &marker);
		cut += pieces[i].cut;
		result = note_piece(s, report, &pieces[i]);
	}
	s->broken = what_limits(s, cut);
	if (report) {
		report->broken = s->broken;
		report->cut = s->cut;
	}
	return result;
}

/* Takes down which lines the first part of a text has shown. */
static int note_head(struct report_stream *report, const struct head *h)
{
	const enum limit_part cut = h->limit.grow ? LIMIT_BYTES : LIMIT_CUT;
	const enum limit_part broken[] = {
		[HEAD_OPEN] = h->cut > 0 ? cut : LIMIT_LINE,
		[HEAD_COUNT] = LIMIT_COUNT,
		[HEAD_BYTES] = LIMIT_BYTES,
		[HEAD_LINE] = LIMIT_BYTES,
	};
	bool is_part = h->end == HEAD_LINE && h->first_shown > 0;
	report->broken = broken[h->end];
	report->cut = h->gap;
	report->lines_truncated = h->cut + is_part;
	report->last_line_partial = h->last_cut || is_part;
	return h->lines + is_part > 0 ? report_add_range(report, 1, h->lines + is_part) : 0;
}

int intercept_print_end_of_head(struct interceptor *s, const struct interceptor_ending *e,
				struct report_stream *report)
{
	static const enum wording_reason reasons[] = {
		[HEAD_OPEN] = WORDING_NOTHING_LEFT,
		[HEAD_COUNT] = WORDING_COUNT,
		[HEAD_BYTES] = WORDING_BYTES,
		[HEAD_LINE] = WORDING_FIRST_LINE,
	};
	/* A success may be told more of. */
	bool is_full = s->has_full && !has_failed(&e->ending);
	struct head *h = is_full ? &s->full : &s->head;
	struct buffer rest = BUFFER_INIT;
	head_finish(h, is_full ? &s->more : &rest);
	if (is_full && s->more.len > s->more_len)
		intercept_print(s, s->more.data + s->more_len, s->more.len - s->more_len);
	else if (!is_full)
		intercept_print(s, s->rest.data, s->rest.len);
	intercept_print(s, rest.data, rest.len);
	buffer_release(&rest);
	const struct wording_head told = {
		.reason = reasons[h->end],
		.limit = h->limit,
		.lines = h->lines,
		.units = h->units,
		.total_units = tally_units(&s->tally),
		.cut = h->cut,
		.gap = h->gap,
		.first_length = h->first_length,
		.first_shown = h->first_shown,
		.with_status = e->status_line == STATUS_LINE_ALWAYS,
	};
	if (!shown_is_bare(s) && (h->end != HEAD_OPEN || h->cut > 0))
		intercept_print_line(s,
				     wording_head(intercept_line(s), &told, &e->ending, &e->place));
	else if (!shown_is_bare(s) && interceptor_is_worth_telling(e))
		intercept_print_line(s, wording_status(intercept_line(s), &e->ending));
	if (!shown_is_bare(s) && e->ending.state == WORDING_RUNNING)
		intercept_print_line(s, wording_footer(intercept_line(s), &e->ending, &e->place));
	return report ? note_head(report, h) : 0;
}
