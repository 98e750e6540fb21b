// Lines for a model, and whole files; see wiring.h.

#include "supervisor/agents/jsonc.h"
#include "supervisor/agents/toml.h"
#include "supervisor/agents/wiring.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The block between the markers: its start and the end of its last line. */
static bool find_lines(const struct buffer *t, size_t *from, size_t *to)
{
	const char *begin = memmem(t->data, t->len, LINES_BEGIN, strlen(LINES_BEGIN)), *end;

	if (!begin)
		return false;
	*from = (size_t)(begin - t->data);
	end = memmem(begin, t->len - *from, LINES_END, strlen(LINES_END));
	if (!end)
		return false;
	*to = (size_t)(end - t->data) + strlen(LINES_END);
	*to += *to < t->len && t->data[*to] == '\n';
	return true;
}

int step_add_lines(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	size_t from = t->len, to = t->len;
	bool there = find_lines(t, &from, &to);
	int status = step_value(&value, s);
	buffer_append(out, t->data, from);
	if (!there && from && t->data[from - 1] != '\n')
		buffer_append(out, "\n", 1);
	if (!there && from)
		buffer_append(out, "\n", 1);
	buffer_append(out, value.data, value.len);
	buffer_append(out, t->data + to, t->len - to);
	buffer_release(&value);
	return status < 0 ? -1 : buffer_check(out);
}

int step_drop_lines(struct buffer *out, const struct buffer *t)
{
	size_t from, to;

	if (!find_lines(t, &from, &to))
		return buffer_append(out, t->data, t->len);
	/* The blank line above. */
	if (from >= 2 && memcmp(t->data + from - 2, "\n\n", 2) == 0)
		from--;
	buffer_append(out, t->data, from);
	return buffer_append(out, t->data + to, t->len - to);
}

/* Whether the file is one of terse's: by its first line. */
static bool is_own_file(const struct buffer *t, const struct wiring_item *item)
{
	size_t line = strcspn(item->value, "\n");

	return t->len > line && memcmp(t->data, item->value, line) == 0;
}

int step_add_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	if (t->len && !is_own_file(t, s->item))
		return step_refuse(s, "", 0, EEXIST, "there is such a file already");
	return step_value(out, s);
}

int step_drop_file(struct buffer *out, const struct buffer *t, const struct step *s)
{
	return is_own_file(t, s->item) ? 0 : buffer_append(out, t->data, t->len);
}

// Items in TOML; see wiring.h.

static int parse_toml(struct toml *p, const struct step *s, const struct buffer *t)
{
	if (toml_parse(p, t->data ? t->data : "", t->len) == 0)
		return 0;
	return errno == EINVAL ? step_refuse(s, p->text, p->at, EINVAL, "%s", p->reason) : -1;
}

static int find_toml(const struct toml *p, const struct step *s)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.%s", s->item->path[0], s->item->path[1]);
	return toml_find(p, path);
}

int step_add_toml(struct buffer *out, const struct buffer *t, const struct step *s)
{
	const char *wanted = step_place(s);
	struct toml p;
	int status = parse_toml(&p, s, t);

	if (status == 0) {
		int entry = find_toml(&p, s);
		char *value = entry >= 0 ? toml_string(&p, entry) : NULL;

		if (entry < 0)
			status = *wanted ? toml_add(out, &p, s->item->path[0], s->item->path[1],
						    wanted)
					 : buffer_append(out, p.text, p.len);
		else if (value && step_is_own(s, value))
			status = strcmp(value, wanted) == 0 ? buffer_append(out, p.text, p.len)
							    : toml_replace(out, &p, entry, wanted);
		else
			status = step_refuse(s, p.text, p.entries[entry].start, EEXIST,
					     "%s is %.*s already; terse would be: \"%s\"",
					     s->item->path[1],
					     (int)(p.entries[entry].end - p.entries[entry].start),
					     p.text + p.entries[entry].start, wanted);
		if (status < 0 && errno == ENOTDIR)
			step_refuse(s, p.text, 0, EEXIST, "%s is not a table", s->item->path[0]);
		free(value);
	}
	toml_release(&p);
	return status;
}

