// See page.h.

#include "supervisor/reading/page.h"

#include "lib/io.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the first character, and stores the room it takes. */
static size_t fit_measure(const char *data, size_t len, bool json, size_t *cost)
{
	uint32_t cp;
	if (len > 1 && data[0] == '\r' && data[1] == '\n') {
		*cost = json ? 4 : 2;
		return 2;
	}
	size_t step = utf8_decode(data, len, &cp);
	*cost = step;
	if (cp == UTF8_REPLACEMENT)
		*cost = 3;
	else if (json && (cp == '"' || cp == '\\' || cp == '\n' || cp == '\t' || cp == '\r'))
		*cost = 2;
	else if (!utf8_is_clean(cp))
		*cost = !json ? 3 : cp < 0x10000 ? 6 : 12;
	return step;
}

/* The room that all of it takes. */
static size_t fit_cost(const char *data, size_t len, bool json)
{
	size_t total = 0, cost;
	for (size_t at = 0; at < len;) {
		at += fit_measure(data + at, len - at, json, &cost);
		total += cost;
	}
	return total;
}

/* Returns how many bytes from the front of `data` take at most `room`. */
static size_t fit_front(const char *data, size_t len, size_t room, bool json)
{
	size_t at = 0, used = 0;
	while (at < len) {
		size_t cost, step = fit_measure(data + at, len - at, json, &cost);
		if (used + cost > room)
			break;
		used += cost;
		at += step;
	}
	return at;
}

static size_t fit_back(const char *data, size_t len, size_t room, bool json)
{
	size_t total = fit_cost(data, len, json), from = 0, cost;
	while (total > room) {
		from += fit_measure(data + from, len - from, json, &cost);
		total -= cost;
	}
	return len - from;
}

/* Returns the last offset up to `at` (at most `len`) where a character begins. `data` begins with a
   character. */
static size_t fit_floor(const char *data, size_t len, size_t at)
{
	uint32_t cp;
	if (at > 0 && at < len && data[at - 1] == '\r' && data[at] == '\n')
		return at - 1;
	for (size_t back = 1; back <= 3 && back <= at; back++) {
		if (utf8_decode(data + at - back, len - at + back, &cp) > back)
			return at - back;
	}
	return at;
}

/* Bytes of a line in an array of JSON besides its text: quotes and comma. */
#define JSON_EXTRA 3

/* The room that a line takes. */
static size_t page_cost(const struct page *p, const char *data, size_t len)
{
	if (!p->request->json)
		return len;
	return fit_cost(data, len > 0 && data[len - 1] == '\n' ? len - 1 : len, true) + JSON_EXTRA;
}

/* Makes p->shown of a line. Returns 0, or -1 with ENOMEM. */
static int page_show(struct page *p, const char *data, size_t len)
{
	buffer_clear(&p->shown);
	if (p->request->json)
		buffer_append(&p->shown, data, len);
	else
		guard_text(&p->shown, data, len, GUARD_LINE);
	return buffer_check(&p->shown);
}

static int page_add_piece(struct page *p, enum page_kind kind, size_t len)
{
	struct page_piece *added = array_add(&p->pieces, &p->count, &p->cap, sizeof(*added));
	if (!added)
		return -1;
	*added = (struct page_piece){.kind = kind,
				     .start = (uint32_t)(p->text.len - len),
				     .len = (uint32_t)len,
				     .number = p->number};
	return 0;
}

/* Ends the page before the line p->number. */
static void page_end_at(struct page *p, enum page_stop why)
{
	const struct page_request *r = p->request;
	p->stop = why;
	p->next = p->number;
	p->left = r->limit ? r->limit - (uint64_t)(p->number - p->first) : 0;
	if (why == PAGE_ASKED)
		p->left = r->limit;
	/* Its number would give the first part again. */
	if (p->rest && p->lines > 0)
		p->next_byte = p->start;
}

/* Whether the line or gap that begins here is wanted. */
static bool page_wants(struct page *p)
{
	const struct page_request *r = p->request;
	if (r->tail)
		return true;
	if (r->limit && (uint64_t)(p->number - p->first) >= r->limit)
		page_end_at(p, PAGE_ASKED);
	else if (!r->limit && p->lines >= r->most)
		page_end_at(p, PAGE_LINES);
	else if (p->closed)
		page_end_at(p, PAGE_BYTES);
	return p->stop == PAGE_OPEN;
}

