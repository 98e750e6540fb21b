// The members of a JSON object, one after the other, without a tree: for lines that terse wrote
// itself and reads by the hundred thousand. jansson parses what others write.
//
// Members are passed over by their quotes and brackets only, so damage inside of a value is not
// always noticed.
#ifndef TERSE_LIB_MEMBERS_H
#define TERSE_LIB_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* JSON within a text, not NUL-terminated. A string has its quotes. */
struct member_value {
	const char *data;
	size_t len;
};

struct members {
	const char *at, *end;
	bool bad; /* it is no object, or damaged */
	const char *key;
	size_t key_len; /* without its quotes */
	struct member_value value;
};

/* Begins with the object that the text is. */
void members_begin(struct members *m, const char *data, size_t len);

/* Goes to the next member. Returns false behind the last one, and where the object is damaged. */
bool members_next(struct members *m);

/* Whether the member has this key. */
bool members_is(const struct members *m, const char *key);

/* A number of the value, at least 0, or 0 if it is none; of an array the one at `index`. */
uint64_t member_number(const struct member_value *v, unsigned index);

/* The content of a string without escapes; len 0 for anything else. */
struct member_value member_plain(const struct member_value *v);

#endif
