// How much of a text fits into so many printed bytes: by whole characters, each counted as it is
// printed clean (utf8.h), or as it stands in a JSON string (json.h). A CR and its LF are one
// character.
#ifndef TERSE_READING_PAGE_H
#define TERSE_READING_PAGE_H

#include "lib/buffer.h"
#include "supervisor/artifact/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;

/* Bytes from the front of `data`, or from its end, that take at most `room`. */
size_t fit_front(const char *data, size_t len, size_t room, bool json);

/* The last offset up to `at` (at most `len`) where a character begins; what is before `data` does
   not matter if it begins with one. */
size_t fit_floor(const char *data, size_t len, size_t at);

// The lines of a text (artifact/text.h) that are shown at once: so many from a line on, or the last
// ones. Deciding only: who prints them also says what is missing (slice.h).
//
//   - From a line on, whole lines as long as they fit. A first line that alone does not fit is cut
//     behind what does.
//   - The last lines, whole ones as many as fit. A last line that alone does not is cut before.
//   - What is not on disk (a gap) is a piece in its place, and always fits.
//
// Lines have their numbers, from 1; in a large plain file, of which nobody knows how many lines it
// has without reading all of it, those that were asked for from the end are counted from there: -1
// is the last. Memory: some times the room.

/* Of a larger plain file only the lines in its first part are counted for the sake of telling how
   many there are. */
#define PAGE_COUNT_MAX ((uint64_t)1024 * 1024 * 1024)

struct page_request {
	int64_t first;  /* the first line, negative: from the end */
	uint64_t limit; /* lines that were asked for, 0: all */
	uint64_t tail;  /* not 0: the last so many, in place of those from `first` on */
	uint64_t most;  /* lines that are shown at most, where no limit was asked for */
	size_t room;    /* bytes, gaps not counted ... */
	bool json;      /* ... of an array of strings in JSON, without their newlines */
};

enum page_kind { PAGE_LINE, PAGE_GAP };

struct page_piece {
	enum page_kind kind;
	uint32_t start, len; /* PAGE_LINE: in page.text, with its newline if it has one */
	int64_t number;      /* PAGE_LINE */
};

/* A line that is shown in part; its newline belongs to it. */
struct page_cut {
	uint64_t at, bytes; /* what is left out, by its place in the file; bytes 0: none is cut */
	bool before;        /* that is its begin; else its end */
};

enum page_stop {
	PAGE_OPEN,
	PAGE_END,   /* the text ends here */
	PAGE_ASKED, /* that is what was asked for */
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
	/* Where more follows: the first line that is not shown, how many were asked for from there
	   on (0: all; PAGE_ASKED: as many again), or where in the file the rest of the line begins
	   whose first part is shown, if it can't be had by its number. */
	int64_t next;
	uint64_t left, next_byte;
	/* Of the last lines: those before that were asked for and are not shown. */
	int64_t omitted_from;
	uint64_t omitted;

	/* While it is made: */
	const struct page_request *request;
	struct text *source;
	struct buffer raw, shown; /* the line as far as it was read; as it is shown */
	uint64_t raw_left;        /* bytes of it that are not in `raw` */
	uint64_t start;           /* where it begins in the file */
	int64_t first, number;    /* of the first line and of this one */
	bool absolute;            /* these are numbers of the text */
	bool rest;                /* it is what follows a gap inside one line */
	bool closed;              /* nothing more fits */
};

/* Makes the page in *p. Returns 0, 1 if the text has no such line (*total are there), or -1 with
   errno. page_release() it in any case. */
int page_make(struct page *p, struct text *t, const struct page_request *request, uint64_t *total);

/* Makes the first line the next to be read (for those who need no page), and tells its number.
   Returns as page_make(). */
int page_seek(struct text *t, int64_t first, int64_t *number, uint64_t *total);

/* How many lines there are: 1; 0 if there are more than *total; or -1 with errno. */
int page_total(struct text *t, uint64_t *total);

void page_release(struct page *p);

#endif
