// Moving the cursor. Semantics are those of xterm.js, which are xterm's but for
// some quirks in origin mode.

#include "supervisor/terminal/internal.h"
#include "supervisor/terminal/row.h"

static uint32_t cursor_param(const struct terminal *t)
{
	return parser_param(&t->parser, 0, 1);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

static void cursor_restrict(struct terminal *t, unsigned last)
{
	struct screen *s = t->screen;
	if (s->x > last)
		s->x = last;
	if (t->modes.origin)
		s->y = (unsigned)clamp(s->y, s->top, s->bottom);
}

void cursor_set(struct terminal *t, int64_t x, int64_t y)
{
	struct screen *s = t->screen;
	if (t->modes.origin)
		y = clamp(y + s->top, s->top, s->bottom);
	s->x = (unsigned)clamp(x, 0, s->cols - 1);
	s->y = (unsigned)clamp(y, 0, s->rows - 1);
}

static void move(struct terminal *t, int64_t dx, int64_t dy)
{
	cursor_restrict(t, t->screen->cols - 1);
	cursor_set(t, t->screen->x + dx, t->screen->y + dy);
}

void cursor_up(struct terminal *t)
{
	const struct screen *s = t->screen;
	int64_t count = cursor_param(t);
	if (s->y >= s->top && count > s->y - s->top)
		count = s->y - s->top;
	move(t, 0, -count);
}

void cursor_down(struct terminal *t)
{
	const struct screen *s = t->screen;
	int64_t count = cursor_param(t);
	if (s->y <= s->bottom && count > s->bottom - s->y)
		count = s->bottom - s->y;
	move(t, 0, count);
}

void cursor_forward(struct terminal *t)
{
	move(t, cursor_param(t), 0);
}

void cursor_backward(struct terminal *t)
{
	move(t, -(int64_t)cursor_param(t), 0);
}

void cursor_line_down(struct terminal *t)
{
	cursor_down(t);
	t->screen->x = 0;
}

void cursor_line_up(struct terminal *t)
{
	cursor_up(t);
	t->screen->x = 0;
}

void cursor_column(struct terminal *t)
{
	cursor_set(t, (int64_t)cursor_param(t) - 1, t->screen->y);
}

void cursor_line(struct terminal *t)
{
	cursor_set(t, t->screen->x, (int64_t)cursor_param(t) - 1);
}

void cursor_position(struct terminal *t)
{
	cursor_set(t, (int64_t)parser_param(&t->parser, 1, 1) - 1, (int64_t)cursor_param(t) - 1);
}

void cursor_line_forward(struct terminal *t)
{
	move(t, 0, cursor_param(t));
}

void cursor_index(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	if (s->y == s->bottom)
		screen_scroll(s, false);
	else if (s->y + 1 < s->rows)
		s->y++;
	cursor_restrict(t, s->cols - 1);
}

void cursor_next_line(struct terminal *t)
{
	t->screen->x = 0;
	cursor_index(t);
}

void cursor_reverse_index(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	if (s->y == s->top) {
		screen_move_down(s, s->top, s->bottom, 1);
	} else {
		if (s->y > 0)
			s->y--;
		cursor_restrict(t, s->cols - 1);
	}
}

void cursor_save(struct terminal *t)
{
	struct screen *s = t->screen;
	s->saved = (struct saved_cursor){
		.x = s->x,
		.y = s->base + s->y,
		.protect = t->protect,
		.charset = t->charsets.current,
	};
}

void cursor_restore(struct terminal *t)
{
	struct screen *s = t->screen;
	s->x = s->saved.x;
	/* The place moved up with the text, at most to the top. */
	s->y = s->saved.y > s->base
		       ? (unsigned)clamp((int64_t)(s->saved.y - s->base), 0, s->rows - 1)
		       : 0;
	t->protect = s->saved.protect;
	t->charsets.current = s->saved.charset;
	cursor_restrict(t, s->cols - 1);
}

void cursor_backspace(struct terminal *t)
{
	struct screen *s = t->screen;
	const struct row *row;
	if (!t->modes.reverse_wrap) {
		cursor_restrict(t, s->cols - 1);
		if (s->x > 0)
			s->x--;
		return;
	}

	cursor_restrict(t, s->cols);
	if (s->x > 0) {
		s->x--;
	} else if (s->y > s->top && s->y <= s->bottom && screen_row(s, s->y)->wrapped) {
		/* Back over the soft wrap, and over the gap before a wide character. */
		screen_set_wrapped(s, s->y, false);
		s->y--;
		s->x = s->cols - 1;
		row = screen_row(s, s->y);
		if (cell_width(row->cells[s->x]) && !cell_has_text(row->cells[s->x]))
			s->x--;
	}
	cursor_restrict(t, s->cols - 1);
}

void cursor_tab_forward(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = cursor_param(t);
	if (s->x >= s->cols)
		return;
	while (count-- > 0 && s->x + 1 < s->cols)
		s->x = screen_next_tab(s);
}

void cursor_tab_backward(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = cursor_param(t);
	if (s->x >= s->cols)
		return;
	while (count-- > 0 && s->x > 0)
		s->x = screen_previous_tab(s);
}

void cursor_tab_set(struct terminal *t)
{
	struct screen *s = t->screen;
	if (s->x >= s->cols)
		return;
	s->tabs[s->x] = true;
	s->own_tabs = true;
}

void cursor_tab_clear(struct terminal *t)
{
	struct screen *s = t->screen;
	unsigned x;
	if (t->parser.params[0] == 0 && s->x < s->cols)
		s->tabs[s->x] = false;
	if (t->parser.params[0] == 3)
		for (x = 0; x < s->cols; x++)
			s->tabs[x] = false;
	s->own_tabs = true;
}

void cursor_region(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t top = cursor_param(t);
	uint32_t bottom = parser_param(&t->parser, 1, s->rows);
	if (bottom > s->rows)
		bottom = s->rows;
	if (bottom > top) {
		s->top = top - 1;
		s->bottom = bottom - 1;
		cursor_set(t, 0, 0);
	}
}

// Erasing, inserting, deleting, scrolling.

static uint32_t edit_param(const struct terminal *t)
{
	return parser_param(&t->parser, 0, 1);
}

/* After an operation on a row that tells whether it changed anything. */
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

/* A whole row, which no longer continues the one above. */
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
	uint32_t count = edit_param(t);
	cursor_restrict(t, s->cols - 1);
	if (count > s->cols)
		count = s->cols;
	edit_note(t, s->y, row_erase(screen_row(s, s->y), s->cols, s->x, s->x + count));
}

void edit_insert_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	edit_note(t, s->y, row_insert(screen_row(s, s->y), s->cols, s->x, edit_param(t)));
}

void edit_delete_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	edit_note(t, s->y, row_delete(screen_row(s, s->y), s->cols, s->x, edit_param(t)));
}

static bool in_region(const struct screen *s)
{
	return s->y >= s->top && s->y <= s->bottom;
}

void edit_insert_lines(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	if (!in_region(s))
		return;
	screen_move_down(s, s->y, s->bottom, edit_param(t));
	s->x = 0;
}

void edit_delete_lines(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, s->cols - 1);
	if (!in_region(s))
		return;
	screen_move_up(s, s->y, s->bottom, edit_param(t));
	s->x = 0;
}

void edit_scroll_up(struct terminal *t)
{
	screen_move_up(t->screen, t->screen->top, t->screen->bottom, edit_param(t));
}

void edit_scroll_down(struct terminal *t)
{
	screen_move_down(t->screen, t->screen->top, t->screen->bottom, edit_param(t));
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
		edit_note(t, y, change(screen_row(s, y), s->cols, at, edit_param(t)));
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
