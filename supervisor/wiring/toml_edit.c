// Changes to a TOML text; see toml.h.

#include "supervisor/wiring/toml.h"

#include "supervisor/base/buffer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* A basic string; what terse writes are paths, of printable characters. */
static int write_string(struct buffer *out, const char *string)
{
	int status = buffer_append(out, "\"", 1);

	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			status |= buffer_append(out, "\\", 1);
		status |= (unsigned char)*string < ' ' || *string == 0x7f
				  ? buffer_printf(out, "\\u%04x", (unsigned char)*string)
				  : buffer_append(out, string, 1);
	}
	return status | buffer_append(out, "\"", 1);
}

static int write_pair(struct buffer *out, const char *key, const char *string)
{
	return buffer_printf(out, "%s = ", key) < 0 || write_string(out, string) < 0 ? -1 : 0;
}

static const char *newline_of(const struct toml *t)
{
	const char *line = memchr(t->text, '\n', t->len);

	return line && line > t->text && line[-1] == '\r' ? "\r\n" : "\n";
}

/* The start of the line behind the one that `at` is in. */
static size_t toml_edit_next_line(const struct toml *t, size_t at)
{
	const char *end = memchr(t->text + at, '\n', t->len - at);

	return end ? (size_t)(end - t->text) + 1 : t->len;
}

static size_t toml_edit_line_start(const struct toml *t, size_t at)
{
	while (at > 0 && t->text[at - 1] != '\n')
		at--;
	return at;
}

/* The text with a line of its own put in behind the one that `at` is in. */
static int toml_edit_add_line(struct buffer *out, const struct toml *t, size_t at, const char *key,
			      const char *string)
{
	size_t place = toml_edit_next_line(t, at), line = toml_edit_line_start(t, at),
	       indent = line;
	bool ended = place > 0 && t->text[place - 1] == '\n';
	int status = buffer_append(out, t->text, place);

	while (indent < at && (t->text[indent] == ' ' || t->text[indent] == '\t'))
		indent++;
	if (!ended)
		status |= buffer_append_string(out, newline_of(t));
	status |= buffer_append(out, t->text + line, indent - line);
	status |= write_pair(out, key, string);
	if (ended)
		status |= buffer_append_string(out, newline_of(t));
	return status | buffer_append(out, t->text + place, t->len - place);
}

/* The last key in the inline table, or -1. */
static int last_inside(const struct toml *t, int owner)
{
	int last = -1;

	for (size_t i = 0; i < t->count; i++) {
		if (t->entries[i].kind == TOML_INLINE_KEY && t->entries[i].owner == owner)
			last = (int)i;
	}
	return last;
}

/* Into `{ ... }`; the key may stand in a table that is not there, too: { set = { KEY = ... } }. */
static int add_inside(struct buffer *out, const struct toml *t, int owner, const char *missing,
		      const char *key, const char *string)
{
	const struct toml_entry *e = &t->entries[owner];
	int last = last_inside(t, owner), status;
	size_t place = last < 0 ? e->start + 1 : t->entries[last].end;

	status = buffer_append(out, t->text, place) < 0 ||
				 buffer_append_string(out, last < 0 ? " " : ", ") < 0
			 ? -1
			 : 0;
	if (missing)
		status |= buffer_printf(out, "%s = { ", missing);
	status |= write_pair(out, key, string);
	status |= buffer_append_string(out, missing ? " }" : "");
	if (last < 0 && t->text[place] == '}')
		status |= buffer_append(out, " ", 1);
	return status | buffer_append(out, t->text + place, t->len - place);
}

/* The last key of the header's table that stands under it. */
static int last_under(const struct toml *t, int header)
{
	int last = -1;

	for (size_t i = 0; i < t->count; i++) {
		if (t->entries[i].kind == TOML_KEY && t->entries[i].table == header)
			last = (int)i;
	}
	return last;
}

static int find_header(const struct toml *t, const char *table)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->entries[i].kind == TOML_HEADER && strcmp(t->entries[i].path, table) == 0)
			return (int)i;
	}
	return -1;
}

/* The last key that makes `table` by a dot in its name, or -1. */
static int find_dotted(const struct toml *t, const char *table)
{
	size_t len = strlen(table);

	for (size_t i = t->count; i-- > 0;) {
		const struct toml_entry *e = &t->entries[i];
		size_t above = e->table < 0 ? 0 : strlen(t->entries[e->table].path) + 1;

		if (e->kind == TOML_KEY && e->dotted && strncmp(e->path, table, len) == 0 &&
		    e->path[len] == '.' && !strchr(e->path + len + 1, '.') && above < len)
			return (int)i;
	}
	return -1;
}

