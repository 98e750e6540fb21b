// A long line as it is shown: the part around the match.
#ifndef TERSE_SEARCH_EXCERPT_H
#define TERSE_SEARCH_EXCERPT_H

#include "supervisor/search/walk.h"

#include <stdbool.h>
#include <stddef.h>

struct buffer;

#define EXCERPT_MAX 500 /* characters */

/* Whether the line (or what is there of it) has more than EXCERPT_MAX characters. */
bool excerpt_is_long(const char *data, size_t len);

struct excerpt {
	size_t from, to; /* of the bytes that are shown; no character is split */
	bool cut_before, cut_behind;
};

/* Chooses EXCERPT_MAX characters of a long line, the match in their middle; of a match that is
   longer itself, its begin. */
void excerpt_choose(struct excerpt *e, const struct walk_line *line,
		    const struct matcher_span *match);

/* Appends it clean, with "[truncated]" where it is cut. Returns 0, or -1 with ENOMEM. */
int excerpt_append(struct buffer *out, const struct excerpt *e, const char *data);

#endif
