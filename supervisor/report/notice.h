// How the readers of a text (read, search) announce what they leave out, and the commands that show
// it. tests/unit/test_read.c and test_search.c hold the lines word for word.
//
// Every function appends to a buffer; no memory is the buffer's failure (lib/buffer.h).
#ifndef TERSE_REPORT_NOTICE_H
#define TERSE_REPORT_NOTICE_H

#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "[... 1,204 lines omitted: terse read ID --offset 31 --limit 1204]\n" */
void notice_omitted(struct buffer *out, const struct wording_place *place, uint64_t first,
		    uint64_t count);

/* "[... bytes 29488-4998999 omitted: terse read ID --bytes 29488:4969512]\n"; for a line whose
   beginning is omitted "[... bytes 29488-4998999 of line 9 omitted: ...]\n", else `line` is 0. */
void notice_cut(struct buffer *out, const struct wording_place *place, uint64_t at, uint64_t bytes,
		uint64_t line);

/* What is shown of a text. */
struct notice_part {
	uint64_t from, count; /* lines, or bytes */
	bool bytes;
	uint64_t total; /* 0: not known */
	uint64_t limit; /* that ended it, 0: none ... */
	const char *unit;
};

/* "[terse: lines 1-2,000 of 8,432 shown (limit 2,000 lines); continue: terse read ID --offset
   2001]\n"; "[terse: bytes 0-32,767 of 5,000,000 shown; continue: ...]\n". `next`: the command. */
void notice_part(struct buffer *out, const struct notice_part *p, const struct buffer *next);

/* "[terse: the run goes on: terse read ID --offset 813]\n": the run may still write behind the
 * page. */
void notice_running(struct buffer *out, const struct wording_place *place, uint64_t line);

/* A search, for the commands that repeat it. */
struct notice_query {
	const char *place;   /* the artifact or file, quoted for a shell; NULL: a whole session */
	const char *session; /* its name; NULL: the caller's */
	const char *pattern;
	bool ignore_case, word, invert, literal, binary, standard_error, count, names, json;
	enum next_words words; /* the reader's */
	uint64_t before, after;
	uint64_t from;  /* 1: all lines */
	uint64_t limit; /* as given, or 0 */
};

/* What it has found. */
struct notice_found {
	uint64_t shown, total; /* matches */
	bool full;             /* something was not shown */
	bool out_of_room;      /* ... because of the room, not of the limit */
	uint64_t next;         /* the first match that was not shown ... */
	const char *next_in;   /* ... and the place of its text, as given; 0 and NULL: none */
};

/* The command that continues at the first match that was not shown (nothing if there is none), and
   the one that shows all matches. */
void notice_next(struct buffer *out, const struct notice_query *q, const struct notice_found *f);
void notice_all(struct buffer *out, const struct notice_query *q, const struct notice_found *f);

/* "[100 of 82,310 matches shown: terse search ID REGEX --limit 82310, or narrow the pattern]" and
   where the next match is. */
void notice_more(struct buffer *out, const struct notice_query *q, const struct notice_found *f);

/* The same for a list of artifacts. */
void notice_more_artifacts(struct buffer *out, const struct notice_query *q, uint64_t shown,
			   uint64_t total, bool out_of_room);

/* "gave up at line 12: it takes over 10 million steps, ...; behind it: terse search ID REGEX
   --offset 13"; no newline. `place`: the text with that line. */
void notice_gave_up(struct buffer *out, const struct notice_query *q, const char *place,
		    uint64_t line, const char *reason);

/* The totals of a search that gave up: "[3 matches shown, up to line 12]" */
void notice_up_to(struct buffer *out, uint64_t shown, uint64_t line);

/* "[12 lines match in binary data (ELF), not shown: terse search FILE REGEX -a]" */
void notice_binary(struct buffer *out, const struct notice_query *q, const char *kind,
		   uint64_t total);

/* "no match in 8,432 lines" and the likely reason; no newline. `apart`: standard error is a text of
   its own and was not searched. */
void notice_nothing(struct buffer *out, const struct notice_query *q, uint64_t lines, bool apart);

/* A text has a line that memory can't hold: "line 12 was searched in pieces: a match of over 64 KB
   in it is missed"; no newline. */
void notice_long_line(struct buffer *out, uint64_t line, uint64_t missed);

/* The most bytes that the notices about one text may take. `name`: the text; NULL: a session. */
size_t notice_room(const struct notice_query *q, const char *name);

#endif
