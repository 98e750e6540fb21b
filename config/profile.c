// See profile.h.

#include "config/profile.h"

#include "config/error.h"
#include "config/pattern.h"
#include "config/words.h"
#include "lib/trace.h"
#include "shim/exec_call.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The name of the profile of a command (NULL-terminated, at least one word), or NULL if no pattern
   of at least `least` words matches. The most exact pattern wins; among equals, the last one. */
static const char *profiles_match(const struct settings *s, char *const words[], unsigned least)
{
	const struct section_entry *e;
	const char *best = NULL, *name = NULL;
	unsigned most = least;
	for (size_t i = 0; (e = section_entry_at(s, &profiles_form, i)) != NULL; i++) {
		if (e->kind == SECTION_NAME)
			name = e->text;
		if (e->kind != SECTION_TEXT || strcmp(e->key, PROFILES_MATCH) != 0)
			continue;
		unsigned exact = pattern_match(e->text, words);
		if (exact >= most) {
			most = exact;
			best = name;
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

/* The verbs of terse; and what a string's commands are that no other command feeds: only quiet
   ones, only a verb, or others. */
static const char verbs[] = "terse " PROFILE_TERSE_VERBS;
enum own { OWN_QUIET, OWN_VERB, OWN_NOT };

struct chooser {
	const struct settings *s; /* NULL: the built-in profiles */
	struct profile_choice *choice;
	const char *other; /* the last profile of a command that does not count */
	enum own own;
	unsigned nested; /* depth of the string in other strings */
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

static int profile_add_string(struct chooser *c, const char *string, bool counts, bool fed);

/* The last command before the one at `index` that writes into it, or -1. */
static int profile_feeder(const struct words *w, int index)
{
	int i = index - 1;
	while (i >= 0 && w->commands[i].into != index)
		i--;
	return i;
}

/* Adds the profile of a command, which is at `index` of the string `w`, or stands alone if `w` is
   NULL. `counts`: the command's output is shown; `fed`: another command feeds it. */
static int profile_add_command(struct chooser *c, char *const *command, bool counts, bool fed,
			       const struct words *w, int index)
{
	char *const *words = command;
	const char *name = NULL;
	/* Looks for the profile of the command, then of the command that this one runs (sudo, env),
	   and so on, up to a shell string. */
	while (words && !strpbrk(shell_call_name(*words), "$`")) {
		char *const *inner = wrapper_inner(words);
		const char *inside = c->nested < NESTED_MAX ? wrapper_string(words) : NULL;
		/* The words of `sh -c` are not matched with patterns: the profile depends on the
		   string. */
		if (!inside || !wrapper_is_shell(words))
			name = profiles_match(c->s, words, inner ? 2 : 1);
		if (name)
			break;
		if (inside) {
			c->nested++;
			int result = profile_add_string(c, inside, counts, fed);
			c->nested--;
			return result;
		}
		words = inner;
	}
	if (!name)
		name = PROFILE_DEFAULT;
	bool quiet = strcmp(name, QUIET) == 0;
	if (!fed && !quiet && c->own != OWN_NOT)
		c->own = words && pattern_match(verbs, words) ? OWN_VERB : OWN_NOT;
	if (w && words == command && strcmp(name, SEARCH) == 0) {
		/* A pipeline of searches picks lines from a listing, as in `find | grep`. */
		const char *from = name;
		for (int i = index; from && strcmp(from, SEARCH) == 0;) {
			i = profile_feeder(w, i);
			from = i < 0 ? NULL
				     : profiles_match(c->s, &w->words[w->commands[i].first], 1);
		}
		if (from && (strcmp(from, FIND) == 0 || strcmp(from, LIST) == 0))
			name = from;
	}
	if (!counts || quiet)
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
	if (!pattern_is_among("cat|less|more", program))
		return false;
	for (words++; *words; words++) {
		if (**words != '-')
			return false;
	}
	return true;
}

static int profile_add_string(struct chooser *c, const char *string, bool counts, bool fed)
{
	struct words w;
	int result = 0;
	if (words_parse(&w, string) < 0) {
		if (errno != EINVAL)
			return -1;
		add_name(c, PROFILE_DEFAULT);
		c->own = fed ? c->own : OWN_NOT;
		return 0;
	}
	for (int i = 0; i < (int)w.count && result == 0; i++) {
		char *const *words = &w.words[w.commands[i].first];
		bool reads = profile_feeder(&w, i) >= 0;
		if (reads && passes_on(words))
			continue;
		/* The command's output is part of the string's output if every reader passes it
		   on. */
		int into = w.commands[i].into;
		while (into >= 0 && passes_on(&w.words[w.commands[into].first]))
			into = w.commands[into].into;
		result = profile_add_command(c, words, counts && into == WORDS_OUT, fed || reads,
					     &w, i);
	}
	words_release(&w);
	return result;
}

int profile_choose(const struct settings *s, char *const argv[], const char *string,
		   struct profile_choice *choice, struct option_error *error)
{
	struct chooser c = {.s = s, .choice = choice};
	choice->count = 0;
	if (!s->profile) {
		int result = string ? profile_add_string(&c, string, true, false)
				    : profile_add_command(&c, argv, true, false, NULL, 0);
		if (choice->count == 0)
			add_name(&c, c.other ? c.other : PROFILE_DEFAULT);
		TRACE(CONFIG, "profile %s", profile_name(choice));
		return result;
	}
	struct nearest n;
	const char *name;
	bool known = strcmp(s->profile, PROFILE_DEFAULT) == 0;
	nearest_init(&n, s->profile);
	for (size_t i = 0; !known && (name = section_name(s, &profiles_form, i)) != NULL; i++) {
		known = strcmp(name, s->profile) == 0;
		nearest_offer(&n, name);
	}
	add_name(&c, known ? s->profile : PROFILE_DEFAULT);
	if (known)
		return 0;
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

/* How the values of several profiles become one. Where they differ, an option without a rule here
   keeps its value from before the profiles. 0 may stand for "no limit". */
static const struct {
	size_t offset;
	enum merge { LARGEST, LARGEST_OR_NONE, SMALLEST, LINES_UNLESS_SAME, SMART } how;
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
	{offsetof(struct settings, pty), LARGEST}, /* TRI_NO */
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
		case LINES_UNLESS_SAME: return value == next ? value : UNIT_LINES;
		case SMART: return MODE_SMART;
		}
	}
	return value == next ? value : base;
}

static void profile_add_items(struct settings *s, const struct option *o, const char *name)
{
	const struct strings *list = (const void *)((const char *)s + o->offset);
	struct setting_source *source = option_source(s, o);
	const struct section_entry *e;
	struct option_error error;
	for (size_t at = 0; (e = section_next(s, &profiles_form, name, o->key, &at)) != NULL;) {
		size_t i = 0;
		while (i < list->count && strcmp(list->items[i], e->text) != 0)
			i++;
		/* Items for which there is no room or memory are left out. */
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
	const struct section_entry *v[SETTING_SLOTS], *from[SETTING_SLOTS] = {NULL};
	int64_t value[SETTING_SLOTS];
	size_t len = 0;
	s->applied = profile_name(choice);
	s->own_words = strcmp(s->applied, PROFILE_TERSE) == 0;
	for (size_t k = 0; k < choice->count; k++) {
		section_values(s, &profiles_form, choice->names[k], v);
		/* A size sets failure_size, too, unless the same file or a later one does. */
		if (v[SIZE] && (!v[FAILURE] || v[FAILURE]->by < v[SIZE]->by))
			v[FAILURE] = v[SIZE];
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			if (o->in_profile)
				profile_add_items(s, o, choice->names[k]);
			if (!option_is_number(o))
				continue;
			size_t at = SETTING_SLOT(o->offset);
			int64_t base = *option_number(s, o);
			int64_t next = v[at] ? v[at]->value : base;
			value[at] = k == 0 ? next : profile_merge(o, value[at], next, base);
			if (!from[at] || (v[at] && v[at]->by == ORIGIN_PROJECT))
				from[at] = v[at];
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
		/* Notes which settings of a preview come from the project's file. */
		if ((strcmp(o->section, "report") == 0 || strcmp(o->section, "preview") == 0) &&
		    (source->by == ORIGIN_PROJECT || source->project) &&
		    len + strlen(o->key) + 3 <= sizeof(s->by_project))
			len += (size_t)snprintf(s->by_project + len, sizeof(s->by_project) - len,
						"%s%s", len ? ", " : "", o->key);
	}
}

bool profile_is_own(char *const argv[])
{
	struct profile_choice choice = {.count = 0};
	struct chooser c = {.choice = &choice};
	bool named = false;
	for (char *const *word = argv; word && *word && !named; word++)
		named = strstr(*word, "terse");
	return named && profile_add_command(&c, argv, true, false, NULL, 0) == 0 &&
	       c.own == OWN_VERB;
}
