// See profile.h.

#include "config/profile.h"

#include "config/error.h"
#include "config/pattern.h"
#include "config/value.h"
#include "config/words.h"
#include "lib/trace.h"
#include "shim/exec_call.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct layer_key keys[] = {
	{.name = PROFILES_MATCH, .refuse = pattern_refuse, .adds = true},
	{.name = "patterns", .refuse = phrase_refuse, .adds = true},
	{.name = "ignore", .refuse = phrase_refuse, .adds = true, .not_in_project = true},
	{.name = NULL},
};

const struct layer_form profiles_form = {
	.word = "profile",
	.what = "a profile",
	.keys = keys,
	.builtin = &profiles_builtin,
	.offset = offsetof(struct settings, profiles),
	.in_project = true,
};

/* The name of the profile of a command (NULL-terminated, at least one word), or NULL if no pattern
   of at least `least` words matches. The most exact pattern counts, and the last one of equals.
   Valid as long as the layers. */
static const char *profiles_match(const struct layer *p, char *const words[], unsigned least)
{
	const char *best = NULL, *name = NULL;
	unsigned most = 0;
	for (; p; p = p->below) {
		unsigned above = most; /* a lower layer has to exceed it */
		for (size_t i = 0; i < p->count; i++) {
			const struct layer_entry *e = &p->entries[i];
			unsigned exact;
			if (e->kind == LAYER_NAME)
				name = e->text;
			if (e->kind != LAYER_TEXT)
				continue;
			exact = pattern_match(e->text, words);
			if (exact >= least && exact > above && exact >= most) {
				most = exact;
				best = name;
			}
		}
	}
	return best;
}

#define QUIET  "quiet"
#define SEARCH "search"
#define FIND   "find"
#define LIST   "list"

/* Depth of shell strings within shell strings. */
enum { NESTED_MAX = 4 };

/* --- choosing ---------------------------------------------------------------- */

struct chooser {
	const struct layer *profiles;
	struct profile_choice *choice;
	const char *other; /* profile of the last command that does not count */
};

static void add_name(struct chooser *c, const char *name)
{
	struct profile_choice *choice = c->choice;
	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(choice->names[i], name) == 0)
			return;
	}
	if (choice->count < PROFILE_PARTS_MAX)
		choice->names[choice->count++] = name;
}

static int profile_add_string(struct chooser *c, const char *string, bool counts, unsigned nested);

/* The last command before the one at `index` that writes into it, or -1. */
static int profile_feeder(const struct words *w, int index)
{
	int i = index - 1;
	while (i >= 0 && w->commands[i].into != index)
		i--;
	return i;
}

/* The profile of a command, or of one that it runs, to which *words moves; or else the string that
   it runs, which is looked for at less than NESTED_MAX deep. NULL: neither is known. */
static const char *profile_resolve(const struct layer *p, char *const **words, unsigned nested,
				   const char **string)
{
	*string = NULL;
	while (*words && !strpbrk(shell_call_name(**words), "$`")) {
		char *const *inner = wrapper_inner(*words);
		const char *inside = nested < NESTED_MAX ? wrapper_string(*words) : NULL;
		/* The words of a shell's string are not those of a pattern. */
		bool only_string = inside && wrapper_is_shell(*words);
		const char *name = only_string ? NULL : profiles_match(p, *words, inner ? 2 : 1);
		if (name)
			return name;
		if (inside) {
			*string = inside;
			return NULL;
		}
		*words = inner;
	}
	return NULL;
}

/* Adds the profile of a command, which may be the one at `index` of a string (else NULL). `counts`:
   its output is shown. */
static int profile_add_command(struct chooser *c, char *const *command, bool counts,
			       const struct words *w, size_t index, unsigned nested)
{
	char *const *words = command;
	const char *string, *name = profile_resolve(c->profiles, &words, nested, &string);
	if (string)
		return profile_add_string(c, string, counts, nested + 1);
	if (!name)
		name = PROFILE_DEFAULT;
	if (w && words == command && strcmp(name, SEARCH) == 0) {
		/* A pipeline of searches picks lines from a listing, as in `find | grep`. */
		const char *fed = name;
		for (int i = (int)index; fed && strcmp(fed, SEARCH) == 0;) {
			i = profile_feeder(w, i);
			fed = i < 0 ? NULL
				    : profiles_match(c->profiles, &w->words[w->commands[i].first],
						     1);
		}
		if (fed && (strcmp(fed, FIND) == 0 || strcmp(fed, LIST) == 0))
			name = fed;
	}
	if (!counts || strcmp(name, QUIET) == 0)
		c->other = name;
	else
		add_name(c, name);
	return 0;
}

