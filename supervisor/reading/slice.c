// See slice.h.

#include "supervisor/reading/slice.h"

#include "lib/buffer.h"
#include "lib/gap.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/reading/page.h"

#include <inttypes.h>

/* What has to be there around a place to tell whether a character begins at it. */
#define AROUND 4

/* Of a text that is streamed, at a time. */
#define STREAM_LENGTH ((size_t)128 * 1024)

/* Where the character begins that the byte at `at` is a part of. */
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
	/* A gap may have been passed. */
	len = wanted <= s->from ? 0 : wanted - s->from < len ? (size_t)(wanted - s->from) : len;
	if (len < s->raw.len)
		len = fit_floor(s->raw.data, s->raw.len, len);
	else
		len = s->raw.len;
	/* No byte takes more than three. */
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
	return r->json ? buffer_append(&s->text, s->raw.data, keep)
		       : utf8_clean(&s->text, s->raw.data, keep);
}

void slice_release(struct slice *s)
{
	buffer_release(&s->text);
	buffer_release(&s->raw);
}

/* A line about what is not there; the text before may have ended inside one. */
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

static int add_if(struct buffer *out, bool on, const char *text)
{
	return on ? buffer_append_string(out, text) : 0;
}

int hint_command(struct buffer *out, const struct hint_place *place)
{
	if (buffer_printf(out, "terse read %s", place->name) < 0 ||
	    add_if(out, place->part == ARTIFACT_ERR, " --stderr") < 0 ||
	    add_if(out, place->part == ARTIFACT_RAW, " --raw") < 0 ||
	    add_if(out, place->binary, " -a") < 0)
		return -1;
	return add_if(out, place->json, " --json");
}

int hint_lines(struct buffer *out, int64_t first, uint64_t count)
{
	if (buffer_printf(out, " --offset %" PRId64, first) < 0)
		return -1;
	return count ? buffer_printf(out, " --limit %" PRIu64, count) : 0;
}

int hint_bytes(struct buffer *out, uint64_t from, uint64_t length)
{
	if (buffer_printf(out, " --bytes %" PRIu64, from) < 0)
		return -1;
	return length ? buffer_printf(out, ":%" PRIu64, length) : 0;
}

/* "9", or "-9", the ninth from the end. */
static int hint_add_number(struct buffer *out, int64_t line)
{
	char count[HUMAN_LEN];
	return buffer_printf(out, "%s%s", line < 0 ? "-" : "",
			     human_count(count, line < 0 ? (uint64_t)-line : (uint64_t)line));
}

int hint_cut(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	const struct page_cut *cut = &p->cut;
	if (buffer_printf(out, "[... bytes %" PRIu64 "-%" PRIu64, cut->at,
			  cut->at + cut->bytes - 1) < 0)
		return -1;
	if (cut->before && (buffer_append_string(out, " of line ") < 0 ||
			    hint_add_number(out, p->pieces[p->count - 1].number) < 0))
		return -1;
	if (buffer_append_string(out, " omitted: ") < 0 || hint_command(out, place) < 0 ||
	    hint_bytes(out, cut->at, cut->bytes) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_omitted(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	char count[HUMAN_LEN];
	if (buffer_printf(out, "[... %s line%s omitted: ", human_count(count, p->omitted),
			  p->omitted == 1 ? "" : "s") < 0 ||
	    hint_command(out, place) < 0 || hint_lines(out, p->omitted_from, p->omitted) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

static int add_reason(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	char limit[HUMAN_LEN];
	bool lines = p->stop == PAGE_LINES;
	return buffer_printf(out, " (limit %s %s)",
			     human_count(limit, lines ? p->request->most : place->room),
			     lines ? "lines" : "bytes");
}

int hint_next(struct buffer *out, const struct hint_place *place, const struct page *p)
{
	if (!p->next)
		return 0;
	if (hint_command(out, place) < 0)
		return -1;
	return p->next_byte ? hint_bytes(out, p->next_byte, 0) : hint_lines(out, p->next, p->left);
}

int hint_page(struct buffer *out, const struct hint_place *place, const struct page *p,
	      uint64_t total, bool exact)
{
	char all[HUMAN_LEN];
	/* Where a line goes on behind a gap, it is shown in part. */
	int64_t to = p->next_byte ? p->next : p->next - 1;
	bool many = to > p->first;
	if (buffer_append_string(out, many ? "[lines " : "[line ") < 0 ||
	    hint_add_number(out, p->first) < 0 ||
	    (many && (buffer_append_string(out, to < 0 ? " to " : "-") < 0 ||
		      hint_add_number(out, to) < 0)) ||
	    buffer_printf(out, " of %s%s shown", exact ? "" : "more than ",
			  human_count(all, total)) < 0 ||
	    (p->stop != PAGE_ASKED && add_reason(out, place, p) < 0) ||
	    buffer_append_string(out, "; continue: ") < 0 || hint_next(out, place, p) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_next_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
		    uint64_t length)
{
	if (!s->more)
		return 0;
	return hint_command(out, place) < 0
		       ? -1
		       : hint_bytes(out, s->to, length && s->full ? s->left : length);
}

int hint_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
	       uint64_t total, uint64_t length)
{
	char first[HUMAN_LEN], last[HUMAN_LEN], all[HUMAN_LEN];
	human_count(all, total);
	if (s->to > s->from) {
		if (buffer_printf(out, "[bytes %s-%s of %s shown", human_count(first, s->from),
				  human_count(last, s->to - 1), all) < 0)
			return -1;
	} else if (buffer_printf(out, "[no bytes of %s shown", all) < 0) {
		return -1;
	}
	if (buffer_append_string(out, "; continue: ") < 0 ||
	    hint_next_slice(out, place, s, length) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}

int hint_running(struct buffer *out, const struct hint_place *place, int64_t line)
{
	if (buffer_append_string(out, "[the run goes on: ") < 0 || hint_command(out, place) < 0 ||
	    hint_lines(out, line, 0) < 0)
		return -1;
	return buffer_append_string(out, "]\n");
}
