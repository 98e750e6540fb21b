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

enum { PREFILTER_LEN = 4, PREFILTER_GROUPS = 8, PREFILTER_MAX = 16 };

struct prefilter {
	/* For each byte of a fragment: the groups that may have it there. */
	uint8_t low[PREFILTER_LEN][16], high[PREFILTER_LEN][16];
	uint32_t fragments[PREFILTER_GROUPS][PREFILTER_MAX];
	uint8_t counts[PREFILTER_GROUPS];
	bool wide;
};

void prefilter_init(struct prefilter *s);

/* Has it look for the first PREFILTER_LEN bytes of `text` too; nothing when there are too many. */
void prefilter_add(struct prefilter *s, const char *text);

/* Returns where the first fragment starts, which has no newline in it, or `len`, and adds the
   newlines in front of it to *newlines. */
size_t prefilter_find(const struct prefilter *s, const char *data, size_t len, size_t *newlines);

#endif
