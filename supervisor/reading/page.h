// How much of a text fits into a number of printed bytes. Counts whole characters, each as it is
// printed clean (utf8.h) or in a JSON string (json.h). A CR and its LF are one character.
#ifndef TERSE_READING_PAGE_H
#define TERSE_READING_PAGE_H

#include "lib/buffer.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;

// A page: the lines of a text (artifact/text.h) that are shown at once, from a line on or the last
// ones. A page only decides; the caller prints it and says what is missing (notice.h).
//
//   - From a line on: complete lines as long as they fit. A first line that does not fit is cut at
//     its end.
//   - The last lines: as many complete lines as fit. A last line that does not fit is cut at its
//     beginning.
//   - A gap (text that is not on disk) is a piece in its place, and always fits.
//
// Lines are numbered from 1. A large plain file would have to be read to know how many lines it
// has, so lines wanted from its end are counted from there: -1 is the last. Memory: a few times the
// room.

/* To report a total, at most so many bytes of a plain file are counted. */
#define PAGE_COUNT_MAX ((uint64_t)1024 * 1024 * 1024)

struct page_request {
	int64_t first;  /* the first line; negative: from the end */
	uint64_t limit; /* lines that were asked for; 0: all */
	uint64_t tail;  /* if not 0, the last so many lines instead */
	uint64_t most;  /* lines to show at most, without a limit */
	size_t room;    /* bytes, without those of gaps ... */
	bool json;      /* ... of an array of strings in JSON, without their newlines */
};

enum page_kind { PAGE_LINE, PAGE_GAP };

struct page_piece {
	enum page_kind kind;
	uint32_t start, len; /* PAGE_LINE: in page.text, with its newline if it has one */
	int64_t number;      /* PAGE_LINE */
};

/* A line that is shown in part; the newline is a part of the line. */
struct page_cut {
	uint64_t at, bytes; /* what is left out, by offset in the file; bytes 0: no line is cut */
	bool before;        /* the beginning is left out, else the end */
};

enum page_stop {
	PAGE_OPEN,
	PAGE_END,   /* the text ends here */
	PAGE_ASKED, /* all that was asked for is shown */
	PAGE_LINES, /* request.most */
	PAGE_BYTES, /* request.room */
};

struct page {
	struct buffer text; /* clean; for JSON, which escapes it, as it is */
	struct page_piece *pieces;
	size_t count, cap;
	struct text_piece gaps[2]; /* the PAGE_GAP pieces, in order */
	size_t gap_count;
	struct page_cut cut; /* of the first line, or of the last */
	uint64_t lines;      /* PAGE_LINE pieces */
	size_t used;         /* of the room */

	enum page_stop stop;
	/* Where the next page starts: the first line that is not shown, and how many are wanted
	   from there on (0: all; PAGE_ASKED: as many again). next_byte: the offset of the rest of a
	   line that was shown in part and can't be addressed by its number. */
	int64_t next;
	uint64_t left, next_byte;
	/* With `tail`: the lines that were asked for and did not fit. */
	int64_t omitted_from;
	uint64_t omitted;

	/* While it is made: */
	const struct page_request *request;
	struct text *source;
	struct buffer shown;   /* the line as shown */
	uint64_t start;        /* where it begins in the file */
	int64_t first, number; /* of the first line, and of the current one */
	bool absolute;         /* they count from the start of the text */
	bool rest;             /* the line is the rest of one with a gap inside */
	bool inside;           /* the line before has no newline */
	bool closed;           /* nothing more fits */
};

/* Makes the page in *p. Returns 0, 1 if the text has no such line (*total are there), or -1 with
   errno. page_release() it in any case. */
int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total);

/* Moves `t` to the first line, without making a page, and stores its number. Returns as
   page_make(). */
int page_seek(struct text *t, int64_t first, int64_t *number, uint64_t *total);

/* Stores the number of lines. Returns 1, 0 if there are more than *total, or -1 with errno. */
int page_total(struct text *t, uint64_t *total);

void page_release(struct page *p);

// A slice: bytes of a text by their offset in its file, whole characters only. A character belongs
// to the slice in which it begins, so that joined slices are the text, wherever they were cut. A
// slice ends where a gap begins.

struct slice_request {
	uint64_t from, length;
	size_t room; /* bytes as they are printed, in a string of JSON if `json` */
	bool json;
	enum guard_mode guard; /* of text that is not for JSON */
};

struct slice {
	struct buffer text;     /* clean; for JSON, which escapes it, as it is */
	uint64_t from, to;      /* its bytes: `from` up to, but not including, `to` */
	struct text_piece gap;  /* before it: kind TEXT_GAP if there is one */
	struct text_piece lost; /* behind it, at the end of the text */
	bool more;              /* the text goes on at `to` */
	bool full;              /* request.room ended it, `left` bytes early */
	uint64_t left;

	struct buffer raw; /* used while it is made */
};

/* Makes a slice in *s, which is zeroed or an older slice. It holds at least one of the wanted
   characters, however little room there is. Returns 0, or -1 with errno. */
int slice_make(struct slice *s, struct text *t, const struct slice_request *request);

void slice_release(struct slice *s);

/* Prints the bytes from `from` to `to` (UINT64_MAX: the end), clean, with lines about gaps in their
   place. Returns 0, or -1 with errno. */
int slice_stream(struct text *t, uint64_t from, uint64_t to,
		 int (*print)(void *ctx, const char *data, size_t len), void *ctx);

#endif
