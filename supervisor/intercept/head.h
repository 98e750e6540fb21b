// The first part of a text that is too long, by whole lines: what mode head
// prints, as it comes. Nothing that was handed out is ever taken back.
//
// Lines over limit.max_line are cut, with a mark in place unless it is to be `bare`. It ends where
// the next line would break a limit; a first line that breaks it alone is given in part. With
// limit.grow the first long line and what follows it is held until the end of the text, or of the
// room, is known: then the long ones are shown as far as there is room for each of them.
#ifndef TERSE_INTERCEPT_HEAD_H
#define TERSE_INTERCEPT_HEAD_H

#include "config/limit.h"
#include "supervisor/base/buffer.h"
#include "supervisor/preview/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum head_end {
	HEAD_OPEN,
	HEAD_COUNT, /* limit.count was reached */
	HEAD_BYTES, /* the next line is too much for limit.bytes */
	HEAD_LINE,  /* so is the first one; a part of it was handed out */
};

/* A line that is held, as far as it may be shown: `len` bytes of `length`. */
struct head_line {
	size_t start, len;
	bool guard; /* LINE_GUARD goes in front */
	uint64_t offset, length;
	bool ended;
};

struct head {
	struct limit limit; /* these three are set by the owner; the rest is zero at first */
	bool bare, guard;   /* as in preview_options */
	uint64_t offset;    /* of the next line in the text */
	enum head_end end;
	size_t bytes;           /* handed out, as they are printed */
	uint64_t lines, units;  /* handed out */
	uint64_t cut;           /* how many of them are cut */
	struct line_gap gap;    /* the first part that is left out */
	bool last_cut;          /* the last of them is */
	uint64_t first_length;  /* HEAD_LINE: of the line ... */
	size_t first_shown;     /* ... and of its part */
	struct buffer line;     /* the unfinished line, as far as it could be shown */
	uint64_t length;        /* of all of it */
	struct head_line *held; /* their bytes are in `kept` */
	size_t held_count, held_cap;
	bool cut_off; /* set by the owner: no line that begins now is a next one */
	bool grown;   /* lines were held, and are handed out as the limit allowed */
	struct buffer kept;
};

/* Whether a whole line (with its newline) can be handed out before it is known whether the text
   fits; it is counted then. */
bool head_take(struct head *h, const char *line, size_t len);

/* The next bytes of a text that does not fit, behind what head_take() took. Appends what is to be
   printed, clean. Without memory it ends early. */
void head_feed(struct head *h, const char *data, size_t len, struct buffer *out);

/* No more comes: a last line without a newline is a line. */
void head_finish(struct head *h, struct buffer *out);

void head_release(struct head *h);

#endif
