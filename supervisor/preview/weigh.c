// Weighs the stored lines: each by what it says; less if many lines say the same, or if a run that
// went well said it, too; more if its neighbours tell something.

#include "supervisor/preview/internal.h"

#include <stdlib.h>

/* Found by measuring on labelled logs; none of them is critical. */
enum {
	UNIT = 6,       /* of a stored value, for one of a score */
	SEEN_BITS = 12, /* of the table of families above */
	QUIET = 30,     /* lines without one that tells of a failure */
	SLOT_BITS = 13, /* of the table of fingerprints: more than the stored lines */
};

/* The end is favoured: it counts twice, and one and a half times so many bytes above. */
static const float END_REACH = 16000.0f;
/* How fast further lines of a family tell less, with those above and with all of them. */
static const float AGAIN = 0.32f;
/* Left for what a run that went well has said, too. */
static const float OF_NORMAL = 0.15f;
/* The share of its weight that a line hands on to the next ones, and to those above, and what is
   left of it at the next line, and at one that belongs to it. Values that were expected and quoted
   source take nothing of it: they are one with their message. */
static const float TO_BEHIND = 0.85f, TO_BEFORE = 0.4f, NEXT = 0.7f, OWN = 0.8f;
static const float AFTER_QUIET = 1.3f; /* for the first telling line after many that are not */

/* Whether a frame of a stack is in code that the user has not written. */
static bool is_foreign(const struct line *frame)
{
	static const char *const places[] = {"node_modules", "-packages/", "/lib/", "/usr/",
					     "/gems/",       "/rustc/",    "node:", "internal/",
					     "java.",        "jdk.",       "sun.",  "scala.",
					     "org.junit",    "org.gradle"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (memmem(frame->front, frame->front_len, places[i], strlen(places[i])))
			return true;
	}
	return false;
}

/* Whether a line tells nothing without the message above it. */
static bool is_part(const struct score *score, const struct score *message)
{
	return score->kind == SCORE_DETAIL || score->kind == SCORE_QUOTE ||
	       score->kind == SCORE_FRAME ||
	       (score->score < SCORE_TELLING && score->indent > message->indent);
}

/* Hands a share of a line's weight on to those below it, or above it: they have at least that. What
   a status tells of is above, as what other lines tell of is below. */
static void lift_neighbours(struct store *store, size_t i, bool below, float weight)
{
	struct stored *line = &store->lines[i];
	const struct score *message = &line->trait.score;
	float share = weight * (below || message->ends ? TO_BEHIND : TO_BEFORE);
	size_t most = below ? store->count - 1 - i : i;
	for (size_t k = 1; share >= 1 && k <= most; k++) {
		struct stored *other = below ? line + k : line - k;
		struct trait *t = &other->trait;
		enum score_kind kind = (enum score_kind)t->score.kind;
		const struct run *r = &other->run;
		if (below ? r[0].line.number != other[-1].run.to + 1
			  : r->to + 1 != other[1].run.line.number)
			break;
		if (r->kind)
			break;
		if (kind == SCORE_BLANK) {
			share *= below ? NEXT : 1;
			continue;
		}
		if (t->foreign || (!below && kind == SCORE_PASS))
			continue;
		bool owns = below ? t->score.indent > message->indent : !message->ends;
		if (kind != SCORE_DETAIL && kind != SCORE_QUOTE)
			share *= owns ? OWN : NEXT;
		unsigned value = (unsigned)(share * UNIT);
		value = (unsigned)size_min(value, STORE_VALUES - 1);
		if (value <= t->value)
			continue;
		t->value = value;
		t->owner = t->frame && t->frame != other->run.line.number ? t->frame
			   : below && is_part(&t->score, message)         ? line->run.line.number
									  : 0;
	}
}

/* Where warnings alone have failed the run ("Failing due to -Werror"), they tell as much as errors.
 */
