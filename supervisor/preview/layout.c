#include "supervisor/preview/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Bytes and lines that are reserved for lines about a failure. Small budgets reserve half
	   of themselves, large line limits an eighth: see reserved_bytes() and reserved_lines(). */
	RESERVE = 2048,
	RESERVE_LINES = 64,
	/* The smallest percentage of the budget for the end of a successful run; half of it if the
	   text is mostly routine. */
	END_SHARE_SUCCESS = 30,
	/* Bytes that are shown of a relevant line that does not fit whole ... */
	CONTEXT_LINE = 170,
	/* ... or would take more than one in this many parts of the budget. */
	LONG_PARTS = 4,
	/* A line with this value or more is relevant by itself. */
	RELEVANT = SCORE_RELEVANT * STORE_UNIT,
	/* A line with a lower value is taken only for its position. */
	CONTEXT = 45,
	/* When a line is taken, others of its shape keep this percentage of their value. */
	NEXT_OF_SHAPE = 80,
	/* Lines of common families do not fill more than this percentage of the budget. */
	COMMON_SHARE = 87,
	MARKER_MAX = 512,
	/* The most units that are looked at in total, which bounds the time of a choice. */
	WORK_MAX = 8 * 1000 * 1000,
};

void layout_begin(struct layout *l, const struct limit *limit, const struct preview_options *given,
		  const struct preview_ask *ask, uint64_t lines, uint64_t bytes)
{
	/* The memory is kept. */
	*l = (struct layout){
		.units = l->units,
		.cap = l->cap,
		.pieces = l->pieces,
		.piece_cap = l->piece_cap,
		.text = l->text,
		.ask = ask,
		.budget = ask->total ? ask->total : limit->bytes,
		.used = ask->used,
		.max_lines = ask->total_lines ? ask->total_lines : limit->count,
		.lines = ask->used_lines,
		.max_line = limit->max_line,
		.unit = limit->unit,
		.ceiling = given->limit.grow ? SIZE_MAX : given->limit.max_line,
		.total_lines = lines,
		.total_bytes = bytes,
		.spelled = ask->spelled,
		.bare = given->bare,
		.mode = given->bare || limit->own_words ? GUARD_NONE : GUARD_LINE,
	};
	buffer_clear(&l->text);
}

int layout_add(struct layout *l, const struct run *run, const struct trait *trait, bool is_first)
{
	const struct preview_ask *ask = l->ask;
	const uint64_t number = run->line.number;
	const bool is_back = number <= ask->printed_lines;
	size_t range = is_back ? 0 : ask->left_out_count;
	if (number > l->total_lines)
		return 0;
	/* Finds the left-out range that the line is in. */
	while (is_back && range < ask->left_out_count && ask->left_out[range].to < number)
		range++;
	if (is_back && (range == ask->left_out_count || ask->left_out[range].from > number))
		return 0;
	struct entry *u = l->count ? &l->units[l->count - 1] : NULL;
	if (u && u->range == range && number <= u->run.to)
		return 0;
	u = array_add(&l->units, &l->count, &l->cap, sizeof(*u));
	if (!u)
		return -1;
	*u = (struct entry){.run = *run,
			    .range = range,
			    .limit = l->max_line,
			    .is_first = is_first,
			    .trait = *trait};
	/* A line that is only slightly too long is not cut. */
	const size_t over = run->line.length > l->max_line ? run->line.length - l->max_line : 0;
	if (line_is_whole(&run->line) && over <= LINE_SLACK)
		u->limit += over;
	u->trait.common &= !l->asked_for;
	if (is_back || is_first || run->kind > l->joins)
		u->run = run_of(&run->line, run->shape);
	l->back += is_back;
	if (is_back || is_first) {
		l->single = l->count;
		return 0;
	}
	/* The last line of the text is folded only if it equals the others. A unit has the value of
	   its most relevant line. */
	size_t gone = run_join(l->units + l->single, l->count - l->single, sizeof(*u),
			       u->run.to < l->total_lines ? l->joins : RUN_EQUAL);
	l->count -= gone;
	u -= gone;
	for (size_t i = 1; i <= gone; i++)
		u->trait.value = (unsigned)size_max(u->trait.value, u[i].trait.value);
	return 0;
}

