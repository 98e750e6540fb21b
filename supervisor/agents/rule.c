// See rule.h.

#include "supervisor/agents/rule.h"

#include "config/pattern.h"
#include "lib/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Deeper than any real chain of processes between an agent and its command; ends a loop that races
   with exits. */
#define ANCESTORS_MAX 32

/* One agent's list. */
struct list {
	const struct layer *layer; /* NULL: there is none */
	const char *name, *key;
};

static struct list find_list(const struct settings *s, const char *name, const char *key)
{
	return (struct list){.layer = layer_with(rules_of(s), name, key), .name = name, .key = key};
}

/* The next item behind *at (NULL at first), or NULL. */
static const char *next_item(const struct list *list, const struct layer_entry **at)
{
	while (list->layer && (*at = layer_next(list->layer, list->name, list->key, *at)) != NULL) {
		if (*(*at)->text)
			return (*at)->text;
	}
	return NULL;
}

static bool is_empty(const struct list *list)
{
	const struct layer_entry *at = NULL;
	return !next_item(list, &at);
}

static bool matches_text(const struct list *list, const char *text)
{
	const struct layer_entry *at = NULL;
	const char *item;
	while ((item = next_item(list, &at)) != NULL) {
		if (template_match(item, text))
			return true;
	}
	return false;
}

static bool matches_words(const struct list *list, char *const words[])
{
	const struct layer_entry *at = NULL;
	const char *item;
	while ((item = next_item(list, &at)) != NULL) {
		if (pattern_match(item, words) > 0)
			return true;
	}
	return false;
}

/* --- the environment ------------------------------------------------------------ */

/* NAME, or NAME=TEMPLATE */
static bool rule_item_is_set(const char *item)
{
	char name[256];
	size_t len = strcspn(item, "=");
	const char *value;
	if (len >= sizeof(name))
		return false;
	memcpy(name, item, len);
	name[len] = '\0';
	value = getenv(name);
	if (!value || !*value)
		return false;
	return item[len] == '\0' || template_match(item + len + 1, value);
}

static bool rule_is_marked(const struct settings *s, const char *name)
{
	const struct list list = find_list(s, name, RULE_ENVIRONMENT);
	const struct layer_entry *at = NULL;
	const char *item;
	struct process p;
	while ((item = next_item(&list, &at)) != NULL) {
		if (rule_item_is_set(item))
			return true;
	}
	return is_empty(&list) && rule_ancestor(s, name, getppid(), &p);
}

const char *rule_agent(const struct settings *s)
{
	const char *found = NULL, *name;
	unsigned count = 0;
	struct process p;
	for (size_t i = 0; (name = layer_name(rules_of(s), i)) != NULL; i++) {
		if (rule_is_marked(s, name)) {
			found = found ? found : name;
			count++;
		}
	}
	if (count < 2)
		return found;
	name = rule_ancestor(s, NULL, getppid(), &p);
	return name && rule_is_marked(s, name) ? name : found;
}

const char *rule_session(const struct settings *s, const char *name)
{
	const struct list list = find_list(s, name, RULE_SESSION);
	const struct layer_entry *at = NULL;
	const char *item;
	while ((item = next_item(&list, &at)) != NULL) {
		const char *value = getenv(item);
		if (value && *value)
			return value;
	}
	return NULL;
}

/* --- processes -------------------------------------------------------------------- */

static bool rule_has_name(const struct list *list, const char *name)
{
	char *words[] = {(char *)name, NULL};
	return name && matches_words(list, words);
}

/* Compares both names of a process: the kernel's, and that of its program. */
static bool is_process(const struct list *list, const struct process *p, const char *program)
{
	return rule_has_name(list, p->name) || rule_has_name(list, program);
}

static const char *agent_of(const struct settings *s, const char *only, const struct process *p)
{
	char room[4096];
	const char *program = process_program(p->pid, room, sizeof(room)), *name;
	for (size_t i = 0; (name = layer_name(rules_of(s), i)) != NULL; i++) {
		const struct list list = find_list(s, name, RULE_PROCESS);
		if ((!only || strcmp(only, name) == 0) && is_process(&list, p, program))
			return name;
	}
	return NULL;
}

