#include "supervisor/preview/head.h"

#include "lib/bytes.h"
#include "supervisor/preview/internal.h"

#include <stdlib.h>
#include <string.h>

/* The names of files in front of matches. */

/* Longer names are none. */
#define NAME_MAX_LEN ((size_t)1024)

/* So many of ten lines are matches in a list of them. */
#define MATCHES_OF_TEN 9

/* At least this part of the text is saved. */
#define SAVED_PART 8

/* Whether `name` can be a file's. Words of code and of messages have other characters, so that a
   text which is no list of matches is left alone. */
static bool name_is_file(const char *name, size_t len, bool is_plain)
{
	bool has_letter = false, is_path = false;
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)name[i] <= ' ' || strchr("\"'`()<>{};,=$|*&?", name[i]))
			return false;
		has_letter |= is_letter(name[i]) || (unsigned char)name[i] >= 0x80;
		is_path |= name[i] == '/' || name[i] == '.';
	}
	/* "2026-11-22T05" of 2026-11-22T05:12:33, where a log begins. */
	bool is_time = len >= 4 && name[len - 3] == 'T' && is_digit(name[len - 4]) &&
		       is_digit(name[len - 2]) && is_digit(name[len - 1]);
	return has_letter && (is_path || !is_plain) && !is_time;
}

/* The place of the first ":12:" in a line; `len`: there is none. */
static size_t find_number(const char *line, size_t len)
{
	const char *at = line, *end = line + len;
	while ((at = memchr(at, ':', (size_t)(end - at)))) {
		const char *digit = at + 1;
		while (digit < end && is_digit(*digit))
			digit++;
		if (digit > at + 1 && digit < end && *digit == ':')
			return (size_t)(at - line);
		at++;
	}
	return len;
}

size_t grouping_name(enum grouping_form form, const char *line, size_t len)
{
	size_t most = len < NAME_MAX_LEN ? len : NAME_MAX_LEN, name;
	if (form <= GROUPING_OPEN)
		return 0;
	if (form == GROUPING_NUMBERED) {
		name = find_number(line, most);
	} else {
		const char *colon = memchr(line, ':', most);
		name = colon ? (size_t)(colon - line) : most;
		/* std::string; and a blank line would end the group. */
		if (name + 1 >= len || line[name + 1] == ':')
			return 0;
	}
	return name < most && name_is_file(line, name, form == GROUPING_PLAIN) ? name : 0;
}

enum grouping_form grouping_find_form(const char *given, size_t given_len)
{
	for (enum grouping_form form = GROUPING_NUMBERED; form <= GROUPING_PLAIN; form++) {
		size_t lines = 0, matches = 0, files = 0, saved = 0, before_len = 0,
		       len = given_len;
		const char *text = given, *before = given, *newline;
		for (; (newline = memchr(text, '\n', len)); text = newline + 1) {
			size_t line = (size_t)(newline - text);
			size_t name = grouping_name(form, text, line);
			lines += line > 0;
			matches += name > 0;
			if (name > 0 && name == before_len && memcmp(text, before, name) == 0)
				saved += name + 1;
			else
				files += name > 0;
			before = text;
			before_len = name;
			len -= line + 1;
		}
		bool is_list = lines > 0 && matches * 10 >= lines * MATCHES_OF_TEN;
		/* Without numbers a name before a colon may be anything. */
		bool is_sure = form == GROUPING_NUMBERED || files > 1;
		/* A group costs a blank line. */
		if (is_list && is_sure && saved >= files + given_len / SAVED_PART)
			return form;
	}
	return GROUPING_NONE;
}

/* How much text there is. */

/* Notes bytes of the unfinished line. */
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
	size_t kept = t->length < TALLY_FRONT ? (size_t)t->length : TALLY_FRONT;
	return limit_counts(t->unit, t->front, kept);
}

