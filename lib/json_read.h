// Reading JSON: jansson, with its limits mended. At some places it goes on where it found no
// memory: it ends the process, or gives a text without some of its bytes; here the first block that
// is not to be had ends it. And it refuses half a character (a surrogate alone, bytes that are not
// UTF-8), which writers of JSON make all the same: that becomes U+FFFD.
#ifndef TERSE_LIB_JSON_READ_H
#define TERSE_LIB_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

/* json_loadb(3). Returns NULL with errno ENOMEM, and an error without text, if anything in the
   value found no memory; with errno EINVAL if the text is no JSON. */
json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error);

#endif
