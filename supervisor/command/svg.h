// The screen of a terminal as a picture, for documents and for models that see.
#ifndef TERSE_COMMAND_SVG_H
#define TERSE_COMMAND_SVG_H

#include "lib/buffer.h"

struct terminal;

/* Appends it as SVG, down to the last row that is not blank. Colours are there if the terminal
   keeps styles. Nothing in the picture is active or refers to anything. Memory: buffer.h. */
void svg_append(struct buffer *out, const struct terminal *t);

/* Writes it to a new file, or replaces one; "-": standard output. Returns 0, or -1 with errno. */
int svg_write(const char *path, const struct terminal *t);

#endif
