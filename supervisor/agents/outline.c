// See outline.h.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/json_read.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int outline_refuse(struct outline *o, size_t at, const char *reason)
{
	o->reason = reason;
	o->at = at;
	errno = EINVAL;
	return -1;
}

static char char_at(const struct outline *o, size_t at)
{
	return at < o->len ? o->text[at] : '\0';
}

static size_t line_end_at(const struct outline *o, size_t at)
{
	const char *end = at < o->len ? memchr(o->text + at, '\n', o->len - at) : NULL;
	return end ? (size_t)(end - o->text) : o->len;
}

static size_t outline_skip_blanks(const struct outline *o, size_t at)
{
	while (char_at(o, at) == ' ' || char_at(o, at) == '\t')
		at++;
	return at;
}

/* Returns the end of the blanks, line ends and comments from `at` on. A comment that is not closed
   is not skipped. */
static size_t skip_space(const struct outline *o, size_t at)
{
	for (;;) {
		char c = char_at(o, at), next = char_at(o, at + 1);
		if (c && strchr(" \t\r\n", c)) {
			at++;
		} else if (o->toml ? c == '#' : c == '/' && next == '/') {
			at = line_end_at(o, at);
		} else if (!o->toml && c == '/' && next == '*') {
			const char *end = memmem(o->text + at + 2, o->len - at - 2, "*/", 2);
			if (!end)
				return at;
			at = (size_t)(end - o->text) + 2;
		} else {
			return at;
		}
	}
}

/* What may stand around the mark between a key and its value. */
static size_t skip_gap(const struct outline *o, size_t at)
{
	return o->toml ? outline_skip_blanks(o, at) : skip_space(o, at);
}

static int add_node(struct outline *o, struct outline_node node)
{
	/* Each table is looked for among all before it. */
	if (o->toml && o->count == OUTLINE_TOML_MAX)
		return outline_refuse(o, node.begin, "more than 20,000 values");
	struct outline_node *added = array_add(&o->nodes, &o->count, &o->cap, sizeof(*added));
	if (!added)
		return -1;
	*added = node;
	return (int)o->count - 1;
}

