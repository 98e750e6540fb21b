#include "supervisor/preview/chars.h"
#include "supervisor/preview/layout.h"

enum {
	/* For what tells of a failure, bytes and lines; of a small budget half of it, of many lines
	   an eighth. */
	RESERVE = 2048,
	RESERVE_LINES = 64,
	/* Percent of the budget that the end of a successful run has at least. */
	END_SHARE_SUCCESS = 30,
	END_SHARE_BRIEF = 12, /* ... if it tells little */
	/* Extra value of the last line; it falls to nothing a quarter of the budget before. */
	END_VALUE = 30,
	/* A line is shown up to a sixth of the budget, its surroundings shorter. */
	LINE_PARTS = 6,
	LINE_LEAST = 210,
	CONTEXT_LINE = 170,
	/* A line of at least this value is more than the context of another. */
	TELLING = 180,
	/* Lines that are weighed together, and what each costs beside its bytes. */
	RUN = 4,
	LINE_COST = 50,
	/* Of what a heading is about, so many lines come with it, at most so far below. */
	CORE = 4,
	CORE_REACH = 40,
	HEADING_REACH = 4,
	/* Between a message and its place above are lines of the source, so many at most. */
	PLACE_REACH = 8,
	FIELD_LEN = 24,
	/* Lines of further stacks, among which the user's own frame is looked for. */
	STACKS_REACH = 64,
	/* Least score of the message of a section. */
	MESSAGE = 30,
	/* One such place in so many bytes. */
	PLACE_EACH = 1500,
	/* A count of failures has at least that score; the share of the budget for the counts. */
	COUNTS_FAILURES = 46,
	COUNTS_PARTS = 6,
	/* Percent of its value that a line keeps when one like it is taken, of its family when more
	   than so many are. */
	NEXT_OF_SHAPE = 60,
	NEXT_OF_FAMILY = 85,
	FAMILY = 5,
	/* From so many bytes on, lines are taken only if they tell something for their length. */
	ENOUGH = 3072,
	/* The largest of the sizes by default. */
	USUAL = 8192,
	/* Lines between chosen ones that may be cheaper than a gap. */
	BRIDGE = 3,
	/* A fold with its first lines is taken where a gap would be, if it costs no more. */
	FOLD_COST = 400,
	/* Units that are looked at in all, so that a very large budget costs no more. */
	WORK_MAX = 8 * 1000 * 1000,
};

/* By how much that rises with each further kilobyte. */
static const float RATE_STEP = 0.15f;

static size_t percent(size_t whole, unsigned share)
{
	return whole / 100 * share + whole % 100 * share / 100;
}

size_t preview_reserve(size_t bytes)
{
	return bytes / 2 < RESERVE ? bytes / 2 : RESERVE;
}

uint64_t preview_reserve_lines(uint64_t lines)
{
	uint64_t most = lines / 8 < RESERVE_LINES ? RESERVE_LINES : lines / 8;
	return lines / 2 < most ? lines / 2 : most;
}

size_t choose_head_share(const struct preview_options *o)
{
	size_t share = percent(o->budget, o->head_share);
	size_t most = o->budget - preview_reserve(o->budget);
	if (o->mode == PREVIEW_TAIL)
		return 0;
	return share < most ? share : most;
}

size_t choose_end_share(const struct preview_options *o, int status, bool brief)
{
	unsigned share = o->end_share, least = brief ? END_SHARE_BRIEF : END_SHARE_SUCCESS;
	if (status == 0 && share < least)
		share = least;
	return percent(o->budget, share);
}

/* Whether the lines behind one of a run that ended well say all of it: it has a word of failure,
   and is the title of a test that passed, one of many of its form, or something after which the run
   went on as before. */
static bool is_false_alarm(const struct layout *l, const struct unit *u, bool went_on)
{
	const struct trait *t = &u->trait;
	return l->ask->status == 0 && t->alarms && (t->kind == SCORE_PASS || t->common || went_on);
}

/* Takes lines from the start on while they fit into `share` bytes; behind a fold, no false alarms.
   Returns the first unit not taken. */
