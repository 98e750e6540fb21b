// See outline.h.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/json_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static int outline_refuse(struct outline *o, size_t at, const char *reason)
{
	o->reason = at < o->len ? reason : "the text ends too early";
	o->at = at;
	errno = EINVAL;
	return -1;
}

static char char_at(const struct outline *o, size_t at)
{
	return at < o->len ? o->text[at] : '\0';
}

static size_t outline_skip_blanks(const struct outline *o, size_t at)
{
	while (char_at(o, at) == ' ' || char_at(o, at) == '\t')
		at++;
	return at;
}

/* The end of the comment that begins at `at`; `at` if there is no comment, or one that is not
   closed. */
static size_t comment_end(const struct outline *o, size_t at)
{
	char next = char_at(o, at) == '/' ? char_at(o, at + 1) : '\0';
	if (next == '/') {
		size_t behind = at + line_size(o->text + at, o->len - at);
		return behind - (o->text[behind - 1] == '\n');
	}
	const char *end = next == '*' ? memmem(o->text + at + 2, o->len - at - 2, "*/", 2) : NULL;
	return end ? (size_t)(end - o->text) + 2 : at;
}

/* Returns the end of the blanks, line ends and comments from `at` on. */
static size_t skip_space(const struct outline *o, size_t at)
{
	for (size_t next;; at = next) {
		next = comment_end(o, at);
		while (char_at(o, next) && strchr(" \t\r\n", char_at(o, next)))
			next++;
		if (next == at)
			return at;
	}
}

