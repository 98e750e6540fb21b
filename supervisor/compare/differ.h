// In which lines two texts differ.
//
// Equal bytes are passed at the speed of memory. Where they end, a window of lines of both is
// aligned (align.h); it grows until a run of equal lines shows how the texts go on together. Where
// even the largest one does not, the lines that both have once in all of the rest, as far as a
// sample shows, tell how they go on. So memory is a constant (some 40 MB for the largest windows,
// half a megabyte otherwise), and time is linear.
//
// Lines are compared by fingerprints; with `exact` every byte counts. A missing newline at the end
// of a text does not.
#ifndef TERSE_COMPARE_DIFFER_H
#define TERSE_COMPARE_DIFFER_H

#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Lines of one text: `count` of them from number `from` on (of none: those in front of which
   the other text has some), and their bytes in the file. */
struct differ_lines {
	uint64_t from, count;
	uint64_t offset, end;
};

struct differ_change {
	struct differ_lines lines[2]; /* of the first text, of the second */
};

struct differ {
	struct text *texts[2];
	bool exact;
	/* Called for each place in order. Anything but 0 ends the comparison. It must not move in
	   the texts: what is printed of them is read through others. */
	int (*change)(void *ctx, const struct differ_change *change);
	void *ctx;
	/* Set to true if lines count as equal of which not every byte was compared. May be NULL. */
	bool *masked;
};

/* Returns 0, what `change` returned, or -1 with errno. */
int differ_run(const struct differ *d);

#endif
