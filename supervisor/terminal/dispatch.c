#include "supervisor/terminal/internal.h"

#include <stddef.h>
#include <string.h>

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

// What each control, escape sequence and control sequence does. The names are
// those of xterm's ctlseqs document.

enum flags {
	QUIET = 1,  /* nothing is lost by dropping it, unless it changes cells */
	APPEND = 2, /* the append gear goes on */
	AT_END = 4, /* without parameter it does nothing where text ends */
	REPLY = 8,  /* works without a grid */
};

struct sequence {
	uint32_t id; /* prefix and intermediates as collected, then the final byte */
	unsigned flags;
	void (*run)(struct terminal *t);
};

/* Final bytes of control sequences begin here. */
#define FINALS 0x40

#define ID(collected, final) ((uint32_t)(collected) << 8 | (unsigned char)(final))

/* SGR: attributes are not kept, but SGR 0 ends DECSCA's protection too. */
static void run_attributes(struct terminal *t)
{
	const struct parser *p = &t->parser;
	for (unsigned i = 0; t->protect && i < p->count; i++) {
		if (p->params[i] == 0)
			t->protect = false;
		if (p->params[i] == 38 || p->params[i] == 48 || p->params[i] == 58)
			i += i + 1 < p->count && p->params[i + 1] == 2 ? 4 : 2;
	}
}

/* DECSCA */
static void run_protect(struct terminal *t)
{
	if (t->parser.params[0] <= 2)
		t->protect = t->parser.params[0] == 1;
}

static void run_keypad_application(struct terminal *t)
{
	mode_keypad(t, true);
}

static void run_keypad_numeric(struct terminal *t)
{
	mode_keypad(t, false);
}

static void run_shift_1(struct terminal *t)
{
	charsets_invoke(&t->charsets, 1);
}

static void run_shift_2(struct terminal *t)
{
	charsets_invoke(&t->charsets, 2);
}

static void run_shift_3(struct terminal *t)
{
	charsets_invoke(&t->charsets, 3);
}

static void run_default_charset(struct terminal *t)
{
	charsets_invoke(&t->charsets, 0);
	charsets_designate(&t->charsets, 0, CHARSET_ASCII);
}

static void run_nothing(struct terminal *t)
{
	(void)t;
}

/* Control sequences without prefix and intermediates, by their final byte. */
static const struct sequence plain_csis[] = {
	['@' - FINALS] = {ID(0, '@'), 0, edit_insert_chars},               /* ICH */
	['A' - FINALS] = {ID(0, 'A'), 0, cursor_up},                       /* CUU */
	['B' - FINALS] = {ID(0, 'B'), 0, cursor_down},                     /* CUD */
	['C' - FINALS] = {ID(0, 'C'), 0, cursor_forward},                  /* CUF */
	['D' - FINALS] = {ID(0, 'D'), 0, cursor_backward},                 /* CUB */
	['E' - FINALS] = {ID(0, 'E'), 0, cursor_line_down},                /* CNL */
	['F' - FINALS] = {ID(0, 'F'), 0, cursor_line_up},                  /* CPL */
	['G' - FINALS] = {ID(0, 'G'), 0, cursor_column},                   /* CHA */
	['H' - FINALS] = {ID(0, 'H'), 0, cursor_position},                 /* CUP */
	['I' - FINALS] = {ID(0, 'I'), 0, cursor_tab_forward},              /* CHT */
	['J' - FINALS] = {ID(0, 'J'), QUIET | AT_END, edit_erase_display}, /* ED */
	['K' - FINALS] = {ID(0, 'K'), QUIET | AT_END, edit_erase_line},    /* EL */
	['L' - FINALS] = {ID(0, 'L'), 0, edit_insert_lines},               /* IL */
	['M' - FINALS] = {ID(0, 'M'), 0, edit_delete_lines},               /* DL */
	['P' - FINALS] = {ID(0, 'P'), 0, edit_delete_chars},               /* DCH */
	['S' - FINALS] = {ID(0, 'S'), 0, edit_scroll_up},                  /* SU */
	['T' - FINALS] = {ID(0, 'T'), 0, edit_scroll_down},                /* SD */
	['X' - FINALS] = {ID(0, 'X'), 0, edit_erase_chars},                /* ECH */
	['Z' - FINALS] = {ID(0, 'Z'), 0, cursor_tab_backward},             /* CBT */
	['`' - FINALS] = {ID(0, '`'), 0, cursor_column},                   /* HPA */
	['a' - FINALS] = {ID(0, 'a'), 0, cursor_forward},                  /* HPR */
	['b' - FINALS] = {ID(0, 'b'), 0, grid_repeat},                     /* REP */
	['c' - FINALS] = {ID(0, 'c'), APPEND | REPLY, reply_attributes},   /* DA1 */
	['d' - FINALS] = {ID(0, 'd'), 0, cursor_line},                     /* VPA */
	['e' - FINALS] = {ID(0, 'e'), 0, cursor_line_forward},             /* VPR */
	['f' - FINALS] = {ID(0, 'f'), 0, cursor_position},                 /* HVP */
	['g' - FINALS] = {ID(0, 'g'), 0, cursor_tab_clear},                /* TBC */
	['h' - FINALS] = {ID(0, 'h'), APPEND, mode_set},                   /* SM */
	['l' - FINALS] = {ID(0, 'l'), APPEND, mode_reset},                 /* RM */
	['m' - FINALS] = {ID(0, 'm'), QUIET | APPEND, run_attributes},     /* SGR */
	['n' - FINALS] = {ID(0, 'n'), APPEND | REPLY, reply_status},       /* DSR */
	['r' - FINALS] = {ID(0, 'r'), 0, cursor_region},                   /* DECSTBM */
	['s' - FINALS] = {ID(0, 's'), 0, cursor_save},                     /* SCOSC */
	['t' - FINALS] = {ID(0, 't'), APPEND | REPLY, reply_window},       /* XTWINOPS */
	['u' - FINALS] = {ID(0, 'u'), 0, cursor_restore},                  /* SCORC */
};

