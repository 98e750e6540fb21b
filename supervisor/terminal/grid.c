// The grid gear: text into cells.

#include <string.h>

#include "supervisor/base/utf8.h"
#include "supervisor/terminal/cell.h"
#include "supervisor/terminal/internal.h"
#include "supervisor/terminal/width.h"

#define BOM 0xFEFF

void grid_line_feed(struct terminal *t)
{
	struct screen *s = t->screen;
	/* A newline below text that a program put further down by moving the
	   cursor is a line of the text; one in the empty part of the screen is not. */
	bool begun = s->y == 0 || screen_row(s, s->y)->begun || !row_is_blank(screen_row(s, s->y));

	if (s->y == s->bottom)
		screen_scroll(s, false);
	else if (s->y + 1 < s->rows)
		screen_set_wrapped(s, ++s->y, false);
	if (begun)
		screen_row(s, s->y)->begun = true;
	if (s->x >= s->cols)
		s->x = s->cols - 1;
}

/* The last column was written and more comes: on to the next row. */
static void soft_wrap(struct terminal *t)
{
	struct screen *s = t->screen;

	s->x = 0;
	if (s->y == s->bottom) {
		screen_scroll(s, true);
		return;
	}
	if (s->y + 1 < s->rows)
		s->y++;
	screen_set_wrapped(s, s->y, true);
}

static void print_ascii(struct terminal *t, const char *data, size_t len)
{
	struct screen *s = t->screen;

	while (len > 0) {
		size_t n;

		if (s->x >= s->cols) {
			if (t->modes.wrap) {
				soft_wrap(t);
			} else {
				/* Each one overwrites the last column. */
				s->x = s->cols - 1;
				data += len - 1;
				len = 1;
			}
		}
		n = len < s->cols - s->x ? len : s->cols - s->x;
		if (screen_put_ascii(s, data, (unsigned)n))
			t->lossy = true;
		data += n;
		len -= n;
	}
	t->width = 1;
}

/* A mark that joins the character before it. */
static void print_mark(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	const struct row *row = screen_row(s, s->y);
	unsigned x = s->x - 1;

	if (x > 0 && cell_width(row->cells[x]) == 0)
		x--;
	if (!screen_put_mark(s, x, cp, bytes, len))
		t->lossy = true;
}

void grid_print(struct terminal *t, uint32_t cp, const char *bytes, unsigned len)
{
	struct screen *s = t->screen;
	unsigned width;
	uint32_t cell;

	if (cp == BOM) {
		screen_put_bytes(s, bytes, len);
		return;
	}

	width = cp >= CELL_INVALID ? 1 : width_of(cp);
	/* At the end of a full row xterm.js loses a mark that stands alone. */
	if (width == 0 && s->x > 0 && (t->width || s->x >= s->cols)) {
		print_mark(t, cp, bytes, len);
		return;
	}
	t->width = width;

	if (s->x + width > s->cols) {
		if (t->modes.wrap) {
			/* A wide character leaves a gap at the end of the row. */
			if (s->x < s->cols &&
			    row_erase(screen_row(s, s->y), s->cols, s->x, s->cols)) {
				screen_changed(s, s->y);
				t->lossy = true;
			}
			soft_wrap(t);
		} else {
			s->x = s->cols - 1;
			if (width == 2) {
				t->lossy = true;
				return;
			}
		}
	}

	if (t->modes.insert && width && row_insert(screen_row(s, s->y), s->cols, s->x, width)) {
		screen_changed(s, s->y);
		t->lossy = true;
	}

	cell = t->protect ? cp | CELL_PROTECTED : cp;
	if (screen_put(s, cell, width, bytes, len))
		t->lossy = true;
}

void grid_print_invalid(struct terminal *t, const char *bytes, unsigned len)
{
	unsigned i;

	/* One column, as for the replacement character that xterm shows. */
	grid_print(t, CELL_INVALID + (unsigned char)bytes[0], bytes, 1);
	for (i = 1; i < len; i++)
		print_mark(t, CELL_INVALID + (unsigned char)bytes[i], bytes + i, 1);
}

static void print_text(struct terminal *t, const char *data, size_t len)
{
	size_t i;

	if (!t->modes.insert && !t->protect && t->charsets.current == CHARSET_ASCII) {
		print_ascii(t, data, len);
		return;
	}
	for (i = 0; i < len; i++) {
		char bytes[4];
		uint32_t cp = charset_map(t->charsets.current, (unsigned char)data[i]);

		grid_print(t, cp, bytes, (unsigned)utf8_put(cp, bytes));
	}
}

void grid_repeat(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t text[CLUSTER_MARKS + 1];
	uint32_t count = parser_param(&t->parser, 0, 1);
	uint32_t cell, next;
	unsigned len = 0, i;

	if (!t->width || s->x < t->width)
		return;
	cell = screen_row(s, s->y)->cells[s->x - t->width];
	if (!cell_has_text(cell))
		return;
	text[len++] = cluster_first(&s->clusters, cell, &next);
	while (next)
		text[len++] = cluster_next(&s->clusters, &next);

	/* A screen full is as much as anyone means. */
	if (count > s->rows * s->cols)
		count = s->rows * s->cols;
	while (count-- > 0) {
		for (i = 0; i < len; i++) {
			char bytes[4];

			if (text[i] >= CELL_INVALID) {
				bytes[0] = (char)(text[i] - CELL_INVALID);
				grid_print(t, text[i], bytes, 1);
			} else {
				grid_print(t, text[i], bytes, (unsigned)utf8_put(text[i], bytes));
			}
		}
	}
}

const char *grid_feed(struct terminal *t, const char *p, const char *end)
{
	while (p < end) {
		unsigned char c = (unsigned char)*p;

		if (t->partial_len || c >= 0x80) {
			p = terminal_resume(t, p, end);
		} else if (c >= 0x20 && c != 0x7F) {
			size_t n = t->scan->ascii(p, (size_t)(end - p));

			print_text(t, p, n);
			p += n;
			continue;
		} else if (c == 0x1B) {
			parser_step(&t->parser, c);
			return p + 1;
		} else {
			p++;
			if (c != 0x7F)
				dispatch_control(t, c);
			else
				t->lossy = true;
			if (c == '\n')
				append_enter(t);
		}
		if (t->parser.state != PARSER_GROUND || t->appending || t->stripping)
			break;
	}
	return p;
}

void grid_replay(struct terminal *t, const char *data, size_t len)
{
	const char *p = data;
	const char *end = data + len;

	while (p < end) {
		unsigned char c = (unsigned char)*p;

		if (t->partial_len || c >= 0x80) {
			p = terminal_resume(t, p, end);
		} else if (c >= 0x20) {
			size_t n = t->scan->ascii(p, (size_t)(end - p));

			print_ascii(t, p, n);
			p += n;
		} else {
			t->width = 0;
			if (c == '\n') {
				t->screen->x = 0;
				grid_line_feed(t);
			} else {
				screen_tab(t->screen);
			}
			p++;
		}
	}
}
