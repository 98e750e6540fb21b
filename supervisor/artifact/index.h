// ID.idx: where every INDEX_STRIDE-th line of a text starts, so that a reader reaches any line of a
// large text at once.
//
// Format: 8 bytes "terseix1", then little-endian uint64 entries. The low 48 bits of entry k are the
// file offset of line k * INDEX_STRIDE + 1 (entry 0 is 0); the high 16 are a checksum over k and
// the offset. Entries are appended as the text grows; a text of fewer than INDEX_STRIDE lines has
// no index file. If an entry is missing or damaged, the reader scans the text instead.
#ifndef TERSE_ARTIFACT_INDEX_H
#define TERSE_ARTIFACT_INDEX_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_STRIDE 1024

/* The offset of entry k in the file. */
uint64_t index_offset(uint64_t k);

/* The writing side: counts lines and collects entries. A zeroed struct only counts. */
struct index_writer {
	uint64_t bytes; /* fed so far */
	uint64_t lines; /* newlines so far */
	bool indexing;
	struct buffer entries; /* encoded entries that the caller has yet to write; to be
				  released */
};

/* Puts the file's first 8 bytes and entry 0 into `entries`. Returns 0, or -1 with ENOMEM. */
int index_init(struct index_writer *w);

/* Feeds the next bytes of the text. Runs at memory speed. Returns 0, or -1 with errno ENOMEM:
   everything is counted, but an entry is missing. */
int index_feed(struct index_writer *w, const char *data, size_t len);

/* A part of a text: line number `line`, or the rest of it, starts at offset `start`. */
struct index_range {
	uint64_t line, start, end;
};

/* Finds the file offset where 1-based `line` (at least range->line) starts in the part `range` of
   the text `fd`. `idx` is the index file or -1. Returns 0 and sets *offset; or 1 and sets *last to
   the number of the last line of that part (if it is empty, one less than range->line); or -1 with
   errno. With a good index it reads only one entry and at most INDEX_STRIDE lines of text. */
int index_find(int fd, int idx, const struct index_range *range, uint64_t line, uint64_t *offset,
	       uint64_t *last);

#endif
