// Searches text for fragments of the words that tell of failures, at the speed
// of memory, and counts newlines on the way. Case of ASCII letters is ignored.
//
// It looks at four bytes at a time, half a byte through a table of sixteen each
// (the "Teddy" method of Hyperscan), 32 positions at once where the processor
// can; elsewhere byte by byte through tables of 256.
#ifndef TERSE_PREVIEW_PREFILTER_H
#define TERSE_PREVIEW_PREFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCOUT_LEN = 4, SCOUT_GROUPS = 8, SCOUT_MAX = 16 };

struct scout {
	/* For each byte of a fragment: the groups that may have it there. */
	uint8_t low[SCOUT_LEN][16], high[SCOUT_LEN][16];
	uint32_t fragments[SCOUT_GROUPS][SCOUT_MAX];
	uint8_t counts[SCOUT_GROUPS];
	bool wide;
};

void scout_init(struct scout *s);

/* Has it look for the first SCOUT_LEN bytes of `text` too; nothing when there are too many. */
void scout_add(struct scout *s, const char *text);

/* Returns where the first fragment starts, which has no newline in it, or `len`, and adds the
   newlines in front of it to *newlines. */
size_t scout_find(const struct scout *s, const char *data, size_t len, size_t *newlines);

#endif
