// Which elements of two sequences belong together: the longest common subsequence (Myers, "An
// O(ND) Difference Algorithm and Its Variations", 1986, with the linear memory of its section 4b),
// or nearly that: where sequences differ in too many places, a search ends early and goes on from
// the furthest point that it has reached. What is marked always makes one sequence of the other.
//
// The elements are hashes (lib/fingerprint.h), none of them 0.
#ifndef TERSE_LIB_ALIGN_H
#define TERSE_LIB_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct align_side {
	const uint64_t *hashes;
	uint32_t count;
	bool *alone; /* the result, for each: not in the other sequence; the caller's, zeroed */
};

/* Marks them: what is not marked is the same on both sides, in this order. Time is linear but for
   what both have in another order. Returns 0, or -1 with errno ENOMEM. */
int align_mark(struct align_side *a, struct align_side *b);

#endif
