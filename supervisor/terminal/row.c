
#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

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
			if (cap > pool->limit)
				cap = pool->limit;
			struct cluster_node *nodes = realloc(pool->nodes, cap * sizeof(*nodes));
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
	if (!(cell & CELL_CLUSTER))
		return;
	for (uint32_t number = cell & CELL_TEXT; number; number = pool->nodes[number].next)
		pool->nodes[number].text |= NODE_LIVE;
}

void cluster_sweep(struct cluster_pool *pool)
{
	uint32_t freed = 0;
	pool->free = 0;
	for (uint32_t number = pool->count - 1; number > 0; number--) {
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

size_t row_raw_size(unsigned cols)
{
	/* A wide character with marks, and some idle tabs. */
	return (size_t)cols * 8 + 64;
}

void row_reset(struct row *row)
{
	memset(row->cells, 0, row->used * sizeof(*row->cells));
	row->used = 0;
	row->end = 0;
	row->raw_len = 0;
	row->plain = true;
	row->wrapped = false;
	row->begun = false;
	row->handed = false;
	row->uneven = false;
	row->bent = false;
	row->returned = false;
	row->partial = false;
	row->reported = 0;
	row->sum = 0;
}

bool row_is_blank(const struct row *row)
{
	return row->used == 0 && row->raw_len == 0 && !row->partial;
}

void row_touch(struct row *row)
{
	row->plain = false;
	row->raw_len = 0;
	row->uneven = false;
	row->bent = false;
}

bool row_has_text(const struct row *row)
{
	for (unsigned x = row->used; x > 0; x--)
		if (cell_has_text(row->cells[x - 1]))
			return true;
	return false;
}

bool row_has_ink(const struct row *row)
{
	for (unsigned x = row->used; x > 0; x--)
		if (cell_has_text(row->cells[x - 1]) && (row->cells[x - 1] & CELL_TEXT) != ' ')
			return true;
	return false;
}

uint64_t row_sum(const struct row *row, const struct cluster_pool *pool)
{
	uint64_t sum = UINT64_C(0xCBF29CE484222325); /* FNV-1a, by characters */
	unsigned used = row->used;
	while (used > 0 && (!cell_has_text(row->cells[used - 1]) ||
			    (row->cells[used - 1] & ~CELL_STYLE) == ' '))
		used--;
	for (unsigned x = 0; x < used; x++) {
		uint32_t next;
		uint32_t cp = cluster_first(pool, row->cells[x], &next);
		sum = (sum ^ (cp ? cp : ' ')) * UINT64_C(0x100000001B3);
		while (next)
			sum = (sum ^ cluster_next(pool, &next)) * UINT64_C(0x100000001B3);
	}
	return sum | 1;
}

/* After cells were erased up to `to`: finds the end of what is left. A row that
   is empty again is as good as new. */
static void row_shrink(struct row *row, unsigned from, unsigned to)
{
	if (to >= row->used && from < row->used)
		row->used = from;
	if (row->used == 0) {
		row->plain = true;
		row->end = 0;
		row->raw_len = 0;
	}
}

bool row_erase(struct row *row, unsigned cols, unsigned from, unsigned to)
{
	if (from >= row->used)
		return false;
	row_touch(row);
	if (from && cell_width(row->cells[from - 1]) == 2)
		row->cells[from - 1] = 0;
	if (to < cols && to && cell_width(row->cells[to - 1]) == 2)
		row->cells[to] = 0;
	if (to > row->used)
		to = row->used;
	if (to > from)
		memset(row->cells + from, 0, (to - from) * sizeof(*row->cells));
	row_shrink(row, from, to);
	return true;
}

bool row_erase_selective(struct row *row, unsigned cols, unsigned from, unsigned to)
{
	bool spared = false;
	for (unsigned x = 0; x < row->used; x++)
		if (row->cells[x] & CELL_PROTECTED)
			spared = true;
	if (!spared)
		return row_erase(row, cols, from, to);
	if (from >= row->used)
		return false;

	row_touch(row);
	if (from && cell_width(row->cells[from - 1]) == 2 &&
	    !(row->cells[from - 1] & CELL_PROTECTED))
		row->cells[from - 1] = 0;
	if (to < cols && to && cell_width(row->cells[to - 1]) == 2 &&
	    !(row->cells[to] & CELL_PROTECTED))
		row->cells[to] = 0;
	for (unsigned x = from; x < to && x < row->used; x++)
		if (!(row->cells[x] & CELL_PROTECTED))
			row->cells[x] = 0;
	return true;
}

bool row_insert(struct row *row, unsigned cols, unsigned at, unsigned count)
{
	at %= cols;
	if (at >= row->used)
		return false;
	row_touch(row);
	if (at && cell_width(row->cells[at - 1]) == 2)
		row->cells[at - 1] = 0;
	if (count < cols - at) {
		memmove(row->cells + at + count, row->cells + at,
			(cols - at - count) * sizeof(*row->cells));
		memset(row->cells + at, 0, count * sizeof(*row->cells));
		row->used = row->used + count < cols ? row->used + count : cols;
	} else {
		memset(row->cells + at, 0, (cols - at) * sizeof(*row->cells));
		row_shrink(row, at, cols);
	}
	if (cell_width(row->cells[cols - 1]) == 2)
		row->cells[cols - 1] = 0;
	return true;
}

bool row_delete(struct row *row, unsigned cols, unsigned at, unsigned count)
{
	at %= cols;
	if (at >= row->used)
		return false;
	row_touch(row);
	if (count < cols - at) {
		memmove(row->cells + at, row->cells + at + count,
			(cols - at - count) * sizeof(*row->cells));
		memset(row->cells + cols - count, 0, count * sizeof(*row->cells));
		if (at + count >= row->used)
			row_shrink(row, at, row->used);
		else
			row->used -= count;
	} else {
		memset(row->cells + at, 0, (cols - at) * sizeof(*row->cells));
		row_shrink(row, at, cols);
	}
	if (at && cell_width(row->cells[at - 1]) == 2)
		row->cells[at - 1] = 0;
	if (cell_is_stub(row->cells[at]))
		row->cells[at] = 0;
	return true;
}

void row_fill(struct row *row, unsigned cols, uint32_t cell)
{
	row_touch(row);
	for (unsigned x = 0; x < cols; x++)
		row->cells[x] = cell;
	row->used = cols;
}

static void emit_cell(const struct cluster_pool *pool, uint32_t cell, struct emitter *e)
{
	char text[(CLUSTER_MARKS + 1) * 4];
	size_t len = 0;
	uint32_t next;
	uint32_t cp = cluster_first(pool, cell, &next);
	for (;;) {
		if (cp >= CELL_INVALID)
			text[len++] = (char)(cp - CELL_INVALID);
		else
			len += utf8_put(cp, text + len);
		if (!next)
			break;
		cp = cluster_next(pool, &next);
	}
	emitter_text(e, text, len);
}

void row_emit_cells(const struct row *row, unsigned cols, const struct cluster_pool *pool,
		    struct emitter *e)
{
	char run[256];
	unsigned x = 0;
	while (x < row->used) {
		uint32_t cell = row->cells[x] & ~CELL_STYLE;
		if (cell == ' ' || !cell_has_text(cell)) {
			e->pad++;
			x++;
		} else if (row->cells[x] < 0x80) {
			size_t n = scan_narrow(run, row->cells + x,
					       row->used - x < sizeof(run) ? row->used - x
									   : sizeof(run));
			emitter_text(e, run, n);
			x += (unsigned)n;
		} else {
			emit_cell(pool, cell, e);
			x += cell_width(cell) == 2 ? 2 : 1;
		}
	}
	if (x < cols)
		e->pad += cols - x;
	e->gap = !(row->cells[cols - 1] & (CELL_TEXT | CELL_CLUSTER));
}

void row_emit(const struct row *row, unsigned cols, const struct cluster_pool *pool,
	      struct emitter *e)
{
	if (row->handed || (row->reported && row->reported == row_sum(row, pool)))
		return;
	if (row->partial && row->plain)
		e->pad = 0;
	else
		emitter_row(e, row->wrapped, cell_width(row->cells[0]) == 2);
	if (!row->plain) {
		row_emit_cells(row, cols, pool, e);
	} else {
		if (row->raw_len)
			emitter_text(e, row->raw, row->raw_len);
		e->pad += cols - row->end;
		e->gap = !(row->cells[cols - 1] & (CELL_TEXT | CELL_CLUSTER));
	}
	if (row->returned) {
		e->pad = 0;
		emitter_text(e, "\r", 1);
	}
}
