// The bytes of a pipe on their way to a program or file, as long as they are plain.
//
// A program must get what the command wrote: CR before LF, form feeds, invalid
// UTF-8, everything (a patch has to apply). Only what redraws (ESC, backspace, CR without LF) is
// resolved by the terminal. So whole lines are passed on as they are until the first such byte;
// from its line on the text of the terminal is what is printed.
#ifndef TERSE_INTERCEPT_PLAIN_H
#define TERSE_INTERCEPT_PLAIN_H

#include "supervisor/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* An unfinished line longer than this is passed on before its end is known. */
#define PLAIN_LINE ((size_t)64 * 1024)

/* A zeroed struct is a new one. */
struct plain {
	struct buffer line; /* of the unfinished line: what is not passed on yet */
	size_t passed;      /* bytes of the unfinished line that are */
};

/* How many bytes come before the first that redraws. A CR at the very end counts as one, since
   what follows it is not known yet. */
size_t plain_length(const char *data, size_t len);

/* Takes plain bytes; passes on what is ready. Returns 0, or -1 with ENOMEM (then passed on all the
 * same). */
int plain_feed(struct plain *p, const char *data, size_t len,
	       void (*pass)(void *ctx, const char *data, size_t len), void *ctx);

/* Passes on the rest: nothing that redraws has come. */
void plain_finish(struct plain *p, void (*pass)(void *ctx, const char *data, size_t len),
		  void *ctx);

void plain_release(struct plain *p);

#endif
