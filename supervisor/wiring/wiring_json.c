// Items in JSON; see step.h.

#include "supervisor/wiring/jsonc.h"
#include "supervisor/wiring/step.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	struct buffer command = BUFFER_INIT;
	int status;

	if (s->item->kind != WIRING_HOOK)
		return step_value(out, s);
	status = step_command(&command, s);
	if (status == 0)
		status = buffer_string(&command) && step_quote(out, command.data) == 0 &&
					 buffer_string(out)
				 ? 0
				 : -1;
	buffer_release(&command);
	return status;
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
