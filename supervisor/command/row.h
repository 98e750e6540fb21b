// What the rows of a list are made of.
#ifndef TERSE_COMMAND_ROW_H
#define TERSE_COMMAND_ROW_H

#include <stddef.h>

struct buffer;
struct meta;

/* Appends the command as one line of words. Returns 0, or -1 with ENOMEM, as do both. */
int row_add_command(struct buffer *out, const struct meta *m);

/* Appends `text` on one line, clean, cut to `width` columns. */
int row_add_cell(struct buffer *out, const char *text, size_t len, size_t width);

#endif