static int add_dotted(struct buffer *out, const struct toml *t, int like, const char *key,
		      const char *string)
{
	const struct toml_entry *e = &t->entries[like];
	size_t last = strlen(strrchr(e->path, '.') + 1);
	struct buffer name = BUFFER_INIT;
	/* As the other one is written, up to its last part, which may be in quotes. */
	size_t end = e->key_end - (strchr("\"'", t->text[e->key_end - 1]) ? last + 2 : last);
	int status = buffer_append(&name, t->text + e->key, end - e->key) < 0 ||
				     buffer_append_string(&name, key) < 0
			     ? -1
			     : 0;

	if (status == 0 && buffer_string(&name))
		status = toml_edit_add_line(out, t, e->end ? e->end - 1 : 0, name.data, string);
	buffer_release(&name);
	return status;
}

static int add_table(struct buffer *out, const struct toml *t, const char *table, const char *key,
		     const char *string)
{
	const char *newline = newline_of(t);
	int status = buffer_append(out, t->text, t->len);

	if (t->len && t->text[t->len - 1] != '\n')
		status |= buffer_append_string(out, newline);
	if (t->len)
		status |= buffer_append_string(out, newline);
	status |= buffer_printf(out, "[%s]%s", table, newline);
	return status < 0 || write_pair(out, key, string) < 0 ||
			       buffer_append_string(out, newline) < 0
		       ? -1
		       : 0;
}

int toml_add(struct buffer *out, const struct toml *t, const char *table, const char *key,
	     const char *string)
{
	const char *dot = strrchr(table, '.');
	char above[256];
	int found = toml_find(t, table);

	if (found >= 0 && t->text[t->entries[found].start] == '{')
		return add_inside(out, t, found, NULL, key, string);
	snprintf(above, sizeof(above), "%.*s", (int)(dot ? dot - table : 0), table);
	if (found < 0 && dot) {
		int owner = toml_find(t, above);

		found = owner;
		if (owner >= 0 && t->text[t->entries[owner].start] == '{')
			return add_inside(out, t, owner, dot + 1, key, string);
	}
	if (found >= 0) {
		errno = ENOTDIR;
		return -1;
	}
	found = find_header(t, table);
	if (found >= 0) {
		int last = last_under(t, found);
		size_t at = last < 0 ? t->entries[found].end : t->entries[last].end;

		return toml_edit_add_line(out, t, at - 1, key, string);
	}
	found = find_dotted(t, table);
	return found >= 0 ? add_dotted(out, t, found, key, string)
			  : add_table(out, t, table, key, string);
}

static int remove_inside(struct buffer *out, const struct toml *t, int entry)
{
	const struct toml_entry *e = &t->entries[entry], *owner = &t->entries[e->owner];
	size_t from = e->key, to = e->end;

	while (to < owner->end && strchr(" \t", t->text[to]))
		to++;
	if (t->text[to] == ',') {
		for (to++; strchr(" \t", t->text[to]);)
			to++;
	} else {
		to = e->end;
		while (from > owner->start + 1 && strchr(" \t,", t->text[from - 1]))
			from--;
		/* { KEY = ... } alone leaves {}. */
		while (from == owner->start + 1 && strchr(" \t", t->text[to]))
			to++;
	}
	return buffer_append(out, t->text, from) < 0 ||
			       buffer_append(out, t->text + to, t->len - to) < 0
		       ? -1
		       : 0;
}

int toml_remove(struct buffer *out, const struct toml *t, int entry)
{
	const struct toml_entry *e = &t->entries[entry];

	if (e->kind == TOML_INLINE_KEY)
		return remove_inside(out, t, entry);
	size_t from = toml_edit_line_start(t, e->key), to = toml_edit_next_line(t, e->end);

	/* The last line of a text that does not end in a line end. */
	if (to == t->len && from > 0 && t->text[to - 1] != '\n') {
		from--;
		from -= from > 0 && t->text[from - 1] == '\r';
	}
	return buffer_append(out, t->text, from) < 0 ||
			       buffer_append(out, t->text + to, t->len - to) < 0
		       ? -1
		       : 0;
}

int toml_remove_empty(struct buffer *out, const struct toml *t, const char *table)
{
	int header = find_header(t, table), entry = toml_find(t, table);

	if (entry >= 0 && t->text[t->entries[entry].start] == '{' && last_inside(t, entry) < 0)
		return toml_remove(out, t, entry) < 0 ? -1 : 1;
	if (header < 0 || last_under(t, header) >= 0)
		return 0;
	size_t from = toml_edit_line_start(t, t->entries[header].start);
	size_t to = toml_edit_next_line(t, t->entries[header].end);
	const char *newline = newline_of(t);
	size_t len = strlen(newline);

	/* The blank line above. */
	if (from >= 2 * len && memcmp(t->text + from - len, newline, len) == 0 &&
	    t->text[from - len - 1] == '\n')
		from -= len;
	else if (from == len)
		from = 0;
	return buffer_append(out, t->text, from) < 0 ||
			       buffer_append(out, t->text + to, t->len - to) < 0
		       ? -1
		       : 1;
}

int toml_replace(struct buffer *out, const struct toml *t, int entry, const char *string)
{
	const struct toml_entry *e = &t->entries[entry];

	return buffer_append(out, t->text, e->start) < 0 || write_string(out, string) < 0 ||
			       buffer_append(out, t->text + e->end, t->len - e->end) < 0
		       ? -1
		       : 0;
}