static uint64_t unit_lines(const struct entry *u)
{
	return u->folded ? 1 : u->run.to - u->run.line.number + 1;
}

/* How many units of the limit this unit's lines count. */
static uint64_t unit_count(const struct layout *l, const struct entry *u)
{
	size_t len = u->run.line.front_len;
	if (len > 0 && u->run.line.front[len - 1] == '\n')
		len--;
	return limit_counts(l->unit, u->run.line.front, len) ? unit_lines(u) : 0;
}

/* Whether there is room for `count` more units of the limit. Lines that count none (a heading) are
   taken only if one more unit has room after them. */
static bool has_count(const struct layout *l, uint64_t lines, uint64_t count)
{
	return !l->max_lines || lines + (count ? count : 1) <= l->max_lines;
}

static size_t marker_cost(const struct layout *l, const struct preview_piece *piece)
{
	char marker[MARKER_MAX];
	if (l->bare || l->ask->is_head)
		return 0;
	return l->ask->marker(l->ask->ctx, piece, marker, sizeof(marker));
}

static struct line_form unit_form(const struct layout *l, const struct entry *u)
{
	bool last = u->run.line.number == l->total_lines && !l->ask->is_head;
	return (struct line_form){.limit = u->limit,
				  .last = last,
				  .first = u->is_first && !last,
				  .bare = l->bare,
				  .before = l->ask->bytes_before};
}

/* The fold for the lines of a unit after its first. Writes the last of them to `text`, which has
   room for ALIKE_LAST bytes. */
static struct preview_piece unit_fold(const struct layout *l, const struct entry *u, char *text)
{
	struct line_form form = {.limit = size_min(l->max_line, ALIKE_LAST),
				 .before = l->ask->bytes_before};
	struct preview_piece piece = {.kind = u->run.kind ? PREVIEW_ALIKE : PREVIEW_FOLD,
				      .from = u->run.line.number + 1,
				      .to = u->run.to,
				      .bytes = u->run.length - u->run.line.length};
	if (!u->run.kind)
		return piece;
	piece.text = text;
	piece.len = line_write(&u->run.last, &form, text);
	/* The line's own limit is too small for a note. */
	form.limit = ALIKE_LAST;
	if (piece.len == 0)
		piece.len = line_write(&u->run.last, &form, text);
	piece.cut = !line_is_whole(&u->run.last) || u->run.last.length > form.limit;
	if (piece.len && text[piece.len - 1] == '\n')
		piece.len--;
	return piece;
}

static bool is_cut(const struct entry *u)
{
	return !line_is_whole(&u->run.line) || u->run.line.length > u->limit;
}

/* Whether a unit's lines begin with a note on cut bytes, since no byte of their start is in
   memory. */
static bool unit_is_marked(const struct layout *l, const struct entry *u)
{
	return is_cut(u) && u->run.line.front_len == 0 && !l->bare;
}

/* Sets what it costs to print a unit; 0: it can't be printed, or there is no memory. */
static void layout_price_unit(struct layout *l, struct entry *u)
{
	uint64_t repeats = u->run.to - u->run.line.number;
	char last[ALIKE_LAST];
	size_t text = 0; /* printed bytes of one line, cleaned */
	if (!is_cut(u)) {
		text = guard_text(NULL, u->run.line.front, u->run.line.front_len, l->mode);
	} else if (buffer_reserve(&l->text, u->run.line.front_len + u->run.line.back_len +
						    2 * NOTE_MAX) == 0) {
		struct line_form form = unit_form(l, u);
		bool inside = l->mode == GUARD_LINE && unit_is_marked(l, u);
		text = line_write(&u->run.line, &form, l->text.data);
		text = guard_text(NULL, l->text.data, text, inside ? GUARD_INSIDE : l->mode);
	}
	u->folded = false;
	u->cost = text + text * (size_t)repeats;
	if (repeats && text) {
		struct preview_piece fold = unit_fold(l, u, last);
		size_t folded = text + marker_cost(l, &fold);
		u->folded = u->run.kind || folded < u->cost;
		u->cost = u->folded ? folded : u->cost;
	}
}

