// Answers to queries of the program.
//
// OSC 10/11 (colours) and the kitty keyboard's CSI ? u stay unanswered: programs
// take silence to mean that there is no such thing, and an answer would turn
// features on.

#include "supervisor/terminal/internal.h"

#include "lib/trace.h"

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
	unsigned x = 0;
	unsigned y = 0;
	if (t->appending)
		append_leave(t, true);
	const struct screen *s = t->screen;
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

// Modes, resets and the alternate screen.

/* Modes without a say in the text, kept to answer DECRQM. */
enum reported {
	CURSOR_KEYS,
	BLINK,
	CURSOR,
	KEYPAD,
	MOUSE_X10,
	MOUSE_CLICK,
	MOUSE_DRAG,
	MOUSE_ANY,
	FOCUS,
	MOUSE_SGR,
	MOUSE_PIXELS,
	PASTE,
	SYNCHRONIZED,
};

static void set_charsets(struct terminal *t, bool on)
{
	if (!on)
		return;
	for (unsigned number = 0; number < 4; number++)
		charsets_designate(&t->charsets, number, CHARSET_ASCII);
}

static void set_origin(struct terminal *t, bool on)
{
	t->modes.origin = on;
	cursor_set(t, 0, 0);
}

static void set_wrap(struct terminal *t, bool on)
{
	t->modes.wrap = on;
}

static void set_reverse_wrap(struct terminal *t, bool on)
{
	t->modes.reverse_wrap = on;
}

static void leave_alternate(struct terminal *t)
{
	if (t->screen == t->normal)
		return;
	TRACE(TERMINAL, "alternate screen off");
	t->normal->x = t->alternate->x;
	t->normal->y = t->alternate->y;
	/* It stays to be looked at until it is entered again. */
	t->screen = t->normal;
}

static void set_alternate(struct terminal *t, bool on)
{
	if (!on) {
		leave_alternate(t);
		return;
	}
	if (t->screen != t->normal)
		return;
	if (!t->alternate) {
		t->alternate = screen_new(t->normal->cols, t->normal->rows, NULL);
		if (!t->alternate) {
			strip_enter(t);
			return;
		}
	}
	TRACE(TERMINAL, "alternate screen on");
	screen_clear(t->alternate);
	t->alternate->x = t->normal->x;
	t->alternate->y = t->normal->y;
	t->screen = t->alternate;
}

static void set_saved_cursor(struct terminal *t, bool on)
{
	if (on)
		cursor_save(t);
	else
		cursor_restore(t);
}

static void set_alternate_saving(struct terminal *t, bool on)
{
	if (on)
		cursor_save(t);
	set_alternate(t, on);
	if (!on)
		cursor_restore(t);
}

/* Each either has a function or is only remembered. */
static const struct mode {
	uint32_t number;
	enum reported reported;
	void (*set)(struct terminal *t, bool on);
} modes[] = {
	{1, CURSOR_KEYS, NULL},
	{2, 0, set_charsets},
	{6, 0, set_origin},
	{7, 0, set_wrap},
	{9, MOUSE_X10, NULL},
	{12, BLINK, NULL},
	{25, CURSOR, NULL},
	{45, 0, set_reverse_wrap},
	{47, 0, set_alternate},
	{66, KEYPAD, NULL},
	{1000, MOUSE_CLICK, NULL},
	{1002, MOUSE_DRAG, NULL},
	{1003, MOUSE_ANY, NULL},
	{1004, FOCUS, NULL},
	{1006, MOUSE_SGR, NULL},
	{1016, MOUSE_PIXELS, NULL},
	{1047, 0, set_alternate},
	{1048, 0, set_saved_cursor},
	{1049, 0, set_alternate_saving},
	{2004, PASTE, NULL},
	{2026, SYNCHRONIZED, NULL},
};

static const struct mode *modes_find(uint32_t number)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (modes[i].number == number)
			return &modes[i];
	return NULL;
}

static void modes_report(struct terminal *t, enum reported reported, bool on)
{
	if (on)
		t->modes.reported |= UINT32_C(1) << reported;
	else
		t->modes.reported &= ~(UINT32_C(1) << reported);
}

static void set_private(struct terminal *t, bool on)
{
	for (unsigned i = 0; i < t->parser.count && !t->stripping; i++) {
		const struct mode *mode = modes_find(t->parser.params[i]);
		if (!mode)
			continue;
		if (!mode->set) {
			modes_report(t, mode->reported, on);
			continue;
		}
		if (t->appending)
			append_leave(t, true);
		mode->set(t, on);
	}
}

static void set_ansi(struct terminal *t, bool on)
{
	if (t->appending)
		append_leave(t, true);
	for (unsigned i = 0; i < t->parser.count; i++) {
		if (t->parser.params[i] == 4)
			t->modes.insert = on;
		if (t->parser.params[i] == 20)
			t->modes.newline = on;
	}
}

void mode_set(struct terminal *t)
{
	set_ansi(t, true);
}

void mode_reset(struct terminal *t)
{
	set_ansi(t, false);
}

void mode_set_private(struct terminal *t)
{
	set_private(t, true);
}

void mode_reset_private(struct terminal *t)
{
	set_private(t, false);
}

void mode_keypad(struct terminal *t, bool application)
{
	modes_report(t, KEYPAD, application);
}

void mode_init(struct terminal *t)
{
	t->modes = (struct modes){.wrap = true};
	modes_report(t, CURSOR, true);
	charsets_init(&t->charsets);
	t->protect = false;
}

void mode_soft_reset(struct terminal *t)
{
	struct screen *s = t->screen;
	bool newline = t->modes.newline;
	mode_init(t);
	t->modes.newline = newline;
	s->top = 0;
	s->bottom = s->rows - 1;
	s->saved = (struct saved_cursor){.y = s->base, .charset = CHARSET_ASCII};
}

static void modes_forget(struct screen *s)
{
	screen_clear(s);
	s->base = 0;
	s->saved = (struct saved_cursor){.charset = CHARSET_ASCII};
}

void mode_full_reset(struct terminal *t)
{
	struct screen *s = t->normal;
	unsigned count = s->rows;
	leave_alternate(t);
	/* What was shown stays in the text, the new screen begins below. */
	while (count > 0 && !row_has_ink(screen_row(s, count - 1)))
		count--;
	for (unsigned y = 0; y < count; y++)
		row_emit(screen_row(s, y), s->cols, &s->clusters, &t->emitter);
	emitter_restart(&t->emitter);

	modes_forget(s);
	if (t->alternate)
		modes_forget(t->alternate);
	screen_begin(s, 0);
	mode_init(t);
	append_enter(t);
}

unsigned mode_report(const struct terminal *t, uint32_t number, bool private)
{
	const struct mode *mode = modes_find(number);
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
	case 45: on = t->modes.reverse_wrap; break;
	case 47:
	case 1047:
	case 1049: on = t->screen != t->normal; break;
	case 67:
	case 1005:
	case 1015: return 4;
	case 1048: return 1;
	default:
		if (!mode || mode->set)
			return 0;
		on = t->modes.reported >> mode->reported & 1;
	}
	return on ? 1 : 2;
}
