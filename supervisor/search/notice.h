// The lines that end a search: how much was shown, and the commands that show the rest.
// tests/unit/test_search.c holds them word for word.
//
// Functions append to a buffer and return 0, or -1 with ENOMEM.
#ifndef TERSE_SEARCH_NOTICE_H
#define TERSE_SEARCH_NOTICE_H

#include "supervisor/search/listing.h"

#include <stdbool.h>
#include <stdint.h>

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

#endif
