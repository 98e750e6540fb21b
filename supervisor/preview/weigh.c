// What a stored line is worth: what it tells by itself, less what many lines
// tell, and what the lines beside it tell.

#include "supervisor/preview/smart.h"

#include <limits.h>

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	BEHIND = 14,  /* lines behind a telling one that it lifts */
	BEFORE = 16,  /* lines above, among which those it belongs to are looked for */
	SPREADS = 20, /* score from which on a line lifts others */
	UNIT = 6,     /* of a stored value, for one of a score */
	SEEN_BITS = 12,
};

static const float WEIGHT_MAX = 150.0f;
static const float END_REACH = 16000.0f; /* bytes from the end at which its favour is halved */
static const float END_FAVOUR = 0.4f, END_FAVOUR_RESULT = 1.0f;
static const float RESULT_LEAST = 15.0f;

/* What a line hands on to those behind it, and what is left from line to line. */
static const float TO_BEHIND = 0.5f, TO_OPENED = 0.8f;
static const float OVER_BLANK = 0.75f, OVER_OPENED = 0.93f, OVER_DEEPER = 0.9f, OVER_LINE = 0.84f;
/* To those right above it, the first of its paragraph, and those indented less. */
static const float TO_BEFORE = 0.4f, OVER_BEFORE = 0.65f;
static const float TO_PARAGRAPH = 0.55f;
static const float TO_PARENT = 0.5f, OVER_PARENT = 0.6f;

/* What is left of a weight when something occurs up to so often. */
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
/* And for the further lines of one shape. */
static const struct step repeat_steps[] = {
	{0, 1.0f}, {1, 0.6f}, {2, 0.45f}, {3, 0.35f}, {UINT_MAX, 0.3f},
};

static float factor_of(const struct step *steps, unsigned count)
{
	while (count > steps->most)
		steps++;
	return steps->factor;
}

/* A line that is being weighed. */
struct weighing {
	const struct smart *smart;
	const struct stored *line;
	unsigned before;    /* lines of its shape above */
	unsigned relatives; /* and of its family */
	float from_end;     /* bytes */
};

static float near_end(const struct weighing *w, float favour)
{
	return 1.0f + favour / (1.0f + w->from_end / END_REACH);
}

/* What it tells of a failure. */
static float failure_weight(const struct weighing *w)
{
	const struct sketch *sketch = &w->smart->sketch;
	float weight = (float)w->line->score;

	weight *= factor_of(shape_steps, sketch_count(sketch, w->line->shape));
	weight *= factor_of(repeat_steps, w->before);
	/* The first ones of a family may begin a cascade. */
	if (w->relatives >= 2)
		weight *= factor_of(family_steps, sketch_count(sketch, w->line->family));
	return weight * near_end(w, END_FAVOUR);
}

/* What it tells of a success. */
static float success_weight(const struct weighing *w)
{
	float weight = (float)w->line->result;

	weight *= factor_of(repeat_steps, w->before);
	weight *= factor_of(result_steps, sketch_count(&w->smart->sketch, w->line->family));
	return weight < RESULT_LEAST ? 0 : weight * near_end(w, END_FAVOUR_RESULT);
}

static void lift(struct stored *line, float weight)
{
	unsigned value = (unsigned)(weight * UNIT);

	if (line->kind == SALIENCE_BLANK)
		return;
	if (line->kind == SALIENCE_FRAME || line->kind == SALIENCE_PASS)
		value /= 3;
	if (value > line->value)
		line->value = (uint16_t)value;
}

static void lift_behind(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float share = weight * (line->opens ? TO_OPENED : TO_BEHIND);

	for (size_t k = 1; k <= BEHIND && i + k < store->count; k++) {
		struct stored *other = &store->lines[i + k];

		if (other->number != line->number + k)
			break;
		if (other->kind == SALIENCE_BLANK)
			share *= OVER_BLANK;
		else if (line->opens)
			share *= OVER_OPENED;
		else
			share *= other->indent > line->indent ? OVER_DEEPER : OVER_LINE;
		lift(other, share);
	}
}

static void lift_before(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float parent = weight * TO_PARENT, share = weight * TO_BEFORE;
	unsigned indent = line->indent;
	bool paragraph = true;

	for (size_t k = 1; k <= BEFORE && k <= i; k++) {
		struct stored *other = &store->lines[i - k];

		if (other->number + k != line->number)
			break;
		if (other->kind == SALIENCE_BLANK) {
			if (paragraph && k > 1)
				lift(other + 1, weight * TO_PARAGRAPH);
			paragraph = false;
			continue;
		}
		share *= OVER_BEFORE;
		lift(other, share);
		if (other->indent < indent) {
			indent = other->indent;
			lift(other, parent);
			parent *= OVER_PARENT;
		}
	}
}

/* The line's own weight, under what is asked for. */
static float own_weight(const struct weighing *w, enum outcome outcome)
{
	float failure = outcome == OUTCOME_SUCCESS ? 0 : failure_weight(w);
	float success = outcome == OUTCOME_FAILURE ? 0 : success_weight(w);
	float weight = failure > success ? failure : success;

	return weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
}

/* How many were counted in this slot before; one more now. */
static unsigned count_up(uint8_t *slots, uint32_t hash)
{
	uint8_t *count = &slots[(hash * 2654435769u) >> (32 - SEEN_BITS)];

	return *count < UINT8_MAX ? (*count)++ : *count;
}

unsigned smart_value(const struct smart *s, const struct line *line, uint64_t bytes,
		     enum outcome outcome, uint32_t *shape)
{
	struct salience salience;
	struct stored stored;
	struct weighing w = {.smart = s, .line = &stored};

	smart_judge(s, line, &salience);
	stored = (struct stored){.score = (uint8_t)salience.score,
				 .result = (uint8_t)salience.result,
				 .shape = salience.shape,
				 .family = salience.family};
	w.from_end = (float)(bytes - line->offset);
	*shape = salience.shape;
	return (unsigned)(own_weight(&w, outcome) * UNIT);
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint8_t shapes[1 << SEEN_BITS] = {0}, families[1 << SEEN_BITS] = {0};

	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = 0;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct weighing w = {.smart = s, .line = line};
		float weight;
		unsigned value;

		if (line->score == 0 && line->result == 0)
			continue;
		w.before = count_up(shapes, line->shape);
		w.relatives = count_up(families, line->family);
		w.from_end = (float)(bytes - line->offset);
		weight = own_weight(&w, outcome);
		/* What the lines around gave counts half. */
		value = line->value / 2u + (unsigned)(weight * UNIT);
		line->value = (uint16_t)(value < STORE_VALUES ? value : STORE_VALUES - 1);
		if (line->score >= SPREADS && outcome != OUTCOME_SUCCESS) {
			lift_behind(store, i, weight);
			lift_before(store, i, weight);
		}
	}
}
