// The grid gear: text into cells.

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <stdlib.h>
#include <string.h>

/* The first combining mark: characters before it have one column and join nothing. */
#define FIRST_MARK 0x300

/* Called when `raw` of the cursor's row is full because many of its characters take no column.
   Emits all rows above, and then the bytes of this row so far. */
static void emit_part(struct screen *s)
{
	struct row *row = s->lines[s->y];
	unsigned y;
	if (s->emitter) {
		for (y = 0; y < s->y; y++) {
			row_emit(s->lines[y], s->cols, &s->clusters, s->emitter);
			s->lines[y]->emitted = true;
		}
		row_emit(row, s->cols, &s->clusters, s->emitter);
	}
	row->partial = true;
	row->raw_len = 0;
}

/* Called before the cursor's row changes. Keeps the bytes in `raw` if they continue a plain row. */
static struct row *begin_put(struct screen *s, const char *bytes, unsigned len)
{
	struct row *row = s->lines[s->y];
	if (row->emitted)
		screen_changed(s, s->y);
	if (s->y > s->low)
		s->low = s->y;
	if (!row->plain || s->x != row->end) {
		row_touch(row);
		return row;
	}
	if (row->raw_len + len > row_raw_size(s->cols))
		emit_part(s);
	memcpy(row->raw + row->raw_len, bytes, len);
	row->raw_len += len;
	return row;
}

/* Called when the cells from..to of the row have been written: removes halves of wide characters
   beside them. Returns whether something was overwritten. */
static bool end_put(struct screen *s, struct row *row, unsigned from, unsigned to)
{
	bool overwritten = from < row->used;
	if (from && from <= row->used && cell_width(row->cells[from - 1]) == 2)
		row->cells[from - 1] = 0;
	if (to < row->used && cell_is_stub(row->cells[to]))
		row->cells[to] = 0;
	if (to > row->used)
		row->used = to;
	if (row->plain)
		row->end = to;
	s->x = to;
	return overwritten;
}

/* Drops multi-part characters that are no longer shown. Returns whether there may be room now. If
   all are still shown, later calls skip the search for a while, since it costs as much as writing
   that many characters. */
static bool compact(struct screen *s)
{
	struct cluster_pool *pool = &s->clusters, kept = {.cap = pool->cap, .limit = pool->limit};
	if (pool->limit - pool->len > CLUSTER_PARTS)
		return false;
	if (pool->rest > 0) {
		pool->rest--;
		return false;
	}
	kept.text = malloc(kept.cap * sizeof(*kept.text));
	if (!kept.text)
		return false;
	for (unsigned y = 0; y < s->rows; y++) {
		for (unsigned x = 0; x < s->lines[y]->used; x++) {
			uint32_t parts[CLUSTER_PARTS], *cell = &s->lines[y]->cells[x];
			if (!(*cell & CELL_CLUSTER))
				continue;
			unsigned count = cluster_parts(pool, *cell, parts);
			*cell = (*cell & ~CELL_TEXT) | kept.len;
			memcpy(kept.text + kept.len, parts, count * sizeof(*parts));
			kept.len += count;
			kept.text[kept.len++] = 0;
		}
	}
	if (pool->len - kept.len < pool->limit / 8)
		kept.rest = pool->limit;
	free(pool->text);
	*pool = kept;
	return true;
}

void grid_tab(struct screen *s)
{
	struct row *row = s->lines[s->y];
	/* In plain text a character follows a soft wrap, never a tab. */
	bool keep = row->plain && s->x == row->end && !(row->wrapped && s->x == 0);
	unsigned to = s->x < s->cols ? screen_next_tab(s) : s->x;
	if (keep && s->own_tabs && to != (s->x / TAB_WIDTH + 1) * TAB_WIDTH) {
		if (!row_is_blank(row))
			row_touch(row);
		keep = false;
	}
	if (keep) {
		begin_put(s, "\t", 1);
		row->end = to;
		if (row->uneven || (row->wrapped && s->cols % TAB_WIDTH) ||
		    to != (s->x / TAB_WIDTH + 1) * TAB_WIDTH) {
			row->bent = true;
			s->bent = true;
		}
	}
	s->x = to;
}

