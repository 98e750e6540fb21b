// See side.h.

#include "supervisor/compare/side.h"

#include "lib/bytes.h"
#include "lib/fingerprint.h"

#include <stdlib.h>
#include <string.h>

/* Small enough for the processor's cache. */
#define BLOCK ((size_t)256 * 1024)

int side_init(struct side *s, struct text *text, bool exact)
{
	*s = (struct side){.text = text, .exact = exact, .room = BLOCK};
	/* One byte more, which is never filled. */
	if (text->size < BLOCK)
		s->room = (size_t)text->size + 1;
	s->block = malloc(s->room);
	if (!s->block)
		return -1;
	side_seek(s, 0, 1);
	return 0;
}

void side_release(struct side *s)
{
	free(s->block);
	s->block = NULL;
}

uint64_t side_offset(const struct side *s)
{
	return s->offset + s->at;
}

void side_seek(struct side *s, uint64_t offset, uint64_t number)
{
	s->number = number;
	if (s->len > 0 && offset >= s->offset && offset - s->offset < s->len) {
		s->at = (size_t)(offset - s->offset);
		return;
	}
	text_seek_byte(s->text, offset);
	s->offset = offset;
	s->len = s->at = 0;
	s->ended = s->has_gap = false;
}

/* Reads on, behind what is not passed yet. */
static int side_fill(struct side *s)
{
	struct text_piece piece;
	memmove(s->block, s->block + s->at, s->len - s->at);
	s->offset += s->at;
	s->len -= s->at;
	s->at = 0;
	while (s->len < s->room && !s->ended && !s->has_gap) {
		if (text_next(s->text, s->block + s->len, s->room - s->len, &piece) < 0)
			return -1;
		s->ended = piece.kind == TEXT_END;
		s->has_gap = piece.kind == TEXT_GAP;
		if (s->has_gap)
			s->gap = piece;
		if (piece.kind == TEXT_BYTES)
			s->len += piece.len;
	}
	return 0;
}

int side_look(struct side *s, const char **data, size_t *len)
{
	if (s->len - s->at < BLOCK / 4 && !s->ended && !s->has_gap && side_fill(s) < 0)
		return -1;
	*data = s->block + s->at;
	*len = s->len - s->at;
	return 0;
}

void side_pass(struct side *s, size_t len, uint64_t newlines)
{
	s->at += len;
	s->number += newlines;
}

/* The gap as a line. What is behind it may be the rest of its last one. */
static void side_take_gap(struct side *s, struct side_line *line)
{
	const struct gap *g = &s->gap.gap;
	line->number = g->from;
	line->print = line->bytes = fingerprint_exact((const char *)&g->bytes, sizeof(g->bytes));
	s->number = g->to + !s->gap.goes_on;
	s->has_gap = false;
	s->len = s->at = 0;
	s->offset = s->text->offset;
}

/* A line that is longer than the block, piece by piece. */
static int side_take_long(struct side *s, struct side_line *line)
{
	for (;;) {
		const char *newline = memchr(s->block + s->at, '\n', s->len - s->at);
		size_t len = newline ? (size_t)(newline - s->block) - s->at : s->len - s->at;
		line->print = (line->print ^ fingerprint_exact(s->block + s->at, len)) * 31 | 1;
		s->at += len + (newline != NULL);
		line->bytes = line->print;
		if (newline || s->ended || s->has_gap)
			return 1;
		if (side_fill(s) < 0)
			return -1;
	}
}

int side_next(struct side *s, struct side_line *line)
{
	const char *newline = memchr(s->block + s->at, '\n', s->len - s->at);
	if (!newline && !s->ended && !s->has_gap) {
		if (side_fill(s) < 0)
			return -1;
		newline = memchr(s->block, '\n', s->len);
	}
	const char *start = s->block + s->at;
	*line = (struct side_line){.number = s->number, .offset = side_offset(s)};
	if (s->at == s->len) {
		if (!s->has_gap)
			return 0;
		side_take_gap(s, line);
		return 1;
	}
	s->number++;
	if (!newline && s->len == s->room && s->at == 0)
		return side_take_long(s, line);
	size_t len = newline ? (size_t)(newline - start) : s->len - s->at;
	line->bytes = fingerprint_exact(start, len);
	line->print = s->exact ? line->bytes : fingerprint_masked(start, len);
	s->at += len + (newline != NULL);
	return 1;
}
