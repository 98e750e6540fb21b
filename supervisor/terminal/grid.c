// The grid gear: text into cells.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

/* The first combining mark: characters before it have one column and join nothing. */
#define FIRST_MARK 0x300

void grid_line_feed(struct terminal *t)
{
	struct screen *s = t->screen;
	/* A newline below text that a program put further down by moving the
	   cursor is a line of the text; one in the empty part of the screen is not. */
	bool begun = s->y == 0 || screen_row(s, s->y)->begun || !row_is_blank(screen_row(s, s->y));
	if (s->y == s->bottom)
		screen_scroll(s, false);
	else if (s->y + 1 < s->rows)
		screen_set_wrapped(s, ++s->y, false);
	if (begun)
		screen_begin(s, s->y);
	if (s->x >= s->cols)
		s->x = s->cols - 1;
}

/* The last column was written and more comes: on to the next row. */
static void soft_wrap(struct terminal *t)
{
	struct screen *s = t->screen;
	s->x = 0;
	screen_row(s, s->y)->returned = false;
	if (s->y == s->bottom) {
		screen_scroll(s, true);
		return;
	}
	if (s->y + 1 < s->rows)
		s->y++;
	screen_set_wrapped(s, s->y, true);
}

/* Shorter lines say nothing. */
#define TELLING_COLUMNS 8

/* A program that has drawn so often without a line that stays will not have one. */
#define OVERWRITTEN_MOST 65536

/* Whether the owner wants the line of the cursor's row to stay in the text. Never in the rows of a
   program that moves the cursor up: it may be drawing several lines. */
static bool stays(struct terminal *t, const struct row *row)
{
	const struct screen *s = t->screen;
	struct row now = *row;
	struct buffer line = BUFFER_INIT;
	struct emitter e = {.write = emitter_collect, .ctx = &line};
	bool wanted = false;
	/* How much of it is new since a line stayed: of a longer one the end still stands. */
	const struct buffer *stayed = &t->overwritten.stayed;
	bool same_size = stayed->len == now.used * sizeof(*row->cells);
	while (same_size && now.used > 0 &&
	       memcmp(row->cells + now.used - 1,
		      stayed->data + (now.used - 1) * sizeof(*row->cells),
		      sizeof(*row->cells)) == 0)
		now.used--;
	if (now.used >= TELLING_COLUMNS && row_has_ink(&now)) {
		row_emit_cells(&now, s->cols, &s->clusters, &e);
		wanted = buffer_check(&line) == 0 &&
			 t->events.stays(t->events.ctx, line.data, line.len);
		t->overwritten.looks++;
	}
	buffer_release(&line);
	return wanted;
}

static __attribute__((noinline, cold)) void note_overwritten(struct terminal *t)
{
	struct overwritten *o = &t->overwritten;
	const struct screen *s = t->screen;
	const struct row *row = screen_row(s, s->y);
	if (t->modes.insert || s != t->normal || row->wrapped || row->used < TELLING_COLUMNS ||
	    o->looks == OVERWRITTEN_MOST || !stays(t, row))
		return;
	o->looks = 0;
	buffer_clear(&o->stayed);
	buffer_try_append(&o->stayed, (const char *)row->cells, row->used * sizeof(*row->cells));
	terminal_keep_row(t);
}

static bool is_letter_cell(uint32_t cell)
{
	return (cell | 32) >= 'a' && (cell | 32) <= 'z';
}

/* Characters of which this is the first are about to be written. The frames of what reports its
   progress begin alike, or with numbers and signs. */
static inline void begin_text(struct terminal *t, uint32_t first)
{
	const struct screen *s = t->screen;
	if (!t->overwritten.watched || s->x > 0)
		return;
	uint32_t old = screen_row(s, s->y)->cells[0];
	if (old && old != first && (is_letter_cell(old) || is_letter_cell(first)))
		note_overwritten(t);
}

static void print_ascii(struct terminal *t, const char *data, size_t len)
{
	struct screen *s = t->screen;
	begin_text(t, (unsigned char)*data);
	while (len > 0) {
		if (s->x >= s->cols) {
			if (t->modes.wrap) {
				soft_wrap(t);
			} else {
				/* Each one overwrites the last column. */
				s->x = s->cols - 1;
				data += len - 1;
				len = 1;
			}
		}
		size_t n = len < s->cols - s->x ? len : s->cols - s->x;
		if (screen_put_ascii(s, data, (unsigned)n))
			t->lossy = true;
		data += n;
		len -= n;
	}
	t->width = 1;
}

