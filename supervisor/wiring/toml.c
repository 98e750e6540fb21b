// See toml.h. Reading; the changes are in toml_edit.c.

#include "supervisor/wiring/toml.h"

#include "supervisor/base/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64 };

static int toml_refuse(struct toml *t, size_t at, const char *reason)
{
	t->reason = reason;
	t->at = at;
	errno = EINVAL;
	return -1;
}

static char char_at(const struct toml *t, size_t at)
{
	return at < t->len ? t->text[at] : '\0';
}

static size_t toml_skip_blanks(const struct toml *t, size_t at)
{
	while (char_at(t, at) == ' ' || char_at(t, at) == '\t')
		at++;
	return at;
}

static size_t toml_line_end(const struct toml *t, size_t at)
{
	const char *end = at < t->len ? memchr(t->text + at, '\n', t->len - at) : NULL;

	return end ? (size_t)(end - t->text) : t->len;
}

/* Blanks, line ends and comments. */
static size_t skip_space(const struct toml *t, size_t at)
{
	for (;;) {
		at = toml_skip_blanks(t, at);
		if (char_at(t, at) == '#')
			at = toml_line_end(t, at);
		else if (at < t->len && strchr("\r\n", t->text[at]) && t->text[at])
			at++;
		else
			return at;
	}
}

static int toml_read_string(struct toml *t, size_t *at)
{
	char quote = t->text[*at];
	bool is_long = char_at(t, *at + 1) == quote && char_at(t, *at + 2) == quote;
	size_t i = *at + (is_long ? 3 : 1);

	for (; i < t->len; i++) {
		if (t->text[i] == '\\' && quote == '"') {
			i++;
		} else if (t->text[i] == '\n' && !is_long) {
			break;
		} else if (t->text[i] == quote && !is_long) {
			*at = i + 1;
			return 0;
		} else if (t->text[i] == quote && char_at(t, i + 1) == quote &&
			   char_at(t, i + 2) == quote) {
			/* Up to two more quotes belong to the string. */
			for (i += 3; char_at(t, i) == quote;)
				i++;
			*at = i;
			return 0;
		}
	}
	return toml_refuse(t, *at, "a string is not closed");
}

