#include "supervisor/preview/store.h"

#include <stdlib.h>
#include <string.h>

int store_init(struct store *s)
{
	*s = (struct store){0};
	s->lines = malloc(STORE_LINES * sizeof(*s->lines));
	s->text = malloc(STORE_BYTES);
	if (!s->lines || !s->text) {
		store_release(s);
		return -1;
	}
	return 0;
}

void store_release(struct store *s)
{
	free(s->lines);
	free(s->text);
	*s = (struct store){0};
}

bool store_has_room(const struct store *s)
{
	return s->count < STORE_LINES && STORE_BYTES - s->used >= STORE_FRONT + STORE_BACK;
}

void store_add(struct store *s, const struct line *line, const struct salience *salience)
{
	struct stored *d = &s->lines[s->count++];
	const char *front = line->front, *back = line->back;
	size_t front_len = line->front_len, back_len = line->back_len, after = line->after;

	if (line_is_whole(line) && front_len > STORE_FRONT + STORE_BACK) {
		size_t body = front_len - line->ended;
		size_t end = salience->focus ? salience->focus + STORE_FRONT : body;

		/* Around the focus more is kept than of the start. */
		if (end > body)
			end = body;
		front_len = salience->focus ? STORE_BACK : STORE_FRONT;
		back_len = STORE_FRONT + STORE_BACK - front_len;
		back = front + end - back_len;
		after = body - end;
	} else if (!line_is_whole(line)) {
		if (front_len > STORE_FRONT)
			front_len = STORE_FRONT;
		if (back_len > STORE_BACK) {
			back += back_len - STORE_BACK;
			back_len = STORE_BACK;
		}
	}
	*d = (struct stored){.number = line->number,
			     .offset = line->offset,
			     .length = line->length,
			     .text = (uint32_t)s->used,
			     .shape = salience->shape,
			     .family = salience->family,
			     .front_len = (uint16_t)front_len,
			     .back_len = (uint16_t)back_len,
			     .after = (uint32_t)after,
			     .kind = (uint8_t)salience->kind,
			     .score = (uint8_t)salience->score,
			     .result = (uint8_t)salience->result,
			     .indent = (uint8_t)(salience->indent < 255 ? salience->indent : 255),
			     .ended = line->ended,
			     .opens = salience->opens};
	memcpy(s->text + s->used, front, front_len);
	if (back_len)
		memcpy(s->text + s->used + front_len, back, back_len);
	s->used += front_len + back_len;
}

static size_t text_len(const struct stored *line)
{
	return (size_t)line->front_len + line->back_len;
}

/* The highest value at which the lines above it, and not all of those at it, fit
   into half of the store. *ties is how many of those at it fit too. */
static unsigned middle_value(const struct store *s, size_t *ties)
{
	uint32_t lines[STORE_VALUES] = {0}, bytes[STORE_VALUES] = {0};
	size_t room_lines = STORE_LINES / 2, room_bytes = STORE_BYTES / 2;
	unsigned value = STORE_VALUES - 1;

	for (size_t i = 0; i < s->count; i++) {
		lines[s->lines[i].value]++;
		bytes[s->lines[i].value] += (uint32_t)text_len(&s->lines[i]);
	}
	while (lines[value] <= room_lines && bytes[value] <= room_bytes) {
		room_lines -= lines[value];
		room_bytes -= bytes[value];
		if (value == 0)
			break;
		value--;
	}
	*ties = room_bytes / (STORE_FRONT + STORE_BACK);
	if (*ties > room_lines)
		*ties = room_lines;
	return value;
}

void store_halve(struct store *s)
{
	size_t kept = 0, used = 0, ties;
	unsigned least = middle_value(s, &ties);

	for (size_t i = 0; i < s->count; i++) {
		struct stored line = s->lines[i];
		size_t len = text_len(&line);

		if (line.value < least || (line.value == least && ties == 0))
			continue;
		ties -= line.value == least;
		memmove(s->text + used, s->text + line.text, len);
		line.text = (uint32_t)used;
		used += len;
		s->lines[kept++] = line;
	}
	s->count = kept;
	s->used = used;
}

unsigned store_rank(const struct store *s, size_t count)
{
	uint32_t lines[STORE_VALUES] = {0};
	unsigned value = STORE_VALUES;

	for (size_t i = 0; i < s->count; i++)
		lines[s->lines[i].value]++;
	while (value > 0 && lines[value - 1] <= count)
		count -= lines[--value];
	return value;
}

void store_line(const struct store *s, size_t index, struct line *line)
{
	const struct stored *d = &s->lines[index];

	*line = (struct line){.number = d->number,
			      .offset = d->offset,
			      .length = d->length,
			      .ended = d->ended,
			      .front = s->text + d->text,
			      .front_len = d->front_len,
			      .back = s->text + d->text + d->front_len,
			      .back_len = d->back_len,
			      .after = d->after,
			      .around = d->after > 0};
}
