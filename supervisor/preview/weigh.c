// Weighs the stored lines: each by itself, less if many lines say the same or a run that went well
// has said it, too, more by its neighbours.

#include "supervisor/preview/internal.h"

#include <limits.h>
#include <stdlib.h>

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	BEHIND = 14,  /* lines behind a telling one that it lifts */
	BEFORE = 16,  /* lines above, among which those it belongs to are looked for */
	SPREADS = 20, /* score from which on a line lifts others */
	UNIT = 6,     /* of a stored value, for one of a score */
	SEEN_BITS = 12,
	TITLE_REACH = 5, /* lines below a title */
	FEW = 4,         /* diagnostics of a family */
	CLEAR = 45,      /* score of a line that tells by itself what happened */
	QUIET = 30,      /* lines without one that tells of a failure */
	SLOT_BITS = 14,  /* of the table of fingerprints: more than twice the stored lines */
};

static const float WEIGHT_MAX = 150.0f;
static const float END_REACH = 16000.0f; /* bytes from the end at which its favour is halved */
static const float END_FAVOUR = 0.4f, END_FAVOUR_RESULT = 1.0f;
static const float AFTER_QUIET = 1.3f;     /* for the first telling line after many that are not */
static const float RARE_DIAGNOSTIC = 1.8f; /* of one family there are few */
static const float RESULT_LEAST = 15.0f;
static const float OF_TITLE = 0.05f; /* left for the title of passing tests */
/* Left for what a run that went well has said, too; what it has not said tells more. */
static const float OF_NORMAL = 0.15f, OF_NEWS = 1.3f;

/* The share of its weight that a line hands on to the next ones, and how it fades. */
static const float TO_BEHIND = 0.5f, TO_OPENED = 0.8f;
static const float OVER_BLANK = 0.75f, OVER_OPENED = 0.93f, OVER_DEEPER = 0.9f, OVER_LINE = 0.84f;
/* To those right above it, the first of its paragraph, and those indented less. */
static const float TO_BEFORE = 0.4f, OVER_BEFORE = 0.65f;
static const float TO_PARAGRAPH = 0.55f;
static const float TO_PARENT = 0.5f, OVER_PARENT = 0.6f;

/* The share of a weight that is left for something that occurs up to so often. */
struct step {
	unsigned most;
	float factor;
};

/* For lines of one shape, for those that begin alike and tell the same, and for
   results. */
static const struct step shape_steps[] = {
	{1, 1.0f}, {4, 0.95f}, {16, 0.85f}, {64, 0.7f}, {256, 0.5f}, {UINT_MAX, 0.3f},
};
static const struct step family_steps[] = {
	{4, 1.0f}, {16, 0.9f}, {64, 0.75f}, {256, 0.6f}, {UINT_MAX, 0.45f},
};
static const struct step result_steps[] = {
	{2, 1.0f},
	{8, 0.6f},
	{UINT_MAX, 0.2f},
};
/* For further lines of one shape. */
static const struct step repeat_steps[] = {
	{0, 1.0f}, {1, 0.6f}, {2, 0.45f}, {3, 0.35f}, {UINT_MAX, 0.3f},
};

/* For lines without a mark of failure, of which there are many. */
static const struct step crowd_steps[] = {
	{6, 1.0f}, {12, 0.7f}, {24, 0.45f}, {48, 0.25f}, {UINT_MAX, 0.12f},
};
/* For further lines of one family. */
static const struct step relative_steps[] = {
	{0, 1.0f},
	{1, 0.85f},
	{3, 0.75f},
	{UINT_MAX, 0.7f},
};

static float factor_of(const struct step *steps, unsigned count)
{
	while (count > steps->most)
		steps++;
	return steps->factor;
}

/* A line that is being weighed. */
struct weighing {
	const struct stored *line;
	unsigned before;    /* lines of its shape above */
	unsigned relatives; /* and of its family */
	unsigned same;      /* lines of its shape in all */
	unsigned family;    /* and of its family */
	float from_end;     /* bytes */
};

static void lift(struct stored *line, float weight)
{
	unsigned value = (unsigned)(weight * UNIT);
	if (line->score.kind == SCORE_BLANK)
		return;
	if (line->score.kind == SCORE_FRAME || line->score.kind == SCORE_PASS)
		value /= 3;
	if (value >= STORE_VALUES)
		value = STORE_VALUES - 1;
	if (value > line->value)
		line->value = (uint16_t)value;
}

