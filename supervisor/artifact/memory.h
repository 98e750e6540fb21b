// What a session remembers of the lines that its reader was shown: by their fingerprints
// (lib/fingerprint.h), and where they stand.
//
//   SESSION/memory   a block for each run, the newest last: struct memory_head, then its lines
//
// Each block has a check. A file with anything else in it is ignored, and written anew with the
// next block. It is bounded: when it is full, the oldest blocks go. A block is appended under a
// lock, so that of two runs that end at the same time both count.
#ifndef TERSE_ARTIFACT_MEMORY_H
#define TERSE_ARTIFACT_MEMORY_H

#include "supervisor/artifact/id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_FILE "memory"

/* Bytes of the file at most; half of that is left when it was full. */
#define MEMORY_MOST ((size_t)256 * 1024)

/* A line that was shown. */
struct memory_line {
	uint64_t print;  /* fingerprint_masked() */
	uint32_t exact;  /* the low bits of fingerprint_exact() */
	uint32_t number; /* in the text of the run */
};

/* One that is remembered. */
struct memory_entry {
	struct memory_line line;
	uint32_t run; /* index of memory.ids */
};

/* Looked up in constant time: masked, thousands of lines may be one. The entries of a run stand in
   a row, in the reverse of the order in which memory_add() got them. */
struct memory {
	struct memory_entry *entries;
	size_t count;
	uint32_t *newest; /* a hash table by `print`: the newest entry's index + 1, or 0 */
	uint32_t *same;   /* the same by `print` and `exact` */
	unsigned bits;    /* 1 << bits: slots of each table, more than twice the entries */
	char (*ids)[ID_LEN + 1];
	size_t runs;
	size_t size; /* of the file, which was whole; 0: it was not, or there is none */
};

/* Reads the memory of the session directory `dir`: empty where there is none, or none that is
   whole. Returns 0, or -1 with ENOMEM; memory_release() it in any case. */
int memory_read(struct memory *m, int dir);
void memory_release(struct memory *m);

/* The newest entry of a line: the one that is the same in every byte, if there is one. NULL: it was
   not shown. */
const struct memory_entry *memory_find(const struct memory *m, uint64_t print, uint32_t exact);

/* Adds what the run `id` has shown, or as much of it as is half of the file. A file that still has
   the `known` size it was read with (memory.size) is not read again. Returns 0, or -1 with errno.
 */
int memory_add(int dir, const char *id, const struct memory_line *lines, size_t count,
	       size_t known);

/* Forgets the runs with an ID in from..to (packed). Returns 0, or -1 with errno. */
int memory_forget(int dir, uint64_t from, uint64_t to);

#endif
