// Sections as an ini text. See layer_write() in layer.h.

#include "config/layer.h"

#include "config/assign.h"

#include "supervisor/base/buffer.h"

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
