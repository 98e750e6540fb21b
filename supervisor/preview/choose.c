#include "supervisor/preview/internal.h"

enum {
	/* For what tells of a failure, bytes and lines; of a small budget half of it, of many lines
	   an eighth. */
	RESERVE = 2048,
	RESERVE_LINES = 64,
	/* Percent of the budget that the end of a successful run has at least. */
	END_SHARE_SUCCESS = 30, /* ... half of it if it tells little */
	/* Bytes of a telling line that does not fit whole. */
	CONTEXT_LINE = 170,
	/* ... or takes more than this part of the budget. */
	LONG_PARTS = 4,
	/* A line of at least this value is more than the context of another. */
	TELLING = 180,
	/* One of less is taken only for its place. */
	CONTEXT = TELLING / 4,
	/* What a line costs beside its bytes; after a failure no smaller gap is left beside it. */
	LINE_COST = 100,
	/* Percent of its value that a line keeps when one like it is taken. */
	NEXT_OF_SHAPE = 80,
	/* Units that are looked at in all, so that a very large budget costs no more. */
	WORK_MAX = 8 * 1000 * 1000,
};

static size_t percent(size_t whole, unsigned share)
{
	return whole / 100 * share + whole % 100 * share / 100;
}

/* When a run has failed, so much of a budget is for the lines that tell of it and the last ones,
   whatever the mode. While the outcome is open no more is printed than leaves it. */
static size_t reserved_bytes(size_t bytes)
{
	return size_min(bytes / 2, RESERVE);
}

static uint64_t reserved_lines(uint64_t lines)
{
	uint64_t most = lines / 8 < RESERVE_LINES ? RESERVE_LINES : lines / 8;
	return size_min(lines / 2, most);
}

struct limit choose_head_share(const struct limit *limit)
{
	struct limit share = *limit;
	bool is_all = limit->mode == MODE_HEAD;
	/* terse's own text is not the text of a command that failed. */
	bool leaves = !is_all || !limit->own_words;
	size_t bytes = share.bytes - (leaves ? reserved_bytes(share.bytes) : 0);
	uint64_t count = share.count - (leaves ? reserved_lines(share.count) : 0);
	if (limit->mode == MODE_TAIL)
		share.bytes = 0;
	else if (!is_all)
		share.bytes = percent(share.bytes, limit->head_share);
	if (!is_all)
		share.count = (share.count * limit->head_share + 99) / 100;
	share.bytes = share.bytes < bytes ? share.bytes : bytes;
	share.count = share.count < count ? share.count : count;
	return share;
}

/* Whether the lines behind one of a run that ended well say all of it: it has a word of failure,
   and is the title of a test that passed, one of many of its form, or something after which the run
   went on as before. */
static bool is_false_alarm(const struct layout *l, const struct entry *u, bool went_on)
{
	const struct trait *t = &u->trait;
	return l->ask->status == 0 && t->score.alarms &&
	       (t->score.kind == SCORE_PASS || t->common || went_on);
}

/* Takes lines from..to-1 from the start on, or from the end on (`back`), while they fit into
   `share` bytes; no false alarms behind a fold, or in front of the last one. Returns the first unit
   behind those taken, or the last one in front of them + 1. */
static size_t take_end(struct layout *l, size_t from, size_t to, bool back, size_t share)
{
	size_t used = 0;
	bool wary = false, went_on = false;
	while (from < to) {
		size_t i = back ? to - 1 : from;
		const struct entry *u = &l->units[i];
		uint64_t before = i > l->back ? u[-1].run.to : l->ask->printed_lines;
		uint64_t behind = i + 1 < l->count ? u[1].run.line.number : l->total_lines + 1;
		if (back ? u->run.to + 1 != behind : before + 1 != u->run.line.number)
			break;
		if ((wary && is_false_alarm(l, u, went_on)) || u->cost > share - used ||
		    !layout_take(l, i, 0))
			break;
		used += u->cost;
		wary |= back || u->run.kind;
		went_on |= back && u->trait.common;
		to -= back;
		from += !back;
	}
	return back ? to : from;
}

/* Takes the last lines. When not one fits, the last is cut to `cut` bytes. */
static void take_last(struct layout *l, size_t down_to, size_t share, size_t cut)
{
	if (take_end(l, down_to, l->count, true, share) == l->count && down_to < l->count && cut)
		layout_take(l, l->count - 1, cut);
}

