// See report.h.

#include "supervisor/report/report.h"

#include "supervisor/base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What is written of a text at a time. */
#define PIECE ((size_t)64 * 1024)

int report_add_range(struct report_stream *s, uint64_t from, uint64_t to)
{
	s->returned_lines += to - from + 1;
	if (s->range_count > 0 && s->ranges[s->range_count - 1].to + 1 == from) {
		s->ranges[s->range_count - 1].to = to;
		return 0;
	}
	if (s->range_count == s->range_cap) {
		size_t cap = s->range_cap ? 2 * s->range_cap : 8;
		struct report_range *more = realloc(s->ranges, cap * sizeof(*more));
		if (!more)
			return -1;
		s->ranges = more;
		s->range_cap = cap;
	}
	s->ranges[s->range_count++] = (struct report_range){from, to};
	return 0;
}

bool report_is_truncated(const struct report_stream *s)
{
	return s->binary || s->returned_lines < s->total_lines || s->lines_truncated > 0;
}

void report_warn(struct report *r, const char *format, ...)
{
	size_t before = r->warnings.len;
	va_list args;
	va_start(args, format);
	int made = buffer_vprintf(&r->warnings, format, args);
	va_end(args);
	if (made < 0 || buffer_append(&r->warnings, "", 1) < 0)
		r->warnings.len = before;
}

void report_release(struct report *r)
{
	for (int i = 0; i < 2; i++) {
		buffer_release(&r->streams[i].text);
		free(r->streams[i].ranges);
		r->streams[i].ranges = NULL;
	}
	buffer_release(&r->piece);
	buffer_release(&r->warnings);
}

int report_next(struct report_writer *w, struct buffer *out)
{
	if (!w->steps[w->step])
		return 0;
	int more = w->steps[w->step](w, out);
	if (more == 0)
		w->step++;
	return more < 0 ? -1 : w->steps[w->step] != NULL;
}

int report_next_text(struct report *r, int which, struct buffer *out)
{
	struct report_stream *s = &r->streams[which];
	size_t before = out->len, left = s->text.len - s->handed_out;
	if (left > 0) {
		const char *text = s->text.data + s->handed_out;
		size_t n = utf8_floor(text, left, left < PIECE ? left : PIECE);
		if (buffer_append(out, text, n) < 0)
			return -1;
		s->handed_out += n;
	} else if (s->next) {
		int more = s->next(s->ctx, out);
		if (more < 0 && errno == ENOMEM)
			return -1;
		if (more < 0)
			report_warn(r, "%s: reading the text back: %s",
				    which == 0 ? "stdout" : "stderr", strerror(errno));
		if (more <= 0)
			s->next = NULL;
	}
	s->returned_bytes += out->len - before;
	return s->handed_out < s->text.len || s->next;
}
