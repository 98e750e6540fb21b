// What each control, escape sequence and control sequence does. The names are
// those of xterm's ctlseqs document.

#include "supervisor/terminal/internal.h"

enum flags {
	QUIET = 1,  /* nothing is lost by dropping it, unless it changes cells */
	APPEND = 2, /* the append gear goes on */
	AT_END = 4, /* without parameter it does nothing where text ends */
	REPLY = 8,  /* works without a grid */
};

struct sequence {
	uint32_t id; /* prefix and intermediates as collected, then the final byte */
	void (*run)(struct terminal *t);
	unsigned flags;
};

#define ID(collected, final) ((uint32_t)(collected) << 8 | (unsigned char)(final))

/* SGR: attributes are not kept, but SGR 0 ends DECSCA's protection too. */
static void run_attributes(struct terminal *t)
{
	const struct parser *p = &t->parser;
	unsigned i;

	for (i = 0; t->protect && i < p->count; i++) {
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

/* Sorted by id. */
static const struct sequence csis[] = {
	{ID(0, '@'), edit_insert_chars, 0},                         /* ICH */
	{ID(0, 'A'), cursor_up, 0},                                 /* CUU */
	{ID(0, 'B'), cursor_down, 0},                               /* CUD */
	{ID(0, 'C'), cursor_forward, 0},                            /* CUF */
	{ID(0, 'D'), cursor_backward, 0},                           /* CUB */
	{ID(0, 'E'), cursor_line_down, 0},                          /* CNL */
	{ID(0, 'F'), cursor_line_up, 0},                            /* CPL */
	{ID(0, 'G'), cursor_column, 0},                             /* CHA */
	{ID(0, 'H'), cursor_position, 0},                           /* CUP */
	{ID(0, 'I'), cursor_tab_forward, 0},                        /* CHT */
	{ID(0, 'J'), edit_erase_display, QUIET | AT_END},           /* ED */
	{ID(0, 'K'), edit_erase_line, QUIET | AT_END},              /* EL */
	{ID(0, 'L'), edit_insert_lines, 0},                         /* IL */
	{ID(0, 'M'), edit_delete_lines, 0},                         /* DL */
	{ID(0, 'P'), edit_delete_chars, 0},                         /* DCH */
	{ID(0, 'S'), edit_scroll_up, 0},                            /* SU */
	{ID(0, 'T'), edit_scroll_down, 0},                          /* SD */
	{ID(0, 'X'), edit_erase_chars, 0},                          /* ECH */
	{ID(0, 'Z'), cursor_tab_backward, 0},                       /* CBT */
	{ID(0, '`'), cursor_column, 0},                             /* HPA */
	{ID(0, 'a'), cursor_forward, 0},                            /* HPR */
	{ID(0, 'b'), grid_repeat, 0},                               /* REP */
	{ID(0, 'c'), reply_attributes, APPEND | REPLY},             /* DA1 */
	{ID(0, 'd'), cursor_line, 0},                               /* VPA */
	{ID(0, 'e'), cursor_line_forward, 0},                       /* VPR */
	{ID(0, 'f'), cursor_position, 0},                           /* HVP */
	{ID(0, 'g'), cursor_tab_clear, 0},                          /* TBC */
	{ID(0, 'h'), mode_set, APPEND},                             /* SM */
	{ID(0, 'l'), mode_reset, APPEND},                           /* RM */
	{ID(0, 'm'), run_attributes, QUIET | APPEND},               /* SGR */
	{ID(0, 'n'), reply_status, APPEND | REPLY},                 /* DSR */
	{ID(0, 'r'), cursor_region, 0},                             /* DECSTBM */
	{ID(0, 's'), cursor_save, 0},                               /* SCOSC */
	{ID(0, 't'), reply_window, APPEND | REPLY},                 /* XTWINOPS */
	{ID(0, 'u'), cursor_restore, 0},                            /* SCORC */
	{ID(' ', '@'), edit_scroll_left, 0},                        /* SL */
	{ID(' ', 'A'), edit_scroll_right, 0},                       /* SR */
	{ID('!', 'p'), mode_soft_reset, 0},                         /* DECSTR */
	{ID('"', 'q'), run_protect, 0},                             /* DECSCA */
	{ID('$', 'p'), reply_mode, APPEND | REPLY},                 /* DECRQM */
	{ID('\'', '}'), edit_insert_columns, 0},                    /* DECIC */
	{ID('\'', '~'), edit_delete_columns, 0},                    /* DECDC */
	{ID('>', 'c'), reply_attributes_secondary, APPEND | REPLY}, /* DA2 */
	{ID('>', 'q'), reply_version, APPEND | REPLY},              /* XTVERSION */
	{ID('?', 'J'), edit_erase_display, QUIET | AT_END},         /* DECSED */
	{ID('?', 'K'), edit_erase_line, QUIET | AT_END},            /* DECSEL */
	{ID('?', 'h'), mode_set_private, APPEND},                   /* DECSET */
	{ID('?', 'l'), mode_reset_private, APPEND},                 /* DECRST */
	{ID('?', 'n'), reply_status_private, APPEND | REPLY},       /* DECXCPR */
	{ID('?' << 8 | '$', 'p'), reply_mode_private, APPEND | REPLY},
};

static const struct sequence escapes[] = {
	{ID(0, '7'), cursor_save, 0},                 /* DECSC */
	{ID(0, '8'), cursor_restore, 0},              /* DECRC */
	{ID(0, '='), run_keypad_application, APPEND}, /* DECKPAM */
	{ID(0, '>'), run_keypad_numeric, APPEND},     /* DECKPNM */
	{ID(0, 'D'), cursor_index, 0},                /* IND */
	{ID(0, 'E'), cursor_next_line, 0},            /* NEL */
	{ID(0, 'H'), cursor_tab_set, 0},              /* HTS */
	{ID(0, 'M'), cursor_reverse_index, 0},        /* RI */
	{ID(0, '\\'), run_nothing, QUIET | APPEND},   /* ST */
	{ID(0, 'c'), mode_full_reset, 0},             /* RIS */
	{ID(0, 'n'), run_shift_2, 0},                 /* LS2 */
	{ID(0, 'o'), run_shift_3, 0},                 /* LS3 */
	{ID(0, '|'), run_shift_3, 0},                 /* LS3R */
	{ID(0, '}'), run_shift_2, 0},                 /* LS2R */
	{ID(0, '~'), run_shift_1, 0},                 /* LS1R */
	{ID('#', '8'), edit_alignment, 0},            /* DECALN */
	{ID('%', '@'), run_default_charset, 0},
	{ID('%', 'G'), run_default_charset, 0},
};

static const struct sequence *find(const struct sequence *table, size_t count, uint32_t id)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (table[middle].id == id)
			return &table[middle];
		if (table[middle].id < id)
			low = middle + 1;
		else
			count = middle;
	}
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
	unsigned y;

	if (s->base + s->y >= from || !s->history)
		return false;
	for (y = s->y + restored; y < s->rows && s->base + y < from; y++)
		if (row_has_text(screen_row(s, y)))
			return true;
	return false;
}

