#include "supervisor/preview/internal.h"

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
	/* So many lines above a failure, the beginning of what it names is looked for; letters of
	   a name; the share of the budget for what is between. */
	NAMES_REACH = 48,
	NAMES_LEAST = 5,
	NAMES_PARTS = 8,
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

/* The modes differ in what is taken for its place. */
static const struct {
	bool by_value; /* some of the end, and between what tells most */
	bool start;    /* first the first lines ... */
	bool refill;   /* ... and more of them where room is left behind the last ones */
} modes[] = {
	[MODE_SMART] = {.by_value = true, .start = true},
	[MODE_HEAD] = {.start = false}, /* those are printed already */
	[MODE_TAIL] = {.start = false},
	[MODE_ENDS] = {.start = true, .refill = true},
};

size_t choose_head_share(const struct limit *limit)
{
	size_t share = percent(limit->bytes, limit->head_share);
	size_t most = limit->bytes - preview_reserve(limit->bytes);
	if (!modes[limit->mode].start)
		return 0;
	return share < most ? share : most;
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

/* Takes lines from the start on while they fit into `share` bytes; behind a fold, no false alarms.
   Returns the first unit not taken. */
static size_t take_head(struct layout *l, size_t from, size_t to, size_t share)
{
	size_t i = from, used = 0;
	bool folds = false;
	for (; i < to; i++) {
		const struct entry *u = &l->units[i];
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
		const struct entry *u = &l->units[i - 1];
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
static size_t take_start(struct layout *l, const struct limit *limit)
{
	size_t share = choose_head_share(limit);
	uint64_t max_lines = l->max_lines, most = max_lines - preview_reserve_lines(max_lines);
	share = share > l->ask->used ? share - l->ask->used : 0;
	l->max_lines = (max_lines * limit->head_share + 99) / 100;
	if (l->max_lines > most)
		l->max_lines = most;
	size_t next = take_head(l, l->back, l->count, share);
	if (next == 0 && share && l->count > 1 && l->ask->printed_lines == 0)
		next += layout_take_cut(l, 0, share);
	l->max_lines = max_lines;
	return next;
}

static bool follows(const struct entry *before, const struct entry *behind)
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

struct run {
	size_t from, to;
};

/* The run of lines, not taken yet, that tells most per byte; empty when none is left. */
static struct run densest_run(const struct layout *l)
{
	size_t room = l->used < l->budget ? l->budget - l->used : 0;
	struct run run = {0, 0};
	/* The more is shown, the more a further line has to tell per byte. Who asks for more than
	   is usual wants more of all. */
	size_t used = l->used - l->ask->paused;
	if (l->budget > USUAL)
		used = (size_t)((uint64_t)used * USUAL / l->budget);
	float best = used > ENOUGH ? RATE_STEP * (float)(used - ENOUGH) / 1024 : 0;
	for (size_t i = 0; i < l->count; i++) {
		bool joins =
			i > 0 && l->units[i - 1].chosen && follows(&l->units[i - 1], &l->units[i]);
		size_t cost = 0;
		float value = 0;
		for (size_t k = i; k < l->count && k < i + RUN; k++) {
			const struct entry *u = &l->units[k];
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
static bool is_separator(const struct entry *u)
{
	return u->trait.score.kind == SCORE_BLANK || u->trait.score.kind == SCORE_RULE;
}

/* Whether a line is one of a stack, or the source line below one. */
static bool is_of_stack(const struct entry *u, const struct entry **frame)
{
	if (u->trait.score.kind == SCORE_FRAME)
		*frame = u;
	return *frame && (*frame == u || u->trait.score.indent > (*frame)->trait.score.indent);
}

/* Whether a unit is the function of the frame below it, or the heading of a further stack. */
static bool is_above_frame(const struct layout *l, size_t unit)
{
	const struct entry *u = &l->units[unit];
	if (unit + 1 == l->count || !follows(u, u + 1))
		return false;
	if (u[1].trait.score.kind == SCORE_FRAME && u[1].trait.score.indent > u->trait.score.indent)
		return true;
	const char *text = u->line.front;
	size_t len = u->line.front_len;
	while (len > 0 && (is_blank(text[len - 1]) || text[len - 1] == '\n'))
		len--;
	return len > 0 && text[len - 1] == ':';
}

/* Takes the first frame in the user's own files of the stacks that a failure begins, those of other
   threads too, with its function. */
static void take_far_place(struct layout *l, size_t unit)
{
	const struct entry *frame = NULL;
	for (size_t i = unit + 1; i < l->count && i <= unit + STACKS_REACH; i++) {
		const struct entry *u = &l->units[i];
		if (!follows(u - 1, u))
			return;
		if (is_of_stack(u, &frame) && frame == u &&
		    u->trait.score.score >= SCORE_OWN_FRAME) {
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
   section, or what is behind a stack; and of the stack the user's own frame. `heads`: it opens a
   block, however that is indented. */
static void take_core(struct layout *l, size_t unit, bool heads)
{
	const struct score *head = &l->units[unit].trait.score;
	const struct entry *frame = NULL; /* the last one of a stack */
	size_t place = 0;                 /* the frame in the user's own files; 0: none yet */
	bool apart = false;               /* a blank line or a rule is below the heading */
	bool section = false;             /* what is below is indented no further */
	bool told = false;                /* enough is taken, but for the place */
	size_t lines = 0;                 /* taken */
	uint64_t last = l->units[unit].to + CORE_REACH;
	for (size_t i = unit + 1; i < l->count && l->units[i].line.number <= last; i++) {
		const struct entry *u = &l->units[i];
		const struct score *score = &u->trait.score;
		bool deeper = score->indent > head->indent;
		if (is_separator(u) || !follows(u - 1, u)) {
			apart |= score->kind != SCORE_RULE;
			told |= lines > 0;
			if (!heads)
				break;
		}
		if (is_separator(u))
			continue;
		if (is_of_stack(u, &frame)) {
			/* The frame that is nearest to the message, which is above the stack or
			   below. */
			if (frame == u && score->score >= SCORE_OWN_FRAME && (!place || !lines))
				place = i;
			continue;
		}
		if ((frame && lines) || score->kind == SCORE_HEADING || score->kind == SCORE_PASS ||
		    (!frame && !deeper && !head->opens))
			break;
		if (told && deeper)
			continue;
		if (told)
			break;
		section |= apart && !deeper && !frame;
		/* Values of variables and the source come before the message of a section. */
		if (section && !lines && score->score < MESSAGE)
			continue;
		if (!layout_take(l, i))
			break;
		told = ++lines == CORE;
		if (frame)
			break;
	}
	size_t places = 0; /* in the user's own files that are chosen */
	for (size_t i = 0; i < l->count; i++) {
		const struct entry *u = &l->units[i];
		places += u->chosen && u->trait.score.kind == SCORE_FRAME &&
			  u->trait.score.score >= SCORE_OWN_FRAME;
	}
	if (place && places * PLACE_EACH < l->budget)
		layout_take(l, place);
	else if (!place && (places + 1) * PLACE_EACH <= l->budget)
		take_far_place(l, unit);
}

static bool is_heading(const struct trait *t)
{
	return t->score.opens || t->score.kind == SCORE_HEADING;
}

/* Whether what follows a line may belong to it. */
static bool has_core(const struct trait *t)
{
	return t->score.kind == SCORE_FAIL || is_heading(t);
}

/* Whether a line is a field of a record: "Severity: High". */
static bool is_field(const struct entry *u)
{
	const char *text = u->line.front;
	size_t len = u->line.front_len, from = skip_blanks(text, len, 0), at = from;
	while (at < len && at < from + FIELD_LEN && (is_letter(text[at]) || text[at] == ' '))
		at++;
	return at > from && at + 1 < len && text[at] == ':' && text[at + 1] == ' ';
}

/* Takes the heading of a unit: the line above that is indented less, if it is near; of
   a field, also the record's, with the other fields. */
static void take_heading(struct layout *l, size_t unit)
{
	for (size_t i = unit; i-- > 0 && i + HEADING_REACH >= unit;) {
		const struct entry *above = &l->units[i], *below = above + 1;
		if (!follows(above, below) || is_separator(above))
			return;
		if (above->trait.score.indent >= l->units[unit].trait.score.indent)
			continue;
		bool is_record = i + 2 < l->count && follows(below, below + 1) && is_field(below) &&
				 is_field(below + 1) &&
				 below[0].trait.score.indent == below[1].trait.score.indent;
		if (has_core(&above->trait))
			layout_take(l, i);
		else if (is_record && layout_take(l, i))
			take_core(l, i, true);
		return;
	}
}

/* Takes the place that stands above a message, with lines of the source between. */
static void take_place(struct layout *l, size_t unit)
{
	for (size_t i = unit; i-- > 0 && i + PLACE_REACH >= unit;) {
		const struct entry *above = &l->units[i];
		if (!follows(above, above + 1))
			return;
		if (above->trait.score.kind == SCORE_PLACE) {
			layout_take(l, i);
			return;
		}
		if (above->trait.score.kind != SCORE_PLAIN &&
		    above->trait.score.kind != SCORE_QUOTE &&
		    above->trait.score.kind != SCORE_DETAIL && !is_separator(above))
			return;
	}
}

struct name {
	const char *text;
	size_t len;
};

static bool is_of_name(char c)
{
	return is_letter(c) || is_digit(c) || is_one_of(c, "_.:-/");
}

/* Whether a word is a name, and neither one of a sentence nor a path: "queue_order",
   "QueueTest.Pops", "TestPop". */
static bool is_name(const char *text, size_t len)
{
	bool inner = false;
	size_t letters = 0;
	for (size_t i = 0; i < len; i++) {
		letters += is_letter(text[i]);
		inner |= i > 0 && (is_one_of(text[i], "_.:") ||
				   (is_upper(text[i]) && !is_upper(text[i - 1])));
	}
	return inner && !memchr(text, '/', len) && letters >= NAMES_LEAST;
}

/* The longest name in a line; its length is 0 if there is none. */
static struct name find_name(const struct line *line)
{
	struct name best = {NULL, 0};
	for (size_t at = 0, end; at < line->front_len; at = end + 1) {
		while (at < line->front_len && !is_letter(line->front[at]))
			at++;
		for (end = at; end < line->front_len && is_of_name(line->front[end]);)
			end++;
		size_t len = end - at;
		while (len > 0 && is_one_of(line->front[at + len - 1], ".:-"))
			len--;
		if (len > best.len && is_name(line->front + at, len))
			best = (struct name){line->front + at, len};
	}
	return best;
}

static bool has_name(const struct line *line, const struct name *name)
{
	const char *at = line->front, *end = line->front + line->front_len;
	while ((at = memmem(at, (size_t)(end - at), name->text, name->len))) {
		bool begins = at == line->front || !is_of_name(at[-1]);
		at += name->len;
		if (begins && (at == end || !is_of_name(*at)))
			return true;
	}
	return false;
}

/* A line that says that something failed names it, and so does the line where that began: takes
   what is printed between them, whatever words it has. */
static void take_named(struct layout *l, size_t unit)
{
	const struct entry *u = &l->units[unit];
	struct name name = find_name(&u->line);
	size_t room = l->budget / NAMES_PARTS, i;
	if (name.len == 0)
		return;
	for (i = unit; i-- > l->back && i + NAMES_REACH >= unit;) {
		const struct entry *above = &l->units[i];
		if (!follows(above, above + 1))
			return;
		if (!has_name(&above->line, &name))
			continue;
		if (above->trait.score.kind == SCORE_FAIL)
			return;
		break;
	}
	if (i < l->back || i + NAMES_REACH < unit)
		return;
	for (size_t k = unit; --k > i && l->units[k].cost <= room;) {
		if (is_separator(&l->units[k]))
			continue;
		if (!layout_take(l, k))
			return;
		room -= l->units[k].cost;
	}
}

/* Takes a line, what belongs to it if it is a telling one, and the few lines up to others that are
   taken. */
static void take_telling(struct layout *l, size_t unit)
{
	struct entry *u = &l->units[unit];
	size_t relatives = 0, k;
	if (!layout_take(l, unit) &&
	    (u->trait.value < TELLING || !layout_take_cut(l, unit, CONTEXT_LINE))) {
		u->trait.value = 0;
		return;
	}
	if (u->trait.value >= TELLING) {
		take_heading(l, unit);
		if (u->trait.score.kind == SCORE_FAIL) {
			take_place(l, unit);
			take_named(l, unit);
		}
		if (has_core(&u->trait))
			take_core(l, unit, is_heading(&u->trait));
	}
	for (k = 2; k <= BRIDGE + 1 && (unit < k || !l->units[unit - k].chosen);)
		k++;
	if (k <= BRIDGE + 1)
		bridge(l, unit - k, unit);
	for (k = 2; k <= BRIDGE + 1 && (unit + k >= l->count || !l->units[unit + k].chosen);)
		k++;
	if (k <= BRIDGE + 1)
		bridge(l, unit, unit + k);
	/* The next one of its shape tells less, and so do others of its family when there are many.
	 */
	for (size_t i = 0; i < l->count; i++)
		relatives += l->units[i].chosen &&
			     l->units[i].trait.score.family == u->trait.score.family;
	for (size_t i = 0; i < l->count; i++) {
		struct trait *other = &l->units[i].trait;
		if (l->units[i].chosen)
			continue;
		if (other->score.shape == u->trait.score.shape)
			other->value = other->value * NEXT_OF_SHAPE / 100;
		else if (other->score.family == u->trait.score.family && other->score.family &&
			 relatives > FAMILY)
			other->value = other->value * NEXT_OF_FAMILY / 100;
	}
}

/* Whether a unit is the next one behind what is in front of it in the layout, or printed already.
 */
static bool is_next(const struct layout *l, size_t i)
{
	uint64_t before = i > 0 ? l->units[i - 1].to : l->ask->printed_lines;
	return before + 1 == l->units[i].line.number;
}

/* Takes folds, and the few lines around them, where a gap would hide nothing else. */
static void take_folds(struct layout *l)
{
	size_t from = 0;
	for (size_t to = 0; to < l->count; to++) {
		if (!l->units[to].chosen)
			continue;
		size_t cost = 0;
		bool folds = false, whole = is_next(l, to);
		for (size_t i = from; i < to; i++) {
			folds |= l->units[i].alike;
			whole &= is_next(l, i) && !is_false_alarm(l, &l->units[i], false);
			cost += l->units[i].cost;
		}
		for (; whole && folds && cost <= FOLD_COST && from < to; from++)
			layout_take(l, from);
		from = to + 1;
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

/* Takes the last counts of a failed run: the last line that counts failures, with the summary
   around it. */
static void take_counts(struct layout *l)
{
	const struct entry *u = l->units;
	size_t i = l->count, room = l->budget / COUNTS_PARTS;
	while (i > 0 && (u[i - 1].trait.score.kind != SCORE_SUMMARY ||
			 u[i - 1].trait.score.score < COUNTS_FAILURES))
		i--;
	if (i-- == 0)
		return;
	while (i > 0 && follows(&u[i - 1], &u[i]) && u[i - 1].trait.score.kind == SCORE_SUMMARY)
		i--;
	for (; i < l->count && u[i].trait.score.kind == SCORE_SUMMARY && u[i].cost <= room &&
	       layout_take(l, i);
	     i++)
		room -= u[i].cost;
}

/* Takes the lines that tell how the run ended. */
static void take_told(struct layout *l)
{
	struct run run;
	if (l->ask->status > 0)
		take_counts(l);
	/* What belongs to the headings that are chosen for their place. */
	for (size_t i = 0; i < l->count; i++) {
		const struct trait *head = &l->units[i].trait;
		if (l->units[i].chosen && head->value >= TELLING && has_core(head))
			take_core(l, i, is_heading(head));
	}
	for (size_t i = 0; i < l->count; i++) {
		if (l->units[i].trait.value < LAYOUT_TELLING)
			l->units[i].trait.value = 0;
	}
	for (size_t work = 0; work < WORK_MAX && (run = densest_run(l)).to; work += l->count) {
		for (; run.from < run.to; run.from++)
			take_telling(l, run.from);
	}
	/* Without words of a failure. */
	for (size_t i = 0; i < l->count && l->ask->status > 0 && !has_told(l); i++) {
		if (l->units[i].trait.odd)
			layout_take(l, i);
	}
}

static bool is_filler(const struct entry *u)
{
	return u->trait.common && !u->chosen;
}

static void choose_by_value(struct layout *l, const struct limit *limit)
{
	size_t most = l->budget / LINE_PARTS, behind = 0, reach = l->budget / 4;
	if (most < LINE_LEAST)
		most = LINE_LEAST;
	/* Lines of the middle are shown less far than those at the end. */
	for (size_t i = 0; i + 1 < l->count && !l->asked_for; i++) {
		size_t bytes = l->units[i].trait.value > TELLING ? most : CONTEXT_LINE;
		if (l->units[i].limit > bytes)
			layout_limit(l, i, bytes);
	}
	size_t next = take_start(l, limit);
	/* The last lines in any case. */
	unsigned share = limit->end_share, least = l->brief ? END_SHARE_BRIEF : END_SHARE_SUCCESS;
	if (l->ask->status == 0 && share < least)
		share = least;
	take_tail(l, next, percent(limit->bytes, share), l->budget / 4);
	/* The last lines count for being the last. */
	for (size_t i = l->count; i-- > l->back && behind < reach;) {
		struct entry *u = &l->units[i];
		u->trait.value += (unsigned)(END_VALUE * (reach - behind) / reach);
		behind += u->cost;
	}
	take_told(l);
	if (l->asked_for || (!l->brief && !has_told(l))) {
		/* The last lines, then the first ones, up to one of a form that many have. */
		size_t from = l->count;
		while (from > next && !is_filler(&l->units[from - 1]))
			from--;
		take_tail(l, from, l->budget, 0);
		for (from = next; from < l->count && !is_filler(&l->units[from]);)
			from++;
		take_head(l, next, from, l->budget);
	}
	take_folds(l);
}

static void take_ends(struct layout *l, const struct limit *limit)
{
	size_t next = take_start(l, limit);
	take_tail(l, next, l->budget, l->budget);
	if (modes[limit->mode].refill)
		take_head(l, next, l->count, l->budget);
}

void choose(struct layout *l, const struct limit *limit)
{
	if (modes[limit->mode].by_value) {
		choose_by_value(l, limit);
	} else {
		size_t bytes = preview_reserve(l->budget);
		uint64_t lines = preview_reserve_lines(l->max_lines);
		if (l->ask->status > 0) {
			l->budget -= bytes;
			l->max_lines -= lines;
			take_ends(l, limit);
			l->budget += bytes;
			l->max_lines += lines;
			take_told(l);
		}
		take_ends(l, limit);
	}
	layout_close_gaps(l);
}
