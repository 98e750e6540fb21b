// The members of a JSON object, or the elements of an array, one at a time, without a tree: for
// lines that terse wrote itself, without white space, and reads by the hundred thousand. jansson
// parses what others write.
//
// A value is skipped by its quotes and brackets alone, so damage inside it may go unnoticed.
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
	bool is_list;
	bool bad;                /* the text is neither object nor array, or damaged */
	struct member_value key; /* of a member of an object, without its quotes */
	struct member_value value;
};

/* Begins a walk over the text, which is an object or an array. */
void members_begin(struct members *m, const char *data, size_t len);

/* Goes to the next member. Returns false after the last one, and where the text is damaged
   (`bad`). */
bool members_next(struct members *m);

/* Whether a key or value consists of exactly these bytes: "null". */
bool member_is(const struct member_value *v, const char *json);

/* Reads a number from 0 to `most`. Returns false if the value is anything else. */
bool member_number(const struct member_value *v, uint64_t most, uint64_t *n);

/* Writes the text of a string, and a NUL, to `out`, which has room for v->len bytes. Returns the
   place after the NUL, or NULL if the value is not a string, is not UTF-8, or has a NUL or an
   unescaped control character. */
char *member_text(const struct member_value *v, char *out);

/* Reads the four hexadecimal digits of a \u escape. Returns false if there are fewer. */
bool member_hex(const char *at, const char *end, uint32_t *n);

#endif
