// Walks through a text (artifact/text.h) line by line, and finds the lines that a pattern matches.
// Reads in blocks; memory is bounded. Lines are numbered as in the whole text.
//
// A line of over WALK_LINE_MAX bytes is never held whole. Without a pattern it is returned in
// parts, one at a time. With a pattern, only the part with the match is returned, and the rest is
// skipped. A match may be missed if it is longer than WALK_EDGE bytes, or depends on text that is
// farther away than that.
#ifndef TERSE_READING_WALK_H
#define TERSE_READING_WALK_H

#include "supervisor/artifact/text.h"
#include "supervisor/reading/matcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WALK_BLOCK    ((size_t)256 * 1024)
#define WALK_LINE_MAX ((size_t)5632 * 1024)
#define WALK_EDGE     ((size_t)64 * 1024)

struct walk;

struct walk_options {
	bool invert;         /* lines that do not match are wanted */
	uint64_t context;    /* how many lines before a wanted one walk_before() can return */
	uint64_t from;       /* number of the first line; 1: all lines */
	bool here;           /* the text's position is the start of line `from`, so that line need
				not be found */
	size_t most;         /* bytes of a line that are held; 0: WALK_LINE_MAX */
	uint64_t *long_line; /* if not NULL, is set to the number of the first long line, if it is
				0 */
};

enum walk_kind {
	WALK_END,
	WALK_LINE,
	WALK_GAP,     /* lines that were not kept: line->gap */
	WALK_GAVE_UP, /* matching line->number takes too much: see matcher_reason() */
	WALK_FAILED,  /* errno */
};

struct walk_line {
	uint64_t number; /* with WALK_END, one more than that of the last line */
	uint64_t offset; /* in the file; also set for a gap and the end */
	const struct text_piece *gap;
	const char *data; /* valid until the next call */
	size_t len;       /* without the newline */
	bool newline;     /* the line has one, at data[len] */
	bool wanted;
	/* Only a part of the line is in `data`; the line has more before it, after it, or both. */
	bool more_before, more_behind;
	struct matcher_span span; /* of the match, if `data` is a part of the line; else use
				     walk_span() */
};

/* The text and the matcher have to outlive the walk. Moves the text's position to the first line.
   Without a matcher (NULL) every line is wanted. If `from` is after the last line, WALK_END comes
   at once. Returns NULL with errno. */
struct walk *walk_new(struct text *text, struct matcher *m, const struct walk_options *options);
void walk_free(struct walk *w);

/* Returns the next wanted line, or a gap before it. */
enum walk_kind walk_next(struct walk *w, struct walk_line *line);

/* Returns the next line, wanted or not, or a gap. */
enum walk_kind walk_step(struct walk *w, struct walk_line *line);

/* Lines before the one that was returned last. walk_before_count() returns how many of them
   walk_before() can return, at most `max`. walk_before() returns the line that is `back` lines
   before, 1 being the nearest. */
uint64_t walk_before_count(const struct walk *w, uint64_t max);
void walk_before(const struct walk *w, uint64_t back, struct walk_line *line);

/* Stores where the match is in a wanted line; an empty span at its start if there is none. */
void walk_span(struct walk *w, const struct walk_line *line, struct matcher_span *span);

#endif