/* Returns the gap between two units; NULL stands for the start or the end of the text. If from >
   to, there is no gap. Returns a jump if the second unit doesn't follow the first, but all lines
   between were announced as left out before. */
static struct preview_piece gap_between(const struct layout *l, const struct entry *a,
					const struct entry *b)
{
	const bool from_back = a && a->run.line.number <= l->ask->printed_lines;
	const bool to_back = b && b->run.line.number <= l->ask->printed_lines;
	if (to_back || (from_back && b && b->run.line.number == l->ask->printed_lines + 1)) {
		bool follows = a && a->run.to + 1 == b->run.line.number;
		return (struct preview_piece){.kind = PREVIEW_JUMP,
					      .from = b->run.line.number,
					      .to = follows ? 0 : b->run.line.number,
					      .back = to_back};
	}
	if (from_back)
		a = NULL;
	uint64_t start = a ? a->run.line.offset + a->run.length : l->ask->printed_bytes;
	uint64_t end = b ? b->run.line.offset : l->total_bytes;
	uint64_t threads = 0;
	if (a && b && a->trait.threads && b->trait.threads && !a->folded)
		threads = b->trait.threads - b->trait.score.thread - a->trait.threads;
	return (struct preview_piece){.kind = PREVIEW_GAP,
				      .from = a ? a->run.to + 1 : l->ask->printed_lines + 1,
				      .to = b ? b->run.line.number - 1 : l->total_lines,
				      .bytes = end - start,
				      .threads = threads};
}

static size_t gap_cost(const struct layout *l, const struct entry *a, const struct entry *b)
{
	struct preview_piece gap = gap_between(l, a, b);
	return gap.from <= gap.to ? marker_cost(l, &gap) : 0;
}

/* Returns the range of unchosen units around an unchosen one. The last result is kept, since the
   next call is usually for the same range. */
static struct hole find_hole(struct layout *l, size_t unit)
{
	struct hole *h = &l->hole;
	if (unit >= h->from && unit < h->to)
		return *h;
	*h = (struct hole){.from = unit, .to = unit + 1};
	while (h->from > 0 && !l->units[h->from - 1].chosen)
		h->from--;
	while (h->to < l->count && !l->units[h->to].chosen)
		h->to++;
	return *h;
}

/* Sets the cost of a unit, and lowers its limit until the cost is at most `most`. The limit alone
   doesn't bound the cost, since cleaning can add bytes, and there may be a fold. */
static void price_within(struct layout *l, struct entry *u, size_t most)
{
	layout_price_unit(l, u);
	while (u->cost > most) {
		u->limit = size_min(most * u->limit / u->cost, l->ceiling);
		layout_price_unit(l, u);
	}
}

/* Takes a unit if the budget allows it. Cuts it to what fits, and to `most` bytes; with `most` 0,
   takes it only uncut. */
static bool layout_take(struct layout *l, size_t unit, size_t most)
{
	struct entry *u = &l->units[unit];
	if (u->chosen)
		return true;
	const struct hole h = find_hole(l, unit);
	const struct entry *before = h.from > 0 ? &l->units[h.from - 1] : NULL, whole = *u;
	const struct entry *behind = h.to < l->count ? &l->units[h.to] : NULL;
	/* The budget that would be used without the unit's own text: the gap that it is in becomes
	   two gaps around it. */
	size_t beside = l->used - gap_cost(l, before, behind) + gap_cost(l, before, u) +
			gap_cost(l, u, behind);
	if (beside >= l->budget)
		return false;
	size_t room = l->budget - beside;
	if (most > 0) {
		room = size_min(most, room);
		if (room < u->limit)
			u->limit = size_min(room, l->max_line);
		price_within(l, u, room);
	}
	uint64_t lines = unit_count(l, u);
	/* A cut is useless if it saves only slightly more than its note costs. */
	bool is_idle = u->cost < whole.cost && whole.cost - u->cost < LINE_SLACK;
	if (u->cost == 0 || u->cost > room || is_idle || !has_count(l, l->lines, lines)) {
		*u = whole;
		return false;
	}
	u->chosen = true;
	l->used = beside + u->cost;
	l->lines += lines;
	if (unit == h.from)
		l->hole.from++;
	else
		l->hole.to = unit;
	return true;
}

