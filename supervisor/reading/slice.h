// Bytes of a text by their place in its file, whole characters only: a character belongs to the
// slice in which it begins, so that slices put together are the text, wherever they were cut. A
// slice ends where a gap begins.
#ifndef TERSE_READING_SLICE_H
#define TERSE_READING_SLICE_H

#include "lib/buffer.h"
#include "supervisor/artifact/text.h"
#include "supervisor/reading/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slice_request {
	uint64_t from, length;
	size_t room; /* bytes as they are printed, in a string of JSON if `json` */
	bool json;
};

struct slice {
	struct buffer text;     /* clean; for JSON, which escapes it, as it is */
	uint64_t from, to;      /* its bytes: from up to and without `to` */
	struct text_piece gap;  /* before it: kind TEXT_GAP if there is one */
	struct text_piece lost; /* behind it, at the end of the text */
	bool more;              /* the text goes on at `to` */
	bool full; /* request.room ended it, so many bytes before where it was to end */
	uint64_t left;

	struct buffer raw; /* while it is made */
};

/* Makes it in *s, which is a slice that was made before, or zeroed. Of what was asked for there
   is at least one character, however little room there is. Returns 0, or -1 with errno. */
int slice_make(struct slice *s, struct text *t, const struct slice_request *request);

void slice_release(struct slice *s);

/* Hands on the bytes from `from` to `to` (UINT64_MAX: to the end) clean, with lines about gaps in
   their place. Returns 0, or -1 with errno. */
int slice_stream(struct text *t, uint64_t from, uint64_t to,
		 int (*print)(void *ctx, const char *data, size_t len), void *ctx);

// What `terse read` says about what it does not show, and the commands that show it.
// tests/unit/test_read.c holds the lines word for word.
//
// Functions append to a buffer and return 0, or -1 with ENOMEM.

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
