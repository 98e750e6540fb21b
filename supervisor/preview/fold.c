// Lines that are alike become one unit: the first of them, and a fold for the others.
#include "supervisor/preview/layout.h"

enum {
	/* So many lines are shown, or one of each form. */
	ALIKE_SHOWN = 2,
	/* At least so many are left out, and that must save so many times its cost. */
	ALIKE_LEAST = 3,
	ALIKE_GAIN = 2,
	/* Lines that repeat this many forms are alike, if each occurs within so many lines. */
	CYCLE_FORMS = 4,
	CYCLE_LINES = 6,
};

/* Whether a unit goes on from the one in front of it. The last line is shown as it is. */
static bool unit_goes_on(const struct layout *l, size_t i)
{
	const struct unit *u = &l->units[i];
	return u->to < l->total_lines && layout_goes_on(l->similar, u - 1, u->line.number);
}

/* Whether a unit's line is like that of the one in front of it. */
static bool unit_is_alike(const struct layout *l, size_t i)
{
	const struct unit *u = &l->units[i];
	if (l->asked_for)
		return shape_counts_on(&u[-1].line, &u->line);
	return u->trait.shape && u->trait.shape == u[-1].trait.shape;
}

/* The unit behind those that differ from the one at `from` only in numbers and paths, or as a
   counter, a hash or a time. */
static size_t alike_end(const struct layout *l, size_t from)
{
	size_t i = from + 1;
	while (i < l->count && unit_is_alike(l, i) && unit_goes_on(l, i))
		i++;
	return i;
}

/* Adds to a unit of lines that are alike those behind `end` that are known to be so. Returns
   whether there are some. */
static bool extend_alike(const struct layout *l, struct unit *u, size_t end)
{
	const struct streak *s = l->similar ? streaks_find(l->similar, u->to, u->to) : NULL;
	if (!s || s->to == u->to || u->line.number < s->from)
		return false;
	if (end < l->count && l->units[end].line.number <= s->to)
		return false;
	u->to = s->to;
	u->length = s->offset + s->length - u->line.offset;
	streak_last(s, &u->last);
	return true;
}

/* Makes one unit of those from..end, which are like `above` lines up to the first of them; false:
   they are cheap enough. */
static bool join_units(struct layout *l, size_t from, size_t end, unsigned above)
{
	const struct unit *last = &l->units[end - 1];
	struct unit joined = l->units[from];
	size_t cost = 0;
	joined.alike = true;
	joined.above = above;
	joined.last = last->alike ? last->last : last->line;
	if (!last->alike)
		joined.last.offset += last->length - last->line.length;
	joined.to = last->to;
	joined.length = last->line.offset + last->length - joined.line.offset;
	for (size_t i = from; i < end; i++) {
		cost += l->units[i].cost;
		if (l->units[i].trait.value > joined.trait.value)
			joined.trait.value = l->units[i].trait.value;
	}
	bool more = extend_alike(l, &joined, end);
	layout_price_unit(l, &joined);
	if (!more && (end - from <= ALIKE_LEAST || joined.cost > cost / ALIKE_GAIN))
		return false;
	l->units[from] = joined;
	return true;
}

/* Lines that repeat a few common forms: units up to `end`, of which `shown` have one of each. */
struct cycle {
	size_t end, shown;
};

static struct cycle cycle_at(const struct layout *l, size_t from)
{
	uint32_t forms[CYCLE_FORMS];
	size_t count = 0, form;
	struct cycle cycle = {from, 0};
	for (size_t i = from; i < l->count; i++) {
		const struct unit *u = &l->units[i];
		if (i > from && !unit_goes_on(l, i))
			break;
		if (i > from && u->trait.kind == SCORE_BLANK)
			continue;
		if (!u->trait.common || u->trait.value >= LAYOUT_TELLING)
			break;
		for (form = 0; form < count && forms[form] != u->trait.form; form++)
			;
		if (form == count) {
			if (count == CYCLE_FORMS || i - from >= CYCLE_LINES)
				break;
			forms[count++] = u->trait.form;
			cycle.shown = i - from + 1;
		}
		cycle.end = i + 1;
	}
	return cycle;
}

/* Joins the units at `from` that are alike, if there are some. Returns how many are left of them;
 *end is behind them. */
static size_t fold_at(struct layout *l, size_t from, size_t *end)
{
	struct cycle cycle = {from, 0}, alike = {alike_end(l, from), 1};
	if (!l->asked_for)
		cycle = cycle_at(l, from);
	if (alike.end >= cycle.end)
		cycle = alike;
	size_t shown = cycle.shown < ALIKE_SHOWN ? ALIKE_SHOWN : cycle.shown,
	       first = from + shown - 1;
	*end = cycle.end;
	if (first + 1 < *end) {
		const struct unit *u = &l->units[first];
		uint64_t lines = u->line.number - l->units[from].line.number + 1;
		bool many = cycle.shown > 1 || u->trait.kind == SCORE_BLANK;
		if (join_units(l, first, *end, many ? (unsigned)lines : 1))
			return shown;
	}
	*end = from + 1;
	return 1;
}

void layout_fold(struct layout *l)
{
	size_t kept = l->back;
	for (size_t i = l->back, end; i < l->count; i = end) {
		size_t left = fold_at(l, i, &end);
		for (size_t k = 0; k < left; k++)
			l->units[kept++] = l->units[i + k];
	}
	l->count = kept;
}
