// Any bytes as the inside of a JSON string (RFC 8259), piece by piece, so that a text
// of any length can be written without being in memory at once.
#ifndef TERSE_LIB_JSON_H
#define TERSE_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* Appends `data` as it stands between the quotes. Quotes, backslashes and every code point that may
   not be printed (utf8_is_clean) but newline and tab become escapes, so nothing of valid text is
   lost; invalid bytes become U+FFFD, as a character that is cut at the end does. Returns 0, or -1
   with ENOMEM. */
int json_text_append(struct buffer *out, const char *data, size_t len);

/* The same with the quotes around it. */
int json_text_quote(struct buffer *out, const char *data, size_t len);

// The members of JSON objects (their strings are json.h's), appended to a buffer one by one,
// so that their length is known while they are made. What is read is parsed by jansson.
//
// Functions return 0, or -1 with ENOMEM. Commas are put where they belong: by what was appended
// before.

/* A comma, unless the object or array was just begun. */
int json_comma(struct buffer *out);

/* A member of an object: the key (plain ASCII), and its value. A NULL text is null. */
int json_member_key(struct buffer *out, const char *key);
int json_member_string(struct buffer *out, const char *key, const char *text);
int json_member_count(struct buffer *out, const char *key, uint64_t n);
int json_member_number(struct buffer *out, const char *key, int64_t n);
int json_member_bool(struct buffer *out, const char *key, bool value);
int json_member_null(struct buffer *out, const char *key);

/* A time in milliseconds since 1970 as "2026-11-20T09:03:34.123Z"; 0 is null. */
int json_member_time(struct buffer *out, const char *key, int64_t ms);

/* A signal by its name, "SIGTERM", or its number where it has none; 0 is null. */
int json_member_signal(struct buffer *out, const char *key, int sig);

#endif
