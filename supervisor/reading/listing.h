// The matches of a search as they are printed:
//
//   12:text                 a match
//   13-text                 a line around it; "--" between groups that do not touch
//   cmd-1m5zq8k3x7f:12:text in a search through several texts
//   14:[truncated]...text...[truncated] [whole line (5.0 MB): terse read ID --offset 14 --limit 1]
//   [... lines 5,001-9,000 (4,000, 1.2 MB) not kept: ...]
//
// A number of lines and bytes at most; the rest is only counted.
#ifndef TERSE_READING_LISTING_H
#define TERSE_READING_LISTING_H

#include "lib/buffer.h"
#include "supervisor/reading/walk.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a long line that are shown, around the match. */
#define EXCERPT_MAX ((size_t)500)

/* Room for one match, cut as far as possible. */
#define LISTING_ROOM_MIN ((size_t)4096)

struct listing_options {
	uint64_t before, after;    /* lines around each */
	uint64_t limit;            /* matches; UINT64_MAX: all */
	size_t room;               /* bytes, at least LISTING_ROOM_MIN; SIZE_MAX: all */
	bool whole;                /* long lines are not cut */
	bool json;                 /* each line, and each gap, is an object; nothing is printed, all
				      stays in `out` */
	const char *mark, *unmark; /* around the first match of a line; NULL: nothing */
	uint64_t from;             /* the first line that is searched */
	int (*print)(void *ctx, const char *data, size_t len); /* 0, or -1 with errno */
	void *ctx;
};

/* A text that is searched. */
struct listing_text {
	const char *label; /* printed before each line, unless NULL */
	struct wording_place place;
};

/* What was found. */
struct listing_found {
	uint64_t shown, total; /* matches */
	bool full;             /* something was not shown */
	bool out_of_room;      /* ... because of the room, not of the limit */
	uint64_t next;         /* the first match that was not shown ... */
	const char *next_in;   /* ... and place.id of its text; 0 and NULL: none */
};

/* Zeroed but for its options. */
struct listing {
	struct listing_options options;
	struct buffer out; /* whoever owns the struct releases the buffers */
	struct buffer gap; /* announced before the next match; in JSON, all gaps */
	size_t printed;    /* bytes */
	int error;         /* of the first print that failed: no more is printed */
	struct listing_found found;
	uint64_t last,
		floor; /* in this text: the last printed line; lines up to `floor` are in a gap */
};

/* Lists the matches of a text. Returns WALK_END, WALK_GAVE_UP at *line, or WALK_FAILED with errno;
   earlier matches are printed. */
enum walk_kind listing_add(struct listing *l, struct walk *w, const struct listing_text *text,
			   struct walk_line *line);

/* Notes a gap in a text that is not listed, to be announced. Returns 0, or -1 with ENOMEM. */
int listing_note_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap);

/* Prints what is collected. Returns 0, or -1 with errno, then and ever after. */
int listing_flush(struct listing *l);

/* Prints the rest after the last text. Without a match, the caller reports l->gap. Returns 0, or -1
   with errno. */
int listing_finish(struct listing *l);

#endif
