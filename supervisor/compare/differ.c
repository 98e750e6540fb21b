// See differ.h.

#include "supervisor/compare/differ.h"

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "supervisor/reading/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- sets ---------------------------------------------------------------------- */

/* A set of fingerprints, none of them 0. */
struct prints {
	uint64_t *slots;
	size_t mask;
};

/* The slot where a fingerprint is, or would be put. */
static uint64_t *prints_slot(const struct prints *p, uint64_t print)
{
	size_t at = print & p->mask;
	while (p->slots[at] && p->slots[at] != print)
		at = (at + 1) & p->mask;
	return &p->slots[at];
}

/* --- which elements of two sequences belong together --------------------------- */

// The longest common subsequence (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986,
// with the linear memory of its section 4b), or nearly the longest: if sequences differ in too many
// places, a search stops early and restarts from the furthest point that it has reached. The
// elements without a mark are a common subsequence in either case.

struct align_side {
	const uint64_t *hashes; /* none of them 0 */
	uint32_t count;
	bool *alone; /* the result, zeroed before: for each element, whether it is marked as not in
			the other sequence */
};

/* The smallest number of steps before a search ends early; longer sequences get more. */
#define STEPS_LEAST 256

/* Both sequences without the elements that only one of them has; `places` are the original indexes
   of the remaining elements. */
struct align_rest {
	const uint64_t *hashes[2];
	const uint32_t *places[2];
	bool *alone[2];
	int32_t *ahead, *behind; /* for each diagonal x - y, the furthest x of the search from the
				    start, from the end */
	int32_t steps;
};

/* A part of both sequences: elements x0..x1-1 of the first, y0..y1-1 of the second. */
struct align_box {
	int32_t x0, x1, y0, y1;
};

/* Marks the elements that the other sequence doesn't have at all, and collects the others. */
static int align_collect(const struct align_side *side, const struct align_side *other,
			 uint64_t *hashes, uint32_t *places, uint32_t *count)
{
	struct prints set = {.mask = 1};
	while (set.mask < (size_t)other->count * 2)
		set.mask = set.mask * 2 + 1;
	set.slots = calloc(set.mask + 1, sizeof(*set.slots));
	if (!set.slots)
		return -1;
	for (uint32_t i = 0; i < other->count; i++)
		*prints_slot(&set, other->hashes[i]) = other->hashes[i];
	*count = 0;
	for (uint32_t i = 0; i < side->count; i++) {
		side->alone[i] = !*prints_slot(&set, side->hashes[i]);
		if (side->alone[i])
			continue;
		hashes[*count] = side->hashes[i];
		places[(*count)++] = i;
	}
	free(set.slots);
	return 0;
}

/* Searches from both corners of a box at once, until the paths meet or the steps are used up.
   Stores a point of the shortest path, or the furthest point that was reached. */
static void align_split(const struct align_rest *r, const struct align_box *box, int32_t *split_x,
			int32_t *split_y)
{
	const uint64_t *a = r->hashes[0], *b = r->hashes[1];
	int32_t *ahead = r->ahead, *behind = r->behind;
	const int32_t least = box->x0 - box->y1, most = box->x1 - box->y0;
	const int32_t from = box->x0 - box->y0, to = box->x1 - box->y1;
	int32_t first = from, last = from, back_first = to, back_last = to;
	bool odd = (from - to) & 1;
	ahead[from] = box->x0;
	behind[to] = box->x1;
	for (int32_t step = 1;; step++) {
		/* A diagonal outside the box is never the better one. */
		first > least ? (void)(ahead[--first - 1] = -1) : (void)++first;
		last < most ? (void)(ahead[++last + 1] = -1) : (void)--last;
		for (int32_t d = last; d >= first; d -= 2) {
			int32_t x = ahead[d - 1] < ahead[d + 1] ? ahead[d + 1] : ahead[d - 1] + 1;
			while (x < box->x1 && x - d < box->y1 && a[x] == b[x - d])
				x++;
			ahead[d] = x;
			if (odd && d >= back_first && d <= back_last && behind[d] <= x) {
				*split_x = x;
				*split_y = x - d;
				return;
			}
		}
		back_first > least ? (void)(behind[--back_first - 1] = INT32_MAX)
				   : (void)++back_first;
		back_last < most ? (void)(behind[++back_last + 1] = INT32_MAX) : (void)--back_last;
		for (int32_t d = back_last; d >= back_first; d -= 2) {
			int32_t x =
				behind[d - 1] < behind[d + 1] ? behind[d - 1] : behind[d + 1] - 1;
			while (x > box->x0 && x - d > box->y0 && a[x - 1] == b[x - d - 1])
				x--;
			behind[d] = x;
			if (!odd && d >= first && d <= last && x <= ahead[d]) {
				*split_x = x;
				*split_y = x - d;
				return;
			}
		}
		if (step < r->steps)
			continue;
		int64_t best = -1;
		for (int32_t d = last; d >= first; d -= 2) {
			int32_t x = ahead[d] < box->x1 ? ahead[d] : box->x1;
			int32_t y = x - d < box->y1 ? x - d : box->y1;
			if ((int64_t)(y + d) + y > best) {
				best = (int64_t)(y + d) + y;
				*split_x = y + d;
				*split_y = y;
			}
		}
		return;
	}
}