/* Whether a command that reads from a pipe passes its input on. */
static bool passes_on(char *const *words)
{
	const char *program = shell_call_name(words[0]);
	if (strcmp(program, "tee") == 0)
		return true;
	if (strcmp(program, "cat") != 0 && strcmp(program, "less") != 0 &&
	    strcmp(program, "more") != 0)
		return false;
	for (words++; *words; words++) {
		if (**words != '-')
			return false;
	}
	return true;
}

static int profile_add_string(struct chooser *c, const char *string, bool counts, unsigned nested)
{
	struct words w;
	int result = 0;
	if (words_parse(&w, string) < 0) {
		if (errno != EINVAL)
			return -1;
		add_name(c, PROFILE_DEFAULT);
		return 0;
	}
	for (size_t i = 0; i < w.count && result == 0; i++) {
		char *const *words = &w.words[w.commands[i].first];
		if (passes_on(words) && profile_feeder(&w, (int)i) >= 0)
			continue;
		/* Its output is part of the string's if all that reads it passes it on. */
		int into = w.commands[i].into;
		while (into >= 0 && passes_on(&w.words[w.commands[into].first]))
			into = w.commands[into].into;
		result = profile_add_command(c, words, counts && into == WORDS_OUT, &w, i, nested);
	}
	words_release(&w);
	return result;
}

int profile_choose(const struct settings *s, char *const argv[], const char *string,
		   struct profile_choice *choice, struct option_error *error)
{
	struct chooser c = {.profiles = profiles_of(s), .choice = choice};
	choice->count = 0;
	if (!s->profile) {
		int result = string ? profile_add_string(&c, string, true, 0)
				    : profile_add_command(&c, argv, true, NULL, 0, 0);
		if (choice->count == 0)
			add_name(&c, c.other ? c.other : PROFILE_DEFAULT);
		TRACE(CONFIG, "profile %s", profile_name(choice));
		return result;
	}
	struct nearest n;
	const char *name;
	bool known = strcmp(s->profile, PROFILE_DEFAULT) == 0;
	nearest_init(&n, s->profile);
	for (size_t i = 0; !known && (name = layer_name(c.profiles, i)) != NULL; i++) {
		known = strcmp(name, s->profile) == 0;
		nearest_offer(&n, name);
	}
	add_name(&c, known ? s->profile : PROFILE_DEFAULT);
	if (known)
		return 0;
	/* The place where it was set. */
	const struct option *o = option_by_key("run", "profile");
	const struct setting_source *source = &s->sources[SETTING_SLOT(o->offset)];
	const char *file = source->by <= ORIGIN_PROJECT ? s->files[source->by] : NULL;
	char reason[NEAREST_LEN];
	struct config_error e = {.where = source->by == ORIGIN_FLAG ? o->flag : o->variable,
				 .value = s->profile,
				 .reason = nearest_reason(reason, "profile", n.best)};
	if (file) {
		e.where = file;
		e.line = source->line;
		e.section = o->section;
		e.key = o->key;
	}
	config_error_write(&e, error);
	errno = EINVAL;
	return -1;
}

const char *profile_name(const struct profile_choice *choice)
{
	return choice->count == 1 ? choice->names[0] : PROFILE_MIXED;
}

/* --- applying ---------------------------------------------------------------- */

/* How one value is made of those of several profiles; other options stay as they are without a
   profile if the values differ. 0 may stand for "no limit". */
static const struct {
	size_t offset;
	enum merge { LARGEST, LARGEST_OR_NONE, SMALLEST, NO_IF_ANY, LINES_UNLESS_SAME, SMART } how;
} merges[] = {
	{offsetof(struct settings, size), LARGEST},
	{offsetof(struct settings, failure_size), LARGEST},
	{offsetof(struct settings, err_size), LARGEST},
	{offsetof(struct settings, max_line), LARGEST_OR_NONE},
	{offsetof(struct settings, max_lines), LARGEST_OR_NONE},
	{offsetof(struct settings, max_err_lines), LARGEST_OR_NONE},
	{offsetof(struct settings, unit), LINES_UNLESS_SAME},
	{offsetof(struct settings, cols), SMALLEST},
	{offsetof(struct settings, settle), LARGEST},
	{offsetof(struct settings, pty), NO_IF_ANY},
	{offsetof(struct settings, mode), SMART},
	{offsetof(struct settings, fold), LARGEST},
};

static int64_t profile_merge(const struct option *o, int64_t value, int64_t next, int64_t base)
{
	int64_t largest = value > next ? value : next, smallest = value < next ? value : next;
	for (size_t i = 0; i < sizeof(merges) / sizeof(*merges); i++) {
		if (merges[i].offset != o->offset)
			continue;
		switch (merges[i].how) {
		case LARGEST: return largest;
		case LARGEST_OR_NONE: return smallest == 0 ? 0 : largest;
		case SMALLEST: return smallest;
		case NO_IF_ANY: return value == TRI_NO ? value : next;
		case LINES_UNLESS_SAME: return value == next ? value : UNIT_LINES;
		case SMART: return MODE_SMART;
		}
	}
	return value == next ? value : base;
}

