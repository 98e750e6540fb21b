// See config.h.

#include "supervisor/command/config.h"

#include "config/assign.h"
#include "config/profiles.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

#include <errno.h>
#include <jansson.h>
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
static int set(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value);
}

static int add(json_t *array, json_t *value)
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
		failures = add(array, make_string(list->items[i]));
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
		[ORIGIN_BUILT_IN] = "default", [ORIGIN_SYSTEM] = "system",
		[ORIGIN_USER] = "user",        [ORIGIN_PROJECT] = "project",
		[ORIGIN_PROFILE] = "profile",  [ORIGIN_VARIABLE] = "variable",
		[ORIGIN_FLAG] = "flag",
	};
	const struct setting_source *source = &s->sources[o - option_table];
	json_t *origin = json_object();
	int failures = origin ? set(origin, "by", json_string(names[source->by])) : -1;
	if (source->by == ORIGIN_VARIABLE)
		failures |= set(origin, "name", json_string(o->variable));
	if (source->by == ORIGIN_FLAG)
		failures |= set(origin, "name", json_string(o->flag));
	if (source->line > 0) {
		if (s->files[source->by])
			failures |= set(origin, "path", make_string(s->files[source->by]));
		failures |= set(origin, "line", json_integer(source->line));
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
	failures |= set(setting, "section", json_string(o->section));
	failures |= set(setting, "key", json_string(o->key));
	failures |= set(setting, "value", make_value(s, o));
	if (unit(o))
		failures |= set(setting, "unit", json_string(unit(o)));
	if (option_is_number(o)) {
		int64_t value = *(const int64_t *)(const void *)((const char *)s + o->offset);
		failures |= set(setting, "text", json_string(option_number_text(o, value, text)));
	}
	if (o->type != OPTION_LIST && o->preset)
		failures |= set(setting, "default", json_string(o->preset));
	failures |= set(setting, "origin", make_origin(s, o));
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
	int failures = set(root, "profile", profile ? json_string(profile) : json_null());
	for (size_t i = 0; i < sizeof(s->files) / sizeof(*s->files); i++) {
		if (s->files[i])
			failures |= add(files, make_string(s->files[i]));
	}
	for (size_t i = 0; i < option_count; i++)
		failures |= add(settings, make_setting(s, &option_table[i]));
	failures |= set(root, "files", files);
	failures |= set(root, "settings", settings);
	return dump(whole(root, failures));
}

/* --- profiles ------------------------------------------------------------------ */

/* The patterns of the profile, those of the lowest layer first. */
static int add_patterns(json_t *match, const struct profiles *layer, const char *name)
{
	bool here = false;
	if (!layer)
		return 0;
	int failures = add_patterns(match, layer->below, name);
	for (size_t i = 0; i < layer->count; i++) {
		const struct profiles_entry *e = &layer->entries[i];
		if (e->kind == PROFILES_NAME)
			here = strcmp(e->text, name) == 0;
		else if (here && e->kind == PROFILES_PATTERN)
			failures |= add(match, make_string(e->text));
	}
	return failures;
}

/* What it adds to a list, the same. */
static int add_items(json_t *items, const struct profiles *layer, const char *name,
		     const struct option *o)
{
	const struct profiles_entry *e;
	size_t at = 0;
	if (!layer)
		return 0;
	int failures = add_items(items, layer->below, name, o);
	while ((e = profiles_item(layer, name, o, &at)) != NULL)
		failures |= add(items, make_string(e->text));
	return failures;
}

static int set_items(json_t *settings, const struct profiles *top, const char *name,
		     const struct option *o)
{
	json_t *items = json_array();
	int failures = items ? add_items(items, top, name, o) : -1;
	if (failures || json_array_size(items) > 0)
		return failures | set(settings, o->key, items);
	json_decref(items);
	return 0;
}

static json_t *make_profile(const struct profiles *top, const char *name)
{
	json_t *profile = json_object(), *match = json_array(), *settings = json_object();
	int failures = set(profile, "name", json_string(name)) | add_patterns(match, top, name);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct profiles *layer;
		const struct profiles_entry *e = profiles_value(top, name, o, &layer);
		char text[VALUE_LEN];
		if (e)
			failures |= set(settings, o->key,
					json_string(option_number_text(o, e->value, text)));
		if (o->in_profile)
			failures |= set_items(settings, top, name, o);
	}
	failures |= set(profile, "match", match);
	failures |= set(profile, "settings", settings);
	return whole(profile, failures);
}

char *config_encode_profiles(const struct settings *s)
{
	json_t *root = json_object(), *profiles = json_array();
	const struct profiles *top = profiles_of(s);
	const char *name;
	int failures = 0;
	for (size_t i = 0; (name = profiles_name(top, i)) != NULL; i++)
		failures |= add(profiles, make_profile(top, name));
	failures |= set(root, "profiles", profiles);
	return dump(whole(root, failures));
}