/* The line goes into the page, or ends it. Returns 0, or -1 with ENOMEM. */
static int page_add_line(struct page *p, const struct walk_line *line)
{
	size_t len = line->len + line->newline;
	bool whole = !line->more_behind;
	/* The rest of a line that is too long to be shown. */
	if (line->more_before) {
		p->inside = !line->newline;
		return 0;
	}
	p->start = line->offset;
	if (!page_wants(p))
		return 0;
	if (page_show(p, line->data, whole ? len : 0) < 0)
		return -1;
	bool fits =
		whole && p->used + page_cost(p, p->shown.data, p->shown.len) <= p->request->room;
	if (!p->request->tail && !fits) {
		if (p->lines > 0) {
			page_end_at(p, PAGE_BYTES);
			return 0;
		}
		const struct page_request *r = p->request;
		size_t taken = page_cost(p, "", 0);
		if (!r->json && guard_is_needed(line->data, len))
			taken += strlen(GUARD);
		size_t keep =
			fit_front(line->data, len, r->room > taken ? r->room - taken : 0, r->json);
		/* Never cuts off only the newline. */
		if (whole && line->newline && fit_floor(line->data, len, len - 1) <= keep)
			keep = len;
		p->cut.at = p->start + keep;
		p->closed = true;
		if (page_show(p, line->data, keep) < 0)
			return -1;
	}
	buffer_append(&p->text, p->shown.data, p->shown.len);
	if (buffer_check(&p->text) < 0 || page_add_piece(p, PAGE_LINE, p->shown.len) < 0)
		return -1;
	p->used += page_cost(p, p->shown.data, p->shown.len);
	p->lines++;
	p->number++;
	p->rest = false;
	p->inside = !line->newline;
	return 0;
}

/* The line that comes next has this number. Those before were counted from any one, unless
   p->absolute. */
static void page_renumber(struct page *p, int64_t number)
{
	int64_t shift = number - p->number;
	for (size_t i = 0; i < p->count && !p->absolute; i++)
		p->pieces[i].number += shift;
	p->number = number;
	p->absolute = true;
}

static int page_add_gap(struct page *p, const struct text_piece *gap)
{
	/* A line that continues behind the gap stays together with it. */
	bool inside = p->inside;
	if (!p->absolute || p->number < (int64_t)gap->gap.from + inside)
		page_renumber(p, (int64_t)gap->gap.from + inside);
	if ((!inside && !page_wants(p)) || p->gap_count == sizeof(p->gaps) / sizeof(*p->gaps))
		return 0;
	p->gaps[p->gap_count++] = *gap;
	p->number = (int64_t)gap->gap.to + !gap->goes_on;
	p->rest = gap->goes_on && gap->gap.from == gap->gap.to;
	p->inside = false;
	return page_add_piece(p, PAGE_GAP, 0);
}

/* Goes on from where the text stands, until the page stops. Returns 0, or -1 with errno. */
static int page_collect(struct page *p)
{
	/* A longer line can't fit, even if cleaning makes it shorter (4 bytes become 3); one of so
	   many bytes is whole. */
	const struct walk_options options = {
		.from = 1, .here = true, .most = 2 * p->request->room + 2};
	struct walk *w = walk_new(p->source, NULL, &options);
	struct walk_line line;
	int result = w ? 0 : -1;
	while (result == 0 && p->stop == PAGE_OPEN) {
		bool closed = p->closed;
		enum walk_kind kind = walk_step(w, &line);
		if (kind == WALK_FAILED)
			result = -1;
		else if (kind == WALK_LINE)
			result = page_add_line(p, &line);
		else if (kind == WALK_GAP)
			result = page_add_gap(p, walk_gap(w));
		else
			p->stop = PAGE_END;
		if (closed && p->cut.bytes == 0 && !line.more_before)
			p->cut.bytes = line.offset - p->cut.at;
	}
	walk_free(w);
	return result;
}

/* Whether page_total() knows the number of lines, so that they are numbered from the start. */
static bool page_is_counted(const struct text *t)
{
	return (*t->id && t->part != ARTIFACT_RAW) || t->size <= PAGE_COUNT_MAX;
}

int page_total(struct text *t, uint64_t *total)
{
	if (page_is_counted(t))
		return text_lines(t, total) < 0 ? -1 : 1;
	return text_lines_within(t, PAGE_COUNT_MAX, total);
}