static size_t take_head(struct layout *l, size_t from, size_t to, size_t share)
{
	size_t i = from, used = 0;
	bool folds = false;
	for (; i < to; i++) {
		const struct unit *u = &l->units[i];
		uint64_t before = i > l->back ? l->units[i - 1].to : l->ask->printed_lines;
		if (before + 1 != u->line.number || (folds && is_false_alarm(l, u, false)))
			break;
		if (u->cost > share - used || !layout_take(l, i))
			break;
		folds |= u->alike;
		used += u->cost;
	}
	return i;
}

/* The same from the end on. When not one fits, the last is cut to `cut` bytes. */
static void take_tail(struct layout *l, size_t down_to, size_t share, size_t cut)
{
	size_t i, used = 0;
	bool went_on = false;
	for (i = l->count; i > down_to; i--) {
		const struct unit *u = &l->units[i - 1];
		uint64_t behind = i < l->count ? l->units[i].line.number : l->total_lines + 1;
		if (u->to + 1 != behind)
			break;
		if (i < l->count && is_false_alarm(l, u, went_on))
			break;
		went_on |= u->trait.common;
		if (u->cost > share - used || !layout_take(l, i - 1))
			break;
		used += u->cost;
	}
	if (i == l->count && i > down_to)
		layout_take_cut(l, i - 1, cut);
}

/* Takes the share of the start, of which some may be printed already. */
static size_t take_start(struct layout *l, const struct preview_options *options)
{
	size_t share = choose_head_share(options);
	uint64_t max_lines = l->max_lines, most = max_lines - preview_reserve_lines(max_lines);
	share = share > l->ask->used ? share - l->ask->used : 0;
	l->max_lines = (max_lines * options->head_share + 99) / 100;
	if (l->max_lines > most)
		l->max_lines = most;
	size_t next = take_head(l, l->back, l->count, share);
	if (next == 0 && share && l->count > 1 && l->ask->printed_lines == 0)
		next += layout_take_cut(l, 0, share);
	l->max_lines = max_lines;
	return next;
}

static bool follows(const struct unit *before, const struct unit *behind)
{
	return before->to + 1 == behind->line.number;
}

/* Takes the lines between two chosen units if a marker for the gap would cost as much. */
static void bridge(struct layout *l, size_t from, size_t to)
{
	size_t cost = 0;
	for (size_t i = from; i < to; i++) {
		if (!follows(&l->units[i], &l->units[i + 1]))
			return;
		if (i > from)
			cost += l->units[i].cost;
	}
	if (cost > l->gap_cost)
		return;
	for (size_t i = from + 1; i < to; i++)
		layout_take(l, i);
}

static void bridge_around(struct layout *l, size_t unit)
{
	for (size_t k = 2; k <= BRIDGE + 1; k++) {
		if (unit >= k && l->units[unit - k].chosen) {
			bridge(l, unit - k, unit);
			break;
		}
	}
	for (size_t k = 2; k <= BRIDGE + 1; k++) {
		if (unit + k < l->count && l->units[unit + k].chosen) {
			bridge(l, unit, unit + k);
			break;
		}
	}
}

/* The last lines count for being the last. */
static void favour_end(struct layout *l)
{
	size_t behind = 0, reach = l->budget / 4;
	for (size_t i = l->count; i-- > l->back && behind < reach;) {
		struct unit *u = &l->units[i];
		u->trait.value += (unsigned)(END_VALUE * (reach - behind) / reach);
		behind += u->cost;
	}
}

/* Lines of the middle are shown less far than those at the end. */
static void limit_lines(struct layout *l)
{
	size_t most = l->budget / LINE_PARTS;
	if (most < LINE_LEAST)
		most = LINE_LEAST;
	for (size_t i = 0; i + 1 < l->count; i++) {
		size_t limit = l->units[i].trait.value > TELLING ? most : CONTEXT_LINE;
		if (l->units[i].limit > limit)
			layout_limit(l, i, limit);
	}
}

