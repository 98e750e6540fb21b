// Items in TOML; see step.h.

#include "supervisor/wiring/jsonc.h"
#include "supervisor/wiring/step.h"
#include "supervisor/wiring/toml.h"

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
