// One ini text on its way into the settings, all or nothing. See load.h and
// settings_load_text() in option.h.

#include "config/load.h"

#include "config/assign.h"
#include "config/complaint.h"
#include "config/ini.h"
#include "config/nearest.h"
#include "config/pattern.h"
#include "config/profiles.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The text's values go into `now`, which starts as a plain copy of the settings and borrows their
   strings; options with a line in the text have their own ones there. */
struct load {
	struct settings now;
	unsigned lines[OPTION_LIMIT]; /* where the text sets the option; 0: it does not */
	struct profiles *profiles;    /* what the text defines; NULL: none so far */
	enum { NO_SECTION, BAD_SECTION, OPTIONS, PROFILE } section;
	unsigned match_line;               /* where this section sets `match`; 0: it does not */
	unsigned item_lines[OPTION_LIMIT]; /* and, a profile, a list */
	size_t items[OPTION_LIMIT];        /* how many it has for it */
	const struct option *current;      /* what an indented line goes on with ... */
	bool matching;                     /* ... or that is `match` */
	enum origin by;
	const char *path;
	struct option_error *error;
	int failure; /* errno, 0 while all is well */
	int errors;

	/* When not NULL: told of every error. */
	void (*tell)(void *ctx, const char *message);
	void *ctx;
};

static int fail(struct load *l, int failure)
{
	l->failure = failure;
	return -1;
}

static int complain(struct load *l, const struct ini_line *line, const char *value,
		    const char *reason)
{
	bool nowhere = line->key && *line->section == '\0';
	const struct complaint c = {
		.where = l->path,
		.line = line->number,
		.section = nowhere ? NULL : line->section,
		.key = line->key,
		.value = value,
		.reason = reason,
	};

	complaint_write(&c, l->error);
	l->errors++;
	fail(l, EINVAL);
	if (!l->tell)
		return -1;
	l->tell(l->ctx, l->error->text);
	return 0;
}

static int already_set(struct load *l, const struct ini_line *line, unsigned first)
{
	char reason[64];

	snprintf(reason, sizeof(reason), "already set on line %u", first);
	return complain(l, line, NULL, reason);
}

/* After an entry was added to the profiles. */
static int added(struct load *l, const struct ini_line *line, int result)
{
	if (result == 0)
		return 0;
	return errno == E2BIG ? complain(l, line, NULL, "more than 1,000 lines of profiles")
			      : fail(l, errno);
}

/* --- sections -------------------------------------------------------------- */

static int unknown_section(struct load *l, const struct ini_line *line)
{
	char reason[96] = "no such section";
	struct nearest n;

	nearest_init(&n, line->section);
	for (size_t i = 0; i < option_count; i++)
		nearest_offer(&n, option_table[i].section);
	if (n.best)
		snprintf(reason, sizeof(reason), "no such section (did you mean %s?)", n.best);
	return complain(l, line, NULL, reason);
}

/* The NAME of [profile NAME], or NULL. */
static const char *profile_name(const char *section)
{
	const char *name = section + strlen("profile");

	if (strncmp(section, "profile", strlen("profile")) != 0 || !strchr(" \t", *name))
		return NULL;
	return name + strspn(name, " \t");
}

static int load_profile(struct load *l, const struct ini_line *line, const char *name)
{
	const char *reason = profile_refuse_name(name);

	if (reason)
		return complain(l, line, NULL, reason);
	if (!l->profiles)
		l->profiles = profiles_new(l->by, profiles_of(&l->now));
	if (!l->profiles)
		return fail(l, ENOMEM);
	l->section = PROFILE;
	return added(l, line, profiles_add_name(l->profiles, line->number, name));
}

static int load_section(struct load *l, const struct ini_line *line)
{
	const char *name = profile_name(line->section);

	l->section = BAD_SECTION;
	l->match_line = 0;
	memset(l->item_lines, 0, sizeof(l->item_lines));
	memset(l->items, 0, sizeof(l->items));
	l->current = NULL;
	l->matching = false;
	if (name)
		return load_profile(l, line, name);
	if (!option_has_section(line->section))
		return unknown_section(l, line);
	l->section = OPTIONS;
	return 0;
}

/* --- keys ------------------------------------------------------------------- */

static int unknown_key(struct load *l, const struct ini_line *line)
{
	char reason[96] = "no such key";
	struct nearest n;

	nearest_init(&n, line->key);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (strcmp(o->section, line->section) == 0) {
			nearest_offer(&n, o->key);
		} else if (strcmp(o->key, line->key) == 0) {
			snprintf(reason, sizeof(reason), "no such key (did you mean [%s] %s?)",
				 o->section, o->key);
			return complain(l, line, NULL, reason);
		}
	}
	if (n.best)
		snprintf(reason, sizeof(reason), "no such key (did you mean %s?)", n.best);
	return complain(l, line, NULL, reason);
}

/* After an option's function refused: explains. */
static int check(struct load *l, const struct ini_line *line, int result)
{
	if (result == 0)
		return 0;
	return errno == EINVAL ? complain(l, line, line->value, l->error->text) : fail(l, errno);
}

