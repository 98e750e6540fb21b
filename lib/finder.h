// Byte strings that a line has to hold one of to match a pattern, so that most lines
// are passed over without trying the pattern on them.
#ifndef TERSE_LIB_FINDER_H
#define TERSE_LIB_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	LITERAL_LEN = 48,  /* bytes of one */
	LITERALS_MAX = 16, /* of a set */
};

struct literal {
	unsigned char len;
	char bytes[LITERAL_LEN];
	uint64_t fold; /* bit i: byte i is a lower-case ASCII letter that stands for both cases */
};

/* Strings, at least one of which has to be there. None: nothing is known. */
struct literal_set {
	unsigned count;
	struct literal items[LITERALS_MAX];
};

/* Adds those of `b` to `a`. Returns false (and leaves `a`) when there are too many. */
bool literal_set_join(struct literal_set *a, const struct literal_set *b);

/* How rare a byte is in logs, source code and prose: twice the bits of information it
   has (5 for a blank, 30 for what hardly ever occurs). */
unsigned literal_byte_rarity(unsigned char byte, bool fold);

/* How rare it is that one of the set is met, on the same scale; 0: useless (an empty
   string is among them, or there is none). */
unsigned literal_set_rarity(const struct literal_set *s);

// Finds where one of a few byte strings occurs in a text, at near memory speed: it looks for
// two of the rarest bytes of each at their distance, sixteen places at a time.
//
// (Two bytes instead of one as in W. Mula, "SIMD-friendly algorithms for substring
// searching", http://0x80.pl/articles/simd-strfind.html.)

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
