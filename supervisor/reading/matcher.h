// A regular expression (PCRE2) that is searched for in lines.
#ifndef TERSE_READING_MATCHER_H
#define TERSE_READING_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

struct matcher;

// A pattern matches a line without its newline; "^" and "$" are where the line begins and
// ends. A carriage return at the end of a line may be there or not, as the pattern likes it:
// both "end$" and "end\r" match "end\r\n". Characters are those of UTF-8, and classes, cases
// and word boundaries those of Unicode; bytes that are not UTF-8 match nothing.

struct matcher_options {
	bool ignore_case;
	bool word;    /* there is no word character directly before and behind a match */
	bool literal; /* the pattern is a string, not an expression */
};

struct matcher_error {
	size_t offset; /* bytes into the pattern */
	char text[160];
};

/* The pattern stays the caller's. NULL with errno: EINVAL: the pattern is not valid, *error tells
 * why; else ENOMEM. */
struct matcher *matcher_new(const char *pattern, const struct matcher_options *options,
			    struct matcher_error *error);
void matcher_free(struct matcher *m);

enum matcher_result {
	MATCHER_NONE,
	MATCHER_FOUND,
	MATCHER_GAVE_UP, /* matching takes too many steps, too long (2 s of the processor, and one
			    more for each MB) or too much memory: see matcher_reason */
};

struct matcher_span {
	size_t from, to; /* offsets in the line */
};

/* Matches one line, without its newline. `span` may be NULL. */
enum matcher_result matcher_line(struct matcher *m, const char *line, size_t len,
				 struct matcher_span *span);

/* The same in a part of a line that is too long to be had at once. A match has to begin at `start`
   or behind; the bytes before it are there to be looked back at. `start` 0: the line begins with
   this part; `ends`: it ends with it. `span` may be NULL. */
enum matcher_result matcher_part(struct matcher *m, const char *data, size_t len, size_t start,
				 bool ends, struct matcher_span *span);

/* Finds the first line that matches in many: whole ones, of which the last need not have a newline.
   Sets *at to its beginning. MATCHER_GAVE_UP: *at is the line it gave up at. */
enum matcher_result matcher_next(struct matcher *m, const char *data, size_t len, size_t *at);

/* Why it gave up, as part of a sentence ("it takes over 10 million steps, ..."). */
const char *matcher_reason(const struct matcher *m);

#endif
