// Reading JSON: jansson, which at some places goes on where it found no memory: it ends the
// process, or gives a text without some of its bytes. Here the first block that is not to be had
// ends it.
#ifndef TERSE_LIB_JSON_READ_H
#define TERSE_LIB_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

/* json_loadb(3). Returns NULL with errno ENOMEM, and an error without text, if anything in the
   value found no memory; with errno EINVAL if the text is no JSON. */
json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error);

#endif
