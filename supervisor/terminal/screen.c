// Cells, the characters of several parts in them, rows, and the screens that they make.

#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

unsigned cluster_parts(const struct cluster_pool *pool, uint32_t cell,
		       uint32_t parts[CLUSTER_PARTS])
{
	unsigned count = 0;
	parts[0] = cell & CELL_TEXT;
	if (!(cell & CELL_CLUSTER))
		return 1;
	for (const uint32_t *text = pool->text + parts[0]; text[count]; count++)
		parts[count] = text[count];
	return count;
}

bool cluster_add(struct cluster_pool *pool, uint32_t *cell, uint32_t mark)
{
	uint32_t parts[CLUSTER_PARTS], at = *cell & CELL_TEXT;
	unsigned count = cluster_parts(pool, *cell, parts);
	/* The last character of the pool grows in place. */
	if (!(*cell & CELL_CLUSTER) || at + count + 1 != pool->len)
		at = pool->len;
	if (count == CLUSTER_PARTS || pool->limit - at < count + 2)
		return false;
	if (at + count + 2 > pool->cap) {
		uint32_t cap = pool->cap ? pool->cap * 2 : FIRST_SIZE;
		if (cap > pool->limit)
			cap = pool->limit;
		uint32_t *text = realloc(pool->text, cap * sizeof(*text));
		if (!text)
			return false;
		pool->text = text;
		pool->cap = cap;
	}
	memcpy(pool->text + at, parts, count * sizeof(*parts));
	pool->text[at + count] = mark;
	pool->text[at + count + 1] = 0;
	pool->len = at + count + 2;
	*cell = (*cell & ~CELL_TEXT) | CELL_CLUSTER | at;
	return true;
}

size_t part_put(uint32_t part, char *bytes)
{
	if (part < CELL_INVALID)
		return utf8_put(part, bytes);
	*bytes = (char)(part - CELL_INVALID);
	return 1;
}

static void row_reset(struct row *row)
{
	memset(row->cells, 0, row->used * sizeof(*row->cells));
	*row = (struct row){.cells = row->cells, .raw = row->raw, .plain = true};
}

bool row_has_text(const struct row *row, bool ink)
{
	for (unsigned x = row->used; x > 0; x--)
		if (ink ? cell_has_ink(row->cells[x - 1]) : cell_has_text(row->cells[x - 1]))
			return true;
	return false;
}

uint64_t row_sum(const struct row *row, const struct cluster_pool *pool)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325); /* FNV-1a, by characters */
	unsigned used = row->used;
	while (used > 0 && (!cell_has_text(row->cells[used - 1]) ||
			    (row->cells[used - 1] & ~CELL_STYLE) == ' '))
		used--;
	for (unsigned x = 0; x < used; x++) {
		uint32_t parts[CLUSTER_PARTS];
		unsigned count = cluster_parts(pool, row->cells[x], parts);
		for (unsigned i = 0; i < count; i++)
			sum = (sum ^ (parts[i] ? parts[i] : ' ')) * UINT64_C(0x100000001B3);
	}
	return sum | 1;
}

void row_emit_cells(const struct row *row, unsigned cols, const struct cluster_pool *pool,
		    struct emitter *e)
{
	char run[256];
	unsigned x = 0;
	while (x < row->used) {
		uint32_t cell = row->cells[x] & ~CELL_STYLE;
		if (cell == ' ' || !cell_has_text(cell)) {
			e->pad++;
			x++;
		} else if (row->cells[x] < 0x80) {
			size_t n = scan_narrow(run, row->cells + x,
					       row->used - x < sizeof(run) ? row->used - x
									   : sizeof(run));
			emitter_text(e, run, n);
			x += (unsigned)n;
		} else {
			char text[CLUSTER_PARTS * 4];
			uint32_t parts[CLUSTER_PARTS];
			unsigned count = cluster_parts(pool, cell, parts);
			size_t len = 0;
			for (unsigned i = 0; i < count; i++)
				len += part_put(parts[i], text + len);
			emitter_text(e, text, len);
			x += cell_width(cell) == 2 ? 2 : 1;
		}
	}
	if (x < cols)
		e->pad += cols - x;
	e->gap = !(row->cells[cols - 1] & (CELL_TEXT | CELL_CLUSTER));
}

