// The append gear: while text only comes at the end, it is handed on without
// being looked at closely. No cells are touched.
//
// The screen's last rows can still change, so they are held back as bytes: see
// emitter.c.

#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

/* Runs from here on are handed on from where they are instead of being copied
   to the tail first. */
#define DIRECT 4096

#define SOME_EMOJI 0x1F600

/* A normal newline comes with a CR, or implies one. */
static bool is_newline_plain(const struct terminal *t)
{
	return t->options.onlcr || t->modes.newline;
}

static bool at_line_start(const struct terminal *t)
{
	const struct tail *tail = &t->tail;
	return !tail->len || tail->data[tail->len - 1] == '\n';
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

static bool ends_joining(const struct tail *tail)
{
	return tail->len >= 3 && memcmp(tail->data + tail->len - 3, "\xE2\x80\x8D", 3) == 0;
}

/* Whether text after something else means something different than alone: it begins with a byte
   that could complete the character before, or with a mark or a part of a character that does not
   join it (or may: it is cut). */
static bool begins_apart(const struct tail *tail, const char *data, size_t len)
{
	uint32_t cp;
	size_t cut;
	if (is_continuation(*data))
		return true;
	/* U+0300 is the first mark. */
	if (!tail->broken || (unsigned char)*data < 0xCC)
		return false;
	utf8_decode(data, len, &cp);
	if (cp == UTF8_REPLACEMENT)
		return utf8_incomplete(data, len < 4 ? len : 4, &cut);
	return utf8_width(cp) == 0 || utf8_joins(SOME_EMOJI, ends_joining(tail) ? ZWJ : 0, cp);
}

/* Takes text; false if it is for the grid gear, which is on then. */
static bool append_add(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;
	if (tail->apart) {
		if (begins_apart(tail, data, len)) {
			append_leave(t, true);
			return false;
		}
		tail->apart = false;
		tail->broken = false;
	}
	if (len >= DIRECT && newlines && append_direct(t, data, len, newlines))
		return true;
	if (len > tail->cap - tail->len) {
		append_trim(t);
		if (len > tail->cap - tail->len) {
			append_leave(t, false);
			return false;
		}
	}
	memcpy(tail->data + tail->len, data, len);
	tail->len += len;
	tail->newlines += newlines;
	return true;
}

/* The length of an SGR sequence, or of an EL without parameter, which does
   nothing where text ends; 0 for anything else and for a part of one. */
static size_t colour(const char *p, const char *end)
{
	const char *q = p + 2;
	if (end - p < 3 || p[1] != '[')
		return 0;
	if (*q == 'K')
		return 3;
	while (q < end && *q >= '0' && *q <= ';')
		q++;
	return q < end && *q == 'm' ? (size_t)(q - p) + 1 : 0;
}

/* Short runs of text with colours and CR LF between them: copied to the tail
   while they are looked for. Stops at anything else and where a long run begins. */
static const char *take_runs(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;
	bool line = !is_newline_plain(t);
	while (p < end) {
		size_t room = tail->cap - tail->len;
		size_t limit = (size_t)(end - p);
		size_t newlines = 0;
		if (room < DIRECT + SCAN_SLACK + 1) {
			append_trim(t);
			room = tail->cap - tail->len;
			if (room < DIRECT + SCAN_SLACK + 1)
				break;
		}
		if (limit > DIRECT)
			limit = DIRECT;
		size_t n = t->scan->copy(tail->data + tail->len, p, limit, line, &newlines);
		if (n) {
			if (tail->apart && begins_apart(tail, p, (size_t)(end - p)))
				break;
			tail->apart = false;
			tail->broken = false;
			tail->len += n;
			tail->newlines += newlines;
			p += n;
		}
		if (n == limit)
			break;

		if (*p == '\x1B') {
			n = colour(p, end);
			if (!n)
				break;
			tail->apart = true;
			tail->broken = true;
			p += n;
		} else if (*p == '\r' && p + 1 < end && p[1] == '\n') {
			if (t->options.returns)
				tail->data[tail->len++] = '\r';
			tail->data[tail->len++] = '\n';
			tail->newlines++;
			tail->apart = false;
			tail->broken = false;
			p += 2;
		} else {
			break;
		}
	}
	return p;
}

/* Where a CR came last the grid gear overwrites the line. */
static bool append_show_nul(struct terminal *t)
{
	if (t->tail.carriage && t->nul == TERMINAL_NUL_SYMBOL) {
		append_leave(t, true);
		return false;
	}
	t->tail.carriage = false;
	return t->nul == TERMINAL_NUL_SYMBOL ? append_add(t, NUL_SYMBOL_BYTES, 3, 0)
					     : append_add(t, "\n", 1, 1);
}

/* A control character (not tab; a newline only if it does not imply CR). Returns
   false if it is for the grid gear, which is on then. */
static bool control(struct terminal *t, char c)
{
	struct tail *tail = &t->tail;
	tail->apart = true;
	switch (c) {
	case '\r': tail->carriage = t->options.returns || !at_line_start(t); return true;
	case '\a': tail->broken = true; return true;
	case '\x7F': t->lossy = true; return true;
	case '\v':
	case '\f':
		if (!at_line_start(t) || tail->carriage)
			break;
		t->lossy = true;
		return append_add(t, "\n", 1, 1);
	case '\n':
		if (!at_line_start(t))
			break;
		return append_add(t, "\n", 1, 1);
	case '\b':
	case 0x0E:
	case 0x0F: break;
	default:
		tail->broken = true;
		t->lossy = true;
		return c != '\0' || t->nul == TERMINAL_NUL_IGNORED || append_show_nul(t);
	}
	append_leave(t, true);
	return false;
}

const char *append_feed(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;
	while (p < end && t->appending && t->parser.state == PARSER_GROUND) {
		size_t newlines = 0;
		if (tail->carriage && *p == '\n') {
			bool returns = terminal_keeps_return(t, p);
			if (!append_add(t, returns ? "\r\n" : "\n", returns ? 2 : 1, 1))
				break;
			tail->carriage = false;
			p++;
			continue;
		}

		size_t n = t->scan->text(p, (size_t)(end - p), !is_newline_plain(t), &newlines);
		if (n && tail->carriage) {
			append_leave(t, true);
			break;
		}
		if (n && !append_add(t, p, n, newlines))
			break;
		p += n;
		if (p == end)
			break;

		if (*p == '\x1B') {
			n = colour(p, end);
			if (!n || (tail->carriage && p[n - 1] == 'K')) {
				parser_step(&t->parser, 0x1B);
				tail->apart = true;
				return p + 1;
			}
			tail->apart = true;
			tail->broken = true;
			p += n;
			if (!tail->carriage)
				p = take_runs(t, p, end);
		} else if (*p == '\r' && !tail->carriage && p + 1 < end && p[1] == '\n') {
			const char *q = take_runs(t, p, end);
			/* There was no room for the text. */
			if (q == p)
				control(t, *q++);
			p = q;
		} else {
			if (!control(t, *p))
				break;
			p++;
		}
	}
	return p;
}