/* Where the character before the cursor is. */
static unsigned column_before(const struct screen *s)
{
	unsigned x = s->x - 1;
	return x > 0 && cell_width(screen_row(s, s->y)->cells[x]) == 0 ? x - 1 : x;
}

static uint32_t parts(const struct screen *s, unsigned x, uint32_t *last)
{
	uint32_t next;
	uint32_t first = cluster_first(&s->clusters, screen_row(s, s->y)->cells[x], &next);
	*last = first;
	while (next)
		*last = cluster_next(&s->clusters, &next);
	return first;
}

/* A mark, or another part of the character before it. */
static void print_mark(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	struct row *row = screen_row(s, s->y);
	unsigned x = column_before(s);
	uint32_t last, first = parts(s, x, &last);
	if (!screen_put_mark(s, x, cp, bytes, len))
		t->lossy = true;
	if (t->width != 1 || s->x >= s->cols || utf8_width_joined(first, last, cp) < 2)
		return;
	if (t->modes.insert && row_insert(row, s->cols, s->x, 1))
		t->lossy = true;
	if (screen_widen(s))
		t->lossy = true;
	t->width = 2;
}

/* Whether a character is a part of the one before it. */
__attribute__((noinline)) static bool joins(const struct terminal *t, uint32_t cp, unsigned width)
{
	const struct screen *s = t->screen;
	uint32_t last;
	/* At the end of a full row xterm.js loses a mark that stands alone. */
	if (width == 0)
		return s->x > 0 && (t->width || s->x >= s->cols);
	if (!t->width || s->x == 0)
		return false;
	unsigned x = column_before(s);
	if (!utf8_is_skin_tone(cp) && !(screen_row(s, s->y)->cells[x] & CELL_CLUSTER))
		return false;
	uint32_t first = parts(s, x, &last);
	return utf8_joins(first, last, cp);
}

void grid_print(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	unsigned width = 1;
	if (cp >= FIRST_MARK) {
		if (cp == BYTE_ORDER_MARK) {
			screen_put_bytes(s, bytes, len);
			return;
		}
		begin_text(t, cp);
		width = cp >= CELL_INVALID ? 1 : utf8_width(cp);
		if ((width == 0 || utf8_may_join(cp)) && joins(t, cp, width)) {
			print_mark(t, cp, bytes, len);
			return;
		}
	}
	t->width = width;

	if (s->x + width > s->cols) {
		if (t->modes.wrap) {
			/* A wide character leaves a gap at the end of the row. */
			if (s->x < s->cols &&
			    row_erase(screen_row(s, s->y), s->cols, s->x, s->cols)) {
				screen_changed(s, s->y);
				t->lossy = true;
			}
			soft_wrap(t);
		} else {
			s->x = s->cols - 1;
			if (width == 2) {
				t->lossy = true;
				return;
			}
		}
	}

	if (t->modes.insert && width && row_insert(screen_row(s, s->y), s->cols, s->x, width)) {
		screen_changed(s, s->y);
		t->lossy = true;
	}

	uint32_t cell = cp | t->style | (t->protect ? CELL_PROTECTED : 0);
	if (screen_put(s, cell, width, bytes, len))
		t->lossy = true;
}

void grid_print_invalid(struct terminal *t, const char *bytes, unsigned len)
{
	/* One column, as for the replacement character that xterm shows. */
	grid_print(t, CELL_INVALID + (unsigned char)bytes[0], bytes, 1);
	for (unsigned i = 1; i < len; i++)
		print_mark(t, CELL_INVALID + (unsigned char)bytes[i], bytes + i, 1);
}

static void grid_print_text(struct terminal *t, const char *data, size_t len)
{
	if (!t->modes.insert && !t->protect && !t->style && t->charsets.current == CHARSET_ASCII) {
		print_ascii(t, data, len);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		char bytes[4];
		uint32_t cp = charset_map(t->charsets.current, (unsigned char)data[i]);
		grid_print(t, cp, bytes, (unsigned)utf8_put(cp, bytes));
	}
}

