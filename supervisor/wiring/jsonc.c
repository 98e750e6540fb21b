// See jsonc.h. Reading; the changes are in jsonc_edit.c.

#include "supervisor/wiring/jsonc.h"

#include "supervisor/wiring/jsonc_scan.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

size_t jsonc_skip(const char *text, size_t len, size_t at)
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
	if (j->count == j->cap) {
		size_t cap = j->cap ? j->cap * 2 : 64;
		struct jsonc_node *nodes = realloc(j->nodes, cap * sizeof(*nodes));

		if (!nodes)
			return -1;
		j->nodes = nodes;
		j->cap = cap;
	}
	j->nodes[j->count] = node;
	return (int)j->count++;
}

/* jansson knows what a string, a number or a word of JSON is. */
static bool is_value(const char *text, size_t len)
{
	json_t *value = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	json_decref(value);
	return value != NULL;
}

/* Returns the end of a string that begins at `at`, or 0. */
static size_t string_end(const struct jsonc *j, size_t at)
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
	size_t end = string_end(j, *at);

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
	size_t line = 1;

	for (size_t i = 0; i < at; i++)
		line += text[i] == '\n';
	return line;
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
		json_t *value = json_loadb(j->text + n->start, n->end - n->start,
					   JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

		copy = value ? strdup(json_string_value(value)) : NULL;
		json_decref(value);
	}
	return copy;
}
