// JSON as people keep it in configuration files, changed in place.
//
// A text is read into nodes that remember where they stand, so that a change touches
// nothing but what it adds or takes away: order, comments, trailing commas, line ends and
// indentation stay. RFC 8259 with comments (// and slash-star) and trailing commas; a
// byte order mark may come first. A text of blanks and comments alone has no nodes.
#ifndef TERSE_AGENTS_JSONC_H
#define TERSE_AGENTS_JSONC_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

enum jsonc_kind { JSONC_OBJECT, JSONC_ARRAY, JSONC_STRING, JSONC_SCALAR };

struct jsonc_node {
	enum jsonc_kind kind;
	int parent;          /* -1: the root */
	size_t key, key_end; /* with its quotes; both 0: not a member of an object */
	size_t start, end;   /* the value's bytes */
};

struct jsonc {
	const char *text; /* the caller's */
	size_t len;
	struct jsonc_node *nodes; /* parents before their children; [0] is the root */
	size_t count, cap;
	const char *reason; /* why it could not be read, and where */
	size_t at;
};

enum { JSONC_DEPTH_MAX = 64 };

/* Returns 0, or -1 with errno: EINVAL with `reason` and `at` filled in; ENOMEM. To be released in
   any case. */
int jsonc_parse(struct jsonc *j, const char *text, size_t len);
void jsonc_release(struct jsonc *j);

/* The line of a place in a text, from 1. */
size_t jsonc_line(const char *text, size_t at);

/* The member `key` of an object (the last one of that name), or -1. */
int jsonc_member(const struct jsonc *j, int object, const char *key);

/* The node that a path of keys leads to; the path ends with NULL. -1: a part of it is missing. */
int jsonc_find(const struct jsonc *j, const char *const *path);

/* The child that follows `after` (-1: the first), or -1. */
int jsonc_next(const struct jsonc *j, int parent, int after);

/* A string's text, to be freed; NULL if it is no string, or with ENOMEM. */
char *jsonc_string(const struct jsonc *j, int node);

/* --- changes: each appends the whole changed text to `out`; 0, or -1 with ENOMEM ----------- */

/* Adds a value where a path leads: as its last key's value or, if `element`, behind the elements of
   the array there. Makes missing parts of the path. Existing parts have to be of the right kind
   (else -1 with ENOTDIR), and the value must not exist yet (EEXIST). `value`: JSON without
   blanks. */
int jsonc_add(struct buffer *out, const struct jsonc *j, const char *const *path, const char *value,
	      bool element);

/* Takes a member or an element away (not the root). */
int jsonc_remove(struct buffer *out, const struct jsonc *j, int node);

/* Replaces a value. */
int jsonc_replace(struct buffer *out, const struct jsonc *j, int node, const char *value);

#endif
