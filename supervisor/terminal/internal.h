// Shared by the files of this folder. Others use terminal.h.
//
// The path of a byte: terminal_feed() passes text to the append gear (append.c) or the grid gear
// (grid.c), and other bytes to parser.c, which calls dispatch.c and mode.c. Rows go from screen.c
// through emitter.c to events.text.
#ifndef TERSE_TERMINAL_INTERNAL_H
#define TERSE_TERMINAL_INTERNAL_H

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "supervisor/terminal/terminal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emitter;
struct terminal;

/* Character sets of the VT100: DEC line drawing and the national ones (ISO 2022, ESC ( F and the
   like). In mode.c. */

#define CHARSET_ASCII 'B'

struct charsets {
	char sets[2];   /* G0 and G1 */
	unsigned level; /* which of `sets` is in use */
	char current;   /* usually sets[level]; DECRC restores only this */
};

/* Runs ESC ( F and the like. Returns false if the sequence does not designate a set. */
bool charsets_select(struct terminal *t, char final);

/* The code point that the set shows for the ASCII character `c`. */
uint32_t charset_map(char set, unsigned char c);

/* One cell of the grid: a code point, its width and two flags in 32 bits.

   The value 0 is a blank cell that was never written to. An ASCII character is its own value, so
   that runs of ASCII are widened without looking at them. A wide character takes two cells; the
   second is a stub: no character, no width. */

#define CELL_TEXT    0x1FFFFFu           /* the code point, or the number of a cluster */
#define CELL_ZERO    (UINT32_C(1) << 21) /* takes no column: a stub or a lone mark */
#define CELL_WIDE    (UINT32_C(1) << 22)
#define CELL_CLUSTER (UINT32_C(1) << 23) /* CELL_TEXT numbers a cluster */

/* A colour: 0 is the default one; else STYLE_PALETTE + 0 to 255, or STYLE_RGB + 0xRRGGBB. */
#define STYLE_RGB     0x1000000u
#define STYLE_PALETTE 0x2000000u

/* The look of characters (options.styles of terminal.h). */
struct style {
	uint32_t ink, paper;
	uint32_t attributes; /* a bit for each parameter of SGR that is set, 1 to 9 */
};

/* The number of the cell's style in struct styles; 0: none. */
#define CELL_STYLE_SHIFT 25
#define CELL_STYLE       (UINT32_C(127) << CELL_STYLE_SHIFT)

/* Bytes that are not valid UTF-8 stand in the grid as CELL_INVALID + the byte. */
#define CELL_INVALID 0x110000u

static inline unsigned cell_width(uint32_t cell)
{
	if (cell & CELL_WIDE)
		return 2;
	return cell & CELL_ZERO ? 0 : 1;
}

static inline bool cell_has_text(uint32_t cell)
{
	return (cell & (CELL_TEXT | CELL_CLUSTER)) != 0;
}

/* Whether the cell shows anything but a blank. */
static inline bool cell_has_ink(uint32_t cell)
{
	return cell_has_text(cell) && (cell & (CELL_TEXT | CELL_CLUSTER)) != ' ';
}

/* Whether the cell shows an ASCII letter. */
static inline bool cell_is_letter(uint32_t cell)
{
	return (cell | 32) >= 'a' && (cell | 32) <= 'z';
}

/* Whether the cell is the second half of a wide character. */
static inline bool cell_is_stub(uint32_t cell)
{
	return (cell & CELL_ZERO) && !cell_has_text(cell);
}

/* Characters with combining marks: a base and the marks, in a pool that the cells of one screen
   share. CELL_TEXT of such a cell is the index of the first part; a 0 follows the last.

   The pool grows up to a limit. When it is full, the characters that are still shown are copied to
   a new pool (grid.c). */

/* The most parts of a character. Unicode's stream-safe format allows 30 marks. */
#define CLUSTER_PARTS 32

struct cluster_pool {
	uint32_t *text;
	uint32_t len, cap, limit;
	uint32_t rest; /* how often to skip the search for room, since the last one found none */
};

/* The parts of the character of a cell; returns their number, at least 1. */
unsigned cluster_parts(const struct cluster_pool *pool, uint32_t cell,
		       uint32_t parts[CLUSTER_PARTS]);

/* Adds a mark to a cell, which has text. Returns false, with the cell unchanged, if there is no
   room or the cell has CLUSTER_PARTS parts. */
bool cluster_add(struct cluster_pool *pool, uint32_t *cell, uint32_t mark);

/* Writes the original bytes of a part, at most 4. Returns their number. */
size_t part_put(uint32_t part, char *bytes);

