#include "supervisor/preview/head.h"

#include "lib/bytes.h"
#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>

/* The tally: how much text there is. */

/* Adds bytes to the unfinished line. */
static void begin_line(struct tally *t, const char *data, size_t len)
{
	if (len == 0)
		return;
	for (size_t i = 0; i < len && t->length + i < TALLY_FRONT; i++)
		t->front[t->length + i] = data[i];
	t->length += len;
	if (t->length > TALLY_FRONT)
		t->front[TALLY_FRONT - 1] = data[len - 1];
}

static bool counts(const struct tally *t)
{
	return limit_counts(t->unit, t->front, size_min((size_t)t->length, TALLY_FRONT));
}

void tally_feed(struct tally *t, const char *data, size_t len)
{
	const char *newline;
	t->bytes += len;
	if (t->unit == UNIT_LINES && len > 0) {
		/* Complete lines are only counted; nothing else of them is needed. */
		const char *last = memrchr(data, '\n', len);
		size_t skipped = last ? (size_t)(last - data) + 1 : 0;
		uint64_t count = newline_count(data, skipped);
		t->lines += count;
		t->units += count;
		if (last)
			t->length = 0;
		data += skipped;
		len -= skipped;
	}
	while (len > 0 && (newline = memchr(data, '\n', len))) {
		size_t line = (size_t)(newline - data);
		if (t->length > 0 || line == 0) {
			begin_line(t, data, line);
			t->units += counts(t);
			t->length = 0;
		} else {
			t->units += limit_counts(t->unit, data, line);
		}
		t->lines++;
		data += line + 1;
		len -= line + 1;
	}
	begin_line(t, data, len);
}

void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines)
{
	t->bytes += bytes;
	t->lines += newlines;
	t->units += t->unit == UNIT_LINES ? newlines : 0;
}

uint64_t tally_lines(const struct tally *t)
{
	return t->lines + (t->length > 0);
}

uint64_t tally_units(const struct tally *t)
{
	return t->units + (t->length > 0 && counts(t));
}

/* The first lines. */

/* Bytes of a line that are kept beyond those that can be printed, so that a cut can be between
   characters, and a line that is only slightly too long need not be cut. */
#define BEHIND ((size_t)64)

void head_begin(struct head *h, const struct limit *limit, const struct head_place *at)
{
	h->limit = *limit;
	h->limit.bytes = limit_largest(limit);
	h->level = h->limit.bytes + BEHIND;
	h->at = *at;
	h->is_open = true;
}

/* Halves the number of bytes that are kept of each line. Returns false if that would leave too few
   bytes. */
static bool head_squeeze(struct head *h)
{
	size_t used = 0, at = 0, least = limit_line(&h->limit, h->limit.bytes) + BEHIND;
	if (h->level <= least)
		return false;
	h->level = h->level / 2 > least ? h->level / 2 : least;
	for (struct line *l = h->lines; l < h->lines + h->count; l++) {
		size_t len = l->front_len;
		l->front_len = size_min(len, h->level);
		memmove(h->text.data + used, h->text.data + at, l->front_len);
		used += l->front_len;
		at += len;
	}
	buffer_truncate(&h->text, used);
	return true;
}

void head_feed(struct head *h, const char *data, size_t len)
{
	/* Room for the kept bytes of all lines that may be printed. Cleaning may remove a quarter
	   of them, and head_squeeze() half. */
	size_t room = 3 * h->limit.bytes;
	while (len > 0 && h->is_open && (h->is_inside || h->count <= h->limit.bytes)) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) + 1 : len;
		struct line *l = NULL;
		if (h->is_inside)
			l = &h->lines[h->count - 1];
		else if ((l = array_add(&h->lines, &h->count, &h->cap, sizeof(*l))))
			*l = (struct line){.number = ++h->at.lines, .offset = h->at.bytes};
		h->is_open = l;
		if (!l)
			return;
		size_t more = h->level > l->front_len ? size_min(n, h->level - l->front_len) : 0;
		h->is_open = buffer_try_append(&h->text, data, more) == 0;
		l->front_len += h->is_open ? more : 0;
		l->length += n;
		l->ended = newline;
		h->at.bytes += n;
		h->is_inside = true;
		while (h->is_open && h->text.len > room)
			h->is_open = head_squeeze(h);
		if (!h->is_open) {
			/* There can't be room to print this line. */
			buffer_truncate(&h->text, h->text.len - l->front_len);
			h->count--;
			h->is_inside = false;
		} else if (newline) {
			size_t kept = l->front_len - line_is_whole(l);
			const char *text = h->text.data + h->text.len - l->front_len;
			h->at.units += limit_counts(h->limit.unit, text, kept);
			h->is_inside = false;
			h->is_open &= !h->limit.count || h->at.units < h->limit.count;
		}
		data += n;
		len -= n;
	}
}

size_t head_settle(struct head *h, bool end)
{
	const char *text = h->text.data;
	for (struct line *l = h->lines; l < h->lines + h->count; l++) {
		l->front = text;
		text += l->front_len;
	}
	return h->count - (h->is_inside && !end);
}

void head_release(struct head *h)
{
	buffer_release(&h->text);
	free(h->lines);
}
