// See rule.h.

#include "supervisor/agents/rule.h"

#include "config/pattern.h"
#include "config/value.h"
#include "lib/trace.h"
#include "shim/exec_call.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bounds a walk up the ancestors, whose PIDs may be reused while it runs. Fewer processes are
   between an agent and its command. */
#define ANCESTORS_MAX 32

/* A call ends at least this long before its limit, so that the report reaches the agent. */
#define HAND_OVER_LEAST_MS ((int64_t)2000)

/* The first item of an agent's list for which good(item, what) is true, or NULL. If `good` is NULL,
   every item is good. */
static const char *rule_item(const struct settings *s, const char *name, const char *key,
			     bool (*good)(const char *item, const void *what), const void *what)
{
	const struct section_entry *e;
	for (size_t at = 0; (e = section_next(s, &rules_form, name, key, &at)) != NULL;) {
		if (*e->text && (!good || good(e->text, what)))
			return e->text;
	}
	return NULL;
}

const char *rule_first(const struct settings *s, const char *name, const char *key)
{
	return rule_item(s, name, key, NULL, NULL);
}

bool rule_types(const struct settings *s, const char *name)
{
	const struct section_entry *set[SETTING_SLOTS], *types;
	section_values(s, &rules_form, name, set);
	types = set[SETTING_SLOT(offsetof(struct settings, interactive))];
	return types && types->value;
}

static bool good_for_text(const char *item, const void *text)
{
	return template_match(item, text);
}

static bool good_for_words(const char *item, const void *words)
{
	return pattern_match(item, (char *const *)words) > 0;
}

/* --- the environment ------------------------------------------------------------ */

/* Whether the variable of an item NAME or NAME=TEMPLATE is set and fits. */
static bool is_set(const char *item, const void *nothing)
{
	char name[256];
	size_t len = strcspn(item, "=");
	(void)nothing;
	if (len >= sizeof(name))
		return false;
	memcpy(name, item, len);
	name[len] = '\0';
	const char *value = getenv(name);
	return value && *value && (!item[len] || template_match(item + len + 1, value));
}

static bool rule_is_marked(const struct settings *s, const char *name)
{
	struct process p;
	return rule_item(s, name, RULE_ENVIRONMENT, is_set, NULL) ||
	       (!rule_first(s, name, RULE_ENVIRONMENT) && rule_ancestor(s, name, getppid(), &p));
}

/* Finds the next agent with a variable of its own in the environment. *at is 0 at first, and moves
   on. */
static const char *rule_next(const struct settings *s, size_t *at)
{
	const struct section_entry *e;
	const char *name = NULL;
	while ((e = section_entry_at(s, &rules_form, *at)) != NULL) {
		bool may = e->kind == SECTION_NAME;
		if (may)
			name = e->text;
		/* Checks the variables of built-in sections one by one first: nearly always none is
		   set. */
		if ((*at)++ < rules_form.builtin_count)
			may = name && e->kind == SECTION_TEXT &&
			      strcmp(e->key, RULE_ENVIRONMENT) == 0 && is_set(e->text, NULL);
		if (may && rule_is_marked(s, name))
			return name;
	}
	return NULL;
}

const char *rule_agent(const struct settings *s)
{
	const char *found = NULL, *name;
	bool several = false;
	struct process p;
	for (size_t at = 0; (name = rule_next(s, &at)) != NULL;) {
		several |= found && strcmp(found, name) != 0;
		found = found ? found : name;
	}
	if (!several)
		return found;
	name = rule_ancestor(s, NULL, getppid(), &p);
	return name && rule_is_marked(s, name) ? name : found;
}

const char *rule_session(const struct settings *s, const char *name)
{
	const char *item = rule_item(s, name, RULE_SESSION, is_set, NULL);
	return item ? getenv(item) : NULL;
}

/* --- processes -------------------------------------------------------------------- */

/* Whether the list `key` has the process's name: the kernel's, or that of the program it runs. */
static bool rule_has_process(const struct settings *s, const char *name, const char *key,
			     const struct process *p)
{
	char room[4096];
	const char *const names[] = {p->name, process_program(p->pid, room, sizeof(room))};
	for (size_t i = 0; i < 2; i++) {
		const char *const words[] = {names[i], NULL};
		if (names[i] && rule_item(s, name, key, good_for_words, words))
			return true;
	}
	return false;
}

const char *rule_ancestor(const struct settings *s, const char *only, pid_t pid, struct process *p)
{
	const char *name;
	for (int n = 0; n < ANCESTORS_MAX && pid > 0 && process_read(pid, p) == 0; n++) {
		for (size_t i = 0; (name = section_name(s, &rules_form, i)) != NULL; i++) {
			if ((!only || strcmp(only, name) == 0) &&
			    rule_has_process(s, name, RULE_PROCESS, p))
				return name;
		}
		pid = p->parent;
	}
	return NULL;
}

const char *rule_outermost(const struct settings *s, const char *only, pid_t pid, struct process *p)
{
	struct process above;
	const char *name = rule_ancestor(s, only, pid, p), *next = name;
	while (next && (next = rule_ancestor(s, only, p->parent, &above)) != NULL)
		*p = above;
	return name;
}

/* Whether an item says that terse agent has started this program. */
static bool is_started_as(const char *item, const void *program)
{
	return strncmp(item, RULE_AGENT "=", sizeof(RULE_AGENT)) == 0 &&
	       template_match(item + sizeof(RULE_AGENT), program);
}

