// Colours for people: at a terminal, unless NO_COLOR is set; elsewhere only with --color always, or
// with CLICOLOR_FORCE where no agent reads. Few and of the terminal's own palette, so that they fit
// its background.
#ifndef TERSE_COMMAND_PAINT_H
#define TERSE_COMMAND_PAINT_H

#include "lib/buffer.h"

#include <stdbool.h>

enum paint {
	PAINT_GOOD,
	PAINT_BAD,
	PAINT_LIVE,
	PAINT_SOFT,
	PAINT_NOTICE,
	PAINT_MATCH,
	PAINT_PLACE,
	PAINT_TITLE
};

/* Whether standard output is coloured when nobody says otherwise (https://no-color.org,
   https://bixense.com/clicolors). */
bool paint_by_default(void);

/* Append what begins a colour, and what ends it; nothing if not `on`. */
void paint_begin(struct buffer *out, bool on, enum paint paint);
void paint_end(struct buffer *out, bool on);

/* The sequences themselves: "" if not `on`. */
const char *paint_code(bool on, enum paint paint);
const char *paint_none(bool on);

#endif
