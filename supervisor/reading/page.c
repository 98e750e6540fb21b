// See page.h.

#include "supervisor/reading/page.h"

#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of the first character, and in *cost how many bytes it takes when printed. */
static size_t fit_measure(const char *data, size_t len, size_t *cost)
{
	uint32_t cp;
	if (len > 1 && data[0] == '\r' && data[1] == '\n') {
		*cost = 2;
		return 2;
	}
	size_t step = utf8_decode(data, len, &cp);
	*cost = cp == UTF8_REPLACEMENT || !utf8_is_clean(cp) ? 3 : step;
	return step;
}

/* Returns how many bytes at the start of `data` fit into `room`, in whole characters. */
static size_t fit_front(const char *data, size_t len, size_t room)
{
	size_t at = 0, used = 0;
	while (at < len) {
		size_t cost, step = fit_measure(data + at, len - at, &cost);
		if (used + cost > room)
			break;
		used += cost;
		at += step;
	}
	return at;
}

/* Returns how many bytes at the end of `data` fit into `room`, in whole characters. */
static size_t fit_back(const char *data, size_t len, size_t room)
{
	size_t total = 0, cost, from = 0;
	for (size_t at = 0; at < len; total += cost)
		at += fit_measure(data + at, len - at, &cost);
	while (total > room) {
		from += fit_measure(data + from, len - from, &cost);
		total -= cost;
	}
	return len - from;
}

/* Returns the last offset at or before `at` where a character begins. `at` is at most `len`; `data`
   begins with a character. */
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

/* Adds the line that announces a gap. `open`: the line before it has no newline yet. Returns the
   offset in `out` where the announcement begins. */
static size_t add_gap(struct buffer *out, bool open, const struct gap *gap)
{
	char line[GAP_ANNOUNCE_MAX];
	buffer_append(out, "\n", open);
	size_t start = out->len;
	buffer_append(out, line, gap_announce(line, gap));
	return start;
}

/* Makes a piece of the page's text from `start` on. Returns 0, or -1 with ENOMEM. */
static int page_add_piece(struct page *p, size_t start, uint64_t number, bool gap)
{
	struct page_piece *added = array_add(&p->pieces, &p->count, &p->cap, sizeof(*added));
	if (!added || buffer_check(&p->text) < 0)
		return -1;
	*added = (struct page_piece){.start = start,
				     .cost = gap ? 0 : p->text.len - start,
				     .number = number,
				     .gap = gap};
	p->used += added->cost;
	p->lines += !gap;
	return 0;
}

/* Drops the first pieces until the rest fits. Keeps the last line, and a gap directly before it. */
static void page_drop(struct page *p)
{
	size_t drop = 0, keep = p->count > 1 && p->pieces[p->count - 2].gap ? 2 : 1;
	while (drop + keep < p->count && p->used > p->request->room) {
		p->used -= p->pieces[drop].cost;
		p->lines -= !p->pieces[drop++].gap;
	}
	/* If a line ends inside the gap, its beginning was dropped, so the line counts as
	   omitted. */
	if (drop > 0 && p->pieces[drop].gap && p->pieces[drop].number == p->pieces[drop - 1].number)
		p->pieces[drop].number++;
	size_t gone = drop ? p->pieces[drop].start : 0;
	buffer_consume(&p->text, gone);
	p->count -= drop;
	memmove(p->pieces, p->pieces + drop, p->count * sizeof(*p->pieces));
	for (size_t i = 0; i < p->count; i++)
		p->pieces[i].start -= gone;
}

/* Whether the next line or gap belongs to the page. If not, ends the page before it. */
static bool page_wants(struct page *p)
{
	const struct page_request *r = p->request;
	if (r->tail)
		return true;
	p->stop = r->limit && p->number - p->from >= r->limit ? PAGE_ASKED
		  : !r->limit && p->lines >= r->most          ? PAGE_LINES
		  : p->closed                                 ? PAGE_BYTES
							      : PAGE_OPEN;
	if (p->stop == PAGE_OPEN)
		return true;
	p->next = p->number;
	p->left = r->limit ? r->limit - (p->number - p->from) : 0;
	if (p->stop == PAGE_ASKED)
		p->left = r->limit;
	/* A line number would lead back to the first part of the line, so the next page starts at a
	   byte offset. */
	if (p->rest && p->lines > 0)
		p->next_byte = p->start;
	return false;
}