void row_emit(const struct row *row, unsigned cols, const struct cluster_pool *pool,
	      struct emitter *e)
{
	if (row->emitted || (row->reported && row->reported == row_sum(row, pool)))
		return;
	if (row->partial && row->plain)
		e->pad = 0;
	else
		emitter_row(e, row->wrapped, cell_width(row->cells[0]) == 2);
	if (!row->plain) {
		row_emit_cells(row, cols, pool, e);
	} else {
		if (row->raw_len)
			emitter_text(e, row->raw, row->raw_len);
		e->pad += cols - row->end;
		e->gap = !(row->cells[cols - 1] & (CELL_TEXT | CELL_CLUSTER));
	}
	if (row->returned) {
		e->pad = 0;
		emitter_text(e, "\r", 1);
	}
}

/* Enough for a screen full of characters with several marks each. */
#define PARTS_PER_CELL 12

static void default_tabs(struct screen *s)
{
	for (unsigned x = 0; x < s->cols; x++)
		s->tabs[x] = x % TAB_WIDTH == 0;
	s->own_tabs = false;
}

struct screen *screen_new(unsigned cols, unsigned rows, struct emitter *emitter)
{
	const size_t count = (size_t)rows * cols, raw_size = row_raw_size(cols);
	/* All in one block: the screen, its rows, their cells, their bytes, the tab stops. */
	struct screen *s = calloc(1, sizeof(*s) + rows * (sizeof(*s->lines) + sizeof(**s->lines)) +
					     count * sizeof(uint32_t) + rows * raw_size +
					     cols * sizeof(*s->tabs));
	if (!s)
		return NULL;
	s->lines = (void *)(s + 1);
	struct row *storage = (void *)(s->lines + rows);
	uint32_t *cells = (void *)(storage + rows);
	char *raw = (void *)(cells + count);
	s->tabs = (void *)(raw + rows * raw_size);
	s->cols = cols;
	s->rows = rows;
	s->bottom = rows - 1;
	s->emitter = emitter;
	s->saved.charset = CHARSET_ASCII;
	/* The index of a part has to fit into a cell. */
	s->clusters.limit =
		rows * cols < CELL_TEXT / PARTS_PER_CELL ? rows * cols * PARTS_PER_CELL : CELL_TEXT;
	default_tabs(s);
	for (unsigned y = 0; y < rows; y++) {
		s->lines[y] = &storage[y];
		storage[y] = (struct row){.cells = cells + (size_t)y * cols,
					  .raw = raw + y * raw_size,
					  .plain = true};
	}
	return s;
}

void screen_free(struct screen *s)
{
	if (s)
		free(s->clusters.text);
	free(s);
}

static unsigned at_most(unsigned n, unsigned most)
{
	return n < most ? n : most;
}

struct screen *screen_copy(const struct screen *from, unsigned cols, unsigned rows)
{
	const bool whole = cols == from->cols && rows == from->rows;
	struct screen *s = screen_new(cols, rows, NULL);
	if (!s)
		return NULL;
	struct cluster_pool *pool = &s->clusters;
	*pool = from->clusters;
	if (pool->text) {
		pool->text = malloc(pool->cap * sizeof(*pool->text));
		if (!pool->text) {
			screen_free(s);
			return NULL;
		}
		memcpy(pool->text, from->clusters.text, pool->len * sizeof(*pool->text));
	}
	for (unsigned y = 0; y < at_most(rows, from->rows); y++) {
		struct row *row = s->lines[y], own = *row;
		*row = *from->lines[y];
		row->used = at_most(row->used, cols);
		memcpy(own.cells, row->cells, row->used * sizeof(*own.cells));
		if (whole)
			memcpy(own.raw, row->raw, row->raw_len);
		else
			row_touch(row);
		row->cells = own.cells;
		row->raw = own.raw;
		if (row->used && cell_width(row->cells[row->used - 1]) == 2)
			row->cells[row->used - 1] = 0;
	}
	s->base = from->base;
	screen_copy_state(s, from);
	s->x = whole ? from->x : at_most(from->x, cols - 1);
	s->y = at_most(from->y, rows - 1);
	s->low = at_most(from->low, rows - 1);
	s->top = whole ? from->top : 0;
	s->bottom = whole ? from->bottom : rows - 1;
	s->bent = from->bent;
	return s;
}

