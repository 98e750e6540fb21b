// See profiles.h.

#include "config/profiles.h"

#include "config/pattern.h"
#include "config/phrase.h"

static const struct layer_key keys[] = {
	{.name = PROFILES_MATCH, .refuse = pattern_refuse, .adds = true},
	{.name = "patterns", .refuse = phrase_refuse, .adds = true},
	{.name = "ignore", .refuse = phrase_refuse, .adds = true, .unsafe = true},
	{.name = NULL},
};

const struct layer_form profiles_form = {
	.word = "profile", .keys = keys, .builtin = &profiles_builtin};

const char *profiles_match(const struct layer *p, char *const words[])
{
	const char *best = NULL, *name = NULL;
	unsigned most = 0;

	for (; p; p = p->below) {
		unsigned above = most; /* what a lower layer has to exceed */

		for (size_t i = 0; i < p->count; i++) {
			const struct layer_entry *e = &p->entries[i];
			unsigned exact;

			if (e->kind == LAYER_NAME)
				name = e->text;
			if (e->kind != LAYER_TEXT)
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