/* One row of a screen.

   A row is plain if text was only ever added at its end, from left to right. Then `raw` has the
   bytes as the program wrote them (tabs, trailing blanks, invalid UTF-8), and they are the row's
   text. After any other change the text is made from the cells.

   Functions that change cells return whether they changed anything that was shown. Columns are
   0-based; `cols` is the width of the screen. */

struct row {
	uint32_t *cells;
	char *raw;
	unsigned used;    /* cells from here on are blank */
	unsigned end;     /* plain: the column after the last character or tab */
	unsigned raw_len; /* plain: bytes of `raw` in use; else 0 */
	bool plain;
	bool wrapped;      /* continues the row above (soft wrap) */
	bool begun;        /* a newline moved the cursor here, so the line above is complete */
	bool emitted;      /* its text was emitted already */
	bool uneven;       /* plain: a character was not one column wide */
	bool bent;         /* plain: has a tab that leads to another column if the text is shown by
			      itself */
	bool returned;     /* a CR that is part of the text ends it */
	bool partial;      /* the start of this row, which precedes `raw`, was emitted already */
	uint64_t reported; /* row_sum() of a whole line that was emitted early, or 0 */
	uint64_t sum;      /* row_sum() at the last terminal_settle() */
	int64_t since;     /* since when `sum` has been the same */
};

/* The size of `raw` for a row of `cols` columns: room for wide characters with marks, and for some
   tabs that move nothing. */
static inline size_t row_raw_size(unsigned cols)
{
	return (size_t)cols * 8 + 64;
}

/* Whether nothing was written to the row (a tab counts as written). */
static inline bool row_is_blank(const struct row *row)
{
	return row->used == 0 && row->raw_len == 0 && !row->partial;
}

/* Makes the row no longer plain. */
static inline void row_touch(struct row *row)
{
	row->plain = false;
	row->raw_len = 0;
	row->uneven = false;
	row->bent = false;
}

/* A hash of the look of a row; not 0. */
uint64_t row_sum(const struct row *row, const struct cluster_pool *pool);

/* Whether a cell was written to (a blank counts, a tab does not); `ink`: whether a cell shows
   anything but a blank. */
bool row_has_text(const struct row *row, bool ink);

/* Emits the row, unless it was emitted before in the same form. */
void row_emit(const struct row *row, unsigned cols, const struct cluster_pool *pool,
	      struct emitter *e);

/* Emits the text of the cells, whether the row is plain or not. */
void row_emit_cells(const struct row *row, unsigned cols, const struct cluster_pool *pool,
		    struct emitter *e);

/* A screen: rows of cells, a cursor, margins, tab stops, a saved cursor.

   It knows no escapes and no modes. The normal screen hands the rows that scroll
   off its top to an emitter; the alternate one has none and drops them. Coordinates are 0-based; x
   may equal the width: the last column was written and the next character wraps. */

#define TAB_WIDTH 8

struct saved_cursor {
	unsigned x;
	uint64_t y; /* counted from the very first row, as `base` is */
	uint32_t style;
	struct style pen;
	char charset;
};

struct screen {
	unsigned cols, rows;
	unsigned x, y;        /* the cursor */
	unsigned top, bottom; /* scroll region, both inside */
	unsigned low;         /* rows below are blank, and no newline moved the cursor to them */
	uint64_t base;        /* rows that scrolled off the top */
	struct saved_cursor saved;
	struct row **lines; /* the rows from the top */
	bool *tabs;
	bool own_tabs; /* the stops are not every eight columns */
	bool bent;     /* there may be a bent row */
	struct cluster_pool clusters;
	/* Gets the rows that scroll off the top; NULL for the alternate screen. */
	struct emitter *emitter;
};

/* Makes a screen; with an emitter it is a normal one. Returns NULL with ENOMEM. */
struct screen *screen_new(unsigned cols, unsigned rows, struct emitter *emitter);
void screen_free(struct screen *s);

/* Makes a copy without an emitter. If the size differs, rows and columns are cut off or added, and
   there are no margins. Returns NULL with ENOMEM. */
struct screen *screen_copy(const struct screen *from, unsigned cols, unsigned rows);

/* Copies the tab stops and the saved cursor of `from`. */
void screen_copy_state(struct screen *s, const struct screen *from);

/* Resets the screen: blank, cursor at the top left, no margins, tab stops every eight columns. The
   saved cursor and `base` stay. */
void screen_clear(struct screen *s);

/* Notes that a newline moved the cursor to the row. */
void screen_begin(struct screen *s, unsigned y);

/* Notes that the row's content changed: if its line was emitted, it will be emitted again. */
void screen_changed(struct screen *s, unsigned y);

void screen_set_wrapped(struct screen *s, unsigned y, bool wrapped);

/* Moves the rows of the region up by one; a blank row comes in at the bottom.
   The top row scrolls off if the region begins at the top of the screen. */
void screen_scroll(struct screen *s, bool wrapped);