void screen_copy_state(struct screen *s, const struct screen *from)
{
	uint64_t saved = from->saved.y > from->base ? from->saved.y - from->base : 0;
	memcpy(s->tabs, from->tabs, at_most(s->cols, from->cols) * sizeof(*s->tabs));
	s->own_tabs = from->own_tabs;
	s->saved = from->saved;
	s->saved.x = at_most(s->saved.x, s->cols - 1);
	s->saved.y = s->base + (saved < s->rows ? saved : s->rows - 1);
}

void screen_clear(struct screen *s)
{
	for (unsigned y = 0; y < s->rows; y++)
		row_reset(s->lines[y]);
	s->x = 0;
	s->y = 0;
	s->low = 0;
	s->top = 0;
	s->bottom = s->rows - 1;
	default_tabs(s);
}

void screen_begin(struct screen *s, unsigned y)
{
	s->lines[y]->begun = true;
	if (y > s->low)
		s->low = y;
}

void screen_changed(struct screen *s, unsigned y)
{
	unsigned first = y;
	if (!s->lines[y]->emitted)
		return;
	while (first > 0 && s->lines[first]->wrapped)
		first--;
	do {
		s->lines[first]->emitted = false;
		first++;
		/* If a line of several rows changes, all of it is emitted again. */
		if (first < s->rows && s->lines[first]->wrapped)
			s->lines[first - 1]->reported = s->lines[first]->reported = 0;
	} while (first < s->rows && s->lines[first]->wrapped);
}

void screen_set_wrapped(struct screen *s, unsigned y, bool wrapped)
{
	struct row *row = s->lines[y];
	if (row->wrapped == wrapped)
		return;
	screen_changed(s, y);
	row->wrapped = wrapped;
}

/* Moves the row at `from` to `to`, and makes it blank. */
static void move_blank_row(struct screen *s, unsigned from, unsigned to)
{
	struct row *row = s->lines[from];
	if (from < to)
		memmove(s->lines + from, s->lines + from + 1, (to - from) * sizeof(struct row *));
	else
		memmove(s->lines + to + 1, s->lines + to, (from - to) * sizeof(struct row *));
	s->lines[to] = row;
	row_reset(row);
}

void screen_scroll(struct screen *s, bool wrapped)
{
	if (s->top == 0 && s->emitter) {
		row_emit(s->lines[0], s->cols, &s->clusters, s->emitter);
		s->base++;
	}
	move_blank_row(s, s->top, s->bottom);
	s->lines[s->bottom]->wrapped = wrapped;
}

void screen_move(struct screen *s, bool down, unsigned from, unsigned to, unsigned count)
{
	if (count > to - from + 1)
		count = to - from + 1;
	while (count-- > 0)
		move_blank_row(s, down ? to : from, down ? from : to);
	if (down && to > s->low)
		s->low = to;
}

unsigned screen_next_tab(const struct screen *s)
{
	for (unsigned x = s->x + 1; x < s->cols; x++)
		if (s->tabs[x])
			return x;
	return s->cols - 1;
}

unsigned screen_depth(const struct screen *s)
{
	unsigned depth;
	for (depth = s->low + 1; depth > 0; depth--) {
		const struct row *row = s->lines[depth - 1];
		if (row->begun || !row_is_blank(row))
			break;
	}
	return depth;
}
