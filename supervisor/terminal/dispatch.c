// Runs controls, escape sequences and control sequences that move the cursor or change the screen;
// modes and answers are in mode.c. The names are those of xterm's ctlseqs document.

#include "supervisor/terminal/internal.h"

#include <stddef.h>
#include <string.h>

/* Moving the cursor. Semantics are those of xterm.js, which differ from xterm's only in some quirks
   of origin mode. */

static uint32_t cursor_param(const struct terminal *t)
{
	return parser_param(&t->parser, 0, 1);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Moves the cursor left to column `last` if it is beyond that; in origin mode also into the
   scrolling region. */
static void cursor_restrict(struct terminal *t, unsigned last)
{
	struct screen *s = t->screen;
	if (s->x > last)
		s->x = last;
	if (t->modes.origin)
		s->y = (unsigned)clamp(s->y, s->top, s->bottom);
}

void cursor_set(struct terminal *t, int64_t x, int64_t y)
{
	struct screen *s = t->screen;
	if (t->modes.origin)
		y = clamp(y + s->top, s->top, s->bottom);
	s->x = (unsigned)clamp(x, 0, s->cols - 1);
	s->y = (unsigned)clamp(y, 0, s->rows - 1);
}

/* CUU, CUD, CUF, CUB, CNL, CPL, HPR, VPR. Up and down end at a margin. */
static void cursor_relative(struct terminal *t)
{
	struct screen *s = t->screen;
	int64_t count = cursor_param(t), dx = 0, dy = 0;
	switch (t->final) {
	case 'A':
	case 'F': dy = -(s->y >= s->top && count > s->y - s->top ? s->y - s->top : count); break;
	case 'B':
	case 'E':
		dy = s->y <= s->bottom && count > s->bottom - s->y ? s->bottom - s->y : count;
		break;
	case 'e': dy = count; break;
	case 'D': dx = -count; break;
	default: dx = count; break;
	}
	cursor_restrict(t, s->cols - 1);
	cursor_set(t, s->x + dx, s->y + dy);
	if (t->final == 'E' || t->final == 'F')
		s->x = 0;
}

/* CHA, HPA, VPA, CUP, HVP */
static void cursor_absolute(struct terminal *t)
{
	int64_t first = (int64_t)cursor_param(t) - 1;
	if (t->final == 'G' || t->final == '`')
		cursor_set(t, first, t->screen->y);
	else if (t->final == 'd')
		cursor_set(t, t->screen->x, first);
	else
		cursor_set(t, (int64_t)parser_param(&t->parser, 1, 1) - 1, first);
}

/* IND, NEL, RI: at the margin the region scrolls. */
static void cursor_index(struct terminal *t)
{
	struct screen *s = t->screen;
	bool up = t->final == 'M';
	if (t->final == 'E')
		s->x = 0;
	cursor_restrict(t, s->cols - 1);
	if (up && s->y == s->top)
		screen_move(s, true, s->top, s->bottom, 1);
	else if (!up && s->y == s->bottom)
		screen_scroll(s, false);
	else if (up && s->y > 0)
		s->y--;
	else if (!up && s->y + 1 < s->rows)
		s->y++;
	cursor_restrict(t, s->cols - 1);
}

void cursor_save(struct terminal *t)
{
	struct screen *s = t->screen;
	s->saved = (struct saved_cursor){
		.x = s->x,
		.y = s->base + s->y,
		.style = t->style,
		.pen = t->styles.pen,
		.charset = t->charsets.current,
	};
}

void cursor_restore(struct terminal *t)
{
	struct screen *s = t->screen;
	s->x = s->saved.x;
	/* The saved row has scrolled with the text, at most to the top of the screen. */
	s->y = s->saved.y > s->base
		       ? (unsigned)clamp((int64_t)(s->saved.y - s->base), 0, s->rows - 1)
		       : 0;
	t->style = s->saved.style;
	t->styles.pen = s->saved.pen;
	t->charsets.current = s->saved.charset;
	cursor_restrict(t, s->cols - 1);
}

static void cursor_backspace(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_restrict(t, t->modes.reverse_wrap ? s->cols : s->cols - 1);
	if (s->x > 0) {
		s->x--;
	} else if (t->modes.reverse_wrap && s->y > s->top && s->y <= s->bottom &&
		   s->lines[s->y]->wrapped) {
		/* Moves back over the soft wrap, and over the gap before a wide character. */
		screen_set_wrapped(s, s->y, false);
		s->y--;
		s->x = s->cols - 1;
		const struct row *row = s->lines[s->y];
		if (cell_width(row->cells[s->x]) && !cell_has_text(row->cells[s->x]))
			s->x--;
	}
	cursor_restrict(t, s->cols - 1);
}

/* CHT, CBT */
static void cursor_tab(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = cursor_param(t);
	for (; t->final == 'I' && count > 0 && s->x + 1 < s->cols; count--)
		s->x = screen_next_tab(s);
	for (; t->final == 'Z' && count > 0 && s->x > 0 && s->x < s->cols; count--)
		while (s->x > 0 && !s->tabs[--s->x])
			;
}

/* HTS, TBC */
static void cursor_tab_stop(struct terminal *t)
{
	struct screen *s = t->screen;
	bool sets = t->final == 'H';
	if (sets && s->x >= s->cols)
		return;
	if (s->x < s->cols && (sets || t->parser.params[0] == 0))
		s->tabs[s->x] = sets;
	if (!sets && t->parser.params[0] == 3)
		memset(s->tabs, 0, s->cols * sizeof(*s->tabs));
	s->own_tabs = true;
}

/* DECSTBM */
static void cursor_region(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t top = cursor_param(t);
	uint32_t bottom = parser_param(&t->parser, 1, s->rows);
	if (bottom > s->rows)
		bottom = s->rows;
	if (bottom > top) {
		s->top = top - 1;
		s->bottom = bottom - 1;
		cursor_set(t, 0, 0);
	}
}

/* Changing the screen: erasing, inserting, deleting, scrolling. */

static void erase(struct terminal *t, unsigned y, unsigned from, unsigned to)
{
	const struct row *row = t->screen->lines[y];
	if (to > row->used)
		to = row->used;
	if (from < to)
		grid_edit(t, y, from, to - from, to - from);
}

/* Erases a whole row, so that it no longer continues the row above. */
static void erase_row(struct terminal *t, unsigned y)
{
	erase(t, y, 0, t->screen->cols);
	screen_set_wrapped(t->screen, y, false);
	t->screen->lines[y]->begun = false;
}

/* ED, EL; DECSED and DECSEL, which spare protected cells (there are none) */
static void edit_erase(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t how = t->parser.params[0];
	bool display = t->final == 'J';
	cursor_restrict(t, s->cols);
	if (how == 0) {
		erase(t, s->y, s->x, s->cols);
		if (s->x == 0)
			screen_set_wrapped(s, s->y, false);
		for (unsigned y = s->y + 1; display && y < s->rows; y++)
			erase_row(t, y);
	} else if (how == 1) {
		erase(t, s->y, 0, s->x + 1);
		if (!display)
			return;
		screen_set_wrapped(s, s->y, false);
		if (s->x + 1 >= s->cols && s->y + 1 < s->rows)
			screen_set_wrapped(s, s->y + 1, false);
		for (unsigned y = 0; y < s->y; y++)
			erase_row(t, y);
	} else if (how == 2 && !display) {
		erase(t, s->y, 0, s->cols);
		screen_set_wrapped(s, s->y, false);
	} else if (how == 2) {
		/* Keeps the text that was shown: the rows down to the last written one scroll off,
		   even with margins. */
		unsigned top = s->top, bottom = s->bottom, count = s->rows;
		while (count > 0 && !row_has_text(s->lines[count - 1], false))
			count--;
		s->top = 0;
		s->bottom = s->rows - 1;
		while (count-- > 0)
			screen_scroll(s, false);
		s->top = top;
		s->bottom = bottom;
		t->lossy = true;
	}
}

/* ICH, DCH, ECH */
static void edit_chars(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = cursor_param(t);
	cursor_restrict(t, s->cols - 1);
	grid_edit(t, s->y, s->x, t->final == '@' ? 0 : count, t->final == 'P' ? 0 : count);
}

/* SL, SR, DECIC, DECDC: remove or insert columns in all rows of the region, at the first column or
   at the cursor. */
static void edit_columns(struct terminal *t)
{
	struct screen *s = t->screen;
	uint32_t count = cursor_param(t);
	bool inserts = t->final == 'A' || t->final == '}';
	unsigned at = t->parser.collect == ' ' ? 0 : s->x % s->cols;
	if (s->y < s->top || s->y > s->bottom)
		return;
	for (unsigned y = s->top; y <= s->bottom; y++) {
		grid_edit(t, y, at, inserts ? 0 : count, inserts ? count : 0);
		screen_set_wrapped(s, y, false);
	}
}

/* IL, DL at the cursor; SU, SD in the region. */
static void edit_lines(struct terminal *t)
{
	struct screen *s = t->screen;
	bool at_cursor = t->final == 'L' || t->final == 'M';
	if (at_cursor)
		cursor_restrict(t, s->cols - 1);
	if (at_cursor && (s->y < s->top || s->y > s->bottom))
		return;
	screen_move(s, t->final == 'L' || t->final == 'T', at_cursor ? s->y : s->top, s->bottom,
		    cursor_param(t));
	if (at_cursor)
		s->x = 0;
}

/* DECALN */
static void edit_alignment(struct terminal *t)
{
	struct screen *s = t->screen;
	cursor_set(t, 0, 0);
	/* In origin mode xterm.js begins at the margin. */
	for (unsigned y = s->y; y < s->rows; y++) {
		struct row *row = s->lines[y];
		row_touch(row);
		for (row->used = 0; row->used < s->cols; row->used++)
			row->cells[row->used] = 'E';
		screen_changed(s, y);
		screen_set_wrapped(s, y, false);
	}
	s->low = s->rows - 1;
	cursor_set(t, 0, 0);
}

/* The tables. */

enum flags {
	QUIET = 1,  /* ignoring it loses nothing, unless it changes cells */
	APPEND = 2, /* the append gear continues */
	AT_END = 4, /* without parameter it does nothing at the end of the text */
};

struct sequence {
	uint32_t id; /* prefix, intermediates and final byte; the final byte is the lowest; or 0 */
	unsigned flags;
	void (*run)(struct terminal *t);
};

/* Final bytes of control sequences begin here. */
#define FINALS 0x40

#define ID(collected, final) ((uint32_t)(collected) << 8 | (unsigned char)(final))

static void charsets_invoke(struct charsets *charsets, unsigned number)
{
	charsets->level = number;
	charsets->current = charsets->sets[number];
}

/* DECKPAM, DECKPNM */
static void run_keypad(struct terminal *t)
{
	t->modes.keypad = t->final == '=';
}

/* Control sequences without prefix and intermediates, by their final byte. */
static const struct sequence plain_csis[] = {
	['@' - FINALS] = {.run = edit_chars},                             /* ICH */
	['A' - FINALS... 'F' - FINALS] = {.run = cursor_relative},        /* CUU to CPL */
	['G' - FINALS... 'H' - FINALS] = {.run = cursor_absolute},        /* CHA, CUP */
	['I' - FINALS] = {.run = cursor_tab},                             /* CHT */
	['J' - FINALS... 'K' - FINALS] = {0, QUIET | AT_END, edit_erase}, /* ED, EL */
	['L' - FINALS... 'M' - FINALS] = {.run = edit_lines},             /* IL, DL */
	['P' - FINALS] = {.run = edit_chars},                             /* DCH */
	['S' - FINALS... 'T' - FINALS] = {.run = edit_lines},             /* SU, SD */
	['X' - FINALS] = {.run = edit_chars},                             /* ECH */
	['Z' - FINALS] = {.run = cursor_tab},                             /* CBT */
	['`' - FINALS] = {.run = cursor_absolute},                        /* HPA */
	['a' - FINALS] = {.run = cursor_relative},                        /* HPR */
	['b' - FINALS] = {.run = grid_repeat},                            /* REP */
	['c' - FINALS] = {0, APPEND, mode_reply},                         /* DA1 */
	['d' - FINALS] = {.run = cursor_absolute},                        /* VPA */
	['e' - FINALS] = {.run = cursor_relative},                        /* VPR */
	['f' - FINALS] = {.run = cursor_absolute},                        /* HVP */
	['g' - FINALS] = {.run = cursor_tab_stop},                        /* TBC */
	['h' - FINALS] = {0, APPEND, mode_change},                        /* SM */
	['l' - FINALS] = {0, APPEND, mode_change},                        /* RM */
	['m' - FINALS] = {0, QUIET | APPEND, style_take},                 /* SGR */
	['n' - FINALS] = {0, APPEND, mode_reply},                         /* DSR */
	['r' - FINALS] = {.run = cursor_region},                          /* DECSTBM */
	['s' - FINALS] = {.run = cursor_save},                            /* SCOSC */
	['t' - FINALS] = {0, APPEND, mode_reply},                         /* XTWINOPS */
	['u' - FINALS] = {.run = cursor_restore},                         /* SCORC */
};

/* Control sequences with prefix or intermediates. */
static const struct sequence csis[] = {
	{ID(' ', '@'), 0, edit_columns},               /* SL */
	{ID(' ', 'A'), 0, edit_columns},               /* SR */
	{ID('!', 'p'), 0, mode_soft_reset},            /* DECSTR */
	{ID('$', 'p'), APPEND, mode_reply},            /* DECRQM */
	{ID('\'', '}'), 0, edit_columns},              /* DECIC */
	{ID('\'', '~'), 0, edit_columns},              /* DECDC */
	{ID('>', 'c'), APPEND, mode_reply},            /* DA2 */
	{ID('>', 'q'), APPEND, mode_reply},            /* XTVERSION */
	{ID('?', 'J'), QUIET | AT_END, edit_erase},    /* DECSED */
	{ID('?', 'K'), QUIET | AT_END, edit_erase},    /* DECSEL */
	{ID('?', 'h'), APPEND, mode_change},           /* DECSET */
	{ID('?', 'l'), APPEND, mode_change},           /* DECRST */
	{ID('?', 'n'), APPEND, mode_reply},            /* DECXCPR */
	{ID('?' << 8 | '$', 'p'), APPEND, mode_reply}, /* DECRQM */
};

static const struct sequence escapes[] = {
	{ID(0, '7'), 0, cursor_save},                  /* DECSC */
	{ID(0, '8'), 0, cursor_restore},               /* DECRC */
	{ID(0, '='), APPEND, run_keypad},              /* DECKPAM */
	{ID(0, '>'), APPEND, run_keypad},              /* DECKPNM */
	{ID(0, 'D'), 0, cursor_index},                 /* IND */
	{ID(0, 'E'), 0, cursor_index},                 /* NEL */
	{ID(0, 'H'), 0, cursor_tab_stop},              /* HTS */
	{ID(0, 'M'), 0, cursor_index},                 /* RI */
	{ID(0, '\\'), QUIET | APPEND, dispatch_ended}, /* ST */
	{ID(0, 'c'), 0, mode_full_reset},              /* RIS */
	{ID('#', '8'), 0, edit_alignment},             /* DECALN */
};

static const struct sequence *dispatch_find(const struct sequence *table, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].id == id)
			return &table[i];
	return NULL;
}

