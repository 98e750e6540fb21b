// Finds the lines in which two texts differ.
//
// Equal lines at the beginning are skipped. The rest of each text, up to DIFFER_LINES lines, is
// aligned so that few differing lines are reported: the fewest possible, if that doesn't take too
// long.
//
// Lines are compared by fingerprints (lib/fingerprint.h), with `exact` by every byte. A missing
// newline at the end of a text is always a difference. A part that was not kept counts as one line,
// which stands for all lines in it.
#ifndef TERSE_COMPARE_DIFFER_H
#define TERSE_COMPARE_DIFFER_H

#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stdint.h>

#define DIFFER_LINES ((uint32_t)1 << 20)

/* Lines of one text: `count` lines from number `from` on, which are the bytes `offset` to `end` of
   the file. With `count` 0, the other text has more lines before line `from`. */
struct differ_lines {
	uint64_t from, count;
	uint64_t offset, end;
};

struct differ_change {
	struct differ_lines lines[2]; /* of the first text, of the second */
};

/* Facts about both texts as a whole. */
struct differ_facts {
	bool same;       /* both texts are identical, and nothing of them is missing */
	uint64_t masked; /* pairs of lines with equal fingerprints and different bytes */
};

struct differ {
	struct text *texts[2];
	bool exact;
	/* Called for each change in order. A result other than 0 ends the comparison. It may move
	   the texts' positions. */
	int (*change)(void *ctx, const struct differ_change *change);
	void *ctx;
	struct differ_facts *facts;
};

/* Returns 0; what `change` returned; or -1 with errno: EFBIG if there are more than DIFFER_LINES
   lines to align. */
int differ_run(const struct differ *d);

#endif
