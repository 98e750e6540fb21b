// See layer.h.

#include "config/layer.h"

#include "config/option.h"
#include "lib/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *layer_refuse_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t len = strlen(name);

	if (len == 0 || len > LAYER_NAME_MAX || strspn(name, allowed) != len)
		return "a name is 1 to 40 letters, digits, _ . or -";
	return NULL;
}

struct layer *layer_new(enum origin by, const struct layer *below)
{
	struct layer *l = calloc(1, sizeof(*l));

	if (l)
		*l = (struct layer){.by = by, .below = below};
	return l;
}

void layer_drop(struct layer *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		free((char *)l->entries[i].text);
	free(l->entries);
	free(l);
}

void layer_free(struct layer *l)
{
	while (l && l->by != ORIGIN_BUILT_IN) {
		struct layer *below = (struct layer *)l->below;

		layer_drop(l);
		l = below;
	}
}

static int layer_add(struct layer *l, struct layer_entry entry)
{
	if (l->count == LAYER_LINES_MAX) {
		errno = E2BIG;
		return -1;
	}
	if (l->count == l->room) {
		size_t room = l->room ? 2 * l->room : 16;
		struct layer_entry *entries = realloc(l->entries, room * sizeof(*entries));

		if (!entries)
			return -1;
		l->entries = entries;
		l->room = room;
	}
	if (entry.text) {
		entry.text = strdup(entry.text);
		if (!entry.text)
			return -1;
	}
	l->entries[l->count++] = entry;
	return 0;
}

int layer_add_name(struct layer *l, unsigned line, const char *name)
{
	return layer_add(l, (struct layer_entry){.kind = LAYER_NAME, .line = line, .text = name});
}

int layer_add_text(struct layer *l, unsigned line, const char *key, const char *text)
{
	return layer_add(l, (struct layer_entry){
				    .kind = LAYER_TEXT, .line = line, .key = key, .text = text});
}

int layer_add_value(struct layer *l, unsigned line, const struct option *o, int64_t value)
{
	return layer_add(
		l, (struct layer_entry){
			   .kind = LAYER_VALUE, .line = line, .offset = o->offset, .value = value});
}

/* Whether the section is in a layer's first `count` lines, or in a layer below. */
static bool command_layer_has(const struct layer *l, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct layer_entry *e = &l->entries[i];

		if (e->kind == LAYER_NAME && strcmp(e->text, name) == 0)
			return true;
	}
	return l->below && command_layer_has(l->below, l->below->count, name);
}

bool layer_has(const struct layer *l, const char *name)
{
	return command_layer_has(l, l->count, name);
}

/* Counts *index down with every name that has not been there before; finds the one at which it is
   0. */
static bool layer_find_name(const struct layer *l, size_t *index, const char **name)
{
	if (l->below && layer_find_name(l->below, index, name))
		return true;
	for (size_t i = 0; i < l->count; i++) {
		const struct layer_entry *e = &l->entries[i];

		*name = e->text;
		if (e->kind == LAYER_NAME && !command_layer_has(l, i, e->text) && (*index)-- == 0)
			return true;
	}
	return false;
}

const char *layer_name(const struct layer *l, size_t index)
{
	const char *name;

	return layer_find_name(l, &index, &name) ? name : NULL;
}

const struct layer_entry *layer_value(const struct layer *l, const char *name,
				      const struct option *o, const struct layer **layer)
{
	for (; l; l = l->below) {
		bool here = false;

		*layer = l;
		for (size_t i = 0; i < l->count; i++) {
			const struct layer_entry *e = &l->entries[i];

			if (e->kind == LAYER_NAME)
				here = strcmp(e->text, name) == 0;
			else if (here && e->kind == LAYER_VALUE && e->offset == o->offset)
				return e;
		}
	}
	return NULL;
}

const struct layer_entry *layer_next(const struct layer *l, const char *name, const char *key,
				     const struct layer_entry *after)
{
	bool here = false;

	for (size_t i = 0; i < l->count; i++) {
		const struct layer_entry *e = &l->entries[i];

		if (e->kind == LAYER_NAME)
			here = strcmp(e->text, name) == 0;
		else if (here && e->kind == LAYER_TEXT && (!after || e > after) &&
			 strcmp(e->key, key) == 0)
			return e;
	}
	return NULL;
}

const struct layer *layer_with(const struct layer *l, const char *name, const char *key)
{
	while (l && !layer_next(l, name, key, NULL))
		l = l->below;
	return l;
}

// Sections as an ini text. See layer_write() in layer.h.

/* Where a file says it, behind what it says. */
static int write_origin(struct buffer *out, const struct settings *s, const struct layer *layer,
			const struct layer_entry *e)
{
	const char *file = layer->by == ORIGIN_BUILT_IN ? NULL : s->files[layer->by];

	return file ? buffer_printf(out, " ; %s:%u\n", file, e->line)
		    : buffer_append_string(out, "\n");
}

/* What one layer says of a key. */
static int layer_list_write_items(struct buffer *out, const struct settings *s,
				  const struct layer *layer, const char *name, const char *key)
{
	const struct layer_entry *e = NULL;

	while ((e = layer_next(layer, name, key, e)) != NULL) {
		if (*e->text &&
		    (buffer_printf(out, "\t%s", e->text) < 0 || write_origin(out, s, layer, e) < 0))
			return -1;
	}
	return 0;
}

/* The lowest layer first. */
static int write_all_items(struct buffer *out, const struct settings *s, const struct layer *layer,
			   const char *name, const char *key)
{
	if (!layer)
		return 0;
	if (write_all_items(out, s, layer->below, name, key) < 0)
		return -1;
	return layer_list_write_items(out, s, layer, name, key);
}

static int layer_list_write_key(struct buffer *out, const struct settings *s,
				const struct layer_key *key, const struct layer *top,
				const char *name)
{
	const struct layer *with = layer_with(top, name, key->name);

	if (!with && !key->adds)
		return 0;
	if (buffer_printf(out, "%s =\n", key->name) < 0)
		return -1;
	return key->adds ? write_all_items(out, s, top, name, key->name)
			 : layer_list_write_items(out, s, with, name, key->name);
}

static int write_section(struct buffer *out, const struct settings *s,
			 const struct layer_form *form, const struct layer *top, const char *name)
{
	if (buffer_printf(out, "%s[%s %s]\n", out->len > 0 ? "\n" : "", form->word, name) < 0)
		return -1;
	for (const struct layer_key *key = form->keys; key->name; key++) {
		if (layer_list_write_key(out, s, key, top, name) < 0)
			return -1;
	}
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct layer *layer;
		const struct layer_entry *e = layer_value(top, name, o, &layer);
		char value[VALUE_LEN];

		if (e && (buffer_printf(out, "%s = %s", o->key,
					option_number_text(o, e->value, value)) < 0 ||
			  write_origin(out, s, layer, e) < 0))
			return -1;
	}
	return 0;
}

int layer_write(struct buffer *out, const struct settings *s, const struct layer_form *form,
		const struct layer *top)
{
	const char *name;

	for (size_t i = 0; (name = layer_name(top, i)) != NULL; i++) {
		if (write_section(out, s, form, top, name) < 0)
			return -1;
	}
	return 0;
}