/* Adds a list's items of all layers, the lowest layer first. */
static void profile_add_items(struct settings *s, const struct option *o, const struct layer *layer,
			      const char *name)
{
	const struct strings *list = (const void *)((const char *)s + o->offset);
	struct setting_source *source = option_source(s, o);
	const struct layer_entry *e = NULL;
	struct option_error error;
	if (layer->below)
		profile_add_items(s, o, layer->below, name);
	while ((e = layer_next(layer, name, o->key, e)) != NULL) {
		size_t i = 0;
		while (i < list->count && strcmp(list->items[i], e->text) != 0)
			i++;
		/* The first ones count if there are too many, or no memory. */
		if (i < list->count || option_append(s, o, e->text, &error) < 0)
			continue;
		if (source->by < ORIGIN_PROFILE)
			*source = (struct setting_source){.by = ORIGIN_PROFILE};
	}
}

void profile_apply(struct settings *s, const struct profile_choice *choice)
{
	enum {
		SIZE = SETTING_SLOT(offsetof(struct settings, size)),
		FAILURE = SETTING_SLOT(offsetof(struct settings, failure_size))
	};
	int64_t value[SETTING_SLOTS];
	const struct layer *from[SETTING_SLOTS] = {NULL};
	struct layer_values v;
	size_t len = 0;
	s->applied = profile_name(choice);
	s->own_words = strcmp(s->applied, PROFILE_TERSE) == 0;
	for (size_t k = 0; k < choice->count; k++) {
		layer_read_values(profiles_of(s), choice->names[k], &v);
		/* A size sets failure_size, too, unless the same file or one above it does. */
		const struct layer *below = v.from[SIZE];
		while (below && below != v.from[FAILURE])
			below = below->below;
		if (v.from[SIZE] && v.from[FAILURE] != v.from[SIZE] &&
		    (below || !v.from[FAILURE])) {
			v.entry[FAILURE] = v.entry[SIZE];
			v.from[FAILURE] = v.from[SIZE];
		}
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			if (o->in_profile)
				profile_add_items(s, o, profiles_of(s), choice->names[k]);
			if (!option_is_number(o))
				continue;
			size_t at = SETTING_SLOT(o->offset);
			int64_t base = *option_number(s, o);
			int64_t next = v.from[at] ? v.entry[at]->value : base;
			value[at] = k == 0 ? next : profile_merge(o, value[at], next, base);
			if (!from[at] || (v.from[at] && v.from[at]->by == ORIGIN_PROJECT))
				from[at] = v.from[at];
		}
	}
	*s->by_project = '\0';
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		size_t at = SETTING_SLOT(o->offset);
		struct setting_source *source = option_source(s, o);
		if (option_is_number(o) && from[at] && source->by < ORIGIN_PROFILE) {
			*option_number(s, o) = value[at];
			*source = (struct setting_source){
				.by = ORIGIN_PROFILE, .project = from[at]->by == ORIGIN_PROJECT};
		}
		/* Notes what a preview owes to the project's file. */
		if ((strcmp(o->section, "report") == 0 || strcmp(o->section, "preview") == 0) &&
		    (source->by == ORIGIN_PROJECT || source->project) &&
		    len + strlen(o->key) + 3 <= sizeof(s->by_project))
			len += (size_t)snprintf(s->by_project + len, sizeof(s->by_project) - len,
						"%s%s", len ? ", " : "", o->key);
	}
}

/* --- commands of terse itself -------------------------------------------------------------- */

static const char verbs[] = "terse " PROFILE_TERSE_VERBS;

/* Something else, a command that prints next to nothing, or a verb of terse. */
enum own { OWN_NOT, OWN_QUIET, OWN_VERB };

static enum own own_of(char *const *words, unsigned nested)
{
	const char *string, *name;
	enum own all = OWN_QUIET;
	struct words w;
	if (!words[0])
		return OWN_NOT;
	name = profile_resolve(&profiles_builtin, &words, nested, &string);
	if (name && strcmp(name, QUIET) == 0)
		return OWN_QUIET;
	if (!string)
		return name && pattern_match(verbs, words) ? OWN_VERB : OWN_NOT;
	if (words_parse(&w, string) < 0)
		return OWN_NOT;
	for (size_t i = 0; i < w.count && all != OWN_NOT; i++) {
		enum own one = profile_feeder(&w, (int)i) >= 0
				       ? OWN_QUIET
				       : own_of(&w.words[w.commands[i].first], nested + 1);
		if (one != OWN_QUIET)
			all = one;
	}
	words_release(&w);
	return all;
}

bool profile_is_own(char *const argv[])
{
	return argv && own_of(argv, 0) == OWN_VERB;
}
