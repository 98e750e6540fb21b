// The append gear: text that is only added at the end is emitted without passing through cells.
//
// The rows on the screen can still change, so their bytes are held back in the tail.

#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

#define SOME_EMOJI 0x1F600

/* The tail follows the rows that are already in the grid. Lines that have scrolled off the screen
   are emitted, many at a time. When the gear ends, the remaining bytes are replayed into the
   grid. */

static void emitter_rows(struct emitter *e, const char *data, size_t len, size_t newlines)
{
	size_t trailing = 0;
	while (trailing < len && data[len - 1 - trailing] == '\n')
		trailing++;
	if (trailing < len) {
		emitter_text(e, data, len - trailing);
		e->newlines += newlines - trailing;
	}
	if (trailing) {
		e->owed += trailing;
		e->pad = 0;
	}
}

static void tail_reset(struct tail *tail)
{
	*tail = (struct tail){.data = tail->data, .cap = tail->cap};
}

void append_enter(struct terminal *t)
{
	struct screen *s = t->screen;
	const struct row *row = s->lines[s->y];
	/* This is tested first, since it usually decides for programs that redraw lines. */
	for (; s->low > s->y; s->low--) {
		if (s->lines[s->low]->begun || !row_is_blank(s->lines[s->low]))
			return;
	}
	if (t->options.styles || t->options.cells || !s->emitter || s->own_tabs || s->x || s->top ||
	    s->bottom + 1 != s->rows)
		return;
	if (!t->modes.wrap || t->modes.insert || t->modes.origin || t->style)
		return;
	if (t->charsets.current != CHARSET_ASCII || t->partial_len)
		return;
	/* If the saved cursor is further down, DECRC would need the number of rows, which the gear
	   does not count. */
	if (s->saved.y > s->base + s->y)
		return;
	if (!row->begun || row->wrapped || !row_is_blank(row))
		return;
	tail_reset(&t->tail);
	t->appending = true;
}

/* Returns the column where a line's text would end if it were printed from column x on. Adds to
 *wraps how many times it would wrap. */
static unsigned tail_lay_out(const struct terminal *t, unsigned x, const char *data, size_t len,
			     size_t *wraps)
{
	const struct screen *s = t->screen;
	uint32_t first = 0, part = 0;
	unsigned last = 0;
	size_t n;
	for (; len; data += n, len -= n) {
		unsigned width = 1;
		uint32_t cp;
		n = t->scan->ascii(data, len);
		if (n) {
			/* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a screen has at least two
			   columns */
			*wraps += (x + n - 1) / s->cols;
			x = (unsigned)((x + n - 1) % s->cols) + 1;
			last = 1;
			first = part = (unsigned char)data[n - 1];
			continue;
		}
		n = utf8_decode(data, len, &cp);
		if (cp == '\t') {
			unsigned next = (x / TAB_WIDTH + 1) * TAB_WIDTH;
			if (x < s->cols)
				x = next < s->cols ? next : s->cols - 1;
			last = 0;
			continue;
		}
		if (cp != UTF8_REPLACEMENT)
			width = utf8_width(cp);
		if (cp == BYTE_ORDER_MARK || cp == '\r')
			continue;
		if (x > 0 &&
		    (width == 0 ? last || x >= s->cols : last && utf8_joins(first, part, cp))) {
			if (last == 1 && x < s->cols && utf8_width_joined(first, part, cp) == 2) {
				last = 2;
				x++;
			}
			part = cp;
			continue;
		}
		last = width;
		first = part = cp;
		if (x + width > s->cols) {
			x = 0;
			++*wraps;
		}
		x += width ? width : 1;
	}
	return x;
}

/* Emits what has scrolled off: all rows above the tail, the first `before` bytes of the tail, and
   `data`. */
