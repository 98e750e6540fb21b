// Any bytes as the inside of a JSON string (RFC 8259), piece by piece, so that a text
// of any length can be written without being in memory at once.
#ifndef TERSE_BASE_JSON_TEXT_H
#define TERSE_BASE_JSON_TEXT_H

#include <stddef.h>

struct buffer;

/* Appends `data` as it stands between the quotes. Quotes, backslashes and every code point that may
   not be printed (utf8_is_clean) but newline and tab become escapes, so nothing of valid text is
   lost; invalid bytes become U+FFFD, as a character that is cut at the end does. Returns 0, or -1
   with ENOMEM. */
int json_text_append(struct buffer *out, const char *data, size_t len);

/* The same with the quotes around it. */
int json_text_quote(struct buffer *out, const char *data, size_t len);

#endif
