// Answers to queries of the program.
//
// OSC 10/11 (colours) and the kitty keyboard's CSI ? u stay unanswered: programs
// take silence to mean that there is no such thing, and an answer would turn
// features on.

#include "supervisor/terminal/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* The size of a character in pixels that window reports pretend. */
#define CELL_HEIGHT 20
#define CELL_WIDTH  10

__attribute__((format(printf, 2, 3))) static void reply_answer(struct terminal *t,
							       const char *format, ...)
{
	char text[64];
	va_list args;
	int len;

	if (!t->events.reply)
		return;
	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len > 0 && (size_t)len < sizeof(text))
		t->events.reply(t->events.ctx, text, (size_t)len);
}

/* DA1: a VT220 with colours. */
void reply_attributes(struct terminal *t)
{
	if (t->parser.params[0] == 0)
		reply_answer(t, "\033[?62;22c");
}

/* DA2: a VT220, no version. */
void reply_attributes_secondary(struct terminal *t)
{
	if (t->parser.params[0] == 0)
		reply_answer(t, "\033[>1;0;0c");
}

static void position(struct terminal *t, const char *prefix)
{
	const struct screen *s;
	unsigned x = 0;
	unsigned y = 0;

	if (t->appending)
		append_leave(t, true);
	s = t->screen;
	if (s) {
		x = s->x < s->cols ? s->x : s->cols - 1;
		y = t->modes.origin && s->y >= s->top ? s->y - s->top : s->y;
	}
	reply_answer(t, "\033[%s%u;%uR", prefix, y + 1, x + 1);
}

/* DSR */
void reply_status(struct terminal *t)
{
	if (t->parser.params[0] == 5)
		reply_answer(t, "\033[0n");
	if (t->parser.params[0] == 6)
		position(t, "");
}

/* DECXCPR */
void reply_status_private(struct terminal *t)
{
	if (t->parser.params[0] == 6)
		position(t, "?");
}

/* XTVERSION */
void reply_version(struct terminal *t)
{
	if (t->parser.params[0] == 0)
		reply_answer(t, "\033P>|terse(%s)\033\\", TERSE_VERSION);
}

/* DECRQM */
void reply_mode(struct terminal *t)
{
	uint32_t mode = t->parser.params[0];

	reply_answer(t, "\033[%" PRIu32 ";%u$y", mode, mode_report(t, mode, false));
}

void reply_mode_private(struct terminal *t)
{
	uint32_t mode = t->parser.params[0];

	reply_answer(t, "\033[?%" PRIu32 ";%u$y", mode, mode_report(t, mode, true));
}

/* XTWINOPS: the size in pixels and in characters. */
void reply_window(struct terminal *t)
{
	unsigned cols = t->options.cols;
	unsigned rows = t->options.rows;

	if (t->parser.params[0] == 14)
		reply_answer(t, "\033[4;%u;%ut", rows * CELL_HEIGHT, cols * CELL_WIDTH);
	if (t->parser.params[0] == 18)
		reply_answer(t, "\033[8;%u;%ut", rows, cols);
}
