// Rows of cells, and the characters with marks that the cells refer to.
#ifndef TERSE_TERMINAL_ROW_H
#define TERSE_TERMINAL_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_pool;
struct emitter;

/* One cell of the grid: a code point, its width and two flags in 32 bits.

   The value 0 is a blank cell nothing was written to, and an ASCII character is
   its own value, so that runs of ASCII are widened without looking at them. A
   wide character takes two cells; the second is a stub: no character, no width. */

#define CELL_TEXT      0x1FFFFFu           /* the code point, or the number of a cluster */
#define CELL_ZERO      (UINT32_C(1) << 21) /* takes no column: a stub or a lone mark */
#define CELL_WIDE      (UINT32_C(1) << 22)
#define CELL_CLUSTER   (UINT32_C(1) << 23) /* CELL_TEXT numbers a cluster */
#define CELL_PROTECTED (UINT32_C(1) << 24) /* DECSCA: selective erase spares it */

/* The style: options.styles of terminal.h; else 0. */
#define CELL_STYLE_SHIFT 25
#define CELL_STYLE       (UINT32_C(127) << CELL_STYLE_SHIFT)

/* Bytes that are no valid UTF-8 stand in the grid as CELL_INVALID + the byte. */
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

/* The second half of a wide character (or what is left of it). */
static inline bool cell_is_stub(uint32_t cell)
{
	return (cell & CELL_ZERO) && !cell_has_text(cell);
}

/* Characters with combining marks: a base and up to CLUSTER_MARKS marks, kept in
   a pool that the cells of one screen share.

   The pool grows with need up to a limit. It does not count references: when it
   is full, the owner of the cells marks the clusters that are still shown
   (cluster_mark) and frees the others (cluster_sweep). */

/* Real text stays far below (Unicode's stream-safe format allows 30). */
#define CLUSTER_MARKS 31

struct cluster_node {
	uint32_t text; /* as CELL_TEXT; the high bit marks a node in use */
	uint32_t next; /* the following node, 0 at the end */
};

struct cluster_pool {
	struct cluster_node *nodes; /* number 0 is not used */
	uint32_t count;             /* nodes given out once */
	uint32_t cap;
	uint32_t limit;
	uint32_t free; /* list of freed nodes, 0 if none */
	uint32_t rest; /* how often not to sweep, since the last time found nothing */
};

void cluster_init(struct cluster_pool *pool, uint32_t limit);
void cluster_release(struct cluster_pool *pool);

/* A copy with nodes of its own. Returns 0, or -1 with ENOMEM. */
int cluster_copy(struct cluster_pool *to, const struct cluster_pool *from);

/* Adds a mark to a cell (which has text) in place. False: no room, or the cell
   has its number of marks; the cell is as it was. */
bool cluster_add(struct cluster_pool *pool, uint32_t *cell, uint32_t mark);

/* Whether it is time to free what is no longer shown, after cluster_add() failed.
   A pool full of what is shown says no most of the time. */
bool cluster_wants_sweep(struct cluster_pool *pool);

void cluster_mark(struct cluster_pool *pool, uint32_t cell);
void cluster_sweep(struct cluster_pool *pool);

/* The first code point of a cell and, by number, the node after it. */
uint32_t cluster_first(const struct cluster_pool *pool, uint32_t cell, uint32_t *next);
uint32_t cluster_next(const struct cluster_pool *pool, uint32_t *next);

/* One row of a screen.

   A row is plain while it was only ever written from left to right at its end.
   Then `raw` has the bytes as the program wrote them (tabs, trailing blanks,
   invalid UTF-8), and these are its text. Once anything else happened to it the
   text is made from the cells.

   Functions that change cells return whether they changed anything that was
   shown. Columns are 0-based; `cols` is the width of the screen. */

struct row {
	uint32_t *cells;
	char *raw;
	unsigned used;    /* cells from here on are blank */
	unsigned end;     /* plain: the column behind the last character or tab */
	unsigned raw_len; /* plain: bytes of `raw` in use; else 0 */
	bool plain;
	bool wrapped;      /* continues the row above (soft wrap) */
	bool begun;        /* a newline led here, so the line above is complete */
	bool handed;       /* its text was handed on already */
	bool uneven;       /* plain: a character was not one column wide */
	bool bent;         /* plain: has a tab that the text alone would put elsewhere */
	bool returned;     /* a CR that is part of the text ends it */
	bool partial;      /* what went before `raw` in this row was handed on already */
	uint64_t reported; /* row_sum() of a whole line that was handed on early, or 0 */
	uint64_t sum;      /* row_sum() when terminal_settle() looked last ... */
	int64_t since;     /* ... and from when on it was that */
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

/* A hash of the look of a row; not 0. */
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
