// Reads JSON with jansson, and works around two of its faults. After some failed allocations
// jansson continues, and then ends the process or returns a text that lacks bytes. Here the first
// failed allocation ends the reading. jansson also refuses half a character (a surrogate alone,
// bytes that are not UTF-8), which some writers of JSON produce. Here half a character becomes
// U+FFFD.
#ifndef TERSE_LIB_JSON_READ_H
#define TERSE_LIB_JSON_READ_H

#include <jansson.h>
#include <stddef.h>

/* Like json_loadb(3), but sets errno if it returns NULL: to ENOMEM (and the error has no text) if
   an allocation failed, or to EINVAL if the text is not JSON. */
json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error);

#endif
