// Setting one key in an ini text and leaving everything else as it is: comments, order, line ends.
#ifndef TERSE_CONFIG_INI_EDIT_H
#define TERSE_CONFIG_INI_EDIT_H

#include <stddef.h>

struct buffer;

/* Appends to `out` the text with the key set: where it is set, else at the end of its section, else
   in a new section at the end. More values than one go on indented lines. Returns 0, or -1 with
   errno: EINVAL: an ini file can't hold these values; ENOMEM. */
int ini_set(struct buffer *out, const char *text, size_t len, const char *section, const char *key,
	    char *const *values, size_t count);

#endif
