// Text in lines of a given width, for help and sample.
#ifndef TERSE_CONFIG_WRAP_H
#define TERSE_CONFIG_WRAP_H

#include <stddef.h>

struct buffer;

/* Appends `text` (plain ASCII words, one blank between them) and a newline. Lines break at blanks
   so that they are at most `width` bytes wide, or one word; every line but the first starts with
   `prefix`, which the width does not count. Returns 0, or -1 with ENOMEM. */
int wrap_text(struct buffer *out, const char *text, size_t width, const char *prefix);

#endif