static bool has_table(const struct toml *p, const char *table)
{
	for (size_t i = 0; i < p->count; i++) {
		if (strcmp(p->entries[i].path, table) == 0)
			return true;
	}
	return false;
}

/* Takes the item's table away if nothing is in it any more and it was not there before terse. */
static int drop_table(struct buffer *text, const struct step *s)
{
	if (buffer_check(text) < 0)
		return -1;
	struct buffer rest = BUFFER_INIT;
	struct toml before, now;
	int dropped = 0;
	bool was = toml_parse(&before, s->original ? s->original : "", s->original_len) == 0 &&
		   has_table(&before, s->item->path[0]);

	if (!was && toml_parse(&now, text->data ? text->data : "", text->len) == 0)
		dropped = toml_remove_empty(&rest, &now, s->item->path[0]);
	if (!was)
		toml_release(&now);
	toml_release(&before);
	if (dropped > 0) {
		buffer_release(text);
		*text = rest;
	} else {
		buffer_release(&rest);
	}
	return dropped < 0 ? -1 : 0;
}

int step_drop_toml(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct toml p;
	int status = parse_toml(&p, s, t);

	if (status == 0) {
		int entry = find_toml(&p, s);
		char *value = entry >= 0 ? toml_string(&p, entry) : NULL;

		if (value && step_is_own(s, value))
			status = toml_remove(out, &p, entry) < 0 ? -1 : drop_table(out, s);
		else
			status = buffer_append(out, p.text, p.len);
		free(value);
	}
	toml_release(&p);
	return status;
}

// Items in JSON; see wiring.h.

static int parse_json(struct jsonc *j, const struct step *s, const struct buffer *t)
{
	if (jsonc_parse(j, t->data ? t->data : "", t->len) == 0)
		return 0;
	return errno == EINVAL ? step_refuse(s, j->text, j->at, EINVAL, "%s", j->reason) : -1;
}

/* The string that terse wrote somewhere below the node, or -1. */
static int find_hook(const struct jsonc *j, const struct step *s, int below)
{
	for (size_t i = (size_t)below + 1; below >= 0 && i < j->count; i++) {
		int up = j->nodes[i].parent;

		while (up > below)
			up = j->nodes[up].parent;
		char *value = up == below ? jsonc_string(j, (int)i) : NULL;
		bool found = value && step_is_own(s, value);

		free(value);
		if (found)
			return (int)i;
	}
	return -1;
}

/* What terse wrote for the item, or -1. */
static int find_item(const struct jsonc *j, const struct step *s)
{
	int node = jsonc_find(j, s->item->path);

	return s->item->kind == WIRING_HOOK ? find_hook(j, s, node) : node;
}

/* Appends what the node has to be, as it stands in the file. */
static int write_wanted(struct buffer *out, const struct step *s)
{
	if (s->item->kind != WIRING_HOOK)
		return step_value(out, s);
	struct buffer command = BUFFER_INIT;
	step_command(&command, s);
	int status = buffer_string(&command) ? step_quote(out, command.data) : -1;
	buffer_release(&command);
	return status == 0 && buffer_string(out) ? 0 : -1;
}

static bool wiring_json_is_same(const struct jsonc *j, int node, const struct buffer *value)
{
	const struct jsonc_node *n = &j->nodes[node];

	return n->end - n->start == value->len &&
	       memcmp(j->text + n->start, value->data, value->len) == 0;
}

