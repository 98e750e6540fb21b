// Modes, character sets, resets, and the answers to what a program asks of the terminal.
//
// OSC 10/11 (colours) and the kitty keyboard's CSI ? u stay unanswered: programs
// take silence to mean that there is no such thing, and an answer would turn
// features on.

#include "supervisor/terminal/internal.h"

#include "lib/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

/* Character sets. */

/* 0x60 to 0x7E, as xterm draws them (VT102 user guide, table 5-13). */
static const uint16_t graphics[] = {
	0x25C6, 0x2592, 0x2409, 0x240C, 0x240D, 0x240A, 0x00B0, 0x00B1, 0x2424, 0x240B, 0x2518,
	0x2510, 0x250C, 0x2514, 0x253C, 0x23BA, 0x23BB, 0x2500, 0x23BC, 0x23BD, 0x251C, 0x2524,
	0x2534, 0x252C, 0x2502, 0x2264, 0x2265, 0x03C0, 0x2260, 0x00A3, 0x00B7,
};

/* The national sets differ from ASCII in these (VT220 manual, chapter 2). */
static const char replaced[] = "#@[\\]^_`{|}~";

/* clang-format off */
static const struct national {
	char final;
	unsigned char map[sizeof(replaced) - 1]; /* 0: as in ASCII */
} nationals[] = {
	{'A', {0xA3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, /* British */
	{'4', {0xA3, 0xBE, 0x69, 0xBD, 0x7C, 0, 0, 0, 0xA8, 0x66, 0xBC, 0xB4}}, /* Dutch */
	{'C', {0, 0, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}}, /* Finnish */
	{'5', {0, 0, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}},
	{'R', {0xA3, 0xE0, 0xB0, 0xE7, 0xA7, 0, 0, 0, 0xE9, 0xF9, 0xE8, 0xA8}}, /* French */
	{'Q', {0, 0xE0, 0xE2, 0xE7, 0xEA, 0xEE, 0, 0xF4, 0xE9, 0xF9, 0xE8, 0xFB}}, /* Canadian */
	{'K', {0, 0xA7, 0xC4, 0xD6, 0xDC, 0, 0, 0, 0xE4, 0xF6, 0xFC, 0xDF}}, /* German */
	{'Y', {0xA3, 0xA7, 0xB0, 0xE7, 0xE9, 0, 0, 0xF9, 0xE0, 0xF2, 0xE8, 0xEC}}, /* Italian */
	{'E', {0, 0xC4, 0xC6, 0xD8, 0xC5, 0xDC, 0, 0xE4, 0xE6, 0xF8, 0xE5, 0xFC}}, /* Danish */
	{'6', {0, 0xC4, 0xC6, 0xD8, 0xC5, 0xDC, 0, 0xE4, 0xE6, 0xF8, 0xE5, 0xFC}},
	{'Z', {0xA3, 0xA7, 0xA1, 0xD1, 0xBF, 0, 0, 0, 0xB0, 0xF1, 0xE7, 0}}, /* Spanish */
	{'H', {0, 0xC9, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}}, /* Swedish */
	{'7', {0, 0xC9, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}},
	{'=', {0xF9, 0xE0, 0xE9, 0xE7, 0xEA, 0xEE, 0xE8, 0xF4, 0xE4, 0xF6, 0xFC, 0xFB}}, /* Swiss */
};
/* clang-format on */

static const struct national *charset_find(char final)
{
	for (size_t i = 0; i < sizeof(nationals) / sizeof(nationals[0]); i++)
		if (nationals[i].final == final)
			return &nationals[i];
	return NULL;
}

void charsets_init(struct charsets *charsets)
{
	memset(charsets->sets, CHARSET_ASCII, sizeof(charsets->sets));
	charsets->level = 0;
	charsets->current = CHARSET_ASCII;
}

bool charset_is_known(char final)
{
	return final == CHARSET_ASCII || final == '0' || charset_find(final);
}

void charsets_designate(struct charsets *charsets, unsigned number, char final)
{
	charsets->sets[number] = final;
	if (charsets->level == number)
		charsets->current = final;
}

void charsets_invoke(struct charsets *charsets, unsigned number)
{
	charsets->level = number;
	charsets->current = charsets->sets[number];
}

uint32_t charset_map(char set, unsigned char c)
{
	if (set == CHARSET_ASCII)
		return c;
	if (set == '0')
		return c >= 0x60 && c <= 0x7E ? graphics[c - 0x60] : c;
	const struct national *national = charset_find(set);
	const char *at = c ? strchr(replaced, c) : NULL;
	if (!national || !at || !national->map[at - replaced])
		return c;
	return national->map[at - replaced];
}

bool charsets_select(struct terminal *t, char final)
{
	static const struct {
		char intermediate;
		unsigned number;
	} targets[] = {{'(', 0}, {')', 1}, {'*', 2}, {'+', 3}, {'-', 1}, {'.', 2}};
	if (!charset_is_known(final))
		return false;
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (t->parser.collect != (unsigned char)targets[i].intermediate)
			continue;
		if (final != CHARSET_ASCII || t->charsets.current != CHARSET_ASCII)
			t->lossy = true;
		charsets_designate(&t->charsets, targets[i].number, final);
		return true;
	}
	return false;
}

/* Modes, resets and the alternate screen. */

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
	/* The shown rows stay in the text, the new screen begins below. */
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
