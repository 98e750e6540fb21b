// What a command asks of terse in the comment that it ends with, so that an agent's rules judge the
// command as it would be without:
//
//   npm run dev # terse: yield=10s
//   make # terse: timeout=5m, size=20KB
//
// It is the last comment of the whole string, and has nothing else in it than these names, each
// with a value: yield, timeout, size. Any other comment is none of terse's.
#ifndef TERSE_CONFIG_COMMENT_H
#define TERSE_CONFIG_COMMENT_H

#include "config/settings.h"

#include <stddef.h>

enum { COMMENT_MAX = 3, COMMENT_LEN = 48 };

struct comment {
	size_t count;
	char flags[COMMENT_MAX][COMMENT_LEN]; /* "--yield=10s" */
};

/* Reads it, and sets what it asks for in the settings, as if these were flags. A value that is not
   valid is left out, since a comment never kept a command from running: -1, with the last such
   error. */
int comment_read(struct comment *c, const char *command, struct settings *s,
		 struct option_error *error);

#endif
