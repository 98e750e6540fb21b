// See page_tail.h.

#include "supervisor/reading/page_tail.h"

#include "supervisor/base/io.h"
#include "supervisor/reading/fit.h"
#include "supervisor/reading/page.h"

#include <errno.h>
#include <string.h>

static bool page_tail_has_gap(const struct text *t)
{
	return t->gap.begin != t->gap.end;
}

/* Bytes on disk from `offset` to the end. */
static uint64_t bytes_behind(const struct text *t, uint64_t offset)
{
	uint64_t hole = 0;
	if (page_tail_has_gap(t) && offset < t->gap.end)
		hole = t->gap.end - (offset > t->gap.begin ? offset : t->gap.begin);
	return t->size > offset + hole ? t->size - offset - hole : 0;
}

/* The offset from which on there are `bytes` of them on disk, at most. */
static uint64_t offset_before(const struct text *t, uint64_t bytes)
{
	if (!page_tail_has_gap(t) || t->gap.end + bytes <= t->size)
		return t->size > bytes ? t->size - bytes : 0;
	uint64_t behind = t->size > t->gap.end ? t->size - t->gap.end : 0;
	return t->gap.begin > bytes - behind ? t->gap.begin - (bytes - behind) : 0;
}

/* Goes to the first of the last lines, or as far back as it could matter: lines before the last
   `window` bytes don't fit. *inside: a line has begun before. */
static int seek_tail(struct page *p, uint64_t window, bool *inside)
{
	struct text *t = p->source;
	uint64_t tail = p->request->tail, found, total, start;
	*inside = false;
	p->number = 1;
	if (!page_tail_has_gap(t) && !t->lost_bytes) {
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
	if (bytes_behind(t, t->offset) <= window)
		return 0;
	p->absolute = false;
	p->number = 1;
	text_seek_byte(t, offset_before(t, window));
	if (text_line_start(t, t->offset, &start) < 0)
		return -1;
	*inside = start < t->offset;
	return 0;
}

/* Takes off the first pieces until the rest fits, but not the last line, nor a gap inside it. */
static void drop_front(struct page *p, bool inside)
{
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
	if (drop == 0)
		return;
	memmove(p->pieces, p->pieces + drop, (p->count - drop) * sizeof(*p->pieces));
	p->count -= drop;
}

/* Replaces the last line by the end of it that fits. */
static int cut_last(struct page *p, struct page_piece *piece)
{
	const struct page_request *r = p->request;
	const struct text *t = p->source;
	uint64_t begin;
	size_t len = p->start + 2 * r->room < t->size ? 2 * r->room : (size_t)(t->size - p->start);
	if (text_line_start(t, t->size > len ? t->size - len : 0, &begin) < 0)
		return -1;
	buffer_clear(&p->raw);
	if (buffer_reserve(&p->raw, len) < 0)
		return -1;
	ssize_t n = io_read_at(t->fd, p->raw.data, len, (off_t)(t->size - len));
	if (n < (ssize_t)len) {
		errno = n < 0 ? errno : EIO; /* the file shrank */
		return -1;
	}
	size_t room = r->room - page_cost(p, "", 0);
	size_t from = len - fit_back(p->raw.data, len, room, r->json);
	p->text.len = piece->start;
	if (page_show(p, p->raw.data + from, len - from) < 0 ||
	    buffer_append(&p->text, p->shown.data, p->shown.len) < 0)
		return -1;
	piece->len = (uint32_t)(p->text.len - piece->start);
	p->used = page_cost(p, p->shown.data, p->shown.len);
	p->cut = (struct page_cut){
		.at = begin, .bytes = t->size - (len - from) - begin, .before = true};
	return 0;
}

/* What was asked for and is before the first piece. */
static int note_omitted(struct page *p)
{
	uint64_t asked = p->request->tail, total, lines = 0;
	if (p->count == 0)
		return 0;
	const struct page_piece *first = &p->pieces[0];
	int64_t number = first->kind == PAGE_GAP ? (int64_t)p->gaps[0].gap.from : first->number;
	if (page_is_counted(p->source)) {
		if (text_lines(p->source, &total) < 0)
			return -1;
		uint64_t from = total > asked ? total - asked + 1 : 1;
		lines = (uint64_t)number > from ? (uint64_t)number - from : 0;
		p->omitted_from = (int64_t)from;
	} else if ((uint64_t)-number < asked) {
		if (text_seek_back(p->source, asked, UINT64_MAX, &total) < 0)
			return -1;
		lines = total - (uint64_t)-number;
		p->omitted_from = -(int64_t)total;
	}
	p->omitted = lines;
	return 0;
}

int page_make_tail(struct page *p)
{
	bool inside;
	uint64_t total;
	if (seek_tail(p, 2 * p->request->room, &inside) < 0 || page_collect(p) < 0)
		return -1;
	if (!p->absolute) {
		bool counted = page_is_counted(p->source);
		if (counted && text_lines(p->source, &total) < 0)
			return -1;
		page_renumber(p, counted ? (int64_t)total + 1 : 0);
	}
	drop_front(p, inside);
	struct page_piece *last = p->count ? &p->pieces[p->count - 1] : NULL;
	if (last && last->kind == PAGE_LINE && p->lines == 1 &&
	    (p->used > p->request->room || inside) && cut_last(p, last) < 0)
		return -1;
	if (note_omitted(p) < 0)
		return -1;
	p->stop = p->omitted || p->cut.bytes ? PAGE_BYTES : PAGE_ASKED;
	return 0;
}
