// Which lines of two sequences belong together, by their fingerprints (lib/fingerprint.h): the
// lines that both have exactly once are the frame, in the longest order that both share (Bram
// Cohen's patience diff); between them the same again. Where no line is unique the rarest ones
// decide (as in the histogram diff of JGit), and where none is rare the shortest way. Memory is
// linear, and so is time, nearly: past a bound what is left counts as different.
#ifndef TERSE_COMPARE_ALIGN_H
#define TERSE_COMPARE_ALIGN_H

#include <stddef.h>
#include <stdint.h>

/* Lines a..a+len-1 of the first are lines b..b+len-1 of the second, counted from 0. */
struct align_run {
	uint32_t a, b, len;
};

struct align {
	const uint64_t *a, *b; /* set by the owner, and the same as long as it is used */
	uint32_t a_count, b_count;
	struct align_run *runs; /* in order, none next to another; the result */
	size_t count, cap;

	/* Used while it is made: */
	struct align_slot *slots; /* the lines of a part, by fingerprint */
	size_t slot_count;
	struct align_part *parts; /* to be dealt with */
	size_t part_count, part_cap;
	uint64_t work;
};

/* Fills in the runs of an align that is zeroed but for the sequences. Returns 0, or -1 with ENOMEM;
   align_release() it in any case. */
int align_make(struct align *m);

void align_release(struct align *m);

#endif
