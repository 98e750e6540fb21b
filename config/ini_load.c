// Loads one ini text into the settings, all or nothing. See settings.h.

#include "config/agents.h"
#include "config/error.h"
#include "config/ini.h"
#include "config/option.h"
#include "config/profile.h"
#include "config/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of sections with a name of their own. */
static const struct named {
	const struct layer_form *form;
	size_t offset; /* of their uppermost layer in the settings */
	const char *what;
	bool safe; /* a project's file may have them */
} named[] = {
	{&profiles_form, offsetof(struct settings, profiles), "a profile", true},
	{&rules_form, offsetof(struct settings, agents), "an agent", false},
};

enum { NAMED = sizeof(named) / sizeof(*named) };

/* The text's values go into `now`, which begins as a shallow copy of the settings. Options that the
   text sets own their strings there; the others are the settings' own. */
struct load {
	struct settings now;
	unsigned lines[OPTION_LIMIT]; /* where the text sets each option; 0: nowhere */
	struct layer *layers[NAMED];  /* what the text defines; NULL: nothing so far */
	enum { NO_SECTION, BAD_SECTION, OPTIONS, NAMED_SECTION } section;
	size_t kind;                        /* of a NAMED_SECTION ... */
	const char *name;                   /* ... and its name, in the layer */
	unsigned key_lines[LAYER_KEYS_MAX]; /* where it sets each of its own keys; 0: nowhere */
	const struct option *current;       /* that an indented line continues ... */
	const struct layer_key *key;        /* ... or the section's own key; else NULL */
	enum origin by;
	const char *path;
	struct option_error *error;
	int failure; /* errno, 0 while all is well */
	int errors;

	/* Called for every error, unless NULL. */
	void (*report)(void *ctx, const char *message);
	void *ctx;
};

static int ini_load_fail(struct load *l, int failure)
{
	l->failure = failure;
	return -1;
}

static int ini_load_complain(struct load *l, const struct ini_line *line, const char *value,
			     const char *reason)
{
	bool nowhere = line->key && *line->section == '\0';
	const struct config_error c = {
		.where = l->path,
		.line = line->number,
		.section = nowhere ? NULL : line->section,
		.key = line->key,
		.value = value,
		.reason = reason,
	};
	config_error_write(&c, l->error);
	l->errors++;
	ini_load_fail(l, EINVAL);
	if (!l->report)
		return -1;
	l->report(l->ctx, l->error->text);
	return 0;
}

static int already_set(struct load *l, const struct ini_line *line, unsigned first)
{
	char reason[64];
	snprintf(reason, sizeof(reason), "already set on line %u", first);
	return ini_load_complain(l, line, NULL, reason);
}

/* Adds an entry to the layer of the current kind of section. */
static int ini_load_add(struct load *l, const struct ini_line *line, struct layer_entry entry)
{
	entry.line = line->number;
	if (layer_add(l->layers[l->kind], entry) == 0)
		return 0;
	return errno == E2BIG
		       ? ini_load_complain(l, line, NULL, "more than 1,000 lines of such sections")
		       : ini_load_fail(l, errno);
}

static const char unsafe[] = "not allowed in a project's file";

static bool is_refused(const struct load *l, const struct option *o)
{
	return l->by == ORIGIN_PROJECT && !o->safe;
}

/* Whether a project's file may not set this value: it may show more than others, not less. */
static bool is_value_refused(const struct load *l, const struct option *o, int64_t value)
{
	if (l->by != ORIGIN_PROJECT)
		return false;
	if (o->safe_never)
		return strcmp(o->choices[value], o->safe_never) == 0;
	return value < o->safe_min && !(value == 0 && (o->or_zero || o->min == 0));
}

static int ini_load_complain_of_value(struct load *l, const struct ini_line *line,
				      const struct option *o)
{
	char least[VALUE_LEN], reason[VALUE_LEN + sizeof(unsafe)];
	if (o->safe_never)
		return ini_load_complain(l, line, line->value, unsafe);
	snprintf(reason, sizeof(reason), "under %s: %s", option_number_text(o, o->safe_min, least),
		 unsafe);
	return ini_load_complain(l, line, line->value, reason);
}

/* --- sections -------------------------------------------------------------- */

static int unknown_section(struct load *l, const struct ini_line *line)
{
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, line->section);
	for (size_t i = 0; i < option_count; i++)
		nearest_offer(&n, option_table[i].section);
	return ini_load_complain(l, line, NULL, nearest_reason(reason, "section", n.best));
}

