// One line of the text as far as its bytes are at hand, and how it looks when it
// is printed: whole, or cut with a note on the omitted bytes.
#ifndef TERSE_PREVIEW_LINE_H
#define TERSE_PREVIEW_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the bytes of a cut line are left out. */
enum line_cut {
	LINE_CUT_LATE,  /* most of the start stays, and some of the end */
	LINE_CUT_EARLY, /* the other way round: the last words count */
	LINE_CUT_END,   /* nothing but the start stays, without a note ... */
	LINE_CUT_START, /* ... or nothing but the end */
};

struct line {
	uint64_t number; /* 1-based */
	uint64_t offset; /* of its first byte in the text */
	uint64_t length; /* its newline included, when it has one */
	bool ended;      /* it has one */
	bool around;     /* `back` is the most telling part, see below */
	/* Its first bytes. When they are not all of it, `back` holds bytes from
	   further on: the last ones, without the newline. It is empty when those are gone too. */
	const char *front, *back;
	size_t front_len, back_len, after;
	/* `around`: `back` is the most telling part, with `after` more bytes behind it; if the line
	   is whole, it is a part of `front`. */
};

/* How a line is printed that is longer than `limit` bytes, newline included. */
struct line_form {
	size_t limit;
	enum line_cut cut;
	uint64_t before; /* bytes of the text in front of offset 0, for the places in notes */
	bool squeeze;    /* line_squeeze() is applied if the line is whole */
	/* Stands in the first note, with the range behind it; beyond the limit. Or NULL. */
	const char *command;
};

/* Whether all bytes of the line are at hand. */
bool line_is_whole(const struct line *l);

/* Writes a line to `out` (NULL: only counts) with its long runs of one character as "={78}", which
   is what a regular expression calls them: rules, and blanks inside of it. Returns the length,
   which is at most `len`. */
size_t line_squeeze(const char *data, size_t len, char *out);

/* Writes the line to `out` (NULL: only counts). The rest is replaced by
   "[... bytes 496-4936]" (the first and the last of them, in the text), or to nothing; cuts are
   made between characters. Returns the length; 0 when not even a few bytes beside that fit. */
size_t line_write(const struct line *l, const struct line_form *form, char *out);

/* Writes "[... bytes 496-4936]", or "[... byte 496]" (under 64 bytes): the mark that replaces that
   part. */
size_t line_note(uint64_t from, uint64_t bytes, char *out, size_t cap);

/* Whether both are whole and hold the same bytes. */
bool line_equal(const struct line *a, const struct line *b);

#endif
