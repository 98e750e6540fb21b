// Fits a part of a text into a number of printed bytes. As printed, the text is clean and guarded
// (lib/quote.h), and gaps are announced in their places. Characters are not split, nor is CR LF.
#ifndef TERSE_READING_PAGE_H
#define TERSE_READING_PAGE_H

#include "lib/buffer.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A page: lines of a text (artifact/text.h) that are shown at once, either from a given line on, or
// the last ones.
//
//   - From a line on: complete lines as long as they fit. A first line that does not fit is cut at
//     its end.
//   - The last lines: as many complete lines as fit. A last line that does not fit is cut at its
//     beginning.
//   - A gap (text that is not on disk) is a line in its place, and always fits.
//
// Lines are numbered from 1. Memory: a few times the room.

struct page_request {
	int64_t first;  /* the first line; negative: from the end */
	uint64_t limit; /* how many lines are asked for; 0: all */
	uint64_t tail;  /* if not 0, how many of the last lines are asked for */
	uint64_t most;  /* if `limit` is 0, the most lines that are shown */
	size_t room;    /* bytes of printed lines; announcements of gaps and omissions are not
			   counted */
	const struct wording_place *place; /* for commands that show omitted text; `numbered`: lines
					      get numbers */
};

enum page_stop {
	PAGE_OPEN,
	PAGE_END,   /* the text has ended */
	PAGE_ASKED, /* all lines that were asked for are shown */
	PAGE_LINES, /* request.most is reached */
	PAGE_BYTES, /* request.room is full */
};

struct page {
	struct buffer text; /* announcements of omissions included */
	enum page_stop stop;
	uint64_t from, to; /* the first and the last line that are shown; `to` 0: none is */
	/* Where the next page starts: at line `next` (0: there is none), with `left` lines (0: all;
	   after PAGE_ASKED as many as before). If a line is shown in part and its rest has no
	   number, next_byte is the offset of the rest. */
	uint64_t next, left, next_byte;
	uint64_t number;  /* of the line that was read last */
	uint64_t omitted; /* with `tail`: how many of the lines that were asked for did not fit */
	/* A line that is shown in part, the first one or with `tail` the last: which bytes of the
	   file are left out of it. bytes 0: no line is cut. */
	struct {
		uint64_t at, bytes;
	} cut;

	/* While it is made: */
	const struct page_request *request;
	struct page_piece {
		size_t start, cost; /* offset in `text`; bytes of the room */
		uint64_t number;    /* of the line; of the first line that a gap is a part of */
		bool gap;
	} * pieces;
	size_t count, cap;
	uint64_t lines; /* how many pieces are lines */
	size_t used;    /* bytes of the room */
	uint64_t start; /* offset in the file of the line that was read last */
	bool rest;      /* the next line is the rest of one with a gap inside */
	bool inside;    /* the last line has no newline yet */
	bool closed;    /* nothing more fits */
};

/* Makes the page in *p. Returns 0; 1 if the text has no such line, with the number of its lines in
 *total; or -1 with errno. Call page_release() in every case. */
int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total);

/* Moves `t` to the first line that is asked for, and stores its number, but makes no page. Returns
   as page_make(). */
int page_seek(struct text *t, const struct page_request *request, uint64_t *number,
	      uint64_t *total);

void page_release(struct page *p);

// A slice: a range of bytes of a text's file, extended to whole characters. A character belongs to
// the slice in which it begins, so the slices of adjacent ranges give the text when joined. A slice
// ends where a gap begins.

struct slice_request {
	uint64_t from, length;
	size_t room; /* printed bytes; announcements of gaps are not counted */
	enum guard_mode guard;
};

struct slice {
	struct buffer text; /* announcements of a gap before it, or of a lost end after it,
			       included */
	uint64_t from, to;  /* offsets of its first byte, and of the byte after its last one */
	bool more;          /* the text continues at `to` */
	bool full;          /* request.room was full; `left` wanted bytes follow */
	uint64_t left;

	bool open;         /* the slice ends inside a line */
	struct buffer raw; /* used while it is made */
};

/* Makes a slice in *s, which is zeroed at first and then has the previous slice. It has at least
   one character, however little room there is. Returns 0, or -1 with errno. */
int slice_make(struct slice *s, struct text *t, const struct slice_request *request);

void slice_release(struct slice *s);

#endif
