// The texts by which a user marks lines as telling, or as not (config/phrase.h).
#ifndef TERSE_PREVIEW_PHRASES_H
#define TERSE_PREVIEW_PHRASES_H

#include "supervisor/preview/line.h"
#include "supervisor/preview/salience.h"
#include "supervisor/preview/scout.h"

#include <stddef.h>

struct phrases {
	char **telling, **ignored; /* lower case; NULL-terminated, or NULL */
	char *lower;               /* room for the longest line that is looked at */
	size_t longest;
};

/* Copies two lists, NULL-terminated or NULL, and has a search look for the first of them.
   `longest`: of the lines, bytes. `p` is all zeroes. 0, or -1 with ENOMEM. */
int phrases_init(struct phrases *p, char *const *telling, char *const *ignored, size_t longest,
		 struct scout *scout);
void phrases_release(struct phrases *p);

/* Corrects what was found out about a line. */
void phrases_apply(const struct phrases *p, const struct line *line, struct salience *salience);

#endif
