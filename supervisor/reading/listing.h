// The lines that end a search: how much was shown, and the commands that show the rest.
// tests/unit/test_search.c holds them word for word.
//
// Functions append to a buffer and return 0, or -1 with ENOMEM.
#ifndef TERSE_READING_LISTING_H
#define TERSE_READING_LISTING_H

#include "lib/buffer.h"
#include "supervisor/reading/walk.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct listing;

/* What was asked for, to be said again. */
struct notice_query {
	const char *place;   /* the artifact or file as a shell reads it, NULL: all of a session */
	const char *session; /* its name, NULL: the caller's */
	const char *pattern;
	bool ignore_case, word, invert, literal, binary, standard_error, count, names, json;
	uint64_t before, after;
	uint64_t from;  /* 1: all lines */
	uint64_t limit; /* as given, 0: not */
};

/* The commands that go on: at the first match that was not shown (nothing if there is none); with
   all of them. */
int notice_next(struct buffer *out, const struct notice_query *q, const struct listing *l);
int notice_all(struct buffer *out, const struct notice_query *q, const struct listing *l);

/* "[100 of 82,310 matches shown: terse search ID REGEX --limit 82310, or narrow the pattern]" and
   where to go on. */
int notice_more(struct buffer *out, const struct notice_query *q, const struct listing *l);

/* The same of a list of artifacts. */
int notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			  uint64_t total, bool out_of_room);

/* "gave up at line 12: it takes over 10 million steps, ...; behind it: terse search ID REGEX
   --offset 13"; no newline. `place`: where that was. */
int notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		   uint64_t line, const char *reason);

/* What is said instead of the totals then: "[3 matches shown, up to line 12]" */
int notice_up_to(struct buffer *out, uint64_t shown, uint64_t line);

/* "[12 lines match in binary data (ELF), not shown: terse search FILE REGEX -a]" */
int notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		  uint64_t total);

/* "no match in 8,432 lines", with what may be the reason; no newline. `apart`: there is a standard
   error that was not searched. */
int notice_nothing(struct buffer *out, const struct notice_query *q, const struct walk *w,
		   bool apart);

/* Of a text with a line that was not held at once: "line 12 is searched in pieces: ..."; no
 * newline. */
int notice_long_line(struct buffer *out, uint64_t line);

/* Bytes that the lines about a text called `name` (NULL: all of a session) may take. */
size_t notice_room(const struct notice_query *q, const char *name);

// A long line as it is shown: the part around the match.

#define EXCERPT_MAX 500 /* characters */

struct excerpt {
	size_t from, to; /* of the bytes that are shown; no character is split */
	bool cut_before, cut_behind;
};

/* Chooses EXCERPT_MAX characters of a long line, the match in their middle; of a match that is
   longer itself, its begin. */
void excerpt_choose(struct excerpt *e, const struct walk_line *line,
		    const struct matcher_span *match);

/* Appends it clean, with "[truncated]" where it is cut. Returns 0, or -1 with ENOMEM. */
int excerpt_append(struct buffer *out, const struct excerpt *e, const char *data);

// The lines that were found, as they are printed:
//
//   12:text                 a line that was looked for
//   13-text                 a line around it; "--" between groups that do not touch
//   cmd-1m5zq8k3x7f:12:text in a search through several texts
//   14:[truncated]...text...[truncated] [whole line (5.0 MB): terse read ID --offset 14 --limit 1]
//   [... lines 5,001-9,000 (4,000, 1.2 MB) not kept: ...]
//
// No more than so many lines and bytes; then the rest is only counted. Or, for programs, as the
// elements of arrays in JSON (listing.h).

/* One match must fit, however it is cut. */
#define LISTING_ROOM_MIN ((size_t)4096)

struct listing_options {
	uint64_t before, after; /* lines around each */
	uint64_t limit;         /* found lines, UINT64_MAX: all */
	size_t room;            /* bytes, at least LISTING_ROOM_MIN; SIZE_MAX: all */
	bool whole;             /* long lines are not cut */
	bool json;              /* what is printed is the elements of an array, of gaps, too */
	uint64_t from;          /* the first line that is looked at */
	int (*print)(void *ctx, const char *data, size_t len); /* 0, or -1 with errno */
	void *ctx;
};

/* Which text it is. */
struct listing_text {
	const char *label;   /* before each line, NULL: none */
	const char *place;   /* the artifact or file, as a shell reads it */
	bool standard_error; /* its standard error, kept apart */
};

struct listing {
	struct listing_options options;
	struct buffer out;
	struct buffer gap;   /* announced before the next line, if one comes */
	size_t printed;      /* bytes */
	uint64_t shown;      /* found lines that are printed */
	uint64_t total;      /* found lines */
	bool full;           /* something was not shown */
	bool out_of_room;    /* ... for want of bytes, not because of the limit */
	uint64_t next;       /* the first line that was not shown ... */
	const char *next_in; /* ... and its text's place: as given; 0, NULL: none */
	uint64_t last,
		floor; /* in this text: the last line printed; no line up to this one is there */
};

void listing_init(struct listing *l, const struct listing_options *options);

/* Walks through a text to its end. Returns WALK_END, or WALK_GAVE_UP (*line is where), or
   WALK_FAILED with errno; what was found before is printed. */
enum walk_kind listing_add(struct listing *l, struct walk *w, const struct listing_text *text,
			   struct walk_line *line);

/* Takes down a gap, to be announced: of a text that is not listed. Returns 0, or -1 with ENOMEM. */
int listing_note_gap(struct listing *l, const struct listing_text *text,
		     const struct text_piece *gap);

/* The same after the last text. If nothing was found, l->gap remains to be told. */
int listing_finish(struct listing *l);

void listing_release(struct listing *l);

// The lines that were found as the elements of an array (private to this folder):
//
//   {"line":12,"text":"...","truncated":false,"before":[...],"after":[...]}
//
// "artifact" comes first in a search through several texts. Lines around have "line", "text" and
// "truncated". A line that is cut has "command", which shows it whole; lines before that did not
// fit are an element {"omitted":N}. Gaps go to listing.gap:
//
//   {"from":5001,"to":9000,"bytes":1234567,"reason":"disk cap"}
//
// Functions return 0, or -1 with ENOMEM.

/* An element, in this order: open, the line, before, the lines before it, after, the lines behind;
   closed by the next one, or at the end. */
int listing_json_close(struct listing *l);

/* From listing.c: "terse read ID --offset 14 --limit 1" */
int listing_read(struct buffer *out, const struct listing_text *text, uint64_t first,
		 uint64_t count);

#endif