static void scroll_off(struct terminal *t, size_t before, size_t before_newlines, const char *data,
		       size_t len, size_t newlines)
{
	struct emitter *e = &t->emitter;
	struct screen *s = t->screen;
	const char *tail = t->tail.data;
	/* Finds the column where the last line of `data` ends. The line may begin in the tail. */
	size_t wraps = 0;
	unsigned x = 0;
	const char *p = memrchr(data, '\n', len - 1), *line = p ? p + 1 : data;
	if (!p && before) {
		p = memrchr(tail, '\n', before);
		p = p ? p + 1 : tail;
		x = tail_lay_out(t, 0, p, before - (size_t)(p - tail), &wraps);
	}
	x = tail_lay_out(t, x, line, len - 1 - (size_t)(line - data), &wraps);
	unsigned blanks = s->cols - x;
	for (; s->y > 0; s->y--)
		screen_scroll(s, false);
	emitter_row(e, false, false);
	emitter_rows(e, tail, before, before_newlines);
	emitter_rows(e, data, len, newlines);
	/* The end of the last row is undecided: see emitter_row(). */
	e->owed--;
	e->open = true;
	e->pad = blanks;
	e->gap = blanks > 0;
	s->base += before_newlines + newlines;
}

/* Finds the line that is at the top of the screen after `data`, the last text written. Stores the
   line's offset in *start, and how many newlines follow it in *kept. Returns false if the line may
   begin before `data`. */
static bool find_screen(const struct terminal *t, const char *data, size_t len, size_t *start,
			size_t *kept)
{
	size_t missing = t->screen->rows;
	const char *end = data + len;
	for (*kept = 0;; ++*kept) {
		const char *p = memrchr(data, '\n', (size_t)(end - data));
		size_t rows = 1;
		if (!p)
			return false;
		tail_lay_out(t, 0, p + 1, (size_t)(end - p) - 1, &rows);
		if (rows >= missing) {
			*start = (size_t)(p - data) + 1;
			return true;
		}
		missing -= rows;
		end = p;
	}
}

/* Emits the lines of the tail that have scrolled off. Returns where the remaining ones begin. */
static size_t emit_tail(struct terminal *t)
{
	struct tail *tail = &t->tail;
	size_t start, kept;
	if ((tail->newlines < t->screen->rows && tail->len <= tail->cap / 2) ||
	    !find_screen(t, tail->data, tail->len, &start, &kept))
		return 0;
	scroll_off(t, 0, 0, tail->data, start, tail->newlines - kept);
	tail->newlines = kept;
	return start;
}

void append_leave(struct terminal *t, bool cut)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	enum parser_state state = t->parser.state;
	if (tail->carriage || tail->apart || state != PARSER_GROUND)
		cut = true;
	t->appending = false;
	size_t start = emit_tail(t);
	/* The gear may end inside an escape sequence that contains a control. */
	t->parser.state = PARSER_GROUND;
	grid_feed(t, tail->data + start, tail->data + tail->len, true);
	if (t->partial_len && cut) {
		grid_print_invalid(t, t->partial, t->partial_len);
		t->partial_len = 0;
	}
	t->parser.state = state;
	if (tail->redrawn)
		row_touch(s->lines[s->y]);
	if (tail->carriage)
		s->x = 0;
	if (tail->carriage || tail->broken)
		t->width = 0;
	tail_reset(tail);
}

void append_trim(struct terminal *t, size_t most)
{
	struct tail *tail = &t->tail;
	struct screen *s = t->screen;
	if (tail->len > most) {
		size_t start = emit_tail(t);
		tail->len -= start;
		if (start)
			memmove(tail->data, tail->data + start, tail->len);
	}
	while (s->y > 0 && s->y + tail->newlines >= s->rows) {
		screen_scroll(s, false);
		s->y--;
	}
}

/* Takes more text than the screen holds: emits everything above the last screenful, which goes to
   the tail. Returns false if that is too long for the tail. */
static bool append_direct(struct terminal *t, const char *data, size_t len, size_t newlines)
{
	struct tail *tail = &t->tail;
	size_t gone, kept;
	if (!find_screen(t, data, len, &gone, &kept) || len - gone > tail->cap)
		return false;
	scroll_off(t, tail->len, tail->newlines, data, gone, newlines - kept);
	tail_reset(tail);
	memcpy(tail->data, data + gone, len - gone);
	tail->len = len - gone;
	tail->newlines = kept;
	return true;
}

