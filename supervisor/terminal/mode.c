// Modes, resets, and the answers to what a program asks of the terminal.
//
// OSC 10/11 (colours) and the kitty keyboard's CSI ? u stay unanswered: programs take silence for
// "not supported", and an answer would turn features on.

#include "supervisor/terminal/internal.h"

#include "lib/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Character sets. */

/* DEC line drawing: 0x60 to 0x7E, as xterm draws them (VT102 user guide, table 5-13). */
static const uint16_t graphics[] = {
	0x25C6, 0x2592, 0x2409, 0x240C, 0x240D, 0x240A, 0x00B0, 0x00B1, 0x2424, 0x240B, 0x2518,
	0x2510, 0x250C, 0x2514, 0x253C, 0x23BA, 0x23BB, 0x2500, 0x23BC, 0x23BD, 0x251C, 0x2524,
	0x2534, 0x252C, 0x2502, 0x2264, 0x2265, 0x03C0, 0x2260, 0x00A3, 0x00B7,
};

/* The national sets differ from ASCII in these characters (VT220 manual, chapter 2). */
static const char replaced[] = "#@[\\]^_`{|}~";

/* clang-format off */
static const struct national {
	char finals[3]; /* one or two */
	unsigned char map[sizeof(replaced) - 1]; /* 0: as in ASCII */
} nationals[] = {
	{"A", {0xA3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}}, /* British */
	{"4", {0xA3, 0xBE, 0x69, 0xBD, 0x7C, 0, 0, 0, 0xA8, 0x66, 0xBC, 0xB4}}, /* Dutch */
	{"C5", {0, 0, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}}, /* Finnish */
	{"R", {0xA3, 0xE0, 0xB0, 0xE7, 0xA7, 0, 0, 0, 0xE9, 0xF9, 0xE8, 0xA8}}, /* French */
	{"Q", {0, 0xE0, 0xE2, 0xE7, 0xEA, 0xEE, 0, 0xF4, 0xE9, 0xF9, 0xE8, 0xFB}}, /* Canadian */
	{"K", {0, 0xA7, 0xC4, 0xD6, 0xDC, 0, 0, 0, 0xE4, 0xF6, 0xFC, 0xDF}}, /* German */
	{"Y", {0xA3, 0xA7, 0xB0, 0xE7, 0xE9, 0, 0, 0xF9, 0xE0, 0xF2, 0xE8, 0xEC}}, /* Italian */
	{"E6", {0, 0xC4, 0xC6, 0xD8, 0xC5, 0xDC, 0, 0xE4, 0xE6, 0xF8, 0xE5, 0xFC}}, /* Danish */
	{"Z", {0xA3, 0xA7, 0xA1, 0xD1, 0xBF, 0, 0, 0, 0xB0, 0xF1, 0xE7, 0}}, /* Spanish */
	{"H7", {0, 0xC9, 0xC4, 0xD6, 0xC5, 0xDC, 0, 0xE9, 0xE4, 0xF6, 0xE5, 0xFC}}, /* Swedish */
	{"=", {0xF9, 0xE0, 0xE9, 0xE7, 0xEA, 0xEE, 0xE8, 0xF4, 0xE4, 0xF6, 0xFC, 0xFB}}, /* Swiss */
};
/* clang-format on */

static const struct national *charset_find(char final)
{
	for (size_t i = 0; i < sizeof(nationals) / sizeof(nationals[0]); i++)
		if (final && (nationals[i].finals[0] == final || nationals[i].finals[1] == final))
			return &nationals[i];
	return NULL;
}

static void charsets_designate(struct charsets *charsets, unsigned number, char final)
{
	charsets->sets[number] = final;
	if (charsets->level == number)
		charsets->current = final;
}

uint32_t charset_map(char set, unsigned char c)
{
	if (set == CHARSET_ASCII)
		return c;
	if (set == '0')
		return c >= 0x60 && c <= 0x7E ? graphics[c - 0x60] : c;
	const char *at = c ? strchr(replaced, c) : NULL;
	const struct national *national = at ? charset_find(set) : NULL;
	return national && national->map[at - replaced] ? national->map[at - replaced] : c;
}

bool charsets_select(struct terminal *t, char final)
{
	const uint32_t c = t->parser.collect;
	if ((c != '(' && c != ')') ||
	    (final != CHARSET_ASCII && final != '0' && !charset_find(final)))
		return false;
	if (final != CHARSET_ASCII || t->charsets.current != CHARSET_ASCII)
		t->lossy = true;
	charsets_designate(&t->charsets, c == ')', final);
	return true;
}

/* Modes, resets and the alternate screen. */

#define FLAG(name) (offsetof(struct modes, name) + 1)