/* jansson knows what a string, a number or a word of JSON is. */
static json_t *decode(const char *text, size_t len)
{
	return json_read(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static bool is_value(const char *text, size_t len)
{
	json_t *value = decode(text, len);
	json_decref(value);
	return value != NULL;
}

static int read_string(struct outline *o, size_t *at)
{
	char quote = o->text[*at];
	bool is_long = o->toml && char_at(o, *at + 1) == quote && char_at(o, *at + 2) == quote;
	for (size_t i = *at + (is_long ? 3 : 1); i < o->len; i++) {
		if (o->text[i] == '\\' && quote == '"') {
			i++;
			continue;
		}
		if (o->text[i] == '\n' && !is_long)
			break;
		if (o->text[i] != quote ||
		    (is_long && (char_at(o, i + 1) != quote || char_at(o, i + 2) != quote)))
			continue;
		size_t end = i + (is_long ? 3 : 1);
		/* Up to two more quotes belong to a long string. */
		while (is_long && char_at(o, end) == quote)
			end++;
		if (!o->toml && !is_value(o->text + *at, end - *at))
			return outline_refuse(o, *at,
					      "a string with an invalid escape or character");
		*at = end;
		return 0;
	}
	return outline_refuse(o, *at, "a string is not closed");
}

static int read_scalar(struct outline *o, size_t *at)
{
	const char *ends = o->toml ? ",]}# \t\r\n" : " \t\r\n,:[]{}\"/";
	size_t start = *at, end = start;
	/* A date of TOML may have a blank before the time. */
	while (end < o->len && (!strchr(ends, o->text[end]) ||
				(o->toml && end - start == 10 && o->text[end] == ' ' &&
				 isdigit((unsigned char)char_at(o, end + 1)))))
		end++;
	if (end == start || (!o->toml && !is_value(o->text + start, end - start)))
		return outline_refuse(o, start,
				      start == o->len ? "the text ends too early"
						      : "a value is expected");
	*at = end;
	return 0;
}

static bool is_bare(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The last member of that name, or -1. */
static int find_member(const struct outline *o, int object, const char *key, size_t len)
{
	int found = -1;
	for (int i = outline_next(o, object, -1); i >= 0; i = outline_next(o, object, i)) {
		const struct outline_node *n = &o->nodes[i];
		size_t quotes = n->key_end && strchr("\"'", o->text[n->key]) ? 1 : 0;
		if (n->key_end - n->key == len + 2 * quotes &&
		    memcmp(o->text + n->key + quotes, key, len) == 0)
			found = i;
	}
	return found;
}

/* The member of the node's parent with the node's key, or -1. */
static int find_like(const struct outline *o, const struct outline_node *n)
{
	size_t quotes = strchr("\"'", o->text[n->key]) ? 1 : 0;
	return find_member(o, n->parent, o->text + n->key + quotes,
			   n->key_end - n->key - 2 * quotes);
}

/* Reads a key. With dots in it, of a line of TOML, the last part is the node's key, in the table
   that the others lead to. */
static int read_key(struct outline *o, size_t *at, struct outline_node *node)
{
	node->begin = *at;
	for (;;) {
		size_t start = *at;
		char c = char_at(o, start);
		bool quoted = c == '"' || (o->toml && c == '\'');
		if (quoted && read_string(o, at) < 0)
			return -1;
		while (o->toml && !quoted && is_bare(char_at(o, *at)))
			++*at;
		if (*at == start)
			return outline_refuse(o, start,
					      start >= o->len ? "the text ends too early"
					      : o->toml       ? "a key is expected"
							: "a key in double quotes is expected");
		bool lines = o->nodes[node->parent].table;
		node->key = lines ? start : node->begin;
		node->key_end = *at;
		size_t next = outline_skip_blanks(o, *at);
		if (!o->toml || char_at(o, next) != '.')
			return 0;
		int table = lines ? find_like(o, node) : node->parent;
		if (lines && (table < 0 || o->nodes[table].kind != OUTLINE_OBJECT)) {
			struct outline_node above = *node;
			above.kind = OUTLINE_OBJECT;
			above.table = true;
			above.start = above.end = 0;
			table = add_node(o, above);
		}
		if (table < 0)
			return -1;
		node->parent = table;
		*at = outline_skip_blanks(o, next + 1);
	}
}

static int read_value(struct outline *o, size_t *at, struct outline_node node, int depth);

static int read_member(struct outline *o, size_t *at, int parent, int depth)
{
	struct outline_node node = {.parent = parent};
	if (read_key(o, at, &node) < 0)
		return -1;
	*at = skip_gap(o, *at);
	if (char_at(o, *at) != (o->toml ? '=' : ':'))
		return outline_refuse(o, *at,
				      o->toml ? "= is expected behind a key"
					      : "a colon is expected behind a key");
	*at = skip_gap(o, *at + 1);
	return read_value(o, at, node, depth);
}

static int read_children(struct outline *o, size_t *at, int parent, int depth)
{
	bool object = o->nodes[parent].kind == OUTLINE_OBJECT;
	char close = object ? '}' : ']';
	*at = skip_space(o, *at + 1);
	while (char_at(o, *at) != close) {
		if ((object ? read_member(o, at, parent, depth + 1)
			    : read_value(o, at, (struct outline_node){.parent = parent},
					 depth + 1)) < 0)
			return -1;
		*at = skip_space(o, *at);
		if (char_at(o, *at) == ',')
			*at = skip_space(o, *at + 1);
		else if (char_at(o, *at) != close)
			return outline_refuse(o, *at,
					      object ? "a comma or } is expected"
						     : "a comma or ] is expected");
	}
	++*at;
	return 0;
}

static int read_value(struct outline *o, size_t *at, struct outline_node node, int depth)
{
	char first = char_at(o, *at);
	node.start = *at;
	if (!node.key_end)
		node.begin = *at;
	node.kind = first == '{'                                 ? OUTLINE_OBJECT
		    : first == '['                               ? OUTLINE_ARRAY
		    : first == '"' || (o->toml && first == '\'') ? OUTLINE_STRING
								 : OUTLINE_SCALAR;
	int index = add_node(o, node);
	if (index < 0)
		return -1;
	if (depth > OUTLINE_DEPTH_MAX)
		return outline_refuse(o, *at, "nested too deeply");
	int status = node.kind == OUTLINE_STRING   ? read_string(o, at)
		     : node.kind == OUTLINE_SCALAR ? read_scalar(o, at)
						   : read_children(o, at, index, depth);
	o->nodes[index].end = *at;
	return status;
}

/* [table] or [[table]] */
static int read_header(struct outline *o, size_t *at, int *table)
{
	struct outline_node node = {
		.kind = OUTLINE_OBJECT, .table = true, .parent = 0, .start = *at};
	bool twice = char_at(o, *at + 1) == '[';
	*at = outline_skip_blanks(o, *at + 1 + twice);
	if (read_key(o, at, &node) < 0)
		return -1;
	*at = outline_skip_blanks(o, *at);
	if (char_at(o, *at) != ']' || (twice && char_at(o, *at + 1) != ']'))
		return outline_refuse(o, *at, "] is expected");
	*at += 1 + (size_t)twice;
	node.end = *at;
	/* A table below it may have come first. */
	int there = twice ? -1 : find_like(o, &node);
	if (there >= 0 && o->nodes[there].table && !o->nodes[there].end)
		o->nodes[there] = node;
	else
		there = add_node(o, node);
	*table = there;
	return there < 0 ? -1 : 0;
}

static int read_toml(struct outline *o, size_t at)
{
	const struct outline_node root = {.kind = OUTLINE_OBJECT, .table = true, .parent = -1};
	int table = add_node(o, root);
	if (table < 0)
		return -1;
	for (at = skip_space(o, at); at < o->len; at = skip_space(o, at)) {
		if ((o->text[at] == '[' ? read_header(o, &at, &table)
					: read_member(o, &at, table, 0)) < 0)
			return -1;
		at = outline_skip_blanks(o, at);
		if (at < o->len && !strchr("#\r\n", o->text[at]))
			return outline_refuse(o, at, "the end of the line is expected");
		at = line_end_at(o, at);
	}
	return 0;
}

int outline_parse(struct outline *o, bool toml, const char *text, size_t len)
{
	size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	*o = (struct outline){.text = text, .len = len, .toml = toml};
	if (toml)
		return read_toml(o, at);
	at = skip_space(o, at);
	if (at == len)
		return 0;
	if (read_value(o, &at, (struct outline_node){.parent = -1}, 0) < 0)
		return -1;
	if (o->nodes[0].kind != OUTLINE_OBJECT)
		return outline_refuse(o, o->nodes[0].start, "not an object");
	at = skip_space(o, at);
	return at == len ? 0 : outline_refuse(o, at, "something follows the end of the object");
}

void outline_release(struct outline *o)
{
	free(o->nodes);
	*o = (struct outline){.text = NULL};
}

size_t outline_line(const char *text, size_t at)
{
	return 1 + (size_t)newline_count(text, at);
}

int outline_next(const struct outline *o, int parent, int after)
{
	for (size_t i = after < 0 ? (size_t)parent + 1 : (size_t)after + 1; i < o->count; i++) {
		if (o->nodes[i].parent == parent)
			return (int)i;
	}
	return -1;
}

int outline_member(const struct outline *o, int object, const char *key)
{
	if (object < 0 || (size_t)object >= o->count || o->nodes[object].kind != OUTLINE_OBJECT)
		return -1;
	return find_member(o, object, key, strlen(key));
}

int outline_find(const struct outline *o, const char *const *path)
{
	int node = o->count ? 0 : -1;
	for (; node >= 0 && *path; path++)
		node = outline_member(o, node, *path);
	return node;
}

bool outline_is_within(const struct outline *o, int node, int above)
{
	while (node > above)
		node = o->nodes[node].parent;
	return node == above;
}

char *outline_string(const struct outline *o, int node)
{
	const struct outline_node *n = &o->nodes[node];
	const char *text = o->text + n->start;
	size_t len = n->end - n->start;
	char *copy = NULL;
	if (n->kind != OUTLINE_STRING)
		return NULL;
	if (*text == '\'')
		return len > 2 && text[1] == '\'' ? NULL : strndup(text + 1, len - 2);
	json_t *value = decode(text, len);
	copy = value ? strdup(json_string_value(value)) : NULL;
	json_decref(value);
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

static size_t line_start_at(const struct outline *o, size_t at)
{
	while (at > 0 && o->text[at - 1] != '\n')
		at--;
	return at;
}

/* The start of the line behind the one that `at` is in. */
static size_t next_line_at(const struct outline *o, size_t at)
{
	size_t end = line_end_at(o, at);
	return end + (end < o->len);
}

static struct indent indent_at(const struct outline *o, size_t at)
{
	size_t line = line_start_at(o, at), end = outline_skip_blanks(o, line);
	return (struct indent){o->text + line, (end < at ? end : at) - line};
}

static bool is_broken(const struct outline *o, size_t from, size_t to)
{
	return memchr(o->text + from, '\n', to - from) != NULL;
}

static struct style style_of(const struct outline *o)
{
	const char *line = memchr(o->text, '\n', o->len);
	bool crlf = line && line > o->text && line[-1] == '\r';
	struct style s = {.newline = crlf ? "\r\n" : "\n", .unit = "  ", .unit_len = 2};
	int first = o->count && !o->toml ? outline_next(o, 0, -1) : -1;
	s.flat = o->toml;
	if (first < 0)
		return s;
	size_t at = o->nodes[first].begin;
	if (!is_broken(o, o->nodes[0].start, at)) {
		s.flat = true;
		return s;
	}
	struct indent root = indent_at(o, o->nodes[0].start), in = indent_at(o, at);
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
static void write_value(struct buffer *out, const struct outline *o, const char *json,
			const struct style *s, struct indent base, size_t depth)
{
	for (const char *at = json, *next; *at; at = next) {
		next = at + 1;
		/* A string of JSON is one piece. */
		if (*at == '"') {
			for (; *next && *next != '"'; next++)
				next += *next == '\\' && next[1];
			next += *next == '"';
		}
		if (o->toml && *at == '"' && *next == ':') {
			buffer_append(out, at + 1, (size_t)(next - at) - 2);
			buffer_append_string(out, " = ");
			next++;
			continue;
		}
		bool opens = strchr("{[", *at) && !strchr("]}", at[1]);
		bool closes = strchr("]}", *at) && !strchr("{[", at[-1]);
		if (closes)
			break_line(out, s, base, --depth);
		if (o->toml && closes && *at == '}')
			buffer_append(out, " ", 1);
		buffer_append(out, at, (size_t)(next - at));
		if (opens || *at == ',')
			break_line(out, s, base, depth += opens);
		if (*at == ':' || (*at == ',' && s->flat) || (o->toml && opens && *at == '{'))
			buffer_append(out, " ", 1);
	}
}

/* "key": value, or an element. */
static void write_child(struct buffer *out, const struct outline *o, const char *key,
			const char *value, const struct style *s, struct indent base, size_t depth)
{
	if (key)
		buffer_printf(out, o->toml ? "%s = " : "\"%s\": ", key);
	write_value(out, o, value, s, base, depth);
}

/* The offset of the comma behind a node, or 0. */
static size_t comma_behind(const struct outline *o, const struct outline_node *n)
{
	size_t at = skip_space(o, n->end);
	return char_at(o, at) == ',' ? at : 0;
}

/* The end of what belongs to a node on its line: its comma, comments behind it. */
static size_t tail_of(const struct outline *o, const struct outline_node *n)
{
	size_t comma = comma_behind(o, n), end = comma ? comma + 1 : n->end;
	for (;;) {
		size_t at = outline_skip_blanks(o, end), next = at;
		char second = char_at(o, at + 1);
		if (o->toml || char_at(o, at) != '/' || (second != '/' && second != '*'))
			return end;
		if (second == '/') {
			next = line_end_at(o, at);
			next -= next > at && o->text[next - 1] == '\r';
		} else {
			const char *stop = memmem(o->text + at + 2, o->len - at - 2, "*/", 2);
			next = stop ? (size_t)(stop - o->text) + 2 : o->len;
			if (!stop || is_broken(o, at, next))
				return end;
		}
		end = next;
	}
}

static void add_behind(struct buffer *out, const struct outline *o, int parent, int last,
		       const char *key, const char *value)
{
	const struct outline_node *n = &o->nodes[last];
	struct style s = style_of(o);
	size_t comma = comma_behind(o, n), tail = tail_of(o, n);
	struct indent base = indent_at(o, n->begin);
	s.flat = o->toml || !is_broken(o, o->nodes[parent].start, n->begin);
	if (s.flat)
		tail = comma ? comma + 1 : n->end;
	buffer_append(out, o->text, n->end);
	if (!comma)
		buffer_append(out, ",", 1);
	buffer_append(out, o->text + n->end, tail - n->end);
	break_line(out, &s, base, 0);
	if (s.flat)
		buffer_append(out, " ", 1);
	write_child(out, o, key, value, &s, base, 0);
	if (comma)
		buffer_append(out, ",", 1);
	buffer_append(out, o->text + tail, o->len - tail);
}

static void outline_add_first(struct buffer *out, const struct outline *o, int parent,
			      const char *key, const char *value)
{
	const struct outline_node *n = &o->nodes[parent];
	struct style s = style_of(o);
	struct indent base = indent_at(o, n->start);
	size_t from = n->start + 1, to = n->end - 1;
	const char *blank = o->toml && key ? " " : "";
	buffer_append(out, o->text, from);
	break_line(out, &s, base, 1);
	buffer_append_string(out, blank);
	write_child(out, o, key, value, &s, base, 1);
	buffer_append_string(out, blank);
	if (strspn(o->text + from, " \t") < to - from)
		buffer_append(out, o->text + from, to - from);
	if (!is_broken(o, from, to))
		break_line(out, &s, base, 0);
	buffer_append(out, o->text + to, o->len - to);
}

/* A line of its own behind the one that `at` is in, indented alike. `dots`: what is in front of the
   key. */
static void outline_add_line(struct buffer *out, const struct outline *o, size_t at,
			     const char *dots, size_t dots_len, const char *key, const char *value)
{
	struct style s = style_of(o);
	struct indent base = indent_at(o, at);
	size_t place = next_line_at(o, at);
	bool ended = place > 0 && o->text[place - 1] == '\n';
	buffer_append(out, o->text, place);
	if (!ended)
		buffer_append_string(out, s.newline);
	buffer_append(out, base.text, base.len);
	buffer_append(out, dots, dots_len);
	write_child(out, o, key, value, &s, base, 0);
	if (ended)
		buffer_append_string(out, s.newline);
	buffer_append(out, o->text + place, o->len - place);
}

/* A table at the end of the text. The last of `count` keys of the path is in the table, unless
   the value is an object, whose members are. */
static int outline_add_table(struct buffer *out, const struct outline *o, const char *const *path,
			     size_t count, const char *value)
{
	struct style s = style_of(o);
	struct indent none = {"", 0};
	struct outline members;
	bool object = *value == '{';
	buffer_append(out, o->text, o->len);
	if (o->len && o->text[o->len - 1] != '\n')
		buffer_append_string(out, s.newline);
	if (o->len)
		buffer_append_string(out, s.newline);
	for (size_t i = 0; i < count - !object; i++)
		buffer_printf(out, "%c%s", i ? '.' : '[', path[i]);
	buffer_printf(out, "]%s", s.newline);
	if (!object) {
		write_child(out, o, path[count - 1], value, &s, none, 0);
		buffer_append_string(out, s.newline);
		return 0;
	}
	int status = outline_parse(&members, false, value, strlen(value));
	for (int i = -1; status == 0 && (i = outline_next(&members, 0, i)) >= 0;) {
		const struct outline_node *n = &members.nodes[i];
		struct buffer member = BUFFER_INIT;
		buffer_append(&member, value + n->key, n->end - n->key);
		if (buffer_string(&member))
			write_value(out, o, member.data, &s, none, 0);
		buffer_append_string(out, s.newline);
		out->failed |= member.failed;
		buffer_release(&member);
	}
	outline_release(&members);
	return status;
}

/* Adds to a table of TOML; `missing` are the keys of the path that are not there. */
static int add_to_table(struct buffer *out, const struct outline *o, const char *const *path,
			int node, const char *const *missing, const char *value)
{
	const struct outline_node *n = &o->nodes[node], *last = NULL;
	size_t count = (size_t)(missing - path), behind = n->end;
	for (size_t i = (size_t)node + 1; i < o->count; i++) {
		const struct outline_node *c = &o->nodes[i];
		int up = c->parent;
		while (up > node && !(o->nodes[up].table && o->nodes[up].end))
			up = o->nodes[up].parent;
		if (up == node && !c->table && c->end > behind)
			behind = c->end;
		if (c->parent == node && !c->table)
			last = c;
	}
	for (const char *const *key = missing; *key; key++)
		count++;
	if (node == 0 || missing[1] || *value == '{' || (!n->end && !last))
		return outline_add_table(out, o, path, count, value);
	if (n->end)
		outline_add_line(out, o, behind - 1, "", 0, *missing, value);
	else /* like the other members of a table that is made by dotted keys */
		outline_add_line(out, o, last->end - 1, o->text + last->begin,
				 last->key - last->begin, *missing, value);
	return 0;
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

int outline_add(struct buffer *out, const struct outline *o, const char *const *path,
		const char *value, bool element)
{
	const char *const *missing = path;
	const char *key = NULL;
	int node = o->count ? 0 : -1, last = -1;
	while (node >= 0 && *missing) {
		int next = outline_member(o, node, *missing);
		if (next < 0)
			break;
		node = next;
		missing++;
		if (o->nodes[node].kind !=
		    (*missing || !element ? OUTLINE_OBJECT : OUTLINE_ARRAY)) {
			errno = ENOTDIR;
			return -1;
		}
	}
	if (node >= 0 && !*missing && !element) {
		errno = EEXIST;
		return -1;
	}
	if (node >= 0 && o->nodes[node].table)
		return add_to_table(out, o, path, node, missing, value) < 0 ? -1
									    : buffer_check(out);
	if (node >= 0 && *missing)
		key = *missing++;
	struct buffer whole = BUFFER_INIT;
	/* An array that is there takes the bare value. */
	wrap(&whole, missing, value, element && (key || node < 0));
	for (int i = -1; node >= 0 && (i = outline_next(o, node, i)) >= 0;)
		last = i;
	int status = buffer_string(&whole) ? 0 : -1;
	if (status == 0 && node < 0) {
		/* The first value of a text, which may end in a comment. */
		struct style s = style_of(o);
		buffer_append(out, o->text, o->len);
		if (o->len && o->text[o->len - 1] != '\n')
			buffer_append_string(out, s.newline);
		write_value(out, o, whole.data, &s, (struct indent){"", 0}, 0);
		buffer_append_string(out, s.newline);
	} else if (status == 0 && last < 0) {
		outline_add_first(out, o, node, key, whole.data);
	} else if (status == 0) {
		add_behind(out, o, node, last, key, whole.data);
	}
	buffer_release(&whole);
	return status < 0 ? -1 : buffer_check(out);
}

/* Takes the lines of a node away, and of all that is in it: those of the members of a table, and of
   a table's header, with the blank one above. */
static void remove_lines(struct buffer *out, const struct outline *o, int node)
{
	const char *newline = style_of(o).newline;
	size_t len = strlen(newline);
	for (size_t at = 0;;) {
		size_t first = o->len, end = o->len;
		for (size_t i = (size_t)node; i < o->count; i++) {
			const struct outline_node *n = &o->nodes[i];
			if (!n->end || !outline_is_within(o, (int)i, node))
				continue;
			size_t to = next_line_at(o, n->end);
			size_t from = line_start_at(o, n->table ? n->start : n->begin);
			if (to <= at)
				continue;
			if (!n->table) {
				/* The last line of a text that does not end in a line end. */
				if (to == o->len && from > 0 && o->text[to - 1] != '\n')
					from -= from > 1 && o->text[from - 2] == '\r' ? 2 : 1;
			} else if (from >= 2 * len &&
				   memcmp(o->text + from - len, newline, len) == 0 &&
				   o->text[from - len - 1] == '\n') {
				from -= len;
			} else if (from == len) {
				from = 0;
			}
			from = from < at ? at : from;
			if (from < first) {
				first = from;
				end = to;
			}
		}
		buffer_append(out, o->text + at, first - at);
		if (first == o->len)
			return;
		at = end;
	}
}

int outline_remove(struct buffer *out, const struct outline *o, int node)
{
	const struct outline_node *n = &o->nodes[node], *parent = &o->nodes[n->parent];
	if (parent->table) {
		remove_lines(out, o, node);
		return buffer_check(out);
	}
	size_t comma = comma_behind(o, n), from, end = comma ? comma + 1 : n->end;
	int before = -1, next = outline_next(o, n->parent, node);
	for (int i = outline_next(o, n->parent, -1); i != node; i = outline_next(o, n->parent, i))
		before = i;
	from = before < 0 ? parent->start + 1 : tail_of(o, &o->nodes[before]);
	/* On one line, the blanks behind the first one go with it. */
	if (before < 0 && next >= 0 && !is_broken(o, from, o->nodes[next].begin)) {
		from = n->begin;
		end = o->nodes[next].begin;
	} else {
		/* Up to a line end that nothing but blanks is behind. */
		size_t line = n->begin;
		while (line > from && strchr(" \t", o->text[line - 1]))
			line--;
		if (line > from && o->text[line - 1] == '\n') {
			line--;
			from = line > from && o->text[line - 1] == '\r' ? line - 1 : line;
		} else if (line > from) {
			from = n->begin;
		}
	}
	if (before < 0 && next < 0) {
		/* The only one: nothing is left but comments. */
		size_t rest = end;
		while (rest < parent->end - 1 && strchr(" \t\r\n", o->text[rest]))
			rest++;
		if (rest == parent->end - 1 && from == parent->start + 1)
			end = rest;
	}
	size_t lost = before >= 0 && !comma ? comma_behind(o, &o->nodes[before]) : 0;
	buffer_append(out, o->text, lost ? lost : from);
	if (lost)
		buffer_append(out, o->text + lost + 1, from - lost - 1);
	buffer_append(out, o->text + end, o->len - end);
	return buffer_check(out);
}

int outline_replace(struct buffer *out, const struct outline *o, int node, const char *value)
{
	const struct outline_node *n = &o->nodes[node];
	buffer_append(out, o->text, n->start);
	buffer_append_string(out, value);
	buffer_append(out, o->text + n->end, o->len - n->end);
	return buffer_check(out);
}
