#include "supervisor/preview/choose.h"

size_t choose_head_share(const struct preview_options *o)
{
	if (o->mode == PREVIEW_HEAD)
		return o->budget;
	if (o->mode == PREVIEW_TAIL)
		return 0;
	return o->budget / 100 * o->head_share + o->budget % 100 * o->head_share / 100;
}

/* Takes lines from the start on while they fit into `share` bytes. Returns the
   first unit not taken. */
static size_t take_head(struct layout *l, size_t from, size_t share)
{
	size_t i = from, used = 0;

	for (; i < l->count; i++) {
		const struct unit *u = &l->units[i];

		if (i > 0 && l->units[i - 1].to + 1 != u->line.number)
			break;
		if (u->cost > share - used || !layout_take(l, i, false))
			break;
		used += u->cost;
	}
	return i;
}

/* Takes lines from the end on. */
static void take_tail(struct layout *l, size_t down_to, size_t share)
{
	size_t i, used = 0;

	for (i = l->count; i > down_to; i--) {
		const struct unit *u = &l->units[i - 1];

		if (i < l->count && u->to + 1 != l->units[i].line.number)
			break;
		if (u->cost > share - used || !layout_take(l, i - 1, false))
			break;
		used += u->cost;
	}
	if (i == l->count && i > down_to)
		layout_take_cut(l, i - 1, l->max_line, false);
}

static void choose_by_position(struct layout *l, const struct preview_options *options)
{
	size_t share = choose_head_share(options), next;
	uint64_t max_lines = l->max_lines;

	share = share > l->ask->printed_bytes ? share - (size_t)l->ask->printed_bytes : 0;
	if (options->mode != PREVIEW_HEAD && max_lines)
		l->max_lines = (max_lines * options->head_share + 99) / 100;
	next = take_head(l, 0, share);
	if (next == 0 && share && l->count > 1 && l->ask->printed_lines == 0)
		next += layout_take_cut(l, 0, share, false);
	l->max_lines = max_lines;
	if (options->mode == PREVIEW_HEAD)
		return;
	take_tail(l, next, l->budget);
	if (options->mode != PREVIEW_TAIL)
		take_head(l, next, l->budget);
}

enum {
	TAIL_SHARE = 8,
	TAIL_SHARE_SUCCESS = 30, /* percent of the budget */
	MARKER = 80,             /* about what a gap costs */
	OVERHEAD = 0,            /* added to a line's cost, so that short lines are not all */
	END_VALUE = 60,          /* what being the last line counts */
	RUN = 4,                 /* lines that are weighed together */
	LINE_OVERHEAD = 50,
	BRIDGE = 3, /* lines between chosen ones that are cheaper than a gap */
};

/* Takes the lines of a gap when showing them is no dearer than its marker. */
static void bridge(struct layout *l, size_t from, size_t to)
{
	size_t cost = 0;

	if (to - from - 1 > BRIDGE || l->units[from].to + (to - from) < l->units[to].line.number)
		return;
	for (size_t i = from + 1; i < to; i++) {
		if (l->units[i].cost == 0)
			return;
		cost += l->units[i].cost + 6;
	}
	if (cost > MARKER)
		return;
	for (size_t i = from + 1; i < to; i++)
		layout_take(l, i, true);
}

static void bridge_around(struct layout *l, size_t unit)
{
	for (size_t k = 1; k <= BRIDGE + 1; k++) {
		if (unit >= k && l->units[unit - k].chosen) {
			bridge(l, unit - k, unit);
			break;
		}
	}
	for (size_t k = 1; k <= BRIDGE + 1; k++) {
		if (unit + k < l->count && l->units[unit + k].chosen) {
			bridge(l, unit, unit + k);
			break;
		}
	}
}

/* The last lines count for being the last. */
static void favour_end(struct layout *l, size_t budget)
{
	size_t behind = 0, reach = budget / 4;

	for (size_t i = l->count; i-- > 0 && behind < reach;) {
		struct unit *u = &l->units[i];

		u->value += (unsigned)(END_VALUE * (reach - behind) / reach);
		behind += u->cost;
	}
}

static void take_telling(struct layout *l, size_t unit)
{
	struct unit *u = &l->units[unit];

	if (!layout_take(l, unit, true)) {
		u->value = 0;
		return;
	}
	bridge_around(l, unit);
	for (size_t i = 0; i < l->count; i++) {
		if (l->units[i].shape == u->shape && !l->units[i].chosen)
			l->units[i].value = l->units[i].value * 6 / 10;
	}
}

/* Finds the run of lines, not taken yet, that tells most for its bytes. */
static bool find_densest(const struct layout *l, size_t *from, size_t *to)
{
	float best = 0;

	for (size_t i = 0; i < l->count; i++) {
		bool joins = i > 0 && l->units[i - 1].chosen &&
			     l->units[i - 1].to + 1 == l->units[i].line.number;
		float value = 0, cost = OVERHEAD;

		for (size_t k = i; k < l->count && k < i + RUN; k++) {
			const struct unit *u = &l->units[k];
			bool ends;
			float rate;

			if (u->chosen || (u->value == 0 && (u->cost > 2 || k == i)))
				break;
			if (k > i && u[-1].to + 1 != u->line.number)
				break;
			ends = k + 1 < l->count && u[1].chosen && u->to + 1 == u[1].line.number;
			value += (float)u->value;
			cost += (float)u->cost + LINE_OVERHEAD;
			rate = value / (cost + (joins || ends ? 0 : MARKER));
			if (rate > best) {
				best = rate;
				*from = i;
				*to = k + 1;
			}
		}
	}
	return best > 0;
}

static void choose_by_value(struct layout *l, const struct preview_options *options)
{
	size_t share = choose_head_share(options), next, from, to;
	size_t limit = options->budget / 6;

	if (limit < 200)
		limit = 200;
	for (size_t i = 0; i < l->count; i++) {
		size_t most = l->units[i].value > 180 ? limit : 160;

		if (l->units[i].limit > most && i + 1 < l->count) {
			l->units[i].limit = most;
			layout_price_unit(l, i);
		}
	}
	share = share > l->ask->printed_bytes ? share - (size_t)l->ask->printed_bytes : 0;
	next = take_head(l, 0, share);
	take_tail(l, next,
		  options->budget * (l->ask->status == 0 ? TAIL_SHARE_SUCCESS : TAIL_SHARE) / 100);
	favour_end(l, options->budget);
	while (find_densest(l, &from, &to)) {
		for (size_t i = from; i < to; i++)
			take_telling(l, i);
	}
	take_tail(l, next, options->budget);
	take_head(l, next, options->budget);
}

void choose(struct layout *l, const struct preview_options *options)
{
	if (options->mode == PREVIEW_SMART)
		choose_by_value(l, options);
	else
		choose_by_position(l, options);
}
