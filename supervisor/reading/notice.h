// How the readers announce what they leave out, and the commands that show it: one wording for a
// page, a slice and a search. tests/unit/test_read.c and test_search.c hold the lines word for
// word.
//
// Every function appends to a buffer; no memory is the buffer's failure (lib/buffer.h).
#ifndef TERSE_READING_NOTICE_H
#define TERSE_READING_NOTICE_H

#include "supervisor/artifact/artifact.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct listing;
struct page;
struct slice;
struct walk;

/* The text that is read, for the commands of the notices. */
struct notice_place {
	const char *name;        /* the artifact or file, quoted for a shell */
	enum artifact_part part; /* of an artifact */
	bool binary, json;       /* -a, --json */
	bool tools;              /* the reader has the tools of terse mcp, not a command line */
	size_t room;             /* the limit of a page */
};

/* "terse read ID --stderr --offset 31 --limit 1204": `count` lines from `first` on; 0: all. */
void notice_read_lines(struct buffer *out, const struct notice_place *place, int64_t first,
		       uint64_t count);

/* "terse read ID --bytes 0:30000"; `length` 0: as many as a page holds. */
void notice_read_bytes(struct buffer *out, const struct notice_place *place, uint64_t from,
		       uint64_t length);

/* "[... 1,204 lines omitted: terse read ID --offset 31 --limit 1204]\n" */
void notice_omitted(struct buffer *out, const struct notice_place *place, int64_t first,
		    uint64_t count);

/* "[... bytes 29488-4998999 omitted: terse read ID --bytes 29488:4969512]\n"; for a line whose
   beginning is omitted "[... bytes 29488-4998999 of line 9 omitted: ...]\n" */
void notice_cut(struct buffer *out, const struct notice_place *place, const struct page *p);

/* "[terse: lines 1-2,000 of 8,432 shown (limit 2,000 lines); continue: terse read ID --offset
   2001]\n"; "of more than 8,432" unless that is `exact`. */
void notice_page(struct buffer *out, const struct notice_place *place, const struct page *p,
		 uint64_t total, bool exact);

/* "[terse: bytes 0-32,767 of 5,000,000 shown; continue: terse read ID --bytes 32768]\n"; `length`
   as it was given, or 0. If not all of it fitted, the command asks for the rest. */
void notice_slice(struct buffer *out, const struct notice_place *place, const struct slice *s,
		  uint64_t total, uint64_t length);

/* The command that continues a page or slice; nothing at the end of the text. */
void notice_page_next(struct buffer *out, const struct notice_place *place, const struct page *p);
void notice_slice_next(struct buffer *out, const struct notice_place *place, const struct slice *s,
		       uint64_t length);

/* "[terse: the run goes on: terse read ID --offset 813]\n": the run may still write behind the
 * page. */
void notice_running(struct buffer *out, const struct notice_place *place, int64_t line);

/* A search, for the commands that repeat it. */
struct notice_query {
	const char *place;   /* the artifact or file, quoted for a shell; NULL: a whole session */
	const char *session; /* its name; NULL: the caller's */
	const char *pattern;
	bool ignore_case, word, invert, literal, binary, standard_error, count, names, json;
	bool tools; /* as in struct notice_place */
	uint64_t before, after;
	uint64_t from;  /* 1: all lines */
	uint64_t limit; /* as given, or 0 */
};

/* The command that continues at the first match that was not shown (nothing if there is none), and
   the one that shows all matches. */
void notice_next(struct buffer *out, const struct notice_query *q, const struct listing *l);
void notice_all(struct buffer *out, const struct notice_query *q, const struct listing *l);

/* "[100 of 82,310 matches shown: terse search ID REGEX --limit 82310, or narrow the pattern]" and
   where the next match is. */
void notice_more(struct buffer *out, const struct notice_query *q, const struct listing *l);

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
void notice_nothing(struct buffer *out, const struct notice_query *q, const struct walk *w,
		    bool apart);

/* A text has a line that memory can't hold: "line 12 was searched in pieces: ..."; no newline. */
void notice_long_line(struct buffer *out, uint64_t line);

/* The most bytes that the notices about one text may take. `name`: the text; NULL: a session. */
size_t notice_room(const struct notice_query *q, const char *name);

#endif
