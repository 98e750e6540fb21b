#include "supervisor/preview/line.h"

#include "supervisor/base/human.h"
#include "supervisor/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* A cut line that shows less than this of itself is not worth its note. */
enum { LINE_LEAST = 8 };

bool line_is_whole(const struct line *l)
{
	return l->front_len == l->length;
}

static size_t note_write(uint64_t omitted, char *out, size_t cap)
{
	char count[HUMAN_LEN];

	return (size_t)snprintf(out, cap, "[... %s bytes omitted ...]",
				human_count(count, omitted));
}

static size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Where to cut so that no character is split; moves left. `more` tells that the
   line goes on behind `len`. */
static size_t cut_left(const char *data, size_t len, size_t at, bool more)
{
	size_t tail;

	if (at < len)
		return utf8_floor(data, len, at);
	return more && utf8_incomplete(data, len, &tail) ? len - tail : len;
}

/* The same, moving right. The bytes before `data` are unknown, so a character
   may be split at its very beginning too. */
static size_t cut_right(const char *data, size_t len, size_t at)
{
	size_t n = at;

	while (n < len && n - at < 3 && ((unsigned char)data[n] & 0xC0) == 0x80)
		n++;
	return n;
}

size_t line_write(const struct line *l, size_t limit, enum line_cut cut, char *out)
{
	char note[64];
	const char *back = l->back;
	size_t body, front, last, room, skip, note_len, front_room, back_room;
	size_t newline = l->ended;
	bool whole = line_is_whole(l);

	if (whole && l->length <= limit) {
		if (out && l->length)
			memcpy(out, l->front, l->length);
		return l->length;
	}
	body = l->length - newline;
	front_room = whole ? body : l->front_len;
	back_room = whole ? body : l->back_len;
	if (whole)
		back = l->front;
	note_len = note_write(body, note, sizeof(note));
	if (limit < note_len + newline + LINE_LEAST)
		return 0;
	room = limit - note_len - newline;
	if (cut == LINE_CUT_EARLY) {
		last = size_min(back_room, room - room / 3);
		front = size_min(front_room, room - last);
		last = size_min(back_room, room - front);
	} else {
		front = size_min(front_room, room - room / 4);
		last = size_min(back_room, room - front);
		front = size_min(front_room, room - last);
	}
	/* Both ends are at hand but nothing is between them. */
	if (!whole && front + last >= body)
		last = body - front;
	front = cut_left(l->front, front_room, front, !whole);
	skip = cut_right(back, back_room, back_room - last);
	last = back_room - skip;
	if (front + last == 0)
		return 0;
	note_len = front + last < body ? note_write(body - front - last, note, sizeof(note)) : 0;
	if (out) {
		if (front)
			memcpy(out, l->front, front);
		memcpy(out + front, note, note_len);
		if (last)
			memcpy(out + front + note_len, back + skip, last);
		if (newline)
			out[front + note_len + last] = '\n';
	}
	return front + note_len + last + newline;
}

size_t line_written(const struct line *l, size_t limit, enum line_cut cut)
{
	return line_write(l, limit, cut, NULL);
}

size_t line_clean_len(const char *data, size_t len)
{
	size_t at, step, total = 0;
	char bytes[4];
	uint32_t cp;

	if (utf8_all_clean(data, len))
		return len;
	for (at = 0; at < len; at += step) {
		step = utf8_decode(data + at, len - at, &cp);
		total += utf8_is_clean(cp) ? utf8_put(cp, bytes) : 3;
	}
	return total;
}

bool line_equal(const struct line *a, const struct line *b)
{
	return a->length == b->length && line_is_whole(a) && line_is_whole(b) &&
	       memcmp(a->front, b->front, a->length) == 0;
}