void grid_line_feed(struct terminal *t)
{
	struct screen *s = t->screen;
	/* A newline in a row with text begins a line of the text, even if the program reached that
	   row by moving the cursor. A newline in the empty part of the screen does not. */
	bool begun = s->y == 0 || s->lines[s->y]->begun || !row_is_blank(s->lines[s->y]);
	if (s->y == s->bottom)
		screen_scroll(s, false);
	else if (s->y + 1 < s->rows)
		screen_set_wrapped(s, ++s->y, false);
	if (begun)
		screen_begin(s, s->y);
	if (s->x >= s->cols)
		s->x = s->cols - 1;
}

/* Takes `removed` cells out and puts `inserted` blank ones in; the cells after them move. */
static bool row_edit(struct row *row, unsigned cols, unsigned at, unsigned removed,
		     unsigned inserted)
{
	uint32_t *cells = row->cells;
	if (at >= row->used)
		return false;
	row_touch(row);
	/* A row that is empty again is plain again. */
	if (at == 0 && removed >= row->used) {
		memset(cells, 0, row->used * sizeof(*cells));
		row->used = row->end = 0;
		row->plain = true;
		return true;
	}
	if (removed > cols - at)
		removed = cols - at;
	if (inserted > cols - at)
		inserted = cols - at;
	unsigned from = at + removed, to = at + inserted;
	/* Removes halves of wide characters. */
	if (at > 0 && cell_width(cells[at - 1]) == 2)
		cells[at - 1] = 0;
	if (from < cols &&
	    (inserted ? from > 0 && cell_width(cells[from - 1]) == 2 : cell_is_stub(cells[from])))
		cells[from] = 0;
	unsigned left = row->used > from ? row->used - from : 0;
	if (left > cols - to)
		left = cols - to;
	unsigned end = row->used;
	memmove(cells + to, cells + from, left * sizeof(*cells));
	memset(cells + at, 0, ((to < end ? to : end) - at) * sizeof(*cells));
	if (to + left < end)
		memset(cells + to + left, 0, (end - to - left) * sizeof(*cells));
	if (cell_width(cells[cols - 1]) == 2)
		cells[cols - 1] = 0;
	row->used = left ? to + left : at;
	return true;
}

void grid_edit(struct terminal *t, unsigned y, unsigned at, unsigned removed, unsigned inserted)
{
	struct screen *s = t->screen;
	if (!row_edit(s->lines[y], s->cols, at, removed, inserted))
		return;
	screen_changed(s, y);
	t->lossy = true;
}

/* Moves on to the next row, since a character follows one in the last column. */
static void soft_wrap(struct terminal *t)
{
	struct screen *s = t->screen;
	s->x = 0;
	s->lines[s->y]->returned = false;
	if (s->y == s->bottom) {
		screen_scroll(s, true);
		return;
	}
	if (s->y + 1 < s->rows)
		s->y++;
	screen_set_wrapped(s, s->y, true);
}

/* Overwritten lines with fewer columns never stay in the text. */
#define STAY_COLUMNS_LEAST 8

/* The owner is no longer asked after this many overwritten lines of which none stayed. */
#define OVERWRITTEN_MOST 65536

/* Whether the owner wants the line of the cursor's row to stay in the text. If the program has
   moved the cursor up, it may be drawing several lines, so none stays. */
