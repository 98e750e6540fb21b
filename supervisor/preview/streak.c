#include "supervisor/preview/streak.h"

#include <string.h>

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
