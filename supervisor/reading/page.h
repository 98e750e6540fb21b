// How much of a text fits into a number of printed bytes, as it is printed: clean, guarded
// (lib/quote.h), gaps announced in their places. No character is split; a CR and its LF are one.
#ifndef TERSE_READING_PAGE_H
#define TERSE_READING_PAGE_H

#include "lib/buffer.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A page: the lines of a text (artifact/text.h) that are shown at once, from a line on or the last
// ones.
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
	uint64_t limit; /* lines that were asked for; 0: all */
	uint64_t tail;  /* if not 0, the last so many lines instead */
	uint64_t most;  /* lines to show at most, without a limit */
	size_t room;    /* bytes, without those of gaps and of what is said of omissions */
	const struct wording_place *place; /* for the commands that show omitted text; with
					      `numbered` lines have numbers */
};

enum page_stop {
	PAGE_OPEN,
	PAGE_END,   /* the text ends here */
	PAGE_ASKED, /* all that was asked for is shown */
	PAGE_LINES, /* request.most */
	PAGE_BYTES, /* request.room */
};

struct page {
	struct buffer text; /* with the omissions that were announced in it */
	enum page_stop stop;
	uint64_t from, to; /* lines that are shown; `to` 0: none */
	/* Where the next page starts (0: nowhere): the first line that is not shown, and how many
	   are wanted from there on (0: all; PAGE_ASKED: as many again). next_byte: the offset of
	   the rest of a line that was shown in part and can't be addressed by its number. */
	uint64_t next, left, next_byte;
	uint64_t number;  /* of the line behind it */
	uint64_t omitted; /* with `tail`: the lines that were asked for and did not fit */
	/* The line that is shown in part, the first one or with `tail` the last: what is left out
	   of it, by offset in the file; bytes 0: none is. */
	struct {
		uint64_t at, bytes;
	} cut;

	/* While it is made: */
	const struct page_request *request;
	struct page_piece {
		size_t start, cost; /* in `text`; of the room */
		uint64_t number;    /* of the line; of a gap the first one that it has a part of */
		bool gap;
	} * pieces;
	size_t count, cap;
	uint64_t lines; /* pieces that are lines */
	size_t used;    /* of the room */
	uint64_t start; /* where the line begins in the file */
	bool rest;      /* the line is the rest of one with a gap inside */
	bool inside;    /* the line before has no newline */
	bool closed;    /* nothing more fits */
};

/* Makes the page in *p. Returns 0, 1 if the text has no such line (*total are there), or -1 with
   errno. page_release() it in any case. */
int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total);

/* Moves `t` to the first line, without making a page, and stores its number. Returns as
   page_make(). */
int page_seek(struct text *t, const struct page_request *request, uint64_t *number,
	      uint64_t *total);

void page_release(struct page *p);

// A slice: bytes of a text, by their offset in its file, as whole characters. A character belongs
// to the slice in which it begins, so joined slices give the text, wherever they were cut. A slice
// ends where a gap begins.

struct slice_request {
	uint64_t from, length;
	size_t room; /* bytes as they are printed, without those of gaps */
	enum guard_mode guard;
};

struct slice {
	struct buffer text; /* with lines about a gap before it, and behind it about a lost end */
	uint64_t from, to;  /* its bytes: `from` up to, but not including, `to` */
	bool more;          /* the text goes on at `to` */
	bool full;          /* request.room ended it, `left` bytes early */
	uint64_t left;

	bool open;         /* the text up to here ends inside a line */
	struct buffer raw; /* used while it is made */
};

/* Makes a slice in *s, which is zeroed or the slice in front of it. It holds at least one of the
   wanted characters, however little room there is. Returns 0, or -1 with errno. */
int slice_make(struct slice *s, struct text *t, const struct slice_request *request);

void slice_release(struct slice *s);

#endif