static bool stays(struct terminal *t, const struct row *row)
{
	const struct screen *s = t->screen;
	struct row now = *row;
	struct buffer line = BUFFER_INIT;
	struct emitter e = {.write = emitter_collect, .ctx = &line};
	bool wanted = false;
	/* Drops the end of the line if it is left over from a longer line that has stayed. */
	const struct buffer *stayed = &t->overwritten.stayed;
	bool same_size = stayed->len == now.used * sizeof(*row->cells);
	while (same_size && now.used > 0 &&
	       memcmp(row->cells + now.used - 1,
		      stayed->data + (now.used - 1) * sizeof(*row->cells),
		      sizeof(*row->cells)) == 0)
		now.used--;
	if (now.used >= STAY_COLUMNS_LEAST && row_has_text(&now, true)) {
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
	const struct row *row = s->lines[s->y];
	if (t->modes.insert || s != t->normal || row->wrapped || row->used < STAY_COLUMNS_LEAST ||
	    o->looks == OVERWRITTEN_MOST || !stays(t, row))
		return;
	o->looks = 0;
	buffer_clear(&o->stayed);
	buffer_try_append(&o->stayed, (const char *)row->cells, row->used * sizeof(*row->cells));
	terminal_keep_row(t);
}

/* Called before text is written; `first` is its first character. Frames of a progress report begin
   with the same character, or with digits and punctuation. */
static inline void begin_text(struct terminal *t, uint32_t first)
{
	const struct screen *s = t->screen;
	if (!t->overwritten.watched || s->x > 0)
		return;
	uint32_t old = s->lines[s->y]->cells[0];
	if (old && old != first && (cell_is_letter(old) || cell_is_letter(first)))
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
				/* Without wrapping, each character overwrites the last column. */
				s->x = s->cols - 1;
				data += len - 1;
				len = 1;
			}
		}
		size_t n = len < s->cols - s->x ? len : s->cols - s->x;
		struct row *row = begin_put(s, data, (unsigned)n);
		scan_widen(row->cells + s->x, data, n);
		t->lossy |= end_put(s, row, s->x, s->x + (unsigned)n);
		data += n;
		len -= n;
	}
	t->width = 1;
}

/* The column of the character before the cursor. */
static unsigned column_before(const struct screen *s)
{
	unsigned x = s->x - 1;
	return x > 0 && cell_width(s->lines[s->y]->cells[x]) == 0 ? x - 1 : x;
}

/* Prints a mark, or another part of the character before it. */
static void print_mark(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	unsigned x = column_before(s);
	uint32_t parts[CLUSTER_PARTS], *cell = &s->lines[s->y]->cells[x];
	unsigned count = cluster_parts(&s->clusters, *cell, parts);
	struct row *row = begin_put(s, bytes, len);
	row->uneven = true;
	bool added = cell_has_text(*cell) && (cluster_add(&s->clusters, cell, cp) ||
					      (compact(s) && cluster_add(&s->clusters, cell, cp)));
	t->lossy |= !added && !row->plain;
	if (t->width != 1 || s->x >= s->cols ||
	    utf8_width_joined(parts[0], parts[count - 1], cp) < 2)
		return;
	/* The character takes two columns now. */
	if (t->modes.insert)
		t->lossy |= row_edit(row, s->cols, s->x, 0, 1);
	t->lossy |= s->x < row->used;
	*cell |= CELL_WIDE;
	row->cells[s->x] = (*cell & CELL_STYLE) | CELL_ZERO;
	end_put(s, row, s->x - 1, s->x + 1);
	t->width = 2;
}

/* Whether a character is a part of the one before it. */
__attribute__((noinline)) static bool joins(const struct terminal *t, uint32_t cp, unsigned width)
{
	const struct screen *s = t->screen;
	uint32_t parts[CLUSTER_PARTS];
	/* xterm.js loses a lone mark at the end of a full row; here it joins. */
	if (width == 0)
		return s->x > 0 && (t->width || s->x >= s->cols);
	if (!t->width || s->x == 0)
		return false;
	uint32_t cell = s->lines[s->y]->cells[column_before(s)];
	if (!utf8_is_skin_tone(cp) && !(cell & CELL_CLUSTER))
		return false;
	unsigned count = cluster_parts(&s->clusters, cell, parts);
	return utf8_joins(parts[0], parts[count - 1], cp);
}

void grid_print(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	unsigned width = 1;
	if (cp >= FIRST_MARK) {
		if (cp == BYTE_ORDER_MARK) {
			const struct row *row = s->lines[s->y];
			if (row->plain && s->x == row->end)
				begin_put(s, bytes, len);
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
			unsigned gap = s->cols - s->x;
			if (gap > 0)
				grid_edit(t, s->y, s->x, gap, gap);
			soft_wrap(t);
		} else {
			s->x = s->cols - 1;
			if (width == 2) {
				t->lossy = true;
				return;
			}
		}
	}

	if (t->modes.insert && width)
		grid_edit(t, s->y, s->x, 0, width);
	struct row *row = begin_put(s, bytes, len);
	unsigned x = s->x;
	row->uneven |= width != 1;
	row->cells[x] = cp | t->style | (width == 2 ? CELL_WIDE : width == 0 ? CELL_ZERO : 0);
	if (width == 2)
		row->cells[x + 1] = t->style | CELL_ZERO;
	t->lossy |= end_put(s, row, x, x + (width == 2 ? 2 : 1));
}

