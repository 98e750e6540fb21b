// See cluster.h.

#include "supervisor/terminal/cluster.h"

#include "supervisor/terminal/cell.h"

#include <stdlib.h>
#include <string.h>

#define NODE_LIVE  (UINT32_C(1) << 31)
#define FIRST_SIZE 256u

void cluster_init(struct cluster_pool *pool, uint32_t limit)
{
	/* A cell has room for so large a number. */
	if (limit > CELL_TEXT)
		limit = CELL_TEXT;
	*pool = (struct cluster_pool){.count = 1, .limit = limit};
}

void cluster_release(struct cluster_pool *pool)
{
	free(pool->nodes);
	cluster_init(pool, pool->limit);
}

int cluster_copy(struct cluster_pool *to, const struct cluster_pool *from)
{
	*to = *from;
	if (!from->nodes)
		return 0;
	to->nodes = malloc(from->cap * sizeof(*to->nodes));
	if (!to->nodes)
		return -1;
	memcpy(to->nodes, from->nodes, from->count * sizeof(*to->nodes));
	return 0;
}

bool cluster_wants_sweep(struct cluster_pool *pool)
{
	/* A new cluster takes two nodes. */
	if ((pool->free && pool->nodes[pool->free].next) || pool->count + 2 <= pool->limit)
		return false;
	if (pool->rest) {
		pool->rest--;
		return false;
	}
	return true;
}

static uint32_t node_new(struct cluster_pool *pool, uint32_t text)
{
	uint32_t number = pool->free;

	if (number) {
		pool->free = pool->nodes[number].next;
	} else {
		if (pool->count >= pool->limit)
			return 0;
		if (pool->count >= pool->cap) {
			uint32_t cap = pool->cap ? pool->cap * 2 : FIRST_SIZE;
			struct cluster_node *nodes;

			if (cap > pool->limit)
				cap = pool->limit;
			nodes = realloc(pool->nodes, cap * sizeof(*nodes));
			if (!nodes)
				return 0;
			pool->nodes = nodes;
			pool->cap = cap;
		}
		number = pool->count++;
	}
	pool->nodes[number] = (struct cluster_node){.text = text};
	return number;
}

static void node_free(struct cluster_pool *pool, uint32_t number)
{
	pool->nodes[number].next = pool->free;
	pool->free = number;
}

bool cluster_add(struct cluster_pool *pool, uint32_t *cell, uint32_t mark)
{
	uint32_t last, added;
	unsigned marks = 0;

	if (*cell & CELL_CLUSTER) {
		last = *cell & CELL_TEXT;
		while (pool->nodes[last].next) {
			last = pool->nodes[last].next;
			marks++;
		}
		if (marks >= CLUSTER_MARKS)
			return false;
		added = node_new(pool, mark);
		if (!added)
			return false;
		pool->nodes[last].next = added;
		return true;
	}

	last = node_new(pool, *cell & CELL_TEXT);
	if (!last)
		return false;
	added = node_new(pool, mark);
	if (!added) {
		node_free(pool, last);
		return false;
	}
	pool->nodes[last].next = added;
	*cell = (*cell & ~CELL_TEXT) | CELL_CLUSTER | last;
	return true;
}

void cluster_mark(struct cluster_pool *pool, uint32_t cell)
{
	uint32_t number;

	if (!(cell & CELL_CLUSTER))
		return;
	for (number = cell & CELL_TEXT; number; number = pool->nodes[number].next)
		pool->nodes[number].text |= NODE_LIVE;
}

void cluster_sweep(struct cluster_pool *pool)
{
	uint32_t number, freed = 0;

	pool->free = 0;
	for (number = pool->count - 1; number > 0; number--) {
		if (pool->nodes[number].text & NODE_LIVE) {
			pool->nodes[number].text &= ~NODE_LIVE;
		} else {
			node_free(pool, number);
			freed++;
		}
	}
	/* Sweeping costs as much as writing so many characters. */
	if (freed < pool->limit / 8)
		pool->rest = pool->limit;
}

uint32_t cluster_first(const struct cluster_pool *pool, uint32_t cell, uint32_t *next)
{
	*next = 0;
	if (!(cell & CELL_CLUSTER))
		return cell & CELL_TEXT;
	*next = cell & CELL_TEXT;
	return cluster_next(pool, next);
}

uint32_t cluster_next(const struct cluster_pool *pool, uint32_t *next)
{
	const struct cluster_node *node = &pool->nodes[*next];

	*next = node->next;
	return node->text;
}