static void align_boxes(const struct align_rest *r, struct align_box box)
{
	const uint64_t *a = r->hashes[0], *b = r->hashes[1];
	for (;;) {
		while (box.x0 < box.x1 && box.y0 < box.y1 && a[box.x0] == b[box.y0]) {
			box.x0++;
			box.y0++;
		}
		while (box.x0 < box.x1 && box.y0 < box.y1 && a[box.x1 - 1] == b[box.y1 - 1]) {
			box.x1--;
			box.y1--;
		}
		if (box.x0 == box.x1 || box.y0 == box.y1)
			break;
		int32_t x = box.x0, y = box.y0;
		align_split(r, &box, &x, &y);
		struct align_box front = {box.x0, x, box.y0, y}, back = {x, box.x1, y, box.y1};
		/* Recurses into the smaller part only, so the recursion is at most log2(n) deep. */
		bool front_first = x - box.x0 + y - box.y0 < box.x1 - x + box.y1 - y;
		align_boxes(r, front_first ? front : back);
		box = front_first ? back : front;
	}
	for (int32_t x = box.x0; x < box.x1; x++)
		r->alone[0][r->places[0][x]] = true;
	for (int32_t y = box.y0; y < box.y1; y++)
		r->alone[1][r->places[1][y]] = true;
}

/* Marks elements so that the unmarked ones are the same on both sides, in the same order. Takes
   linear time, except for elements whose order differs between the sides. Returns 0, or -1 with
   ENOMEM. */
static int align_mark(const struct align_side *first, const struct align_side *second)
{
	struct align_side a = *first, b = *second;
	/* The equal elements at the beginning and at the end stay unmarked, as a reader would
	   expect. */
	for (; a.count > 0 && b.count > 0 && *a.hashes == *b.hashes; a.count--, b.count--) {
		a.hashes++, a.alone++;
		b.hashes++, b.alone++;
	}
	for (; a.count > 0 && b.count > 0 && a.hashes[a.count - 1] == b.hashes[b.count - 1];
	     b.count--)
		a.count--;
	size_t all = (size_t)a.count + b.count + 1;
	uint64_t *hashes = malloc(all * sizeof(*hashes));
	uint32_t *places = malloc(all * sizeof(*places)), counts[2];
	/* Two arrays, one for each search, with one more diagonal at each end. */
	int32_t *ways = malloc((all + 2) * 2 * sizeof(*ways));
	int result = -1;
	if (!hashes || !places || !ways || align_collect(&a, &b, hashes, places, &counts[0]) < 0 ||
	    align_collect(&b, &a, hashes + a.count, places + a.count, &counts[1]) < 0)
		goto out;
	struct align_rest rest = {.hashes = {hashes, hashes + a.count},
				  .places = {places, places + a.count},
				  .alone = {a.alone, b.alone},
				  .ahead = ways + b.count + 1,
				  .behind = ways + all + 2 + b.count + 1,
				  .steps = STEPS_LEAST};
	while ((uint64_t)rest.steps * (uint64_t)rest.steps < all)
		rest.steps *= 2;
	align_boxes(&rest, (struct align_box){0, (int32_t)counts[0], 0, (int32_t)counts[1]});
	result = 0;
out:
	free(hashes);
	free(places);
	free(ways);
	return result;
}

