// See profiles.h.

#include "config/profiles.h"

#include "config/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *profile_refuse_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_.-";
	size_t len = strlen(name);

	if (len == 0 || len > PROFILE_NAME_MAX || strspn(name, allowed) != len)
		return "a profile's name is 1 to 40 letters, digits, _ . or -";
	return NULL;
}

struct profiles *profiles_new(enum origin by, const struct profiles *below)
{
	struct profiles *p = calloc(1, sizeof(*p));

	if (p)
		*p = (struct profiles){.by = by, .below = below};
	return p;
}

void profiles_drop(struct profiles *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++)
		free((char *)p->entries[i].text);
	free(p->entries);
	free(p);
}

void profiles_free(struct profiles *p)
{
	while (p && p->by != ORIGIN_BUILT_IN) {
		struct profiles *below = (struct profiles *)p->below;

		profiles_drop(p);
		p = below;
	}
}

static int add(struct profiles *p, struct profiles_entry entry)
{
	if (p->count == PROFILES_LINES_MAX) {
		errno = E2BIG;
		return -1;
	}
	if (p->count == p->room) {
		size_t room = p->room ? 2 * p->room : 16;
		struct profiles_entry *entries = realloc(p->entries, room * sizeof(*entries));

		if (!entries)
			return -1;
		p->entries = entries;
		p->room = room;
	}
	if (entry.text) {
		entry.text = strdup(entry.text);
		if (!entry.text)
			return -1;
	}
	p->entries[p->count++] = entry;
	return 0;
}

int profiles_add_name(struct profiles *p, unsigned line, const char *name)
{
	return add(p, (struct profiles_entry){.kind = PROFILES_NAME, .line = line, .text = name});
}

int profiles_add_pattern(struct profiles *p, unsigned line, const char *pattern)
{
	return add(p, (struct profiles_entry){
			      .kind = PROFILES_PATTERN, .line = line, .text = pattern});
}

int profiles_add_value(struct profiles *p, unsigned line, const struct option *o, int64_t value)
{
	return add(p, (struct profiles_entry){.kind = PROFILES_VALUE,
					      .line = line,
					      .offset = o->offset,
					      .value = value});
}

int profiles_add_item(struct profiles *p, unsigned line, const struct option *o, const char *item)
{
	return add(p,
		   (struct profiles_entry){
			   .kind = PROFILES_ITEM, .line = line, .text = item, .offset = o->offset});
}

const char *profiles_match(const struct profiles *p, char *const words[])
{
	const char *best = NULL, *name = NULL;
	unsigned most = 0;

	for (; p; p = p->below) {
		unsigned above = most; /* what a lower layer has to exceed */

		for (size_t i = 0; i < p->count; i++) {
			const struct profiles_entry *e = &p->entries[i];
			unsigned exact;

			if (e->kind == PROFILES_NAME)
				name = e->text;
			if (e->kind != PROFILES_PATTERN)
				continue;
			exact = pattern_match(e->text, words);
			if (exact > above && exact >= most) {
				most = exact;
				best = name;
			}
		}
	}
	return best;
}

/* Whether the profile is in a layer's first `count` lines, or in a layer below. */
static bool has(const struct profiles *p, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct profiles_entry *e = &p->entries[i];

		if (e->kind == PROFILES_NAME && strcmp(e->text, name) == 0)
			return true;
	}
	return p->below && has(p->below, p->below->count, name);
}

bool profiles_has(const struct profiles *p, const char *name)
{
	return has(p, p->count, name);
}

/* Counts *index down with every name that has not been there before; finds the one at which it is
   0. */
static bool find_name(const struct profiles *p, size_t *index, const char **name)
{
	if (p->below && find_name(p->below, index, name))
		return true;
	for (size_t i = 0; i < p->count; i++) {
		const struct profiles_entry *e = &p->entries[i];

		*name = e->text;
		if (e->kind == PROFILES_NAME && !has(p, i, e->text) && (*index)-- == 0)
			return true;
	}
	return false;
}

const char *profiles_name(const struct profiles *p, size_t index)
{
	const char *name;

	return find_name(p, &index, &name) ? name : NULL;
}

const struct profiles_entry *profiles_value(const struct profiles *p, const char *name,
					    const struct option *o, const struct profiles **layer)
{
	for (; p; p = p->below) {
		bool here = false;

		*layer = p;
		for (size_t i = 0; i < p->count; i++) {
			const struct profiles_entry *e = &p->entries[i];

			if (e->kind == PROFILES_NAME)
				here = strcmp(e->text, name) == 0;
			else if (here && e->kind == PROFILES_VALUE && e->offset == o->offset)
				return e;
		}
	}
	return NULL;
}

/* Whether the entry at `index` of a layer belongs to the profile. */
static bool is_of(const struct profiles *layer, size_t index, const char *name)
{
	while (index > 0 && layer->entries[index].kind != PROFILES_NAME)
		index--;
	return layer->entries[index].kind == PROFILES_NAME &&
	       strcmp(layer->entries[index].text, name) == 0;
}

const struct profiles_entry *profiles_item(const struct profiles *layer, const char *name,
					   const struct option *o, size_t *at)
{
	while (*at < layer->count) {
		const struct profiles_entry *e = &layer->entries[(*at)++];

		if (e->kind == PROFILES_ITEM && e->offset == o->offset &&
		    is_of(layer, *at - 1, name))
			return e;
	}
	return NULL;
}