/* NAME and the kind of [profile NAME] and the like, or NULL. */
static const char *ini_load_find_name(const char *section, size_t *kind)
{
	for (size_t i = 0; i < NAMED; i++) {
		size_t len = strlen(named[i].form->word);
		if (strncmp(section, named[i].form->word, len) == 0 &&
		    strchr(" \t", section[len])) {
			*kind = i;
			return section + len + strspn(section + len, " \t");
		}
	}
	return NULL;
}

static const struct layer *layer_below(const struct load *l, size_t kind)
{
	const struct layer *below =
		*(struct layer *const *)(const void *)((const char *)&l->now + named[kind].offset);
	return below ? below : named[kind].form->builtin;
}

static int load_named(struct load *l, const struct ini_line *line, const char *name, size_t kind)
{
	const char *reason = layer_refuse_name(name);
	struct layer **layer = &l->layers[kind];
	/* What has the profile of terse's own commands may print notices. */
	if (l->by == ORIGIN_PROJECT && (!named[kind].safe || strcmp(name, PROFILE_TERSE) == 0))
		reason = unsafe;
	if (reason)
		return ini_load_complain(l, line, NULL, reason);
	if (!*layer) {
		*layer = malloc(sizeof(**layer));
		if (!*layer)
			return ini_load_fail(l, ENOMEM);
		**layer = (struct layer){.by = l->by, .below = layer_below(l, kind)};
	}
	l->section = NAMED_SECTION;
	l->kind = kind;
	size_t count = (*layer)->count;
	int result = ini_load_add(l, line, (struct layer_entry){.kind = LAYER_NAME, .text = name});
	if ((*layer)->count > count)
		l->name = (*layer)->entries[count].text;
	return result;
}

static int load_section(struct load *l, const struct ini_line *line)
{
	size_t kind;
	const char *name = ini_load_find_name(line->section, &kind);
	l->section = BAD_SECTION;
	l->current = NULL;
	l->key = NULL;
	memset(l->key_lines, 0, sizeof(l->key_lines));
	if (name)
		return load_named(l, line, name, kind);
	if (!option_has_section(line->section))
		return unknown_section(l, line);
	l->section = OPTIONS;
	return 0;
}

/* --- keys ------------------------------------------------------------------- */

static int unknown_key(struct load *l, const struct ini_line *line)
{
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, line->key);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (strcmp(o->section, line->section) == 0) {
			nearest_offer(&n, o->key);
		} else if (strcmp(o->key, line->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return ini_load_complain(l, line, NULL, reason);
		}
	}
	return ini_load_complain(l, line, NULL, nearest_reason(reason, "key", n.best));
}

/* Reports the error of an option's function. */
static int ini_load_check(struct load *l, const struct ini_line *line, int result)
{
	if (result == 0)
		return 0;
	return errno == EINVAL ? ini_load_complain(l, line, line->value, l->error->text)
			       : ini_load_fail(l, errno);
}

static int load_key(struct load *l, const struct ini_line *line)
{
	const struct option *o = option_by_key(line->section, line->key);
	size_t i = o ? (size_t)(o - option_table) : 0;
	if (!o)
		return unknown_key(l, line);
	if (l->lines[i] != 0)
		return already_set(l, line, l->lines[i]);
	l->lines[i] = line->number;
	l->current = o;
	option_disown(&l->now, o);
	if (is_refused(l, o))
		return ini_load_complain(l, line, NULL, unsafe);
	l->now.sources[i] = (struct setting_source){.by = l->by, .line = line->number};
	int result = option_set(&l->now, o, line->value, l->error);
	if (result == 0 && option_is_number(o) &&
	    is_value_refused(l, o, *option_number(&l->now, o)))
		return ini_load_complain_of_value(l, line, o);
	return ini_load_check(l, line, result);
}

/* Loads one item of the section's own key. */
static int load_item(struct load *l, const struct ini_line *line)
{
	const char *reason = *line->value ? l->key->refuse(line->value) : NULL;
	if (*line->value == '\0' && l->key->adds)
		return 0;
	if (reason)
		return ini_load_complain(l, line, line->value, reason);
	return ini_load_add(
		l, line,
		(struct layer_entry){.kind = LAYER_TEXT, .key = l->key->name, .text = line->value});
}

static int unknown_named_key(struct load *l, const struct ini_line *line)
{
	char reason[NEAREST_LEN], what[32];
	struct nearest n;
	nearest_init(&n, line->key);
	for (const struct layer_key *k = named[l->kind].form->keys; k->name; k++)
		nearest_offer(&n, k->name);
	for (size_t i = 0; i < option_count; i++) {
		if (option_by_section_key(option_table[i].key) == &option_table[i])
			nearest_offer(&n, option_table[i].key);
	}
	snprintf(what, sizeof(what), "key of %s", named[l->kind].what);
	return ini_load_complain(l, line, NULL, nearest_reason(reason, what, n.best));
}

