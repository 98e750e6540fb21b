// The screen of a terminal as a picture, for documents and for models that see.
#ifndef TERSE_COMMAND_SVG_H
#define TERSE_COMMAND_SVG_H

#include <jansson.h>

struct terminal;

/* A terminal of this size that keeps styles; the caller frees it. NULL with errno. */
struct terminal *svg_terminal(const json_t *cols, const json_t *rows);

/* Writes it as SVG to a file (output.h), down to the last row that is not blank. Colours are there
   if the terminal keeps styles. Nothing in the picture is active or refers to anything. Returns 0,
   or -1 with errno. */
int svg_write(const char *path, const struct terminal *t);

#endif
