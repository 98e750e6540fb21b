// See align.h.

#include "supervisor/compare/align.h"

#include "lib/buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Pairs of a rare line that are tried, and the steps for all of it. */
#define PAIRS_MOST ((uint64_t)4096)
#define WORK_MOST  ((uint64_t)100 * 1000 * 1000)

/* Edits that are followed at a time. */
#define EDITS_MOST 400

/* Lines that one run of a rare line is followed to find out how long it is. */
#define REACH 256

struct align_part {
	uint32_t a, a_end, b, b_end;
};

/* A fingerprint, how often it occurs in a part, and where it does last. */
struct align_slot {
	uint64_t print; /* 0: free */
	uint32_t in_a, in_b, last_a, last_b;
};

/* A line that is unique in both. */
struct pair {
	uint32_t a, b;
	uint32_t before; /* the one before it in the longest order; UINT32_MAX: none */
};

static int align_add_run(struct align *m, uint32_t a, uint32_t b, uint32_t len)
{
	if (len == 0)
		return 0;
	struct align_run *r = array_add(&m->runs, &m->count, &m->cap, sizeof(*r));
	if (!r)
		return -1;
	*r = (struct align_run){a, b, len};
	return 0;
}

static int align_add_part(struct align *m, uint32_t a, uint32_t a_end, uint32_t b, uint32_t b_end)
{
	if (a == a_end || b == b_end)
		return 0;
	struct align_part *p = array_add(&m->parts, &m->part_count, &m->part_cap, sizeof(*p));
	if (!p)
		return -1;
	*p = (struct align_part){a, a_end, b, b_end};
	return 0;
}

static uint32_t same_front(const struct align *m, const struct align_part *p)
{
	uint32_t len = 0;
	while (p->a + len < p->a_end && p->b + len < p->b_end &&
	       m->a[p->a + len] == m->b[p->b + len])
		len++;
	return len;
}

static uint32_t same_end(const struct align *m, const struct align_part *p)
{
	uint32_t len = 0;
	while (p->a + len < p->a_end && p->b + len < p->b_end &&
	       m->a[p->a_end - len - 1] == m->b[p->b_end - len - 1])
		len++;
	return len;
}

static struct align_slot *find_slot(const struct align *m, size_t mask, uint64_t print)
{
	size_t i = (size_t)(print >> 20) & mask;
	while (m->slots[i].print && m->slots[i].print != print)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* Counts the lines of a part. Returns the mask of its slots, or 0 with ENOMEM. */
static size_t count_lines(struct align *m, const struct align_part *p)
{
	size_t lines = (size_t)(p->a_end - p->a) + (p->b_end - p->b), size = 16;
	while (size < lines * 2)
		size *= 2;
	if (size > m->slot_count) {
		free(m->slots);
		m->slots = malloc(size * sizeof(*m->slots));
		m->slot_count = m->slots ? size : 0;
		if (!m->slots)
			return 0;
	}
	memset(m->slots, 0, size * sizeof(*m->slots));
	for (uint32_t i = p->a; i < p->a_end; i++) {
		struct align_slot *s = find_slot(m, size - 1, m->a[i]);
		s->print = m->a[i];
		s->last_a = i;
		s->in_a++;
	}
	for (uint32_t i = p->b; i < p->b_end; i++) {
		struct align_slot *s = find_slot(m, size - 1, m->b[i]);
		if (!s->print)
			continue;
		s->last_b = i;
		s->in_b++;
	}
	m->work += lines + size / 8;
	return size - 1;
}

/* The lines that are unique in both, by their order in the first. Returns their number. */
static uint32_t find_unique(const struct align *m, const struct align_part *p, size_t mask,
			    struct pair *pairs)
{
	uint32_t count = 0;
	for (uint32_t i = p->a; i < p->a_end; i++) {
		const struct align_slot *s = find_slot(m, mask, m->a[i]);
		if (s->in_a == 1 && s->in_b == 1)
			pairs[count++] = (struct pair){i, s->last_b, UINT32_MAX};
	}
	return count;
}

/* Links the longest ascending order of the second numbers. `ends` is room for as many numbers:
   the last pair of the best order of each length. Returns the last pair of the longest. */
static uint32_t find_longest(struct pair *pairs, uint32_t count, uint32_t *ends)
{
	uint32_t length = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t low = 0, high = length;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;
			if (pairs[ends[middle]].b < pairs[i].b)
				low = middle + 1;
			else
				high = middle;
		}
		pairs[i].before = low > 0 ? ends[low - 1] : UINT32_MAX;
		ends[low] = i;
		length += low == length;
	}
	return ends[length - 1];
}

