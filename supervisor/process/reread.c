// See reread.h.

#include "supervisor/process/reread.h"

#include "supervisor/base/utf8.h"

#include <errno.h>
#include <string.h>

#define CHUNK ((size_t)32 * 1024)

static struct report_stream *stream(struct reread *r)
{
	return &r->report->streams[r->which];
}

/* Hands out what is in the chunk; without `end` not what the next bytes may change. */
static int hand_out(struct reread *r, bool end, struct buffer *out)
{
	size_t len = r->chunk.len, cut = 0;
	if (len == 0)
		return 0;
	if (!end && utf8_incomplete(r->chunk.data, len, &cut))
		len -= cut;
	if (!end && len > 0 && r->chunk.data[len - 1] == '\r')
		len--;
	if (utf8_clean(out, r->chunk.data, len) < 0)
		return -1;
	if (len > 0)
		r->in_line = r->chunk.data[len - 1] != '\n';
	buffer_consume(&r->chunk, len);
	return 0;
}

/* Of a line whose start is not there, nothing is handed out. */
static void skip_rest(struct reread *r)
{
	const char *newline = memchr(r->chunk.data, '\n', r->chunk.len);
	size_t len = newline ? (size_t)(newline - r->chunk.data) + 1 : r->chunk.len;
	buffer_consume(&r->chunk, len);
	r->skips = !newline;
}

/* Lines `to` and before are done with. */
static int end_range(struct reread *r, uint64_t to)
{
	return to >= r->from ? report_add_range(stream(r), r->from, to) : 0;
}

static int reread_pass_gap(struct reread *r, const struct text_piece *gap, struct buffer *out)
{
	struct report_stream *s = stream(r);
	uint64_t to = gap->gap.from - 1;
	if (hand_out(r, true, out) < 0)
		return -1;
	if (r->in_line) {
		to = gap->gap.from;
		s->lines_truncated++;
		if (buffer_append(out, "\n", 1) < 0)
			return -1;
		r->in_line = false;
	}
	if (end_range(r, to) < 0)
		return -1;
	s->broken = LIMIT_BYTES;
	s->last_line_partial = to == gap->gap.from;
	r->from = gap->gap.to + 1;
	r->skips = gap->goes_on;
	return 1;
}

static int next(void *ctx, struct buffer *out)
{
	struct reread *r = ctx;
	struct text_piece piece;
	if (buffer_reserve(&r->chunk, CHUNK) < 0 ||
	    text_next(&r->text, r->chunk.data + r->chunk.len, CHUNK, &piece) < 0)
		return -1;
	switch (piece.kind) {
	case TEXT_GAP: return reread_pass_gap(r, &piece, out);
	case TEXT_END:
		if (hand_out(r, true, out) < 0 || end_range(r, stream(r)->total_lines) < 0)
			return -1;
		return 0;
	default: break;
	}
	size_t before = out->len;
	r->chunk.len += piece.len;
	if (r->skips)
		skip_rest(r);
	if (hand_out(r, false, out) < 0)
		return -1;
	if (out->len > before)
		stream(r)->last_line_partial = false;
	return 1;
}

int reread_start(struct reread *r, const struct artifact *a, struct report *report, int which)
{
	enum artifact_part part = which == 0 ? ARTIFACT_OUT : ARTIFACT_ERR;
	*r = (struct reread){.report = report, .which = which, .from = 1};
	if (artifact_open_text(a, part, &r->text) < 0)
		return -1;
	r->is_open = true;
	stream(r)->next = next;
	stream(r)->ctx = r;
	return 0;
}

void reread_release(struct reread *r)
{
	if (r->is_open)
		text_close(&r->text);
	r->is_open = false;
	buffer_release(&r->chunk);
}