/* The others. */
static const struct sequence csis[] = {
	{ID(' ', '@'), 0, edit_scroll_left},                           /* SL */
	{ID(' ', 'A'), 0, edit_scroll_right},                          /* SR */
	{ID('!', 'p'), 0, mode_soft_reset},                            /* DECSTR */
	{ID('"', 'q'), 0, run_protect},                                /* DECSCA */
	{ID('$', 'p'), APPEND | REPLY, reply_mode},                    /* DECRQM */
	{ID('\'', '}'), 0, edit_insert_columns},                       /* DECIC */
	{ID('\'', '~'), 0, edit_delete_columns},                       /* DECDC */
	{ID('>', 'c'), APPEND | REPLY, reply_attributes_secondary},    /* DA2 */
	{ID('>', 'q'), APPEND | REPLY, reply_version},                 /* XTVERSION */
	{ID('?', 'J'), QUIET | AT_END, edit_erase_display},            /* DECSED */
	{ID('?', 'K'), QUIET | AT_END, edit_erase_line},               /* DECSEL */
	{ID('?', 'h'), APPEND, mode_set_private},                      /* DECSET */
	{ID('?', 'l'), APPEND, mode_reset_private},                    /* DECRST */
	{ID('?', 'n'), APPEND | REPLY, reply_status_private},          /* DECXCPR */
	{ID('?' << 8 | '$', 'p'), APPEND | REPLY, reply_mode_private}, /* DECRQM */
};

static const struct sequence escapes[] = {
	{ID(0, '7'), 0, cursor_save},                 /* DECSC */
	{ID(0, '8'), 0, cursor_restore},              /* DECRC */
	{ID(0, '='), APPEND, run_keypad_application}, /* DECKPAM */
	{ID(0, '>'), APPEND, run_keypad_numeric},     /* DECKPNM */
	{ID(0, 'D'), 0, cursor_index},                /* IND */
	{ID(0, 'E'), 0, cursor_next_line},            /* NEL */
	{ID(0, 'H'), 0, cursor_tab_set},              /* HTS */
	{ID(0, 'M'), 0, cursor_reverse_index},        /* RI */
	{ID(0, '\\'), QUIET | APPEND, run_nothing},   /* ST */
	{ID(0, 'c'), 0, mode_full_reset},             /* RIS */
	{ID(0, 'n'), 0, run_shift_2},                 /* LS2 */
	{ID(0, 'o'), 0, run_shift_3},                 /* LS3 */
	{ID(0, '|'), 0, run_shift_3},                 /* LS3R */
	{ID(0, '}'), 0, run_shift_2},                 /* LS2R */
	{ID(0, '~'), 0, run_shift_1},                 /* LS1R */
	{ID('#', '8'), 0, edit_alignment},            /* DECALN */
	{ID('%', '@'), 0, run_default_charset},
	{ID('%', 'G'), 0, run_default_charset},
};

static const struct sequence *dispatch_find(const struct sequence *table, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].id == id)
			return &table[i];
	return NULL;
}

static const struct sequence *find_csi(uint32_t id)
{
	size_t i = id - FINALS;
	if (id > 0xFF)
		return dispatch_find(csis, sizeof(csis) / sizeof(csis[0]), id);
	if (i < sizeof(plain_csis) / sizeof(plain_csis[0]) && plain_csis[i].run)
		return &plain_csis[i];
	return NULL;
}