struct run {
	size_t from, to;
};

/* The more is shown, the more a further line has to tell per byte. Who asks for more than is usual
   wants more of all. */
static float least_rate(const struct layout *l)
{
	size_t used = l->used - l->ask->paused;
	if (l->budget > USUAL)
		used = (size_t)((uint64_t)used * USUAL / l->budget);
	return used > ENOUGH ? RATE_STEP * (float)(used - ENOUGH) / 1024 : 0;
}

/* The run of lines, not taken yet, that tells most per byte; empty when none is left. */
static struct run densest_run(const struct layout *l)
{
	size_t room = l->used < l->budget ? l->budget - l->used : 0;
	struct run run = {0, 0};
	float best = least_rate(l);
	for (size_t i = 0; i < l->count; i++) {
		bool joins =
			i > 0 && l->units[i - 1].chosen && follows(&l->units[i - 1], &l->units[i]);
		size_t cost = 0;
		float value = 0;
		for (size_t k = i; k < l->count && k < i + RUN; k++) {
			const struct unit *u = &l->units[k];
			/* A blank line may be inside a run, but begins none. */
			if (u->chosen || (u->trait.value == 0 && (u->cost > 2 || k == i)))
				break;
			if (k > i && !follows(u - 1, u))
				break;
			if (u->cost > room && u->trait.value < TELLING)
				break;
			if (k + 1 < l->count && u[1].chosen && follows(u, u + 1))
				joins = true;
			value += (float)u->trait.value;
			cost += u->cost + LINE_COST;
			float rate = value / (float)(cost + (joins ? 0 : l->gap_cost * 3 / 4));
			if (rate > best) {
				best = rate;
				run = (struct run){i, k + 1};
			}
		}
	}
	return run;
}

/* Whether a line may stand between a heading and what it is about. */
static bool is_separator(const struct unit *u)
{
	return u->trait.kind == SCORE_BLANK || u->trait.kind == SCORE_RULE;
}

/* Whether a line is one of a stack, or the source line below one. */
static bool is_of_stack(const struct unit *u, const struct unit **frame)
{
	if (u->trait.kind == SCORE_FRAME)
		*frame = u;
	return *frame && (*frame == u || u->trait.indent > (*frame)->trait.indent);
}

/* What is known of a block while its lines are gone through. */
struct block {
	const struct trait *head;
	const struct unit *frame; /* the last one of a stack */
	size_t place;             /* the frame in the user's own files; 0: none yet */
	bool heads;               /* it opens a block, however that is indented */
	bool apart;               /* a blank line or a rule is below the heading */
	bool section;             /* what is below is indented no further */
	bool told;                /* enough is taken, but for the place */
	size_t lines;             /* taken */
};

enum block_line { BLOCK_ENDS, BLOCK_PASS, BLOCK_TAKE };

static enum block_line block_look(struct block *b, const struct unit *u)
{
	bool deeper = u->trait.indent > b->head->indent;
	if (is_separator(u) || !follows(u - 1, u)) {
		b->apart |= u->trait.kind != SCORE_RULE;
		b->told |= b->lines > 0;
		if (!b->heads)
			return BLOCK_ENDS;
	}
	if (is_separator(u))
		return BLOCK_PASS;
	if (is_of_stack(u, &b->frame))
		return BLOCK_PASS;
	if ((b->frame && b->lines) || u->trait.kind == SCORE_HEADING ||
	    u->trait.kind == SCORE_PASS || (!b->frame && !deeper && !b->head->opens))
		return BLOCK_ENDS;
	if (b->told)
		return deeper ? BLOCK_PASS : BLOCK_ENDS;
	b->section |= b->apart && !deeper && !b->frame;
	/* Values of variables and the source come before the message of a section. */
	return b->section && !b->lines && u->trait.score < MESSAGE ? BLOCK_PASS : BLOCK_TAKE;
}

/* Notes the frame that is nearest to the message, which is above the stack or below. */
static void block_note_place(struct block *b, const struct unit *u, size_t unit)
{
	if (b->frame == u && u->trait.score >= SCORE_OWN_FRAME && (!b->place || !b->lines))
		b->place = unit;
}