/* Closes the gap between two chosen units: takes the unchosen units from..to-1 between them, if the
   gap has no other lines, and if they cost at most `room` or as much as the gap's marker
   (`spelled`: with the command). Returns whether there is no gap now. */
static bool layout_close_gap(struct layout *l, size_t from, size_t to, bool spelled, size_t room)
{
	const struct entry *before = from > 0 ? &l->units[from - 1] : NULL;
	const struct entry *behind = to < l->count ? &l->units[to] : NULL;
	struct preview_piece gap = gap_between(l, before, behind);
	if (gap.from > gap.to || gap.kind == PREVIEW_JUMP)
		return true;
	size_t unspelled = marker_cost(l, &gap);
	gap.spelled = spelled;
	size_t most = size_max(room, marker_cost(l, &gap));
	size_t cost = from < to ? gap_cost(l, before, &l->units[from]) : 0;
	uint64_t lines = l->lines;
	for (size_t i = from; i < to; i++) {
		const struct entry *u = &l->units[i];
		uint64_t count = unit_count(l, u);
		if (u->run.line.number != gap.from || u->cost == 0 || u->cost > most ||
		    cost + u->cost > most || !has_count(l, lines, count))
			return false;
		cost += u->cost;
		lines += count;
		gap.from = u->run.to + 1;
	}
	if (gap.from <= gap.to || l->used - unspelled + cost > l->budget)
		return false;
	for (size_t i = from; i < to; i++)
		l->units[i].chosen = true;
	l->hole = (struct hole){0};
	l->used = l->used - unspelled + cost;
	l->lines = lines;
	return true;
}

/* Units from `from` on don't belong to the first part: joins equal ones, and sets their cost
   again. */
static void layout_end_head(struct layout *l, size_t from)
{
	size_t kept = from;
	for (size_t i = from; i < l->count; i++) {
		struct entry *u = &l->units[kept++];
		*u = l->units[i];
		bool changed = u->is_first;
		u->is_first = false;
		size_t gone = run_join(&l->units[from], kept - from, sizeof(*u), RUN_EQUAL);
		kept -= gone;
		if (changed || gone)
			layout_price_unit(l, &l->units[kept - 1]);
	}
	l->count = kept;
}

/* Whether more could be shown of a taken line. */
static bool can_grow(const struct entry *u)
{
	return u->chosen && unit_lines(u) == 1 && is_cut(u);
}

/* Gives the rest of the budget to taken lines that are cut. */
static void layout_grow(struct layout *l)
{
	/* Each line gets an equal share. Bytes that it doesn't use go to the next ones. */
	size_t count = 0;
	for (size_t i = 0; i < l->count; i++)
		count += can_grow(&l->units[i]);
	for (size_t i = 0; i < l->count && l->used < l->budget; i++) {
		struct entry *u = &l->units[i], longer = *u;
		if (!can_grow(u))
			continue;
		size_t most = u->cost + (l->budget - l->used) / count--;
		longer.limit = size_min(most, l->ceiling);
		price_within(l, &longer, most);
		if (longer.limit > u->limit && longer.cost > 0 && longer.cost <= most) {
			l->used = l->used - u->cost + longer.cost;
			*u = longer;
		}
		l->at_ceiling |= u->limit == l->ceiling && is_cut(u);
	}
}

/* Which lines are taken. */

/* If a run has failed, this share of the budget is for lines about the failure and for the last
   lines, in every mode. Until the outcome is known, the share is not used. */
static size_t reserved_bytes(size_t bytes)
{
	return size_min(bytes / 2, RESERVE);
}

static uint64_t reserved_lines(uint64_t lines)
{
	return size_min(lines / 2, size_max(lines / 8, RESERVE_LINES));
}

