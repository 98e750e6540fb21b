#include "supervisor/preview/head.h"

#include "lib/bytes.h"
#include "lib/utf8.h"
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

/* "2026-11-22T05" of 2026-11-22T05:12:33, where a log begins. */
static bool name_is_time(const char *name, size_t len)
{
	return len >= 4 && name[len - 3] == 'T' && is_digit(name[len - 4]) &&
	       is_digit(name[len - 2]) && is_digit(name[len - 1]);
}

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
	return has_letter && (is_path || !is_plain) && !name_is_time(name, len);
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
	if (form == GROUPING_NONE)
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

/* The lines of a text in one form. */
struct grouping_count {
	size_t lines, matches, files;
	size_t saved, added; /* bytes */
};

static struct grouping_count count_matches(enum grouping_form form, const char *text, size_t len)
{
	struct grouping_count count = {.lines = 0};
	const char *before = text, *newline;
	size_t before_len = 0;
	for (; (newline = memchr(text, '\n', len)); text = newline + 1) {
		size_t line = (size_t)(newline - text), name = grouping_name(form, text, line);
		count.lines += line > 0;
		count.matches += name > 0;
		if (name > 0 && name == before_len && memcmp(text, before, name) == 0) {
			count.saved += name + 1;
		} else if (name > 0) {
			count.files++;
			count.added++;
		}
		before = text;
		before_len = name;
		len -= line + 1;
	}
	return count;
}

enum grouping_form grouping_find_form(const char *text, size_t len)
{
	static const enum grouping_form forms[] = {GROUPING_NUMBERED, GROUPING_PLAIN};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct grouping_count c = count_matches(forms[i], text, len);
		bool is_list = c.lines > 0 && c.matches * 10 >= c.lines * MATCHES_OF_TEN;
		/* Without numbers a name before a colon may be anything. */
		bool is_sure = forms[i] == GROUPING_NUMBERED || c.files > 1;
		if (is_list && is_sure && c.saved >= c.added + len / SAVED_PART)
			return forms[i];
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
	if (t->length > t->longest)
		t->longest = t->length;
}

static bool counts(const struct tally *t)
{
	size_t kept = t->length < TALLY_FRONT ? (size_t)t->length : TALLY_FRONT;
	return limit_counts(t->unit, t->front, kept);
}

/* Takes whole lines that only have to be counted. Returns how many bytes. */
static size_t skip_lines(struct tally *t, const char *data, size_t len)
{
	const char *last = memrchr(data, '\n', len);
	size_t skipped = last ? (size_t)(last - data) + 1 : 0;
	uint64_t count = newline_count(data, skipped);
	t->lines += count;
	t->units += count;
	if (last)
		t->length = 0;
	return skipped;
}