const char *rule_ancestor(const struct settings *s, const char *only, pid_t pid, struct process *p)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 0 && process_read(pid, p) == 0; i++) {
		const char *name = agent_of(s, only, p);
		if (name)
			return name;
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

static bool rule_is_about(const struct settings *s, const char *name, char *const words[])
{
	const struct list process = find_list(s, name, RULE_PROCESS);
	const struct list environment = find_list(s, name, RULE_ENVIRONMENT);
	const struct layer_entry *at = NULL;
	const char *item;
	if (is_empty(&process) || matches_words(&process, words))
		return true;
	while ((item = next_item(&environment, &at)) != NULL) {
		if (strncmp(item, RULE_AGENT "=", sizeof(RULE_AGENT)) == 0 &&
		    template_match(item + sizeof(RULE_AGENT), pattern_program(words[0])))
			return true;
	}
	return false;
}

bool rule_knows(const struct settings *s, char *const words[])
{
	const char *name;
	for (size_t i = 0; (name = layer_name(rules_of(s), i)) != NULL; i++) {
		if (rule_is_about(s, name, words))
			return true;
	}
	return false;
}

static bool has_parent(const struct list *list)
{
	char room[4096];
	struct process p;
	return process_read(getppid(), &p) == 0 &&
	       is_process(list, &p, process_program(p.pid, room, sizeof(room)));
}

/* --- files and calls ---------------------------------------------------------------- */

/* The name of a descriptor in /proc. */
static bool rule_is_open(const struct list *list, int fd)
{
	char link[PATH_MAX];
	return process_link(0, link, sizeof(link), "fd/%d", fd) > 0 && matches_text(list, link);
}

bool rule_collects(const struct settings *s, const char *name, int fd)
{
	const struct list list = find_list(s, name, RULE_OUTPUT);
	return !is_empty(&list) && rule_is_open(&list, fd);
}

/* Whether the process fulfils all conditions of a rule except the string. */
static bool is_called(const struct settings *s, const char *name, char *const argv[])
{
	const struct list shell = find_list(s, name, RULE_SHELL);
	const struct list input = find_list(s, name, RULE_STDIN);
	const struct list parent = find_list(s, name, RULE_PARENT);
	return rule_is_marked(s, name) && (is_empty(&shell) || matches_words(&shell, argv)) &&
	       (is_empty(&input) || rule_is_open(&input, STDIN_FILENO)) &&
	       (is_empty(&parent) || has_parent(&parent));
}

/* As template_take(). */
static int take_command(const struct settings *s, const char *name, const char *string,
			char **command)
{
	const struct list strings = find_list(s, name, RULE_STRING);
	const struct list pass = find_list(s, name, RULE_PASS);
	const struct layer_entry *at = NULL;
	const char *item;
	if (matches_text(&pass, string))
		return 0;
	while ((item = next_item(&strings, &at)) != NULL) {
		int taken = template_take(item, string, command);
		if (taken != 0)
			return taken;
	}
	return 0;
}

static bool is_passed_on(const struct settings *s, const char *command)
{
	for (size_t i = 0; i < s->pass.count; i++) {
		if (template_match(s->pass.items[i], command))
			return true;
	}
	return false;
}

const char *rule_call(const struct settings *s, char *const argv[], const char *string,
		      char **command)
{
	const char *name;
	for (size_t i = 0; (name = layer_name(rules_of(s), i)) != NULL; i++) {
		if (!is_called(s, name, argv))
			continue;
		int taken = take_command(s, name, string, command);
		if (taken == 0)
			continue;
		if (taken > 0 && !is_passed_on(s, *command)) {
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

void rule_apply(struct settings *s, const char *name)
{
	TRACE(CONFIG, "agent %s", name);
	s->agent = name;
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct layer *layer;
		const struct layer_entry *e = layer_value(rules_of(s), name, o, &layer);
		if (!e || option_source(s, o)->by >= ORIGIN_AGENT)
			continue;
		*option_number(s, o) = e->value;
		*option_source(s, o) = (struct setting_source){.by = ORIGIN_AGENT};
	}
}
