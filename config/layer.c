// See layer.h.

#include "config/layer.h"

#include "config/option.h"
#include "lib/buffer.h"
#include "lib/quote.h"

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

void layer_free(struct layer *l, const struct layer *end)
{
	while (l && l != end) {
		struct layer *below = (struct layer *)l->below;
		for (size_t i = 0; i < l->count; i++)
			free((char *)l->entries[i].text);
		free(l->entries);
		free(l);
		l = below;
	}
}

/* Whether the section is in the layer's first `count` entries, or in a layer below. */
static bool layer_has_before(const struct layer *l, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct layer_entry *e = &l->entries[i];
		if (e->kind == LAYER_NAME && strcmp(e->text, name) == 0)
			return true;
	}
	return l->below && layer_has_before(l->below, l->below->count, name);
}

const char *layer_name(const struct layer *top, size_t index)
{
	/* From the lowest layer up; each built-in name is there once. */
	for (const struct layer *l, *last = NULL;; last = l) {
		for (l = top; l && l->below != last;)
			l = l->below;
		for (size_t i = 0; l && i < l->count; i++) {
			const struct layer_entry *e = &l->entries[i];
			bool new = e->kind == LAYER_NAME &&
				   (!last || !layer_has_before(l, i, e->text));
			if (new &&index-- == 0)
				return e->text;
		}
		if (!l)
			return NULL;
	}
}

void layer_read_values(const struct layer *l, const char *name, struct layer_values *v)
{
	memset(v->from, 0, sizeof(v->from));
	for (; l; l = l->below) {
		bool here = false;
		for (size_t i = 0; i < l->count; i++) {
			const struct layer_entry *e = &l->entries[i];
			size_t slot = SETTING_SLOT(e->offset);
			if (e->kind == LAYER_NAME)
				here = strcmp(e->text, name) == 0;
			if (!here || e->kind != LAYER_VALUE ||
			    (v->from[slot] && v->from[slot] != l))
				continue;
			v->entry[slot] = e;
			v->from[slot] = l;
		}
	}
}

const struct layer_entry *layer_next(const struct layer *l, const char *name, const char *key,
				     const struct layer_entry *after)
{
	bool here = after;
	for (size_t i = after ? (size_t)(after - l->entries) + 1 : 0; i < l->count; i++) {
		const struct layer_entry *e = &l->entries[i];
		if (e->kind == LAYER_NAME)
			here = strcmp(e->text, name) == 0;
		else if (here && e->kind == LAYER_TEXT && strcmp(e->key, key) == 0)
			return e;
	}
	return NULL;
}

/* --- sections as an ini text ----------------------------------------------------------- */

/* The end of a line, with the position in a file, which set what stands there, as a comment. */
static void layer_write_origin(struct buffer *out, const struct settings *s,
			       const struct layer *layer, const struct layer_entry *e)
{
	const char *file = layer->by == ORIGIN_BUILT_IN ? NULL : s->files[layer->by];
	if (file) {
		buffer_append_string(out, " ; ");
		quote_text(out, file, strlen(file), 0);
		buffer_printf(out, ":%u", e->line);
	}
	buffer_append_string(out, "\n");
}

/* The items of a key in one layer, and in all below it if the key adds to them, the lowest first.
 */
static void layer_write_items(struct buffer *out, const struct settings *s,
			      const struct layer *layer, const char *name,
			      const struct layer_key *key)
{
	const struct layer_entry *e = NULL;
	if (key->adds && layer->below)
		layer_write_items(out, s, layer->below, name, key);
	while ((e = layer_next(layer, name, key->name, e)) != NULL) {
		if (!*e->text)
			continue;
		buffer_append_string(out, "\t");
		quote_text(out, e->text, strlen(e->text), 0);
		layer_write_origin(out, s, layer, e);
	}
}

int layer_write(struct buffer *out, const struct settings *s, const struct layer_form *form)
{
	const struct layer *const *set = (const void *)((const char *)s + form->offset);
	const struct layer *top = *set ? *set : form->builtin;
	const char *name;
	char value[VALUE_LEN];
	for (size_t i = 0; (name = layer_name(top, i)) != NULL; i++) {
		struct layer_values values;
		buffer_printf(out, "%s[%s %s]\n", out->len > 0 ? "\n" : "", form->word, name);
		for (const struct layer_key *key = form->keys; key->name; key++) {
			const struct layer *with = top;
			while (!key->adds && with && !layer_next(with, name, key->name, NULL))
				with = with->below;
			if (!with)
				continue;
			buffer_printf(out, "%s =\n", key->name);
			layer_write_items(out, s, with, name, key);
		}
		layer_read_values(top, name, &values);
		for (size_t k = 0; k < option_count; k++) {
			const struct option *o = &option_table[k];
			size_t slot = SETTING_SLOT(o->offset);
			if (!values.from[slot])
				continue;
			buffer_printf(out, "%s = %s", o->key,
				      option_number_text(o, values.entry[slot]->value, value));
			layer_write_origin(out, s, values.from[slot], values.entry[slot]);
		}
	}
	return buffer_check(out);
}
