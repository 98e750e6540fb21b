// Classes of characters, independent of the locale.
#ifndef TERSE_PREVIEW_CHARS_H
#define TERSE_PREVIEW_CHARS_H

#include "lib/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static inline bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether `c` is one of the characters of a string. That is a constant everywhere: unrolled (which
   clang does by itself), the comparisons become a single test of bits. */
static inline __attribute__((always_inline)) bool is_one_of(char c, const char *set)
{
	bool found = false;
	size_t count = strlen(set);

#ifndef __clang__
	UNROLL
#endif
	for (size_t i = 0; i < count; i++)
		found |= c == set[i];
	return found;
}

static inline size_t skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len && is_blank(text[at]))
		at++;
	return at;
}

static inline bool starts_with(const char *text, size_t len, const char *prefix)
{
	size_t n = strlen(prefix);

	return len >= n && memcmp(text, prefix, n) == 0;
}

static inline bool ends_with(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

#endif