/* Takes the share of the start, of which some may be printed already. */
static size_t take_start(struct layout *l, const struct limit *limit)
{
	struct limit share = *limit;
	uint64_t max_lines = l->max_lines;
	share.count = max_lines;
	if (l->ask->is_head)
		share.bytes = l->budget;
	else
		share = choose_head_share(&share);
	share.bytes = share.bytes > l->ask->used ? share.bytes - l->ask->used : 0;
	l->max_lines = share.count;
	size_t next = take_end(l, l->back, l->count, false, share.bytes);
	if (next == 0 && share.bytes && l->count > 1 && l->ask->printed_lines == 0)
		next += layout_take(l, 0, share.bytes);
	l->max_lines = max_lines;
	return next;
}

static bool follows(const struct entry *before, const struct entry *behind)
{
	return before->run.to + 1 == behind->run.line.number;
}

/* The unit without which one tells nothing, or that itself. */
static size_t owner_of(const struct layout *l, size_t unit)
{
	uint64_t owner = l->units[unit].trait.owner;
	while (owner && unit > 0 && l->units[unit].run.line.number > owner)
		unit--;
	return unit;
}

/* Whether a telling line would take much of what others need: its start is taken, and more of it
   where there is room in the end. */
static bool is_too_long(const struct layout *l, const struct entry *u)
{
	return u->trait.value >= TELLING && u->cost > l->budget / LONG_PARTS;
}

/* The line of at least that value, not taken yet, that tells most per byte; `count` when none is
   left. */
static size_t densest_line(const struct layout *l)
{
	size_t room = l->used < l->budget ? l->budget - l->used : 0, densest = l->count;
	float best = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *u = &l->units[i];
		if (u->chosen || u->trait.value < CONTEXT ||
		    (u->cost > room && u->trait.value < TELLING))
			continue;
		bool joins = (i > 0 && u[-1].chosen && follows(u - 1, u)) ||
			     (i + 1 < l->count && u[1].chosen && follows(u, u + 1));
		size_t text = is_too_long(l, u) ? CONTEXT_LINE : u->cost;
		size_t cost = text + LINE_COST + (joins ? 0 : l->gap_cost);
		float rate = (float)u->trait.value / (float)cost;
		size_t owner = rate > best ? owner_of(l, i) : i;
		if (rate > best && (owner == i || l->units[owner].chosen)) {
			best = rate;
			densest = i;
		}
	}
	return densest;
}

/* Whether a line may stand between a heading and what it is about. */
static bool is_separator(const struct entry *u)
{
	return u->trait.score.kind == SCORE_BLANK || u->trait.score.kind == SCORE_RULE;
}

/* Takes the heading of a unit: the next line above that is indented less. */
static void take_heading(struct layout *l, size_t unit)
{
	for (size_t i = unit; i-- > 0;) {
		const struct entry *above = &l->units[i];
		const struct score *score = &above->trait.score;
		if (!follows(above, above + 1) || is_separator(above))
			return;
		if (score->indent >= l->units[unit].trait.score.indent)
			continue;
		if (score->opens || score->kind == SCORE_HEADING || score->kind == SCORE_FAIL)
			layout_take(l, i, 0);
		return;
	}
}

/* Whether a line is taken that tells something. */
static bool is_telling(const struct layout *l, size_t unit)
{
	return l->units[unit].chosen && l->units[unit].trait.value >= TELLING;
}

/* Takes a line, and after a failure the few lines up to others that are taken. */
static bool take_joined(struct layout *l, size_t unit, size_t most)
{
	size_t room = l->ask->status > 0 ? LINE_COST : 0;
	if (!layout_take(l, unit, most))
		return false;
	layout_close_around(l, unit, room);
	return true;
}

/* The line below one that ends in a colon may be its message: it tells more if that is taken. The
   one below what was expected says what there was instead. */
static void raise_message(struct layout *l, size_t unit)
{
	struct entry *u = &l->units[unit], *below = u + 1;
	const struct score *over = &u->trait.score, *score = &below->trait.score;
	if (unit + 1 == l->count || !follows(u, below) || !over->opens ||
	    score->indent != over->indent)
		return;
	if (over->kind == SCORE_DETAIL)
		take_joined(l, unit + 1, CONTEXT_LINE);
	else if (over->kind == SCORE_FAIL &&
		 (score->kind == SCORE_PLAIN || score->kind == SCORE_FAIL))
		below->trait.value *= 2;
}

