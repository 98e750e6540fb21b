// Hashes under which lines are counted: how often does a line like this occur?
#ifndef TERSE_PREVIEW_SHAPE_H
#define TERSE_PREVIEW_SHAPE_H

#include "supervisor/preview/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPE_SEED 2166136261u

/* FNV-1a of more bytes behind those of `hash`, which is SHAPE_SEED at first. */
uint32_t shape_hash(uint32_t hash, const char *data, size_t len);

/* Whether a line is the one in front of it but for one counter that went up, and for hashes and
   times; or the same. Lines without words do not count. Both have to be whole. */
bool shape_counts_on(const struct line *before, const struct line *line);

/* How often each shape of line occurred, in constant memory: never too low, and
   too high only when shapes collide in both rows. */

enum { SKETCH_BITS = 14 };

struct sketch {
	uint16_t rows[2][1 << SKETCH_BITS];
};

/* Counts one more and returns the count so far, at most 65535. */
unsigned sketch_add(struct sketch *s, uint32_t shape);
unsigned sketch_count(const struct sketch *s, uint32_t shape);

/* Runs of lines that are alike, known beyond the lines whose texts are kept: the
   longest ones of a text. */

enum { STREAKS = 32, STREAK_LAST = 160 };

/* Lines from..to. */
struct streak {
	uint64_t from, to;
	/* The last of them, where it was given: its first bytes, where it is in the text, and
	   whether they are all of it. */
	char text[STREAK_LAST];
	size_t len;
	uint64_t offset, length;
	bool ended;
};

struct streaks {
	struct streak now; /* ends with the line added last */
	struct streak longest[STREAKS];
	size_t count;
};

/* Adds lines up to `number`, of which there are `count`, `goes_on` when they are like the one in
   front of them. Lines may be left out, which ends a streak; earlier ones are ignored. */
void streaks_add(struct streaks *s, uint64_t number, uint64_t count, bool goes_on);

/* The same for one line, of which the text is kept. */
void streaks_add_line(struct streaks *s, const struct line *line, bool goes_on);

/* The streak that holds these lines, both included, or NULL. */
const struct streak *streaks_find(const struct streaks *s, uint64_t from, uint64_t to);

/* The last line of a streak that was added with its text. */
void streak_last(const struct streak *s, struct line *line);

#endif
