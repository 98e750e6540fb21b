// A part of a text that is not on disk, and the wording for it.
#ifndef TERSE_LIB_GAP_H
#define TERSE_LIB_GAP_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

struct gap {
	uint64_t from, to; /* the first and the last line of which a part is missing, from 1; 0: the
			      last bytes of a stream without lines */
	uint64_t bytes;
	int error; /* errno of the write that failed; 0: the disk cap */
};

/* The gaps of a text: at most one that the disk cap made, and one at the end, for text that could
   not be written. */
struct gaps {
	struct gap items[2];
	int count;
};

/* Stands for an errno where the settings say that no text is kept. */
#define GAP_NEVER ECANCELED

/* Says why text is not kept. `error`: as in struct gap, or GAP_NEVER. */
const char *gap_reason(int error);

#define GAP_ANNOUNCE_MAX 192

/* "lines 5,001-9,000 (4,000, 1.2 MB) not kept: over the disk cap ([spill] max_artifact)",
   or "the last 1.2 MB not kept: ...", NUL-terminated. Returns the length, under
   GAP_ANNOUNCE_MAX. */
size_t gap_describe(char out[GAP_ANNOUNCE_MAX], const struct gap *gap);

/* Writes the same words as a line in brackets, "[... ...]", with its newline. */
size_t gap_announce(char out[GAP_ANNOUNCE_MAX], const struct gap *gap);

/* Begins an object of JSON, {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap", with a
   comma before it where one is needed. The caller adds more members and ends the object. */
void gap_begin_json(struct buffer *out, const struct gap *gap);

/* Appends the member "gaps", an array of such objects, if there are any gaps. */
void gap_append_member(struct buffer *out, const struct gaps *gaps);

#endif