static void print_part(struct terminal *t, uint32_t part)
{
	char bytes[4];
	grid_print(t, part, bytes, (unsigned)part_put(part, bytes));
}

void grid_print_invalid(struct terminal *t, const char *bytes, unsigned len)
{
	/* Takes one column, like the replacement character that xterm shows. */
	grid_print(t, CELL_INVALID + (unsigned char)bytes[0], bytes, 1);
	for (unsigned i = 1; i < len; i++)
		print_mark(t, CELL_INVALID + (unsigned char)bytes[i], bytes + i, 1);
}

/* Whether an ASCII character is stored in its cell unchanged. */
static bool takes_ascii(const struct terminal *t)
{
	return !t->modes.insert && !t->style && t->charsets.current == CHARSET_ASCII;
}

static void grid_print_text(struct terminal *t, const char *data, size_t len)
{
	if (takes_ascii(t)) {
		print_ascii(t, data, len);
		return;
	}
	for (size_t i = 0; i < len; i++)
		print_part(t, charset_map(t->charsets.current, (unsigned char)data[i]));
}

void grid_repeat(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t parts[CLUSTER_PARTS];
	uint32_t count = parser_param(&t->parser, 0, 1);
	if (!t->width || s->x < t->width)
		return;
	uint32_t cell = s->lines[s->y]->cells[s->x - t->width];
	unsigned len = cluster_parts(&s->clusters, cell, parts);
	if (!cell_has_text(cell))
		return;
	/* More repetitions would only scroll equal rows off the screen. */
	if (count > s->cols * s->rows)
		count = s->cols * s->rows;
	while (count-- > 0) {
		char c = (char)parts[0];
		if (len == 1 && parts[0] < 0x80)
			grid_print_text(t, &c, 1);
		for (unsigned i = 0; i < len && (len > 1 || parts[0] >= 0x80); i++)
			print_part(t, parts[i]);
	}
}

/* Decodes a valid character of two or three bytes that takes one column and is not a control.
   Returns its length, or 0 for anything else. */
