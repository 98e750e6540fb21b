// See toml.h.

#include "supervisor/agents/toml.h"

#include "lib/buffer.h"

#include <errno.h>
#include <stdio.h>
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
		if (path->len)
			buffer_append(path, ".", 1);
		buffer_append(path, t->text + start + quoted, *at - start - 2 * quoted);
		size_t next = toml_skip_blanks(t, *at);
		if (char_at(t, next) != '.')
			return 0;
		*dotted = true;
		*at = toml_skip_blanks(t, next + 1);
	}
}

static int toml_add_entry(struct toml *t, struct toml_entry entry, struct buffer *path)
{
	if (!buffer_string(path))
		return -1;
	struct toml_entry *added = array_add(&t->entries, &t->count, &t->cap, sizeof(*added));
	if (!added)
		return -1;
	entry.path = path->data;
	*path = (struct buffer)BUFFER_INIT;
	*added = entry;
	return (int)t->count - 1;
}

static int toml_read_value(struct toml *t, size_t *at, int owner, int depth);

/* KEY = VALUE below the table or the inline table `above`. */
static int read_pair(struct toml *t, size_t *at, struct toml_entry entry, int above, int depth)
{
	struct buffer path = BUFFER_INIT;
	int index = -1;
	entry.key = *at;
	if (above >= 0)
		buffer_append_string(&path, t->entries[above].path);
	if (toml_read_key(t, at, &path, &entry.dotted) == 0) {
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
	/* A date may have a blank before the time. */
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

/* --- changes ------------------------------------------------------------------------ */

/* A basic string; what terse writes are paths, of printable characters. */
static void toml_write_string(struct buffer *out, const char *string)
{
	buffer_append(out, "\"", 1);
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			buffer_append(out, "\\", 1);
		if ((unsigned char)*string < ' ' || *string == 0x7f)
			buffer_printf(out, "\\u%04x", (unsigned char)*string);
		else
			buffer_append(out, string, 1);
	}
	buffer_append(out, "\"", 1);
}

static void toml_write_pair(struct buffer *out, const char *key, const char *string)
{
	buffer_printf(out, "%s = ", key);
	if (*string == '[')
		buffer_append_string(out, string);
	else
		toml_write_string(out, string);
}

/* The text without what is between the two places. */
static void toml_cut_out(struct buffer *out, const struct toml *t, size_t from, size_t to)
{
	buffer_append(out, t->text, from);
	buffer_append(out, t->text + to, t->len - to);
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
static void toml_edit_add_line(struct buffer *out, const struct toml *t, size_t at, const char *key,
			       const char *string)
{
	size_t place = toml_edit_next_line(t, at), line = toml_edit_line_start(t, at),
	       indent = line;
	bool ended = place > 0 && t->text[place - 1] == '\n';
	while (indent < at && (t->text[indent] == ' ' || t->text[indent] == '\t'))
		indent++;
	buffer_append(out, t->text, place);
	if (!ended)
		buffer_append_string(out, newline_of(t));
	buffer_append(out, t->text + line, indent - line);
	toml_write_pair(out, key, string);
	if (ended)
		buffer_append_string(out, newline_of(t));
	buffer_append(out, t->text + place, t->len - place);
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
static void add_inside(struct buffer *out, const struct toml *t, int owner, const char *missing,
		       const char *key, const char *string)
{
	int last = last_inside(t, owner);
	size_t place = last < 0 ? t->entries[owner].start + 1 : t->entries[last].end;
	buffer_append(out, t->text, place);
	buffer_append_string(out, last < 0 ? " " : ", ");
	if (missing)
		buffer_printf(out, "%s = { ", missing);
	toml_write_pair(out, key, string);
	if (missing)
		buffer_append_string(out, " }");
	if (last < 0 && t->text[place] == '}')
		buffer_append(out, " ", 1);
	buffer_append(out, t->text + place, t->len - place);
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
	/* Copies the way the other key is written, up to its last part, which may be in quotes. */
	size_t end = e->key_end - (strchr("\"'", t->text[e->key_end - 1]) ? last + 2 : last);
	struct buffer name = BUFFER_INIT;
	buffer_append(&name, t->text + e->key, end - e->key);
	buffer_append_string(&name, key);
	int status = buffer_string(&name) ? 0 : -1;
	if (status == 0)
		toml_edit_add_line(out, t, e->end ? e->end - 1 : 0, name.data, string);
	buffer_release(&name);
	return status;
}

static void toml_add_table(struct buffer *out, const struct toml *t, const char *table,
			   const char *key, const char *string)
{
	const char *newline = newline_of(t);
	buffer_append(out, t->text, t->len);
	if (t->len && t->text[t->len - 1] != '\n')
		buffer_append_string(out, newline);
	if (t->len)
		buffer_append_string(out, newline);
	buffer_printf(out, "[%s]%s", table, newline);
	toml_write_pair(out, key, string);
	buffer_append_string(out, newline);
}

/* Adds the key where no inline table is. */
static int add_apart(struct buffer *out, const struct toml *t, const char *table, const char *key,
		     const char *string)
{
	int header = find_header(t, table), dotted = header < 0 ? find_dotted(t, table) : -1;
	if (dotted >= 0 && add_dotted(out, t, dotted, key, string) < 0)
		return -1;
	if (header >= 0) {
		int last = last_under(t, header);
		size_t at = t->entries[last < 0 ? header : last].end;
		toml_edit_add_line(out, t, at - 1, key, string);
	} else if (dotted < 0) {
		toml_add_table(out, t, table, key, string);
	}
	return buffer_check(out);
}

static bool is_inline_table(const struct toml *t, int entry)
{
	return entry >= 0 && t->text[t->entries[entry].start] == '{';
}

int toml_add(struct buffer *out, const struct toml *t, const char *table, const char *key,
	     const char *string)
{
	const char *dot = strrchr(table, '.');
	char above[256];
	snprintf(above, sizeof(above), "%.*s", (int)(dot ? dot - table : 0), table);
	int found = toml_find(t, table), owner = found < 0 && dot ? toml_find(t, above) : -1;
	if (is_inline_table(t, found)) {
		add_inside(out, t, found, NULL, key, string);
	} else if (is_inline_table(t, owner)) {
		add_inside(out, t, owner, dot + 1, key, string);
	} else if (found >= 0 || owner >= 0) {
		errno = ENOTDIR;
		return -1;
	} else {
		return add_apart(out, t, table, key, string);
	}
	return buffer_check(out);
}

static void remove_inside(struct buffer *out, const struct toml *t, int entry)
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
	toml_cut_out(out, t, from, to);
}

void toml_remove(struct buffer *out, const struct toml *t, int entry)
{
	const struct toml_entry *e = &t->entries[entry];
	if (e->kind == TOML_INLINE_KEY) {
		remove_inside(out, t, entry);
		return;
	}
	size_t from = toml_edit_line_start(t, e->key), to = toml_edit_next_line(t, e->end);

	/* The last line of a text that does not end in a line end. */
	if (to == t->len && from > 0 && t->text[to - 1] != '\n') {
		from--;
		from -= from > 0 && t->text[from - 1] == '\r';
	}
	toml_cut_out(out, t, from, to);
}

bool toml_remove_empty(struct buffer *out, const struct toml *t, const char *table)
{
	int header = find_header(t, table), entry = toml_find(t, table);
	if (is_inline_table(t, entry) && last_inside(t, entry) < 0) {
		toml_remove(out, t, entry);
		return true;
	}
	if (header < 0 || last_under(t, header) >= 0)
		return false;
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
	toml_cut_out(out, t, from, to);
	return true;
}

void toml_replace(struct buffer *out, const struct toml *t, int entry, const char *string)
{
	const struct toml_entry *e = &t->entries[entry];
	buffer_append(out, t->text, e->start);
	toml_write_string(out, string);
	buffer_append(out, t->text + e->end, t->len - e->end);
}
