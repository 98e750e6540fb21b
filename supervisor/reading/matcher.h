// A regular expression (PCRE2) that is searched for in lines.
#ifndef TERSE_READING_MATCHER_H
#define TERSE_READING_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

struct matcher;

// A pattern is matched against a line without its newline; "^" and "$" are the ends of the line. A
// carriage return at the end of a line is optional: both "end$" and "end\r" match "end\r\n". Text
// is UTF-8; classes, case and word boundaries are those of Unicode. Bytes that are not UTF-8 match
// nothing.

struct matcher_options {
	bool ignore_case;
	bool word;    /* a match has no word character directly before or after it */
	bool literal; /* the pattern is a string, not an expression */
};

struct matcher_error {
	size_t offset; /* in the pattern, in bytes */
	char text[160];
};

/* Compiles a pattern, which has to outlive the matcher. Returns NULL with errno: EINVAL if the
   pattern is invalid, which *error explains; ENOMEM. */
struct matcher *matcher_new(const char *pattern, const struct matcher_options *options,
			    struct matcher_error *error);
void matcher_free(struct matcher *m);

enum matcher_result {
	MATCHER_NONE,
	MATCHER_FOUND,
	MATCHER_GAVE_UP, /* matching takes too many steps, too much time (2 s of processor time, and
			    1 s more for each MB) or too much memory: see matcher_reason() */
};

struct matcher_span {
	size_t from, to; /* offsets in the line */
};

/* Matches one line, without its newline. `span` may be NULL. */
enum matcher_result matcher_line(struct matcher *m, const char *line, size_t len,
				 struct matcher_span *span);

/* Matches a part of a line that is too long to be held whole. A match begins at `start` or after
   it; the bytes before `start` serve lookbehind. With `start` 0 the line begins where the part
   begins; with `ends` it ends where the part ends. `span` may be NULL. */
enum matcher_result matcher_part(struct matcher *m, const char *data, size_t len, size_t start,
				 bool ends, struct matcher_span *span);

/* Finds the first line that matches in a text of whole lines; the last one may lack its newline.
   Stores the offset of that line in *at; with MATCHER_GAVE_UP, that of the line it gave up at. */
enum matcher_result matcher_next(struct matcher *m, const char *data, size_t len, size_t *at);

/* Why matching was given up, as part of a sentence ("it takes over 10 million steps, ..."). */
const char *matcher_reason(const struct matcher *m);

#endif
