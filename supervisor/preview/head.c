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

/* The first part of a text. */

enum {
	NOTE_MAX = 64, /* the longest note in a line */
	/* The part of the room that one line gets before others have it, and bytes of it in any
	   case. */
	LINE_PARTS = 4,
	LINE_LEAST = 64,
	/* So many bytes more than may be shown are kept, so that a line is cut where a character
	   ends. */
	BEHIND = 4,
};

/* How much of a line is shown whatever follows it. */
static size_t head_least(const struct limit *l)
{
	size_t share = l->bytes / LINE_PARTS;
	if (share < LINE_LEAST)
		share = l->bytes / 2 < LINE_LEAST ? l->bytes / 2 : LINE_LEAST;
	return l->max_line < share ? l->max_line : share;
}

bool head_grows(const struct limit *l)
{
	return l->grow || head_least(l) < l->max_line;
}

bool head_give(struct head *h, const char *line, size_t len)
{
	size_t printed = guard_text_len(line, len, h->guard);
	bool full = h->limit.count && h->at.units >= h->limit.count;
	if (full || h->count > 0 || h->at.bytes + printed > h->limit.bytes)
		return false;
	h->at.bytes += printed;
	h->at.lines++;
	h->at.units += limit_counts(h->limit.unit, line, len - 1);
	h->at.offset += len;
	return true;
}

bool head_take(struct head *h, const char *line, size_t len)
{
	return len - 1 <= head_least(&h->limit) && head_give(h, line, len);
}

static size_t write_note(const struct head *h, uint64_t from, uint64_t bytes, char note[NOTE_MAX])
{
	return h->bare ? 0 : line_note(from, bytes, note, NOTE_MAX);
}

static const char *held_text(const struct head *h, const struct head_line *l)
{
	return h->kept.data + l->start;
}

/* Whether `n` bytes of a line end with a carriage return in front of its newline. */
static bool held_returns(const struct head *h, const struct head_line *l, size_t n)
{
	return n == l->length && l->ended && n > 0 && held_text(h, l)[n - 1] == '\r';
}

/* The printed length of `n` bytes of a line without its note. */
static size_t printed_len(const struct head *h, const struct head_line *l, size_t n)
{
	bool returns = held_returns(h, l, n);
	return guard_text_len(held_text(h, l), n - returns, h->guard) + returns + l->ended;
}

/* How many bytes of a line are shown if it may have `level`: all of it where that is no dearer. */
static size_t shown_at(const struct head *h, const struct head_line *l, size_t level, size_t *cost)
{
	char note[NOTE_MAX];
	size_t n = l->len;
	if (l->length > level)
		n = utf8_floor(held_text(h, l), l->len, level < l->len ? level : l->len);
	*cost = printed_len(h, l, n);
	if (n == l->length)
		return n;
	*cost += write_note(h, l->offset + n, l->length - n, note);
	if (l->len == l->length && printed_len(h, l, l->len) <= *cost) {
		*cost = printed_len(h, l, l->len);
		return l->len;
	}
	return n;
}

/* What stands above the first match of a group: a blank line if there are lines above, and the name
   if there is one. Returns its printed length. */
static size_t write_heading(const struct head *h, const struct head_line *l, struct buffer *out)
{
	bool blank = l->begins && (l > h->held || h->at.lines > 0);
	size_t name = l->begins && l->skip ? l->skip - 1 : 0;
	const char *text = held_text(h, l) - l->skip;
	if (out && blank)
		buffer_append(out, "\n", 1);
	if (out && name) {
		guard_text(out, text, name, h->guard);
		buffer_append(out, "\n", 1);
	}
	return blank + (name ? guard_text_len(text, name, h->guard) + 1 : 0);
}

/* Where the lines that are held end within a limit. */
struct head_fit {
	struct head_place at, before; /* behind them; and in front of the last one */
	size_t count;
	enum head_end end;
};