void grid_repeat(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t text[CLUSTER_MARKS + 1];
	uint32_t count = parser_param(&t->parser, 0, 1);
	uint32_t next;
	unsigned len = 0, i;
	if (!t->width || s->x < t->width)
		return;
	uint32_t cell = screen_row(s, s->y)->cells[s->x - t->width];
	if (!cell_has_text(cell))
		return;
	text[len++] = cluster_first(&s->clusters, cell, &next);
	while (next)
		text[len++] = cluster_next(&s->clusters, &next);

	/* More repetitions would only push equal rows out of the screen. */
	if (count > s->cols * s->rows)
		count = s->cols * s->rows;
	if (len == 1 && text[0] < 0x80) {
		char run[256];
		memset(run, (int)text[0], sizeof(run));
		for (; count > 0; count -= i) {
			i = count < sizeof(run) ? count : (unsigned)sizeof(run);
			grid_print_text(t, run, i);
		}
		return;
	}
	while (count-- > 0) {
		for (i = 0; i < len; i++) {
			char bytes[4];
			if (text[i] >= CELL_INVALID) {
				bytes[0] = (char)(text[i] - CELL_INVALID);
				grid_print(t, text[i], bytes, 1);
			} else {
				grid_print(t, text[i], bytes, (unsigned)utf8_put(text[i], bytes));
			}
		}
	}
}

/* Decodes a valid character of two or three bytes that takes one column and is no
   control. Returns its length, or 0 for anything else. */
static unsigned decode_narrow(const char *data, const char *end, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)data;
	if (p[0] >= 0xC3 && p[0] <= 0xDF && end - data >= 2 && (p[1] & 0xC0) == 0x80) {
		*cp = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
		return utf8_width(*cp) == 1 ? 2 : 0;
	}
	/* E0 and ED have second bytes that are not valid, EF has the BOM. */
	if (p[0] >= 0xE1 && p[0] <= 0xEE && p[0] != 0xED && end - data >= 3 &&
	    (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
		*cp = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
		return utf8_width(*cp) == 1 ? 3 : 0;
	}
	return 0;
}

/* Whether the next character may be a part of the one before the cursor. */
static bool is_joinable(const struct terminal *t)
{
	const struct screen *s = t->screen;
	return t->width && s->x > 0 &&
	       (screen_row(s, s->y)->cells[column_before(s)] & CELL_CLUSTER);
}

/* Characters beyond ASCII at p, or a part of one: a run of narrow ones, or a
   single one. Returns where they end. */
static const char *print_other(struct terminal *t, const char *p, const char *end)
{
	struct screen *s = t->screen;
	const char *q = p;
	unsigned n = 0;
	uint32_t cp;
	if (t->partial_len || t->modes.insert || t->protect || t->style || !t->modes.wrap ||
	    is_joinable(t) || !decode_narrow(p, end, &cp))
		return terminal_resume(t, p, end);

	if (cp >= FIRST_MARK)
		begin_text(t, cp);
	if (s->x >= s->cols)
		soft_wrap(t);
	uint32_t *cells = screen_row(s, s->y)->cells + s->x;
	unsigned room = s->cols - s->x;
	while (n < room && q < end) {
		unsigned len = decode_narrow(q, end, &cp);
		if (!len)
			break;
		cells[n++] = cp;
		q += len;
	}
	if (screen_put_cells(s, n, p, (unsigned)(q - p)))
		t->lossy = true;
	t->width = 1;
	return q;
}

static void grid_show_nul(struct terminal *t)
{
	t->lossy = true;
	if (t->nul == TERMINAL_NUL_SYMBOL) {
		grid_print(t, NUL_SYMBOL, NUL_SYMBOL_BYTES, 3);
		return;
	}
	/* REP has nothing to repeat, as after any control. */
	t->width = 0;
	if (t->nul == TERMINAL_NUL_NEWLINE) {
		t->screen->x = 0;
		grid_line_feed(t);
		append_enter(t);
	}
}

