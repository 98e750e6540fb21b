// The lines that may be worth showing, with their texts, in constant memory.
// When it is full, the least telling ones are dropped.
#ifndef TERSE_PREVIEW_STORE_H
#define TERSE_PREVIEW_STORE_H

#include "supervisor/preview/line.h"
#include "supervisor/preview/salience.h"
#include "supervisor/preview/sketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORE_LINES = 6144,
	STORE_BYTES = 448 * 1024,
	STORE_FRONT = 640, /* bytes kept of a long line's start ... */
	STORE_BACK = 256,  /* ... and of its end, or of where it tells most */
	STORE_VALUES = 1024,
};

struct stored {
	uint64_t number, offset, length;
	uint32_t text; /* where its bytes are: front, then back */
	uint32_t shape, family;
	uint16_t front_len, back_len;
	uint32_t after;                      /* see struct line */
	uint8_t kind, score, result, indent; /* of struct salience */
	bool ended, opens;
	uint16_t value; /* below STORE_VALUES; set by whoever weighs */
};

struct store {
	struct stored *lines; /* by number */
	size_t count;
	char *text;
	size_t used;
};

int store_init(struct store *s);
void store_release(struct store *s);

/* Whether one more line fits for sure. */
bool store_has_room(const struct store *s);

/* Adds a line behind the others; there must be room. */
void store_add(struct store *s, const struct line *line, const struct salience *salience);

/* Drops about half of it: the lines of least value and, among equals, the later. */
void store_halve(struct store *s);

/* The least value at which no more than `count` lines are as good or better. */
unsigned store_rank(const struct store *s, size_t count);

/* The line as it was added. */
void store_line(const struct store *s, size_t index, struct line *line);

#endif