#define NUMBER "%6" PRIu64 "\t"

static void page_add_text(struct page *p, uint64_t number, const char *data, size_t len)
{
	if (p->request->place->numbered)
		buffer_printf(&p->text, NUMBER, number);
	guard_text(&p->text, data, len, GUARD_LINE);
}

/* The room for a line itself, without the number and guard that page_add_text() adds. */
static size_t page_room(const struct page *p, uint64_t number, const char *data, size_t len)
{
	const size_t room = p->request->room;
	size_t taken = p->request->place->numbered ? (size_t)snprintf(NULL, 0, NUMBER, number) : 0;
	taken += guard_is_needed(data, len) ? strlen(GUARD) : 0;
	return taken < room ? room - taken : 0;
}

/* Adds a line to the page, or ends the page before it. Returns 0, or -1 with ENOMEM. */
static int page_add_line(struct page *p, const struct walk_line *line)
{
	const struct page_request *r = p->request;
	size_t len = line->len + line->newline, before = p->text.len;
	bool whole = !line->more_behind;
	p->start = line->offset;
	if (!page_wants(p))
		return 0;
	if (whole || r->tail)
		page_add_text(p, p->number, line->data, len);
	if (!r->tail && (!whole || p->used + p->text.len - before > r->room)) {
		buffer_truncate(&p->text, before);
		p->closed = true;
		if (p->lines > 0) {
			page_wants(p);
			return 0;
		}
		size_t room = page_room(p, p->number, line->data, len);
		size_t keep = fit_front(line->data, len, room);
		/* Does not cut if only the newline would be cut off. */
		if (whole && line->newline && fit_floor(line->data, len, len - 1) <= keep)
			keep = len;
		p->cut.at = p->start + keep;
		page_add_text(p, p->number, line->data, keep);
	}
	p->rest = false;
	p->inside = !line->newline;
	if (page_add_piece(p, before, p->number, false) < 0)
		return -1;
	if (r->tail && p->text.len > 8 * r->room)
		page_drop(p);
	return 0;
}

/* Fills the page from the text's position, which is the start of line `number`. Returns 0, or -1
   with errno. */
static int page_collect(struct page *p, struct text *t, uint64_t number)
{
	/* A line that fits has to come in one part. Cleaning leaves at least three quarters of its
	   bytes, so twice the room is enough. */
	const struct walk_options options = {
		.from = number, .here = true, .most = 2 * p->request->room + 2};
	struct walk *w = walk_new(t, NULL, &options);
	struct walk_line line;
	int result = w ? 0 : -1;
	while (result == 0 && p->stop == PAGE_OPEN) {
		enum walk_kind kind = walk_step(w, &line);
		p->number = line.number;
		/* The start of the line after the cut one shows how much was cut off. */
		if (p->closed && p->cut.bytes == 0 && !line.more_before) {
			p->cut.bytes = line.offset - p->cut.at;
			if (p->cut.bytes)
				wording_cut(&p->text, p->request->place, p->cut.at, p->cut.bytes,
					    0);
		}
		if (kind == WALK_FAILED)
			result = -1;
		else if (kind == WALK_LINE && line.more_before)
			/* Leaves out the rest of a line that is too long. */
			p->inside = !line.newline;
		else if (kind == WALK_LINE)
			result = page_add_line(p, &line);
		else if (kind == WALK_END)
			p->stop = PAGE_END;
		/* A gap inside a line is shown even if the page is full, since the line continues
		   after it. */
		else if (p->inside || page_wants(p)) {
			const struct text_piece *gap = line.gap;
			size_t len = p->text.len;
			size_t at = add_gap(&p->text, len > 0 && p->text.data[len - 1] != '\n',
					    &gap->gap);
			p->rest = gap->goes_on && gap->gap.from == gap->gap.to;
			p->inside = false;
			result = page_add_piece(p, at, gap->gap.from, true);
		}
	}
	walk_free(w);
	return result;
}

