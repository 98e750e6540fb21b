// The window changed: every line is laid out anew for the new width, and what no
// longer fits scrolls off the top. The alternate screen is only cut or extended,
// since programs redraw it.

#include "supervisor/base/utf8.h"
#include "supervisor/terminal/cell.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

static void print_cell(struct terminal *t, const struct screen *from, uint32_t cell)
{
	uint32_t next;
	uint32_t cp = cell_has_text(cell) ? cluster_first(&from->clusters, cell, &next) : ' ';
	char bytes[4];

	if (!cell_has_text(cell))
		next = 0;
	t->protect = (cell & CELL_PROTECTED) != 0;
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

/* A plain row's bytes. A character that is cut at their end stays so. */
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
	unsigned i, column;

	for (i = first; i <= last; i++) {
		const struct row *old = screen_row(from, i);

		plain = plain && old->plain && !old->partial;
		handed = handed && old->handed;
		if (i == from->y && from->x < old->end)
			plain = false;
	}
	for (i = first; i <= last; i++) {
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
	unsigned first, last;

	if (depth <= from->y)
		depth = from->y + 1;
	for (first = 0; first < depth; first = last + 1) {
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
	unsigned y;

	for (y = 0; y < rows; y++) {
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

/* What does not depend on the text. */
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