static void dispatch_run(struct terminal *t, const struct sequence *sequence)
{
	struct screen *s = t->screen;
	if (!(sequence->flags & QUIET))
		t->lossy = true;
	if (t->appending &&
	    (!(sequence->flags & APPEND) || (sequence->run == mode_change && mode_acts(t)))) {
		if ((sequence->flags & AT_END) && t->parser.params[0] == 0 && !t->tail.carriage)
			return;
		append_leave(t, true);
	}
	/* From here on the program draws, so the look of bent rows matters more than their
	   bytes. */
	if (s->bent && !(sequence->flags & (APPEND | AT_END))) {
		for (unsigned y = 0; y < s->rows; y++)
			if (s->lines[y]->bent)
				row_touch(s->lines[y]);
		s->bent = false;
	}
	uint64_t from = s->base + s->y;
	sequence->run(t);
	if (t->appending || t->screen != s || s->base + s->y >= from)
		return;
	/* The cursor went up. Until the first redraw is counted, a move counts only if it passed
	   rows with text. A DECRC from a row further down ignores the text of the row that it
	   returns to. */
	bool counts = t->redraws > 0;
	unsigned y = s->y + (sequence->run == cursor_restore);
	for (; !counts && s->emitter && y < s->rows && s->base + y < from; y++)
		counts = row_has_text(s->lines[y], false);
	if (counts) {
		t->redraws++;
		t->overwritten.watched = false;
	}
}