void tally_feed(struct tally *t, const char *data, size_t len)
{
	const char *newline;
	t->bytes += len;
	if (t->unit == UNIT_LINES && len > 0) {
		/* Whole lines only have to be counted. */
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

/* So many bytes more than a line gets are kept of it: one that is hardly longer is not cut, and a
   cut is between characters. */
#define BEHIND ((size_t)64)

void head_begin(struct head *h, const struct limit *limit, const struct head_place *at)
{
	h->limit = *limit;
	h->limit.bytes = limit_largest(limit);
	h->level = h->limit.bytes + BEHIND;
	h->at = *at;
	h->is_open = true;
}

/* Forgets the second half of what may be kept of a line. Returns false if less would be too little.
 */
static bool head_squeeze(struct head *h)
{
	size_t used = 0, at = 0, least = limit_line(&h->limit, h->limit.bytes) + BEHIND;
	if (h->level <= least)
		return false;
	h->level = h->level / 2 > least ? h->level / 2 : least;
	for (struct head_line *l = h->lines; l < h->lines + h->count; l++) {
		size_t len = l->line.front_len;
		if (len > h->level)
			l->line.front_len = h->level;
		memmove(h->text.data + used, h->text.data + at, l->skip + l->line.front_len);
		used += l->skip + l->line.front_len;
		at += l->skip + len;
	}
	buffer_truncate(&h->text, used);
	return true;
}

/* The last line is complete. */
static void head_end_line(struct head *h)
{
	struct head_line *l = &h->lines[h->count - 1];
	const struct head_line *above = h->count > 1 ? l - 1 : NULL;
	size_t len = l->line.front_len - (line_is_whole(&l->line) && l->line.ended);
	const char *text = h->text.data + h->text.len - l->line.front_len;
	const char *other = above ? text - above->line.front_len - above->skip : NULL;
	size_t name = grouping_name(h->at.form, text, len);
	l->counts = limit_counts(h->limit.unit, text, len);
	l->skip = name ? name + 1 : 0;
	l->begins = h->at.form > GROUPING_OPEN &&
		    (!above || above->skip != l->skip || memcmp(other, text, l->skip) != 0);
	l->line.front_len -= l->skip;
	l->line.length -= l->skip;
	l->line.offset += l->skip;
	h->at.units += l->counts;
	h->is_inside = false;
	h->is_open &= !h->limit.count || h->at.units < h->limit.count;
}

void head_feed(struct head *h, const char *data, size_t len)
{
	/* A line costs what is kept of it, or three quarters of that when it is clean; and half of
	   it may be forgotten. */
	size_t room = 3 * h->limit.bytes;
	while (len > 0 && h->is_open && h->count <= h->limit.bytes) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) + 1 : len;
		struct head_line *l = NULL;
		if (h->is_inside)
			l = &h->lines[h->count - 1];
		else if ((l = array_add(&h->lines, &h->count, &h->cap, sizeof(*l))))
			*l = (struct head_line){
				.line = {.number = ++h->at.lines, .offset = h->at.bytes}};
		h->is_open = l;
		if (!l)
			return;
		size_t more = h->level > l->line.front_len ? h->level - l->line.front_len : 0;
		if (more > n)
			more = n;
		h->is_open = buffer_try_append(&h->text, data, more) == 0;
		l->line.front_len += h->is_open ? more : 0;
		l->line.length += n;
		l->line.ended = newline;
		h->at.bytes += n;
		h->is_inside = true;
		while (h->is_open && h->text.len > room)
			h->is_open = head_squeeze(h);
		if (!h->is_open) {
			/* There can't be room for it. */
			buffer_truncate(&h->text, h->text.len - l->line.front_len);
			h->count--;
			h->is_inside = false;
		} else if (newline) {
			head_end_line(h);
		}
		data += n;
		len -= n;
	}
}

size_t head_settle(struct head *h, bool end)
{
	const char *text = h->text.data;
	if (end && h->is_inside)
		head_end_line(h);
	h->is_open &= !end;
	for (struct head_line *l = h->lines; l < h->lines + h->count; l++) {
		l->line.front = text + l->skip;
		text += l->skip + l->line.front_len;
	}
	return h->count - h->is_inside;
}

void head_release(struct head *h)
{
	buffer_release(&h->text);
	free(h->lines);
}
