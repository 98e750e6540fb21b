// Modes, resets, and the answers to what a program asks of the terminal.
//
// OSC 10/11 (colours) and the kitty keyboard's CSI ? u stay unanswered: programs
// take silence to mean that there is no such thing, and an answer would turn
// features on.

#include "supervisor/terminal/internal.h"

#include "lib/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Answers. */

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

void mode_reply(struct terminal *t)
{
	uint32_t n = t->parser.params[0];
	unsigned cols = t->options.cols, rows = t->options.rows;
	bool private = t->parser.collect >> 8 == '?' || t->parser.collect == '?';
	switch (t->final) {
	case 'c': /* DA1, DA2: a VT220 with colours, no version */
		if (n == 0)
			reply_answer(t, t->parser.collect ? "\033[>1;0;0c" : "\033[?62;22c");
		break;
	case 'n': /* DSR, DECXCPR */
		if (n == 5 && !private)
			reply_answer(t, "\033[0n");
		if (n != 6)
			break;
		if (t->appending)
			append_leave(t, true);
		unsigned x = 0, y = 0;
		const struct screen *s = t->screen;
		if (s) {
			x = s->x < s->cols ? s->x : s->cols - 1;
			y = t->modes.origin && s->y >= s->top ? s->y - s->top : s->y;
		}
		reply_answer(t, "\033[%s%u;%uR", private ? "?" : "", y + 1, x + 1);
		break;
	case 'q': /* XTVERSION */
		if (n == 0)
			reply_answer(t, "\033P>|terse(%s)\033\\", TERSE_VERSION);
		break;
	case 'p': /* DECRQM */
		reply_answer(t, "\033[%s%" PRIu32 ";%u$y", private ? "?" : "", n,
			     mode_report(t, n, private));
		break;
	case 't': /* XTWINOPS: the size in pixels and in characters */
		if (n == 14)
			reply_answer(t, "\033[4;%u;%ut", rows * CELL_HEIGHT, cols * CELL_WIDTH);
		if (n == 18)
			reply_answer(t, "\033[8;%u;%ut", rows, cols);
		break;
	default: break;
	}
}

/* Modes, resets and the alternate screen. */

/* Modes without a say in the text: a bit for each is kept to answer DECRQM. */
static const uint16_t reported[] = {1,    9,    12,   25,   66,   1000, 1002,
				    1003, 1004, 1006, 1016, 2004, 2026};
#define KEYPAD 66

/* Its place among them, or -1. */
static int mode_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(reported) / sizeof(*reported); i++)
		if (reported[i] == number)
			return (int)i;
	return -1;
}

static void mode_note(struct terminal *t, uint32_t number, bool on)
{
	uint32_t bit = UINT32_C(1) << mode_find(number);
	t->modes.reported = on ? t->modes.reported | bit : t->modes.reported & ~bit;
}

static void set_alternate(struct terminal *t, bool on)
{
	if (on == (t->screen != t->normal))
		return;
	TRACE(TERMINAL, "alternate screen %s", on ? "on" : "off");
	if (!on) {
		t->normal->x = t->alternate->x;
		t->normal->y = t->alternate->y;
		/* It stays to be looked at until it is entered again. */
		t->screen = t->normal;
		return;
	}
	if (!t->alternate)
		t->alternate = screen_new(t->normal->cols, t->normal->rows, NULL);
	if (!t->alternate) {
		strip_enter(t);
		return;
	}
	screen_clear(t->alternate);
	t->alternate->x = t->normal->x;
	t->alternate->y = t->normal->y;
	t->screen = t->alternate;
}

static void set_private(struct terminal *t, uint32_t number, bool on)
{
	if (mode_find(number) >= 0) {
		mode_note(t, number, on);
		return;
	}
	if (number != 6 && number != 7 && number != 47 && (number < 1047 || number > 1049))
		return;
	if (t->appending)
		append_leave(t, true);
	switch (number) {
	case 6:
		t->modes.origin = on;
		cursor_set(t, 0, 0);
		break;
	case 7: t->modes.wrap = on; break;
	case 1048:
		if (on)
			cursor_save(t);
		else
			cursor_restore(t);
		break;
	case 1049:
		if (on)
			cursor_save(t);
		set_alternate(t, on);
		if (!on)
			cursor_restore(t);
		break;
	default: set_alternate(t, on); break;
	}
}

void mode_change(struct terminal *t)
{
	bool on = t->final == 'h';
	if (t->parser.collect == '?') {
		for (unsigned i = 0; i < t->parser.count && !t->stripping; i++)
			set_private(t, t->parser.params[i], on);
		return;
	}
	if (t->appending)
		append_leave(t, true);
	for (unsigned i = 0; i < t->parser.count; i++) {
		if (t->parser.params[i] == 4)
			t->modes.insert = on;
		if (t->parser.params[i] == 20)
			t->modes.newline = on;
	}
}

void mode_keypad(struct terminal *t)
{
	mode_note(t, KEYPAD, t->final == '=');
}

void mode_init(struct terminal *t)
{
	t->modes = (struct modes){.wrap = true};
	mode_note(t, 25, true);
	t->charsets = (struct charsets){.level = 0};
	style_reset(t);
}

void mode_soft_reset(struct terminal *t)
{
	struct screen *s = t->screen;
	bool newline = t->modes.newline;
	mode_init(t);
	t->modes.newline = newline;
	s->top = 0;
	s->bottom = s->rows - 1;
	s->saved = (struct saved_cursor){.y = s->base};
}

static void modes_forget(struct screen *s)
{
	screen_clear(s);
	s->base = 0;
	s->saved = (struct saved_cursor){.x = 0};
}

void mode_full_reset(struct terminal *t)
{
	struct screen *s = t->normal;
	unsigned count = s->rows;
	set_alternate(t, false);
	/* The shown rows stay in the text, the new screen begins below. */
	while (count > 0 && !row_has_ink(screen_row(s, count - 1)))
		count--;
	for (unsigned y = 0; y < count; y++)
		row_emit(screen_row(s, y), s->cols, &s->clusters, &t->emitter);
	/* No more newlines are owed than the one that ends the last text. */
	t->emitter.owed = t->emitter.any;
	t->emitter.open = false;
	t->emitter.pad = 0;

	modes_forget(s);
	if (t->alternate)
		modes_forget(t->alternate);
	screen_begin(s, 0);
	mode_init(t);
	append_enter(t);
}

unsigned mode_report(const struct terminal *t, uint32_t number, bool private)
{
	bool on;
	if (!private) {
		switch (number) {
		case 2: return 4;
		case 4: return t->modes.insert ? 1 : 2;
		case 12: return 3;
		case 20: return t->modes.newline ? 1 : 2;
		default: return 0;
		}
	}
	switch (number) {
	case 6: on = t->modes.origin; break;
	case 7: on = t->modes.wrap; break;
	case 8: return 3;
	case 47:
	case 1047:
	case 1049: on = t->screen != t->normal; break;
	case 67:
	case 1005:
	case 1015: return 4;
	case 1048: return 1;
	default:
		if (mode_find(number) < 0)
			return 0;
		on = t->modes.reported >> mode_find(number) & 1;
	}
	return on ? 1 : 2;
}
