// The lines that may be worth showing, with their texts, in constant memory.
// When it is full, the least telling ones are dropped.
#ifndef TERSE_PREVIEW_SMART_H
#define TERSE_PREVIEW_SMART_H

#include "lib/fingerprint.h"
#include "supervisor/preview/line.h"
#include "supervisor/preview/score.h"
#include "supervisor/preview/shape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	STORE_LINES = 5120,
	STORE_BYTES = 288 * 1024,
	STORE_FRONT = 640, /* bytes kept of a long line's start ... */
	STORE_BACK = 256,  /* ... and of its end, or of where it tells most */
	STORE_VALUES = 1024,
};

struct stored {
	uint64_t number, offset, length;
	uint32_t text; /* where its bytes are: front, then back */
	uint32_t shape, family, form;
	uint16_t front_len, back_len;
	uint32_t after;                      /* see struct line */
	uint8_t kind, score, result, indent; /* of struct score */
	bool ended : 1, opens : 1, alarms : 1;
	bool normal : 1; /* a run that went well has said it, too: smart_compare() */
	uint16_t value;  /* below STORE_VALUES; set by whoever weighs */
};

struct store {
	struct stored *lines; /* by number */
	size_t count;
	char *text;
	size_t used;
};

/* The least value at which no more than `count` lines are as good or better. */
unsigned store_rank(const struct store *s, size_t count);

/* Its fingerprint (lib/fingerprint.h), where all of it is stored; else that of what is. */
uint64_t store_print(const struct store *s, size_t index);

/* The line as it was added. */
void store_line(const struct store *s, size_t index, struct line *line);

/* Finds the telling lines of a text while it is fed, and weighs them.

   Every line of the first megabytes is judged; later on only lines in which a
   fast search finds a telling word, and those around them. The result depends on
   the text only, not on where it was cut when it was fed. */

enum { FOUND_BITS = 12 };

struct smart {
	struct keywords keywords;
	struct literals prefilter;
	struct phrases phrases;
	struct sketch sketch;
	struct store store;
	/* Lines that are the same, and lines of one shape: that of the line added last. */
	struct streaks same, alike;
	/* If `counts` is set by the owner: lines of which each counts on (shape_counts_on()). */
	struct streaks counting;
	bool counts;
	uint32_t shape;

	char *block; /* what was fed and is not judged yet, behind some that is */
	size_t len, done;
	uint64_t offset; /* of the block in the text */
	uint64_t number; /* of the line passed last */
	uint64_t stored; /* of the line stored last */
	bool compared;   /* the stored lines, with a run that went well */
	unsigned follow; /* so many more lines are judged in any case */
	/* Lines that were judged in order, and those of them whose form is common. */
	uint64_t judged, regular;
	uint64_t crowded; /* lines whose shape many have */
	/* How often what the fast search finds stood in such surroundings. */
	uint16_t found[1 << FOUND_BITS], found_words[1 << FOUND_BITS];

	/* A line that is too long for the block: what is kept of it. */
	bool in_long;
	uint64_t long_start, long_length;
	char long_text[STORE_FRONT + 2 * STORE_BACK];
};

/* `s` is all zeroes; the lists are those of phrases_init(). 0, or -1 with ENOMEM. */
int smart_init(struct smart *s, char *const *telling, char *const *ignored);
void smart_release(struct smart *s);

/* Returns how many newlines there were so far. */
uint64_t smart_feed(struct smart *s, const char *data, size_t len);

/* Passes over bytes that are not there, as preview_skip(). */
void smart_skip(struct smart *s, uint64_t bytes, uint64_t newlines);

/* Whether many lines have this form; whether most lines have such a form, as those of a run that
   reports its progress. */
bool smart_is_common(const struct smart *s, uint32_t form);
bool smart_is_regular(const struct smart *s);

/* Whether a line of this shape stands out by being like no other in a text of lines that are all
   alike: what a program says in the middle of a table is not of the table. */
bool smart_is_odd(const struct smart *s, uint32_t shape, uint8_t kind);

/* Judges a line. */
void smart_judge(const struct smart *s, const struct line *line, struct score *score);

/* The outcome for which the lines are weighed. */
enum outcome { OUTCOME_UNKNOWN, OUTCOME_SUCCESS, OUTCOME_FAILURE };

/* normal.c: compares the stored lines with those of a run of the same command that went well. What
   that has said, too, is normal: the others tell more. 0, or -1 with ENOMEM. */
int smart_compare(struct smart *s, const struct fingerprints *success);

/* Sets the value of all stored lines, for a text of `bytes` bytes. */
void smart_weigh(struct smart *s, uint64_t bytes, enum outcome outcome);

/* All that is known of a stored line. */
struct trait smart_stored_trait(const struct smart *s, size_t index);

/* The same of a line that is not stored, judged for itself alone. */
void smart_trait(const struct smart *s, const struct line *line, uint64_t bytes,
		 enum outcome outcome, struct trait *trait);

#endif