/* Takes a line, and what belongs to it if it is a telling one. */
static void take_telling(struct layout *l, size_t unit)
{
	struct entry *u = &l->units[unit];
	if ((is_too_long(l, u) || !take_joined(l, unit, 0)) &&
	    (u->trait.value < TELLING || !take_joined(l, unit, CONTEXT_LINE))) {
		u->trait.value = 0;
		return;
	}
	if (u->trait.value >= TELLING)
		take_heading(l, unit);
	raise_message(l, unit);
	/* The next one of its shape tells less. */
	for (size_t i = 0; i < l->count; i++) {
		struct trait *other = &l->units[i].trait;
		if (other->score.shape == u->trait.score.shape && !l->units[i].chosen)
			other->value = other->value * NEXT_OF_SHAPE / 100;
	}
}

/* Closes the gaps that cost more than what is in them. */
static void close_gaps(struct layout *l)
{
	bool spelled = l->ask->spelled;
	size_t from = 0;
	for (size_t i = 0; i <= l->count; i++) {
		if (i < l->count && !l->units[i].chosen)
			continue;
		spelled |= !layout_close_gap(l, from, i, !spelled, 0);
		spelled |= i < l->count && l->units[i].folded && l->units[i].run.kind;
		from = i + 1;
	}
}

/* Takes the lines that tell most. */
static void take_densest(struct layout *l)
{
	size_t unit;
	for (size_t work = 0; work < WORK_MAX; work += l->count) {
		if ((unit = densest_line(l)) == l->count)
			break;
		take_telling(l, unit);
	}
}

/* Takes a line to fill the room, unless that is no filler: blank or a bracket, one of many that
   tell that something goes on or went well, not the user's own, or with a word of failure that
   tells nothing here; after a success, with any. Returns whether there may be room for another. */
static bool take_filler(struct layout *l, size_t unit)
{
	const struct entry *u = &l->units[unit];
	const struct trait *t = &u->trait;
	bool idle = !l->asked_for && (t->common || t->score.kind == SCORE_RULE || t->foreign ||
				      t->score.kind == SCORE_PASS || is_false_alarm(l, u, true) ||
				      (t->score.score >= SCORE_TELLING && t->value < CONTEXT));
	if (idle || t->score.kind == SCORE_BLANK)
		return true;
	return take_joined(l, owner_of(l, unit), 0) && take_joined(l, unit, 0);
}

/* Fills the room with the lines above the last one that tells of a failure, or above the end, then
   with those behind it. */
static void fill(struct layout *l, size_t next)
{
	size_t from = l->count, i;
	while (from > next && l->ask->status > 0 && !is_telling(l, from - 1))
		from--;
	for (i = from; i > next && take_filler(l, i - 1);)
		i--;
	for (i = from; i < l->count && take_filler(l, i);)
		i++;
}

void choose(struct layout *l, const struct limit *limit)
{
	bool smart = limit->mode == MODE_SMART, failed = l->ask->status > 0;
	size_t end = l->budget, cut = end;
	bool told = false;
	/* What is chosen for its place leaves room for what tells of a failure. */
	bool leaves = (failed && !smart) || (limit->mode == MODE_HEAD && !l->ask->is_head);
	size_t bytes = leaves ? reserved_bytes(l->budget) : 0;
	uint64_t lines = leaves ? reserved_lines(l->max_lines) : 0;
	if (smart) {
		unsigned share = l->brief ? END_SHARE_SUCCESS / 2 : END_SHARE_SUCCESS;
		unsigned least = l->ask->status == 0 ? share : 0;
		end = percent(limit->bytes, least > limit->end_share ? least : limit->end_share);
		cut = l->budget / LONG_PARTS;
	}
	size_t next = take_start(l, limit);
	if (l->ask->is_head)
		return;
	layout_end_head(l, next);
	l->budget -= bytes;
	l->max_lines -= lines;
	take_last(l, next, end, cut);
	l->budget += bytes;
	l->max_lines += lines;
	if (smart || failed)
		take_densest(l);
	for (size_t i = 0; i < l->count; i++)
		told |= is_telling(l, i);
	if (!smart || failed || l->asked_for || (!l->brief && !told)) {
		if (smart)
			fill(l, next);
		else
			take_last(l, next, l->budget, l->budget);
		if (limit->mode == MODE_ENDS)
			take_end(l, next, l->count, false, l->budget);
	}
	close_gaps(l);
}
