// A text of a comparison, read forward line by line, or by bytes where that is enough. A part that
// was not kept (artifact/text.h) is one line, which has the numbers of all of its lines.
#ifndef TERSE_COMPARE_SIDE_H
#define TERSE_COMPARE_SIDE_H

#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct side {
	struct text *text; /* not owned */
	bool exact;        /* nothing is masked */
	char *block;
	size_t room;     /* of the block */
	size_t len, at;  /* bytes of the block; those that are passed */
	uint64_t offset; /* of the block in the file */
	uint64_t number; /* of the next line */
	bool ended;      /* nothing comes behind the block, ... */
	bool has_gap;    /* ... or this does */
	struct text_piece gap;
};

struct side_line {
	uint64_t print;  /* its fingerprint ... */
	uint64_t bytes;  /* ... and that of all its bytes */
	uint64_t number; /* 1-based */
	uint64_t offset; /* of its first byte in the file */
};

/* Begins at the first line. Returns 0, or -1 with errno; side_release() it in any case. */
int side_init(struct side *s, struct text *text, bool exact);
void side_release(struct side *s);

/* The place of the next line, and back to it. */
uint64_t side_offset(const struct side *s);
void side_seek(struct side *s, uint64_t offset, uint64_t number);

/* The next line. Returns 1, 0 at the end, or -1 with errno. */
int side_next(struct side *s, struct side_line *line);

/* The bytes at hand, from the next line on; 0: none, at the end or in front of a gap. Returns 0,
   or -1 with errno. */
int side_look(struct side *s, const char **data, size_t *len);

/* Passes over bytes of these, whole lines, in which there are so many newlines. */
void side_pass(struct side *s, size_t len, uint64_t newlines);

#endif
