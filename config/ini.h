// Reads ini text through inih, line by line. Lines that inih would silently cut, drop or misread
// are malformed: lines and names longer than its buffers, text behind a section's name, lines that
// are neither section, key nor comment, NUL bytes.
//
// The syntax: [section]; key = value or key: value; an indented line continues the key above; # or
// ; at the start of a line, or ; behind a blank, starts a comment. CRLF and a UTF-8 byte order mark
// are accepted.
#ifndef TERSE_CONFIG_INI_H
#define TERSE_CONFIG_INI_H

#include <stddef.h>

struct buffer;

enum ini_kind {
	INI_SECTION,   /* section */
	INI_KEY,       /* section ("" before the first one), key, value */
	INI_MORE,      /* the same: another value of the key */
	INI_MALFORMED, /* reason says why; value is the line's text, or NULL */
};

/* Valid during the call. */
struct ini_line {
	enum ini_kind kind;
	unsigned number; /* from 1 */
	const char *section, *key, *value, *reason;
};

/* Calls `visit` for every line but blanks and comments, in order, until it returns other than 0 or
   the text ends. */
void ini_visit(const char *text, size_t len, int (*visit)(void *ctx, const struct ini_line *line),
	       void *ctx);

/* Appends to `out` the text with one key set: in its place, else at the end of its section, else in
   a new section at the end. Comments, order and line ends stay. Several values go on indented
   lines. Returns 0, or -1 with errno: EINVAL (an ini file can't hold these values) or ENOMEM. */
int ini_set(struct buffer *out, const char *text, size_t len, const char *section, const char *key,
	    char *const *values, size_t count);

#endif
