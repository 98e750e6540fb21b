#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <stdlib.h>
#include <string.h>

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
	struct screen *s = calloc(1, sizeof(*s));
	size_t raw_size = row_raw_size(cols);
	if (!s)
		return NULL;
	s->cols = cols;
	s->rows = rows;
	s->bottom = rows - 1;
	s->emitter = emitter;
	s->saved.charset = 'B';
	s->lines = calloc(rows, sizeof(struct row *));
	s->storage = calloc(rows, sizeof(*s->storage));
	s->cells = calloc((size_t)rows * cols, sizeof(*s->cells));
	s->raw = malloc(rows * raw_size);
	s->tabs = calloc(cols, sizeof(*s->tabs));
	/* A cell has room for so large a number. */
	s->clusters.limit =
		rows * cols < CELL_TEXT / PARTS_PER_CELL ? rows * cols * PARTS_PER_CELL : CELL_TEXT;
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
	free(s->clusters.text);
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
	copy->clusters = s->clusters;
	copy->clusters.text = NULL;
	if (s->clusters.text) {
		size_t size = s->clusters.cap * sizeof(*s->clusters.text);
		copy->clusters.text = malloc(size);
		if (!copy->clusters.text) {
			screen_free(copy);
			return NULL;
		}
		memcpy(copy->clusters.text, s->clusters.text,
		       s->clusters.len * sizeof(*s->clusters.text));
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

/* Takes the row at `from` out and puts it in at `to`, blank. */
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
	if (s->top == 0 && s->emitter) {
		row_emit(s->lines[0], s->cols, &s->clusters, s->emitter);
		s->base++;
	}
	shift(s, s->top, s->bottom);
	s->lines[s->bottom]->wrapped = wrapped;
}

void screen_move(struct screen *s, bool down, unsigned from, unsigned to, unsigned count)
{
	if (count > to - from + 1)
		count = to - from + 1;
	while (count-- > 0)
		shift(s, down ? to : from, down ? from : to);
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