bool rule_knows(const struct settings *s, char *const words[], const char *key)
{
	const char *name;
	for (size_t i = 0; (name = section_name(s, &rules_form, i)) != NULL; i++) {
		if ((!key || rule_first(s, name, key)) &&
		    (!rule_first(s, name, RULE_PROCESS) ||
		     rule_item(s, name, RULE_PROCESS, good_for_words, words) ||
		     rule_item(s, name, RULE_ENVIRONMENT, is_started_as,
			       shell_call_name(words[0]))))
			return true;
	}
	return false;
}

/* --- files and calls ---------------------------------------------------------------- */

bool rule_has_file(const struct settings *s, const char *name, const char *key, int fd)
{
	char link[PATH_MAX];
	return process_link(0, link, sizeof(link), "fd/%d", fd) > 0 &&
	       rule_item(s, name, key, good_for_text, link);
}

const char *rule_call(const struct settings *s, char *const argv[], const char *string,
		      char **command)
{
	const bool is_file = !string;
	const char *name;
	char file[PATH_MAX];
	struct process p;
	*command = NULL;
	if (is_file && (string = shell_call_file(argv)) != NULL)
		string = realpath(string, file);
	if (!string)
		return NULL;
	for (size_t at = 0; (name = rule_next(s, &at)) != NULL;) {
		/* Checks all conditions but the string. */
		if ((!is_file && rule_first(s, name, RULE_SHELL) &&
		     !rule_item(s, name, RULE_SHELL, good_for_words, argv)) ||
		    (rule_first(s, name, RULE_STDIN) &&
		     !rule_has_file(s, name, RULE_STDIN, STDIN_FILENO)) ||
		    (rule_first(s, name, RULE_PARENT) &&
		     (process_read(getppid(), &p) < 0 ||
		      !rule_has_process(s, name, RULE_PARENT, &p))))
			continue;
		if (rule_item(s, name, RULE_PASS, good_for_text, string))
			continue;
		const char *item = rule_item(s, name, is_file ? RULE_FILE : RULE_STRING,
					     good_for_text, string);
		int taken = item ? template_take(item, string, command) : 0;
		if (taken == 0)
			continue;
		bool passed = taken < 0;
		for (size_t k = 0; !passed && k < s->pass.count; k++)
			passed = template_match(s->pass.items[k], *command);
		if (!passed) {
			TRACE(CONFIG, "the shell string is one of agent %s", name);
			return name;
		}
		if (taken > 0)
			free(*command);
		break;
	}
	*command = NULL;
	return NULL;
}

/* --- runs that outlive their call ----------------------------------------------------- */

/* The number of an option with the agent's section applied: its value in `set`, unless a profile, a
   variable or a flag sets the option. `now`: the number without the section. */
static int64_t rule_number(const struct settings *s, const struct section_entry *set, int64_t now)
{
	return set && s->sources[SETTING_SLOT(set->offset)].by < ORIGIN_AGENT ? set->value : now;
}

struct hand_over rule_hand_over(const struct settings *s, const char *name)
{
	struct hand_over h = {0, EXIT_HANDED_OVER};
	const size_t at = SETTING_SLOT(offsetof(struct settings, hand_over));
	const struct section_entry *set[SETTING_SLOTS] = {NULL};
	/* The tools of terse mcp have limits of their own. */
	if (s->words != WORDS_COMMANDS)
		return h;
	if (name)
		section_values(s, &rules_form, name, set);
	int64_t limit = rule_number(s, set[at], s->hand_over), told;
	if (name && limit && s->sources[at].by <= ORIGIN_AGENT) {
		const char *item = rule_item(s, name, RULE_LIMIT, is_set, NULL);
		if (item && value_parse_count(getenv(item), &told) == 0 && told > 0)
			limit = told;
		if (rule_first(s, name, RULE_ENDS) && !rule_item(s, name, RULE_ENDS, is_set, NULL))
			limit = 0;
	}
	/* If the limit is very short, at most half of it remains unused. */
	int64_t before = limit / 20 > HAND_OVER_LEAST_MS ? limit / 20 : HAND_OVER_LEAST_MS;
	h.after = limit - (before < limit / 2 ? before : limit / 2);
	if (SETTING_ORIGIN(s, yield_status) != ORIGIN_BUILT_IN)
		h.status = (int)s->yield_status;
	h.status = (int)rule_number(s, set[SETTING_SLOT(offsetof(struct settings, yield_status))],
				    h.status);
	return h;
}

bool rule_lets_go(const struct settings *s, const char *name, pid_t pid)
{
	char link[PATH_MAX];
	struct process agent, caller;
	bool good = !name || rule_outermost(s, name, pid, &agent);
	/* Looks for the file among those that the front end's parent has open. */
	if (!good || !name || !rule_first(s, name, RULE_BACKGROUND) ||
	    process_read(pid, &caller) < 0)
		return good;
	struct process_walk w;
	for (long n = process_walk(&w, PROCESS_DESCRIPTORS, caller.parent); good && n >= 0;
	     n = process_walk_next(&w))
		good = process_link(caller.parent, link, sizeof(link), "fd/%ld", n) <= 0 ||
		       !rule_item(s, name, RULE_BACKGROUND, good_for_text, link);
	process_walk_end(&w);
	return good;
}

void rule_apply(struct settings *s, const char *name)
{
	const struct section_entry *values[SETTING_SLOTS];
	TRACE(CONFIG, "agent %s", name);
	s->agent = name;
	section_values(s, &rules_form, name, values);
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		const struct section_entry *e = values[SETTING_SLOT(o->offset)];
		if (!e || option_source(s, o)->by >= ORIGIN_AGENT)
			continue;
		*option_number(s, o) = e->value;
		*option_source(s, o) = (struct setting_source){.by = ORIGIN_AGENT};
	}
}
