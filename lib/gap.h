// A part of a text that is not on disk, and the one wording of it.
#ifndef TERSE_LIB_GAP_H
#define TERSE_LIB_GAP_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

struct gap {
	uint64_t from, to; /* lines it has a part of, from 1; 0: the last bytes of no text */
	uint64_t bytes;
	int error; /* of the write they were lost by; 0: the disk cap */
};

/* The gaps of a text: at most one of the disk cap, and an end that was lost. */
struct gaps {
	struct gap items[2];
	int count;
};

/* In place of an errno: nobody wants text to be kept. */
#define GAP_NEVER ECANCELED

/* Why text is not kept: of an errno, or 0 for the disk cap. */
const char *gap_reason(int error);

#define GAP_ANNOUNCE_MAX 192

/* "lines 5,001-9,000 (4,000, 1.2 MB) not kept: over the disk cap ([spill] max_artifact)",
   or "the last 1.2 MB not kept: ...", NUL-terminated. Returns the length, under
   GAP_ANNOUNCE_MAX. */
size_t gap_describe(char out[GAP_ANNOUNCE_MAX], const struct gap *gap);

/* The same in brackets, "[... ...]", as a line: newline included. */
size_t gap_announce(char out[GAP_ANNOUNCE_MAX], const struct gap *gap);

/* Appends it as an object in JSON, {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap"},
   with a comma before it where one is needed; or without its end, for more members. */
void gap_begin_json(struct buffer *out, const struct gap *gap);

/* Appends the member "gaps", an array of them, if there are any. */
void gap_append_member(struct buffer *out, const struct gaps *gaps);

#endif
