// The one writer of JSON (RFC 8259): appends compact JSON to a buffer, value by value, so that its
// length is known while it is made. jansson parses the JSON that terse reads.
//
// Each function that adds a value takes its key (plain ASCII), or NULL for an element of an array
// and for the outermost value. A value gets a comma in front, unless the buffer is empty or ends
// with one of "{[:,", a blank or a newline. A caller that empties the buffer in the middle of a
// list therefore has to append the next comma itself.
//
// If there is no memory, the buffer fails (buffer.h).
#ifndef TERSE_LIB_JSON_H
#define TERSE_LIB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* An object ('{', '}'), an array ('[', ']'), or a string ('"') that is added in pieces. A piece
   must not end inside a character. */
void json_begin(struct buffer *out, const char *key, char open);
void json_end(struct buffer *out, char close);
void json_text_piece(struct buffer *out, const char *data, size_t len);

/* A string. Quotes, backslashes, control characters and every code point that may not be printed
   (utf8_is_clean) become escapes, so valid text loses nothing. Invalid bytes become U+FFFD, and so
   does a character that is cut at the end. */
void json_add_text(struct buffer *out, const char *key, const char *data, size_t len);

/* NULL is null. */
void json_add_string(struct buffer *out, const char *key, const char *string);

/* Adds the text of `made` as a string (null if it is empty), and releases `made`. If `made` has
   failed, `out` fails. */
void json_add_made(struct buffer *out, const char *key, struct buffer *made);

void json_add_count(struct buffer *out, const char *key, uint64_t n);
void json_add_number(struct buffer *out, const char *key, int64_t n);

/* A count, or null where it is not known. */
void json_add_known(struct buffer *out, const char *key, bool known, uint64_t n);

void json_add_bool(struct buffer *out, const char *key, bool value);
void json_add_null(struct buffer *out, const char *key);

/* A time in milliseconds since 1970 as "2026-11-20T09:03:34.123Z"; 0 is null. */
void json_add_time(struct buffer *out, const char *key, int64_t ms);

/* A signal by its name, "SIGTERM", or its number where it has none; 0 is null. */
void json_add_signal(struct buffer *out, const char *key, int sig);

/* A command as an array of its words (NULL: none), cut to `budget` bytes. A word counts as its
   length plus `extra`. Returns whether anything was cut off. */
bool json_add_command(struct buffer *out, const char *key, char *const *words, size_t budget,
		      size_t extra);

/* A value that is JSON already. */
void json_add_raw(struct buffer *out, const char *key, const char *json, size_t len);

#endif
