// Cells, the characters of several parts in them, and rows.

#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/terminal/internal.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 256u

unsigned cluster_parts(const struct cluster_pool *pool, uint32_t cell,
		       uint32_t parts[CLUSTER_PARTS])
{
	unsigned count = 0;
	parts[0] = cell & CELL_TEXT;
	if (!(cell & CELL_CLUSTER))
		return 1;
	for (const uint32_t *text = pool->text + parts[0]; text[count]; count++)
		parts[count] = text[count];
	return count;
}

bool cluster_add(struct cluster_pool *pool, uint32_t *cell, uint32_t mark)
{
	uint32_t parts[CLUSTER_PARTS], at = *cell & CELL_TEXT;
	unsigned count = cluster_parts(pool, *cell, parts);
	/* The last one grows in place. */
	if (!(*cell & CELL_CLUSTER) || at + count + 1 != pool->len)
		at = pool->len;
	if (count == CLUSTER_PARTS || pool->limit - at < count + 2)
		return false;
	if (at + count + 2 > pool->cap) {
		uint32_t cap = pool->cap ? pool->cap * 2 : FIRST_SIZE;
		if (cap > pool->limit)
			cap = pool->limit;
		uint32_t *text = realloc(pool->text, cap * sizeof(*text));
		if (!text)
			return false;
		pool->text = text;
		pool->cap = cap;
	}
	memcpy(pool->text + at, parts, count * sizeof(*parts));
	pool->text[at + count] = mark;
	pool->text[at + count + 1] = 0;
	pool->len = at + count + 2;
	*cell = (*cell & ~CELL_TEXT) | CELL_CLUSTER | at;
	return true;
}

size_t part_put(uint32_t part, char *bytes)
{
	if (part < CELL_INVALID)
		return utf8_put(part, bytes);
	*bytes = (char)(part - CELL_INVALID);
	return 1;
}

size_t row_raw_size(unsigned cols)
{
	/* A wide character with marks, and some idle tabs. */
	return (size_t)cols * 8 + 64;
}

void row_reset(struct row *row)
{
	memset(row->cells, 0, row->used * sizeof(*row->cells));
	*row = (struct row){.cells = row->cells, .raw = row->raw, .plain = true};
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

bool row_has_text(const struct row *row, bool ink)
{
	for (unsigned x = row->used; x > 0; x--)
		if (cell_has_text(row->cells[x - 1]) &&
		    (!ink || (row->cells[x - 1] & (CELL_TEXT | CELL_CLUSTER)) != ' '))
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
		uint32_t parts[CLUSTER_PARTS];
		unsigned count = cluster_parts(pool, row->cells[x], parts);
		for (unsigned i = 0; i < count; i++)
			sum = (sum ^ (parts[i] ? parts[i] : ' ')) * UINT64_C(0x100000001B3);
	}
	return sum | 1;
}

bool row_edit(struct row *row, unsigned cols, unsigned at, unsigned removed, unsigned inserted)
{
	uint32_t *cells = row->cells;
	if (at >= row->used)
		return false;
	if (removed > cols - at)
		removed = cols - at;
	if (inserted > cols - at)
		inserted = cols - at;
	unsigned from = at + removed, to = at + inserted;
	row_touch(row);
	/* No half of a wide character stays. */
	if (at > 0 && cell_width(cells[at - 1]) == 2)
		cells[at - 1] = 0;
	if (from < cols &&
	    (inserted ? from > 0 && cell_width(cells[from - 1]) == 2 : cell_is_stub(cells[from])))
		cells[from] = 0;
	unsigned left = row->used > from ? row->used - from : 0;
	if (left > cols - to)
		left = cols - to;
	unsigned end = row->used;
	memmove(cells + to, cells + from, left * sizeof(*cells));
	memset(cells + at, 0, ((to < end ? to : end) - at) * sizeof(*cells));
	if (to + left < end)
		memset(cells + to + left, 0, (end - to - left) * sizeof(*cells));
	if (cell_width(cells[cols - 1]) == 2)
		cells[cols - 1] = 0;
	row->used = left ? to + left : at;
	/* A row that is empty again is as good as new. */
	if (row->used == 0) {
		row->plain = true;
		row->end = 0;
	}
	return true;
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
			char text[CLUSTER_PARTS * 4];
			uint32_t parts[CLUSTER_PARTS];
			unsigned count = cluster_parts(pool, cell, parts);
			size_t len = 0;
			for (unsigned i = 0; i < count; i++)
				len += part_put(parts[i], text + len);
			emitter_text(e, text, len);
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
