// The members of JSON objects (their strings are json_text.h's), appended to a buffer one by one,
// so that their length is known while they are made. What is read is parsed by jansson.
//
// Functions return 0, or -1 with ENOMEM. Commas are put where they belong: by what was appended
// before.
#ifndef TERSE_BASE_JSON_MEMBER_H
#define TERSE_BASE_JSON_MEMBER_H

#include <stdbool.h>
#include <stdint.h>

struct buffer;

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