static const struct mode {
	uint16_t number;
	char prefix;  /* '?' of private ones */
	bool acts;    /* changes the text */
	bool kept;    /* changes what keys send */
	uint8_t flag; /* its place in struct modes, from 1 */
} modes[] = {
	{4, 0, .acts = true, .flag = FLAG(insert)},
	{20, 0, .acts = true, .flag = FLAG(newline)},
	{1, '?', .kept = true, .flag = FLAG(cursor_keys)},
	{2, '?', .acts = true},
	{6, '?', .acts = true, .flag = FLAG(origin)},
	{7, '?', .acts = true, .flag = FLAG(wrap)},
	{9, '?', .flag = FLAG(others[0])},
	{12, '?', .flag = FLAG(others[1])},
	{25, '?', .kept = true, .flag = FLAG(cursor)},
	{45, '?', .acts = true, .flag = FLAG(reverse_wrap)},
	{47, '?', .acts = true},
	{66, '?', .flag = FLAG(keypad)},
	{1000, '?', .kept = true, .flag = FLAG(others[2])},
	{1002, '?', .kept = true, .flag = FLAG(others[3])},
	{1003, '?', .kept = true, .flag = FLAG(others[4])},
	{1004, '?', .kept = true, .flag = FLAG(others[5])},
	{1006, '?', .kept = true, .flag = FLAG(others[6])},
	{1016, '?', .kept = true, .flag = FLAG(others[7])},
	{1047, '?', .acts = true},
	{1048, '?', .acts = true},
	{1049, '?', .acts = true},
	{2004, '?', .kept = true, .flag = FLAG(others[8])},
	{2026, '?', .flag = FLAG(others[9])},
};

#define MODES (sizeof(modes) / sizeof(*modes))

static const struct mode *mode_find(char prefix, uint32_t number)
{
	for (size_t i = 0; i < MODES; i++)
		if (modes[i].number == number && modes[i].prefix == prefix)
			return &modes[i];
	return NULL;
}

/* For DECRPM: 0 not known, 1 set, 2 reset. */
static unsigned mode_report(const struct terminal *t, const struct mode *m)
{
	if (!m || m->number == 2)
		return 0;
	bool on = m->flag ? ((const bool *)&t->modes)[m->flag - 1] : t->screen != t->normal;
	return on ? 1 : 2;
}

void mode_repaint(const struct terminal *t, struct buffer *out)
{
	for (const struct mode *m = modes; m < modes + MODES; m++)
		if (m->kept)
			buffer_printf(out, "\033[?%u%c", m->number,
				      mode_report(t, m) == 1 ? 'h' : 'l');
	buffer_append_string(out, t->modes.keypad ? "\033=" : "\033>");
}

static void set_alternate(struct terminal *t, bool on)
{
	const struct screen *from = t->screen;
	struct screen *to = on ? t->alternate : t->normal;
	if (to == from)
		return;
	TRACE(TERMINAL, "alternate screen %s", on ? "on" : "off");
	/* The alternate screen keeps its picture until it is entered again. */
	if (on)
		screen_clear(to);
	to->x = from->x;
	to->y = from->y;
	t->screen = to;
}

bool mode_acts(const struct terminal *t)
{
	bool acts = false;
	for (unsigned i = 0; i < t->parser.count && !acts; i++) {
		const struct mode *m = mode_find((char)t->parser.collect, t->parser.params[i]);
		acts = m && m->acts;
	}
	return acts;
}

void mode_change(struct terminal *t)
{
	bool on = t->final == 'h';
	for (unsigned i = 0; i < t->parser.count; i++) {
		const struct mode *m = mode_find((char)t->parser.collect, t->parser.params[i]);
		if (!m)
			continue;
		if (m->flag)
			((bool *)&t->modes)[m->flag - 1] = on;
		bool switches = m->number == 47 || m->number == 1047 || m->number == 1049;
		bool saves = m->number == 1048 || m->number == 1049;
		if (saves && on)
			cursor_save(t);
		if (switches)
			set_alternate(t, on);
		if (saves && !on)
			cursor_restore(t);
		if (m->number == 6)
			cursor_set(t, 0, 0);
		for (unsigned set = 0; m->number == 2 && m->acts && on && set < 2; set++)
			charsets_designate(&t->charsets, set, CHARSET_ASCII);
	}
}

void mode_soft_reset(struct terminal *t)
{
	struct screen *s = t->screen;
	bool newline = t->modes.newline;
	terminal_reset(t);
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
	set_alternate(t, false);
	/* The shown rows stay in the text, the new screen begins below. */
	while (count > 0 && !row_has_text(s->lines[count - 1], true))
		count--;
	for (unsigned y = 0; y < count; y++)
		row_emit(s->lines[y], s->cols, &s->clusters, &t->emitter);
	/* Only the newline that ends the text is still owed. */
	t->emitter.owed = t->emitter.any ? 1 : 0;
	t->emitter.open = false;
	t->emitter.pad = 0;

	modes_forget(s);
	modes_forget(t->alternate);
	screen_begin(s, 0);
	terminal_reset(t);
	append_enter(t);
}

/* Answers. */

/* The size of a character in pixels, as window reports state it. */
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
		const struct screen *s = t->screen;
		unsigned x = s->x < s->cols ? s->x : s->cols - 1;
		unsigned y = t->modes.origin && s->y >= s->top ? s->y - s->top : s->y;
		reply_answer(t, "\033[%s%u;%uR", private ? "?" : "", y + 1, x + 1);
		break;
	case 'q': /* XTVERSION */
		if (n == 0)
			reply_answer(t, "\033P>|terse(%s)\033\\", TERSE_VERSION);
		break;
	case 'p': /* DECRQM */
		reply_answer(t, "\033[%s%" PRIu32 ";%u$y", private ? "?" : "", n,
			     mode_report(t, mode_find(private ? '?' : 0, n)));
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