/* Splits a part at the lines that are unique in both. Returns 1, 0 if there are none, or -1. */
static int split_at_unique(struct align *m, const struct align_part *p, size_t mask)
{
	uint32_t lines = p->a_end - p->a;
	struct pair *pairs = malloc(lines * sizeof(*pairs));
	uint32_t *ends = malloc(lines * sizeof(*ends));
	int result = -1;
	uint32_t count = pairs && ends ? find_unique(m, p, mask, pairs) : 0;
	if (!pairs || !ends)
		goto out;
	result = count > 0;
	uint32_t a_end = p->a_end, b_end = p->b_end;
	for (uint32_t i = count ? find_longest(pairs, count, ends) : UINT32_MAX; i != UINT32_MAX;
	     i = pairs[i].before) {
		if (align_add_part(m, pairs[i].a + 1, a_end, pairs[i].b + 1, b_end) < 0 ||
		    align_add_run(m, pairs[i].a, pairs[i].b, 1) < 0)
			result = -1;
		a_end = pairs[i].a;
		b_end = pairs[i].b;
	}
	if (result == 1 && align_add_part(m, p->a, a_end, p->b, b_end) < 0)
		result = -1;
out:
	free(pairs);
	free(ends);
	return result;
}

/* The run around a pair of equal lines, within the part and a reach. */
static struct align_run run_around(const struct align *m, const struct align_part *p, uint32_t a,
				   uint32_t b)
{
	uint32_t back = 0, len = 1;
	while (back < REACH && a - back > p->a && b - back > p->b &&
	       m->a[a - back - 1] == m->b[b - back - 1])
		back++;
	while (len < REACH && a + len < p->a_end && b + len < p->b_end &&
	       m->a[a + len] == m->b[b + len])
		len++;
	return (struct align_run){a - back, b - back, back + len};
}

/* By how many lines more than the other one the first or second is in front of a run, or behind it:
   among runs of one length the nearest is right, in texts that repeat themselves. */
static uint32_t run_skew(const struct align_part *p, const struct align_run *run)
{
	uint32_t a = run->a - p->a, b = run->b - p->b;
	uint32_t a_left = p->a_end - run->a, b_left = p->b_end - run->b;
	uint32_t front = a > b ? a - b : b - a;
	uint32_t back = a_left > b_left ? a_left - b_left : b_left - a_left;
	return front < back ? front : back;
}

/* The rarest line that both have; NULL: none is rare enough, or (not *common) there is none. */
static const struct align_slot *find_rarest(const struct align *m, size_t mask, bool *common)
{
	const struct align_slot *rarest = NULL;
	*common = false;
	for (size_t i = 0; i <= mask; i++) {
		const struct align_slot *s = &m->slots[i];
		uint64_t pairs = (uint64_t)s->in_a * s->in_b;
		*common |= pairs > 0;
		if (pairs == 0 || pairs > PAIRS_MOST)
			continue;
		uint64_t least = rarest ? (uint64_t)rarest->in_a * rarest->in_b : UINT64_MAX;
		/* Among equals the one that stands first, whatever its slot. */
		if (pairs < least || (pairs == least && s->last_a < rarest->last_a))
			rarest = s;
	}
	return rarest;
}