struct limit layout_head_share(const struct limit *limit)
{
	struct limit share = *limit;
	bool is_all = limit->mode == MODE_HEAD;
	/* Text that terse itself writes reports no command's failure, so it reserves nothing. */
	bool leaves = !is_all || !limit->own_words;
	size_t bytes = share.bytes - (leaves ? reserved_bytes(share.bytes) : 0);
	uint64_t count = share.count - (leaves ? reserved_lines(share.count) : 0);
	if (limit->mode == MODE_TAIL)
		share.bytes = 0;
	else if (!is_all)
		share.bytes = share.bytes * limit->head_share / 100;
	if (!is_all)
		share.count = (share.count * limit->head_share + 99) / 100;
	share.bytes = size_min(share.bytes, bytes);
	share.count = size_min(share.count, count);
	return share;
}

/* Whether a line with a word of failure is a false alarm. In a successful run, it is one if it is
   the title of a passed test, if its family has many lines, or if lines of progress follow it
   (`went_on`). */
static bool is_false_alarm(const struct layout *l, const struct entry *u, bool went_on)
{
	const struct trait *t = &u->trait;
	return l->ask->status == 0 && t->score.alarms &&
	       (t->score.kind == SCORE_PASS || t->common || went_on);
}

/* Takes units of from..to-1 while they fit into `share` bytes: forward from the start, or with
   `back` backward from the end. Stops at a false alarm: forward only after a fold, backward only
   above the last unit. Backward in a text that is mostly routine, takes only the last of successive
   lines of progress. Returns the unit after those taken; with `back`, the first one of them. */
static size_t take_end(struct layout *l, size_t from, size_t to, bool back, size_t share)
{
	size_t used = 0;
	bool wary = false, went_on = false, goes_on = false;
	while (from < to) {
		size_t i = back ? to - 1 : from;
		const struct entry *u = &l->units[i];
		uint64_t before = i > l->back ? u[-1].run.to : l->ask->printed_lines;
		uint64_t behind = i + 1 < l->count ? u[1].run.line.number : l->total_lines + 1;
		if (back ? u->run.to + 1 != behind : before + 1 != u->run.line.number)
			break;
		bool routine = back && l->brief && score_is_progress(&u->run.line, &u->trait.score);
		if ((wary && is_false_alarm(l, u, went_on)) || (routine && goes_on) ||
		    u->cost > share - used || !layout_take(l, i, 0))
			break;
		used += u->cost;
		wary |= back || u->run.kind;
		goes_on = routine;
		went_on |= back && u->trait.common;
		to -= back;
		from += !back;
	}
	return back ? to : from;
}

/* Takes the last lines of the text, none before the unit `down_to`. If not even one fits, cuts the
   last line to `cut` bytes. */
static void take_last(struct layout *l, size_t down_to, size_t share, size_t cut)
{
	if (take_end(l, down_to, l->count, true, share) == l->count && down_to < l->count && cut)
		layout_take(l, l->count - 1, cut);
}

/* Takes the first lines, as many as fit into the start's share of the limit. Lines that are printed
   already count in that share. Returns the unit after them. */
