// Colours of cells, for pictures (terminal.h: options.styles). A cell has the number of its style
// in the bits that text leaves free; all styles of a terminal are in one table.

#include "lib/buffer.h"
#include "supervisor/terminal/internal.h"

#include <errno.h>
#include <string.h>

/* The style with this look, added if there is room; else none. */
static uint32_t style_number(struct styles *s)
{
	static const struct terminal_style none = {0};
	const struct terminal_style *pen = &s->pen;
	if (memcmp(pen, &none, sizeof(none)) == 0)
		return 0;
	for (unsigned i = 0; i < s->count; i++) {
		if (memcmp(pen, &s->table[i], sizeof(*pen)) == 0)
			return i + 1;
	}
	if (s->count == STYLES)
		return 0;
	s->table[s->count++] = *pen;
	return s->count;
}

void style_reset(struct terminal *t)
{
	t->styles.pen = (struct terminal_style){0};
	t->style = 0;
}

/* 38;5;N or 38;2;R;G;B: stores the colour and returns how many parameters belong to it. */
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
	return left;
}

/* Bold, faint, italic, underline, inverse, struck; and what ends them. */
static void take_attribute(struct terminal_style *pen, uint32_t param)
{
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
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].param == param)
			pen->attributes =
				(pen->attributes | rows[i].set) & ~(uint32_t)rows[i].clear;
	}
}

void style_take(struct terminal *t)
{
	const struct parser *p = &t->parser;
	struct terminal_style *pen = &t->styles.pen;
	for (unsigned i = 0; i < p->count; i++) {
		uint32_t n = p->params[i];
		if (n == 0)
			style_reset(t);
		else if (n == 38)
			i += take_colour(p, i, &pen->ink);
		else if (n == 48)
			i += take_colour(p, i, &pen->paper);
		else if (n >= 30 && n <= 37)
			pen->ink = TERMINAL_PALETTE | (n - 30);
		else if (n >= 40 && n <= 47)
			pen->paper = TERMINAL_PALETTE | (n - 40);
		else if (n >= 90 && n <= 97)
			pen->ink = TERMINAL_PALETTE | (n - 90 + 8);
		else if (n >= 100 && n <= 107)
			pen->paper = TERMINAL_PALETTE | (n - 100 + 8);
		else if (n == 39)
			pen->ink = 0;
		else if (n == 49)
			pen->paper = 0;
		else
			take_attribute(pen, n);
	}
	t->style = style_number(&t->styles) << CELL_STYLE_SHIFT;
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

void style_add_sequence(struct buffer *out, const struct terminal_style *style)
{
	static const uint8_t params[] = {1, 2, 3, 4, 7, 9}; /* in the order of the bits */
	buffer_append_string(out, "\033[0");
	for (size_t i = 0; i < sizeof(params); i++) {
		if (style->attributes >> i & 1)
			buffer_printf(out, ";%d", params[i]);
	}
	add_colour(out, 30, style->ink);
	add_colour(out, 40, style->paper);
	buffer_append_string(out, "m");
}

/* Reports the cells from `from` on that have one style. Returns the first one behind them. *failed:
   there was no memory for their text. */
static unsigned style_report(const struct terminal *t, unsigned y, unsigned from,
			     const struct terminal_painter *painter, bool *failed)
{
	static const struct terminal_style none = {0};
	const struct screen *s = t->screen;
	const struct row *row = screen_row(s, y);
	uint32_t style = row->cells[from] & CELL_STYLE;
	struct buffer text = BUFFER_INIT;
	struct emitter e = {.write = emitter_collect, .ctx = &text};
	unsigned to = from;
	while (to < row->used &&
	       ((row->cells[to] & CELL_STYLE) == style || cell_is_stub(row->cells[to])))
		to++;
	struct row part = {.cells = row->cells + from, .used = to - from};
	row_emit_cells(&part, part.used, &s->clusters, &e);
	emitter_text(&e, "", 0); /* blanks at its end */
	if (buffer_check(&text) == 0)
		painter->run(painter->ctx, y, from, to - from, text.data, text.len,
			     style ? &t->styles.table[(style >> CELL_STYLE_SHIFT) - 1] : &none);
	else
		*failed = true;
	buffer_release(&text);
	return to;
}

int terminal_paint(const struct terminal *t, const struct terminal_painter *painter)
{
	bool failed = false;
	for (unsigned y = 0; t->screen && y < t->screen->rows; y++) {
		for (unsigned x = 0; x < screen_row(t->screen, y)->used;)
			x = style_report(t, y, x, painter, &failed);
	}
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
