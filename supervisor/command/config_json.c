// See config.h.

#include "supervisor/command/config.h"

#include "config/assign.h"
#include "config/layer.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* NULL when out of memory; bytes that JSON can't hold become U+FFFD. */
static json_t *make_string(const char *text)
{
	struct buffer clean = BUFFER_INIT;
	json_t *string = NULL;
	if (utf8_clean(&clean, text, strlen(text)) == 0)
		string = json_stringn(clean.data ? clean.data : "", clean.len);
	buffer_release(&clean);
	return string;
}

/* Sets a member; NULL as a value is a failure of the caller's. */
static int config_json_set(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value);
}

static int config_json_add(json_t *array, json_t *value)
{
	return json_array_append_new(array, value);
}

/* `object` if all went well, else NULL. */
static json_t *whole(json_t *object, int failures)
{
	if (failures == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *make_list(const struct strings *list)
{
	json_t *array = json_array();
	int failures = array ? 0 : -1;
	for (size_t i = 0; i < list->count && failures == 0; i++)
		failures = config_json_add(array, make_string(list->items[i]));
	return whole(array, failures);
}

static json_t *make_value(const struct settings *s, const struct option *o)
{
	const void *field = (const char *)s + o->offset;
	char text[VALUE_LEN];
	switch (o->type) {
	case OPTION_LIST: return make_list(field);
	case OPTION_STRING:
		return *(char *const *)field ? make_string(*(char *const *)field) : json_null();
	case OPTION_BOOL: return json_boolean(*(const int64_t *)field != 0);
	case OPTION_TRISTATE:
	case OPTION_ENUM: return json_string(option_number_text(o, *(const int64_t *)field, text));
	default: return json_integer(*(const int64_t *)field);
	}
}

static json_t *make_origin(const struct settings *s, const struct option *o)
{
	static const char *const names[] = {
		[ORIGIN_BUILT_IN] = "default",  [ORIGIN_SYSTEM] = "system",
		[ORIGIN_USER] = "user",         [ORIGIN_PROJECT] = "project",
		[ORIGIN_AGENT] = "agent",       [ORIGIN_PROFILE] = "profile",
		[ORIGIN_VARIABLE] = "variable", [ORIGIN_FLAG] = "flag",
	};
	const struct setting_source *source = &s->sources[o - option_table];
	json_t *origin = json_object();
	int failures = origin ? config_json_set(origin, "by", json_string(names[source->by])) : -1;
	if (source->by == ORIGIN_VARIABLE)
		failures |= config_json_set(origin, "name", json_string(o->variable));
	if (source->by == ORIGIN_FLAG)
		failures |= config_json_set(origin, "name", json_string(o->flag));
	if (source->line > 0) {
		if (s->files[source->by])
			failures |=
				config_json_set(origin, "path", make_string(s->files[source->by]));
		failures |= config_json_set(origin, "line", json_integer(source->line));
	}
	return whole(origin, failures);
}

static const char *unit(const struct option *o)
{
	switch (o->type) {
	case OPTION_SIZE: return "bytes";
	case OPTION_DURATION: return "ms";
	default: return o->unit;
	}
}

static json_t *make_setting(const struct settings *s, const struct option *o)
{
	json_t *setting = json_object();
	int failures = setting ? 0 : -1;
	char text[VALUE_LEN];
	failures |= config_json_set(setting, "section", json_string(o->section));
	failures |= config_json_set(setting, "key", json_string(o->key));
	failures |= config_json_set(setting, "value", make_value(s, o));
	if (unit(o))
		failures |= config_json_set(setting, "unit", json_string(unit(o)));
	if (option_is_number(o)) {
		int64_t value = *(const int64_t *)(const void *)((const char *)s + o->offset);
		failures |= config_json_set(setting, "text",
					    json_string(option_number_text(o, value, text)));
	}
	if (o->type != OPTION_LIST && o->preset)
		failures |= config_json_set(setting, "default", json_string(o->preset));
	failures |= config_json_set(setting, "origin", make_origin(s, o));
	return whole(setting, failures);
}

static char *dump(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	if (!text)
		errno = ENOMEM;
	return text;
}

char *config_encode(const struct settings *s, const char *profile)
{
	json_t *root = json_object(), *files = json_array(), *settings = json_array();
	int failures =
		config_json_set(root, "profile", profile ? json_string(profile) : json_null());
	failures |= config_json_set(root, "agent", s->agent ? json_string(s->agent) : json_null());
	for (size_t i = 0; i < sizeof(s->files) / sizeof(*s->files); i++) {
		if (s->files[i])
			failures |= config_json_add(files, make_string(s->files[i]));
	}
	for (size_t i = 0; i < option_count; i++)
		failures |= config_json_add(settings, make_setting(s, &option_table[i]));
	failures |= config_json_set(root, "files", files);
	failures |= config_json_set(root, "settings", settings);
	return dump(whole(root, failures));
}

/* --- sections ------------------------------------------------------------------ */

/* What one layer says of a key. */
static int config_json_add_items(json_t *items, const struct layer *layer, const char *name,
				 const char *key)
{
	const struct layer_entry *e = NULL;
	int failures = 0;
	while (layer && (e = layer_next(layer, name, key, e)) != NULL)
		failures |= *e->text ? config_json_add(items, make_string(e->text)) : 0;
	return failures;
}

/* The lowest layer first. */
static int add_all_items(json_t *items, const struct layer *layer, const char *name,
			 const char *key)
{
	if (!layer)
		return 0;
	return add_all_items(items, layer->below, name, key) < 0 ||
			       config_json_add_items(items, layer, name, key) < 0
		       ? -1
		       : 0;
}

static json_t *make_items(const struct layer *top, const char *name, const struct layer_key *key)
{
	json_t *items = json_array();
	int failures = items ? 0 : -1;
	if (key->adds)
		failures |= add_all_items(items, top, name, key->name);
	else
		failures |= config_json_add_items(items, layer_with(top, name, key->name), name,
						  key->name);
	return whole(items, failures);
}

static json_t *make_section(const struct layer_form *form, const struct layer *top,
			    const char *name)
{
	json_t *section = json_object(), *settings = json_object();
	int failures = config_json_set(section, "name", json_string(name));
	for (const struct layer_key *key = form->keys; key->name; key++)
		failures |= config_json_set(section, key->name, make_items(top, name, key));
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct layer *layer;
		const struct layer_entry *e = layer_value(top, name, o, &layer);
		char text[VALUE_LEN];
		if (e)
			failures |=
				config_json_set(settings, o->key,
						json_string(option_number_text(o, e->value, text)));
	}
	failures |= config_json_set(section, "settings", settings);
	return whole(section, failures);
}

char *config_encode_sections(const struct layer_form *form, const struct layer *top)
{
	json_t *root = json_object(), *sections = json_array();
	char plural[32];
	const char *name;
	int failures = 0;
	snprintf(plural, sizeof(plural), "%ss", form->word);
	for (size_t i = 0; (name = layer_name(top, i)) != NULL; i++)
		failures |= config_json_add(sections, make_section(form, top, name));
	failures |= config_json_set(root, plural, sections);
	return dump(whole(root, failures));
}
