// All profiles as an ini text. See profile_write_all() in profile.h.

#include "config/profile.h"

#include "config/assign.h"
#include "config/profiles.h"

#include "supervisor/base/buffer.h"

#include <string.h>

/* Where a file says it, behind what it says. */
static int write_origin(struct buffer *out, const struct settings *s, const struct profiles *layer,
			const struct profiles_entry *e)
{
	const char *file = layer->by == ORIGIN_BUILT_IN ? NULL : s->files[layer->by];

	return file ? buffer_printf(out, " ; %s:%u\n", file, e->line)
		    : buffer_append_string(out, "\n");
}

/* The patterns of one layer. */
static int write_layer(struct buffer *out, const struct settings *s, const struct profiles *layer,
		       const char *name)
{
	bool here = false;

	for (size_t i = 0; i < layer->count; i++) {
		const struct profiles_entry *e = &layer->entries[i];

		if (e->kind == PROFILES_NAME)
			here = strcmp(e->text, name) == 0;
		if (!here || e->kind != PROFILES_PATTERN)
			continue;
		if (buffer_printf(out, "\t%s", e->text) < 0 || write_origin(out, s, layer, e) < 0)
			return -1;
	}
	return 0;
}

/* The lowest layer first. */
static int write_patterns(struct buffer *out, const struct settings *s,
			  const struct profiles *layer, const char *name)
{
	if (!layer)
		return 0;
	if (write_patterns(out, s, layer->below, name) < 0)
		return -1;
	return write_layer(out, s, layer, name);
}

/* The items of a list in one layer and those below. */
static int write_items(struct buffer *out, const struct settings *s, const struct option *o,
		       const struct profiles *layer, const char *name, bool *begun)
{
	const struct profiles_entry *e;
	size_t at = 0;

	if (!layer)
		return 0;
	if (write_items(out, s, o, layer->below, name, begun) < 0)
		return -1;
	while ((e = profiles_item(layer, name, o, &at)) != NULL) {
		if ((!*begun && buffer_printf(out, "%s =\n", o->key) < 0) ||
		    buffer_printf(out, "\t%s", e->text) < 0 || write_origin(out, s, layer, e) < 0)
			return -1;
		*begun = true;
	}
	return 0;
}

static int write_profile(struct buffer *out, const struct settings *s, const char *name)
{
	if (buffer_printf(out, "%s[profile %s]\nmatch =\n", out->len > 0 ? "\n" : "", name) < 0 ||
	    write_patterns(out, s, profiles_of(s), name) < 0)
		return -1;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct profiles *layer;
		const struct profiles_entry *e = profiles_value(profiles_of(s), name, o, &layer);
		char value[VALUE_LEN];
		bool begun = false;

		if (write_items(out, s, o, profiles_of(s), name, &begun) < 0)
			return -1;
		if (e && (buffer_printf(out, "%s = %s", o->key,
					option_number_text(o, e->value, value)) < 0 ||
			  write_origin(out, s, layer, e) < 0))
			return -1;
	}
	return 0;
}

int profile_write_all(const struct settings *s, struct buffer *out)
{
	const char *name;

	for (size_t i = 0; (name = profiles_name(profiles_of(s), i)) != NULL; i++) {
		if (write_profile(out, s, name) < 0)
			return -1;
	}
	return 0;
}
