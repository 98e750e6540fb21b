#include "supervisor/preview/internal.h"

#include "lib/utf8.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	/* The fewest bytes of a cut line that are worth showing: with a note; without one. */
	LINE_LEAST = 28,
	LINE_LEAST_BARE = 8,
};

bool line_is_whole(const struct line *l)
{
	return l->front_len == l->length;
}

/* Writes the note on `bytes` omitted bytes, in less than NOTE_MAX bytes: "[... bytes 496-4936]", or
   "[... byte 496]". */
static size_t line_note(uint64_t from, uint64_t bytes, char *out, size_t cap)
{
	if (bytes == 1)
		return (size_t)snprintf(out, cap, "[... byte %" PRIu64 "]", from);
	return (size_t)snprintf(out, cap, "[... bytes %" PRIu64 "-%" PRIu64 "]", from,
				from + bytes - 1);
}

/* Returns where to cut at or before `at`, so that no character is split. `more`: the line continues
   after `len`. */
static size_t cut_left(const char *data, size_t len, size_t at, bool more)
{
	size_t tail;
	if (at < len)
		return utf8_floor(data, len, at);
	return more && utf8_incomplete(data, len, &tail) ? len - tail : len;
}

/* Appends to `out`, which has `len` bytes. Returns the new length. */
static size_t line_append(char *out, size_t len, const char *data, size_t data_len)
{
	if (data_len)
		memcpy(out + len, data, data_len);
	return len + data_len;
}

/* The parts of a cut line: front_len first bytes, then `between` omitted ones, then `back`, then
   `behind` omitted ones. */
struct cut {
	const char *back;
	size_t front_len, back_len;
	uint64_t between, behind;
};

/* Splits `room`, fewer bytes than the line has, between the start of the line and its end, or its
   most relevant part. */
static struct cut line_cut(const struct line *l, size_t room, const struct line_form *form)
{
	bool whole = line_is_whole(l), around = l->after > 0;
	size_t body = (size_t)l->length - l->ended, start = body - l->after - l->back_len;
	if (whole && !around)
		start = 0;
	if (whole && form->bare)
		start = size_min(start, body - room);
	const char *back = whole ? l->front + start : l->back;
	size_t most = whole ? body - start : l->back_len;
	size_t front = size_min(l->front_len, around ? start : body);
	size_t share = around || form->last ? room / 3 : room - room / 6;
	if (form->bare)
		share = (around || form->last) && most > 0 ? 0 : room;
	else if (form->first)
		share = room;
	size_t back_len = size_min(most, room - size_min(front, share));
	size_t front_len = size_min(front, room - back_len);
	if (form->bare && share == 0)
		front_len = 0;
	else if (form->bare)
		back_len = 0;
	/* `front` and `back` may overlap. */
	back_len = size_min(back_len, body - front_len);
	/* The bytes before `back` are unknown, so it may begin inside a character. */
	size_t at = around ? 0 : most - back_len, skip = at;
	while (skip < most && skip - at < 3 && ((unsigned char)back[skip] & 0xC0) == 0x80)
		skip++;
	back_len = cut_left(back + skip, most - skip, size_min(back_len, most - skip), around);
	front_len = cut_left(l->front, l->front_len, front_len, !whole);
	return (struct cut){
		.back = back + skip,
		.front_len = front_len,
		.back_len = back_len,
		.between = start + skip - front_len,
		.behind = body - start - skip - back_len,
	};
}

/* Appends the note on omitted bytes, with the command that prints them, unless it is NULL. */
static size_t append_note(char *out, size_t len, uint64_t from, uint64_t bytes, const char *command)
{
	char note[NOTE_MAX];
	size_t note_len = line_note(from, bytes, note, sizeof(note));
	if (!command)
		return line_append(out, len, note, note_len);
	/* "[... bytes 496-4936: terse read ID --bytes 496-4936]" */
	const char *range = strrchr(note, ' ') + 1;
	len = line_append(out, len, note, note_len - 1);
	len = line_append(out, len, ": ", 2);
	len = line_append(out, len, command, strlen(command));
	return line_append(out, len, range, note_len - (size_t)(range - note));
}

size_t line_write(const struct line *l, const struct line_form *form, char *out)
{
	char note[NOTE_MAX];
	size_t notes = 0, len = 0;
	const bool bare = form->bare;
	uint64_t at = form->before + l->offset;
	if (line_is_whole(l) && l->length <= form->limit)
		return line_append(out, 0, l->front, (size_t)l->length);
	if (!bare)
		notes = line_note(at + l->length, 2, note, sizeof(note)) * (l->after ? 2 : 1);
	size_t most = (size_t)l->length - l->ended, room = 0;
	if (notes) /* a cut has to save LINE_SLACK bytes */
		most = most > LINE_SLACK ? most - LINE_SLACK : 0;
	if (form->limit > notes + l->ended)
		room = size_min(form->limit - notes - l->ended, most);
	if (room < (bare ? LINE_LEAST_BARE : LINE_LEAST))
		return 0;
	const struct cut c = line_cut(l, room, form);
	if (c.front_len + c.back_len == 0)
		return 0;
	len = line_append(out, len, l->front, c.front_len);
	at += c.front_len;
	if (c.between && !bare)
		len = append_note(out, len, at, c.between, form->command);
	if (c.back_len)
		len = line_append(out, len, c.back, c.back_len);
	at += c.between + c.back_len;
	if (c.behind && !bare)
		len = append_note(out, len, at, c.behind, c.between ? NULL : form->command);
	return l->ended ? line_append(out, len, "\n", 1) : len;
}
