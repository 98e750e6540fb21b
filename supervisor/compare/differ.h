// In which lines two texts differ.
//
// The equal bytes at their beginning are passed over. The rest, up to DIFFER_LINES lines of each
// text, is aligned, so that as few differing lines as possible are reported, where that is
// affordable.
//
// Lines are compared by fingerprints (lib/fingerprint.h); with `exact` every byte counts. A missing
// newline at the end of a text always does. A part that was not kept is one line, which has the
// numbers of all of its lines.
#ifndef TERSE_COMPARE_DIFFER_H
#define TERSE_COMPARE_DIFFER_H

#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stdint.h>

#define DIFFER_LINES ((uint32_t)1 << 20)

/* Lines of one text: `count` lines from number `from` on, and their bytes in the file. With count
   0, the other text has lines in front of line `from`. */
struct differ_lines {
	uint64_t from, count;
	uint64_t offset, end;
};

struct differ_change {
	struct differ_lines lines[2]; /* of the first text, of the second */
};

/* Facts about both texts as a whole. */
struct differ_facts {
	bool same;       /* all lines are the same in every byte, and all were kept */
	uint64_t masked; /* pairs of lines that count as the same and are not, in every byte */
};

struct differ {
	struct text *texts[2];
	bool exact;
	/* Called for each place in order. Anything but 0 ends the comparison. It may move in the
	   texts. */
	int (*change)(void *ctx, const struct differ_change *change);
	void *ctx;
	struct differ_facts *facts;
};

/* Returns 0, what `change` returned, or -1 with errno: EFBIG, there are more lines than are
 * aligned. */
int differ_run(const struct differ *d);

#endif