static void lift_behind(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float share = weight * (line->score.opens ? TO_OPENED : TO_BEHIND);
	for (size_t k = 1; k <= BEHIND && i + k < store->count; k++) {
		struct stored *other = &store->lines[i + k];
		if (other->line.number != line->line.number + k)
			break;
		if (other->score.kind == SCORE_BLANK)
			share *= OVER_BLANK;
		else if (line->score.opens)
			share *= OVER_OPENED;
		else
			share *= other->score.indent > line->score.indent ? OVER_DEEPER : OVER_LINE;
		lift(other, share);
	}
}

static void lift_before(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float parent = weight * TO_PARENT, share = weight * TO_BEFORE;
	unsigned indent = line->score.indent;
	bool paragraph = true;
	for (size_t k = 1; k <= BEFORE && k <= i; k++) {
		struct stored *other = &store->lines[i - k];
		if (other->line.number + k != line->line.number)
			break;
		if (other->score.kind == SCORE_BLANK) {
			if (paragraph && k > 1)
				lift(other + 1, weight * TO_PARAGRAPH);
			paragraph = false;
			continue;
		}
		share *= OVER_BEFORE;
		lift(other, share);
		if (other->score.indent < indent) {
			indent = other->score.indent;
			lift(other, parent);
			parent *= OVER_PARENT;
		}
	}
}

/* The line's own weight, under what is asked for: how much it says about a failure, or about a
   success. */
static float own_weight(const struct weighing *w, enum outcome outcome)
{
	const struct score *score = &w->line->score;
	float failure = 0, success = 0;
	if (outcome != OUTCOME_SUCCESS) {
		/* The first of lines that all say the same: perhaps the one cause of many failures.
		 */
		bool cause = w->before == 0 && w->same >= w->family;
		failure = (float)score->score;
		if (!cause || score->score < CLEAR)
			failure *= factor_of(shape_steps, w->same);
		failure *= factor_of(repeat_steps, w->before);
		failure *= factor_of(relative_steps, w->relatives);
		if (!(score->family & SCORE_MARKED) && !cause)
			failure *= factor_of(crowd_steps, w->family);
		if (score->kind == SCORE_DETAIL && score->score >= SCORE_DIAGNOSTIC &&
		    score->score < SCORE_FAILURE && w->family <= FEW)
			failure *= RARE_DIAGNOSTIC;
		/* The first ones of a family may begin a cascade. */
		if (w->relatives >= 2)
			failure *= factor_of(family_steps, w->family);
		failure *= 1.0f + END_FAVOUR / (1.0f + w->from_end / END_REACH);
	}
	if (outcome != OUTCOME_FAILURE) {
		success = (float)score->result * factor_of(repeat_steps, w->before) *
			  factor_of(result_steps, w->family);
		if (success < RESULT_LEAST)
			success = 0;
		success *= 1.0f + END_FAVOUR_RESULT / (1.0f + w->from_end / END_REACH);
	}
	float weight = failure > success ? failure : success;
	return weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
}

struct trait smart_trait(const struct smart *s, const struct line *line, uint64_t bytes,
			 enum outcome outcome)
{
	struct stored stored = {.line = *line};
	smart_judge(s, line, &stored.score);
	/* By itself a line is no rare diagnostic. */
	uint8_t kind = stored.score.kind;
	stored.score.kind = SCORE_PLAIN;
	const struct weighing w = {.line = &stored,
				   .same = sketch_count(&s->sketch, stored.score.shape),
				   .family = sketch_count(&s->sketch, stored.score.family),
				   .from_end = (float)(bytes - line->offset)};
	stored.value = (uint16_t)(own_weight(&w, outcome) * UNIT);
	stored.score.kind = kind;
	return smart_trait_of(s, &stored);
}

/* Whether a line is the title of tests that pass, or of a group that begins with such: words of
   failure in it name what is tested. */
static bool is_passing_title(const struct store *store, size_t i)
{
	const struct stored *title = &store->lines[i];
	if (title->score.kind != SCORE_FAIL && title->score.kind != SCORE_HEADING &&
	    title->score.kind != SCORE_SUMMARY)
		return false;
	for (size_t k = 1; k <= TITLE_REACH && i + k < store->count; k++) {
		const struct stored *below = &store->lines[i + k];
		if (below->line.number != store->lines[i].line.number + k)
			return false;
		if (below->score.kind == SCORE_BLANK)
			continue;
		if (below->score.indent <= title->score.indent)
			return false;
		if (below->score.kind == SCORE_PASS)
			return true;
		if (below->score.kind != SCORE_PLAIN && below->score.kind != SCORE_FAIL &&
		    below->score.kind != SCORE_HEADING)
			return false;
		title = below;
	}
	return false;
}

