// See slice.h.

#include "supervisor/reading/slice.h"

#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/reading/page.h"

/* Bytes around an offset that show whether a character begins there. */
#define AROUND 4

/* Bytes of one step of slice_stream(). */
#define STREAM_LENGTH ((size_t)128 * 1024)

/* Finds the beginning of the character at the offset `at`. */
static int find_begin(const struct text *t, uint64_t at, uint64_t *begin)
{
	char around[2 * AROUND];
	size_t before = at < AROUND ? (size_t)at : AROUND;
	ssize_t n = io_read_at(t->fd, around, sizeof(around), (off_t)(at - before));
	if (n < 0)
		return -1;
	*begin = at;
	if ((size_t)n > before)
		*begin -= before - fit_floor(around, (size_t)n, before);
	return 0;
}

/* Reads `len` bytes from s->from on, and some more that tell where characters begin, up to a gap or
   the end. */
static int slice_load(struct slice *s, struct text *t, size_t len)
{
	buffer_clear(&s->raw);
	s->gap = s->lost = (struct text_piece){.kind = TEXT_END};
	if (buffer_reserve(&s->raw, len + AROUND) < 0)
		return -1;
	text_seek_byte(t, s->from);
	while (s->raw.len < len + AROUND) {
		struct text_piece piece;
		if (text_next(t, s->raw.data + s->raw.len, len + AROUND - s->raw.len, &piece) < 0)
			return -1;
		if (piece.kind == TEXT_BYTES) {
			s->raw.len += piece.len;
		} else if (piece.kind == TEXT_GAP && piece.gap.error) {
			s->lost = piece;
			return 0;
		} else if (piece.kind == TEXT_END || s->raw.len > 0) {
			return 0;
		} else {
			s->gap = piece;
			s->from = t->offset;
		}
	}
	return 0;
}

static size_t first_character(const struct buffer *raw)
{
	size_t len = raw->len > 0;
	while (len < raw->len && fit_floor(raw->data, raw->len, len) < len)
		len++;
	return len;
}

int slice_make(struct slice *s, struct text *t, const struct slice_request *r)
{
	bool in_gap = r->from >= t->gap.begin && r->from < t->gap.end;
	uint64_t wanted = r->from + r->length < r->from ? UINT64_MAX : r->from + r->length;
	size_t most = 2 * r->room; /* 4 bytes that become 3 */
	s->from = r->from;
	if (!in_gap && find_begin(t, r->from, &s->from) < 0)
		return -1;
	size_t len = wanted - s->from < most ? (size_t)(wanted - s->from) : most;
	if (slice_load(s, t, len) < 0)
		return -1;
	/* A gap may have been skipped. */
	len = wanted <= s->from ? 0 : wanted - s->from < len ? (size_t)(wanted - s->from) : len;
	if (len < s->raw.len)
		len = fit_floor(s->raw.data, s->raw.len, len);
	else
		len = s->raw.len;
	/* A byte takes at most three. */
	size_t keep = len;
	if (r->json || len > r->room / 3)
		keep = fit_front(s->raw.data, len, r->room, r->json);
	s->full = keep < len;
	if (keep == 0 && r->length > 0 && s->gap.kind == TEXT_END)
		keep = first_character(&s->raw);
	s->to = s->from + keep;
	s->left = wanted > s->to ? wanted - s->to : 0;
	s->more = s->to < t->size;
	if (keep < s->raw.len)
		s->lost.kind = TEXT_END;
	buffer_clear(&s->text);
	if (r->json)
		buffer_append(&s->text, s->raw.data, keep);
	else
		guard_text(&s->text, s->raw.data, keep, r->guard);
	return buffer_check(&s->text);
}

void slice_release(struct slice *s)
{
	buffer_release(&s->text);
	buffer_release(&s->raw);
}

/* Prints a line about a gap. *open: the text before ended inside a line. */
static int stream_gap(const struct text_piece *gap, bool *open,
		      int (*print)(void *ctx, const char *data, size_t len), void *ctx)
{
	char line[GAP_ANNOUNCE_MAX];
	size_t len = gap_announce(line, &gap->gap);
	if (*open && print(ctx, "\n", 1) < 0)
		return -1;
	*open = false;
	return print(ctx, line, len);
}

int slice_stream(struct text *t, uint64_t from, uint64_t to,
		 int (*print)(void *ctx, const char *data, size_t len), void *ctx)
{
	struct slice s = {.more = true, .to = from};
	bool open = false;
	int result = -1;
	do {
		const struct slice_request request = {
			.from = s.to,
			.length = to - s.to < STREAM_LENGTH ? to - s.to : STREAM_LENGTH,
			.room = 3 * STREAM_LENGTH};
		if (slice_make(&s, t, &request) < 0 ||
		    (s.gap.kind == TEXT_GAP && stream_gap(&s.gap, &open, print, ctx) < 0) ||
		    (s.text.len > 0 && print(ctx, s.text.data, s.text.len) < 0))
			goto out;
		if (s.text.len > 0)
			open = s.text.data[s.text.len - 1] != '\n';
		if (s.lost.kind == TEXT_GAP && stream_gap(&s.lost, &open, print, ctx) < 0)
			goto out;
	} while (s.more && s.to < to);
	result = 0;
out:
	slice_release(&s);
	return result;
}
