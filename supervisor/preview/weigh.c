// Weighs the stored lines: each by itself, less if many lines say the same or a run that went well
// has said it, too, more by its neighbours.

#include "supervisor/preview/internal.h"

#include <stdlib.h>

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	UNIT = 6,          /* of a stored value, for one of a score */
	SEEN_BITS = 12,    /* of the table of families above */
	RESULT_LEAST = 13, /* of what tells of a success */
	QUIET = 30,        /* lines without one that tells of a failure */
	SLOT_BITS = 14,    /* of the table of fingerprints: more than twice the stored lines */
};

/* The end is favoured; at so many bytes from it by half of that. */
static const float END_FAVOUR = 0.8f, END_REACH = 16000.0f;
/* How fast further lines of a family tell less: with those above, and with all of them. */
static const float AGAIN = 0.35f, OF_MANY = 0.3f;
/* Left for what a run that went well has said, too; what it has not said tells more. */
static const float OF_NORMAL = 0.15f, OF_NEWS = 1.3f;
/* The share of its weight that a line hands on to the next ones, and to those above, and what is
   left of it at the next line, and at one that belongs to it. Values that were expected and quoted
   source take nothing of it: they are one with their message. */
static const float TO_BEHIND = 0.85f, TO_BEFORE = 0.4f, NEXT = 0.7f, OWN = 0.8f;
static const float OVER_BLANK = 0.6f;
static const float AFTER_QUIET = 1.3f; /* for the first telling line after many that are not */

/* Whether a frame of a stack is in code that the user has not written. */
static bool is_foreign(const struct line *frame)
{
	static const char *const places[] = {"node_modules", "-packages/", "/lib/", "/usr/",
					     "/gems/",       "node:",      "java."};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (memmem(frame->front, frame->front_len, places[i], strlen(places[i])))
			return true;
	}
	return false;
}

/* A line has at least this weight, because of the line with the number `owner` if that is not 0. */
static void lift(struct stored *line, float weight, uint64_t owner)
{
	unsigned value = (unsigned)(weight * UNIT);
	enum score_kind kind = line->score.kind;
	if (kind == SCORE_BLANK)
		return;
	if (kind == SCORE_PASS || (kind == SCORE_FRAME && is_foreign(&line->line)))
		value /= 3;
	if (value >= STORE_VALUES)
		value = STORE_VALUES - 1;
	if (value <= line->value)
		return;
	line->value = (uint16_t)value;
	line->owner = owner;
}

/* Whether a line tells nothing without the message above it. */
static bool is_part(const struct stored *line, const struct stored *message)
{
	enum score_kind kind = line->score.kind;
	return kind == SCORE_DETAIL || kind == SCORE_QUOTE || kind == SCORE_FRAME ||
	       (line->score.score < SCORE_TELLING && line->score.indent > message->score.indent);
}

/* Hands a share of a line's weight on to those below it, or above it. What a status tells of is
   above, as what other lines tell of is below. */
static void lift_neighbours(struct store *store, size_t i, bool below, float weight)
{
	struct stored *line = &store->lines[i];
	float share = weight * (below || line->score.ends ? TO_BEHIND : TO_BEFORE);
	size_t most = below ? store->count - 1 - i : i;
	for (size_t k = 1; share >= 1 && k <= most; k++) {
		struct stored *other = below ? line + k : line - k;
		if (other->line.number != (below ? line->line.number + k : line->line.number - k))
			break;
		if (below && other->score.kind == SCORE_WARNING &&
		    line->score.kind != SCORE_WARNING)
			break;
		bool owns = below ? other->score.indent > line->score.indent : !line->score.ends;
		if (other->score.kind == SCORE_BLANK)
			share *= below ? OVER_BLANK : 1;
		else if (other->score.kind != SCORE_DETAIL && other->score.kind != SCORE_QUOTE)
			share *= owns ? OWN : NEXT;
		lift(other, share, below && is_part(other, line) ? line->line.number : 0);
	}
}

/* Where warnings alone have failed the run ("Failing due to -Werror"), they tell as much as errors.
 */
static void raise_warnings(struct store *store)
{
	bool raised = false;
	for (size_t i = store->count; i-- > 0;) {
		const struct line *line = &store->lines[i].line;
		struct score *score = &store->lines[i].score;
		raised |= score->score >= SCORE_TELLING &&
			  (memmem(line->front, line->front_len, "due to -Werror", 14) ||
			   memmem(line->front, line->front_len, "treated as errors", 17));
		if (raised && score->kind == SCORE_WARNING && score->score < SCORE_FAILURES)
			score->score = SCORE_FAILURES;
	}
}

/* How much a line says by itself about a failure, or about a success, under what is asked for:
   it is one of a family, with so many `above`. */
static float own_weight(const struct score *score, unsigned above, unsigned family,
			enum outcome outcome)
{
	float success = score->result / (1.0f + (float)family / 8), again = 1.0f;
	for (unsigned n = above; n > 0; n /= 2)
		again += AGAIN;
	for (unsigned n = above ? family : 0; n > 1; n /= 2)
		again += OF_MANY;
	float failure = score->score / again;
	if (outcome == OUTCOME_SUCCESS)
		failure = 0;
	if (outcome == OUTCOME_FAILURE || success < RESULT_LEAST)
		success = 0;
	return failure > success ? failure : success;
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint64_t told = 0; /* the last line that tells of a failure */
	uint8_t above[1 << SEEN_BITS] = {0};
	if (outcome == OUTCOME_FAILURE)
		raise_warnings(store);
	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = store->lines[i].owner = 0;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		if (line->score.score == 0 && line->score.result == 0)
			continue;
		bool is_new = s->compared && !line->normal;
		/* What a run that went well has not said is counted apart. */
		uint32_t family = line->score.family ^ (is_new ? 0x5BD1E995u : 0);
		uint8_t *count = &above[(family * 2654435769u) >> (32 - SEEN_BITS)];
		float weight = own_weight(&line->score, *count,
					  sketch_count(&s->sketch, line->score.family), outcome);
		float from_end = (float)(bytes - line->line.offset);
		weight *= 1.0f + END_FAVOUR / (1.0f + from_end / END_REACH);
		*count += *count < UINT8_MAX;
		if (s->compared)
			weight *= line->normal ? OF_NORMAL : OF_NEWS;
		if (line->score.score >= SCORE_TELLING) {
			weight *= line->line.number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = line->line.number;
		}
		/* The weight from the neighbours counts half. */
		if (weight * UNIT > line->value / 2.0f)
			line->owner = 0;
		unsigned value = line->value / 2u + (unsigned)(weight * UNIT);
		line->value = (uint16_t)(value < STORE_VALUES ? value : STORE_VALUES - 1);
		if (line->score.score >= SCORE_TELLING && outcome != OUTCOME_SUCCESS) {
			lift_neighbours(store, i, true, weight);
			lift_neighbours(store, i, false, weight);
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
