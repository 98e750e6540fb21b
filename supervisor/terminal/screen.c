#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <stdlib.h>
#include <string.h>

/* Enough for a screen full of characters with several marks each. */
#define NODES_PER_CELL 8

static void default_tabs(struct screen *s)
{
	for (unsigned x = 0; x < s->cols; x++)
		s->tabs[x] = x % TAB_WIDTH == 0;
	s->own_tabs = false;
}

struct screen *screen_new(unsigned cols, unsigned rows, struct emitter *emitter)
{
	struct screen *s = calloc(1, sizeof(*s));
	size_t raw_size = row_raw_size(cols);
	if (!s)
		return NULL;
	s->cols = cols;
	s->rows = rows;
	s->bottom = rows - 1;
	s->history = emitter != NULL;
	s->emitter = emitter;
	s->saved.charset = 'B';
	s->lines = calloc(rows, sizeof(struct row *));
	s->storage = calloc(rows, sizeof(*s->storage));
	s->cells = calloc((size_t)rows * cols, sizeof(*s->cells));
	s->raw = malloc(rows * raw_size);
	s->tabs = calloc(cols, sizeof(*s->tabs));
	cluster_init(&s->clusters, rows * cols * NODES_PER_CELL);
	if (!s->lines || !s->storage || !s->cells || !s->raw || !s->tabs) {
		screen_free(s);
		return NULL;
	}

	default_tabs(s);
	for (unsigned y = 0; y < rows; y++) {
		s->lines[y] = &s->storage[y];
		s->storage[y].cells = s->cells + (size_t)y * cols;
		s->storage[y].raw = s->raw + y * raw_size;
		s->storage[y].plain = true;
	}
	return s;
}

void screen_free(struct screen *s)
{
	if (!s)
		return;
	free(s->clusters.nodes);
	free(s->tabs);
	free(s->raw);
	free(s->cells);
	free(s->storage);
	free(s->lines);
	free(s);
}

