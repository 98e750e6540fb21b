// A key of a table in a TOML file, found, added and removed as a line. The file is not read
// closely: only as far as is needed to know tables, keys, and where values end.
#ifndef TERSE_AGENTS_TOML_H
#define TERSE_AGENTS_TOML_H

#include <stddef.h>

struct buffer;

/* Places in a text. */
struct toml {
	size_t start, value, value_end, end; /* the line of the key; end 0: there is none */
	size_t table, table_end; /* the line of the table's header; table_end 0: there is none */
	size_t last;             /* the end of its last line with a key, or of the header */
	size_t keys;             /* how many it has */
	size_t foreign;          /* behind an inline table, a dotted key or an array of tables that
				    the key would have to be in; or 0 */
	const char *reason;      /* why the text can't be read, and where */
	size_t at;               /* in its line */
};

/* Finds the last of the keys of a path, which ends with NULL; the others name its table. Returns 0,
   or -1 with errno EINVAL. */
int toml_find(struct toml *t, const char *text, size_t len, const char *const *path);

/* Appends the text with the key, which is not there yet, to `out`: behind the others of its table,
   or with that at the end. */
void toml_add(struct buffer *out, const struct toml *t, const char *text, size_t len,
	      const char *const *path, const char *value);

/* Appends the text without the key's line, and without the header that then has no key. */
void toml_remove(struct buffer *out, const struct toml *t, const char *text, size_t len);

/* Bytes of the line end above `at`, if that line is blank. */
size_t toml_blank_above(const char *text, size_t at);

#endif