void append_emit(const struct terminal *t, struct emitter *e)
{
	const struct screen *s = t->normal;
	const struct tail *tail = &t->tail;
	for (unsigned y = 0; y < s->y; y++)
		row_emit(s->lines[y], s->cols, &s->clusters, e);
	emitter_row(e, false, false);
	size_t len = tail->len;
	while (tail->redrawn && len > 0 && tail->data[len - 1] == ' ')
		len--;
	if (len)
		emitter_rows(e, tail->data, len, tail->newlines);
}

/* Whether a newline without a CR moves to the first column, too. */
static bool is_newline_plain(const struct terminal *t)
{
	return t->options.onlcr || t->modes.newline;
}

/* Whether text that follows a control or a sequence needs the grid. It does if its first byte could
   complete the last character, or if it begins with a mark, an emoji part or a cut character, which
   must not join the last character. */
static bool begins_apart(const struct tail *tail, const char *data, size_t len)
{
	uint32_t cp;
	size_t cut;
	if (((unsigned char)*data & 0xC0) == 0x80)
		return true;
	/* U+0300 is the first mark. */
	if (!tail->broken || (unsigned char)*data < 0xCC)
		return false;
	utf8_decode(data, len, &cp);
	if (cp == UTF8_REPLACEMENT)
		return utf8_incomplete(data, len < 4 ? len : 4, &cut);
	bool joining = tail->len >= 3 && memcmp(tail->data + tail->len - 3, "\xE2\x80\x8D", 3) == 0;
	return utf8_width(cp) == 0 || utf8_joins(SOME_EMOJI, joining ? ZWJ : 0, cp);
}