struct screen *screen_copy(const struct screen *s)
{
	struct screen *copy = screen_new(s->cols, s->rows, NULL);
	if (!copy)
		return NULL;
	copy->x = s->x;
	copy->y = s->y;
	copy->top = s->top;
	copy->bottom = s->bottom;
	copy->history = s->history;
	copy->low = s->low;
	copy->base = s->base;
	copy->saved = s->saved;
	memcpy(copy->tabs, s->tabs, s->cols * sizeof(*s->tabs));
	copy->own_tabs = s->own_tabs;
	copy->bent = s->bent;
	for (unsigned y = 0; y < s->rows; y++) {
		const struct row *from = s->lines[y];
		struct row *to = copy->lines[y];
		uint32_t *cells = to->cells;
		char *raw = to->raw;
		*to = *from;
		to->cells = cells;
		to->raw = raw;
		memcpy(cells, from->cells, s->cols * sizeof(*cells));
		memcpy(raw, from->raw, from->raw_len);
	}
	if (cluster_copy(&copy->clusters, &s->clusters) < 0) {
		screen_free(copy);
		return NULL;
	}
	return copy;
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
	if (!s->lines[y]->handed)
		return;
	while (first > 0 && s->lines[first]->wrapped)
		first--;
	do {
		s->lines[first]->handed = false;
		first++;
		/* A line of several rows comes whole. */
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

/* Takes the row at `from` out and puts it in at `to`. */
static void shift(struct screen *s, unsigned from, unsigned to)
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
	if (s->top == 0 && s->history) {
		if (s->emitter)
			row_emit(s->lines[0], s->cols, &s->clusters, s->emitter);
		s->base++;
	}
	shift(s, s->top, s->bottom);
	s->lines[s->bottom]->wrapped = wrapped;
}

static void reset_rows(struct screen *s, unsigned from, unsigned to)
{
	for (; from <= to; from++)
		row_reset(s->lines[from]);
}

void screen_move_up(struct screen *s, unsigned from, unsigned to, unsigned count)
{
	if (count > to - from) {
		reset_rows(s, from, to);
		return;
	}
	while (count-- > 0)
		shift(s, from, to);
}

void screen_move_down(struct screen *s, unsigned from, unsigned to, unsigned count)
{
	if (count > to - from) {
		reset_rows(s, from, to);
		return;
	}
	while (count-- > 0)
		shift(s, to, from);
	if (to > s->low)
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

/* There is no room for more bytes of the cursor's row, since much of it takes no
   column. The bytes so far go out now, after all rows above. */
static void hand_on_part(struct screen *s)
{
	struct row *row = s->lines[s->y];
	unsigned y;
	if (s->emitter) {
		for (y = 0; y < s->y; y++) {
			row_emit(s->lines[y], s->cols, &s->clusters, s->emitter);
			s->lines[y]->handed = true;
		}
		row_emit(row, s->cols, &s->clusters, s->emitter);
	}
	row->partial = true;
	row->raw_len = 0;
}

/* The cursor's row is about to change. Keeps the bytes if they continue a plain
   row. */
static struct row *begin_put(struct screen *s, const char *bytes, unsigned len)
{
	struct row *row = s->lines[s->y];
	if (row->handed)
		screen_changed(s, s->y);
	if (s->y > s->low)
		s->low = s->y;
	if (!row->plain || s->x != row->end) {
		row_touch(row);
		return row;
	}
	if (row->raw_len + len > row_raw_size(s->cols))
		hand_on_part(s);
	memcpy(row->raw + row->raw_len, bytes, len);
	row->raw_len += len;
	return row;
}

/* The cells from..to of the row were written: no half of a wide character may
   stay beside them. Returns whether something was overwritten. */
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

bool screen_put_ascii(struct screen *s, const char *data, unsigned n)
{
	struct row *row = begin_put(s, data, n);
	scan_widen(row->cells + s->x, data, n);
	return end_put(s, row, s->x, s->x + n);
}

bool screen_put_cells(struct screen *s, unsigned n, const char *bytes, unsigned len)
{
	struct row *row = begin_put(s, bytes, len);
	return end_put(s, row, s->x, s->x + n);
}

bool screen_put(struct screen *s, uint32_t cell, unsigned width, const char *bytes, unsigned len)
{
	struct row *row = begin_put(s, bytes, len);
	unsigned x = s->x;
	if (width == 2) {
		row->uneven = true;
		row->cells[x] = cell | CELL_WIDE;
		row->cells[x + 1] = (cell & (CELL_PROTECTED | CELL_STYLE)) | CELL_ZERO;
		return end_put(s, row, x, x + 2);
	}
	if (width == 0)
		row->uneven = true;
	row->cells[x] = width == 0 ? cell | CELL_ZERO : cell;
	return end_put(s, row, x, x + 1);
}

static bool add_mark(struct screen *s, uint32_t *cell, uint32_t mark)
{
	unsigned x;
	if (!cell_has_text(*cell))
		return false;
	if (cluster_add(&s->clusters, cell, mark))
		return true;
	if (!cluster_wants_sweep(&s->clusters))
		return false;
	for (unsigned y = 0; y < s->rows; y++)
		for (x = 0; x < s->lines[y]->used; x++)
			cluster_mark(&s->clusters, s->lines[y]->cells[x]);
	cluster_sweep(&s->clusters);
	return cluster_add(&s->clusters, cell, mark);
}

bool screen_put_mark(struct screen *s, unsigned x, uint32_t mark, const char *bytes, unsigned len)
{
	struct row *row = begin_put(s, bytes, len);
	row->uneven = true;
	return add_mark(s, &row->cells[x], mark) || row->plain;
}

bool screen_widen(struct screen *s)
{
	struct row *row = s->lines[s->y];
	bool overwritten = s->x < row->used;
	row->cells[s->x - 1] |= CELL_WIDE;
	row->cells[s->x] = (row->cells[s->x - 1] & (CELL_PROTECTED | CELL_STYLE)) | CELL_ZERO;
	end_put(s, row, s->x - 1, s->x + 1);
	return overwritten;
}

void screen_put_bytes(struct screen *s, const char *bytes, unsigned len)
{
	struct row *row = s->lines[s->y];
	if (row->plain && s->x == row->end)
		begin_put(s, bytes, len);
}

void screen_tab(struct screen *s)
{
	struct row *row = s->lines[s->y];
	/* A soft wrap is followed by a character: a tab there was no plain text. */
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