static unsigned decode_narrow(const char *data, const char *end, uint32_t *cp)
{
	const unsigned char *p = (const unsigned char *)data;
	if (p[0] >= 0xC3 && p[0] <= 0xDF && end - data >= 2 && (p[1] & 0xC0) == 0x80) {
		*cp = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
		return utf8_width(*cp) == 1 ? 2 : 0;
	}
	/* After E0 and ED some second bytes are invalid, and EF begins the BOM. */
	if (p[0] >= 0xE1 && p[0] <= 0xEE && p[0] != 0xED && end - data >= 3 &&
	    (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
		*cp = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
		return utf8_width(*cp) == 1 ? 3 : 0;
	}
	return 0;
}

/* Takes characters beyond ASCII at p: a run of narrow ones, a single one, or a part of one. Returns
   where they end. */
static const char *print_other(struct terminal *t, const char *p, const char *end)
{
	struct screen *s = t->screen;
	const char *q = p;
	unsigned n = 0;
	uint32_t cp;
	/* The next character may be a part of the one before the cursor. */
	bool may_join =
		t->width && s->x > 0 && (s->lines[s->y]->cells[column_before(s)] & CELL_CLUSTER);
	if (may_join || t->partial_len || t->modes.insert || t->style || !t->modes.wrap ||
	    !decode_narrow(p, end, &cp))
		return terminal_resume(t, p, end);

	if (cp >= FIRST_MARK)
		begin_text(t, cp);
	if (s->x >= s->cols)
		soft_wrap(t);
	uint32_t *cells = s->lines[s->y]->cells + s->x;
	unsigned room = s->cols - s->x;
	while (n < room && q < end) {
		unsigned len = decode_narrow(q, end, &cp);
		if (!len)
			break;
		cells[n++] = cp;
		q += len;
	}
	struct row *row = begin_put(s, p, (unsigned)(q - p));
	t->lossy |= end_put(s, row, s->x, s->x + n);
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

/* A shortcut for programs that draw the same rows again and again: takes rows of ESC [ 2 K or ESC [
   K, ASCII and a newline, where nothing but the text can change. Returns where they end. */
static const char *redraw_rows(struct terminal *t, const char *p, const char *end)
{
	struct screen *s = t->screen;
	const char *start = p;
	if (s->x > 0 || t->overwritten.watched || !takes_ascii(t) || t->modes.origin ||
	    !(t->modes.newline || t->options.onlcr))
		return p;
	while (end - p > 5 && p[0] == '\x1B' && p[1] == '[' && s->y != s->bottom &&
	       s->y + 1 < s->rows) {
		struct row *row = s->lines[s->y], *next = s->lines[s->y + 1];
		const char *text = p + (p[2] == '2' ? 4 : 3);
		size_t left = (size_t)(end - text) - 1;
		unsigned n = (unsigned)t->scan->ascii(text, left < s->cols ? left : s->cols);
		if (text[-1] != 'K' || n == 0 || text[n] != '\n' || row->used == 0 ||
		    row->partial || row->emitted || row->wrapped || next->emitted || next->wrapped)
			break;
		row_touch(row);
		if (row->used > n)
			memset(row->cells + n, 0, (row->used - n) * sizeof(*row->cells));
		scan_widen(row->cells, text, n);
		memcpy(row->raw, text, n);
		row->used = row->end = row->raw_len = n;
		row->plain = t->lossy = true;
		screen_begin(s, ++s->y);
		p = text + n + 1;
	}
	if (p == start)
		return p;
	t->width = 0;
	/* A sequence here usually moves the cursor back to the first row. */
	if (p == end || *p != '\x1B')
		append_enter(t);
	return p;
}

const char *grid_feed(struct terminal *t, const char *p, const char *end, bool again)
{
	while (p < end) {
		unsigned char c = (unsigned char)*p;
		if (c >= 0x80 || t->partial_len) {
			p = print_other(t, p, end);
		} else if (c >= 0x20 && c != 0x7F) {
			size_t n = t->scan->ascii(p, (size_t)(end - p));
			if (again)
				print_ascii(t, p, n);
			else
				grid_print_text(t, p, n);
			p += n;
			continue;
		} else if (c == 0x1B) {
			const char *q = again ? p : redraw_rows(t, p, end);
			p = q > p ? q : terminal_escape(t, p, end);
		} else if (c == '\r') {
			/* Takes CR, the most frequent control here, as dispatch_control() does. */
			if (again)
				t->screen->lines[t->screen->y]->returned = true;
			else
				t->screen->x = 0;
			t->width = 0;
			p++;
			continue;
		} else {
			if (c == '\n' && again)
				t->screen->x = 0;
			else if (c == '\n' && terminal_keeps_return(t, p))
				t->screen->lines[t->screen->y]->returned = true;
			p++;
			if (c == '\0')
				grid_show_nul(t);
			else if (c != 0x7F)
				dispatch_control(t, c);
			else
				t->lossy = true;
			if (c == '\n' && !again)
				append_enter(t);
		}
		if (t->parser.state != PARSER_GROUND || t->appending)
			break;
	}
	return p;
}

/* A change of the window's size: every line is laid out for the new width, and rows that do not fit
   scroll off the top. The alternate screen is only cut or extended, since programs redraw it. */

/* Copies colours from the old cells, since the row's text has none. Pairs the cells from the last
   one backwards, since the first ones may have left the screen. Skips the gaps of wide characters
   and tabs, whose places may have changed. */
static void copy_styles(struct screen *s, const struct row *old)
{
	unsigned y = s->y, x = s->lines[y]->used;
	for (unsigned column = old->used; column > 0; column--) {
		if (!cell_has_text(old->cells[column - 1]))
			continue;
		while (x == 0 || !cell_has_text(s->lines[y]->cells[x - 1])) {
			if (x == 0 && y == 0)
				return;
			x = x > 0 ? x - 1 : s->lines[--y]->used;
		}
		uint32_t *cell = &s->lines[y]->cells[--x];
		*cell = (*cell & ~CELL_STYLE) | (old->cells[column - 1] & CELL_STYLE);
	}
}

/* Prints the line in the rows first..last of `from` to the screen that is shown. If the old cursor
   is in that line, *x and *y get its new place. */
static void copy_line(struct terminal *t, const struct screen *from, unsigned first, unsigned last,
		      uint64_t *y, unsigned *x)
{
	struct screen *s = t->screen;
	bool plain = true;
	bool emitted = true;
	uint64_t start = s->base + s->y;
	uint64_t row;
	unsigned column;
	for (unsigned i = first; i <= last; i++) {
		const struct row *old = from->lines[i];
		plain = plain && old->plain && !old->partial;
		emitted = emitted && old->emitted;
		if (i == from->y && from->x < old->end)
			plain = false;
	}
	for (unsigned i = first; i <= last; i++) {
		const struct row *old = from->lines[i];
		unsigned end = i < last ? from->cols : old->used;
		t->width = t->style = 0;
		if (plain) {
			/* A character that is cut at the end of the row's bytes stays cut. */
			grid_feed(t, old->raw, old->raw + old->raw_len, true);
			if (t->partial_len)
				grid_print_invalid(t, t->partial, t->partial_len);
			t->partial_len = 0;
			copy_styles(s, old);
		}
		if (i < last && !cell_has_text(old->cells[end - 1]) &&
		    cell_width(from->lines[i + 1]->cells[0]) == 2)
			end--;
		for (column = 0; !plain && column < end; column++) {
			if (i == from->y && column == from->x) {
				*x = s->x;
				*y = s->base + s->y;
			}
			uint32_t cell = old->cells[column], parts[CLUSTER_PARTS] = {' '};
			if (cell_is_stub(cell))
				continue;
			unsigned count = cell_has_text(cell)
						 ? cluster_parts(&from->clusters, cell, parts)
						 : 1;
			t->style = cell & CELL_STYLE;
			for (unsigned k = 0; k < count; k++)
				print_part(t, parts[k]);
		}
		if (i == from->y && (plain || from->x >= end)) {
			unsigned ahead = plain ? from->x - old->end : from->x - end;
			*x = s->x + ahead;
			*y = s->base + s->y;
		}
	}
	for (row = start < s->base ? s->base : start; row <= s->base + s->y; row++) {
		struct row *new = s->lines[(unsigned)(row - s->base)];
		new->emitted = emitted;
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
		while (last + 1 < depth && from->lines[last + 1]->wrapped)
			last++;
		if (first) {
			s->x = 0;
			grid_line_feed(t);
		}
		if (from->lines[first]->begun)
			screen_begin(s, s->y);
		else
			s->lines[s->y]->begun = false;
		if (!first)
			s->lines[0]->wrapped = from->lines[0]->wrapped;
		copy_line(t, from, first, last, &y, &x);
		s->lines[s->y]->returned = from->lines[last]->returned;
	}
	s->x = x < s->cols ? x : s->cols - 1;
	s->y = y < s->base ? 0 : (unsigned)(y - s->base);
	if (s->y >= s->rows)
		s->y = s->rows - 1;
}

void terminal_resize(struct terminal *t, unsigned cols, unsigned rows)
{
	t->version++;
	if (cols == t->normal->cols && rows == t->normal->rows)
		return;
	struct screen *normal = screen_new(cols, rows, &t->emitter);
	struct screen *alternate = screen_copy(t->alternate, cols, rows);
	if (!normal || !alternate) {
		screen_free(normal);
		screen_free(alternate);
		return;
	}
	if (t->appending)
		append_leave(t, false);
	t->options.cols = cols;
	t->options.rows = rows;
	/* The text is written to a terminal with default modes. */
	struct terminal scratch = *t;
	scratch.screen = scratch.normal = normal;
	scratch.modes = (struct modes){.wrap = true};
	scratch.parser.state = PARSER_GROUND;
	scratch.partial_len = 0;
	normal->base = t->normal->base;
	copy_normal(&scratch, t->normal);
	screen_copy_state(normal, t->normal);
	t->screen = t->screen == t->normal ? normal : alternate;
	screen_free(t->normal);
	screen_free(t->alternate);
	t->normal = normal;
	t->alternate = alternate;
	t->width = 0;
	emitter_flush(&t->emitter);
}
