// Walks through a text (artifact/text.h), line by line, and finds the lines a pattern matches.
// Reads in blocks; memory is a constant. Lines are numbered as the text numbers them.
//
// A line of over WALK_LINE_MAX bytes is not held at once. Without a pattern it comes in parts, one
// behind the other. With one, a match in it is found unless it is longer than WALK_EDGE bytes or
// depends on what is farther away than that; then the rest of the line is passed over.
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
	bool invert;         /* the lines that do not match are wanted */
	uint64_t context;    /* lines before a wanted one that may be asked for */
	uint64_t from;       /* number of the first line, 1: all ... */
	bool here;           /* ... which begins where the text stands; it is not looked for */
	size_t most;         /* bytes of a line that are held at once, 0: WALK_LINE_MAX */
	uint64_t *long_line; /* set to the first line that was not held at once; may be NULL */
};

enum walk_kind {
	WALK_END,
	WALK_LINE,
	WALK_GAP,     /* lines that were not kept: `gap` of the line */
	WALK_GAVE_UP, /* matching line `number` takes too long, see matcher_reason() */
	WALK_FAILED,  /* errno */
};

struct walk_line {
	uint64_t number; /* of the end, that of a line behind the last one */
	uint64_t offset; /* in the file; also of a gap, and of the end */
	const struct text_piece *gap;
	const char *data; /* until the next call */
	size_t len;       /* without the newline ... */
	bool newline;     /* ... which is there, at data[len] */
	bool wanted;
	/* Only a part of the line is there; the rest is before it, behind it, or both. */
	bool more_before, more_behind;
	struct matcher_span span; /* of the match, if there is one and a part is missing; else see
				     walk_span() */
};

/* Neither the text nor the matcher is owned; the text is moved to the first line. Without a matcher
   (NULL) every line is wanted. NULL with errno. A `from` behind the last line is an empty text. */
struct walk *walk_new(struct text *text, struct matcher *m, const struct walk_options *options);
void walk_free(struct walk *w);

/* The next wanted line (or gap); passes over the others. */
enum walk_kind walk_next(struct walk *w, struct walk_line *line);

/* The next line, wanted or not. */
enum walk_kind walk_step(struct walk *w, struct walk_line *line);

/* walk_behind() returns how many of the lines directly before the last one are still there, at most
   `max` and options.context. walk_before() returns the `back`-th of them, 1 being the nearest. */
uint64_t walk_behind(const struct walk *w, uint64_t max);
void walk_before(const struct walk *w, uint64_t back, struct walk_line *line);

/* Where in a wanted line the match is: nothing at its start if there is none. */
void walk_span(struct walk *w, const struct walk_line *line, struct matcher_span *span);

#endif