/* Splits a part at the longest run around the rarest line. Returns 1 (also if no line is in
   both), 0 if none is rare, or -1. */
static int split_at_rarest(struct align *m, const struct align_part *p, size_t mask)
{
	bool common;
	const struct align_slot *rarest = find_rarest(m, mask, &common);
	struct align_run best = {0};
	uint32_t skew = 0;
	if (!rarest)
		return !common;
	for (uint32_t a = p->a; a < p->a_end; a++) {
		for (uint32_t b = p->b; m->a[a] == rarest->print && b < p->b_end; b++) {
			if (m->b[b] != rarest->print)
				continue;
			struct align_run run = run_around(m, p, a, b);
			m->work += run.len;
			uint32_t off = run_skew(p, &run);
			if (run.len > best.len || (run.len == best.len && off < skew)) {
				best = run;
				skew = off;
			}
		}
		m->work += m->a[a] == rarest->print ? p->b_end - p->b : 1;
	}
	if (align_add_run(m, best.a, best.b, best.len) < 0 ||
	    align_add_part(m, p->a, best.a, p->b, best.b) < 0)
		return -1;
	if (align_add_part(m, best.a + best.len, p->a_end, best.b + best.len, p->b_end) < 0)
		return -1;
	return 1;
}

/* Where a path of edits has come to: lines of the first part that are passed, by the diagonal (that
   number less the lines of the second); one row for each number of edits. */
struct edits {
	const struct align *m;
	const struct align_part *p;
	int32_t *reach; /* rows of 2 * EDITS_MOST + 3 diagonals */
};

#define ROW ((size_t)2 * EDITS_MOST + 3)

static int32_t *edits_row(const struct edits *e, int edits)
{
	return e->reach + (size_t)edits * ROW + EDITS_MOST + 1;
}

/* The start of the last step to a diagonal, behind the edit: from the diagonal above or below. */
static int32_t edits_step(const struct edits *e, int edits, int32_t diagonal)
{
	const int32_t *before = edits_row(e, edits - 1);
	int32_t lines = (int32_t)(e->p->a_end - e->p->a), others = (int32_t)(e->p->b_end - e->p->b);
	int32_t gone = before[diagonal - 1], new = before[diagonal + 1];
	gone = gone >= 0 && gone < lines ? gone + 1 : -1;
	new = new >= 0 && new - diagonal <= others ? new : -1;
	return gone > new ? gone : new;
}

/* Goes on from there while the lines are equal. */
static int32_t edits_slide(const struct edits *e, int32_t diagonal, int32_t x)
{
	const struct align_part *p = e->p;
	uint32_t a = p->a + (uint32_t)x, b = p->b + (uint32_t)(x - diagonal);
	while (a < p->a_end && b < p->b_end && e->m->a[a] == e->m->b[b]) {
		a++;
		b++;
	}
	return (int32_t)(a - p->a);
}

/* Adds the equal lines of the path that leads to a diagonal. */
static int edits_add_runs(struct align *m, const struct edits *e, int edits, int32_t diagonal)
{
	for (; edits >= 0; edits--) {
		int32_t to = edits_row(e, edits)[diagonal];
		int32_t from = edits > 0 ? edits_step(e, edits, diagonal) : 0;
		if (align_add_run(m, e->p->a + (uint32_t)from,
				  e->p->b + (uint32_t)(from - diagonal), (uint32_t)(to - from)) < 0)
			return -1;
		if (edits == 0)
			return 0;
		const int32_t *before = edits_row(e, edits - 1);
		int32_t gone = before[diagonal - 1];
		bool by_gone =
			gone >= 0 && gone + 1 == from && gone < (int32_t)(e->p->a_end - e->p->a);
		diagonal += by_gone ? -1 : 1;
	}
	return 0;
}

/* One more edit on all paths. *best is the diagonal of the one that has come furthest. Returns
   whether it has come to the end of both. */
