// The screen of a terminal as a picture, for documents and for models that see.
#ifndef TERSE_COMMAND_SVG_H
#define TERSE_COMMAND_SVG_H

struct terminal;

/* Writes it as SVG to a file (output.h), down to the last row that is not blank. Colours are there
   if the terminal keeps styles. Nothing in the picture is active or refers to anything. Returns 0,
   or -1 with errno. */
int svg_write(const char *path, const struct terminal *t);

#endif
