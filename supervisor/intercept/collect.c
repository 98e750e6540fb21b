// What a report has of a stream, when the command has ended. See interceptor.h.

#include "supervisor/intercept/internal.h"

#include "supervisor/base/utf8.h"

#include <string.h>

/* Prints what is left of a text that is held as a whole. */
static int collect_all(struct interceptor *s, struct report_stream *out)
{
	if (s->held.len > s->printed)
		intercept_print_clean(s, s->held.data + s->printed, s->held.len - s->printed);
	return out->total_lines > 0 ? report_add_range(out, 1, out->total_lines) : 0;
}

/* The start of a text that was asked for in full and could not be kept: whole lines if there is
   one. */
static int collect_start(struct interceptor *s, struct report_stream *out)
{
	struct tally shown = {.unit = UNIT_LINES};
	const char *last = memrchr(s->held.data, '\n', s->held.len);
	size_t len = last ? (size_t)(last - s->held.data) + 1
			  : utf8_floor(s->held.data, s->held.len, s->held.len - 1);
	tally_feed(&shown, s->held.data, len);
	intercept_print_clean(s, s->held.data, len);
	out->broken = LIMIT_BYTES;
	out->last_line_partial = !last;
	out->lines_truncated = !last;
	return report_add_range(out, 1, tally_lines(&shown));
}

static int collect_text(struct interceptor *s, const struct interceptor_ending *given,
			struct report_stream *out)
{
	struct interceptor_ending e = *given;
	if (s->fits)
		return collect_all(s, out);
	if (s->options.print == INTERCEPT_SILENT)
		return !s->artifact && s->held.len > 0 ? collect_start(s, out) : 0;
	out->broken = s->broken;
	if (!intercept_is_by_head(s))
		return intercept_print_preview(s, &e, out);
	/* How the command ended is told elsewhere in the report. */
	e.ending = (struct wording_ending){.lines = out->total_lines, .bytes = out->total_bytes};
	e.status_line = STATUS_LINE_NEVER;
	return intercept_print_end_of_head(s, &e, out);
}

int interceptor_collect(struct interceptor *s, const struct interceptor_ending *e,
			struct report_stream *out)
{
	int result = 0;
	intercept_judge(s, true);
	intercept_take_pending(s);
	out->limit = s->options.limit;
	out->total_bytes = interceptor_bytes(s);
	if (s->binary && !s->verbatim) {
		buffer_clear(&s->collected);
		out->binary = true;
		out->kind = s->kind.name;
	} else {
		out->total_lines = interceptor_lines(s);
		result = collect_text(s, e, out);
	}
	s->reported = true;
	out->text = s->collected;
	s->collected = (struct buffer)BUFFER_INIT;
	return s->lost ? -1 : result;
}
