// See jsonc.h.

#include "supervisor/agents/jsonc.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Returns the end of the blanks, line ends and comments from `at` on. A comment that is not closed
   is not skipped. */
static size_t jsonc_skip(const char *text, size_t len, size_t at)
{
	while (at < len) {
		if (strchr(" \t\r\n", text[at]) && text[at]) {
			at++;
		} else if (at + 1 < len && text[at] == '/' && text[at + 1] == '/') {
			while (at < len && text[at] != '\n')
				at++;
		} else if (at + 1 < len && text[at] == '/' && text[at + 1] == '*') {
			const char *end = memmem(text + at + 2, len - at - 2, "*/", 2);
			if (!end)
				return at;
			at = (size_t)(end - text) + 2;
		} else {
			break;
		}
	}
	return at;
}

static int jsonc_refuse(struct jsonc *j, size_t at, const char *reason)
{
	j->reason = reason;
	j->at = at;
	errno = EINVAL;
	return -1;
}

static int add_node(struct jsonc *j, struct jsonc_node node)
{
	struct jsonc_node *added = array_add(&j->nodes, &j->count, &j->cap, sizeof(*added));
	if (!added)
		return -1;
	*added = node;
	return (int)j->count - 1;
}

/* jansson knows what a string, a number or a word of JSON is. */
static bool is_value(const char *text, size_t len)
{
	json_t *value = json_read(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	json_decref(value);
	return value != NULL;
}

/* Returns the end of a string that begins at `at`, or 0. */
static size_t jsonc_string_end(const struct jsonc *j, size_t at)
{
	for (size_t i = at + 1; i < j->len && j->text[i] != '\n'; i++) {
		if (j->text[i] == '"')
			return i + 1;
		if (j->text[i] == '\\')
			i++;
	}
	return 0;
}

static int jsonc_read_string(struct jsonc *j, size_t *at)
{
	size_t end = jsonc_string_end(j, *at);
	if (!end)
		return jsonc_refuse(j, *at, "a string is not closed");
	if (!is_value(j->text + *at, end - *at))
		return jsonc_refuse(j, *at, "a string with an invalid escape or character");
	*at = end;
	return 0;
}

static int read_scalar(struct jsonc *j, size_t *at)
{
	size_t end = *at;
	while (end < j->len && !strchr(" \t\r\n,:[]{}\"/", j->text[end]))
		end++;
	if (end == *at || !is_value(j->text + *at, end - *at))
		return jsonc_refuse(j, *at,
				    end == j->len && end == *at ? "the text ends too early"
								: "a value is expected");
	*at = end;
	return 0;
}

static int jsonc_read_value(struct jsonc *j, size_t *at, struct jsonc_node node, int depth);

/* Reads the key and the colon of a member. */
static int jsonc_read_key(struct jsonc *j, size_t *at, struct jsonc_node *node)
{
	if (*at >= j->len || j->text[*at] != '"')
		return jsonc_refuse(j, *at,
				    *at >= j->len ? "the text ends too early"
						  : "a key in double quotes is expected");
	node->key = *at;
	if (jsonc_read_string(j, at) < 0)
		return -1;
	node->key_end = *at;
	*at = jsonc_skip(j->text, j->len, *at);
	if (*at >= j->len || j->text[*at] != ':')
		return jsonc_refuse(j, *at, "a colon is expected behind a key");
	*at = jsonc_skip(j->text, j->len, *at + 1);
	return 0;
}

static int read_children(struct jsonc *j, size_t *at, int parent, int depth)
{
	bool object = j->nodes[parent].kind == JSONC_OBJECT;
	char close = object ? '}' : ']';
	for (*at = jsonc_skip(j->text, j->len, *at + 1);;) {
		struct jsonc_node node = {.parent = parent};
		if (*at < j->len && j->text[*at] == close)
			break;
		if (object && jsonc_read_key(j, at, &node) < 0)
			return -1;
		if (jsonc_read_value(j, at, node, depth + 1) < 0)
			return -1;
		*at = jsonc_skip(j->text, j->len, *at);
		if (*at < j->len && j->text[*at] == ',')
			*at = jsonc_skip(j->text, j->len, *at + 1);
		else if (*at >= j->len || j->text[*at] != close)
			return jsonc_refuse(j, *at,
					    object ? "a comma or } is expected"
						   : "a comma or ] is expected");
	}
	j->nodes[parent].end = ++*at;
	return 0;
}

static int jsonc_read_value(struct jsonc *j, size_t *at, struct jsonc_node node, int depth)
{
	char first = *at < j->len ? j->text[*at] : '\0';
	int index;
	node.start = *at;
	node.kind = first == '{'   ? JSONC_OBJECT
		    : first == '[' ? JSONC_ARRAY
		    : first == '"' ? JSONC_STRING
				   : JSONC_SCALAR;
	index = add_node(j, node);
	if (index < 0)
		return -1;
	if (depth > JSONC_DEPTH_MAX)
		return jsonc_refuse(j, *at, "nested too deeply");
	if (node.kind == JSONC_OBJECT || node.kind == JSONC_ARRAY)
		return read_children(j, at, index, depth);
	if ((node.kind == JSONC_STRING ? jsonc_read_string(j, at) : read_scalar(j, at)) < 0)
		return -1;
	j->nodes[index].end = *at;
	return 0;
}

int jsonc_parse(struct jsonc *j, const char *text, size_t len)
{
	size_t at = 0;
	*j = (struct jsonc){.text = text, .len = len};
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	at = jsonc_skip(text, len, at);
	if (at == len)
		return 0;
	if (jsonc_read_value(j, &at, (struct jsonc_node){.parent = -1}, 0) < 0)
		return -1;
	if (j->nodes[0].kind != JSONC_OBJECT)
		return jsonc_refuse(j, j->nodes[0].start, "not an object");
	at = jsonc_skip(text, len, at);
	return at == len ? 0 : jsonc_refuse(j, at, "something follows the end of the object");
}

void jsonc_release(struct jsonc *j)
{
	free(j->nodes);
	*j = (struct jsonc){.text = NULL};
}

size_t jsonc_line(const char *text, size_t at)
{
	return 1 + (size_t)newline_count(text, at);
}

int jsonc_next(const struct jsonc *j, int parent, int after)
{
	for (size_t i = after < 0 ? (size_t)parent + 1 : (size_t)after + 1; i < j->count; i++) {
		if (j->nodes[i].parent == parent)
			return (int)i;
	}
	return -1;
}

int jsonc_member(const struct jsonc *j, int object, const char *key)
{
	size_t len = strlen(key);
	int found = -1;
	if (object < 0 || (size_t)object >= j->count || j->nodes[object].kind != JSONC_OBJECT)
		return -1;
	for (int i = jsonc_next(j, object, -1); i >= 0; i = jsonc_next(j, object, i)) {
		const struct jsonc_node *n = &j->nodes[i];
		if (n->key_end - n->key == len + 2 && memcmp(j->text + n->key + 1, key, len) == 0)
			found = i;
	}
	return found;
}

int jsonc_find(const struct jsonc *j, const char *const *path)
{
	int node = j->count ? 0 : -1;
	for (; node >= 0 && *path; path++)
		node = jsonc_member(j, node, *path);
	return node;
}

char *jsonc_string(const struct jsonc *j, int node)
{
	const struct jsonc_node *n = &j->nodes[node];
	char *copy = NULL;
	if (n->kind == JSONC_STRING) {
		json_t *value = json_read(j->text + n->start, n->end - n->start,
					  JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		copy = value ? strdup(json_string_value(value)) : NULL;
		json_decref(value);
	}
	return copy;
}

/* --- changes ------------------------------------------------------------------------ */

/* The layout of the text. */
struct style {
	const char *newline;
	const char *unit; /* one level of indentation */
	size_t unit_len;
	bool flat; /* all of it on one line */
};

/* A run of blanks at the start of a line. */
struct indent {
	const char *text;
	size_t len;
};

static struct indent indent_at(const struct jsonc *j, size_t at)
{
	size_t line = at, end;
	while (line > 0 && j->text[line - 1] != '\n')
		line--;
	for (end = line; end < at && (j->text[end] == ' ' || j->text[end] == '\t');)
		end++;
	return (struct indent){j->text + line, end - line};
}

/* The start of a member or an element. */
static size_t begin_of(const struct jsonc_node *n)
{
	return n->key_end ? n->key : n->start;
}

static bool is_broken(const struct jsonc *j, size_t from, size_t to)
{
	return memchr(j->text + from, '\n', to - from) != NULL;
}

static struct style style_of(const struct jsonc *j)
{
	const char *line = memchr(j->text, '\n', j->len);
	bool crlf = line && line > j->text && line[-1] == '\r';
	struct style s = {.newline = crlf ? "\r\n" : "\n", .unit = "  ", .unit_len = 2};
	int first = j->count ? jsonc_next(j, 0, -1) : -1;
	if (first < 0)
		return s;
	size_t at = begin_of(&j->nodes[first]);
	if (!is_broken(j, j->nodes[0].start, at)) {
		s.flat = true;
		return s;
	}
	struct indent root = indent_at(j, j->nodes[0].start), in = indent_at(j, at);
	if (in.len > root.len && in.len - root.len <= 8) {
		s.unit = in.text + root.len;
		s.unit_len = in.len - root.len;
	}
	return s;
}

static void break_line(struct buffer *out, const struct style *s, struct indent base, size_t depth)
{
	if (s->flat)
		return;
	buffer_append_string(out, s->newline);
	buffer_append(out, base.text, base.len);
	while (depth-- > 0)
		buffer_append(out, s->unit, s->unit_len);
}

/* Writes JSON without blanks as the style has it, `depth` deeper than the line `base`. */
static void jsonc_edit_write_value(struct buffer *out, const char *json, const struct style *s,
				   struct indent base, size_t depth)
{
	bool quoted = false;
	for (const char *at = json; *at; at++) {
		bool mark = !quoted && strchr("{[]},:", *at);
		bool opens = mark && strchr("{[", *at) && !strchr("]}", at[1]);
		bool closes = mark && strchr("]}", *at) && !strchr("{[", at[-1]);
		if (closes)
			break_line(out, s, base, --depth);
		buffer_append(out, at, 1);
		if (opens || (mark && *at == ','))
			break_line(out, s, base, depth += opens);
		if (mark && (*at == ':' || (*at == ',' && s->flat)))
			buffer_append(out, " ", 1);
		if (quoted && *at == '\\' && at[1])
			buffer_append(out, ++at, 1);
		else if (*at == '"')
			quoted = !quoted;
	}
}

/* The offset of the comma behind a node, or 0. */
static size_t comma_behind(const struct jsonc *j, const struct jsonc_node *n)
{
	size_t at = jsonc_skip(j->text, j->len, n->end);
	return at < j->len && j->text[at] == ',' ? at : 0;
}

/* The end of what belongs to a node on its line: its comma, comments behind it. */
static size_t tail_of(const struct jsonc *j, const struct jsonc_node *n)
{
	size_t comma = comma_behind(j, n), end = comma ? comma + 1 : n->end, at = end;
	while (at < j->len) {
		if (j->text[at] == ' ' || j->text[at] == '\t') {
			at++;
			continue;
		}
		if (at + 1 >= j->len || j->text[at] != '/')
			break;
		const char *stop = j->text[at + 1] == '/'
					   ? memchr(j->text + at, '\n', j->len - at)
					   : memmem(j->text + at + 2, j->len - at - 2, "*/", 2);
		size_t next = !stop ? j->len : (size_t)(stop - j->text);
		if (j->text[at + 1] == '*' && (!stop || is_broken(j, at, next)))
			break;
		if (j->text[at + 1] == '/' && next > at && j->text[next - 1] == '\r')
			next--;
		at = end = j->text[at + 1] == '*' ? next + 2 : next;
	}
	return end;
}

/* "key": value, or an element. */
static void write_child(struct buffer *out, const char *key, const char *value,
			const struct style *s, struct indent base, size_t depth)
{
	if (key)
		buffer_printf(out, "\"%s\": ", key);
	jsonc_edit_write_value(out, value, s, base, depth);
}

static void add_behind(struct buffer *out, const struct jsonc *j, int parent, int last,
		       const char *key, const char *value)
{
	const struct jsonc_node *n = &j->nodes[last];
	struct style s = style_of(j);
	size_t comma = comma_behind(j, n), tail = tail_of(j, n), begin = begin_of(n);
	struct indent base = indent_at(j, begin);
	s.flat = !is_broken(j, j->nodes[parent].start, begin);
	if (s.flat)
		tail = comma ? comma + 1 : n->end;
	buffer_append(out, j->text, n->end);
	if (!comma)
		buffer_append(out, ",", 1);
	buffer_append(out, j->text + n->end, tail - n->end);
	break_line(out, &s, base, 0);
	if (s.flat)
		buffer_append(out, " ", 1);
	write_child(out, key, value, &s, base, 0);
	if (comma)
		buffer_append(out, ",", 1);
	buffer_append(out, j->text + tail, j->len - tail);
}

static void add_first(struct buffer *out, const struct jsonc *j, int parent, const char *key,
		      const char *value)
{
	const struct jsonc_node *n = &j->nodes[parent];
	struct style s = style_of(j);
	struct indent base = indent_at(j, n->start);
	size_t from = n->start + 1, to = n->end - 1;
	buffer_append(out, j->text, from);
	break_line(out, &s, base, 1);
	write_child(out, key, value, &s, base, 1);
	if (strspn(j->text + from, " \t") < to - from)
		buffer_append(out, j->text + from, to - from);
	if (!is_broken(j, from, to))
		break_line(out, &s, base, 0);
	buffer_append(out, j->text + to, j->len - to);
}

/* The first value of a text, which may end in a comment. */
static void add_root(struct buffer *out, const struct jsonc *j, const char *value)
{
	struct style s = style_of(j);
	buffer_append(out, j->text, j->len);
	if (j->len && j->text[j->len - 1] != '\n')
		buffer_append_string(out, s.newline);
	jsonc_edit_write_value(out, value, &s, (struct indent){"", 0}, 0);
	buffer_append_string(out, s.newline);
}

/* Wraps the value in objects for the missing part of the path, or in an array. */
static void wrap(struct buffer *out, const char *const *keys, const char *value, bool element)
{
	size_t count = 0;
	for (; keys[count]; count++)
		buffer_printf(out, "{\"%s\":", keys[count]);
	buffer_printf(out, element ? "[%s]" : "%s", value);
	while (count-- > 0)
		buffer_append(out, "}", 1);
}

int jsonc_add(struct buffer *out, const struct jsonc *j, const char *const *path, const char *value,
	      bool element)
{
	const char *key = NULL;
	int node = j->count ? 0 : -1, last = -1;
	while (node >= 0 && *path) {
		int next = jsonc_member(j, node, *path);
		if (next < 0)
			break;
		node = next;
		path++;
		if (j->nodes[node].kind != (*path || !element ? JSONC_OBJECT : JSONC_ARRAY)) {
			errno = ENOTDIR;
			return -1;
		}
	}
	if (node >= 0 && !*path && !element) {
		errno = EEXIST;
		return -1;
	}
	if (node >= 0 && *path)
		key = *path++;
	struct buffer whole = BUFFER_INIT;
	/* An array that is there takes the bare value. */
	wrap(&whole, path, value, element && (key || node < 0));
	for (int i = -1; node >= 0 && (i = jsonc_next(j, node, i)) >= 0;)
		last = i;
	int status = buffer_string(&whole) ? 0 : -1;
	if (status == 0 && node < 0)
		add_root(out, j, whole.data);
	else if (status == 0 && last < 0)
		add_first(out, j, node, key, whole.data);
	else if (status == 0)
		add_behind(out, j, node, last, key, whole.data);
	buffer_release(&whole);
	return status < 0 ? -1 : buffer_check(out);
}

/* The line end, where nothing but blanks is between it and `at`, else `at`. */
static size_t line_end_before(const struct jsonc *j, size_t from, size_t at)
{
	size_t line = at;
	while (line > from && strchr(" \t", j->text[line - 1]))
		line--;
	if (line <= from || j->text[line - 1] != '\n')
		return line == from ? from : at;
	line--;
	return line > from && j->text[line - 1] == '\r' ? line - 1 : line;
}

int jsonc_remove(struct buffer *out, const struct jsonc *j, int node)
{
	const struct jsonc_node *n = &j->nodes[node], *parent = &j->nodes[n->parent];
	size_t comma = comma_behind(j, n), from, end = comma ? comma + 1 : n->end;
	int before = -1, next = jsonc_next(j, n->parent, node);
	for (int i = jsonc_next(j, n->parent, -1); i != node; i = jsonc_next(j, n->parent, i))
		before = i;
	from = before < 0 ? parent->start + 1 : tail_of(j, &j->nodes[before]);
	/* On one line, the blanks behind the first one go with it. */
	if (before < 0 && next >= 0 && !is_broken(j, from, begin_of(&j->nodes[next])))
		end = begin_of(&j->nodes[next]);
	else
		from = line_end_before(j, from, begin_of(n));
	if (before < 0 && next < 0) {
		/* The only one: nothing is left but comments. */
		size_t rest = end;
		while (rest < parent->end - 1 && strchr(" \t\r\n", j->text[rest]))
			rest++;
		if (rest == parent->end - 1 && from == parent->start + 1)
			end = rest;
	}
	size_t lost = before >= 0 && !comma ? comma_behind(j, &j->nodes[before]) : 0;
	buffer_append(out, j->text, lost ? lost : from);
	if (lost)
		buffer_append(out, j->text + lost + 1, from - lost - 1);
	buffer_append(out, j->text + end, j->len - end);
	return buffer_check(out);
}

int jsonc_replace(struct buffer *out, const struct jsonc *j, int node, const char *value)
{
	const struct jsonc_node *n = &j->nodes[node];
	buffer_append(out, j->text, n->start);
	buffer_append_string(out, value);
	buffer_append(out, j->text + n->end, j->len - n->end);
	return buffer_check(out);
}