static bool edits_extend(const struct edits *e, int edits, int32_t *best)
{
	int32_t *row = edits_row(e, edits), lines = (int32_t)(e->p->a_end - e->p->a);
	int32_t others = (int32_t)(e->p->b_end - e->p->b), furthest = -1;
	for (int32_t k = -EDITS_MOST - 1; k <= EDITS_MOST + 1; k++)
		row[k] = -1;
	for (int32_t k = -edits; k <= edits; k += 2) {
		int32_t x = edits > 0 ? edits_step(e, edits, k) : 0;
		if (x < 0 || x - k < 0 || x - k > others)
			continue;
		row[k] = edits_slide(e, k, x);
		if (2 * row[k] - k > furthest) {
			furthest = 2 * row[k] - k;
			*best = k;
		}
	}
	return furthest == lines + others;
}

/* No line is rare: follows the shortest ways from the front (Eugene Myers' algorithm), as far as a
   number of edits leads. */
static int split_by_edits(struct align *m, const struct align_part *p)
{
	struct edits e = {
		.m = m, .p = p, .reach = malloc((EDITS_MOST + 1) * ROW * sizeof(int32_t))};
	int32_t best = 0;
	int edits = 0;
	if (!e.reach)
		return -1;
	while (!edits_extend(&e, edits, &best) && edits < EDITS_MOST)
		edits++;
	uint32_t x = (uint32_t)edits_row(&e, edits)[best];
	uint32_t y = (uint32_t)((int32_t)x - best);
	m->work += (uint64_t)x + y + ROW * (size_t)edits;
	int result = edits_add_runs(m, &e, edits, best);
	free(e.reach);
	if (result < 0)
		return -1;
	return align_add_part(m, p->a + x, p->a_end, p->b + y, p->b_end);
}

static int align_one(struct align *m, struct align_part p)
{
	uint32_t front = same_front(m, &p);
	if (align_add_run(m, p.a, p.b, front) < 0)
		return -1;
	p.a += front;
	p.b += front;
	uint32_t end = same_end(m, &p);
	p.a_end -= end;
	p.b_end -= end;
	m->work += front + end + 1;
	if (align_add_run(m, p.a_end, p.b_end, end) < 0)
		return -1;
	if (p.a == p.a_end || p.b == p.b_end || m->work > WORK_MOST)
		return 0;
	size_t mask = count_lines(m, &p);
	int split = mask ? split_at_unique(m, &p, mask) : -1;
	if (split == 0)
		split = split_at_rarest(m, &p, mask);
	if (split == 0)
		split = split_by_edits(m, &p) < 0 ? -1 : 1;
	return split < 0 ? -1 : 0;
}

static int compare_runs(const void *a, const void *b)
{
	const struct align_run *x = a, *y = b;
	return (x->a > y->a) - (x->a < y->a);
}

/* Puts the runs in order, and makes one of those that touch. */
static void align_join(struct align *m)
{
	size_t kept = 0;
	if (m->count > 0)
		qsort(m->runs, m->count, sizeof(*m->runs), compare_runs);
	for (size_t i = 0; i < m->count; i++) {
		struct align_run *last = kept ? &m->runs[kept - 1] : NULL;
		const struct align_run *r = &m->runs[i];
		if (last && last->a + last->len == r->a && last->b + last->len == r->b)
			last->len += r->len;
		else
			m->runs[kept++] = *r;
	}
	m->count = kept;
}

int align_make(struct align *m)
{
	int result = align_add_part(m, 0, m->a_count, 0, m->b_count);
	while (result == 0 && m->part_count > 0)
		result = align_one(m, m->parts[--m->part_count]);
	if (result == 0)
		align_join(m);
	return result;
}

void align_release(struct align *m)
{
	free(m->runs);
	free(m->slots);
	free(m->parts);
	m->runs = NULL;
	m->slots = NULL;
	m->parts = NULL;
}
