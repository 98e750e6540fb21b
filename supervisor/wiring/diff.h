// What differs between two texts, as diff -u tells it.
#ifndef TERSE_WIRING_DIFF_H
#define TERSE_WIRING_DIFF_H

#include <stddef.h>

struct buffer;

struct diff_text {
	const char *name;
	const char *data;
	size_t len;
};

/* Appends the difference, or nothing if there is none. Returns 0, or -1 with ENOMEM. Texts of more
   than some thousand lines that differ in many places are told in one piece. */
int diff_append(struct buffer *out, const struct diff_text *before, const struct diff_text *after);

#endif
