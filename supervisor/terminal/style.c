// Colours of cells (terminal.h: options.styles), and the screen painted. A cell has the number of
// its style in the bits that text leaves free; all styles of a terminal are in one table.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <errno.h>
#include <string.h>

void style_reset(struct terminal *t)
{
	t->styles.pen = (struct terminal_style){0};
	t->style = 0;
}

/* 38;5;N or 38;2;R;G;B: stores the colour and returns how many more parameters belong to it. */
static unsigned take_colour(const struct parser *p, unsigned i, uint32_t *colour)
{
	unsigned left = p->count - i - 1;
	if (left >= 2 && p->params[i + 1] == 5) {
		*colour = TERMINAL_PALETTE | (p->params[i + 2] & 255);
		return 2;
	}
	if (left >= 4 && p->params[i + 1] == 2) {
		*colour = TERMINAL_RGB | (p->params[i + 2] & 255) << 16 |
			  (p->params[i + 3] & 255) << 8 | (p->params[i + 4] & 255);
		return 4;
	}
	return left < 2 ? left : 2;
}

void style_take(struct terminal *t)
{
	/* Bold, faint, italic, underline, inverse, struck; and what ends them. */
	static const struct {
		uint8_t param, set, clear;
	} rows[] = {
		{1, TERMINAL_BOLD, 0},       {2, TERMINAL_FAINT, 0},
		{3, TERMINAL_ITALIC, 0},     {4, TERMINAL_UNDERLINE, 0},
		{7, TERMINAL_INVERSE, 0},    {9, TERMINAL_STRUCK, 0},
		{21, TERMINAL_UNDERLINE, 0}, {22, 0, TERMINAL_BOLD | TERMINAL_FAINT},
		{23, 0, TERMINAL_ITALIC},    {24, 0, TERMINAL_UNDERLINE},
		{27, 0, TERMINAL_INVERSE},   {29, 0, TERMINAL_STRUCK},
	};
	static const struct terminal_style none = {0};
	const struct parser *p = &t->parser;
	struct styles *s = &t->styles;
	struct terminal_style *pen = &s->pen;
	if (!t->options.styles)
		return;
	for (unsigned i = 0; i < p->count; i++) {
		uint32_t n = p->params[i], colour = n % 10, bright = n >= 90 ? 8 : 0;
		uint32_t underline, *ground = n / 10 % 2 ? &pen->ink : &pen->paper;
		bool is_colour = (n >= 30 && n <= 49) || (n >= 90 && n <= 107);
		if (n == 0)
			style_reset(t);
		if (n == 58)
			i += take_colour(p, i, &underline);
		else if (is_colour && colour == 8)
			i += bright ? 0 : take_colour(p, i, ground);
		else if (is_colour && colour == 9)
			*ground = bright ? *ground : 0;
		else if (is_colour)
			*ground = TERMINAL_PALETTE | (colour + bright);
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
			if (rows[k].param == n)
				pen->attributes =
					(pen->attributes | rows[k].set) & ~(uint32_t)rows[k].clear;
	}
	/* Its number in the table; none if that is full. */
	unsigned number = 0;
	while (number < s->count && memcmp(pen, &s->table[number], sizeof(*pen)) != 0)
		number++;
	if (memcmp(pen, &none, sizeof(none)) == 0 || number == STYLES) {
		t->style = 0;
		return;
	}
	if (number == s->count)
		s->table[s->count++] = *pen;
	t->style = (number + 1) << CELL_STYLE_SHIFT;
}

/* 31, 38;5;N or 38;2;R;G;B; `base`: 30 for ink, 40 for paper. */
static void add_colour(struct buffer *out, unsigned base, uint32_t colour)
{
	uint32_t n = colour & 0xffffff;
	if (colour & TERMINAL_RGB)
		buffer_printf(out, ";%u;2;%u;%u;%u", base + 8, n >> 16, n >> 8 & 255, n & 255);
	else if (colour && n < 8)
		buffer_printf(out, ";%u", base + n);
	else if (colour)
		buffer_printf(out, ";%u;5;%u", base + 8, n);
}

/* Adds the cells, a row after the other. What was erased has no style, whatever colour it was
   erased with. */
static void repaint_cells(const struct terminal *t, struct buffer *out)
{
	static const uint8_t params[] = {1, 2, 3, 4, 7, 9}; /* in the order of the bits */
	static const struct terminal_style none = {0};
	const struct screen *s = t->screen;
	struct buffer text = BUFFER_INIT;
	struct emitter e = {.write = emitter_collect, .ctx = &text};
	for (unsigned y = 0; y < s->rows; y++) {
		const struct row *row = s->lines[y];
		/* The cells that have one style, at a time. */
		for (unsigned x = 0, to; x < row->used; x = to) {
			uint32_t number = row->cells[x] & CELL_STYLE;
			for (to = x; to < row->used; to++)
				if ((row->cells[to] & CELL_STYLE) != number &&
				    !cell_is_stub(row->cells[to]))
					break;
			const struct terminal_style *style =
				number ? &t->styles.table[(number >> CELL_STYLE_SHIFT) - 1] : &none;
			struct row part = {.cells = row->cells + x, .used = to - x};
			buffer_clear(&text);
			row_emit_cells(&part, part.used, &s->clusters, &e);
			emitter_text(&e, "", 0); /* blanks at its end */
			buffer_printf(out, "\033[%u;%uH\033[0", y + 1, x + 1);
			for (size_t i = 0; i < sizeof(params); i++) {
				if (style->attributes >> i & 1)
					buffer_printf(out, ";%d", params[i]);
			}
			add_colour(out, 30, style->ink);
			add_colour(out, 40, style->paper);
			buffer_append_string(out, "m");
			utf8_clean(out, text.data, text.len);
			out->failed |= text.failed;
		}
	}
	buffer_release(&text);
}

/* The modes that are kept (mode.c), the keypad, colours, margins, and the normal screen. The cursor
   is saved so that it stays where it is: margins move it, and so does leaving a screen that is not
   on. */
const char terminal_unpaint[] = "\033[?1l\033[?25h\033[?1000l\033[?1002l\033[?1003l\033[?1004l"
				"\033[?1006l\033[?1016l\033[?2004l\033>\033[m\0337\033[r\0338\0337"
				"\033[?1049l";

int terminal_repaint(const struct terminal *t, struct buffer *out)
{
	unsigned row, col;
	struct terminal copy;
	if (terminal_copy(&copy, t, NULL) < 0)
		return -1;
	terminal_find_cursor(&copy, &row, &col);
	buffer_append_string(out, terminal_unpaint);
	if (t->screen != t->normal)
		buffer_append_string(out, "\033[?1049h");
	buffer_append_string(out, "\033[H\033[2J");
	repaint_cells(&copy, out);
	terminal_copy_end(&copy);
	buffer_append_string(out, "\033[m");
	if (*t->string.title)
		buffer_printf(out, "\033]2;%s\007", t->string.title);
	buffer_printf(out, "\033[%u;%uH", row, col);
	mode_repaint(t, out);
	return buffer_check(out);
}
