// The first and the last bytes of a text that is fed in pieces, and its totals.
//
// Costs a count of the newlines and little else, however long the text is. What
// it holds depends on the text only, not on where it was cut when it was fed.
#ifndef TERSE_PREVIEW_WINDOW_H
#define TERSE_PREVIEW_WINDOW_H

#include "supervisor/preview/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	char *head; /* the first head_len bytes */
	size_t head_len, head_cap;
	uint64_t head_end; /* where the line ends that those bytes cut; 0: not known yet */
	char *tail;        /* the last tail_len bytes, of which tail_keep count */
	size_t tail_len, tail_keep;
	uint64_t bytes;
	uint64_t newlines;
	uint64_t last_start; /* where what follows the last newline starts */
	uint64_t prev_start; /* where the line before that starts */
};

/* `head` and `tail` are how many bytes are kept. 0, or -1 with ENOMEM. */
void window_release(struct window *w);

/* The lines at hand, in order: those that begin in the first bytes, then those
   that begin in the last bytes, each once. The last line is always there. Start
   with a zeroed cursor; false at the end. Feeding invalidates the cursor. */
struct window_cursor {
	uint64_t number, offset; /* of the line given last, and behind it */
	bool in_tail;
};

#endif