const char *grid_feed(struct terminal *t, const char *p, const char *end)
{
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		if (c >= 0x80 || t->partial_len) {
			p = print_other(t, p, end);
		} else if (c >= 0x20 && c != 0x7F) {
			size_t n = t->scan->ascii(p, (size_t)(end - p));
			grid_print_text(t, p, n);
			p += n;
			continue;
		} else if (c == 0x1B) {
			size_t n = p + 1 < end && p[1] == '[' ? parser_quick(&t->parser, p + 2, end)
							      : 0;
			if (!n) {
				parser_step(&t->parser, c);
				return p + 1;
			}
			p += n + 2;
			if (p[-1] == 'm' && !t->parser.collect && !t->protect && !t->options.styles)
				t->width = 0; /* SGR */
			else
				dispatch_event(t, PARSER_CSI, (unsigned char)p[-1]);
		} else if (c == '\r') {
			/* As dispatch_control() does it: the most frequent one here. */
			t->screen->x = 0;
			t->width = 0;
			p++;
			continue;
		} else {
			if (c == '\n' && terminal_keeps_return(t, p))
				screen_row(t->screen, t->screen->y)->returned = true;
			p++;
			if (c == '\0')
				grid_show_nul(t);
			else if (c != 0x7F)
				dispatch_control(t, c);
			else
				t->lossy = true;
			if (c == '\n')
				append_enter(t);
		}
		if (t->parser.state != PARSER_GROUND || t->appending || t->stripping)
			break;
	}
	return p;
}

void grid_replay(struct terminal *t, const char *data, size_t len)
{
	const char *p = data;
	const char *end = data + len;
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		if (c >= 0x80 || t->partial_len) {
			p = print_other(t, p, end);
		} else if (c >= 0x20) {
			size_t n = t->scan->ascii(p, (size_t)(end - p));
			print_ascii(t, p, n);
			p += n;
		} else {
			t->width = 0;
			if (c == '\n') {
				t->screen->x = 0;
				grid_line_feed(t);
			} else if (c == '\r') {
				screen_row(t->screen, t->screen->y)->returned = true;
			} else {
				screen_tab(t->screen);
			}
			p++;
		}
	}
}

/* The window changed: every line is laid out anew for the new width, and what no
   longer fits scrolls off the top. The alternate screen is only cut or extended,
   since programs redraw it. */

static void print_cell(struct terminal *t, const struct screen *from, uint32_t cell)
{
	uint32_t next;
	uint32_t cp = cell_has_text(cell) ? cluster_first(&from->clusters, cell, &next) : ' ';
	char bytes[4];
	if (!cell_has_text(cell))
		next = 0;
	t->protect = (cell & CELL_PROTECTED) != 0;
	t->style = cell & CELL_STYLE;
	for (;;) {
		if (cp >= CELL_INVALID) {
			bytes[0] = (char)(cp - CELL_INVALID);
			grid_print(t, cp, bytes, 1);
		} else {
			grid_print(t, cp, bytes, (unsigned)utf8_put(cp, bytes));
		}
		if (!next)
			break;
		cp = cluster_next(&from->clusters, &next);
	}
}

/* A plain row's bytes. A character that is cut at their end stays cut. */
static void replay(struct terminal *t, const struct row *row)
{
	grid_replay(t, row->raw, row->raw_len);
	if (t->partial_len)
		grid_print_invalid(t, t->partial, t->partial_len);
	t->partial_len = 0;
}

/* The rows first..last are one line of text. Prints it to the screen that is
   shown. If the old cursor is in it, *x and *y get its new place. */
static void copy_line(struct terminal *t, const struct screen *from, unsigned first, unsigned last,
		      uint64_t *y, unsigned *x)
{
	struct screen *s = t->screen;
	bool plain = true;
	bool handed = true;
	uint64_t start = s->base + s->y;
	uint64_t row;
	unsigned column;
	for (unsigned i = first; i <= last; i++) {
		const struct row *old = screen_row(from, i);
		plain = plain && old->plain && !old->partial;
		handed = handed && old->handed;
		if (i == from->y && from->x < old->end)
			plain = false;
	}
	for (unsigned i = first; i <= last; i++) {
		const struct row *old = screen_row(from, i);
		unsigned end = i < last ? from->cols : old->used;
		t->width = 0;
		if (plain)
			replay(t, old);
		if (i < last && !cell_has_text(old->cells[end - 1]) &&
		    cell_width(screen_row(from, i + 1)->cells[0]) == 2)
			end--;
		for (column = 0; !plain && column < end; column++) {
			if (i == from->y && column == from->x) {
				*x = s->x;
				*y = s->base + s->y;
			}
			if (!cell_is_stub(old->cells[column]))
				print_cell(t, from, old->cells[column]);
		}
		if (i == from->y && (plain || from->x >= end)) {
			unsigned ahead = plain ? from->x - old->end : from->x - end;
			*x = s->x + ahead;
			*y = s->base + s->y;
		}
	}
	for (row = start < s->base ? s->base : start; row <= s->base + s->y; row++) {
		struct row *new = screen_row(s, (unsigned)(row - s->base));
		new->handed = handed;
		if (!plain && new->used)
			row_touch(new);
	}
}