static bool toml_is_bare(char c)
{
	return c &&
	       (strchr("_-", c) || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'));
}

/* Reads a key and appends ".part" for each of its parts to the path. */
static int toml_read_key(struct toml *t, size_t *at, struct buffer *path, bool *dotted)
{
	*dotted = false;
	for (;;) {
		size_t start = *at, quoted = char_at(t, *at) == '"' || char_at(t, *at) == '\'';

		if (quoted && toml_read_string(t, at) < 0)
			return -1;
		while (!quoted && toml_is_bare(char_at(t, *at)))
			++*at;
		if (*at == start)
			return toml_refuse(t, *at, "a key is expected");
		if ((path->len && buffer_append(path, ".", 1) < 0) ||
		    buffer_append(path, t->text + start + quoted, *at - start - 2 * quoted) < 0)
			return -1;
		size_t next = toml_skip_blanks(t, *at);
		if (char_at(t, next) != '.')
			return 0;
		*dotted = true;
		*at = toml_skip_blanks(t, next + 1);
	}
}

static int toml_add_entry(struct toml *t, struct toml_entry entry, struct buffer *path)
{
	if (t->count == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		struct toml_entry *entries = realloc(t->entries, cap * sizeof(*entries));

		if (!entries)
			return -1;
		t->entries = entries;
		t->cap = cap;
	}
	if (!buffer_string(path))
		return -1;
	entry.path = path->data;
	*path = (struct buffer)BUFFER_INIT;
	t->entries[t->count] = entry;
	return (int)t->count++;
}

/* Starts a path that is below the one of an entry (-1: the root). */
static int begin_path(const struct toml *t, int above, struct buffer *path)
{
	return above < 0 ? 0 : buffer_append_string(path, t->entries[above].path);
}

static int toml_read_value(struct toml *t, size_t *at, int owner, int depth);

/* KEY = VALUE below the table or the inline table `above`. */
static int read_pair(struct toml *t, size_t *at, struct toml_entry entry, int above, int depth)
{
	struct buffer path = BUFFER_INIT;
	int index = -1;

	entry.key = *at;
	if (begin_path(t, above, &path) == 0 && toml_read_key(t, at, &path, &entry.dotted) == 0) {
		entry.key_end = *at;
		*at = toml_skip_blanks(t, *at);
		if (char_at(t, *at) != '=')
			toml_refuse(t, *at, "= is expected behind a key");
		else
			index = toml_add_entry(t, entry, &path);
	}
	buffer_release(&path);
	if (index < 0)
		return -1;
	*at = toml_skip_blanks(t, *at + 1);
	t->entries[index].start = *at;
	if (toml_read_value(t, at, index, depth) < 0)
		return -1;
	t->entries[index].end = *at;
	return 0;
}

static int read_inline(struct toml *t, size_t *at, int owner, int depth)
{
	const struct toml_entry entry = {
		.kind = TOML_INLINE_KEY, .owner = owner, .table = t->entries[owner].table};

	*at = skip_space(t, *at + 1);
	while (char_at(t, *at) != '}') {
		if (read_pair(t, at, entry, owner, depth + 1) < 0)
			return -1;
		*at = skip_space(t, *at);
		if (char_at(t, *at) == ',')
			*at = skip_space(t, *at + 1);
		else if (char_at(t, *at) != '}')
			return toml_refuse(t, *at, "a comma or } is expected");
	}
	++*at;
	return 0;
}

static int read_array(struct toml *t, size_t *at, int owner, int depth)
{
	*at = skip_space(t, *at + 1);
	while (char_at(t, *at) != ']') {
		if (toml_read_value(t, at, owner, depth + 1) < 0)
			return -1;
		*at = skip_space(t, *at);
		if (char_at(t, *at) == ',')
			*at = skip_space(t, *at + 1);
		else if (char_at(t, *at) != ']')
			return toml_refuse(t, *at, "a comma or ] is expected");
	}
	++*at;
	return 0;
}

static bool toml_is_digit(const struct toml *t, size_t at)
{
	return char_at(t, at) >= '0' && char_at(t, at) <= '9';
}

static int toml_read_value(struct toml *t, size_t *at, int owner, int depth)
{
	char first = char_at(t, *at);
	size_t start = *at;

	if (depth > DEPTH_MAX)
		return toml_refuse(t, *at, "nested too deeply");
	if (first == '"' || first == '\'')
		return toml_read_string(t, at);
	if (first == '{')
		return read_inline(t, at, owner, depth);
	if (first == '[')
		return read_array(t, at, owner, depth);
	/* In a date there may be a blank before the time. */
	while (*at < t->len &&
	       (!strchr(",]}# \t\r\n", t->text[*at]) ||
		(*at - start == 10 && t->text[*at] == ' ' && toml_is_digit(t, *at + 1))))
		++*at;
	return *at > start ? 0 : toml_refuse(t, *at, "a value is expected");
}

/* [table] or [[table]] */
static int toml_read_header(struct toml *t, size_t *at, int *table)
{
	struct toml_entry entry = {.kind = TOML_HEADER, .table = -1, .owner = -1, .start = *at};
	struct buffer path = BUFFER_INIT;
	int brackets = char_at(t, *at + 1) == '[' ? 2 : 1, index = -1;

	*at = toml_skip_blanks(t, *at + (size_t)brackets);
	entry.key = *at;
	if (toml_read_key(t, at, &path, &entry.dotted) == 0) {
		entry.key_end = *at;
		*at = toml_skip_blanks(t, *at);
		if (char_at(t, *at) != ']' || (brackets == 2 && char_at(t, *at + 1) != ']')) {
			toml_refuse(t, *at, "] is expected");
		} else {
			*at += (size_t)brackets;
			entry.end = *at;
			index = toml_add_entry(t, entry, &path);
		}
	}
	buffer_release(&path);
	*table = index;
	return index < 0 ? -1 : 0;
}

int toml_parse(struct toml *t, const char *text, size_t len)
{
	size_t at = 0;
	int table = -1;

	*t = (struct toml){.text = text, .len = len};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	for (at = skip_space(t, at); at < len; at = skip_space(t, at)) {
		const struct toml_entry entry = {.kind = TOML_KEY, .table = table, .owner = -1};

		if ((text[at] == '[' ? toml_read_header(t, &at, &table)
				     : read_pair(t, &at, entry, table, 0)) < 0)
			return -1;
		at = toml_skip_blanks(t, at);
		if (at < len && !strchr("#\r\n", text[at]))
			return toml_refuse(t, at, "the end of the line is expected");
		at = toml_line_end(t, at);
	}
	return 0;
}

void toml_release(struct toml *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->entries[i].path);
	free(t->entries);
	*t = (struct toml){.text = NULL};
}

int toml_find(const struct toml *t, const char *path)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->entries[i].kind != TOML_HEADER && strcmp(t->entries[i].path, path) == 0)
			return (int)i;
	}
	return -1;
}

char *toml_string(const struct toml *t, int entry)
{
	const struct toml_entry *e = &t->entries[entry];
	const char *value = t->text + e->start;
	size_t len = e->end - e->start;

	if (len < 2 || (*value != '"' && *value != '\'') || memchr(value, '\n', len) ||
	    (*value == '"' && memchr(value, '\\', len)))
		return NULL;
	return strndup(value + 1, len - 2);
}