static int load_named_value(struct load *l, const struct ini_line *line)
{
	const struct option *o = option_by_section_key(line->key);
	const struct layer_entry *there;
	const struct layer *layer;
	int64_t value;
	if (!o)
		return unknown_named_key(l, line);
	l->current = o;
	there = layer_value(l->layers[l->kind], l->name, o, &layer);
	if (there && layer == l->layers[l->kind])
		return already_set(l, line, there->line);
	if (is_refused(l, o))
		return ini_load_complain(l, line, NULL, unsafe);
	if (option_parse(o, line->value, &value, l->error) < 0)
		return ini_load_complain(l, line, line->value, l->error->text);
	if (is_value_refused(l, o, value))
		return ini_load_complain_of_value(l, line, o);
	return ini_load_add(
		l, line,
		(struct layer_entry){.kind = LAYER_VALUE, .offset = o->offset, .value = value});
}

static int load_named_key(struct load *l, const struct ini_line *line)
{
	const struct layer_key *keys = named[l->kind].form->keys;
	for (size_t i = 0; keys[i].name; i++) {
		if (strcmp(keys[i].name, line->key) != 0)
			continue;
		if (l->key_lines[i] != 0)
			return already_set(l, line, l->key_lines[i]);
		l->key_lines[i] = line->number;
		if (l->by == ORIGIN_PROJECT && keys[i].unsafe)
			return ini_load_complain(l, line, NULL, unsafe);
		l->key = &keys[i];
		return load_item(l, line);
	}
	return load_named_value(l, line);
}

/* --- lines ------------------------------------------------------------------ */

static int load_new_key(struct load *l, const struct ini_line *line)
{
	l->current = NULL;
	l->key = NULL;
	switch (l->section) {
	case NO_SECTION:
		return ini_load_complain(l, line, NULL, "a key before the first [section]");
	case BAD_SECTION: break;
	case OPTIONS: return load_key(l, line);
	case NAMED_SECTION: return load_named_key(l, line);
	}
	return 0;
}

static int load_more(struct load *l, const struct ini_line *line)
{
	if (l->key)
		return load_item(l, line);
	if (!l->current)
		return 0; /* its key was refused */
	if (l->current->type != OPTION_LIST)
		return ini_load_complain(
			l, line, line->value,
			"an indented line adds to a list, and this takes one value");
	return ini_load_check(l, line, option_append(&l->now, l->current, line->value, l->error));
}

static int load_line(void *ctx, const struct ini_line *line)
{
	struct load *l = ctx;
	switch (line->kind) {
	case INI_SECTION: return load_section(l, line);
	case INI_KEY: return load_new_key(l, line);
	case INI_MORE: return load_more(l, line);
	case INI_MALFORMED: break;
	}
	if (line->value && *line->value == '[')
		l->section = BAD_SECTION;
	return ini_load_complain(l, line, line->value, line->reason);
}

/* Frees the text's values if it failed, else the settings that they replace. */
static void ini_load_settle(struct load *l, struct settings *s)
{
	for (size_t i = 0; i < option_count; i++) {
		if (l->lines[i] != 0)
			option_clear(l->failure ? &l->now : s, &option_table[i]);
	}
	for (size_t i = 0; i < NAMED; i++) {
		if (l->failure)
			layer_free(l->layers[i], layer_below(l, i));
		else if (l->layers[i])
			*(struct layer **)(void *)((char *)&l->now + named[i].offset) =
				l->layers[i];
	}
	if (!l->failure)
		*s = l->now;
}

int settings_load_text_by(struct settings *s, enum origin by, const char *path, const char *text,
			  size_t len, struct option_error *error)
{
	struct load l = {.now = *s, .by = by, .path = path, .error = error};
	ini_visit(text, len, load_line, &l);
	ini_load_settle(&l, s);
	if (l.failure == 0)
		return 0;
	errno = l.failure;
	return -1;
}

int settings_load_text(struct settings *s, const char *path, const char *text, size_t len,
		       struct option_error *error)
{
	return settings_load_text_by(s, ORIGIN_USER, path, text, len, error);
}

int settings_check_text(enum origin by, const char *path, const char *text, size_t len,
			void (*report)(void *ctx, const char *message), void *ctx)
{
	struct option_error error;
	struct settings s = {0};
	struct load l = {.by = by, .path = path, .error = &error, .report = report, .ctx = ctx};
	ini_visit(text, len, load_line, &l);
	ini_load_settle(&l, &s);
	settings_release(&s);
	if (l.failure == ENOMEM) {
		errno = ENOMEM;
		return -1;
	}
	return l.errors;
}
