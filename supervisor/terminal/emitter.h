// Puts rows together to lines of text and hands them on.
//
// A row's end is undecided until the next row is known: the next one may be its
// soft-wrapped continuation (then the blanks at its end are part of the line) or
// a new line (then they are not, and a newline is due). So newlines and blanks
// are owed until text follows.
#ifndef TERSE_TERMINAL_EMITTER_H
#define TERSE_TERMINAL_EMITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Lines of plain text, in pieces: emitter_row(), any number of pieces with the
   number of newlines in each, and emitter_rows_end() if the last one ends with a
   newline; `blanks` are left of the row before it. */

/* Ends the current line, if one is open, and writes what is owed. */
void emitter_close(struct emitter *e);

/* Writes the newlines that are owed. */
void emitter_settle(struct emitter *e);

/* Forgets owed newlines but for the one that ends the last text. */
void emitter_restart(struct emitter *e);

/* Hands on what is staged. */
void emitter_flush(struct emitter *e);

#endif
