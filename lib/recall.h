// What a reader was shown earlier, for whoever chooses what it is shown now.
#ifndef TERSE_LIB_RECALL_H
#define TERSE_LIB_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a line was shown. */
struct recall_place {
	const char *id; /* the run; NULL: its text can't be read any more. The same pointer for all
			   lines of one run */
	uint64_t line;
	size_t mark; /* of the recall's own */
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
	/* Whether a line is, in every byte, the one that was shown right below `where`, which is
	   then that line's place. */
	bool (*follows)(void *ctx, struct recall_place *where, const char *line, size_t len);
	/* Line `number` is shown now. */
	void (*shown)(void *ctx, const char *line, size_t len, uint64_t number);
	/* No line behind `last` was shown after all. */
	void (*until)(void *ctx, uint64_t last);
	void *ctx;
};

#endif
