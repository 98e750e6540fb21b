// What can be told about a regular expression by reading it: strings that every line it matches has
// to hold, and whether many lines may be searched as one text.
//
// Reads the part of PCRE2's syntax that people use (pcre2pattern(3)). Where it meets
// anything else, it claims nothing.
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

/* `pattern` has been compiled as UTF-8 without an error; `fold`: PCRE2_CASELESS. */
void syntax_read(struct syntax *s, const char *pattern, size_t len, bool fold);

#endif
