// Control sequences that change what is shown: erasing, inserting, deleting, scrolling.

#include "supervisor/terminal/internal.h"
#include "supervisor/terminal/row.h"

static uint32_t edit_count(const struct terminal *t)
{
	return parser_param(&t->parser, 0, 1);
}

static bool in_region(const struct screen *s)
{
	return s->y >= s->top && s->y <= s->bottom;
}

/* After an operation on a row: `changed` is its result. */
static void edit_note(struct terminal *t, unsigned y, bool changed)
{
	if (!changed)
		return;
	screen_changed(t->screen, y);
	t->lossy = true;
}

static bool is_selective(const struct terminal *t)
{
	return t->parser.collect == '?';
}

static void erase(struct terminal *t, unsigned y, unsigned from, unsigned to)
{
	struct screen *s = t->screen;
	struct row *row = screen_row(s, y);
	edit_note(t, y,
		  is_selective(t) ? row_erase_selective(row, s->cols, from, to)
				  : row_erase(row, s->cols, from, to));
}

/* Erases a whole row, which then no longer continues the one above. */
static void erase_row(struct terminal *t, unsigned y)
{
	erase(t, y, 0, t->screen->cols);
	screen_set_wrapped(t->screen, y, false);
	screen_row(t->screen, y)->begun = false;
}

/* Nothing that was shown is deleted: the rows down to the last one that was
   written scroll off, whatever the margins are. */
static void scroll_all(struct screen *s)
{
	unsigned top = s->top;
	unsigned bottom = s->bottom;
	unsigned count = s->rows;
	while (count > 0 && !row_has_text(screen_row(s, count - 1)))
		count--;
	s->top = 0;
	s->bottom = s->rows - 1;
	while (count-- > 0)
		screen_scroll(s, false);
	s->top = top;
	s->bottom = bottom;
}

void edit_erase_display(struct terminal *t)
{
	struct screen *s = t->screen;
	unsigned y;
	cursor_restrict(t, s->cols);
	switch (t->parser.params[0]) {
	case 0:
		erase(t, s->y, s->x, s->cols);
		if (s->x == 0)
			screen_set_wrapped(s, s->y, false);
		for (y = s->y + 1; y < s->rows; y++)
			erase_row(t, y);
		break;
	case 1:
		erase(t, s->y, 0, s->x + 1);
		screen_set_wrapped(s, s->y, false);
		if (s->x + 1 >= s->cols && s->y + 1 < s->rows)
			screen_set_wrapped(s, s->y + 1, false);
		for (y = 0; y < s->y; y++)
			erase_row(t, y);
		break;
	case 2:
		scroll_all(s);
		t->lossy = true;
		break;
	default: break;
	}
}

void edit_erase_line(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols);
	switch (t->parser.params[0]) {
	case 0:
		erase(t, s->y, s->x, s->cols);
		if (s->x == 0)
			screen_set_wrapped(s, s->y, false);
		break;
	case 1: erase(t, s->y, 0, s->x + 1); break;
	case 2:
		erase(t, s->y, 0, s->cols);
		screen_set_wrapped(s, s->y, false);
		break;
	default: break;
	}
}

void edit_erase_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = edit_count(t);
	cursor_restrict(t, s->cols - 1);
	if (count > s->cols)
		count = s->cols;
	edit_note(t, s->y, row_erase(screen_row(s, s->y), s->cols, s->x, s->x + count));
}

void edit_insert_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	edit_note(t, s->y, row_insert(screen_row(s, s->y), s->cols, s->x, edit_count(t)));
}

void edit_delete_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	edit_note(t, s->y, row_delete(screen_row(s, s->y), s->cols, s->x, edit_count(t)));
}

/* Inserts or deletes lines at the cursor. */
static void shift_lines(struct terminal *t,
			void (*shift)(struct screen *s, unsigned from, unsigned to, unsigned count))
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	if (!in_region(s))
		return;
	shift(s, s->y, s->bottom, edit_count(t));
	s->x = 0;
}

void edit_insert_lines(struct terminal *t)
{
	shift_lines(t, screen_move_down);
}

void edit_delete_lines(struct terminal *t)
{
	shift_lines(t, screen_move_up);
}

void edit_scroll_up(struct terminal *t)
{
	screen_move_up(t->screen, t->screen->top, t->screen->bottom, edit_count(t));
}

void edit_scroll_down(struct terminal *t)
{
	screen_move_down(t->screen, t->screen->top, t->screen->bottom, edit_count(t));
}

/* Inserts or deletes columns in all rows of the region. */
static void shift_columns(struct terminal *t,
			  bool (*change)(struct row *row, unsigned cols, unsigned at,
					 unsigned count),
			  unsigned at)
{
	struct screen *s = t->screen;
	if (!in_region(s))
		return;
	for (unsigned y = s->top; y <= s->bottom; y++) {
		edit_note(t, y, change(screen_row(s, y), s->cols, at, edit_count(t)));
		screen_set_wrapped(s, y, false);
	}
}

void edit_scroll_left(struct terminal *t)
{
	shift_columns(t, row_delete, 0);
}

void edit_scroll_right(struct terminal *t)
{
	shift_columns(t, row_insert, 0);
}

void edit_insert_columns(struct terminal *t)
{
	shift_columns(t, row_insert, t->screen->x);
}

void edit_delete_columns(struct terminal *t)
{
	shift_columns(t, row_delete, t->screen->x);
}

void edit_alignment(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_set(t, 0, 0);
	/* In origin mode xterm.js begins at the margin. */
	for (unsigned y = s->y; y < s->rows; y++) {
		s->low = s->rows - 1;
		row_fill(screen_row(s, y), s->cols, t->protect ? 'E' | CELL_PROTECTED : 'E');
		screen_changed(s, y);
		screen_set_wrapped(s, y, false);
	}
	cursor_set(t, 0, 0);
}