static void raise_warnings(struct store *store)
{
	bool raised = false;
	for (size_t i = store->count; i-- > 0;) {
		const struct line *line = &store->lines[i].run.line;
		struct score *score = &store->lines[i].trait.score;
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
		again += AGAIN;
	float failure = score->score / again;
	if (outcome == OUTCOME_SUCCESS)
		failure = 0;
	if (outcome == OUTCOME_FAILURE || success < RESULT_MADE * 3 / 4)
		success = 0;
	return failure > success ? failure : success;
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint64_t told = 0; /* the last line that tells of a failure */
	uint8_t above[1 << SEEN_BITS] = {0};
	const struct stored *frame = NULL;
	if (outcome == OUTCOME_FAILURE)
		raise_warnings(store);
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct trait *t = &line->trait;
		*t = (struct trait){.score = t->score,
				    .threads = t->threads,
				    .common = smart_is_common(s, &t->score)};
		/* The source below a frame is of it. */
		if (t->score.kind == SCORE_FRAME)
			frame = line;
		else if (frame && t->score.indent <= frame->trait.score.indent)
			frame = NULL;
		t->frame = frame ? frame->run.line.number : 0;
		t->foreign =
			frame == line ? is_foreign(&line->run.line) : frame && frame->trait.foreign;
	}
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		struct trait *t = &line->trait;
		const bool tells = t->score.score >= SCORE_TELLING;
		if (t->score.score == 0 && t->score.result == 0)
			continue;
		bool is_new = s->compared && !line->normal;
		/* What a run that went well has not said is counted apart. */
		uint32_t family = t->score.family ^ (is_new ? 0x5BD1E995u : 0);
		uint8_t *count = &above[(family * 2654435769u) >> (32 - SEEN_BITS)];
		float weight = own_weight(&t->score, *count,
					  sketch_count(&s->sketch, t->score.family), outcome);
		const struct run *r = &line->run;
		float from_end = (float)(bytes - r->line.offset - r->length);
		weight *= 1.0f + 1.0f / (1.0f + from_end / END_REACH);
		*count = (uint8_t)size_min(*count + r->to - r->line.number + 1, UINT8_MAX);
		if (s->compared)
			weight *= line->normal ? OF_NORMAL : 1;
		if (tells) {
			weight *= r->line.number > told + QUIET ? AFTER_QUIET : 1.0f;
			told = r->to;
		}
		/* The weight from the neighbours counts half. */
		if (weight * UNIT > (float)t->value / 2)
			t->owner = 0;
		t->value = (unsigned)size_min(t->value / 2 + (size_t)(weight * UNIT),
					      STORE_VALUES - 1);
		for (int below = 1; below >= 0 && tells && outcome != OUTCOME_SUCCESS; below--)
			lift_neighbours(store, i, below, weight);
	}
}

/* Whether a run that went well has said the lines with a fingerprint. */
struct normal {
	uint64_t print; /* 0: the slot is free */
	bool said;
};

/* Of all of a line where that is stored, else of what is. */
static uint64_t stored_print(const struct line *l)
{
	bool newline = line_is_whole(l) && l->ended;
	return fingerprint_masked(l->front, l->front_len + l->back_len - newline);
}

/* The slot of a fingerprint, or a free one. */
static struct normal *normal_slot(struct normal *slots, uint64_t print)
{
	size_t i = (print * 0x9E3779B97F4A7C15u) >> (64 - SLOT_BITS);
	while (slots[i].print && slots[i].print != print)
		i = (i + 1) % (1 << SLOT_BITS);
	return &slots[i];
}

int smart_compare(struct smart *s, const struct fingerprints *success)
{
	struct normal *slots = calloc(1 << SLOT_BITS, sizeof(*slots));
	struct stored *lines = s->store.lines, *end = lines + s->store.count;
	uint64_t print;
	if (!slots)
		return -1;
	for (struct stored *l = lines; l < end; l++) {
		print = stored_print(&l->run.line);
		normal_slot(slots, print)->print = print;
	}
	while (success->next(success->ctx, &print) == 1)
		normal_slot(slots, print)->said = true;
	for (struct stored *l = lines; l < end; l++)
		l->normal = normal_slot(slots, stored_print(&l->run.line))->said;
	s->compared = true;
	free(slots);
	return 0;
}
