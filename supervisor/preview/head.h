// How much text there is, and where its first part begins.
#ifndef TERSE_PREVIEW_HEAD_H
#define TERSE_PREVIEW_HEAD_H

#include "config/limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Counts a text that comes in pieces: its bytes, lines, and units of its limit (config/limit.h). */

/* Bytes that are kept of an unfinished line: enough to see whether it counts as a unit. */
#define TALLY_FRONT 16

struct tally {
	enum unit unit;
	uint64_t bytes, lines, units; /* `lines` and `units` lack an unfinished last line */
	uint64_t length;              /* bytes of the unfinished last line */
	char front[TALLY_FRONT];      /* its first bytes; the last element is its last byte so
					 far */
};

/* Counts the next bytes of the text. A new tally is zeroed except for `unit`. */
void tally_feed(struct tally *t, const char *data, size_t len);

/* Counts `bytes` bytes that are missing from the text, which had this many newlines. */
void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines);

/* Lines and units so far, the unfinished line included. */
uint64_t tally_lines(const struct tally *t);
uint64_t tally_units(const struct tally *t);

/* How much of a text is printed before it turns out not to fit. */
struct head_place {
	uint64_t bytes, lines, units;
};

#endif
