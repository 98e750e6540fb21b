// Colours of cells (terminal.h: options.styles), and terminal_repaint(). A cell has the number of
// its style in the bits that its text leaves free; all styles of a terminal are in one table.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <string.h>

/* 38;5;N or 38;2;R;G;B: stores the colour and returns how many more parameters belong to it. */
static unsigned take_colour(const struct parser *p, unsigned i, uint32_t *colour)
{
	unsigned left = p->count - i - 1;
	if (left >= 2 && p->params[i + 1] == 5) {
		*colour = STYLE_PALETTE | (p->params[i + 2] & 255);
		return 2;
	}
	if (left >= 4 && p->params[i + 1] == 2) {
		*colour = STYLE_RGB | (p->params[i + 2] & 255) << 16 |
			  (p->params[i + 3] & 255) << 8 | (p->params[i + 4] & 255);
		return 4;
	}
	return left < 2 ? left : 2;
}

void style_take(struct terminal *t)
{
	/* Bold, faint, italic, underline, inverse, struck. */
	static const uint32_t known = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 7 | 1 << 9;
	static const struct style none = {0};
	const struct parser *p = &t->parser;
	struct styles *s = &t->styles;
	struct style *pen = &s->pen;
	if (!t->options.styles)
		return;
	for (unsigned i = 0; i < p->count; i++) {
		uint32_t n = p->params[i], colour = n % 10, bright = n >= 90 ? 8 : 0;
		uint32_t underline, *ground = n / 10 % 2 ? &pen->ink : &pen->paper;
		bool is_colour = (n >= 30 && n <= 49) || (n >= 90 && n <= 107);
		if (n == 0)
			*pen = none;
		if (n == 58)
			i += take_colour(p, i, &underline);
		else if (is_colour && colour == 8)
			i += bright ? 0 : take_colour(p, i, ground);
		else if (is_colour && colour == 9)
			*ground = bright ? *ground : 0;
		else if (is_colour)
			*ground = STYLE_PALETTE | (colour + bright);
		if (n < 10)
			pen->attributes |= UINT32_C(1) << n & known;
		else if (n == 21)
			pen->attributes |= 1 << 4; /* underlined twice */
		else if (n == 22)
			pen->attributes &= ~(UINT32_C(3) << 1);
		else if (n / 10 == 2)
			pen->attributes &= ~(UINT32_C(1) << (n - 20));
	}
	/* Finds the style's number in the table; if the table is full, the cell gets none. */
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
	if (colour & STYLE_RGB)
		buffer_printf(out, ";%u;2;%u;%u;%u", base + 8, n >> 16, n >> 8 & 255, n & 255);
	else if (colour && n < 8)
		buffer_printf(out, ";%u", base + n);
	else if (colour)
		buffer_printf(out, ";%u;5;%u", base + 8, n);
}

/* Adds the cells, row by row. Erased cells have no style, whatever colour they were erased with. */
static void repaint_cells(const struct terminal *t, struct buffer *out)
{
	static const struct style none = {0};
	const struct screen *s = t->screen;
	struct buffer text = BUFFER_INIT;
	struct emitter e = {.write = emitter_collect, .ctx = &text};
	for (unsigned y = 0; y < s->rows; y++) {
		const struct row *row = s->lines[y];
		for (unsigned x = 0, to; x < row->used; x = to) {
			uint32_t number = row->cells[x] & CELL_STYLE;
			for (to = x; to < row->used; to++)
				if ((row->cells[to] & CELL_STYLE) != number &&
				    !cell_is_stub(row->cells[to]))
					break;
			const struct style *style =
				number ? &t->styles.table[(number >> CELL_STYLE_SHIFT) - 1] : &none;
			struct row part = {.cells = row->cells + x, .used = to - x};
			buffer_clear(&text);
			row_emit_cells(&part, part.used, &s->clusters, &e);
			emitter_text(&e, "", 0); /* writes the owed blanks */
			buffer_printf(out, "\033[%u;%uH\033[0", y + 1, x + 1);
			for (unsigned i = 1; i < 10; i++) {
				if (style->attributes >> i & 1)
					buffer_printf(out, ";%u", i);
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

/* Resets the modes that are kept (mode.c), the keypad, colours and margins, and leaves the
   alternate screen. Saves the cursor first, since it is moved by resetting the margins, and by
   leaving the alternate screen when that is not on. */
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
