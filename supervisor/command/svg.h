// The screen of a terminal as a picture, for documents and for models that see.
#ifndef TERSE_COMMAND_SVG_H
#define TERSE_COMMAND_SVG_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct terminal;
struct terminal_style;

/* Appends it as SVG, down to the last row that is not blank. Colours are there if the terminal
   keeps styles. Nothing in the picture is active or refers to anything. Memory: buffer.h. */
void svg_append(struct buffer *out, const struct terminal *t);

/* The colours in which a style is drawn, 0xRRGGBB: turned round if it is inverse. */
struct svg_colours {
	uint32_t ink, paper;
	bool has_ink, has_paper; /* else they are those of the picture */
};
struct svg_colours svg_colours(const struct terminal_style *style);

/* Writes it to a file (output.h). Returns 0, or -1 with errno. */
int svg_write(const char *path, const struct terminal *t);

#endif
