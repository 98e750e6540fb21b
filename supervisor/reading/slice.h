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

#endif