int page_seek(struct text *t, int64_t first, int64_t *number, uint64_t *total)
{
	*number = first;
	if (first < 0) {
		uint64_t found;
		if (!page_is_counted(t)) {
			if (text_seek_back(t, (uint64_t)-first, UINT64_MAX, &found) < 0)
				return -1;
			*number = -(int64_t)found;
			return 0;
		}
		if (text_lines(t, total) < 0)
			return -1;
		*number += (int64_t)*total + 1;
		if (*number < 1)
			*number = 1;
	}
	int result = text_seek(t, (uint64_t)*number, total);
	if (result != 1)
		return result;
	/* An empty text has line 1, and a growing text a next line. */
	if (*number > 1 && !(t->held && (uint64_t)*number == *total + 1))
		return 1;
	text_seek_byte(t, t->size);
	return 0;
}

/* --- the last lines --------------------------------------------------------------- */

/* Moves to the first of the last lines, but at most `window` bytes back, since more can't fit.
 *inside: in the middle of a line. */
static int page_seek_tail(struct page *p, uint64_t window, bool *inside)
{
	struct text *t = p->source;
	uint64_t tail = p->request->tail, found, total, start;
	bool has_gap = t->gap.begin != t->gap.end;
	*inside = false;
	p->number = 1;
	if (!has_gap && !t->lost_bytes) {
		if (text_seek_back(t, tail, window, &found) < 0)
			return -1;
		*inside = found == 0 && t->size > 0;
		return 0;
	}
	if (text_lines(t, &total) < 0)
		return -1;
	p->number = total > tail ? (int64_t)(total - tail) + 1 : 1;
	p->absolute = true;
	if (text_seek(t, (uint64_t)p->number, &total) < 0)
		return -1;
	/* Only bytes on disk count. */
	uint64_t hole = 0;
	if (has_gap && t->offset < t->gap.end)
		hole = t->gap.end - (t->offset > t->gap.begin ? t->offset : t->gap.begin);
	if (t->size <= t->offset + hole + window)
		return 0;
	uint64_t from = t->size > window ? t->size - window : 0;
	if (has_gap && t->gap.end + window > t->size) {
		uint64_t behind = t->size > t->gap.end ? t->size - t->gap.end : 0;
		from = t->gap.begin > window - behind ? t->gap.begin - (window - behind) : 0;
	}
	p->absolute = false;
	p->number = 1;
	text_seek_byte(t, from);
	if (text_line_start(t, t->offset, &start) < 0)
		return -1;
	*inside = start < t->offset;
	return 0;
}

/* Cuts the last line to the end that fits. */
static int page_cut_last(struct page *p, struct page_piece *piece)
{
	const struct page_request *r = p->request;
	const struct text *t = p->source;
	uint64_t begin;
	size_t len = p->start + 2 * r->room < t->size ? 2 * r->room : (size_t)(t->size - p->start);
	if (text_line_start(t, t->size > len ? t->size - len : 0, &begin) < 0)
		return -1;
	struct buffer raw = BUFFER_INIT;
	int result = -1;
	/* EIO: the file shrank. */
	if (buffer_reserve(&raw, len) < 0 ||
	    io_read_whole(t->fd, raw.data, len, (off_t)(t->size - len)) < 0)
		goto out;
	size_t room = r->room - page_cost(p, "", 0);
	size_t from = len - fit_back(raw.data, len, room, r->json);
	if (!r->json && guard_is_needed(raw.data + from, len - from))
		from = len - fit_back(raw.data, len, room - strlen(GUARD), false);
	buffer_truncate(&p->text, piece->start);
	if (page_show(p, raw.data + from, len - from) < 0)
		goto out;
	buffer_append(&p->text, p->shown.data, p->shown.len);
	if (buffer_check(&p->text) < 0)
		goto out;
	piece->len = (uint32_t)(p->text.len - piece->start);
	p->used = page_cost(p, p->shown.data, p->shown.len);
	p->cut = (struct page_cut){
		.at = begin, .bytes = t->size - (len - from) - begin, .before = true};
	result = 0;
out:
	buffer_release(&raw);
	return result;
}