/* How many places in the user's own files are chosen. */
static size_t count_places(const struct layout *l)
{
	size_t count = 0;
	for (size_t i = 0; i < l->count; i++) {
		const struct unit *u = &l->units[i];
		count += u->chosen && u->trait.kind == SCORE_FRAME &&
			 u->trait.score >= SCORE_OWN_FRAME;
	}
	return count;
}

static bool ends_with_colon(const struct line *line)
{
	size_t len = line->front_len;
	while (len > 0 && (is_blank(line->front[len - 1]) || line->front[len - 1] == '\n'))
		len--;
	return len > 0 && line->front[len - 1] == ':';
}

/* Whether a unit is the function of the frame below it, or the heading of a further stack. */
static bool is_above_frame(const struct layout *l, size_t unit)
{
	const struct unit *u = &l->units[unit];
	if (unit + 1 == l->count || !follows(u, u + 1))
		return false;
	return (u[1].trait.kind == SCORE_FRAME && u[1].trait.indent > u->trait.indent) ||
	       ends_with_colon(&u->line);
}

/* Takes the first frame in the user's own files of the stacks that a failure begins, those of other
   threads too, with its function. */
static void take_far_place(struct layout *l, size_t unit)
{
	const struct unit *frame = NULL;
	for (size_t i = unit + 1; i < l->count && i <= unit + STACKS_REACH; i++) {
		const struct unit *u = &l->units[i];
		if (!follows(u - 1, u))
			return;
		if (is_of_stack(u, &frame) && frame == u && u->trait.score >= SCORE_OWN_FRAME) {
			if (is_above_frame(l, i - 1))
				layout_take(l, i - 1);
			layout_take(l, i);
			return;
		}
		if (frame != u && !is_separator(u) && !is_above_frame(l, i))
			return;
	}
}

/* Takes the first lines of what a unit is the heading of: those right below it, the message of a
   section, or what is behind a stack; and of the stack the user's own frame. */
static void take_core(struct layout *l, size_t unit, bool heads)
{
	const struct trait *head = &l->units[unit].trait;
	struct block b = {.head = head, .heads = heads};
	uint64_t last = l->units[unit].to + CORE_REACH;
	for (size_t i = unit + 1; i < l->count && l->units[i].line.number <= last; i++) {
		enum block_line found = block_look(&b, &l->units[i]);
		block_note_place(&b, &l->units[i], i);
		if (found == BLOCK_PASS)
			continue;
		if (found == BLOCK_ENDS || !layout_take(l, i))
			break;
		b.told = ++b.lines == CORE;
		if (b.frame)
			break;
	}
	size_t places = count_places(l);
	if (b.place && places * PLACE_EACH < l->budget)
		layout_take(l, b.place);
	else if (!b.place && (places + 1) * PLACE_EACH <= l->budget)
		take_far_place(l, unit);
}

static bool is_heading(const struct trait *t)
{
	return t->opens || t->kind == SCORE_HEADING;
}

/* Whether what follows a line may belong to it. */
static bool has_core(const struct trait *t)
{
	return t->kind == SCORE_FAIL || is_heading(t);
}

/* Whether a line is a field of a record: "Severity: High". */
static bool is_field(const struct unit *u)
{
	const char *text = u->line.front;
	size_t len = u->line.front_len, from = skip_blanks(text, len, 0), at = from;
	while (at < len && at < from + FIELD_LEN && (is_letter(text[at]) || text[at] == ' '))
		at++;
	return at > from && at + 1 < len && text[at] == ':' && text[at + 1] == ' ';
}

/* Whether a record of fields begins below a unit, which is its heading. */
static bool is_record(const struct layout *l, size_t unit)
{
	const struct unit *u = &l->units[unit];
	return unit + 2 < l->count && follows(u, u + 1) && follows(u + 1, u + 2) &&
	       is_field(u + 1) && is_field(u + 2) && u[1].trait.indent == u[2].trait.indent;
}

