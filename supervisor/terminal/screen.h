// A screen: rows of cells, a cursor, margins, tab stops, a saved cursor.
//
// It knows no escapes and no modes. The normal screen hands the rows that scroll
// off its top to an emitter; the alternate one (and a copy made to look at) has
// none and drops them. Coordinates are 0-based; x may equal the width: the last
// column was written and the next character wraps.
#ifndef TERSE_TERMINAL_SCREEN_H
#define TERSE_TERMINAL_SCREEN_H

#include "supervisor/terminal/cluster.h"
#include "supervisor/terminal/row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct emitter;

#define TAB_WIDTH 8

struct saved_cursor {
	unsigned x;
	uint64_t y; /* counted from the first row of all, as `base` is */
	bool protect;
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

/* Blank, cursor at the top left, no margins, tab stops every eight columns. What
   was saved and `base` stay. */
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

/* The program draws: what bent rows look like matters more than their bytes. */
void screen_settle(struct screen *s);

#endif
