// The append gear: while text only comes at the end, it is handed on without
// being looked at closely. No cells are touched.
//
// The screen's last rows can still change, so they are held back: as bytes in
// the tail, below the rows that were in the grid before. When something comes
// that only the grid can do, the tail is replayed into it.

#include <string.h>

#include "supervisor/base/utf8.h"
#include "supervisor/terminal/internal.h"
#include "supervisor/terminal/width.h"

/* Runs from here on are handed on from where they are instead of being copied
   to the tail first. */
#define DIRECT 4096

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

static void reset(struct tail *tail)
{
	tail->len = 0;
	tail->newlines = 0;
	tail->carriage = false;
	tail->apart = false;
	tail->broken = false;
}

void append_enter(struct terminal *t)
{
	struct screen *s = t->screen;
	const struct row *row = screen_row(s, s->y);
	unsigned y;

	if (t->grid_only || !s->history || s->own_tabs || s->x || s->top ||
	    s->bottom + 1 != s->rows)
		return;
	if (!t->modes.wrap || t->modes.insert || t->modes.origin || t->protect)
		return;
	if (t->charsets.current != CHARSET_ASCII || t->partial_len)
		return;
	/* DECRC to a place below would need to know how many rows went by. */
	if (s->saved.y > s->base + s->y)
		return;
	if (!row->begun || row->wrapped || !row_is_blank(row))
		return;
	for (y = s->low; y > s->y; y--) {
		if (screen_row(s, y)->begun || !row_is_blank(screen_row(s, y)))
			return;
		s->low = y - 1;
	}
	reset(&t->tail);
	t->appending = true;
}

void append_leave(struct terminal *t, bool cut)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	enum parser_state state = t->parser.state;
	char carry = t->partial[0];
	bool carried = t->partial_len > 0;

	if (carried || tail->carriage || tail->apart || state != PARSER_GROUND)
		cut = true;
	t->appending = false;
	t->partial_len = 0;
	/* The reason to leave may be a control inside a sequence. */
	t->parser.state = PARSER_GROUND;
	grid_replay(t, tail->data, tail->len);
	if (t->partial_len && cut) {
		grid_print_invalid(t, t->partial, t->partial_len);
		t->partial_len = 0;
	}
	if (carried) {
		t->partial[0] = carry;
		t->partial_len = 1;
	}
	t->parser.state = state;
	if (tail->carriage)
		s->x = 0;
	if (tail->carriage || tail->broken)
		t->width = 0;
	reset(tail);
}

/* The column after text that begins in column x, as printing it would lead to. */
static unsigned end_column(const struct screen *s, unsigned x, const char *data, size_t len)
{
	unsigned last = 0;
	size_t n;

	for (; len; data += n, len -= n) {
		unsigned width = 1;
		uint32_t cp;

		n = utf8_decode(data, len, &cp);
		if (cp == '\t') {
			unsigned next = (x / TAB_WIDTH + 1) * TAB_WIDTH;

			if (x < s->cols)
				x = next < s->cols ? next : s->cols - 1;
			last = 0;
			continue;
		}
		if (cp != UTF8_REPLACEMENT)
			width = width_of(cp);
		if (cp == BYTE_ORDER_MARK || (width == 0 && x > 0 && (last || x >= s->cols)))
			continue;
		last = width;
		if (x + width > s->cols)
			x = 0;
		x += width ? width : 1;
	}
	return x;
}

/* What is left of the row that the last line in `data` ends with; the line's
   beginning may be in `before`, which ends without newline. */
static unsigned blank_columns(const struct screen *s, const char *before, size_t before_len,
			      const char *data, size_t len)
{
	const char *line, *p;
	unsigned x = 0;

	len--;
	p = memrchr(data, '\n', len);
	line = p ? p + 1 : data;
	if (!p && before_len) {
		p = memrchr(before, '\n', before_len);
		p = p ? p + 1 : before;
		x = end_column(s, 0, p, before_len - (size_t)(p - before));
	}
	return s->cols - end_column(s, x, line, len - (size_t)(line - data));
}

/* All rows above the tail have scrolled off. */
static void flush_rows(struct terminal *t)
{
	struct screen *s = t->screen;

	while (s->y > 0) {
		screen_scroll(s, false);
		s->y--;
	}
}

/* The first `len` bytes of the tail, whole rows with so many newlines, have
   scrolled off with what is above them. */
static void flush_tail(struct terminal *t, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;

	flush_rows(t);
	emitter_row(&t->emitter, false, false);
	emitter_rows(&t->emitter, tail->data, len, newlines);
	emitter_rows_end(&t->emitter, blank_columns(t->screen, NULL, 0, tail->data, len));
	memmove(tail->data, tail->data + len, tail->len - len);
	tail->len -= len;
	tail->newlines -= newlines;
	t->screen->base += newlines;
}

/* Where the last `count` lines that end in `data` begin; there are more. */
static size_t last_lines(const char *data, size_t len, size_t count)
{
	const char *p = data + len;

	for (;;) {
		p = memrchr(data, '\n', (size_t)(p - data));
		if (count-- == 0)
			return (size_t)(p - data) + 1;
	}
}

