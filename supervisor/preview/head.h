// How much text there is, and where its first part begins.
#ifndef TERSE_PREVIEW_HEAD_H
#define TERSE_PREVIEW_HEAD_H

#include "config/limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How much text there is, in lines and in the unit that its limit counts
   (config/limit.h), while it passes by in pieces. */

/* Kept bytes of an unfinished line: enough to see whether it counts. */
#define TALLY_FRONT 16

struct tally {
	enum unit unit;
	uint64_t bytes, lines, units; /* an unfinished last line is in none of the last two ... */
	uint64_t length;              /* ... but its bytes so far are here */
	char front[TALLY_FRONT];      /* its first bytes; the last of them is the line's last */
};

/* The next bytes of the text. `t` is all zeroes at first except `unit`. */
void tally_feed(struct tally *t, const char *data, size_t len);

/* Passes over missing bytes, which had this many newlines. */
void tally_skip(struct tally *t, uint64_t bytes, uint64_t newlines);

/* Lines and units so far, the unfinished line included. */
uint64_t tally_lines(const struct tally *t);
uint64_t tally_units(const struct tally *t);

/* How much of a text is printed before it turns out not to fit. */
struct head_place {
	uint64_t bytes, lines, units;
};

#endif
