// How much of a text fits into so many printed bytes: by whole characters, each counted as it is
// printed clean (utf8.h), or as it stands in a JSON string (json_text.h). A CR and its LF are one
// character.
#ifndef TERSE_READING_FIT_H
#define TERSE_READING_FIT_H

#include <stdbool.h>
#include <stddef.h>

/* What all of it takes. */
size_t fit_cost(const char *data, size_t len, bool json);

/* Bytes from the front of `data`, or from its end, that take at most `room`. */
size_t fit_front(const char *data, size_t len, size_t room, bool json);
size_t fit_back(const char *data, size_t len, size_t room, bool json);

/* The last offset up to `at` (at most `len`) where a character begins; what is before `data` does
   not matter if it begins with one. */
size_t fit_floor(const char *data, size_t len, size_t at);

#endif
