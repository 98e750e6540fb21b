// Shared by the files of this folder. Others use terminal.h.
//
// The way of a byte: terminal_feed() -> text in the append gear (append.c) or in
// the grid gear (grid.c), anything else -> parser.c -> dispatch.c -> edit.c and
// mode.c -> screen.c and row.c -> emitter.c -> events.text.
#ifndef TERSE_TERMINAL_INTERNAL_H
#define TERSE_TERMINAL_INTERNAL_H

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "supervisor/terminal/parser.h"
#include "supervisor/terminal/row.h"
#include "supervisor/terminal/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Character sets of the VT100 and VT220: DEC line drawing and the national ones
   (ISO 2022, ESC ( F and the like). In mode.c. */

#define CHARSET_ASCII 'B'

struct charsets {
	char sets[4];   /* G0 to G3, by their final byte */
	unsigned level; /* which of them is in use */
	char current;   /* usually sets[level]; DECRC restores it by itself */
};

void charsets_init(struct charsets *charsets);

/* Whether there is a set with this final byte. */
bool charset_is_known(char final);

void charsets_designate(struct charsets *charsets, unsigned number, char final);

/* ESC ( F and the like. False if the sequence is none that designates a set. */
bool charsets_select(struct terminal *t, char final);

void charsets_invoke(struct charsets *charsets, unsigned number);

/* The code point that the set shows for the ASCII character `c`. */
uint32_t charset_map(char set, unsigned char c);

/* A screen: rows of cells, a cursor, margins, tab stops, a saved cursor.

   It knows no escapes and no modes. The normal screen hands the rows that scroll
   off its top to an emitter; the alternate one (and a copy made to look at) has
   none and drops them. Coordinates are 0-based; x may equal the width: the last
   column was written and the next character wraps. */

#define TAB_WIDTH 8

struct saved_cursor {
	unsigned x;
	uint64_t y; /* counted from the first row of all, as `base` is */
	bool protect;
	uint32_t style;
	struct terminal_style pen;
	char charset;
};

struct screen {
	unsigned cols, rows;
	unsigned x, y;        /* the cursor */
	unsigned top, bottom; /* scroll region, both inside */
	unsigned low;         /* rows below are blank and no newline led to them */
	uint64_t base;        /* rows that scrolled off the top */
	struct saved_cursor saved;
	struct row **lines; /* the rows from the top, a permutation of `storage` */
	struct row *storage;
	uint32_t *cells;
	char *raw;
	bool *tabs;
	bool own_tabs; /* the stops are not every eight columns */
	bool bent;     /* there may be a row that is */
	struct cluster_pool clusters;
	bool history;            /* the normal screen: rows scroll off into the text */
	struct emitter *emitter; /* where they go; NULL in a copy */
};

/* With an emitter it is a normal screen. NULL with ENOMEM. */
struct screen *screen_new(unsigned cols, unsigned rows, struct emitter *emitter);
void screen_free(struct screen *s);

/* A copy without an emitter. NULL with ENOMEM. */
struct screen *screen_copy(const struct screen *s);

/* Blank, cursor at the top left, no margins, tab stops every eight columns. The saved
   cursor and `base` stay. */
void screen_clear(struct screen *s);

static inline struct row *screen_row(const struct screen *s, unsigned y)
{
	return s->lines[y];
}

/* A newline led to the row. */
void screen_begin(struct screen *s, unsigned y);

/* The row's content changed: if its line was handed on, it will be once more. */
void screen_changed(struct screen *s, unsigned y);

void screen_set_wrapped(struct screen *s, unsigned y, bool wrapped);

/* Moves the rows of the region up by one; a blank row comes in at the bottom.
   The top row scrolls off if the region begins at the top of the screen. */
void screen_scroll(struct screen *s, bool wrapped);

/* Rows from..to (both inside) move up or down by `count`; what leaves is lost and
   blank rows come in. */
void screen_move_up(struct screen *s, unsigned from, unsigned to, unsigned count);
void screen_move_down(struct screen *s, unsigned from, unsigned to, unsigned count);

/* The next tab stop to the right of the cursor (or the last column), or the one
   to the left (or the first column). */
unsigned screen_next_tab(const struct screen *s);
unsigned screen_previous_tab(const struct screen *s);

/* The number of rows down to the last one with something in it, or that a
   newline led to. */
unsigned screen_depth(const struct screen *s);

/* Writes `n` printable ASCII characters into the cursor's row at x (x + n <=
   cols) and moves the cursor. Returns whether something was overwritten. */
bool screen_put_ascii(struct screen *s, const char *data, unsigned n);

/* The same with characters of width 1 that were put into the row's cells at the
   cursor already. `bytes`: how they were written. */
bool screen_put_cells(struct screen *s, unsigned n, const char *bytes, unsigned len);

/* The same with one character of width 1 or 2, or a mark that stands alone (0).
   `bytes`: how it was written. */
bool screen_put(struct screen *s, uint32_t cell, unsigned width, const char *bytes, unsigned len);

/* Adds a mark to the character in cell x of the cursor's row. False if there is
   none or it has no room. */
bool screen_put_mark(struct screen *s, unsigned x, uint32_t mark, const char *bytes, unsigned len);

/* The character of one column before the cursor takes two; the cursor is not behind the last
   column. Returns whether something was overwritten. */
bool screen_widen(struct screen *s);

/* Bytes that take no column. They are kept if the row is plain and the cursor at
   its end. */
void screen_put_bytes(struct screen *s, const char *bytes, unsigned len);

/* Moves to the next tab stop. In a plain row the tab is kept; if it would lead to
   another column when the text is shown again (it was cut short by the last
   column, the row is the rest of a line, or the reader counts characters instead
   of columns) the row is marked as bent. */
void screen_tab(struct screen *s);

/* The program draws: the look of bent rows matters more than their bytes. */
void screen_settle(struct screen *s);

/* The emitter puts rows together to lines of text and hands them on.

   A row's end is undecided until the next row is known: the next one may be its
   soft-wrapped continuation (then the blanks at its end are part of the line) or
   a new line (then they are not, and a newline is due). So newlines and blanks
   are owed until text follows. */

#define EMITTER_STAGE 16384

struct emitter {
	void (*write)(void *ctx, const char *data, size_t len);
	void *ctx;
	char *stage; /* EMITTER_STAGE bytes that gather small writes, or NULL */
	size_t staged;
	uint64_t newlines; /* written */
	uint64_t owed;     /* newlines due before the next text */
	size_t pad;        /* blanks due before the next text of the same line */
	bool open;         /* the last row's end is undecided */
	bool gap;          /* that row's last cell is blank */
	bool any;          /* anything was written */
	bool in_line;      /* and its last byte was no newline */
};

/* A new row begins. `wrapped`: it continues the last one; `wide`: its first
   character is wide, so a gap at the last row's end was no blank. */
void emitter_row(struct emitter *e, bool wrapped, bool wide);

/* Text of the current row, not beginning with blanks that are to be trimmed. */
void emitter_text(struct emitter *e, const char *data, size_t len);

/* Blanks that are part of the line only if more text follows. */
void emitter_blanks(struct emitter *e, size_t count);

/* Ends the current line, if one is open, and writes what is owed. */
void emitter_close(struct emitter *e);

/* Writes the newlines that are owed. */
void emitter_settle(struct emitter *e);

/* Forgets owed newlines except the one that ends the last text. */
void emitter_restart(struct emitter *e);

/* Hands on what is staged. */
void emitter_flush(struct emitter *e);

/* A `write` that collects the text in the buffer `ctx`; NULL: it is dropped. */
void emitter_collect(void *ctx, const char *data, size_t len);

/* The terminal. */

/* U+2400, which stands for a NUL. */
#define NUL_SYMBOL       0x2400
#define NUL_SYMBOL_BYTES "\xE2\x90\x80"

/* Kept in plain text, and no character to a terminal. */
#define BYTE_ORDER_MARK 0xFEFF

/* Modes that decide where text goes. The others are only remembered to answer
   DECRQM: see mode.c. */
struct modes {
	bool insert;
	bool newline; /* LF, VT and FF return to the first column */
	bool origin;
	bool wrap;
	bool reverse_wrap;
	uint32_t reported;
};

/* The append gear's text: what follows the rows above the cursor of the normal
   screen, from its row on. It ends where the cursor is. */
struct tail {
	char *data;
	size_t len, cap;
	size_t newlines;
	bool carriage; /* a CR came last, so the cursor is in the first column */
	bool apart;    /* something else came last: what follows begins a new character */
	bool broken;   /* and a mark does not join the character before it */
};

/* The looks of characters: as many as a cell can tell apart. */
#define STYLES 127

struct styles {
	struct terminal_style pen; /* of the next character */
	struct terminal_style table[STYLES];
	unsigned count;
};

struct terminal {
	struct terminal_options options;
	struct terminal_events events;
	const struct scan *scan;
	struct parser parser;
	struct emitter emitter;
	struct screen *screen; /* the one that is shown */
	struct screen *normal;
	struct screen *alternate; /* NULL until it is first needed */
	struct modes modes;
	struct charsets charsets;
	struct string string;
	bool protect;   /* DECSCA */
	uint32_t style; /* of the next character, as in a cell */
	struct styles styles;
	unsigned width; /* of the last character, for marks and REP; 0 if none */
	struct tail tail;
	bool appending; /* the append gear is on */
	bool grid_only; /* the append gear is never on */
	bool stripping; /* no grid at all: collapse is off, or memory ran out */
	bool cut;       /* the run was cut short inside the alternate screen */
	bool pictured;  /* the text ended with its picture */
	bool lossy;
	uint64_t redraws;
	struct overwritten {
		bool watched;   /* the owner wants lines to stay, and the program only returns to a
				   line's start */
		unsigned looks; /* since a line stayed, or from the start */
		struct buffer stayed; /* the cells of the last one */
	} overwritten;
	uint64_t version;
	enum terminal_nul nul;
	const char *fed;   /* where the bytes begin that are being fed */
	bool after_return; /* a CR came last before them */
	char partial[4];   /* the beginning of a character */
	unsigned partial_len;
};

/* append.c: text, and what does not leave the append gear, from p on. Returns
   where it stopped: at `end`, at a sequence to parse, or because the gear is off. */
const char *append_feed(struct terminal *t, const char *p, const char *end);

/* emitter.c */

/* Turns the tail into rows; the append gear is off then. `cut`: what follows is no
   text, so an unfinished character stays one. */
void append_leave(struct terminal *t, bool cut);
/* After a newline in the grid gear: the append gear is on if it can be. */
void append_enter(struct terminal *t);
/* Hands on what has scrolled off. */
void append_trim(struct terminal *t);
/* Takes more text than the screen holds: the last lines go to the tail, all that
   is before them out at once. False if they are too long for the tail. */
bool append_direct(struct terminal *t, const char *data, size_t len, size_t newlines);
/* The text up to the cursor, at the end of the run. */
void append_emit(const struct terminal *t, struct emitter *e);

/* grid.c */

/* Text and single controls, from p on, until a sequence begins or the append
   gear takes over. */
const char *grid_feed(struct terminal *t, const char *p, const char *end);
/* Lines of plain text. */
void grid_replay(struct terminal *t, const char *data, size_t len);
void grid_print(struct terminal *t, uint32_t cp, const char *bytes, unsigned len);
/* Bytes that are no character. */
void grid_print_invalid(struct terminal *t, const char *bytes, unsigned len);
void grid_line_feed(struct terminal *t);
/* REP */
void grid_repeat(struct terminal *t);

/* terminal.c */

/* Whether the LF at p has a CR before it that is part of the text. */
bool terminal_keeps_return(const struct terminal *t, const char *p);
/* Bytes, as they come. */
void terminal_take(struct terminal *t, const char *data, size_t len);
/* A character that began in t->partial: completes it with bytes from p on.
   Returns where it ended. */
const char *terminal_resume(struct terminal *t, const char *p, const char *end);
/* Hands on the cursor's row, which is a line, and all lines above. It is about to change. */
void terminal_keep_row(struct terminal *t);
/* Hands on all text as if the run ended here. */
bool terminal_emit(const struct terminal *t, struct emitter *e);

/* For tests, before the first input: the append gear stays off. */
void terminal_force_grid(struct terminal *t);
/* For tests: scans with this variant. */
void terminal_use_scan(struct terminal *t, const struct scan *scan);

/* screen.c */

/* Appends rows of a picture without blank ones (lines at the sides of a box are blank, too, and so
   is a lone tilde) and more than a few characters of a rule. Returns 0, or -1 with ENOMEM. */
int picture_tidy(struct buffer *out, const char *rows, size_t len);

/* dispatch.c: what the parser found, and a single control character */
void dispatch_event(struct terminal *t, enum parser_event event, uint32_t c);
void dispatch_control(struct terminal *t, uint32_t c);
/* After a sequence or string: the next character does not join the one before. */
void dispatch_ended(struct terminal *t);

/* edit.c: control sequences that change what is shown */
void edit_insert_chars(struct terminal *t);
void edit_delete_chars(struct terminal *t);
void edit_erase_chars(struct terminal *t);
void edit_erase_display(struct terminal *t);
void edit_erase_line(struct terminal *t);
void edit_insert_lines(struct terminal *t);
void edit_delete_lines(struct terminal *t);
void edit_scroll_up(struct terminal *t);
void edit_scroll_down(struct terminal *t);
void edit_scroll_left(struct terminal *t);
void edit_scroll_right(struct terminal *t);
void edit_insert_columns(struct terminal *t);
void edit_delete_columns(struct terminal *t);
void edit_alignment(struct terminal *t);

/* dispatch.c: the cursor */
void cursor_set(struct terminal *t, int64_t x, int64_t y);
void cursor_save(struct terminal *t);
void cursor_restore(struct terminal *t);
/* Moves the cursor into column `last` if it is behind, and into the region in origin mode. */
void cursor_restrict(struct terminal *t, unsigned last);

/* mode.c */
void mode_init(struct terminal *t);
void mode_set(struct terminal *t);
void mode_reset(struct terminal *t);
void mode_set_private(struct terminal *t);
void mode_reset_private(struct terminal *t);
void mode_keypad(struct terminal *t, bool application);

/* style.c: no colours any more; SGR, if options.styles is set. */
void style_reset(struct terminal *t);
void style_take(struct terminal *t);

/* Appends the SGR that a style is written with, whatever is set before. */
void style_add_sequence(struct buffer *out, const struct terminal_style *style);

void mode_soft_reset(struct terminal *t);
void mode_full_reset(struct terminal *t);
/* For DECRPM: 0 not known, 1 set, 2 reset, 3 and 4 always so. */
unsigned mode_report(const struct terminal *t, uint32_t mode, bool private);

/* mode.c: answers to queries */
void reply_attributes(struct terminal *t);
void reply_attributes_secondary(struct terminal *t);
void reply_status(struct terminal *t);
void reply_status_private(struct terminal *t);
void reply_version(struct terminal *t);
void reply_mode(struct terminal *t);
void reply_mode_private(struct terminal *t);
void reply_window(struct terminal *t);

/* grid.c: moves the text of both screens to new ones. Returns 0, or -1 with
   ENOMEM and everything as it was. */
int resize_screens(struct terminal *t, unsigned cols, unsigned rows);

/* emitter.c */
const char *strip_feed(struct terminal *t, const char *p, const char *end);
void strip_control(struct terminal *t, uint32_t c);
/* There is no memory for a grid: gives all text up and goes on without one. */
void strip_enter(struct terminal *t);

#endif