/* Lines of one shape, and of one family. Where a run that went well is known, what it has not said
   is counted apart: however many lines are normal, few new ones stand out. */
struct counts {
	uint8_t shapes[1 << SEEN_BITS], families[1 << SEEN_BITS];
};

static uint8_t *count_slot(uint8_t *slots, uint32_t hash, bool apart)
{
	return &slots[((hash ^ (apart ? 0x5BD1E995u : 0)) * 2654435769u) >> (32 - SEEN_BITS)];
}

/* How many were counted in this slot before; one more now. */
static unsigned count_up(uint8_t *slot)
{
	return *slot < UINT8_MAX ? (*slot)++ : *slot;
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	struct counts above = {0}, news = {0};
	uint64_t told = 0; /* the last line that tells of a failure */
	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = 0;
	/* What a run that went well has not said. */
	for (size_t i = 0; i < store->count && s->compared; i++) {
		const struct stored *line = &store->lines[i];
		if (line->normal)
			continue;
		count_up(count_slot(news.shapes, line->score.shape, true));
		count_up(count_slot(news.families, line->score.family, true));
	}
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct weighing w = {.line = line};
		line->value += smart_is_odd(s, &line->score);
		if (line->score.score == 0 && line->score.result == 0)
			continue;
		bool is_new = s->compared && !line->normal;
		w.before = count_up(count_slot(above.shapes, line->score.shape, is_new));
		w.relatives = count_up(count_slot(above.families, line->score.family, is_new));
		w.same = is_new ? *count_slot(news.shapes, line->score.shape, true)
				: sketch_count(&s->sketch, line->score.shape);
		w.family = is_new ? *count_slot(news.families, line->score.family, true)
				  : sketch_count(&s->sketch, line->score.family);
		w.from_end = (float)(bytes - line->line.offset);
		float weight = own_weight(&w, outcome);
		if (s->compared)
			weight *= line->normal ? OF_NORMAL : OF_NEWS;
		if (line->score.score >= SPREADS) {
			weight *= line->line.number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = line->line.number;
		}
		if (is_passing_title(store, i))
			weight *= OF_TITLE;
		/* The weight from the neighbours counts half. */
		unsigned value = line->value / 2u + (unsigned)(weight * UNIT);
		line->value = (uint16_t)(value < STORE_VALUES ? value : STORE_VALUES - 1);
		if (line->score.score >= SPREADS && weight >= SPREADS / 2.0f &&
		    outcome != OUTCOME_SUCCESS) {
			lift_behind(store, i, weight);
			lift_before(store, i, weight);
		}
	}
}

/* The stored lines by their fingerprints. */
struct normal {
	uint64_t prints[STORE_LINES];
	uint16_t slots[1 << SLOT_BITS]; /* a line's index + 1; 0: free */
	bool said[STORE_LINES];         /* of the first line with a fingerprint */
};

/* The slot of a fingerprint, or a free one. */
static uint16_t *normal_slot(struct normal *n, uint64_t print)
{
	size_t i = (print * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
	while (n->slots[i] && n->prints[n->slots[i] - 1] != print)
		i = (i + 1) & ((1 << SLOT_BITS) - 1);
	return &n->slots[i];
}

int smart_compare(struct smart *s, const struct fingerprints *success)
{
	struct normal *n = calloc(1, sizeof(*n));
	uint64_t print;
	if (!n)
		return -1;
	for (size_t i = 0; i < s->store.count; i++) {
		/* Of all of a line where that is stored, else of what is. */
		const struct line *d = &s->store.lines[i].line;
		n->prints[i] = fingerprint_masked(d->front, d->front_len + d->back_len -
								    (line_is_whole(d) && d->ended));
		uint16_t *slot = normal_slot(n, n->prints[i]);
		if (!*slot)
			*slot = (uint16_t)(i + 1);
	}
	while (success->next(success->ctx, &print) == 1) {
		const uint16_t *slot = normal_slot(n, print);
		if (*slot)
			n->said[*slot - 1] = true;
	}
	for (size_t i = 0; i < s->store.count; i++)
		s->store.lines[i].normal = n->said[*normal_slot(n, n->prints[i]) - 1];
	s->compared = true;
	free(n);
	return 0;
}
