// See show.h.

#include "config/show.h"

#include "config/assign.h"

#include "supervisor/base/buffer.h"

#include <string.h>

/* Where the comments start. */
enum { ORIGIN_COLUMN = 32 };

int show_origin(const struct settings *s, const struct option *o, const char *profile,
		struct buffer *out)
{
	const struct setting_source *source = &s->sources[o - option_table];

	switch (source->by) {
	case ORIGIN_SYSTEM:
	case ORIGIN_USER:
	case ORIGIN_PROJECT:
		return buffer_printf(out, "%s:%u",
				     s->files[source->by] ? s->files[source->by] : "terse.ini",
				     source->line);
	case ORIGIN_AGENT: return buffer_printf(out, "agent %s", s->agent ? s->agent : "");
	case ORIGIN_PROFILE: return buffer_printf(out, "profile %s", profile ? profile : "");
	case ORIGIN_VARIABLE: return buffer_append_string(out, o->variable);
	case ORIGIN_FLAG: return buffer_append_string(out, o->flag);
	case ORIGIN_BUILT_IN: break;
	}
	return buffer_append_string(out, "built in");
}

/* A value with a newline in it, as a variable can have one, stays one line. */
static int show_add_line(struct buffer *out, const char *value)
{
	size_t len = strcspn(value, "\n");

	if (buffer_append(out, value, len) < 0)
		return -1;
	return value[len] && buffer_append_string(out, "\\n") == 0
		       ? show_add_line(out, value + len + 1)
		       : 0;
}

static int show_write_items(const struct settings *s, const struct option *o, const char *indent,
			    struct buffer *out)
{
	const struct strings *list = (const void *)((const char *)s + o->offset);

	for (size_t i = 0; o->type == OPTION_LIST && i < list->count; i++) {
		if (buffer_append_string(out, indent) < 0 ||
		    show_add_line(out, list->items[i]) < 0 || buffer_append(out, "\n", 1) < 0)
			return -1;
	}
	return 0;
}

int show_value(const struct settings *s, const struct option *o, struct buffer *out)
{
	const void *field = (const char *)s + o->offset;
	char text[VALUE_LEN];
	const char *value;

	if (o->type == OPTION_LIST)
		return show_write_items(s, o, "", out);
	value = option_is_number(o) ? option_number_text(o, *(const int64_t *)field, text)
				    : *(char *const *)field;
	return value ? show_add_line(out, value) : 0;
}

static int show_write_option(const struct settings *s, const struct option *o, const char *profile,
			     struct buffer *out)
{
	size_t start = out->len, width;

	if (buffer_printf(out, "%s = ", o->key) < 0 ||
	    (o->type != OPTION_LIST && show_value(s, o, out) < 0))
		return -1;
	out->len -= out->data[out->len - 1] == ' ';
	width = out->len - start;
	if (buffer_printf(out, "%*s ; ", width < ORIGIN_COLUMN ? (int)(ORIGIN_COLUMN - width) : 0,
			  "") < 0 ||
	    show_origin(s, o, profile, out) < 0 || buffer_append_string(out, "\n") < 0)
		return -1;
	return show_write_items(s, o, "\t", out);
}

int show_settings(const struct settings *s, const char *profile, struct buffer *out)
{
	const char *section = "";

	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(section, o->section) != 0 &&
		    buffer_printf(out, "%s[%s]\n", i == 0 ? "" : "\n", o->section) < 0)
			return -1;
		section = o->section;
		if (show_write_option(s, o, profile, out) < 0)
			return -1;
	}
	return 0;
}