/* Moves the rows from..to (inclusive) up or down by `count`; rows that leave are lost, and blank
   rows come in. */
void screen_move(struct screen *s, bool down, unsigned from, unsigned to, unsigned count);

/* The next tab stop to the right of the cursor, or the last column. */
unsigned screen_next_tab(const struct screen *s);

/* How many rows are in use, down to the last one that has text or that a newline moved the cursor
   to. */
unsigned screen_depth(const struct screen *s);

/* The emitter joins rows into lines of text and writes them.

   A row's end is undecided until the next row is known. If that is its soft-wrapped continuation,
   the blanks at its end are part of the line. If it is a new line, they are not, and a newline is
   due. So newlines and blanks are owed until text follows. */

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
	bool in_line;      /* something was written, and its last byte was not a newline */
};

/* Begins a new row. `wrapped`: it continues the last one; `wide`: its first character is wide, so a
   gap at the last row's end is not a blank. */
void emitter_row(struct emitter *e, bool wrapped, bool wide);

/* Adds text to the current row. It must not begin with blanks that have to be trimmed. */
void emitter_text(struct emitter *e, const char *data, size_t len);

/* Ends the current line, if one is open, and writes the owed newlines and blanks. */
void emitter_close(struct emitter *e);

/* Writes the newlines that are owed. */
void emitter_settle(struct emitter *e);

/* Writes what is staged. */
void emitter_flush(struct emitter *e);

/* A `write` that collects the text in the buffer `ctx`; NULL: it is dropped. */
void emitter_collect(void *ctx, const char *data, size_t len);

/* Control strings: OSC, DCS, SOS, PM and APC.

   Their content is not shown, except the window's title, and "[image]" where a picture is. A string
   that does not end must not swallow a log. So an OSC string is given up at a newline, and any
   string at the end of the run or when it is longer than STRING_HOLD; a string that is given up
   becomes text. Only a string that carries data (sixel, kitty's graphics, OSC 52 and 1337, tmux's
   passthrough) may be longer, as long as it looks like data. */

#define STRING_HOLD ((size_t)4096)
#define TITLE_LEN   256 /* bytes with the NUL; the rest is dropped */

struct string {
	char held[STRING_HOLD]; /* from the byte after ESC on */
	size_t len;
	bool more; /* more came than is held */
	char title[TITLE_LEN];
};

/* Takes the next bytes of the string. Returns where it ended, or `end`. */
const char *string_feed(struct terminal *t, const char *p, const char *end);

/* Gives up a string that does not end: it becomes text. */
void string_give_up(struct terminal *t);

/* The terminal. */

/* U+2400, which stands for a NUL. */
#define NUL_SYMBOL       0x2400
#define NUL_SYMBOL_BYTES "\xE2\x90\x80"

/* A byte order mark: kept in plain text, ignored by a terminal. */
#define BYTE_ORDER_MARK 0xFEFF

/* Modes that decide where text goes, and others that are only remembered. mode.c has the numbers of
   all. */
struct modes {
	bool insert;
	bool newline; /* LF, VT and FF return to the first column */
	bool origin;
	bool wrap;
	bool reverse_wrap;
	bool cursor, cursor_keys, keypad;
	bool others[12];
};

/* The append gear's text: from the start of the row that the normal screen's cursor was in when the
   gear began, up to the cursor. */
struct tail {
	char *data;
	size_t len, cap;
	size_t newlines;
	bool carriage; /* a CR came last, so the cursor is in the first column */
	bool apart;    /* something other than text came last: the next byte begins a new
			  character */
	bool broken;   /* `apart`, and a mark does not join the character before it */
	bool redrawn;  /* its last line was written over, so its row will not be plain */
};

/* The styles in use; a cell has room for the numbers of this many. */
#define STYLES 127

struct styles {
	struct style pen; /* style of the next character */
	struct style table[STYLES];
	unsigned count;
};

struct terminal {
	struct terminal_options options;
	struct terminal_events events;
	const struct scan *scan;
	struct parser parser;
	unsigned char final; /* byte of the sequence that is being run */
	struct emitter emitter;
	struct screen *screen; /* the one that is shown */
	struct screen *normal;
	struct screen *alternate;
	struct modes modes;
	struct charsets charsets;
	struct string string;
	uint32_t style; /* style of the next character, as in a cell */
	struct styles styles;
	unsigned width; /* width of the last character, for marks and REP; 0 if there is none */
	struct tail tail;
	bool appending; /* the append gear is on */
	bool cut;       /* the run was cut short inside the alternate screen */
	bool pictured;  /* the text ended with its picture */
	bool lossy;
	uint64_t redraws;
	struct overwritten {
		bool watched;   /* the owner wants lines to stay, and the program only returns to a
				   line's start */
		unsigned looks; /* how often the owner was asked since a line stayed, or from the
				   start */
		struct buffer stayed; /* the cells of the last one */
	} overwritten;
	uint64_t version;
	enum terminal_nul nul;
	const char *fed;   /* where the bytes that are being fed begin */
	bool after_return; /* a CR came last before them */
	char partial[4];   /* the beginning of a character */
	unsigned partial_len;
};