static void copy_normal(struct terminal *t, const struct screen *from)
{
	struct screen *s = t->screen;
	unsigned depth = screen_depth(from);
	unsigned x = from->x;
	uint64_t y = s->base + from->y;
	unsigned last;
	if (depth <= from->y)
		depth = from->y + 1;
	for (unsigned first = 0; first < depth; first = last + 1) {
		last = first;
		while (last + 1 < depth && screen_row(from, last + 1)->wrapped)
			last++;
		if (first) {
			s->x = 0;
			grid_line_feed(t);
		}
		if (screen_row(from, first)->begun)
			screen_begin(s, s->y);
		else
			screen_row(s, s->y)->begun = false;
		if (!first)
			screen_row(s, 0)->wrapped = screen_row(from, 0)->wrapped;
		copy_line(t, from, first, last, &y, &x);
		screen_row(s, s->y)->returned = screen_row(from, last)->returned;
	}
	s->x = x < s->cols ? x : s->cols - 1;
	s->y = y < s->base ? 0 : (unsigned)(y - s->base);
	if (s->y >= s->rows)
		s->y = s->rows - 1;
}

static void copy_alternate(struct screen *to, const struct screen *from)
{
	unsigned rows = to->rows < from->rows ? to->rows : from->rows;
	for (unsigned y = 0; y < rows; y++) {
		const struct row *old = screen_row(from, y);
		struct row *new = screen_row(to, y);
		unsigned used = old->used < to->cols ? old->used : to->cols;
		memcpy(new->cells, old->cells, used * sizeof(*new->cells));
		new->used = used;
		new->wrapped = old->wrapped;
		if (used)
			row_touch(new);
		if (used && cell_width(new->cells[used - 1]) == 2)
			new->cells[used - 1] = 0;
	}
	to->x = from->x < to->cols ? from->x : to->cols - 1;
	to->y = from->y < to->rows ? from->y : to->rows - 1;
}

/* Copies everything that does not depend on the text. */
static void copy_state(struct screen *to, const struct screen *from)
{
	unsigned cols = to->cols < from->cols ? to->cols : from->cols;
	uint64_t saved = from->saved.y > from->base ? from->saved.y - from->base : 0;
	memcpy(to->tabs, from->tabs, cols * sizeof(*to->tabs));
	to->own_tabs = from->own_tabs;
	to->saved = from->saved;
	if (to->saved.x >= to->cols)
		to->saved.x = to->cols - 1;
	to->saved.y = to->base + (saved < to->rows ? saved : to->rows - 1);
}

int resize_screens(struct terminal *t, unsigned cols, unsigned rows)
{
	struct screen *normal = screen_new(cols, rows, &t->emitter);
	struct screen *alternate = t->alternate ? screen_new(cols, rows, NULL) : NULL;
	struct screen *old = t->normal;
	struct modes modes = t->modes;
	bool alternating = t->screen != t->normal;
	bool protect = t->protect;
	uint32_t style = t->style;
	bool lossy = t->lossy;
	enum parser_state state = t->parser.state;
	unsigned partial_len = t->partial_len;
	char partial[sizeof(t->partial)];
	memcpy(partial, t->partial, sizeof(partial));
	if (!normal || (t->alternate && !alternate))
		goto out;
	if (alternate) {
		if (cluster_copy(&alternate->clusters, &t->alternate->clusters) < 0)
			goto out;
		copy_alternate(alternate, t->alternate);
		copy_state(alternate, t->alternate);
		screen_free(t->alternate);
		t->alternate = alternate;
	}

	normal->base = old->base;
	t->normal = normal;
	t->screen = normal;
	t->modes = (struct modes){.wrap = true};
	t->parser.state = PARSER_GROUND;
	t->partial_len = 0;
	copy_normal(t, old);
	copy_state(normal, old);
	screen_free(old);
	t->modes = modes;
	t->protect = protect;
	t->style = style;
	t->lossy = lossy;
	t->parser.state = state;
	memcpy(t->partial, partial, sizeof(partial));
	t->partial_len = partial_len;
	t->width = 0;
	if (alternating)
		t->screen = t->alternate;
	return 0;

out:
	screen_free(normal);
	screen_free(alternate);
	return -1;
}
