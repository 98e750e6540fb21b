// TOML as people keep it in configuration files, changed in place: only keys with strings
// are added and removed, and everything else of the text stays.
//
// It reads as much of TOML 1.0 as is needed to find keys and values: tables, arrays of tables,
// dotted and quoted keys, inline tables, arrays and strings over several lines. Dates and numbers
// are not looked at closely.
#ifndef TERSE_AGENTS_TOML_H
#define TERSE_AGENTS_TOML_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

enum toml_kind { TOML_HEADER, TOML_KEY, TOML_INLINE_KEY };

struct toml_entry {
	enum toml_kind kind;
	char *path;          /* from the root, without quotes: "a.b.c" */
	size_t key, key_end; /* the key as written; of a header what is in the brackets */
	size_t start, end;   /* the value; of a header the whole line without its end */
	bool dotted;         /* the key as written has a dot */
	int table;           /* the header it stands under, or -1 */
	int owner;           /* TOML_INLINE_KEY: the entry whose value it stands in */
};

struct toml {
	const char *text; /* the caller's */
	size_t len;
	struct toml_entry *entries; /* as they stand in the text */
	size_t count, cap;
	const char *reason; /* why it could not be read, and where */
	size_t at;
};

/* Returns 0, or -1 with errno: EINVAL with `reason` and `at` filled in; ENOMEM. To be released in
   any case. */
int toml_parse(struct toml *t, const char *text, size_t len);
void toml_release(struct toml *t);

/* The key of that path (not a header), or -1. */
int toml_find(const struct toml *t, const char *path);

/* A plain string's text, to be freed; NULL if it is none or holds an escape, or with ENOMEM. */
char *toml_string(const struct toml *t, int entry);

/* --- changes: each appends the whole changed text to `out`, which remembers a failure --- */

/* Adds `key` with a string, or with an array as it stands ("[...]"), to `table`, both bare names
   with dots; where it is written as an inline table or by dotted keys, there. Returns 0, or -1 with
   errno: ENOTDIR where it is something else; ENOMEM. */
int toml_add(struct buffer *out, const struct toml *t, const char *table, const char *key,
	     const char *string);

/* Takes a key away. */
void toml_remove(struct buffer *out, const struct toml *t, int entry);

/* Takes `table` away, its header or the inline one, if nothing is in it. Returns whether it was
   there and empty; else nothing is appended. */
bool toml_remove_empty(struct buffer *out, const struct toml *t, const char *table);

/* Replaces a value with a string. */
void toml_replace(struct buffer *out, const struct toml *t, int entry, const char *string);

#endif