/* append.c */

/* Takes text, and controls that do not end the append gear, from p on. Returns where it stopped: at
   `end`, at a sequence to parse, or where the gear ended. */
const char *append_feed(struct terminal *t, const char *p, const char *end);
/* Ends the append gear: turns the tail into rows, and emits those that have scrolled off. `cut`: no
   text follows, so an unfinished character stays unfinished. */
void append_leave(struct terminal *t, bool cut);
/* Called after a newline in the grid gear: begins the append gear if that is possible. */
void append_enter(struct terminal *t);
/* Emits the lines that have scrolled off, if the tail is longer than `most`. */
void append_trim(struct terminal *t, size_t most);
/* Emits the text up to the cursor, at the end of the run. */
void append_emit(const struct terminal *t, struct emitter *e);

/* grid.c */

/* Takes text and single controls, from p on, until a sequence begins or the append gear takes over.
   `again`: the text was taken before and is replayed: a newline begins a new line whatever the
   modes are, and a CR is part of the text. */
const char *grid_feed(struct terminal *t, const char *p, const char *end, bool again);
void grid_print(struct terminal *t, uint32_t cp, const char *bytes, unsigned len);
/* Prints bytes that are not a character. */
void grid_print_invalid(struct terminal *t, const char *bytes, unsigned len);
void grid_line_feed(struct terminal *t);
/* Moves to the next tab stop. A plain row keeps the tab as a tab. The row is marked as bent if the
   tab would lead to another column when the text is shown again: the last column cut it short, the
   row is the rest of a line, or the reader counts characters instead of columns. */
void grid_tab(struct screen *s);
/* Removes and inserts cells in row `y`; notes it if written text is lost. */
void grid_edit(struct terminal *t, unsigned y, unsigned at, unsigned removed, unsigned inserted);
/* REP */
void grid_repeat(struct terminal *t);

/* terminal.c */

/* Sets modes, character sets and colours as they are at the start. */
void terminal_reset(struct terminal *t);
/* Whether the LF at p has a CR before it that is part of the text. */
bool terminal_keeps_return(const struct terminal *t, const char *p);
/* Takes bytes as they come. */
void terminal_take(struct terminal *t, const char *data, size_t len);
/* Completes the character that began in t->partial with bytes from p on. Returns where it ended. */
const char *terminal_resume(struct terminal *t, const char *p, const char *end);
/* Takes the ESC at p, and the control sequence that it begins if all of that is there. Returns
   where it stopped. */
const char *terminal_escape(struct terminal *t, const char *p, const char *end);
/* Emits the cursor's row, which is a whole line and is about to be overwritten, and all lines above
   it. */
void terminal_keep_row(struct terminal *t);
/* Makes a copy of the terminal with all text in cells, so that queries leave the original
   unchanged. Lines that leave the copy's screen go to `out`, unless that is NULL. Returns 0, or -1
   with ENOMEM. */
int terminal_copy(struct terminal *copy, const struct terminal *t, struct buffer *out);
void terminal_copy_end(struct terminal *copy);
/* The place of the cursor, from 1. */
void terminal_find_cursor(const struct terminal *seen, unsigned *row, unsigned *col);

/* dispatch.c: runs a sequence that the parser found, or a single control character */
void dispatch_event(struct terminal *t, enum parser_event event, uint32_t c);
void dispatch_control(struct terminal *t, uint32_t c);
/* Called after a sequence or string: the next character does not join the one before. */
void dispatch_ended(struct terminal *t);

/* dispatch.c: the cursor */
void cursor_set(struct terminal *t, int64_t x, int64_t y);
void cursor_save(struct terminal *t);
void cursor_restore(struct terminal *t);

/* mode.c: SM and RM, DECKPAM and DECKPNM, DECSTR, RIS */
/* Whether one of the modes among the parameters changes how text is taken. The append gear supports
   no such mode. */
bool mode_acts(const struct terminal *t);
void mode_change(struct terminal *t);
void mode_soft_reset(struct terminal *t);
void mode_full_reset(struct terminal *t);
/* Sets and resets the modes that a terminal needs in order to send keys as the program expects. */
void mode_repaint(const struct terminal *t, struct buffer *out);
/* Answers a query. */
void mode_reply(struct terminal *t);

/* style.c: runs SGR, whose styles are kept only for options.styles. */
void style_take(struct terminal *t);

#endif