/* Cuts the page's only line, the last one of the text, to as much of its end as fits, and announces
   that before it. */
static int page_cut_last(struct page *p, const struct text *t)
{
	const struct page_request *r = p->request;
	struct page_piece *last = &p->pieces[p->count - 1];
	uint64_t begin;
	size_t len = p->start + 2 * r->room < t->size ? 2 * r->room : (size_t)(t->size - p->start);
	if (text_line_start(t, t->size > len ? t->size - len : 0, &begin) < 0)
		return -1;
	struct buffer raw = BUFFER_INIT;
	int result = -1;
	ssize_t n = buffer_reserve(&raw, len) < 0 ? -1 : text_read(t, raw.data, len, t->size - len);
	if (n >= 0 && (size_t)n < len)
		errno = EIO; /* the file shrank */
	if (n == (ssize_t)len) {
		result = 0;
		size_t from = len - fit_back(raw.data, len, page_room(p, last->number, "", 0));
		size_t room = page_room(p, last->number, raw.data + from, len - from);
		from = len - fit_back(raw.data, len, room);
		p->cut.at = begin;
		p->cut.bytes = t->size - (len - from) - begin;
		buffer_truncate(&p->text, last->start);
		wording_cut(&p->text, r->place, begin, p->cut.bytes, last->number);
		page_add_text(p, last->number, raw.data + from, len - from);
	}
	buffer_release(&raw);
	return result;
}

/* Makes the page of the last lines. Returns 0, or -1 with errno. */
static int page_make_tail(struct page *p, struct text *t)
{
	const uint64_t tail = p->request->tail;
	uint64_t total, found, number;
	if (text_lines(t, &total) < 0)
		return -1;
	const uint64_t from = total > tail ? total - tail + 1 : 1;
	if (t->gap.begin != t->gap.end || t->lost_bytes) {
		number = from;
		if (text_seek(t, number, &found) < 0)
			return -1;
	} else {
		/* No more than this many bytes can fit. The position may be inside the last
		   line. */
		if (text_seek_back(t, tail, 2 * p->request->room, &found) < 0)
			return -1;
		number = total >= found ? total - found + (found > 0) : 1;
	}
	if (page_collect(p, t, number ? number : 1) < 0)
		return -1;
	p->stop = PAGE_ASKED;
	if (p->count == 0)
		return 0;
	struct buffer notice = BUFFER_INIT;
	int result = 0;
	page_drop(p);
	p->omitted = p->pieces[0].number > from ? p->pieces[0].number - from : 0;
	if (p->omitted)
		wording_omitted(&notice, p->request->place, from, p->omitted);
	if (p->used > p->request->room)
		result = page_cut_last(p, t);
	if (p->omitted || p->cut.bytes)
		p->stop = PAGE_BYTES;
	buffer_add(&notice, &p->text);
	buffer_release(&p->text);
	p->text = notice;
	return result;
}

int page_seek(struct text *t, const struct page_request *r, uint64_t *number, uint64_t *total)
{
	const int64_t first = r->tail ? -(int64_t)r->tail : r->first;
	*number = (uint64_t)first;
	if (first < 0) {
		const uint64_t back = -(uint64_t)first;
		if (text_lines(t, total) < 0)
			return -1;
		*number = *total > back ? *total - back + 1 : 1;
	}
	/* Line 1 needs no search. A request for it is valid even if the text is empty. */
	if (*number == 1) {
		text_seek_byte(t, 0);
		return 0;
	}
	int result = text_seek(t, *number, total);
	/* A request for the next line of a growing text is valid, too. */
	if (result == 1 && t->held && *number == *total + 1) {
		text_seek_byte(t, t->size);
		return 0;
	}
	return result;
}

