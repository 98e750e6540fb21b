// What a reader was shown earlier, for whoever chooses what it is shown now.
#ifndef TERSE_LIB_RECALL_H
#define TERSE_LIB_RECALL_H

#include <stddef.h>
#include <stdint.h>

/* Where a line was shown. */
struct recall_place {
	const char *id; /* the run; NULL: its text can't be read any more. The same pointer for all
			   lines of one run */
	uint64_t line;
};

enum recall_found {
	RECALL_NEW,
	RECALL_MASKED, /* it differs in numbers and the like (lib/fingerprint.h) */
	RECALL_SAME,   /* in every byte */
};

struct recall {
	/* Lines are given without their newline. */
	enum recall_found (*find)(void *ctx, const char *line, size_t len,
				  struct recall_place *where);
	/* Line `number` is shown now. */
	void (*shown)(void *ctx, const char *line, size_t len, uint64_t number);
	void *ctx;
};

#endif