/* --- the lines of a text -------------------------------------------------------- */

/* A line; or a gap, as one line that stands for all its lines. */
struct differ_line {
	uint64_t print;  /* its fingerprint */
	uint64_t bytes;  /* a hash of all its bytes */
	uint64_t number; /* 1-based */
	uint64_t offset; /* offset in the file of its first byte */
};

/* One text from where both begin to differ. */
struct differ_side {
	struct text *text;
	struct walk *walk;
	bool exact;
	struct differ_line first;  /* the first line that differs */
	struct differ_line *lines; /* the lines from `first` on, and one more, the end */
	size_t count, room;
	uint64_t *hashes;
	bool *alone;
};

struct differing {
	const struct differ *d;
	struct differ_side sides[2];
};

/* Starts the walk at `first`. Returns 0, or -1 with errno. */
static int differ_rewind(struct differ_side *s)
{
	const struct walk_options options = {.from = s->first.number, .here = true};
	walk_free(s->walk);
	text_seek_byte(s->text, s->first.offset);
	s->walk = walk_new(s->text, NULL, &options);
	return s->walk ? 0 : -1;
}

/* Stores the line or gap that the walk has reached. Returns 1, 0 at the end, or -1 with errno. */
static int differ_take(struct differ_side *s, enum walk_kind kind, struct walk_line *at,
		       struct differ_line *line)
{
	*line = (struct differ_line){.number = at->number, .offset = at->offset};
	if (kind == WALK_GAP) {
		const struct gap *g = &at->gap->gap;
		line->number = g->from;
		line->print = line->bytes =
			fingerprint_exact((const char *)&g->bytes, sizeof(g->bytes));
	} else if (kind == WALK_LINE) {
		bool masks = !s->exact && !at->more_behind;
		line->bytes = fingerprint_exact(at->data, at->len);
		line->print = masks ? fingerprint_masked(at->data, at->len) : line->bytes;
	}
	while (kind == WALK_LINE && at->more_behind) {
		kind = walk_step(s->walk, at);
		if (kind == WALK_LINE)
			line->bytes = (line->bytes ^ fingerprint_exact(at->data, at->len)) * 31 | 1;
		line->print = line->bytes;
	}
	if (kind == WALK_LINE && !at->newline) {
		line->print ^= 1;
		line->bytes ^= 1;
	}
	return kind == WALK_FAILED ? -1 : kind != WALK_END;
}

/* Skips the first lines that are equal in both texts, byte by byte. Returns 0, or -1 with errno. */
static int differ_pass_equal(struct differing *d)
{
	struct walk_line at[2];
	enum walk_kind kinds[2];
	bool same;
	do {
		for (int i = 0; i < 2; i++)
			kinds[i] = walk_step(d->sides[i].walk, &at[i]);
		same = kinds[0] == WALK_LINE && kinds[1] == WALK_LINE && at[0].len == at[1].len &&
		       at[0].newline == at[1].newline && !at[0].more_behind && !at[1].more_behind &&
		       memcmp(at[0].data, at[1].data, at[0].len) == 0;
	} while (same);
	for (int i = 0; i < 2; i++) {
		if (differ_take(&d->sides[i], kinds[i], &at[i], &d->sides[i].first) < 0)
			return -1;
	}
	return 0;
}

/* Collects the lines of a text from `first` on. Returns 1; 0 if there are more than DIFFER_LINES;
   -1 with errno. */
static int differ_collect(struct differ_side *s)
{
	int got = differ_rewind(s) < 0 ? -1 : 1;
	while (got > 0) {
		struct differ_line *line = array_add(&s->lines, &s->count, &s->room, sizeof(*line));
		struct walk_line at;
		const enum walk_kind kind = line ? walk_step(s->walk, &at) : WALK_FAILED;
		got = line ? differ_take(s, kind, &at, line) : -1;
		if (got > 0 && s->count > DIFFER_LINES)
			return 0;
	}
	s->count -= got == 0;
	return got < 0 ? -1 : 1;
}

