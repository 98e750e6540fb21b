// See repaint.h.

#include "supervisor/terminal/repaint.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/terminal/internal.h"

#include <inttypes.h>
#include <string.h>

/* Private modes that a terminal has to know to send what the program understands. */
static const uint32_t kept[] = {1, 25, 1000, 1002, 1003, 1004, 1006, 1016, 2004};

/* In the order of `kept`, the keypad, colours, margins, and the normal screen. The cursor is saved
   so that it stays where it is: margins move it, and so does leaving a screen that is not on. */
const char terminal_unpaint[] = "\033[?1l\033[?25h\033[?1000l\033[?1002l\033[?1003l\033[?1004l"
				"\033[?1006l\033[?1016l\033[?2004l\033>\033[m\0337\033[r\0338\0337"
				"\033[?1049l";

static int add_modes(const struct terminal *t, struct buffer *out)
{
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		bool on = mode_report(t, kept[i], true) == 1;
		if (buffer_printf(out, "\033[?%" PRIu32 "%c", kept[i], on ? 'h' : 'l') < 0)
			return -1;
	}
	return buffer_append_string(out, mode_report(t, 66, true) == 1 ? "\033=" : "\033>");
}

static int add_title(const struct terminal *t, struct buffer *out)
{
	const char *title = terminal_title(t);
	return *title ? buffer_printf(out, "\033]2;%s\007", title) : 0;
}

/* Rows from the top, each where it is; blank ones are there already. */
static int repaint_add_rows(const char *text, size_t len, struct buffer *out)
{
	for (unsigned row = 1; len > 0; row++) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline ? (size_t)(newline - text) : len;
		if (n > 0 &&
		    (buffer_printf(out, "\033[%u;1H", row) < 0 || utf8_clean(out, text, n) < 0))
			return -1;
		n += newline != NULL;
		text += n;
		len -= n;
	}
	return 0;
}

int terminal_repaint(const struct terminal *t, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	int result = -1;

	if (terminal_picture(t, &picture, &row, &col) < 0 ||
	    buffer_append_string(out, terminal_unpaint) < 0 ||
	    (terminal_is_alternate(t) && buffer_append_string(out, "\033[?1049h") < 0) ||
	    buffer_append_string(out, "\033[H\033[2J") < 0 ||
	    repaint_add_rows(picture.data, picture.len, out) < 0 || add_title(t, out) < 0 ||
	    buffer_printf(out, "\033[%u;%uH", row, col) < 0)
		goto out;
	result = add_modes(t, out);
out:
	buffer_release(&picture);
	return result;
}