void append_trim(struct terminal *t)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	size_t keep = s->rows - 1;

	if (tail->newlines > keep) {
		flush_tail(t, last_lines(tail->data, tail->len, keep), tail->newlines - keep);
		return;
	}
	while (s->y > 0 && s->y + tail->newlines > keep) {
		screen_scroll(s, false);
		s->y--;
	}
}

/* Text that is more than the screen holds. The last lines go to the tail, the
   others out at once. Returns false if those are too long for the tail. */
static bool add_direct(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;
	size_t keep = t->screen->rows - 1;
	size_t gone = last_lines(data, len, keep);

	if (len - gone > tail->cap)
		return false;
	flush_rows(t);
	emitter_row(&t->emitter, false, false);
	emitter_rows(&t->emitter, tail->data, tail->len, tail->newlines);
	emitter_rows(&t->emitter, data, gone, newlines - keep);
	emitter_rows_end(&t->emitter, blank_columns(t->screen, tail->data, tail->len, data, gone));
	t->screen->base += tail->newlines + newlines - keep;
	reset(tail);
	memcpy(tail->data, data + gone, len - gone);
	tail->len = len - gone;
	tail->newlines = keep;
	return true;
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Whether text that comes after something else is not what it would be without:
   it begins with a byte that could complete the character before, or with a mark
   that does not join it (or may: its first character is cut). */
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
	return width_of(cp) == 0;
}

/* Takes text; false if it is for the grid gear, which is on then. */
static bool add(struct terminal *t, const char *data, size_t len, size_t newlines)
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
	if (len >= DIRECT && newlines >= t->screen->rows && add_direct(t, data, len, newlines))
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

static bool is_c1(char c)
{
	return (unsigned char)c >= 0x80 && (unsigned char)c < 0xA0;
}

/* How many bytes of text there are at p: as scan() says, but over 0xC2 bytes
   that begin no control. */
static size_t text_length(const struct terminal *t, const char *p, const char *end,
			  size_t *newlines)
{
	bool line = !is_newline_plain(t);
	size_t n = 0;

	for (;;) {
		n += t->scan->text(p + n, (size_t)(end - p) - n, line, newlines);
		if (end - p - (ptrdiff_t)n < 2 || p[n] != '\xC2' || is_c1(p[n + 1]))
			return n;
		n++;
	}
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
		size_t n;

		if (room < DIRECT + SCAN_SLACK + 1) {
			append_trim(t);
			room = tail->cap - tail->len;
			if (room < DIRECT + SCAN_SLACK + 1)
				break;
		}
		if (limit > DIRECT)
			limit = DIRECT;
		n = t->scan->copy(tail->data + tail->len, p, limit, line, &newlines);
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

/* A control character (not tab; a newline only if it does not imply CR). Returns
   false if it is for the grid gear, which is on then. */
static bool control(struct terminal *t, char c)
{
	struct tail *tail = &t->tail;

	tail->apart = true;
	switch (c) {
	case '\r': tail->carriage = !at_line_start(t); return true;
	case '\a': tail->broken = true; return true;
	case '\x7F': t->lossy = true; return true;
	case '\v':
	case '\f':
		if (!at_line_start(t) || tail->carriage)
			break;
		t->lossy = true;
		return add(t, "\n", 1, 1);
	case '\n':
		if (!at_line_start(t))
			break;
		return add(t, "\n", 1, 1);
	case '\b':
	case 0x0E:
	case 0x0F: break;
	default:
		tail->broken = true;
		t->lossy = true;
		return true;
	}
	append_leave(t, true);
	return false;
}

const char *append_feed(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;

	while (p < end && t->appending && t->parser.state == PARSER_GROUND) {
		size_t newlines = 0;
		size_t n;

		if (t->partial_len) {
			/* 0xC2, which only a C1 control makes special. */
			if (tail->carriage) {
				append_leave(t, true);
				break;
			}
			if (is_c1(*p)) {
				tail->apart = true;
				return terminal_resume(t, p, end);
			}
			t->partial_len = 0;
			if (!add(t, "\xC2", 1, 0)) {
				t->partial[0] = '\xC2';
				t->partial_len = 1;
				break;
			}
		}

		if (tail->carriage && *p == '\n') {
			if (!add(t, p, 1, 1))
				break;
			tail->carriage = false;
			p++;
			continue;
		}

		n = text_length(t, p, end, &newlines);
		if (n && tail->carriage) {
			append_leave(t, true);
			break;
		}
		if (n && !add(t, p, n, newlines))
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

			/* There was no room. */
			if (q == p)
				control(t, *q++);
			p = q;
		} else if (*p == '\xC2') {
			t->partial[0] = *p++;
			t->partial_len = 1;
		} else {
			if (!control(t, *p))
				break;
			p++;
		}
	}
	return p;
}

void append_emit(const struct terminal *t, struct emitter *e)
{
	const struct screen *s = t->normal;
	const struct tail *tail = &t->tail;
	unsigned y;

	for (y = 0; y < s->y; y++)
		row_emit(screen_row(s, y), s->cols, &s->clusters, e);
	emitter_row(e, false, false);
	if (tail->len)
		emitter_rows(e, tail->data, tail->len, tail->newlines);
	if (t->partial_len && t->parser.state == PARSER_GROUND)
		emitter_text(e, t->partial, t->partial_len);
}
