// See align.h.

#include "lib/align.h"

#include <stdlib.h>
#include <string.h>

/* Steps of a search before it ends early; longer sequences get more. */
#define STEPS_LEAST 256

/* Sequences without what only one of them has, and where the rest stood. */
struct align_rest {
	const uint64_t *hashes[2];
	const uint32_t *places[2];
	bool *alone[2];
	int32_t *ahead, *behind; /* of each diagonal x - y, the furthest x of both searches */
	int32_t steps;
};

/* A part of both: elements x0..x1-1 of the first, y0..y1-1 of the second. */
struct align_box {
	int32_t x0, x1, y0, y1;
};

/* Marks what the other sequence does not have at all, and collects the rest. */
static int align_collect(const struct align_side *side, const struct align_side *other,
			 uint64_t *hashes, uint32_t *places, uint32_t *count)
{
	size_t slots = 16;
	while (slots < (size_t)other->count * 2)
		slots *= 2;
	uint64_t *set = calloc(slots, sizeof(*set));
	if (!set)
		return -1;
	for (uint32_t i = 0; i < other->count; i++) {
		size_t at = other->hashes[i] & (slots - 1);
		while (set[at] && set[at] != other->hashes[i])
			at = (at + 1) & (slots - 1);
		set[at] = other->hashes[i];
	}
	*count = 0;
	for (uint32_t i = 0; i < side->count; i++) {
		size_t at = side->hashes[i] & (slots - 1);
		while (set[at] && set[at] != side->hashes[i])
			at = (at + 1) & (slots - 1);
		side->alone[i] = !set[at];
		if (side->alone[i])
			continue;
		hashes[*count] = side->hashes[i];
		places[(*count)++] = i;
	}
	free(set);
	return 0;
}

/* Searches from both corners of a box at once, until the ways meet or the steps are over. Sets a
   point on the shortest way, or on the furthest one. */
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
		/* Beyond the ends of the diagonals nothing is reached. */
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
		/* The larger one last, in this loop: so few of them are open at a time. */
		bool front_first = x - box.x0 + y - box.y0 < box.x1 - x + box.y1 - y;
		align_boxes(r, front_first ? front : back);
		box = front_first ? back : front;
	}
	for (int32_t x = box.x0; x < box.x1; x++)
		r->alone[0][r->places[0][x]] = true;
	for (int32_t y = box.y0; y < box.y1; y++)
		r->alone[1][r->places[1][y]] = true;
}

int align_mark(struct align_side *first, struct align_side *second)
{
	struct align_side a = *first, b = *second;
	/* Where they begin and end alike, that is what a reader takes for the same. */
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
	/* A diagonal on each side more, and all of them twice. */
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
