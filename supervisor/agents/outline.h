// Finds the values in a JSON file of settings, and changes them in place.
//
// A text is read into nodes that remember their places, so that a change touches only what it adds
// or takes away: order, comments, trailing commas, line ends and indentation stay.
//
// JSON: RFC 8259 with comments (// and slash-star) and trailing commas; a byte order mark may come
// first. A text that has only blanks and comments has no nodes.
#ifndef TERSE_AGENTS_OUTLINE_H
#define TERSE_AGENTS_OUTLINE_H

#include "lib/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* A change of a text: new bytes replace those in [from, to). */
struct splice {
	size_t from, to;
	struct buffer text; /* the new bytes; owned by the caller */
};

/* Makes the change and releases it. Returns 0, or -1 with ENOMEM and `text` unchanged. */
int splice_make(struct splice *s, struct buffer *text);

enum outline_kind { OUTLINE_OBJECT, OUTLINE_ARRAY, OUTLINE_STRING, OUTLINE_SCALAR };

struct outline_node {
	enum outline_kind kind;
	int parent;        /* -1: the root */
	size_t begin;      /* where the element begins, or the member with its key */
	size_t key_end;    /* the end of the key, after its quote; 0: not a member of an object */
	size_t start, end; /* the value's bytes */
};

struct outline {
	const char *text; /* the caller's */
	size_t len;
	struct outline_node *nodes; /* parents before their children; [0] is the root */
	size_t count, cap;
	const char *reason; /* why it could not be read, and where */
	size_t at;
};

enum { OUTLINE_DEPTH_MAX = 64 };

/* Returns 0, or -1 with errno: EINVAL with `reason` and `at` filled in; ENOMEM. Release the struct
   even after a failure. */
int outline_parse(struct outline *o, const char *text, size_t len);
void outline_release(struct outline *o);

/* The member `key` of an object (the last one of that name), or -1. */
int outline_member(const struct outline *o, int object, const char *key);

/* Follows the keys of a path, which ends with NULL, up to the first missing one, and fills in their
   nodes. Returns how many it found. */
size_t outline_find(const struct outline *o, const char *const *path, int nodes[]);

/* --- changes ---------------------------------------------------------------------------------- */

/* Adds a value at the end of a path: as the value of the last key or, if `element`, after the last
   element of the array that the path names. Makes missing parts of the path. `value`: JSON without
   blanks. Returns 0, or -1 with errno: ENOTDIR, an existing part is not of the right kind; EEXIST,
   the value exists; ENOMEM.
 */
int outline_add(struct splice *s, const struct outline *o, const char *const *path,
		const char *value, bool element);

/* Removes a member or an element (not the root). */
void outline_remove(struct splice *s, const struct outline *o, int node);

/* --- TOML ------------------------------------------------------------------------------------- */

// Finds, adds and removes a key of a table in a TOML file, by whole lines. Only tables, keys and
// the ends of values are parsed.

/* Places in a text. */
struct toml {
	size_t start, value, value_end, end; /* the line of the key; end 0: there is none */
	size_t table, table_end; /* the line of the table's header; table_end 0: there is none */
	size_t last;             /* the end of the table's last line with a key, or of its header */
	size_t keys;             /* how many keys the table has */
	size_t foreign;     /* if the table is written as an inline table, with dotted keys or as an
			       array of tables, where that ends; else 0 */
	const char *reason; /* why the text can't be read, and where */
	size_t at;          /* where in its line */
};

/* Finds the last key of a path; the keys before it name its table. The path ends with NULL. Returns
   0, or -1 with errno EINVAL. */
int toml_find(struct toml *t, const char *text, size_t len, const char *const *path);

/* Adds the key, which must be missing, after the other keys of its table, or at the end of the text
   together with a new table. */
void toml_add(struct splice *s, const struct toml *t, const char *text, size_t len,
	      const char *const *path, const char *value);

/* Removes the key's line, and the table's header if the table has no other key. */
void toml_remove(struct splice *s, const struct toml *t, const char *text);

#endif