/* Makes the page of the last lines (request->tail). Returns 0, or -1 with errno. */
static int page_make_tail(struct page *p)
{
	bool inside, counted = page_is_counted(p->source);
	uint64_t asked = p->request->tail, total = 0;
	if (page_seek_tail(p, 2 * p->request->room, &inside) < 0 || page_collect(p) < 0 ||
	    (counted && text_lines(p->source, &total) < 0))
		return -1;
	if (!p->absolute)
		page_renumber(p, counted ? (int64_t)total + 1 : 0);

	/* The first pieces go until the rest fits; the last line stays, and a gap inside it. */
	size_t drop = 0, keep = 1;
	if (p->count > 1 && p->gap_count > 0 && p->gaps[p->gap_count - 1].goes_on &&
	    p->pieces[p->count - 2].kind == PAGE_GAP)
		keep = 2;
	while (drop + keep < p->count && (p->used > p->request->room || (inside && drop == 0))) {
		const struct page_piece *piece = &p->pieces[drop++];
		p->used -= page_cost(p, p->text.data + piece->start, piece->len);
		p->lines -= piece->kind == PAGE_LINE;
		if (piece->kind == PAGE_GAP)
			memmove(p->gaps, p->gaps + 1, --p->gap_count * sizeof(*p->gaps));
	}
	if (drop > 0) {
		p->count -= drop;
		memmove(p->pieces, p->pieces + drop, p->count * sizeof(*p->pieces));
	}
	struct page_piece *last = p->count ? &p->pieces[p->count - 1] : NULL;
	if (last && last->kind == PAGE_LINE && p->lines == 1 &&
	    (p->used > p->request->room || inside) && page_cut_last(p, last) < 0)
		return -1;

	/* Which of the wanted lines are before the first piece. */
	const struct page_piece *first = p->count ? p->pieces : NULL;
	int64_t number = !first                    ? 0
			 : first->kind == PAGE_GAP ? (int64_t)p->gaps[0].gap.from
						   : first->number;
	if (first && counted) {
		uint64_t from = total > asked ? total - asked + 1 : 1;
		p->omitted = (uint64_t)number > from ? (uint64_t)number - from : 0;
		p->omitted_from = (int64_t)from;
	} else if (first && (uint64_t)-number < asked) {
		if (text_seek_back(p->source, asked, UINT64_MAX, &total) < 0)
			return -1;
		p->omitted = total - (uint64_t)-number;
		p->omitted_from = -(int64_t)total;
	}
	p->stop = p->omitted || p->cut.bytes ? PAGE_BYTES : PAGE_ASKED;
	return 0;
}

/* ------------------------------------------------------------------------------------ */

int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total)
{
	*p = (struct page){.request = request, .source = t};
	if (request->tail)
		return page_make_tail(p);
	int result = page_seek(t, request->first, &p->first, total);
	if (result != 0)
		return result;
	p->number = p->first;
	p->absolute = p->first > 0;
	return page_collect(p);
}

void page_release(struct page *p)
{
	buffer_release(&p->text);
	buffer_release(&p->shown);
	free(p->pieces);
	p->pieces = NULL;
}

/* --- bytes -------------------------------------------------------------------------- */

/* Bytes around an offset that show whether a character begins there. */
#define AROUND 4

/* Bytes of one step of slice_stream(). */
#define STREAM_LENGTH ((size_t)128 * 1024)

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

int slice_make(struct slice *s, struct text *t, const struct slice_request *r)
{
	bool in_gap = r->from >= t->gap.begin && r->from < t->gap.end;
	uint64_t wanted = r->from + r->length < r->from ? UINT64_MAX : r->from + r->length;
	size_t most = 2 * r->room; /* 4 bytes that become 3 */
	s->from = r->from;
	if (!in_gap) {
		/* From the beginning of the character there. */
		char around[2 * AROUND];
		size_t before = r->from < AROUND ? (size_t)r->from : AROUND;
		ssize_t n = io_read_at(t->fd, around, sizeof(around), (off_t)(r->from - before));
		if (n < 0)
			return -1;
		if ((size_t)n > before)
			s->from -= before - fit_floor(around, (size_t)n, before);
	}
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
	/* The first character at least. */
	if (keep == 0 && r->length > 0 && s->gap.kind == TEXT_END) {
		keep = s->raw.len > 0;
		while (keep < s->raw.len && fit_floor(s->raw.data, s->raw.len, keep) < keep)
			keep++;
	}
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