void dispatch_control(struct terminal *t, uint32_t c)
{
	struct screen *s = t->screen;
	t->width = 0;
	switch (c) {
	case '\r': s->x = 0; return;
	case '\t': grid_tab(s); return;
	case '\a': return;
	case '\b': cursor_backspace(t); break;
	case '\n':
	case '\v':
	case '\f':
		if (t->modes.newline || (c == '\n' && t->options.onlcr))
			s->x = 0;
		grid_line_feed(t);
		if (c == '\n')
			return;
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
	t->final = (unsigned char)c;
	switch (event) {
	case PARSER_NOTHING: return;
	case PARSER_SKIP: t->lossy = true; return;
	case PARSER_EXECUTE:
		/* A control inside a sequence: the bytes after it may belong to the sequence or be
		   text. */
		if (t->parser.state != PARSER_GROUND)
			t->lossy = true;
		/* Other controls neither move the cursor nor change how later bytes are taken. */
		if (t->appending && c >= '\b' && c <= 0x0F)
			append_leave(t, true);
		dispatch_control(t, c);
		break;
	case PARSER_ESC:
		sequence = dispatch_find(escapes, sizeof(escapes) / sizeof(escapes[0]), id);
		if (sequence)
			dispatch_run(t, sequence);
		else if (!charsets_select(t, (char)c))
			t->lossy = true;
		else if (t->appending && t->charsets.current != CHARSET_ASCII)
			append_leave(t, true);
		break;
	case PARSER_CSI:
		if (id - FINALS < sizeof(plain_csis) / sizeof(plain_csis[0]))
			sequence = &plain_csis[id - FINALS];
		else
			sequence = dispatch_find(csis, sizeof(csis) / sizeof(csis[0]), id);
		if (sequence && sequence->run)
			dispatch_run(t, sequence);
		else
			t->lossy = true;
		break;
	}
	dispatch_ended(t);
}
