// Characters with combining marks: a base and up to CLUSTER_MARKS marks, kept in
// a pool that the cells of one screen share.
//
// The pool grows with need up to a limit. It does not count references: when it
// is full, the owner of the cells marks the clusters that are still shown
// (cluster_mark) and frees the others (cluster_sweep).
#ifndef TERSE_TERMINAL_CLUSTER_H
#define TERSE_TERMINAL_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