/* ESC ( F and the like: which of G0 to G3 is designated. */
static bool designate(struct terminal *t, char final)
{
	static const struct {
		char intermediate;
		unsigned number;
	} targets[] = {{'(', 0}, {')', 1}, {'*', 2}, {'+', 3}, {'-', 1}, {'.', 2}};
	size_t i;

	if (!charset_is_known(final))
		return false;
	for (i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		if (t->parser.collect != (unsigned char)targets[i].intermediate)
			continue;
		if (final != CHARSET_ASCII || t->charsets.current != CHARSET_ASCII)
			t->lossy = true;
		charsets_designate(&t->charsets, targets[i].number, final);
		return true;
	}
	return false;
}

/* Whether the cursor went up from row `from` over rows with text. DECRC to the
   row of the text, after something was drawn further down, does not count. */
static bool went_up(const struct screen *s, uint64_t from, bool restored)
{
	if (s->base + s->y >= from || !s->history)
		return false;
	for (unsigned y = s->y + restored; y < s->rows && s->base + y < from; y++)
		if (row_has_text(screen_row(s, y)))
			return true;
	return false;
}

static void dispatch_run(struct terminal *t, const struct sequence *sequence)
{
	struct screen *s = t->screen;
	if (!(sequence->flags & QUIET))
		t->lossy = true;
	if (t->stripping) {
		if (sequence->flags & REPLY)
			sequence->run(t);
		return;
	}
	if (t->appending && !(sequence->flags & APPEND)) {
		if ((sequence->flags & AT_END) && t->parser.params[0] == 0 && !t->tail.carriage)
			return;
		append_leave(t, true);
	}
	if (s->bent && !(sequence->flags & (APPEND | AT_END)))
		screen_settle(s);
	uint64_t from = s->base + s->y;
	sequence->run(t);
	if (!t->stripping && !t->redraws && !t->appending && t->screen == s &&
	    went_up(s, from, sequence->run == cursor_restore))
		t->redraws = true;
}

void dispatch_control(struct terminal *t, uint32_t c)
{
	struct screen *s = t->screen;
	t->width = 0;
	switch (c) {
	case '\n':
		if (t->options.onlcr)
			s->x = 0;
		if (t->modes.newline)
			s->x = 0;
		grid_line_feed(t);
		return;
	case '\r': s->x = 0; return;
	case '\t': screen_tab(s); return;
	case '\a': return;
	case '\b': cursor_backspace(t); break;
	case '\v':
	case '\f':
		if (t->modes.newline)
			s->x = 0;
		grid_line_feed(t);
		break;
	case 0x0E: charsets_invoke(&t->charsets, 1); break;
	case 0x0F:
		charsets_invoke(&t->charsets, 0);
		if (t->charsets.current == CHARSET_ASCII)
			return;
		break;
	default: break;
	}
	t->lossy = true;
}

/* Controls that do not move the cursor or change what follows. */
static bool is_idle(uint32_t c)
{
	return c < '\b' || c > 0x0F;
}

void dispatch_ended(struct terminal *t)
{
	t->width = 0;
	if (t->appending) {
		t->tail.apart = true;
		t->tail.broken = true;
	}
}

void dispatch_event(struct terminal *t, enum parser_event event, uint32_t c)
{
	const struct sequence *sequence = NULL;
	uint32_t id = t->parser.collect << 8 | c;
	switch (event) {
	case PARSER_NOTHING:
	case PARSER_END: return;
	case PARSER_SKIP: t->lossy = true; return;
	case PARSER_EXECUTE:
		/* Of what goes on behind it nobody knows whether it is meant. */
		if (t->parser.state != PARSER_GROUND)
			t->lossy = true;
		if (t->stripping) {
			strip_control(t, c);
			return;
		}
		if (t->appending && !is_idle(c))
			append_leave(t, true);
		dispatch_control(t, c);
		break;
	case PARSER_ESC:
		sequence = dispatch_find(escapes, sizeof(escapes) / sizeof(escapes[0]), id);
		if (!sequence && !t->stripping && designate(t, (char)c)) {
			if (t->appending && t->charsets.current != CHARSET_ASCII)
				append_leave(t, true);
			break;
		}
		if (sequence)
			dispatch_run(t, sequence);
		else
			t->lossy = true;
		break;
	case PARSER_CSI:
		sequence = find_csi(id);
		if (sequence)
			dispatch_run(t, sequence);
		else
			t->lossy = true;
		break;
	}
	dispatch_ended(t);
}
