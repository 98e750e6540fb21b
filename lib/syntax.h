// Reads a regular expression before it is used: finds strings that every matching line holds, and
// whether many lines may be searched as one text.
//
// PCRE2 itself splits the pattern into items (pcre2callout(3)). An item that is not understood
// here ends the reading, and nothing is claimed.
#ifndef TERSE_LIB_SYNTAX_H
#define TERSE_LIB_SYNTAX_H

#include "lib/finder.h"

struct syntax {
	struct literal_set literals; /* a matching line has one of them; none: not known */
	unsigned sure;               /* a line that has one of the first so many matches */
	/* A match never takes in a newline nor depends on what is beyond one: in multiline mode
	   it is the same in a text of many lines as in the line alone. */
	bool in_line;
	bool line_end; /* it may depend on where the line ends */
};

/* PCRE2 has compiled `pattern` with these `options` of its own; "\n" is the newline. */
void syntax_read(struct syntax *s, const char *pattern, size_t len, uint32_t options);

#endif
