// The profiles that one ini text defines: [profile NAME] sections, each with
// patterns (match = ...) and values of options. Which one a command belongs to,
// and what that changes, is in profile.h.
//
// Layers are linked: settings.profiles is the file that was read last, the
// built-in ones are the last layer. A profile of one name is the same in all.
#ifndef TERSE_CONFIG_PROFILES_H
#define TERSE_CONFIG_PROFILES_H

#include "config/option.h"

/* "profile " and the name have to fit into inih's 49 bytes of a section. */
enum { PROFILE_NAME_MAX = 40 };

/* A reason if `name` can't be one, else NULL. */
const char *profile_refuse_name(const char *name);

enum profiles_kind {
	PROFILES_NAME,    /* what follows belongs to the profile `text` */
	PROFILES_PATTERN, /* `text`, see pattern.h */
	PROFILES_VALUE,   /* `value` for the option at `offset` */
	PROFILES_ITEM,    /* `text` for the list at `offset` */
};

struct profiles_entry {
	enum profiles_kind kind;
	unsigned line; /* where the file says so */
	const char *text;
	size_t offset; /* the option's */
	int64_t value;
};

struct profiles {
	const struct profiles *below;   /* earlier files, then the built-in ones */
	enum origin by;                 /* which file defines them */
	struct profiles_entry *entries; /* as in the file; own their text */
	size_t count, room;
};

extern const struct profiles profiles_builtin;

/* The uppermost layer. */
static inline const struct profiles *profiles_of(const struct settings *s)
{
	return s->profiles ? s->profiles : &profiles_builtin;
}

/* NULL with ENOMEM. */
struct profiles *profiles_new(enum origin by, const struct profiles *below);

/* Frees the layers from this one on, but not the built-in one. May be NULL. */
void profiles_free(struct profiles *p);

/* Frees this one. May be NULL. */
void profiles_drop(struct profiles *p);

/* So that a hostile file can't make a run slow. */
enum { PROFILES_LINES_MAX = 1000 };

/* Add an entry. Return 0, or -1 with errno ENOMEM, or E2BIG: there are PROFILES_LINES_MAX. */
int profiles_add_name(struct profiles *p, unsigned line, const char *name);
int profiles_add_pattern(struct profiles *p, unsigned line, const char *pattern);
int profiles_add_value(struct profiles *p, unsigned line, const struct option *o, int64_t value);
int profiles_add_item(struct profiles *p, unsigned line, const struct option *o, const char *item);

/* The name of the profile that a command with these words (NULL-terminated, at least one) belongs
   to, or NULL: no pattern in any layer matches. The most exact pattern decides, of such the last
   one. Valid as long as the layers. */
const char *profiles_match(const struct profiles *p, char *const words[]);

/* The names in all layers, each once: the `index`th, those of the lowest layer first; NULL: there
   are no more. */
const char *profiles_name(const struct profiles *p, size_t index);

/* Whether any layer has a profile of this name. */
bool profiles_has(const struct profiles *p, const char *name);

/* What the layers say about an option in the profile `name`: the entry, with *layer the layer it is
   in, or NULL. */
const struct profiles_entry *profiles_value(const struct profiles *p, const char *name,
					    const struct option *o, const struct profiles **layer);

/* The next item for a list in the profile `name` in one layer, from entry *at on, which is moved
   behind it; NULL: there are no more. */
const struct profiles_entry *profiles_item(const struct profiles *layer, const char *name,
					   const struct option *o, size_t *at);

#endif