static size_t take_start(struct layout *l, const struct limit *limit)
{
	struct limit share = *limit;
	uint64_t max_lines = l->max_lines;
	share.count = max_lines;
	if (l->ask->is_head)
		share.bytes = l->budget;
	else
		share = layout_head_share(&share);
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

/* Returns the unit of the line without which this one makes no sense: the line that a caret points
   into ("   ^~~~", "   | ^^^"), or the trait's `owner`; `unit` itself if there is none. */
static size_t owner_of(const struct layout *l, size_t unit)
{
	const struct line *line = &l->units[unit].run.line;
	uint64_t owner = l->units[unit].trait.owner;
	size_t at = 0;
	bool points = false;
	while (at < line->front_len && is_one_of(line->front[at], " \t|~^\r\n"))
		points |= line->front[at++] == '^';
	if (points && at == line->front_len)
		owner = line->number - 1;
	while (owner && unit > 0 && l->units[unit].run.line.number > owner)
		unit--;
	while (unit + 1 < l->count && l->units[unit].run.to < owner)
		unit++;
	return unit;
}

/* Whether a relevant line would take too much of the budget. Then only a part of it is taken at
   first, and layout_grow() shows more if there is room. */
static bool is_too_long(const struct layout *l, const struct entry *u)
{
	return u->trait.value >= RELEVANT && u->cost > l->budget / LONG_PARTS;
}

/* Among the units that are not taken and have at least the value CONTEXT, returns the one with the
   most value per byte; l->count if there is none. `weak`: no line of the text has strong words. */
static size_t densest_line(const struct layout *l, bool weak)
{
	size_t room = l->used < l->budget ? l->budget - l->used : 0, densest = l->count;
	float best = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *u = &l->units[i];
		if (u->chosen || u->trait.value < CONTEXT ||
		    (u->cost > room && u->trait.value < RELEVANT))
			continue;
		bool joins = (i > 0 && u[-1].chosen && follows(u - 1, u)) ||
			     (i + 1 < l->count && u[1].chosen && follows(u, u + 1));
		/* Its value comes from its neighbours, which are not taken: its own words are weak,
		   and other lines have strong ones. */
		const unsigned words = u->trait.score.score;
		if (!joins && words < SCORE_RELEVANT && !(weak && words) &&
		    u->trait.value < RELEVANT + words * STORE_UNIT)
			continue;
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

/* Takes a line. Also closes small gaps between it and other taken lines. */
static bool take_joined(struct layout *l, size_t unit, size_t most)
{
	if (!layout_take(l, unit, most))
		return false;
	for (int below = 0; below < 2; below++) {
		size_t next = below ? unit + 1 : unit - 1; /* before the first unit it wraps to a
							      number that is too large */
		if (next >= l->count || l->units[next].chosen)
			continue;
		const struct hole h = find_hole(l, next);
		layout_close_gap(l, h.from, h.to, false, l->ask->status > 0 ? LINE_COST : 0);
	}
	return true;
}

/* Takes a line and, if it is a relevant one, the lines that belong to it. */
static void take_relevant(struct layout *l, size_t unit)
{
	struct entry *u = &l->units[unit];
	const struct score *score = &u->trait.score;
	if ((is_too_long(l, u) || !take_joined(l, unit, 0)) &&
	    (u->trait.value < RELEVANT || !take_joined(l, unit, CONTEXT_LINE))) {
		u->trait.value = 0;
		return;
	}
	/* Takes the line's heading, or the message of its stack: the nearest line above with less
	   indent. */
	for (size_t i = u->trait.value >= RELEVANT ? unit : 0; i-- > 0;) {
		const struct entry *above = &l->units[i];
		const struct score *head = &above->trait.score;
		if (!follows(above, above + 1) || head->kind == SCORE_BLANK ||
		    head->kind == SCORE_RULE)
			break;
		if (head->indent >= score->indent)
			continue;
		if (head->opens || head->kind == SCORE_HEADING || head->kind == SCORE_FAIL ||
		    score->kind == SCORE_FRAME)
			layout_take(l, i, 0);
		break;
	}
	/* A line below one that ends with a colon may be its message, so its value is doubled. The
	   line below an expected value has the actual one, and a frame in the user's own code has
	   the place, so both are taken. */
	for (size_t i = unit + 1; score->opens && i < l->count && i <= unit + 2; i++) {
		struct trait *t = &l->units[i].trait;
		enum score_kind kind = (enum score_kind)t->score.kind;
		const bool is_next = i == unit + 1;
		if (!follows(&l->units[i - 1], &l->units[i]) || t->score.indent != score->indent)
			break;
		if (kind == SCORE_FRAME && !t->foreign)
			take_joined(l, i, 0);
		else if (is_next && score->kind == SCORE_DETAIL)
			take_joined(l, i, CONTEXT_LINE);
		else if (is_next && score->kind == SCORE_FAIL &&
			 (kind == SCORE_PLAIN || kind == SCORE_FAIL))
			t->value *= 2;
	}
	/* Lowers the value of other lines of its shape. */
	for (size_t i = 0; i < l->count; i++) {
		struct trait *other = &l->units[i].trait;
		if (other->score.shape == score->shape && !l->units[i].chosen)
			other->value = other->value * NEXT_OF_SHAPE / 100;
	}
}

/* Takes a line to fill the room. Skips blank lines. Unless the text was asked for, also skips
   rules, lines of progress, lines of common families (not with `common`), lines about code that is
   not the user's own, false alarms, and lines of failure with little value. Returns whether there
   may be room for another. */
static bool take_filler(struct layout *l, size_t unit, bool common)
{
	const struct entry *u = &l->units[unit];
	const struct trait *t = &u->trait;
	bool idle = !l->asked_for &&
		    (t->common != common || t->score.kind == SCORE_RULE || t->foreign ||
		     score_is_progress(&u->run.line, &t->score) || is_false_alarm(l, u, true) ||
		     (t->score.score >= SCORE_RELEVANT && t->value < CONTEXT));
	if (idle || t->score.kind == SCORE_BLANK)
		return true;
	if (t->common && l->used > l->budget * COMMON_SHARE / 100)
		return false;
	return take_joined(l, owner_of(l, unit), 0) && take_joined(l, unit, 0);
}

/* Takes lines of a text that does not fit: the first, the last, the most relevant ones, and then
   others while there is room. */
static void take_some(struct layout *l, const struct limit *limit)
{
	bool smart = limit->mode == MODE_SMART, failed = l->ask->status > 0;
	size_t end = l->budget, cut = end, unit, from = l->count;
	bool weak = true;
	/* First and last lines leave room for lines about a failure. */
	bool leaves = (failed && !smart) || (limit->mode == MODE_HEAD && !l->ask->is_head);
	size_t bytes = leaves ? reserved_bytes(l->budget) : 0;
	uint64_t lines = leaves ? reserved_lines(l->max_lines) : 0;
	if (smart) {
		unsigned share = l->brief ? END_SHARE_SUCCESS / 2 : END_SHARE_SUCCESS;
		unsigned least = l->ask->status == 0 ? share : 0;
		end = limit->bytes * size_max(least, limit->end_share) / 100;
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
	for (size_t i = 0; i < l->count; i++)
		weak &= l->units[i].trait.score.score < SCORE_RELEVANT;
	for (size_t work = 0;
	     (smart || failed) && work < WORK_MAX && (unit = densest_line(l, weak)) < l->count;
	     work += l->count)
		take_relevant(l, unit);
	while (from > 0 &&
	       !(l->units[from - 1].chosen && l->units[from - 1].trait.value >= RELEVANT))
		from--;
	const bool fills = !smart || failed || l->asked_for || (!l->brief && from == 0);
	if (fills && smart) {
		/* Fills the room with lines above the last relevant one, or after a success above
		   the end of the text; then with lines below it. */
		from = failed ? size_max(from, next) : l->count;
		for (int common = 0; common < (failed ? 2 : 1); common++) {
			for (unit = from; unit > next && take_filler(l, unit - 1, common);)
				unit--;
			for (unit = from; unit < l->count && take_filler(l, unit, common);)
				unit++;
		}
	} else if (fills) {
		take_last(l, next, l->budget, l->budget);
		if (limit->mode == MODE_ENDS)
			take_end(l, next, l->count, false, l->budget);
	}
	/* Closes gaps that cost more than the lines in them. */
	bool spelled = l->ask->spelled;
	for (size_t i = 0, gap = 0; i <= l->count; i++) {
		if (i < l->count && !l->units[i].chosen)
			continue;
		spelled |= !layout_close_gap(l, gap, i, !spelled, 0);
		spelled |= i < l->count && l->units[i].folded && l->units[i].run.kind;
		gap = i + 1;
	}
}

/* The pieces. */

static int layout_add_piece(struct layout *l, const struct preview_piece *piece)
{
	struct preview_piece *added =
		array_add(&l->pieces, &l->piece_count, &l->piece_cap, sizeof(*added));
	if (!added)
		return -1;
	*added = *piece;
	if (piece->kind == PREVIEW_GAP || piece->kind == PREVIEW_ALIKE) {
		added->spelled = !l->spelled;
		l->spelled = true;
	}
	return 0;
}

/* Adds the lines of a unit, which all look the same, to the last text piece or to a new one.
 */
static int layout_add_text(struct layout *l, const struct entry *u, uint64_t lines)
{
	struct preview_piece *last = l->piece_count ? &l->pieces[l->piece_count - 1] : NULL;
	struct preview_piece piece = {.kind = PREVIEW_TEXT};
	struct line_form form = unit_form(l, u);
	if (is_cut(u) && !l->bare && !l->spelled && l->ask->command) {
		form.command = l->ask->command;
		l->spelled = true;
	}
	for (uint64_t k = 0; k < lines; k++) {
		if (!last || last->kind != PREVIEW_TEXT || unit_is_marked(l, u)) {
			piece.from = u->run.line.number + k;
			piece.to = piece.from - 1;
			piece.text = l->text.data + l->text.len;
			piece.marked = unit_is_marked(l, u);
			if (layout_add_piece(l, &piece))
				return -1;
			last = &l->pieces[l->piece_count - 1];
		}
		size_t len = line_write(&u->run.line, &form, l->text.data + l->text.len);
		form.before += u->run.line.length;
		form.command = NULL;
		l->text.len += len;
		last->len += len;
		last->cut_last = is_cut(u);
		last->cut += last->cut_last;
		last->to = u->run.line.number + k;
		last->bytes += u->run.line.length;
	}
	return 0;
}

static int layout_pieces(struct layout *l)
{
	const struct entry *before = NULL;
	l->spelled = l->ask->spelled;
	buffer_clear(&l->text);
	/* Cleaning removes at most a quarter of the bytes: U+FFFD has three, and may replace a
	   character of four. */
	if (buffer_reserve(&l->text, l->used + l->used / 3 + 1 + ALIKE_LAST))
		return -1;
	for (size_t i = 0; i <= l->count; i++) {
		const struct entry *u = i < l->count ? &l->units[i] : NULL;
		if (u && !u->chosen)
			continue;
		struct preview_piece gap = gap_between(l, before, u);
		if (gap.from <= gap.to && layout_add_piece(l, &gap))
			return -1;
		if (u && layout_add_text(l, u, unit_lines(u)))
			return -1;
		if (u && u->folded) {
			struct preview_piece fold = unit_fold(l, u, l->text.data + l->text.len);
			l->text.len += fold.len;
			if (layout_add_piece(l, &fold))
				return -1;
		}
		before = u;
	}
	return (int)l->piece_count;
}

int layout_choose(struct layout *l, const struct limit *limit)
{
	bool spells = false; /* a line is cut or a run is folded */
	size_t spell_cost = 0;
	for (size_t i = 0; i < l->count; i++) {
		struct entry *u = &l->units[i];
		layout_price_unit(l, u);
		spells |= (u->folded && u->run.kind) || is_cut(u);
	}
	l->gap_cost = gap_cost(l, NULL, NULL);
	if (!l->spelled) {
		/* The command in the first marker is longest for the last lines, whose numbers are
		   longest. */
		struct preview_piece piece = {.kind = PREVIEW_GAP,
					      .from = l->total_lines - (l->total_lines > 1),
					      .to = l->total_lines,
					      .bytes = l->total_bytes};
		size_t shorter = marker_cost(l, &piece), in_line = 0;
		piece.spelled = true;
		uint64_t most = l->ask->bytes_before + l->total_bytes;
		if (l->ask->command && !l->bare)
			in_line = (size_t)snprintf(NULL, 0, ": %s%" PRIu64 "-%" PRIu64,
						   l->ask->command, most, most);
		spell_cost = size_max(marker_cost(l, &piece) - shorter, in_line);
	}
	/* If all lines fit, they are taken. Then no marker has to spell out the command, except if
	   a line is cut or a run is folded (`spells`). */
	size_t spare = spells ? 0 : spell_cost;
	l->used += l->gap_cost + spell_cost - spare;
	if (l->brief || l->back > 0 || !layout_close_gap(l, 0, l->count, false, l->budget)) {
		l->used += spare;
		take_some(l, limit);
	}
	layout_grow(l);
	return layout_pieces(l);
}