static bool is_refused(const struct load *l, const struct option *o)
{
	return l->by == ORIGIN_PROJECT && !o->safe;
}

static const char unsafe[] = "not taken from a project's file";

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
		return complain(l, line, NULL, unsafe);
	l->now.sources[i] = (struct setting_source){.by = l->by, .line = line->number};
	return check(l, line, option_set(&l->now, o, line->value, l->error));
}

static int load_pattern(struct load *l, const struct ini_line *line)
{
	const char *reason = pattern_refuse(line->value);

	l->matching = true;
	if (*line->value == '\0')
		return 0;
	if (reason)
		return complain(l, line, line->value, reason);
	return added(l, line, profiles_add_pattern(l->profiles, line->number, line->value));
}

static int unknown_profile_key(struct load *l, const struct ini_line *line)
{
	char reason[96] = "no such key of a profile";
	struct nearest n;

	nearest_init(&n, line->key);
	nearest_offer(&n, "match");
	for (size_t i = 0; i < option_count; i++) {
		if (option_is_of_profile(&option_table[i]))
			nearest_offer(&n, option_table[i].key);
	}
	if (n.best)
		snprintf(reason, sizeof(reason), "no such key of a profile (did you mean %s?)",
			 n.best);
	return complain(l, line, NULL, reason);
}

/* One item of a list of the profile. */
static int load_profile_item(struct load *l, const struct ini_line *line)
{
	const struct option *o = l->current;
	size_t *count = &l->items[o - option_table];

	if (*line->value == '\0')
		return 0;
	if (option_check_item(o, *count, line->value, l->error) < 0)
		return check(l, line, -1);
	(*count)++;
	return added(l, line, profiles_add_item(l->profiles, line->number, o, line->value));
}

static int load_profile_list(struct load *l, const struct ini_line *line)
{
	unsigned *first = &l->item_lines[l->current - option_table];

	if (*first != 0)
		return already_set(l, line, *first);
	*first = line->number;
	if (is_refused(l, l->current))
		return complain(l, line, NULL, unsafe);
	return load_profile_item(l, line);
}

static int load_profile_key(struct load *l, const struct ini_line *line)
{
	const struct option *o = option_by_profile_key(line->key);
	const struct profiles_entry *there;
	const struct profiles *layer;
	int64_t value;

	if (strcmp(line->key, "match") == 0) {
		if (l->match_line != 0)
			return already_set(l, line, l->match_line);
		l->match_line = line->number;
		return load_pattern(l, line);
	}
	if (!o)
		return unknown_profile_key(l, line);
	l->current = o;
	if (o->type == OPTION_LIST)
		return load_profile_list(l, line);
	there = profiles_value(l->profiles, profile_name(line->section), o, &layer);
	if (there && layer == l->profiles)
		return already_set(l, line, there->line);
	if (is_refused(l, o))
		return complain(l, line, NULL, unsafe);
	if (option_parse(o, line->value, &value, l->error) < 0)
		return complain(l, line, line->value, l->error->text);
	return added(l, line, profiles_add_value(l->profiles, line->number, o, value));
}

/* --- lines ------------------------------------------------------------------ */

static int load_new_key(struct load *l, const struct ini_line *line)
{
	l->current = NULL;
	l->matching = false;
	switch (l->section) {
	case NO_SECTION: return complain(l, line, NULL, "a key before the first [section]");
	case BAD_SECTION: break;
	case OPTIONS: return load_key(l, line);
	case PROFILE: return load_profile_key(l, line);
	}
	return 0;
}

static int load_more(struct load *l, const struct ini_line *line)
{
	if (l->matching)
		return load_pattern(l, line);
	if (!l->current)
		return 0; /* of a key that was refused */
	if (l->current->type != OPTION_LIST)
		return complain(l, line, line->value,
				"an indented line adds to a list, and this takes one value");
	if (l->section == PROFILE)
		return load_profile_item(l, line);
	return check(l, line, option_append(&l->now, l->current, line->value, l->error));
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
	return complain(l, line, line->value, line->reason);
}

/* Frees what is not in use: of the text if it failed, else of the settings before it. */
static void settle(struct load *l, struct settings *s)
{
	for (size_t i = 0; i < option_count; i++) {
		if (l->lines[i] != 0)
			option_clear(l->failure ? &l->now : s, &option_table[i]);
	}
	if (l->failure) {
		profiles_drop(l->profiles);
		return;
	}
	if (l->profiles)
		l->now.profiles = l->profiles;
	*s = l->now;
}

int settings_load_text_by(struct settings *s, enum origin by, const char *path, const char *text,
			  size_t len, struct option_error *error)
{
	struct load l = {.now = *s, .by = by, .path = path, .error = error};

	ini_visit(text, len, load_line, &l);
	settle(&l, s);
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
			void (*tell)(void *ctx, const char *message), void *ctx)
{
	struct option_error error;
	struct settings s = {0};
	struct load l = {.by = by, .path = path, .error = &error, .tell = tell, .ctx = ctx};

	ini_visit(text, len, load_line, &l);
	settle(&l, &s);
	settings_release(&s);
	if (l.failure == ENOMEM) {
		errno = ENOMEM;
		return -1;
	}
	return l.errors;
}
