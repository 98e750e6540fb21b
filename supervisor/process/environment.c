// See environment.h.

#include "supervisor/process/environment.h"

#include <stdlib.h>
#include <string.h>

/* Whether `entry` ("NAME=VALUE" or "NAME") is the variable of `other`. */
static bool is_same_name(const char *entry, const char *other)
{
	size_t len = strcspn(entry, "=");
	return strcspn(other, "=") == len && strncmp(entry, other, len) == 0;
}

static bool is_listed(const struct strings *list, const char *entry)
{
	for (size_t i = 0; i < list->count; i++) {
		if (is_same_name(entry, list->items[i]))
			return true;
	}
	return false;
}

static bool environment_has(char *const *from, const char *entry)
{
	for (; *from; from++) {
		if (is_same_name(*from, entry))
			return true;
	}
	return false;
}

/* Whether a later line of the list sets the same variable again. */
static bool is_set_later(const struct strings *set, size_t i)
{
	for (size_t j = i + 1; j < set->count; j++) {
		if (is_same_name(set->items[i], set->items[j]))
			return true;
	}
	return false;
}

char **environment_make(char *const *from, const struct settings *s, bool captured, char *active)
{
	size_t count = 0, n = 0;
	while (from[count])
		count++;
	char **result = malloc((count + s->env_set.count + 2) * sizeof(*result));
	if (!result)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool kept = is_listed(&s->env_keep, from[i]);
		bool replaced =
			is_listed(&s->env_set, from[i]) || is_listed(&s->env_unset, from[i]);
		if (is_same_name(from[i], active) || (captured && replaced && !kept))
			continue;
		result[n++] = from[i];
	}
	for (size_t i = 0; captured && i < s->env_set.count; i++) {
		char *entry = s->env_set.items[i];
		bool kept = is_listed(&s->env_keep, entry) && environment_has(from, entry);
		if (!kept && !is_set_later(&s->env_set, i))
			result[n++] = entry;
	}
	result[n++] = active;
	result[n] = NULL;
	return result;
}
