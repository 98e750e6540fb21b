#include "supervisor/preview/smart.h"

#include <string.h>

enum {
	BEHIND = 14, /* lines behind a telling one that it lifts */
	BEFORE = 16,
	SEEN_BITS = 12,
};

/* How much of its weight a line keeps when its shape occurs so often. */
static float rarity(unsigned count)
{
	static const struct {
		unsigned most;
		float factor;
	} steps[] = {
		{1, 1.0f}, {4, 0.95f}, {16, 0.85f}, {64, 0.7f}, {256, 0.5f},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (count <= steps[i].most)
			return steps[i].factor;
	}
	return 0.3f;
}

/* The same for the lines of one shape, in order. */
static float repeated(unsigned before)
{
	static const float factors[] = {1.0f, 0.6f, 0.45f, 0.35f, 0.3f};
	enum { COUNT = sizeof(factors) / sizeof(*factors) };

	return factors[before < COUNT ? before : COUNT - 1];
}

static float familiarity(unsigned count)
{
	static const struct {
		unsigned most;
		float factor;
	} steps[] = {
		{4, 1.0f},
		{16, 0.9f},
		{64, 0.75f},
		{256, 0.6f},
	};

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (count <= steps[i].most)
			return steps[i].factor;
	}
	return 0.45f;
}

/* What a line tells of a failure. */
static float failure_value(const struct smart *s, const struct stored *line, unsigned before,
			   unsigned relatives, uint64_t bytes)
{
	float value = line->score;
	float from_end = (float)(bytes - line->offset);

	value *= rarity(sketch_count(&s->sketch, line->shape)) * repeated(before);
	if (relatives >= 2)
		value *= familiarity(sketch_count(&s->sketch, line->family));
	return value * (1.0f + 0.4f / (1.0f + from_end / 16000.0f));
}

/* What it tells of a success; results are few and near the end. */
static float success_value(const struct smart *s, const struct stored *line, unsigned before,
			   uint64_t bytes)
{
	float value = line->result;
	float from_end = (float)(bytes - line->offset);
	unsigned count = sketch_count(&s->sketch, line->family);

	value *= repeated(before) * (count <= 2 ? 1.0f : count <= 8 ? 0.6f : 0.2f);
	return value < 15.0f ? 0 : value * (1.0f + 1.0f / (1.0f + from_end / 16000.0f));
}

static void lift(struct stored *line, float value)
{
	unsigned v = (unsigned)(value * 6.0f);

	if (line->kind == SALIENCE_BLANK)
		return;
	if (line->kind == SALIENCE_FRAME || line->kind == SALIENCE_PASS)
		v /= 3;
	if (v > line->value)
		line->value = (uint16_t)v;
}

/* Lifts the lines that belong to line i: those behind it, the one that begins its
   paragraph, and those above it that are indented less. */
static void spread(struct store *store, size_t i, float value)
{
	const struct stored *line = &store->lines[i];
	float behind = value * (line->opens ? 0.8f : 0.5f), above = value * 0.5f,
	      before = value * 0.4f;
	unsigned indent = line->indent;
	bool paragraph = true;

	for (size_t k = 1; k <= BEHIND && i + k < store->count; k++) {
		struct stored *other = &store->lines[i + k];

		if (other->number != line->number + k)
			break;
		if (other->kind == SALIENCE_BLANK)
			behind *= 0.75f;
		else
			behind *= line->opens ? 0.93f : other->indent > line->indent ? 0.9f : 0.84f;
		lift(other, behind);
	}
	for (size_t k = 1; k <= BEFORE && k <= i; k++) {
		struct stored *other = &store->lines[i - k];

		if (other->number + k != line->number)
			break;
		if (other->kind == SALIENCE_BLANK) {
			if (paragraph && k > 1)
				lift(&store->lines[i - k + 1], value * 0.55f);
			paragraph = false;
			continue;
		}
		before *= 0.65f;
		lift(other, before);
		if (other->indent < indent) {
			indent = other->indent;
			lift(other, above);
			above *= 0.6f;
		}
	}
}

void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome)
{
	struct store *store = &s->store;
	uint8_t seen[1 << SEEN_BITS] = {0}, related[1 << SEEN_BITS] = {0};

	for (size_t i = 0; i < store->count; i++)
		store->lines[i].value = 0;
	for (size_t i = 0; i < store->count; i++) {
		struct stored *line = &store->lines[i];
		uint8_t *times = &seen[(line->shape * 2654435769u) >> (32 - SEEN_BITS)];
		uint8_t *relatives = &related[(line->family * 2654435769u) >> (32 - SEEN_BITS)];
		float value, result;

		if (line->score == 0 && line->result == 0)
			continue;
		value = outcome == OUTCOME_SUCCESS
				? 0
				: failure_value(s, line, *times, *relatives, bytes);
		result = outcome == OUTCOME_FAILURE ? 0 : success_value(s, line, *times, bytes);
		if (result > value)
			value = result;
		if (*times < UINT8_MAX)
			(*times)++;
		if (*relatives < UINT8_MAX)
			(*relatives)++;
		if (value > 150.0f)
			value = 150.0f;
		/* What the lines around gave counts half. */
		line->value = (uint16_t)((float)(line->value / 2) + value * 6.0f);
		if (line->value >= STORE_VALUES)
			line->value = STORE_VALUES - 1;
		if (line->score >= 20 && outcome != OUTCOME_SUCCESS)
			spread(store, i, value);
	}
}
