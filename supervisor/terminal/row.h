// One row of a screen.
//
// A row is plain while it was only ever written from left to right at its end.
// Then `raw` has the bytes as the program wrote them (tabs, trailing blanks,
// invalid UTF-8), and these are its text. Once anything else happened to it the
// text is made from the cells.
//
// Functions that change cells return whether they changed anything that was
// shown. Columns are 0-based; `cols` is the width of the screen.
#ifndef TERSE_TERMINAL_ROW_H
#define TERSE_TERMINAL_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_pool;
struct emitter;

struct row {
	uint32_t *cells;
	char *raw;
	unsigned used;    /* cells from here on are blank */
	unsigned end;     /* plain: the column behind the last character or tab */
	unsigned raw_len; /* plain: bytes of `raw` in use; else 0 */
	bool plain;
	bool wrapped;  /* continues the row above (soft wrap) */
	bool begun;    /* a newline led here, so the line above is complete */
	bool handed;   /* its text was handed on already */
	bool uneven;   /* plain: a character was not one column wide */
	bool bent;     /* plain: has a tab that the text alone would put elsewhere */
	bool returned; /* a CR that is part of the text ends it */
	bool partial;  /* what went before `raw` in this row was handed on already */
	uint64_t told; /* row_sum() of a whole line that was handed on early, or 0 */
	uint64_t sum;  /* row_sum() when terminal_settle() looked last ... */
	int64_t since; /* ... and from when on it was that */
};

/* Bytes of `raw` that a row of `cols` columns has room for. */
size_t row_raw_size(unsigned cols);

/* Blank and unmarked. */
void row_reset(struct row *row);

/* Whether nothing was written to it (tabs count as written). */
bool row_is_blank(const struct row *row);

/* The row's text no longer is what was written. */
void row_touch(struct row *row);

bool row_erase(struct row *row, unsigned cols, unsigned from, unsigned to);

/* The same, sparing protected cells. */
bool row_erase_selective(struct row *row, unsigned cols, unsigned from, unsigned to);

bool row_insert(struct row *row, unsigned cols, unsigned at, unsigned count);
bool row_delete(struct row *row, unsigned cols, unsigned at, unsigned count);

/* A number that tells what a row looks like; not 0. */
uint64_t row_sum(const struct row *row, const struct cluster_pool *pool);

/* All cells become `cell`. */
void row_fill(struct row *row, unsigned cols, uint32_t cell);

/* Whether there is a written cell (a written blank counts, a tab does not). */
bool row_has_text(const struct row *row);

/* Whether there is one that is not blank. */
bool row_has_ink(const struct row *row);

/* Hands the row on, unless it was as it is now. */
void row_emit(const struct row *row, unsigned cols, const struct cluster_pool *pool,
	      struct emitter *e);

/* The cells' text, whether the row is plain or not. */
void row_emit_cells(const struct row *row, unsigned cols, const struct cluster_pool *pool,
		    struct emitter *e);

#endif
