// Weighs the stored lines: each by itself, less if many lines say the same or a run that went well
// has said it, too, more by its neighbours.

#include "supervisor/preview/internal.h"

#include <stdlib.h>

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	BEHIND = 14,    /* lines behind a telling one that it lifts */
	BEFORE = 16,    /* lines above */
	UNIT = 6,       /* of a stored value, for one of a score */
	SEEN_BITS = 12, /* of the tables of hashes above */
	SLOT_BITS = 14, /* of the table of fingerprints: more than twice the stored lines */
	QUIET = 30,     /* lines without one that tells of a failure */
};

static const float WEIGHT_MAX = 150.0f;
static const float END_REACH = 16000.0f; /* bytes from the end at which its favour is halved */
static const float END_FAVOUR = 0.8f;
static const float RESULT_LEAST = 13.0f;
static const float AFTER_QUIET = 1.3f; /* for the first telling line after many that are not */
/* How fast further lines of a family tell less: with those above, and with all of them. */
static const float AGAIN = 0.35f, OF_MANY = 0.3f;
/* Left for what a run that went well has said, too; what it has not said tells more. */
static const float OF_NORMAL = 0.15f, OF_NEWS = 1.3f;

/* The share of its weight that a line hands on to the next ones, and to those above, and how it
   fades. */
static const float TO_BEHIND = 0.85f, OVER_BLANK = 0.6f, OVER_DEEPER = 0.8f, OVER_LINE = 0.7f;
static const float TO_BEFORE = 0.4f, OVER_BEFORE = 0.8f;

/* A line that is being weighed. */
struct weighing {
	const struct stored *line;
	unsigned relatives; /* lines of its family above ... */
	unsigned family;    /* ... and in all */
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
	float share = weight * TO_BEHIND;
	for (size_t k = 1; k <= BEHIND && i + k < store->count; k++) {
		struct stored *other = &store->lines[i + k];
		if (other->line.number != line->line.number + k)
			break;
		if (other->score.kind == SCORE_BLANK)
			share *= OVER_BLANK;
		else
			share *= other->score.indent > line->score.indent ? OVER_DEEPER : OVER_LINE;
		lift(other, share);
	}
}

static void lift_before(struct store *store, size_t i, float weight)
{
	const struct stored *line = &store->lines[i];
	float share = weight * TO_BEFORE;
	for (size_t k = 1; k <= BEFORE && k <= i; k++) {
		struct stored *other = &store->lines[i - k];
		if (other->line.number + k != line->line.number)
			break;
		if (other->score.kind == SCORE_BLANK)
			continue;
		share *= OVER_BEFORE;
		lift(other, share);
	}
}

/* The line's own weight, under what is asked for: how much it says about a failure, or about a
   success. */
static float own_weight(const struct weighing *w, enum outcome outcome)
{
	const struct score *score = &w->line->score;
	float failure = score->score, success = score->result;
	float again = 1.0f;
	for (unsigned n = w->relatives; n > 0; n /= 2)
		again += AGAIN;
	for (unsigned n = w->relatives ? w->family : 0; n > 1; n /= 2)
		again += OF_MANY;
	failure /= again;
	success /= 1.0f + (float)w->family / 8;
	if (outcome == OUTCOME_SUCCESS || failure < 0)
		failure = 0;
	if (outcome == OUTCOME_FAILURE || success < RESULT_LEAST)
		success = 0;
	float weight = failure > success ? failure : success;
	weight *= 1.0f + END_FAVOUR / (1.0f + w->from_end / END_REACH);
	return weight < WEIGHT_MAX ? weight : WEIGHT_MAX;
}

struct trait smart_trait(const struct smart *s, const struct line *line, uint64_t bytes,
			 enum outcome outcome)
{
	struct stored stored = {.line = *line};
	smart_judge(s, line, &stored.score);
	const struct weighing w = {.line = &stored, .from_end = (float)(bytes - line->offset)};
	stored.value = (uint16_t)(own_weight(&w, outcome) * UNIT);
	return smart_trait_of(s, &stored);
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint8_t above[1 << SEEN_BITS] = {0};
	uint64_t told = 0; /* the last line that tells of a failure */
	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = 0;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct weighing w = {.line = line};
		line->value += smart_is_odd(s, &line->score);
		if (line->score.score == 0 && line->score.result == 0)
			continue;
		bool is_new = s->compared && !line->normal;
		/* What a run that went well has not said is counted apart. */
		uint32_t family = line->score.family ^ (is_new ? 0x5BD1E995u : 0);
		uint8_t *count = &above[(family * 2654435769u) >> (32 - SEEN_BITS)];
		w.relatives = *count;
		w.family = sketch_count(&s->sketch, line->score.family);
		*count += *count < UINT8_MAX;
		w.from_end = (float)(bytes - line->line.offset);
		float weight = own_weight(&w, outcome);
		if (s->compared)
			weight *= line->normal ? OF_NORMAL : OF_NEWS;
		if (line->score.score >= SCORE_TELLING) {
			weight *= line->line.number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = line->line.number;
		}
		/* The weight from the neighbours counts half. */
		unsigned value = line->value / 2u + (unsigned)(weight * UNIT);
		line->value = (uint16_t)(value < STORE_VALUES ? value : STORE_VALUES - 1);
		if (line->score.score >= SCORE_TELLING && weight >= SCORE_TELLING / 2.0f &&
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