int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total)
{
	*p = (struct page){.request = request};
	int result = request->tail ? page_make_tail(p, t) : page_seek(t, request, &p->from, total);
	if (result == 0 && !request->tail)
		result = page_collect(p, t, p->from);
	for (size_t i = 0; i < p->count; i++) {
		if (p->pieces[i].gap)
			continue;
		p->to = p->pieces[i].number;
		p->from = p->from ? p->from : p->to;
	}
	/* A line that continues after the page counts as shown, though only in part. */
	if (p->next)
		p->to = p->next - !p->next_byte;
	return result < 0 || buffer_check(&p->text) < 0 ? -1 : result;
}

void page_release(struct page *p)
{
	buffer_release(&p->text);
	free(p->pieces);
	p->pieces = NULL;
}

/* --- bytes -------------------------------------------------------------------------- */

/* This many bytes on both sides of an offset show whether a character begins there. */
#define AROUND 4

int slice_make(struct slice *s, struct text *t, const struct slice_request *r)
{
	uint64_t wanted = r->from + r->length < r->from ? UINT64_MAX : r->from + r->length;
	size_t most = 2 * r->room; /* 4 bytes that become 3 */
	struct text_piece piece = {.kind = TEXT_BYTES};
	bool gap = false;
	s->from = r->from;
	buffer_clear(&s->raw);
	buffer_clear(&s->text);
	if (r->from < t->gap.begin || r->from >= t->gap.end) {
		/* Begins where the character at the offset begins. */
		char around[2 * AROUND];
		size_t before = r->from < AROUND ? (size_t)r->from : AROUND;
		ssize_t n = text_read(t, around, sizeof(around), r->from - before);
		if (n < 0)
			return -1;
		if ((size_t)n > before)
			s->from -= before - fit_floor(around, (size_t)n, before);
	}
	/* Reads the wanted bytes up to a gap or the end, and a few more, which show where the last
	   character ends. */
	size_t len = wanted - s->from < most ? (size_t)(wanted - s->from) : most;
	if (buffer_reserve(&s->raw, len + AROUND) < 0)
		return -1;
	text_seek_byte(t, s->from);
	while (s->raw.len < len + AROUND && piece.kind == TEXT_BYTES) {
		size_t left = len + AROUND - s->raw.len;
		if (text_next(t, s->raw.data + s->raw.len, left, &piece) < 0)
			return -1;
		if (piece.kind == TEXT_BYTES) {
			s->raw.len += piece.len;
		} else if (piece.kind == TEXT_GAP && !piece.gap.error && s->raw.len == 0) {
			add_gap(&s->text, s->open, &piece.gap);
			piece.kind = TEXT_BYTES;
			s->from = t->offset;
			s->open = false;
			gap = true;
		}
	}
	/* If a gap was skipped, fewer bytes are wanted. */
	len = wanted <= s->from ? 0 : wanted - s->from < len ? (size_t)(wanted - s->from) : len;
	if (len < s->raw.len)
		len = fit_floor(s->raw.data, s->raw.len, len);
	else
		len = s->raw.len;
	/* A byte takes at most three when printed. */
	size_t keep = len > r->room / 3 ? fit_front(s->raw.data, len, r->room) : len;
	s->full = keep < len;
	/* Keeps the first character even if there is no room for it. */
	if (keep == 0 && r->length > 0 && !gap) {
		keep = s->raw.len > 0;
		while (keep < s->raw.len && fit_floor(s->raw.data, s->raw.len, keep) < keep)
			keep++;
	}
	s->to = s->from + keep;
	s->left = wanted > s->to ? wanted - s->to : 0;
	s->more = s->to < t->size;
	guard_text(&s->text, s->raw.data, keep, r->guard);
	if (keep > 0)
		s->open = s->raw.data[keep - 1] != '\n';
	if (keep == s->raw.len && piece.kind == TEXT_GAP && piece.gap.error) {
		add_gap(&s->text, s->open, &piece.gap);
		s->open = false;
	}
	return buffer_check(&s->text);
}

void slice_release(struct slice *s)
{
	buffer_release(&s->text);
	buffer_release(&s->raw);
}
