// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/terminal/terminal.h"

#include <inttypes.h>
#include <string.h>

/* Pixels of a cell, and where in it the line of writing is. */
#define CELL_WIDTH  8
#define CELL_HEIGHT 17
#define BASELINE    13
#define MARGIN      8

/* The colours of a terminal whose user has chosen none. */
#define INK   0xd8dee4u
#define PAPER 0x16191du

struct svg {
	struct buffer out;
	unsigned rows; /* down to the last one that has something */
};

/* One of `colour`, else the preset. The palette is that of xterm: 16 names, a cube of 6 x 6 x 6, 24
   greys. */
static uint32_t colour_of(uint32_t colour, uint32_t preset)
{
	static const uint32_t named[16] = {
		0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc, 0x11a8cd, 0xe5e5e5,
		0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6, 0x29b8db, 0xffffff,
	};
	static const uint8_t levels[6] = {0, 95, 135, 175, 215, 255};
	uint32_t n = colour & 255;
	if (!(colour & TERMINAL_PALETTE))
		return colour ? colour & 0xffffff : preset;
	if (n < 16)
		return named[n];
	if (n >= 232)
		return (8 + (n - 232) * 10) * 0x010101u;
	n -= 16;
	return (uint32_t)levels[n / 36] << 16 | (uint32_t)levels[n / 6 % 6] << 8 | levels[n % 6];
}

static void svg_on_run(void *ctx, unsigned row, unsigned column, unsigned width, const char *text,
		       size_t len, const struct terminal_style *style)
{
	static const struct {
		uint32_t attribute;
		const char *text;
	} attributes[] = {
		{TERMINAL_BOLD, " font-weight=\"bold\""},
		{TERMINAL_FAINT, " opacity=\"0.65\""},
		{TERMINAL_ITALIC, " font-style=\"italic\""},
		{TERMINAL_UNDERLINE, " text-decoration=\"underline\""},
		{TERMINAL_STRUCK, " text-decoration=\"line-through\""},
	};
	struct svg *s = ctx;
	struct buffer *out = &s->out, clean = BUFFER_INIT;
	bool inverse = style->attributes & TERMINAL_INVERSE;
	uint32_t own_ink = colour_of(style->ink, INK), own_paper = colour_of(style->paper, PAPER);
	uint32_t ink = inverse ? own_paper : own_ink, paper = inverse ? own_ink : own_paper;
	bool has_paper = style->paper || inverse;
	unsigned x = MARGIN + column * CELL_WIDTH, y = MARGIN + row * CELL_HEIGHT;
	if (has_paper)
		buffer_printf(
			out,
			"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" fill=\"#%06" PRIx32
			"\"/>\n",
			x, y, width * CELL_WIDTH, CELL_HEIGHT, paper);
	unsigned drawn = width * CELL_WIDTH;
	/* Without blanks at both ends, which some viewers do not keep. */
	for (; len > 0 && *text == ' '; text++, len--) {
		x += CELL_WIDTH;
		drawn -= CELL_WIDTH;
	}
	for (; len > 0 && text[len - 1] == ' '; len--)
		drawn -= CELL_WIDTH;
	if (has_paper || len > 0)
		s->rows = row + 1;
	if (len == 0)
		return;
	/* As wide as its cells, whatever font there is. */
	buffer_printf(out, "<text x=\"%u\" y=\"%u\" textLength=\"%u\" fill=\"#%06" PRIx32 "\"", x,
		      y + BASELINE, drawn, ink);
	for (size_t i = 0; i < sizeof(attributes) / sizeof(*attributes); i++) {
		if (style->attributes & attributes[i].attribute)
			buffer_append_string(out, attributes[i].text);
	}
	buffer_append_string(out, ">");
	utf8_clean(&clean, text, len);
	for (size_t i = 0; i < clean.len; i++) {
		if (strchr("<>&", clean.data[i]) && clean.data[i])
			buffer_printf(out, "&#%d;", clean.data[i]);
		else
			buffer_append(out, &clean.data[i], 1);
	}
	out->failed |= clean.failed;
	buffer_release(&clean);
	buffer_append_string(out, "</text>\n");
}

static void svg_on_text(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
}

struct terminal *svg_terminal(const json_t *cols, const json_t *rows)
{
	const struct terminal_options options = {
		.cols = (unsigned)json_integer_value(cols),
		.rows = (unsigned)json_integer_value(rows),
		.collapse = true,
		.styles = true,
	};
	const struct terminal_events events = {.text = svg_on_text};
	return terminal_new(&options, &events);
}

int svg_write(const char *path, const struct terminal *t)
{
	struct svg s = {.rows = 0};
	const struct terminal_painter painter = {svg_on_run, &s};
	struct buffer out = BUFFER_INIT;
	out.failed = terminal_paint(t, &painter) < 0;
	unsigned width = terminal_facts(t).cols * CELL_WIDTH + 2 * MARGIN,
		 height = s.rows * CELL_HEIGHT + 2 * MARGIN;
	buffer_printf(&out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
		      "viewBox=\"0 0 %u %u\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
		      "monospace\" font-size=\"13\" style=\"white-space:pre\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#%06x\"/>\n",
		      width, height, width, height, PAPER);
	buffer_add(&out, &s.out);
	buffer_append_string(&out, "</svg>\n");
	buffer_release(&s.out);
	int result = output_write(path, &out);
	buffer_release(&out);
	return result;
}

int screen_print(const char *rows, size_t len)
{
	struct buffer clean = BUFFER_INIT, shown = BUFFER_INIT;
	while (len > 1 && rows[len - 1] == '\n' && rows[len - 2] == '\n')
		len--;
	utf8_clean(&clean, rows, len == 1 ? 0 : len);
	guard_text(&shown, clean.data, clean.len, GUARD_LINE);
	shown.failed |= clean.failed;
	int result = verb_write(&shown);
	buffer_release(&clean);
	buffer_release(&shown);
	return result;
}