/* Collected lines x to y - 1. */
static struct differ_lines lines_of(const struct differ_side *s, size_t x, size_t y)
{
	return (struct differ_lines){.from = s->lines[x].number,
				     .count = s->lines[y].number - s->lines[x].number,
				     .offset = s->lines[x].offset,
				     .end = s->lines[y].offset};
}

/* Calls `change` for the marked lines in order. Returns what `change` returned. */
static int differ_report(const struct differing *d)
{
	const struct differ_side *a = &d->sides[0], *b = &d->sides[1];
	int answer = 0;
	for (size_t x = 0, y = 0; answer == 0 && (x < a->count || y < b->count);) {
		size_t i = x, k = y;
		while (i < a->count && a->alone[i])
			i++;
		while (k < b->count && b->alone[k])
			k++;
		const struct differ_change c = {{lines_of(a, x, i), lines_of(b, y, k)}};
		if (i > x || k > y) {
			d->d->facts->same = false;
			answer = d->d->change(d->d->ctx, &c);
		}
		if (i < a->count && a->lines[i].bytes != b->lines[k].bytes) {
			d->d->facts->same = false;
			d->d->facts->masked++;
		}
		x = i + (i < a->count);
		y = k + (k < b->count);
	}
	return answer;
}

/* Aligns the lines from[0]..to[0]-1 of the first text with from[1]..to[1]-1 of the second: by all
   their bytes (`bytes`), or by their fingerprints. */
static int differ_align_part(struct differing *d, bool bytes, const size_t from[2],
			     const size_t to[2])
{
	struct align_side sides[2];
	for (int i = 0; i < 2; i++) {
		struct differ_side *s = &d->sides[i];
		for (size_t k = from[i]; k < to[i]; k++) {
			s->hashes[k] = bytes ? s->lines[k].bytes : s->lines[k].print;
			s->alone[k] = false;
		}
		sides[i] = (struct align_side){s->hashes + from[i], (uint32_t)(to[i] - from[i]),
					       s->alone + from[i]};
	}
	return align_mark(&sides[0], &sides[1]);
}

/* Aligns lines that are identical; then, between those, lines with equal fingerprints. */
static int differ_align(struct differing *d)
{
	size_t at[2] = {0, 0}, end[2];
	for (int i = 0; i < 2; i++) {
		struct differ_side *s = &d->sides[i];
		s->hashes = malloc((s->count + 1) * sizeof(*s->hashes));
		s->alone = malloc((s->count + 1) * sizeof(*s->alone));
		if (!s->hashes || !s->alone)
			return -1;
		end[i] = s->count;
	}
	if (differ_align_part(d, true, at, end) < 0)
		return -1;
	while (!d->d->exact && (at[0] < end[0] || at[1] < end[1])) {
		size_t to[2];
		for (int i = 0; i < 2; i++) {
			for (to[i] = at[i]; to[i] < end[i] && d->sides[i].alone[to[i]];)
				to[i]++;
		}
		if (to[0] > at[0] && to[1] > at[1] && differ_align_part(d, false, at, to) < 0)
			return -1;
		for (int i = 0; i < 2; i++)
			at[i] = to[i] + (to[i] < end[i]);
	}
	return differ_report(d);
}

/* --- both texts ------------------------------------------------------------------ */

int differ_run(const struct differ *differ)
{
	struct differing d = {.d = differ};
	int result = -1;
	*differ->facts = (struct differ_facts){.same = true};
	for (int i = 0; i < 2; i++) {
		const struct text *t = differ->texts[i];
		differ->facts->same &= t->gap.begin == t->gap.end && t->lost_bytes == 0;
		d.sides[i].text = differ->texts[i];
		d.sides[i].exact = differ->exact;
		d.sides[i].first.number = 1;
		if (differ_rewind(&d.sides[i]) < 0)
			goto out;
	}
	if (differ_pass_equal(&d) < 0)
		goto out;
	result = differ_collect(&d.sides[0]);
	if (result == 1)
		result = differ_collect(&d.sides[1]);
	if (result == 1) {
		result = differ_align(&d);
	} else if (result == 0) {
		errno = EFBIG;
		result = -1;
	}
out:
	for (int i = 0; i < 2; i++) {
		walk_free(d.sides[i].walk);
		free(d.sides[i].lines);
		free(d.sides[i].hashes);
		free(d.sides[i].alone);
	}
	return result;
}
