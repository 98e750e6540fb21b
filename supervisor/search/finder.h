// Finds where one of a few byte strings occurs in a text, at near memory speed: it looks for
// two of the rarest bytes of each at their distance, sixteen places at a time.
//
// (Two bytes instead of one as in W. Mula, "SIMD-friendly algorithms for substring
// searching", http://0x80.pl/articles/simd-strfind.html.)
#ifndef TERSE_SEARCH_FINDER_H
#define TERSE_SEARCH_FINDER_H

#include "supervisor/search/literal.h"

#define FINDER_LANES 16

/* As many bytes as one instruction compares; plain C on machines without such. */
typedef unsigned char finder_lanes __attribute__((vector_size(FINDER_LANES)));

struct finder {
	struct literal_set literals;
	unsigned shortest;
	struct finder_probe {
		unsigned place[2];    /* of the two bytes in the literal */
		finder_lanes byte[2]; /* what they are ... */
		finder_lanes fold[2]; /* ... after this was or-ed to the text */
	} probes[LITERALS_MAX];
};

/* `literals` has at least one, none of them empty. */
void finder_init(struct finder *f, const struct literal_set *literals);

/* The offset from `from` on, at most `len`, where the first of the literals begins, or `len`. Which
   of them is stored in *which. */
size_t finder_find(const struct finder *f, const char *data, size_t from, size_t len,
		   unsigned *which);

/* The offset from `from` on of the first byte that is 0x80 or above, or is `also`; or `len`. */
size_t finder_find_high(const char *data, size_t from, size_t len, unsigned char also);

#endif
