// A text on disk as it is read: a stream of an artifact (finished, interrupted, or still
// being written) or any file. Reads forward into the caller's blocks, so memory is
// constant. Lines are numbered from 1, counting those that are not on disk:
//
//   - a gap that the disk cap made: the bytes gap.begin to gap.end are a hole in the file,
//     with the announcing line at its start. If the byte before gap.end is a newline, a line starts
//     at gap.end; if not, the rest of line gap.to follows;
//   - an end that was lost, because a write failed.
//
// Both are read as pieces of kind TEXT_GAP in their place.
//
// The size of a text that is still being written is read once, at open, and never in the middle of
// a write. If the cap makes the gap larger meanwhile, the reader notices.
#ifndef TERSE_ARTIFACT_TEXT_H
#define TERSE_ARTIFACT_TEXT_H

#include "lib/gap.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/artifact/short.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct text_gap {
	uint64_t begin, end; /* offsets; equal if there is no gap */
	uint64_t from, to;   /* the lines of which it has a part */
	bool whole;          /* a line starts at `end` */
};

struct text {
	int fd, idx;
	struct short_part memory; /* a short text; `fd` is -1 then */
	uint64_t size;            /* of the file */
	struct text_gap gap;
	/* Text that a failed write has lost after the end of the file: how many bytes, the last
	   line (`lost_to`), and the errno; 0: none. */
	uint64_t lost_bytes, lost_to;
	int lost_error;
	bool held;       /* a supervisor may still write */
	uint64_t known;  /* number of lines, 0: not counted yet */
	uint64_t offset; /* of the next byte to read */
	bool lost_reported;
	int dir;  /* of the artifact, -1: a plain file */
	int json; /* the ID.json that was read last, while a supervisor holds the text; else -1 */
	enum artifact_part part;
	char id[ID_LEN + 1];
};

enum text_kind { TEXT_END, TEXT_BYTES, TEXT_GAP };

struct text_piece {
	enum text_kind kind;
	size_t len;     /* TEXT_BYTES: this many were read */
	struct gap gap; /* TEXT_GAP: the whole gap, even if reading begins inside it */
	bool goes_on;   /* the text after the gap begins with the rest of line `gap.to` */
};

/* Opens a part of the artifact `id` in the session directory `dir`; parts that are not text have no
   index and no gap. Metadata may be damaged or missing. Returns 0, or -1 with errno.
 */
int text_open(struct text *t, int dir, const char *id, enum artifact_part part);

/* Opens a regular file (else EISDIR, EINVAL). Links are followed. */
int text_open_file(struct text *t, const char *path);

void text_close(struct text *t);

/* The number of lines; the last one may have no newline. Returns 0, or -1 with errno. */
int text_lines(struct text *t, uint64_t *lines);

/* Seeks to the start of 1-based `line`, or to the gap if the line is in it. Returns 0, 1 if the
   text has fewer lines (then *lines is their number), or -1 with errno. */
int text_seek(struct text *t, uint64_t line, uint64_t *lines);

/* For a text without a gap: seeks to the start of the `count`-th line from the end. Reads nothing
   before that start, and no more than the last `most` bytes. *found: the number of lines from that
   start to the end. It is less than `count` if the text has fewer lines, or if some of them begin
   before the last `most` bytes (0: even the last line begins before, and the next byte to be read
   is inside it). Returns 0, or -1 with errno. */
int text_seek_back(struct text *t, uint64_t count, uint64_t most, uint64_t *found);

/* Seeks to the byte at `offset` of the file, or to the gap if the byte is in it. */
void text_seek_byte(struct text *t, uint64_t offset);

/* Finds the start of the line that has the byte at `offset`; the end of a gap counts as a start.
   The file is read backwards as far as needed. Returns 0, or -1 with errno. */
int text_line_start(const struct text *t, uint64_t offset, uint64_t *start);

/* Reads `len` bytes at an offset of the file, or as many as it has. Returns the number of bytes, or
   -1 with errno. */
ssize_t text_read(const struct text *t, char *data, size_t len, uint64_t offset);

/* Reads the next piece: up to `cap` bytes into `data`. They may end inside a line or character.
   Returns 0, or -1 with errno. */
int text_next(struct text *t, char *data, size_t cap, struct text_piece *piece);

#endif