/* Takes the heading of a unit: the line above that is indented less, if it is near; of
   a field, also the record's, with the other fields. */
static void take_heading(struct layout *l, size_t unit)
{
	const struct unit *u = &l->units[unit];
	for (size_t i = unit; i-- > 0 && i + HEADING_REACH >= unit;) {
		const struct unit *above = &l->units[i];
		if (!follows(above, above + 1) || is_separator(above))
			return;
		if (above->trait.indent >= u->trait.indent)
			continue;
		if (has_core(&above->trait))
			layout_take(l, i);
		else if (is_record(l, i) && layout_take(l, i))
			take_core(l, i, true);
		return;
	}
}

/* Takes the place that stands above a message, with lines of the source between. */
static void take_place(struct layout *l, size_t unit)
{
	for (size_t i = unit; i-- > 0 && i + PLACE_REACH >= unit;) {
		const struct unit *above = &l->units[i];
		if (!follows(above, above + 1))
			return;
		if (above->trait.kind == SCORE_PLACE) {
			layout_take(l, i);
			return;
		}
		if (above->trait.kind != SCORE_PLAIN && above->trait.kind != SCORE_QUOTE &&
		    above->trait.kind != SCORE_DETAIL && !is_separator(above))
			return;
	}
}

static void take_block(struct layout *l, size_t unit)
{
	const struct trait *head = &l->units[unit].trait;
	take_heading(l, unit);
	if (head->kind == SCORE_FAIL) {
		take_place(l, unit);
		layout_take_named(l, unit);
	}
	if (has_core(head))
		take_core(l, unit, is_heading(head));
}

/* A line is taken. The next one of its shape tells less, and so do others of its family when there
   are many. */
static void lower_alike(struct layout *l, const struct trait *taken)
{
	size_t relatives = 0;
	for (size_t i = 0; i < l->count; i++)
		relatives += l->units[i].chosen && l->units[i].trait.family == taken->family;
	for (size_t i = 0; i < l->count; i++) {
		struct trait *other = &l->units[i].trait;
		if (l->units[i].chosen)
			continue;
		if (other->shape == taken->shape)
			other->value = other->value * NEXT_OF_SHAPE / 100;
		else if (other->family == taken->family && taken->family && relatives > FAMILY)
			other->value = other->value * NEXT_OF_FAMILY / 100;
	}
}

static void take_telling(struct layout *l, size_t unit)
{
	struct unit *u = &l->units[unit];
	if (!layout_take(l, unit) &&
	    (u->trait.value < TELLING || !layout_take_cut(l, unit, CONTEXT_LINE))) {
		u->trait.value = 0;
		return;
	}
	if (u->trait.value >= TELLING)
		take_block(l, unit);
	bridge_around(l, unit);
	lower_alike(l, &u->trait);
}

/* Whether a unit is the next one behind what is in front of it in the layout, or printed already.
 */
static bool is_next(const struct layout *l, size_t i)
{
	uint64_t before = i > 0 ? l->units[i - 1].to : l->ask->printed_lines;
	return before + 1 == l->units[i].line.number;
}

/* Takes the units from..to if a fold is in them, nothing is missing, and they cost little. */
static void take_fold(struct layout *l, size_t from, size_t to)
{
	size_t cost = 0;
	bool folds = false, whole = is_next(l, to);
	for (size_t i = from; i < to; i++) {
		folds |= l->units[i].alike;
		whole &= is_next(l, i) && !is_false_alarm(l, &l->units[i], false);
		cost += l->units[i].cost;
	}
	for (; whole && folds && cost <= FOLD_COST && from < to; from++)
		layout_take(l, from);
}

/* Takes folds where a gap would hide nothing else. */
static void take_folds(struct layout *l)
{
	size_t from = 0;
	for (size_t i = 0; i < l->count; i++) {
		if (!l->units[i].chosen)
			continue;
		take_fold(l, from, i);
		from = i + 1;
	}
}

