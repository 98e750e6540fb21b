// One file of an artifact that is being written: large writes, the line index beside it,
// the live part behind the final text, and the disk cap (private to this folder; the
// rules are in artifact.h).
//
// The disk cap: of a longer text the first half of the cap stays, and a rolling tail. `struct cap`
// has only numbers, no files.
//
// The tail moves on by whole steps from line start to line start, so a mark (offset and line
// number) is kept for each step while the text passes. A line longer than that is cut inside.
#ifndef TERSE_ARTIFACT_STREAM_H
#define TERSE_ARTIFACT_STREAM_H

#include "lib/buffer.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/meta.h"

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

/* Final text is written up to multiples of this in the file: with such writes the kernel
   uses large pages, and needs half the time of writes that start or end anywhere. */
#define STREAM_WINDOW ((size_t)256 * 1024)

struct stream_options {
	int dir;            /* the session's directory; stays open as long as the stream */
	const char *id;     /* the files are named ID + suffix */
	const char *suffix; /* ".txt" */
	const char *idx;    /* suffix of the index; NULL: not a text, no index */
	uint64_t max_bytes; /* 0: no cap */
	uint64_t min_free;  /* less is taken for a full disk; 0: only a full one */
	/* Called when the gap has grown, before bytes are released: the metadata must not lag. */
	void (*gap_moved)(void *ctx);
	void *ctx;
};

struct stream {
	struct stream_options options;
	int fd, idx;
	int error;           /* the first failed write's errno, or 0 */
	bool keeping;        /* false: what comes is counted, not stored */
	uint64_t kept_lines; /* whole ones in the file, once nothing is stored any more */
	bool open_gap;       /* the cap was reached where no hole can be made: no tail */
	bool indexing;
	char *collected; /* final bytes not written yet; allocated on first use */
	size_t len;
	uint64_t checked;          /* bytes when it was last looked how much is free */
	struct index_writer index; /* what was written: bytes and newlines */
	struct buffer entries;
	uint64_t line_start; /* offset behind the last newline */
	uint64_t end;        /* size of the file */
	size_t live;         /* bytes of the live part ... */
	uint64_t live_lines; /* ... newlines in it ... */
	bool live_open;      /* ... and whether it ends inside a line */
	struct cap cap;
};

/* Whether so much is free where this file or directory is. False with errno ENOSPC. */
bool stream_has_room(int fd, uint64_t min_free);

/* Creates the file. Returns 0, or -1 with errno (nothing to close). */
int stream_open(struct stream *s, const struct stream_options *options);

/* The names are those of artifact.h. 0, or -1 when writing has failed. */
int stream_append(struct stream *s, const char *data, size_t len);
int stream_set_live(struct stream *s, const char *data, size_t len);
int stream_flush(struct stream *s);
int stream_end_recording(struct stream *s, const char *why);

/* Fills in the metadata of the stream. */
void stream_describe(const struct stream *s, struct meta_stream *m);

/* The number of bytes appended, stored or not. */
uint64_t stream_bytes(const struct stream *s);

/* The number of bytes at the end that were not stored. */
uint64_t stream_lost(const struct stream *s);

void stream_close(struct stream *s);

#endif
