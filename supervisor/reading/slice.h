// A slice: bytes of a text by their offset in its file, whole characters only. A character belongs
// to the slice in which it begins, so that joined slices are the text, wherever they were cut. A
// slice ends where a gap begins.
#ifndef TERSE_READING_SLICE_H
#define TERSE_READING_SLICE_H

#include "lib/buffer.h"
#include "lib/quote.h"
#include "supervisor/artifact/text.h"
#include "supervisor/reading/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