/* Takes text. Returns false if the append gear has ended, so that the grid gear has to take it. */
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
	/* Long text is emitted directly, without a copy in the tail. */
	if (len >= tail->cap / 2 && newlines && append_direct(t, data, len, newlines))
		return true;
	if (len > tail->cap - tail->len) {
		append_trim(t, 0);
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

/* Returns the length of an SGR at `at` in the window `p`, or of an EL without parameter, which does
   nothing at the end of the text. `m` has the classes of the window's bytes. Returns 0 for another
   or an incomplete sequence. */
static size_t colour_in_window(const char *p, size_t at, const struct marks *m)
{
	if (at + 3 > MARKS || p[at + 1] != '[')
		return 0;
	uint64_t others = ~m->digit >> (at + 2);
	size_t len = others ? 2 + (size_t)__builtin_ctzll(others) : MARKS;
	if (at + len >= MARKS || !(p[at + len] == 'm' || (len == 2 && p[at + len] == 'K')))
		return 0;
	return len + 1;
}

/* Text is copied in pieces of this size, so fewer than PIECE bytes past its end are read and
   written, too. */
#define PIECE 32

/* Takes text, colours and CR LF from the MARKS bytes at p. Returns where it stopped: after these
   bytes, at something else, or at an incomplete sequence. */
static size_t take_window(struct terminal *t, const char *p, const char *end, struct marks m)
{
	struct tail *tail = &t->tail;
	uint64_t stops = is_newline_plain(t) ? m.control : m.control | m.newline;
	char *to = tail->data + tail->len;
	size_t at = 0;
	while (at < MARKS) {
		size_t n = stops ? (size_t)__builtin_ctzll(stops) : MARKS;
		if (n > at) {
			if (tail->apart && (unsigned char)p[at] >= 0x80 &&
			    begins_apart(tail, p + at, (size_t)(end - p) - at))
				break;
			for (size_t i = at; i < n; i += PIECE)
				memcpy(to + (i - at), p + i, PIECE);
			to += n - at;
			tail->apart = tail->broken = false;
			at = n;
		}
		size_t len = 0;
		if (n < MARKS && p[n] == '\x1B') {
			len = colour_in_window(p, n, &m);
			tail->apart |= len > 0;
			tail->broken |= len > 0;
		} else if (n + 1 < MARKS && p[n] == '\r' && p[n + 1] == '\n') {
			len = 2;
			if (t->options.returns)
				*to++ = '\r';
			*to++ = '\n';
			tail->apart = tail->broken = false;
		}
		if (len == 0)
			break;
		at += len;
		stops = at < MARKS ? stops & ~UINT64_C(0) << at : 0;
	}
	for (uint64_t rest = m.newline & ~(at < MARKS ? ~UINT64_C(0) << at : 0); rest;
	     rest &= rest - 1)
		tail->newlines++;
	tail->len = (size_t)(to - tail->data);
	return at;
}

/* Takes short runs of text with colours and CR LF between them, in windows of MARKS bytes. Stops at
   anything else, where a long run begins, and near `end`. */
static const char *take_runs(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;
	while (end - p >= MARKS + PIECE) {
		if (tail->cap - tail->len < MARKS + PIECE) {
			append_trim(t, 0);
			if (tail->cap - tail->len < MARKS + PIECE)
				break;
		}
		struct marks m = t->scan->marks(p);
		size_t n = take_window(t, p, end, m);
		p += n;
		if (n == 0 || (n == MARKS && !m.control))
			break;
	}
	return p;
}

/* Called after a CR: writes the frames of a progress bar, each of which ends with a CR, over the
   last line of the tail. Stops at anything else, and before a line that the owner may want to
   keep. */
static const char *take_frames(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;
	const char *newline = memrchr(tail->data, '\n', tail->len);
	char *line = newline ? tail->data + (newline + 1 - tail->data) : tail->data;
	size_t cols = t->screen->cols, len = tail->len - (size_t)(line - tail->data);
	if (len == 0 || len > cols || tail->cap - tail->len < cols ||
	    (!tail->redrawn && t->scan->ascii(line, len) < len))
		return p;
	while (p < end) {
		size_t most = (size_t)(end - p) < cols ? (size_t)(end - p) : cols;
		size_t n = t->scan->ascii(p, most);
		bool stays =
			t->overwritten.watched && *p != *line &&
			(cell_is_letter((unsigned char)*p) || cell_is_letter((unsigned char)*line));
		if (n == 0 || p + n == end || p[n] != '\r' || stays)
			break;
		memcpy(line, p, n);
		len = n > len ? n : len;
		tail->redrawn = t->lossy = true;
		p += n + 1;
	}
	tail->len = (size_t)(line - tail->data) + len;
	return p;
}

/* Takes a control character: not a tab, and a newline only if it does not imply a CR. Returns false
   if the append gear has ended, so that the grid gear has to take the character. */
static bool control(struct terminal *t, char c)
{
	struct tail *tail = &t->tail;
	const bool at_start = !tail->len || tail->data[tail->len - 1] == '\n';
	const bool newline = c == '\n' && at_start;
	if (c == '\r' || c == '\a' || newline)
		tail->apart = true;
	else
		append_leave(t, true);
	if (c == '\r')
		tail->carriage = t->options.returns || !at_start;
	tail->broken |= c == '\a';
	return newline ? append_add(t, "\n", 1, 1) : t->appending;
}

const char *append_feed(struct terminal *t, const char *p, const char *end)
{
	struct tail *tail = &t->tail;
	while (p < end && t->appending && t->parser.state == PARSER_GROUND) {
		size_t newlines = 0;
		if (tail->carriage && *p == '\n') {
			if (tail->redrawn) {
				append_leave(t, true);
				break;
			}
			bool returns = terminal_keeps_return(t, p);
			if (!append_add(t, returns ? "\r\n" : "\n", returns ? 2 : 1, 1))
				break;
			tail->carriage = false;
			p++;
			continue;
		}

		size_t n = t->scan->text(p, (size_t)(end - p), !is_newline_plain(t), &newlines);
		if (n && tail->carriage) {
			const char *q = take_frames(t, p, end);
			if (q == p) {
				append_leave(t, true);
				break;
			}
			p = q;
			continue;
		}
		if (n && !append_add(t, p, n, newlines))
			break;
		p += n;
		if (p == end)
			break;

		const char *start = p;
		bool more = *p == '\r' && end - p > 1 && p[1] == '\n';
		if (*p == '\x1B') {
			p = terminal_escape(t, p, end);
			more = t->appending && t->parser.state == PARSER_GROUND;
		}
		/* One colour or CR LF is usually followed by more. */
		if (more && !tail->carriage)
			p = take_runs(t, p, end);
		if (p == start)
			p += control(t, *p);
	}
	return p;
}
