// Which part of a text that is over its disk cap stays: the first half of the cap,
// and behind it a tail that rolls. Only numbers, no files.
//
// The tail moves on by whole steps from line start to line start, so a mark (offset
// and line number) is kept for each step while the text passes. Where a line is longer
// than that, the cut is inside the line.
#ifndef TERSE_ARTIFACT_CAP_H
#define TERSE_ARTIFACT_CAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAP_MIN   4096 /* smaller caps are taken as this */
#define CAP_STEPS 8    /* in the tail */
#define CAP_MARKS (2 * CAP_STEPS)

struct cap_mark {
	uint64_t offset, line; /* line number `line` starts at `offset` */
};

struct cap {
	uint64_t head, tail, step;        /* bytes; head 0: no cap */
	struct cap_mark marks[CAP_MARKS]; /* behind the gap, ascending */
	size_t mark_count;
	uint64_t next; /* the next mark is the first line start from here on */

	/* The gap, empty (begin == end) until it is needed. */
	uint64_t begin, end; /* offsets */
	uint64_t from, to;   /* lines it has a part of */
	bool whole;          /* a line starts at `end`; false: the rest of line `to` */
};

/* 0: no cap. */
void cap_init(struct cap *c, uint64_t max_bytes);

/* How many of the next `len` bytes may be passed at once, when `bytes` have been. */
size_t cap_piece(const struct cap *c, uint64_t bytes, size_t len);

/* To be called before `len` bytes (a result of cap_piece) are passed; `bytes` and `lines`
   (newlines) have been. Returns true when the gap was made or grew. */
bool cap_make_room(struct cap *c, uint64_t bytes, uint64_t lines, size_t len);

/* The same bytes have been passed; `bytes` and `lines` are from before them. */
void cap_pass(struct cap *c, uint64_t bytes, uint64_t lines, const char *data, size_t len);

/* The head is complete: where it ends and the line that starts (or goes on) there. */
void cap_end_head(struct cap *c, uint64_t offset, uint64_t line);

#endif
