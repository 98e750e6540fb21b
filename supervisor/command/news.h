// What a reader has not seen yet of a run: printed as a run prints it, whole if it fits
// and else as a preview, and a last line that tells how the run is.
#ifndef TERSE_COMMAND_NEWS_H
#define TERSE_COMMAND_NEWS_H

#include "supervisor/report/wording.h"

#include <stdint.h>

struct settings;
struct text;

/* Prints the text behind its first `told` lines, of a run that is as `ending` says (lines and bytes
   are those of the whole text), and sets *told to the lines there are now. Returns 0, or -1 with
   errno. */
int news_print(const struct settings *s, struct text *text, uint64_t *told,
	       const struct wording_ending *ending, const char *id);

#endif
