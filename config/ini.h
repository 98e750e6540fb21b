// Reads ini text through inih and tells what each line says, with its line
// number. What inih would cut, drop or misread in silence is malformed here:
// lines and names longer than its buffers, text behind a section's name, lines
// that are neither section, key nor comment, NUL bytes.
//
// The syntax: [section]; key = value or key: value; an indented line goes on
// with the key above; # or ; at the start of a line, or ; behind a blank,
// starts a comment. CRLF and a UTF-8 byte order mark are taken.
#ifndef TERSE_CONFIG_INI_H
#define TERSE_CONFIG_INI_H

#include <stddef.h>

struct buffer;

enum ini_kind {
	INI_SECTION,   /* section */
	INI_KEY,       /* section ("" before the first one), key, value */
	INI_MORE,      /* the same; one more value for a key */
	INI_MALFORMED, /* reason says why; value is the line's text, or NULL */
};

/* Valid for the time of the call. */
struct ini_line {
	enum ini_kind kind;
	unsigned number; /* from 1 */
	const char *section, *key, *value, *reason;
};

/* Calls `visit` for every line that says something, in order, until it returns other than 0 or the
   text ends. */
void ini_visit(const char *text, size_t len, int (*visit)(void *ctx, const struct ini_line *line),
	       void *ctx);

/* The largest file that is read. */
#define INI_FILE_MAX ((size_t)1 << 20)

/* Appends the file to `text`. Never waits (a FIFO with no writer reads as empty). Returns 0, or -1
   with errno; EFBIG: over INI_FILE_MAX. */
int ini_read_file(const char *path, struct buffer *text);

/* The same from a descriptor, which stays open. */
int ini_read_descriptor(int fd, struct buffer *text);

// Setting one key in an ini text and leaving everything else as it is: comments, order, line ends.

/* Appends to `out` the text with the key set: where it is set, else at the end of its section, else
   in a new section at the end. More values than one go on indented lines. Returns 0, or -1 with
   errno: EINVAL: an ini file can't hold these values; ENOMEM. */
int ini_set(struct buffer *out, const char *text, size_t len, const char *section, const char *key,
	    char *const *values, size_t count);

#endif
