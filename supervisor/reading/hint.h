// What `terse read` says about what it does not show, and the commands that show it.
// tests/unit/test_read.c holds the lines word for word.
//
// Functions append to a buffer and return 0, or -1 with ENOMEM.
#ifndef TERSE_READING_HINT_H
#define TERSE_READING_HINT_H

#include "supervisor/reading/page.h"
#include "supervisor/reading/slice.h"

#include <stdbool.h>
#include <stdint.h>

/* What is read, to be said again. */
struct hint_place {
	const char *name;           /* the artifact or file as a shell reads it */
	enum artifact_part part;    /* of an artifact */
	bool binary, json, running; /* -a, --json; a run that still writes */
	size_t room;                /* the limit of a page, to be told */
};

/* "terse read ID --stderr" */
int hint_command(struct buffer *out, const struct hint_place *place);

/* " --offset 31 --limit 1204" */
int hint_lines(struct buffer *out, int64_t first, uint64_t count);

/* " --bytes 0:30000" */
int hint_bytes(struct buffer *out, uint64_t from, uint64_t length);

/* "[... bytes 29488-4998999 omitted: terse read ID --bytes 29488:4969512]\n"; of a line whose begin
   is omitted "[... bytes 29488-4998999 of line 9 omitted: ...]\n" */
int hint_cut(struct buffer *out, const struct hint_place *place, const struct page *p);

/* "[... 1,204 lines omitted: terse read ID --offset 31 --limit 1204]\n" */
int hint_omitted(struct buffer *out, const struct hint_place *place, const struct page *p);

/* "[lines 1-2,000 of 8,432 shown (limit 2,000 lines); continue: terse read ID --offset 2001]\n";
   "of more than 8,432" unless that is `exact`. */
int hint_page(struct buffer *out, const struct hint_place *place, const struct page *p,
	      uint64_t total, bool exact);

/* "[bytes 0-32,767 of 5,000,000 shown; continue: terse read ID --bytes 32768]\n"; `length` as it
   was given, 0: not. Of what did not fit the command asks for the rest. */
int hint_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
	       uint64_t total, uint64_t length);

/* The command that goes on behind a page or slice; nothing if there is nothing. */
int hint_next(struct buffer *out, const struct hint_place *place, const struct page *p);
int hint_next_slice(struct buffer *out, const struct hint_place *place, const struct slice *s,
		    uint64_t length);

/* "[the run goes on: terse read ID --offset 813]\n": what was shown ends where it is now. */
int hint_running(struct buffer *out, const struct hint_place *place, int64_t line);

#endif