static void run(struct terminal *t, const struct sequence *sequence)
{
	struct screen *s = t->screen;
	uint64_t from;

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
	from = s->base + s->y;
	sequence->run(t);
	if (!t->redraws && !t->appending && t->screen == s &&
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
	case 0x84: cursor_index(t); break;
	case 0x85: cursor_next_line(t); break;
	case 0x88: cursor_tab_set(t); break;
	default: break;
	}
	t->lossy = true;
}

/* Controls that do not move the cursor or change what follows. */
static bool is_idle(uint32_t c)
{
	return c != 0x84 && c != 0x85 && c != 0x88 && (c < '\b' || c > 0x0F);
}

void dispatch_event(struct terminal *t, enum parser_event event, uint32_t c)
{
	const struct sequence *sequence = NULL;
	uint32_t id = t->parser.collect << 8 | c;

	switch (event) {
	case PARSER_NOTHING:
		if (t->parser.state == PARSER_STRING)
			t->lossy = true;
		return;
	case PARSER_EXECUTE:
		if (t->stripping) {
			strip_control(t, c);
			return;
		}
		if (t->appending && !is_idle(c))
			append_leave(t, true);
		dispatch_control(t, c);
		break;
	case PARSER_ESC:
		sequence = find(escapes, sizeof(escapes) / sizeof(escapes[0]), id);
		if (!sequence && !t->stripping && designate(t, (char)c)) {
			if (t->appending && t->charsets.current != CHARSET_ASCII)
				append_leave(t, true);
			break;
		}
		if (sequence)
			run(t, sequence);
		else
			t->lossy = true;
		break;
	case PARSER_CSI:
		sequence = find(csis, sizeof(csis) / sizeof(csis[0]), id);
		if (sequence)
			run(t, sequence);
		else
			t->lossy = true;
		break;
	case PARSER_END: t->lossy = true; break;
	}
	t->width = 0;
	if (t->appending) {
		t->tail.apart = true;
		t->tail.broken = true;
	}
}