/* Whether a chosen line tells by itself why the run ended so. */
static bool has_told(const struct layout *l)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->units[i].chosen && l->units[i].trait.value >= TELLING)
			return true;
	}
	return false;
}

static bool is_filler(const struct unit *u)
{
	return u->trait.common && !u->chosen;
}

/* Takes the last lines, then the first ones, up to one of a form that many have. */
static void fill(struct layout *l, size_t next)
{
	size_t from = l->count;
	while (from > next && !is_filler(&l->units[from - 1]))
		from--;
	take_tail(l, from, l->budget, 0);
	for (from = next; from < l->count && !is_filler(&l->units[from]); from++)
		;
	take_head(l, next, from, l->budget);
}

/* What belongs to the headings that are chosen for their place. */
static void take_cores(struct layout *l)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct trait *head = &l->units[i].trait;
		if (l->units[i].chosen && head->value >= TELLING && has_core(head))
			take_core(l, i, is_heading(head));
	}
}

static bool counts_failures(const struct unit *u)
{
	return u->trait.kind == SCORE_SUMMARY && u->trait.score >= COUNTS_FAILURES;
}

/* Takes the last counts of a failed run: the last line that counts failures, with the summary
   around it. */
static void take_counts(struct layout *l)
{
	size_t i = l->count, room = l->budget / COUNTS_PARTS;
	while (i > 0 && !counts_failures(&l->units[i - 1]))
		i--;
	if (i-- == 0)
		return;
	while (i > 0 && follows(&l->units[i - 1], &l->units[i]) &&
	       l->units[i - 1].trait.kind == SCORE_SUMMARY)
		i--;
	for (; i < l->count && l->units[i].trait.kind == SCORE_SUMMARY &&
	       l->units[i].cost <= room && layout_take(l, i);
	     i++)
		room -= l->units[i].cost;
}

/* Takes what tells most per byte, as long as there is such. */
static void take_densest(struct layout *l)
{
	struct run run;
	for (size_t work = 0; work < WORK_MAX && (run = densest_run(l)).to; work += l->count) {
		for (; run.from < run.to; run.from++)
			take_telling(l, run.from);
	}
}

/* Takes the lines that tell how the run ended. */
static void take_told(struct layout *l)
{
	if (l->ask->status > 0)
		take_counts(l);
	take_cores(l);
	for (size_t i = 0; i < l->count; i++) {
		if (l->units[i].trait.value < LAYOUT_TELLING)
			l->units[i].trait.value = 0;
	}
	take_densest(l);
	/* Without words of a failure. */
	for (size_t i = 0; i < l->count && l->ask->status > 0 && !has_told(l); i++) {
		if (l->units[i].trait.odd)
			layout_take(l, i);
	}
}

static void choose_by_value(struct layout *l, const struct preview_options *options)
{
	if (!l->asked_for)
		limit_lines(l);
	size_t next = take_start(l, options);
	take_tail(l, next, l->end_share, l->budget / 4);
	favour_end(l);
	take_told(l);
	if (l->asked_for || (!l->brief && !has_told(l)))
		fill(l, next);
	take_folds(l);
}

static void take_ends(struct layout *l, const struct preview_options *options)
{
	size_t next = take_start(l, options);
	take_tail(l, next, l->budget, l->budget);
	if (options->mode == PREVIEW_ENDS)
		take_head(l, next, l->count, l->budget);
}

static void choose_by_position(struct layout *l, const struct preview_options *options)
{
	if (l->ask->status > 0) {
		size_t bytes = preview_reserve(l->budget);
		uint64_t lines = preview_reserve_lines(l->max_lines);
		l->budget -= bytes;
		l->max_lines -= lines;
		take_ends(l, options);
		l->budget += bytes;
		l->max_lines += lines;
		take_told(l);
	}
	take_ends(l, options);
}

void choose(struct layout *l, const struct preview_options *options)
{
	if (options->mode == PREVIEW_SMART)
		choose_by_value(l, options);
	else
		choose_by_position(l, options);
	layout_close_gaps(l);
}
