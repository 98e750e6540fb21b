// Moving the cursor. Semantics are those of xterm.js, which are xterm's but for
// some quirks in origin mode.

#include "supervisor/terminal/cell.h"
#include "supervisor/terminal/internal.h"

static uint32_t cursor_param(const struct terminal *t)
{
	return parser_param(&t->parser, 0, 1);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

void cursor_restrict(struct terminal *t, unsigned last)
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