/* The held lines for which there is room, with as much of each as is shown in any case. */
static struct head_fit fit_lines(const struct head *h, const struct limit *limit)
{
	struct head_fit f = {.at = h->at, .before = h->at};
	size_t least = head_least(limit), cost;
	for (; f.count < h->count; f.count++) {
		const struct head_line *l = &h->held[f.count];
		size_t room = limit->bytes > f.at.bytes ? limit->bytes - f.at.bytes : 0;
		if (limit->count && f.at.units >= limit->count) {
			f.end = HEAD_COUNT;
			return f;
		}
		shown_at(h, l, least, &cost);
		cost += write_heading(h, l, NULL);
		/* Beyond the room, only as much of it is held as shows that it is too long. */
		if ((l->length <= least && l->length + l->ended > room) || cost > room) {
			f.end = HEAD_BYTES;
			return f;
		}
		f.before = f.at;
		f.at.bytes += cost;
		f.at.lines++;
		f.at.units += l->counts;
		f.at.offset += l->skip + l->length + l->ended;
	}
	if (h->more)
		f.end = limit->count && f.at.units >= limit->count && !h->cut_off ? HEAD_COUNT
										  : HEAD_BYTES;
	return f;
}

/* The printed length of the first held lines if each may have `level`. */
static size_t held_cost(const struct head *h, size_t count, size_t level)
{
	size_t total = 0, cost;
	for (const struct head_line *l = h->held; l < h->held + count; l++) {
		shown_at(h, l, level, &cost);
		total += cost + write_heading(h, l, NULL);
	}
	return total;
}

/* Hands out the first of the held lines, with `level` of each, and forgets all of them. */
static int head_print(struct head *h, const struct head_fit *f, size_t level, struct buffer *out)
{
	size_t total = held_cost(h, f->count, level), cost;
	if (buffer_reserve(out, total) < 0)
		return -1;
	for (const struct head_line *l = h->held; l < h->held + f->count; l++) {
		char note[NOTE_MAX];
		size_t n = shown_at(h, l, level, &cost);
		bool returns = held_returns(h, l, n);
		write_heading(h, l, out);
		guard_text(out, held_text(h, l), n - returns, h->guard);
		h->last_cut = n < l->length;
		h->cut += h->last_cut;
		if (h->last_cut)
			buffer_append(out, note, write_note(h, l->offset + n, l->length - n, note));
		if (l->ended)
			buffer_append(out, &"\r\n"[!returns], 1 + returns);
	}
	total += h->at.bytes;
	h->at = f->at;
	h->at.bytes = total;
	h->count = h->bytes = 0;
	buffer_clear(&h->kept);
	return 0;
}

/* How much each of the lines that fit may have. */
static size_t find_level(const struct head *h, const struct limit *limit, const struct head_fit *f)
{
	size_t least = head_least(limit), most = limit->bytes;
	if (!limit->grow && most > limit->max_line)
		most = limit->max_line + 1;
	if (most <= least || !head_grows(limit))
		return least;
	size_t space = limit->bytes > h->at.bytes ? limit->bytes - h->at.bytes : 0;
	while (most - least > 1) {
		size_t level = least + (most - least) / 2;
		if (held_cost(h, f->count, level) <= space)
			least = level;
		else
			most = level;
	}
	return least;
}

/* Forgets bytes of lines for which there can't be room, whatever the outcome. */
static void trim(struct head *h)
{
	size_t most = 0, used = 0;
	for (size_t i = 0; i <= h->outcome_count; i++) {
		const struct limit *limit = i ? &h->outcomes[i - 1] : &h->limit;
		const struct head_fit f = fit_lines(h, limit);
		size_t level = find_level(h, limit, &f);
		most = level > most ? level : most;
	}
	for (size_t i = 0; i < h->count; i++) {
		struct head_line *l = &h->held[i];
		/* Lines that are hardly longer may be shown whole. */
		if (l->len > most + BEHIND && l->length > most + NOTE_MAX)
			l->len = most + BEHIND;
		memmove(h->kept.data + used, h->kept.data + l->start - l->skip, l->skip + l->len);
		l->start = used + l->skip;
		used += l->skip + l->len;
	}
	h->kept.len = used;
}

/* The most that any outcome allows. */
static size_t head_most(const struct head *h)
{
	size_t most = h->limit.bytes;
	for (size_t i = 0; i < h->outcome_count; i++)
		most = h->outcomes[i].bytes > most ? h->outcomes[i].bytes : most;
	return most;
}