/* Reads a string, a number or a word at *at; jansson judges whether it is valid. */
static int read_scalar(struct outline *o, size_t *at)
{
	size_t start = *at, end = start;
	bool string = char_at(o, start) == '"';
	if (string) {
		for (end++; end < o->len && !strchr("\"\n", o->text[end]); end++)
			end += o->text[end] == '\\';
		if (char_at(o, end) != '"')
			return outline_refuse(o, start, "a string is not closed");
		end++;
	} else {
		while (end < o->len && !strchr(" \t\r\n,:[]{}\"/", o->text[end]))
			end++;
	}
	json_t *value = json_read(o->text + start, end - start,
				  JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
	json_decref(value);
	if (!value)
		return outline_refuse(o, start,
				      string ? "a string with an invalid escape or character"
					     : "a value is expected");
	*at = end;
	return 0;
}

/* Reads the value at *at and everything inside it. `node` has its parent and key already. */
static int read_value(struct outline *o, size_t *at, struct outline_node node, int depth)
{
	char first = char_at(o, *at);
	bool object = first == '{';
	node.kind = object         ? OUTLINE_OBJECT
		    : first == '[' ? OUTLINE_ARRAY
		    : first == '"' ? OUTLINE_STRING
				   : OUTLINE_SCALAR;
	node.start = *at;
	struct outline_node *added = array_add(&o->nodes, &o->count, &o->cap, sizeof(*added));
	if (!added)
		return -1;
	*added = node;
	int index = (int)o->count - 1;
	if (depth > OUTLINE_DEPTH_MAX)
		return outline_refuse(o, *at, "nested too deeply");
	if (object || first == '[') {
		char close = object ? '}' : ']';
		*at = skip_space(o, *at + 1);
		while (char_at(o, *at) != close) {
			struct outline_node child = {.parent = index, .begin = *at};
			if (object) {
				if (char_at(o, *at) != '"')
					return outline_refuse(o, *at,
							      "a key in double quotes is expected");
				if (read_scalar(o, at) < 0)
					return -1;
				child.key_end = *at;
				*at = skip_space(o, *at);
				if (char_at(o, *at) != ':')
					return outline_refuse(o, *at,
							      "a colon is expected behind a key");
				*at = skip_space(o, *at + 1);
			}
			if (read_value(o, at, child, depth + 1) < 0)
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
	} else if (read_scalar(o, at) < 0) {
		return -1;
	}
	o->nodes[index].end = *at;
	return 0;
}

int outline_parse(struct outline *o, const char *text, size_t len)
{
	size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	*o = (struct outline){.text = text, .len = len};
	at = skip_space(o, at);
	if (at == len)
		return 0;
	if (read_value(o, &at, (struct outline_node){.parent = -1, .begin = at}, 0) < 0)
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

/* The child that follows `after` (-1: the first), or -1. */
static int outline_next(const struct outline *o, int parent, int after)
{
	for (size_t i = after < 0 ? (size_t)parent + 1 : (size_t)after + 1; i < o->count; i++) {
		if (o->nodes[i].parent == parent)
			return (int)i;
	}
	return -1;
}

int outline_member(const struct outline *o, int object, const char *key)
{
	size_t len = strlen(key);
	int found = -1;
	if (object < 0 || (size_t)object >= o->count || o->nodes[object].kind != OUTLINE_OBJECT)
		return -1;
	for (int i = -1; (i = outline_next(o, object, i)) >= 0;) {
		const struct outline_node *n = &o->nodes[i];
		if (n->key_end - n->begin == len + 2 &&
		    memcmp(o->text + n->begin + 1, key, len) == 0)
			found = i;
	}
	return found;
}

size_t outline_find(const struct outline *o, const char *const *path, int nodes[])
{
	size_t count = 0;
	int node = o->count ? 0 : -1;
	while (path[count] && (node = outline_member(o, node, path[count])) >= 0)
		nodes[count++] = node;
	return count;
}

/* --- changes ------------------------------------------------------------------------ */

int splice_make(struct splice *s, struct buffer *text)
{
	struct buffer next = BUFFER_INIT;
	buffer_append(&next, text->data, s->from);
	buffer_add(&next, &s->text);
	buffer_append(&next, text->data + s->to, text->len - s->to);
	/* Terminated by a NUL, so that even an empty text has memory. */
	const bool made = buffer_string(&next);
	buffer_release(made ? text : &next);
	if (made)
		*text = next;
	buffer_release(&s->text);
	errno = ENOMEM;
	return made ? 0 : -1;
}

/* How an added value is laid out: like the text around it. */
struct layout {
	const char *newline;
	const char *base; /* the blanks at the start of the line that the value belongs to */
	size_t base_len;
	const char *unit; /* one level of indentation */
	size_t unit_len;
	bool flat; /* all of it on one line */
};

/* Finds the blanks at the start of the line that has `at`. Returns their number. */
static size_t blanks_at(const struct outline *o, size_t at, const char **blanks)
{
	size_t line = at;
	while (line > 0 && o->text[line - 1] != '\n')
		line--;
	size_t end = outline_skip_blanks(o, line);
	*blanks = o->text + line;
	return (end < at ? end : at) - line;
}

static bool is_broken(const struct outline *o, size_t from, size_t to)
{
	return memchr(o->text + from, '\n', to - from) != NULL;
}

/* The layout for a line like the one that `at` is in. */
static struct layout layout_at(const struct outline *o, size_t at)
{
	const char *root, *in;
	struct layout l = {.newline = newline_of(o->text, o->len), .unit = "  ", .unit_len = 2};
	l.base_len = blanks_at(o, at, &l.base);
	int first = o->count ? outline_next(o, 0, -1) : -1;
	if (first < 0)
		return l;
	size_t start = o->nodes[0].start, begin = o->nodes[first].begin;
	size_t root_len = blanks_at(o, start, &root), in_len = blanks_at(o, begin, &in);
	l.flat = !is_broken(o, start, begin);
	if (!l.flat && in_len > root_len && in_len - root_len <= 8) {
		l.unit = in + root_len;
		l.unit_len = in_len - root_len;
	}
	return l;
}

static void break_line(struct buffer *out, const struct layout *l, size_t depth)
{
	if (l->flat)
		return;
	buffer_append_string(out, l->newline);
	buffer_append(out, l->base, l->base_len);
	while (depth-- > 0)
		buffer_append(out, l->unit, l->unit_len);
}

/* Writes "key": (unless `key` is NULL) and then a value in JSON, which comes without blanks and is
   laid out here. `depth`: the levels of indentation beyond l->base. */
static void write_child(struct buffer *out, const struct layout *l, const char *key,
			const char *json, size_t depth)
{
	if (key)
		buffer_printf(out, "\"%s\": ", key);
	for (const char *at = json, *next; *at; at = next) {
		next = at + 1;
		/* A string is one piece. */
		if (*at == '"') {
			for (; *next && *next != '"'; next++)
				next += *next == '\\' && next[1];
			next += *next == '"';
		}
		bool opens = strchr("{[", *at) && !strchr("]}", at[1]);
		if (strchr("]}", *at) && !strchr("{[", at[-1]))
			break_line(out, l, --depth);
		buffer_append(out, at, (size_t)(next - at));
		if (opens || *at == ',')
			break_line(out, l, depth += opens);
		if (*at == ':' || (*at == ',' && l->flat))
			buffer_append(out, " ", 1);
	}
}

/* The offset of the comma after a node, or 0. */
static size_t comma_behind(const struct outline *o, const struct outline_node *n)
{
	size_t at = skip_space(o, n->end);
	return char_at(o, at) == ',' ? at : 0;
}

/* The end of what belongs to a node on its line: a comma, and comments after it. */
static size_t tail_of(const struct outline *o, const struct outline_node *n)
{
	size_t comma = comma_behind(o, n), end = comma ? comma + 1 : n->end;
	for (;;) {
		size_t at = outline_skip_blanks(o, end), next = comment_end(o, at);
		if (next == at || is_broken(o, at, next))
			return end;
		end = next - (o->text[next - 1] == '\r');
	}
}

static void add_behind(struct splice *s, const struct outline *o, int parent, int last,
		       const char *key, const char *value)
{
	const struct outline_node *n = &o->nodes[last];
	struct layout l = layout_at(o, n->begin);
	size_t comma = comma_behind(o, n), tail = tail_of(o, n);
	l.flat = !is_broken(o, o->nodes[parent].start, n->begin);
	if (l.flat)
		tail = comma ? comma + 1 : n->end;
	s->from = n->end;
	s->to = tail;
	if (!comma)
		buffer_append(&s->text, ",", 1);
	buffer_append(&s->text, o->text + n->end, tail - n->end);
	break_line(&s->text, &l, 0);
	if (l.flat)
		buffer_append(&s->text, " ", 1);
	write_child(&s->text, &l, key, value, 0);
	if (comma)
		buffer_append(&s->text, ",", 1);
}

static void add_first(struct splice *s, const struct outline *o, int parent, const char *key,
		      const char *value)
{
	const struct outline_node *n = &o->nodes[parent];
	struct layout l = layout_at(o, n->start);
	s->from = n->start + 1;
	s->to = n->end - 1;
	break_line(&s->text, &l, 1);
	write_child(&s->text, &l, key, value, 1);
	if (strspn(o->text + s->from, " \t") < s->to - s->from)
		buffer_append(&s->text, o->text + s->from, s->to - s->from);
	if (!is_broken(o, s->from, s->to))
		break_line(&s->text, &l, 0);
}

int outline_add(struct splice *s, const struct outline *o, const char *const *path,
		const char *value, bool element)
{
	int nodes[OUTLINE_DEPTH_MAX], node = o->count ? 0 : -1, last = -1;
	size_t found = outline_find(o, path, nodes);
	const char *const *missing = path + found;
	const char *key = NULL;
	for (size_t i = 0; i < found; i++) {
		node = nodes[i];
		if (o->nodes[node].kind !=
		    (path[i + 1] || !element ? OUTLINE_OBJECT : OUTLINE_ARRAY)) {
			errno = ENOTDIR;
			return -1;
		}
	}
	if (node >= 0 && !*missing && !element) {
		errno = EEXIST;
		return -1;
	}
	if (node >= 0 && *missing)
		key = *missing++;
	/* Missing keys of the path become objects around the value; an existing array gets the
	   value itself. */
	struct buffer whole = BUFFER_INIT;
	size_t count = 0;
	for (; missing[count]; count++)
		buffer_printf(&whole, "{\"%s\":", missing[count]);
	buffer_printf(&whole, element && (key || node < 0) ? "[%s]" : "%s", value);
	while (count-- > 0)
		buffer_append(&whole, "}", 1);
	for (int i = -1; node >= 0 && (i = outline_next(o, node, i)) >= 0;)
		last = i;
	if (!buffer_string(&whole)) {
		s->text.failed = true;
	} else if (node < 0) {
		/* The first value of a text, which may end in a comment. */
		struct layout l = layout_at(o, 0);
		l.base_len = 0;
		s->from = s->to = o->len;
		if (o->len && o->text[o->len - 1] != '\n')
			buffer_append_string(&s->text, l.newline);
		write_child(&s->text, &l, NULL, whole.data, 0);
		buffer_append_string(&s->text, l.newline);
	} else if (last < 0) {
		add_first(s, o, node, key, whole.data);
	} else {
		add_behind(s, o, node, last, key, whole.data);
	}
	buffer_release(&whole);
	return buffer_check(&s->text);
}

void outline_remove(struct splice *s, const struct outline *o, int node)
{
	const struct outline_node *n = &o->nodes[node], *parent = &o->nodes[n->parent];
	size_t comma = comma_behind(o, n), from, end = comma ? comma + 1 : n->end;
	int before = -1, next = outline_next(o, n->parent, node);
	for (int i = outline_next(o, n->parent, -1); i != node; i = outline_next(o, n->parent, i))
		before = i;
	from = before < 0 ? parent->start + 1 : tail_of(o, &o->nodes[before]);
	/* If the next element is on the same line, the blanks before it go as well. */
	if (before < 0 && next >= 0 && !is_broken(o, from, o->nodes[next].begin)) {
		from = n->begin;
		end = o->nodes[next].begin;
	} else {
		/* Removes up to the end of the line if only blanks follow there. Text that follows
		   on the line must not become part of a comment above it. */
		size_t line = n->begin, rest = outline_skip_blanks(o, end);
		while (line > from && strchr(" \t", o->text[line - 1]))
			line--;
		const char *newline = memrchr(o->text, '\n', line - 1);
		const char *above = newline ? newline + 1 : o->text;
		const size_t stop = rest + (char_at(o, rest) == '\r');
		bool joins = rest < o->len && char_at(o, stop) != '\n' &&
			     memmem(above, (size_t)(o->text + line - above), "//", 2);
		if (line > from && o->text[line - 1] == '\n' && !joins) {
			line--;
			from = line > from && o->text[line - 1] == '\r' ? line - 1 : line;
		} else if (line > from) {
			from = n->begin;
		}
	}
	if (before < 0 && next < 0) {
		/* The element was the only one, so nothing but comments can be left. */
		size_t rest = end;
		while (rest < parent->end - 1 && strchr(" \t\r\n", o->text[rest]))
			rest++;
		if (rest == parent->end - 1 && from == parent->start + 1)
			end = rest;
	}
	/* The comma in front goes as well if nothing is left after it. */
	size_t lost = before >= 0 && !comma ? comma_behind(o, &o->nodes[before]) : 0;
	if (lost)
		buffer_append(&s->text, o->text + lost + 1, from - lost - 1);
	s->from = lost ? lost : from;
	s->to = end;
}