/* A value is there; it is terse's, of another path perhaps, or it is in the way. */
static int renew(struct buffer *out, const struct jsonc *j, const struct step *s, int node)
{
	struct buffer wanted = BUFFER_INIT;
	char *value = jsonc_string(j, node);
	int status = write_wanted(&wanted, s);

	if (status == 0 && s->item->kind == WIRING_PRESENT)
		status = buffer_append(out, j->text, j->len);
	else if (status == 0 && value && step_is_own(s, value))
		status = wiring_json_is_same(j, node, &wanted)
				 ? buffer_append(out, j->text, j->len)
				 : jsonc_replace(out, j, node, wanted.data);
	else if (status == 0)
		status = step_refuse(s, j->text, j->nodes[node].start, EEXIST,
				     "\"%s\" is %.*s already; terse would be: %s",
				     s->item->path[s->item->path[1] ? 1 : 0],
				     (int)(j->nodes[node].end - j->nodes[node].start),
				     j->text + j->nodes[node].start, wanted.data);
	free(value);
	buffer_release(&wanted);
	return status;
}

int step_add_json(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct buffer value = BUFFER_INIT;
	struct jsonc j;
	int status = parse_json(&j, s, t);

	if (status == 0) {
		int node = find_item(&j, s);

		if (node >= 0) {
			status = renew(out, &j, s, node);
		} else {
			status = step_value(&value, s);
			if (status == 0)
				status = jsonc_add(out, &j, s->item->path, value.data,
						   s->item->kind == WIRING_HOOK);
			if (status < 0 && errno == ENOTDIR)
				step_refuse(s, j.text, 0, EEXIST,
					    "\"%s\" is not what the agent expects there",
					    s->item->path[0]);
		}
	}
	buffer_release(&value);
	jsonc_release(&j);
	return status;
}

/* How many keys lead to the node, if all of these are the item's; else 0. */
static size_t depth_of(const struct jsonc *j, const struct wiring_item *item, int node)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};

	for (size_t i = 0; i < WIRING_PATH_MAX && item->path[i]; i++) {
		part[i] = item->path[i];
		if (jsonc_find(j, part) == node)
			return i + 1;
	}
	return 0;
}

/* Whether what the first `depth` keys lead to was in the original. */
static bool was_there(const struct step *s, size_t depth)
{
	const char *part[WIRING_PATH_MAX + 1] = {NULL};
	struct jsonc j;
	bool found;

	if (!s->original)
		return false;
	memcpy(part, s->item->path, depth * sizeof(*part));
	found = jsonc_parse(&j, s->original, s->original_len) == 0 && jsonc_find(&j, part) >= 0;
	jsonc_release(&j);
	return found;
}

/* Whether something is in `up` beside the node. The pattern for which tools a hook is does not
   count where terse made it. */
static bool has_others(const struct jsonc *j, int up, int node, bool made)
{
	int matcher = made ? jsonc_member(j, up, "matcher") : -1;

	for (int i = jsonc_next(j, up, -1); i >= 0; i = jsonc_next(j, up, i)) {
		if (i != node && i != matcher)
			return true;
	}
	return false;
}

/* From what terse wrote upwards: the outermost node that goes with it. */
static int outermost(const struct jsonc *j, const struct step *s, int node)
{
	if (s->item->kind == WIRING_HOOK)
		node = j->nodes[node].parent;
	for (;;) {
		int up = j->nodes[node].parent;
		size_t depth = depth_of(j, s->item, up);

		if (up <= 0 || has_others(j, up, node, depth == 0) ||
		    (depth > 0 && was_there(s, depth)))
			return node;
		node = up;
	}
}

int step_drop_json(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct jsonc j;
	int status = parse_json(&j, s, t);

	if (status == 0) {
		int node = find_item(&j, s);
		char *value = node >= 0 ? jsonc_string(&j, node) : NULL;
		bool own = s->item->kind == WIRING_PRESENT
				   ? node >= 0 && !was_there(s, 1) &&
					     j.nodes[node].end - j.nodes[node].start ==
						     strlen(s->item->value)
				   : value && step_is_own(s, value);

		status = own ? jsonc_remove(out, &j, outermost(&j, s, node))
			     : buffer_append(out, j.text, j.len);
		free(value);
	}
	jsonc_release(&j);
	return status;
}
