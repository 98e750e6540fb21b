// What a line is by how it begins and what it consists of, before its words are
// read.
#ifndef TERSE_PREVIEW_STRUCTURE_H
#define TERSE_PREVIEW_STRUCTURE_H

#include "supervisor/preview/salience.h"

#include <stddef.h>

struct structure {
	enum salience_kind kind;
	unsigned score; /* 0 to 100, as in struct salience */
};

/* `text` is the message of a line: without blanks around it, not empty. */
struct structure structure_of(const char *text, size_t len);

#endif
