// What only a person at a terminal gets: colours and a pager.
#ifndef TERSE_COMMAND_PERSON_H
#define TERSE_COMMAND_PERSON_H

#include <stdbool.h>
#include <sys/types.h>

// Colours: at a terminal, unless NO_COLOR is set; elsewhere only with --color always, or with
// CLICOLOR_FORCE where no agent reads. Few and of the terminal's own palette, so that they fit its
// background.

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

/* What begins a colour, and what ends it: "" if not `on`. */
const char *paint_code(bool on, enum paint paint);
const char *paint_none(bool on);

// A pager, as git starts one: $TERSE_PAGER, else $PAGER, else less; none where that is empty or
// "cat", or where standard output is no terminal. less gets LESS=FRX unless it is set, so what fits
// on the screen is just printed.

/* Makes standard output a pipe to the pager. Returns its process, or 0: there is none, and standard
   output is as it was. */
pid_t pager_start(void);

/* Waits until the person has left it. `pager` may be 0. */
void pager_end(pid_t pager);

#endif
