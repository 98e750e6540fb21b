#include "supervisor/preview/shape.h"

#include <string.h>

uint32_t shape_hash(uint32_t hash, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)data[i]) * 16777619u;
	return hash;
}

static unsigned slot(uint32_t shape, int row)
{
	static const uint32_t factors[] = {2654435769u, 2246822519u};
	return (shape * factors[row]) >> (32 - SKETCH_BITS);
}

unsigned sketch_count(const struct sketch *s, uint32_t shape)
{
	unsigned a = s->rows[0][slot(shape, 0)];
	unsigned b = s->rows[1][slot(shape, 1)];
	return a < b ? a : b;
}

unsigned sketch_add(struct sketch *s, uint32_t shape)
{
	unsigned least = sketch_count(s, shape);
	if (least == UINT16_MAX)
		return least;
	/* Only the lower one grows: the other has collided. */
	for (int row = 0; row < 2; row++) {
		uint16_t *count = &s->rows[row][slot(shape, row)];
		if (*count == least)
			(*count)++;
	}
	return least + 1;
}

/* A shorter one is of no use. */
enum { STREAK_LEAST = 32 };

static uint64_t streak_length(const struct streak *s)
{
	return s->to - s->from;
}

/* Keeps a streak that has ended if it is one of the longest. */
static void streak_keep(struct streaks *s, const struct streak *ended)
{
	size_t least = 0;
	if (streak_length(ended) < STREAK_LEAST)
		return;
	if (s->count < STREAKS) {
		s->longest[s->count++] = *ended;
		return;
	}
	for (size_t i = 1; i < STREAKS; i++) {
		if (streak_length(&s->longest[i]) < streak_length(&s->longest[least]))
			least = i;
	}
	if (streak_length(ended) > streak_length(&s->longest[least]))
		s->longest[least] = *ended;
}

void streaks_add(struct streaks *s, uint64_t number, uint64_t count, bool goes_on)
{
	uint64_t first = number - count + 1;
	if (first <= s->now.to)
		return;
	if (!goes_on || first != s->now.to + 1) {
		streak_keep(s, &s->now);
		s->now.from = first;
	}
	s->now.to = number;
}

void streaks_add_line(struct streaks *s, const struct line *line, bool goes_on)
{
	if (line->number <= s->now.to)
		return;
	streaks_add(s, line->number, 1, goes_on);
	s->now.len = line->front_len < STREAK_LAST ? line->front_len : STREAK_LAST;
	memcpy(s->now.text, line->front, s->now.len);
	s->now.offset = line->offset;
	s->now.length = line->length;
	s->now.ended = line->ended;
}

static bool streak_holds(const struct streak *s, uint64_t from, uint64_t to)
{
	return from >= s->from && to <= s->to;
}

const struct streak *streaks_find(const struct streaks *s, uint64_t from, uint64_t to)
{
	if (streak_holds(&s->now, from, to))
		return &s->now;
	for (size_t i = 0; i < s->count; i++) {
		if (streak_holds(&s->longest[i], from, to))
			return &s->longest[i];
	}
	return NULL;
}

void streak_last(const struct streak *s, struct line *line)
{
	*line = (struct line){.number = s->to,
			      .offset = s->offset,
			      .length = s->length,
			      .ended = s->ended,
			      .front = s->text,
			      .front_len = s->len};
}
