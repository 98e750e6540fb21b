// The part of a choice that knows what the reader was shown before: lines that it has already give
// way to new ones that tell something, and are not printed again but for what explains the run.

#include "supervisor/preview/chars.h"
#include "supervisor/preview/layout.h"

enum {
	/* A gap with so few bytes does not name where its lines were shown. */
	WORTH_NAMING = 200,
	/* Bytes that leaving out a run of lines saves at least, beside its marker. */
	WORTH_LEAVING = 40,
	/* Lines around the first failure, and around the most telling line, that stay. */
	STAYS_ABOVE = 2,
	STAYS_BELOW = 3,
	/* The last lines stay, in so many bytes. */
	STAYS_LAST = 160,
};

/* Whether a number in such a line is what it is about. */
static bool recall_is_exact(const struct trait *t)
{
	return t->kind == SCORE_FAIL || t->kind == SCORE_DETAIL || t->kind == SCORE_SUMMARY ||
	       t->kind == SCORE_WARNING;
}

/* Whether one run has shown the second unit right below the first. */
static bool recall_goes_on(const struct unit *a, const struct unit *b)
{
	return a->seen && b->seen && a->shown.id && a->shown.id == b->shown.id &&
	       a->shown.line + 1 == b->shown.line;
}

void recall_mark(struct layout *l, const struct recall *recall)
{
	for (size_t i = l->back; recall && i < l->count; i++) {
		struct unit *u = &l->units[i];
		if (!line_is_whole(&u->line) || u->trait.kind == SCORE_BLANK)
			continue;
		enum recall_found found = recall->find(
			recall->ctx, u->line.front, u->line.front_len - u->line.ended, &u->shown);
		u->seen = found == RECALL_SAME ||
			  (found == RECALL_MASKED && !recall_is_exact(&u->trait));
		u->streak =
			i > l->back && recall_goes_on(u - 1, u) ? u[-1].streak : (uint32_t)i + 1;
	}
}

bool recall_name(const struct layout *l, const struct unit *a, const struct unit *b,
		 struct preview_piece *gap)
{
	const struct unit *from = a ? a + 1 : l->units + l->back;
	const struct unit *to = b ? b : l->units + l->count;
	if (gap->bytes < WORTH_NAMING || (uint64_t)(to - from) != gap->to - gap->from + 1)
		return false;
	if (!from->seen || !from->shown.id || from->streak != to[-1].streak)
		return false;
	gap->as = from->shown.id;
	gap->as_from = from->shown.line;
	gap->as_to = from->shown.line + (uint64_t)(to - from) - 1;
	return true;
}

static void recall_keep(struct layout *l, size_t unit)
{
	size_t from = unit > l->back + STAYS_ABOVE ? unit - STAYS_ABOVE : l->back;
	for (size_t i = from; i <= unit + STAYS_BELOW && i < l->count; i++) {
		const struct trait *t = &l->units[i].trait;
		l->units[i].stays |= t->kind != SCORE_PASS && !t->common;
	}
}

/* Marks what is shown in any case: the first failure, the line that tells most, with those around
   them, the counts of failures, the last lines. */
static void recall_keep_telling(struct layout *l)
{
	size_t first = l->count, most = l->count, used = 0;
	for (size_t i = l->back; i < l->count; i++) {
		struct unit *u = &l->units[i];
		if (!u->chosen)
			continue;
		if (u->trait.kind == SCORE_FAIL && first == l->count)
			first = i;
		if (u->trait.kind != SCORE_BLANK && u->trait.value >= LAYOUT_TELLING &&
		    (most == l->count || u->trait.value > l->units[most].trait.value))
			most = i;
		u->stays |= u->trait.kind == SCORE_SUMMARY;
	}
	if (first < l->count)
		recall_keep(l, first);
	if (most < l->count)
		recall_keep(l, most);
	for (size_t i = l->count; i > l->back && l->units[i - 1].chosen; i--) {
		used += l->units[i - 1].cost;
		if (used > STAYS_LAST)
			break;
		l->units[i - 1].stays = true;
	}
}

/* Whether a unit may be left out: it was shown, or is a blank line between such. */
static bool recall_may_leave(const struct unit *u)
{
	return u->chosen && !u->stays && (u->seen || u->trait.kind == SCORE_BLANK);
}

static bool recall_follows(const struct unit *before, const struct unit *behind)
{
	return before->to + 1 == behind->line.number;
}

/* Leaves out the units from..to if that saves something. */
static bool recall_leave(struct layout *l, size_t from, size_t to)
{
	bool seen = false;
	for (size_t i = from; i < to; i++)
		seen |= l->units[i].seen;
	return seen && layout_drop(l, from, to, WORTH_LEAVING);
}

bool recall_leave_out(struct layout *l)
{
	bool left = false;
	recall_keep_telling(l);
	for (size_t from = l->back, to; from < l->count; from = to + (to == from)) {
		for (to = from; to < l->count && recall_may_leave(&l->units[to]); to++) {
			if (to > from && !recall_follows(&l->units[to - 1], &l->units[to]))
				break;
		}
		if (to > from)
			left |= recall_leave(l, from, to);
	}
	return left;
}