/* The line of h->length bytes is complete; `len` of them are at hand. It is handed out if that is
   right whatever follows, else held. */
static void head_end_line(struct head *h, const char *line, size_t len, bool ended,
			  struct buffer *out)
{
	size_t name = grouping_name(h->form, line, len), skip = name ? name + 1 : 0;
	bool begins = name != h->name.len || (name && memcmp(h->name.data, line, name) != 0);
	const struct head_line *last = h->count ? &h->held[h->count - 1] : NULL;
	uint64_t length = h->length - skip;
	uint64_t offset = last ? last->offset + last->length + last->ended : h->at.offset;
	size_t least = head_least(&h->limit), most = head_most(h);
	/* Each line costs at least this, half of it where cleaning makes it shorter. */
	h->bytes += (length < least ? (size_t)length : least) + 1;
	h->more |= h->cut_off || h->at.bytes + h->bytes > 2 * most;
	if (h->more)
		return;
	if (begins)
		buffer_clear(&h->name);
	struct head_line *l = array_add(&h->held, &h->count, &h->cap, sizeof(*l));
	if (!l || (begins && buffer_try_append(&h->name, line, name) < 0) ||
	    buffer_try_append(&h->kept, line, len) < 0) {
		h->count -= l != NULL;
		h->more = true;
		return;
	}
	*l = (struct head_line){
		.start = h->kept.len - len + skip,
		.len = len - skip,
		.skip = skip,
		.offset = offset + skip,
		.length = length,
		.begins = begins,
		.counts = limit_counts(h->limit.unit, line, len),
		.ended = ended,
	};
	if (h->count == 1 && (length <= least || !head_grows(&h->limit))) {
		const struct head_fit f = fit_lines(h, &h->limit);
		if (f.count == 1 && head_print(h, &f, least, out) == 0)
			return;
	}
	if (h->kept.len > h->trim_at && h->kept.len > 4 * most) {
		trim(h);
		h->trim_at = 2 * h->kept.len;
	}
}

void head_feed(struct head *h, const char *data, size_t len, struct buffer *out)
{
	size_t most = head_most(h) + BEHIND;
	while (len > 0 && !h->more) {
		const char *newline = memchr(data, '\n', len);
		size_t piece = newline ? (size_t)(newline - data) : len;
		if (newline && h->length == 0) {
			h->length = piece;
			head_end_line(h, data, piece, true, out);
		} else {
			/* What may be shown of an unfinished line. */
			size_t space = h->line.len < most ? most - h->line.len : 0;
			h->length += piece;
			if (buffer_try_append(&h->line, data, piece < space ? piece : space) < 0)
				h->more = true;
			else if (newline)
				head_end_line(h, h->line.data, h->line.len, true, out);
		}
		if (newline) {
			buffer_clear(&h->line);
			h->length = 0;
		}
		piece += newline != NULL;
		data += piece;
		len -= piece;
	}
}

void head_finish(struct head *h, const struct limit *limit, bool leaves_cut, struct buffer *out)
{
	if (!h->more && h->length > 0)
		head_end_line(h, h->line.data, h->line.len, false, out);
	h->more |= h->cut_off;
	h->limit = *limit;
	struct head_fit f = fit_lines(h, limit);
	size_t level = find_level(h, limit, &f), cost;
	if (leaves_cut && f.end == HEAD_OPEN && head_grows(limit) && f.count > 0) {
		/* The last line is left out if it is cut. */
		const struct head_line *l = &h->held[f.count - 1];
		if (shown_at(h, l, level, &cost) < l->length) {
			f.count--;
			f.at = f.before;
			f.end = HEAD_BYTES;
			level = find_level(h, limit, &f);
		}
	}
	h->end = head_print(h, &f, level, out) == 0 ? f.end : HEAD_BYTES;
	head_release(h);
}

void head_release(struct head *h)
{
	buffer_release(&h->line);
	buffer_release(&h->kept);
	buffer_release(&h->name);
	free(h->held);
	h->held = NULL;
	h->count = h->cap = 0;
}