void tally_feed(struct tally *t, const char *data, size_t len)
{
	const char *newline;
	t->bytes += len;
	if (t->unit == UNIT_LINES && !t->by_line && len > 0) {
		size_t skipped = skip_lines(t, data, len);
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
			if (line > t->longest)
				t->longest = line;
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

/* The longest note in a line. */
#define NOTE_MAX 64

static bool is_full(const struct head *h)
{
	return h->limit.count && h->at.units >= h->limit.count;
}

static size_t room(const struct head *h)
{
	return h->limit.bytes > h->at.bytes ? h->limit.bytes - h->at.bytes : 0;
}

/* The part of the room that one line gets before others have it, and bytes of it in any case. */
#define LINE_PARTS 4
#define LINE_LEAST ((size_t)64)

/* How much of a line is shown whatever follows it. */
static size_t head_least(const struct head *h)
{
	size_t share = h->limit.bytes / LINE_PARTS;
	if (share < LINE_LEAST)
		share = h->limit.bytes / 2 < LINE_LEAST ? h->limit.bytes / 2 : LINE_LEAST;
	return h->limit.max_line < share ? h->limit.max_line : share;
}

bool head_grows(const struct head *h)
{
	return h->limit.grow || head_least(h) < h->limit.max_line;
}

/* A line is handed out, or will be. */
static void head_count_line(struct head *h, const char *line, size_t len, size_t printed)
{
	h->at.bytes += printed;
	h->at.lines++;
	h->at.units += limit_counts(h->limit.unit, line, len);
}

bool head_give(struct head *h, const char *line, size_t len)
{
	size_t printed = guard_text_len(line, len, h->guard);
	if (is_full(h) || printed > room(h))
		return false;
	head_count_line(h, line, len - 1, printed);
	h->at.offset += len;
	return true;
}

bool head_take(struct head *h, const char *line, size_t len)
{
	return len - 1 <= head_least(h) && head_give(h, line, len);
}

static size_t write_note(const struct head *h, uint64_t from, uint64_t bytes, char note[NOTE_MAX])
{
	if (h->bare)
		return 0;
	return line_note(from, bytes, note, NOTE_MAX);
}

/* Whether a line of which `n` bytes are shown ends in CR and LF. */
static bool has_return(const struct head_line *l, const char *line, size_t n)
{
	return n == l->length && l->ended && n > 0 && line[n - 1] == '\r';
}

/* The printed length of a line without its note. */
static size_t printed_len(const struct head *h, const struct head_line *l, const char *line,
			  size_t n)
{
	bool returns = has_return(l, line, n);
	return guard_text_len(line, n - returns, h->guard) + returns + l->ended;
}

/* How many bytes of a line are shown if it may have `level`: all of it where that is no dearer. */
static size_t shown_at(const struct head *h, const struct head_line *l, const char *line,
		       size_t level, size_t *cost)
{
	char note[NOTE_MAX];
	if (l->whole)
		level = l->len;
	size_t n = l->length > level ? utf8_floor(line, l->len, level < l->len ? level : l->len)
				     : l->len;
	*cost = printed_len(h, l, line, n);
	if (n == l->length)
		return n;
	*cost += write_note(h, l->offset + n, l->length - n, note);
	if (l->len == l->length && printed_len(h, l, line, l->len) <= *cost) {
		*cost = printed_len(h, l, line, l->len);
		return l->len;
	}
	return n;
}

/* Hands out a line of which `n` bytes are shown, in room that is reserved. */
static void give_line(struct head *h, const struct head_line *l, const char *line, size_t n,
		      struct buffer *out)
{
	char note[NOTE_MAX];
	size_t note_len;
	bool returns = has_return(l, line, n);
	h->last_cut = n < l->length;
	guard_text(out, line, n - returns, h->guard);
	if (h->last_cut) {
		h->cut++;
		note_len = write_note(h, l->offset + n, l->length - n, note);
		buffer_append(out, note, note_len);
	}
	if (l->ended)
		buffer_append(out, &"\r\n"[!returns], 1 + returns);
}

/* The printed length of the held lines if each may have `level`. */
static size_t held_cost(const struct head *h, size_t level)
{
	size_t total = 0, cost;
	for (size_t i = 0; i < h->held_count; i++) {
		const struct head_line *l = &h->held[i];
		shown_at(h, l, h->kept.data + l->start, level, &cost);
		total += cost;
	}
	return total;
}

/* How much each held line may have. */
static size_t find_level(const struct head *h)
{
	size_t least = head_least(h), most = h->limit.bytes;
	if (!h->limit.grow && most > h->limit.max_line)
		most = h->limit.max_line + 1;
	if (most <= least)
		return least;
	size_t space = held_cost(h, least) + room(h);
	while (most - least > 1) {
		size_t level = least + (most - least) / 2;
		if (held_cost(h, level) <= space)
			least = level;
		else
			most = level;
	}
	return least;
}

/* The held lines can't be handed out: it ends in front of them. */
static void head_go_back(struct head *h)
{
	h->end = HEAD_BYTES;
	h->at = h->held_from;
}

/* No more is held: hands out the lines that are. Without memory they are not reached. */
static void give_held(struct head *h, struct buffer *out)
{
	size_t level = h->held_count ? find_level(h) : 0, total = held_cost(h, level), cost;
	bool reserved = buffer_reserve(out, total) == 0;
	if (reserved)
		h->at.bytes += total - held_cost(h, head_least(h));
	else
		head_go_back(h);
	for (size_t i = 0; reserved && i < h->held_count; i++) {
		const struct head_line *l = &h->held[i];
		const char *line = h->kept.data + l->start;
		give_line(h, l, line, shown_at(h, l, line, level, &cost), out);
	}
	h->grown |= h->held_count > 0;
	h->held_count = 0;
	buffer_clear(&h->kept);
}

/* Forgets lines for which there can't be room. */
static void trim(struct head *h)
{
	size_t level = find_level(h), used = 0;
	for (size_t i = 0; i < h->held_count; i++) {
		struct head_line *l = &h->held[i];
		/* Some more, so that it is cut where a character ends. */
		if (l->len > level + 4 && !l->whole)
			l->len = level + 4;
		memmove(h->kept.data + used, h->kept.data + l->start, l->len);
		l->start = used;
		used += l->len;
	}
	h->kept.len = used;
}

/* Holds a line, which is counted then. Returns 0, or -1 with ENOMEM. */
static int head_hold(struct head *h, const struct head_line *given, const char *line)
{
	size_t start = h->kept.len;
	if (buffer_try_append(&h->kept, line, given->len) < 0)
		return -1;
	if (h->held_count == 0)
		h->held_from = h->at;
	struct head_line *held = array_add(&h->held, &h->held_count, &h->held_cap, sizeof(*held));
	if (!held)
		return -1;
	*held = *given;
	held->start = start;
	if (h->kept.len > 4 * h->limit.bytes)
		trim(h);
	return 0;
}

/* What is printed above a match that begins a group. */
struct heading {
	struct head_line blank, name;
	size_t skip; /* of the match's bytes */
	size_t cost;
};

/* The heading of a line: a blank line if there are others above, and the name if there is one. */
static struct heading make_heading(const struct head *h, const char *line, size_t len)
{
	size_t name = grouping_name(h->form, line, len);
	struct heading heading = {.skip = name ? name + 1 : 0};
	bool goes_on = name == h->name.len && (name == 0 || memcmp(h->name.data, line, name) == 0);
	if (goes_on)
		return heading;
	heading.blank.ended = heading.blank.whole = h->at.bytes > 0;
	heading.name =
		(struct head_line){.len = name, .length = name, .whole = true, .ended = name > 0};
	heading.cost = heading.blank.ended + printed_len(h, &heading.name, line, name);
	return heading;
}

/* Hands out a line, or holds it. `cost`: its printed length. Returns 0, or -1 with ENOMEM. */
static int head_pass(struct head *h, const struct head_line *l, const char *line, size_t n,
		     size_t cost, bool holds, struct buffer *out)
{
	if (holds)
		return head_hold(h, l, line);
	if (buffer_reserve(out, cost) < 0)
		return -1;
	give_line(h, l, line, n, out);
	return 0;
}

/* Begins a group. Returns 0, or -1 with ENOMEM. */
static int pass_heading(struct head *h, const struct heading *heading, const char *line, bool holds,
			struct buffer *out)
{
	if (heading->blank.ended && head_pass(h, &heading->blank, line, 0, 1, holds, out) < 0)
		return -1;
	if (heading->name.ended &&
	    head_pass(h, &heading->name, line, heading->name.len, heading->cost, holds, out) < 0)
		return -1;
	if (heading->cost == 0)
		return 0;
	buffer_clear(&h->name);
	return buffer_try_append(&h->name, line, heading->name.len);
}

/* The line of h->length bytes is complete; `len` of them are at hand. */
static void head_end_line(struct head *h, const char *line, size_t len, bool ended,
			  struct buffer *out)
{
	if (is_full(h) || h->cut_off) {
		h->end = h->cut_off ? HEAD_BYTES : HEAD_COUNT;
		return;
	}
	const struct heading heading = make_heading(h, line, len);
	const char *text = line + heading.skip;
	const struct head_line l = {.len = len - heading.skip,
				    .offset = h->at.offset + heading.skip,
				    .length = h->length - heading.skip,
				    .ended = ended};
	bool is_long = l.length > head_least(h);
	size_t cost, n = shown_at(h, &l, text, head_least(h), &cost);
	/* Beyond the room, only as much of it is held as shows that it is too long. */
	if ((!is_long && l.length + ended > room(h)) || cost + heading.cost > room(h)) {
		h->end = HEAD_BYTES;
		return;
	}
	bool holds = head_grows(h) && (is_long || h->held_count > 0);
	if (pass_heading(h, &heading, line, holds, out) < 0 ||
	    head_pass(h, &l, text, n, cost, holds, out) < 0) {
		h->end = HEAD_BYTES;
		return;
	}
	h->last_from = h->at;
	head_count_line(h, line, len, cost + heading.cost);
	h->at.offset += h->length + ended;
}

/* Keeps what may be shown of an unfinished line. */
static void head_keep(struct head *h, const char *data, size_t len)
{
	/* Some more, so that it is cut where a character ends. */
	size_t most = h->limit.bytes + 4;
	size_t space = h->line.len < most ? most - h->line.len : 0;
	h->length += len;
	if (buffer_try_append(&h->line, data, len < space ? len : space) < 0)
		h->end = HEAD_BYTES;
}

void head_feed(struct head *h, const char *data, size_t len, struct buffer *out)
{
	while (len > 0 && h->end == HEAD_OPEN) {
		const char *newline = memchr(data, '\n', len);
		size_t piece = newline ? (size_t)(newline - data) : len;
		if (newline && h->length == 0) {
			h->length = piece;
			head_end_line(h, data, piece, true, out);
			h->length = 0;
		} else {
			head_keep(h, data, piece);
			if (newline && h->end == HEAD_OPEN)
				head_end_line(h, h->line.data, h->line.len, true, out);
			if (newline) {
				buffer_clear(&h->line);
				h->length = 0;
			}
		}
		piece += newline != NULL;
		data += piece;
		len -= piece;
	}
	if (h->end == HEAD_OPEN)
		return;
	give_held(h, out);
	buffer_release(&h->line);
}

void head_release(struct head *h)
{
	buffer_release(&h->line);
	buffer_release(&h->kept);
	buffer_release(&h->name);
	free(h->held);
	h->held = NULL;
	h->held_count = h->held_cap = 0;
}

/* Leaves out the last line if it is cut. */
static void head_leave_cut(struct head *h)
{
	size_t cost, level = find_level(h);
	const struct head_line *l = &h->held[h->held_count - 1];
	if (shown_at(h, l, h->kept.data + l->start, level, &cost) == l->length)
		return;
	h->held_count--;
	h->at = h->last_from;
	h->end = HEAD_BYTES;
}

void head_finish(struct head *h, struct buffer *out)
{
	if (h->end == HEAD_OPEN && h->length > 0)
		head_end_line(h, h->line.data, h->line.len, false, out);
	if (h->leaves_cut && h->end == HEAD_OPEN && h->held_count > 0)
		head_leave_cut(h);
	give_held(h, out);
	if (h->cut_off && h->end == HEAD_OPEN)
		h->end = HEAD_BYTES;
	head_release(h);
}
