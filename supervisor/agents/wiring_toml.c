// See wiring_step.h: items in TOML.

#include "lib/buffer.h"
#include "supervisor/agents/toml.h"
#include "supervisor/agents/wiring_step.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	const char *wanted = wiring_place(s->place, s->item);
	struct toml p;
	int status = parse_toml(&p, s, t);
	if (status == 0) {
		int entry = find_toml(&p, s);
		char *value = entry >= 0 ? toml_string(&p, entry) : NULL;
		bool own = value && step_is_own(s, value);
		if (entry < 0 && *wanted)
			status = toml_add(out, &p, s->item->path[0], s->item->path[1], wanted);
		else if (entry < 0 || (own && strcmp(value, wanted) == 0))
			buffer_add(out, t);
		else if (own)
			toml_replace(out, &p, entry, wanted);
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
	bool dropped = false;
	bool was = toml_parse(&before, s->original ? s->original : "", s->original_len) == 0 &&
		   has_table(&before, s->item->path[0]);

	if (!was && toml_parse(&now, text->data ? text->data : "", text->len) == 0)
		dropped = toml_remove_empty(&rest, &now, s->item->path[0]);
	if (!was)
		toml_release(&now);
	toml_release(&before);
	if (dropped) {
		buffer_release(text);
		*text = rest;
	} else {
		buffer_release(&rest);
	}
	return buffer_check(text);
}

int step_drop_toml(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct toml p;
	int status = parse_toml(&p, s, t);
	if (status == 0) {
		int entry = find_toml(&p, s);
		char *value = entry >= 0 ? toml_string(&p, entry) : NULL;
		if (value && step_is_own(s, value)) {
			toml_remove(out, &p, entry);
			status = drop_table(out, s);
		} else {
			buffer_add(out, t);
		}
		free(value);
	}
	toml_release(&p);
	return status;
}

/* Whether the entry is the array that terse writes. */
static bool step_is_array(const struct toml *p, const struct step *s, int entry)
{
	size_t len = strlen(s->item->value);
	return entry >= 0 && p->entries[entry].end - p->entries[entry].start == len &&
	       memcmp(p->text + p->entries[entry].start, s->item->value, len) == 0;
}

int step_add_toml_array(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct toml p;
	int status = parse_toml(&p, s, t);
	if (status == 0) {
		int entry = find_toml(&p, s);
		if (entry < 0)
			status = toml_add(out, &p, s->item->path[0], s->item->path[1],
					  s->item->value);
		else if (step_is_array(&p, s, entry))
			buffer_add(out, t);
		else
			status = step_refuse(s, p.text, p.entries[entry].start, EEXIST,
					     "%s is %.*s already; terse would be: %s",
					     s->item->path[1],
					     (int)(p.entries[entry].end - p.entries[entry].start),
					     p.text + p.entries[entry].start, s->item->value);
	}
	toml_release(&p);
	return status;
}

/* It goes with the path of terse beside it, which is taken away behind it. */
int step_drop_toml_array(struct buffer *out, const struct buffer *t, const struct step *s)
{
	struct toml p;
	char path[256];
	int status = parse_toml(&p, s, t);
	if (status == 0) {
		int entry = find_toml(&p, s);
		snprintf(path, sizeof(path), "%s.command", s->item->path[0]);
		int beside = toml_find(&p, path);
		char *command = beside >= 0 ? toml_string(&p, beside) : NULL;
		if (step_is_array(&p, s, entry) && command && step_ends_with(command, "/terse")) {
			toml_remove(out, &p, entry);
			status = drop_table(out, s);
		} else {
			buffer_add(out, t);
		}
		free(command);
	}
	toml_release(&p);
	return status;
}
