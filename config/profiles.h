// The profiles that the files define: [profile NAME] sections, each with
// patterns (match = ...) and values of options; see layer.h. Which one a command
// belongs to, and what that changes, is in profile.h.
#ifndef TERSE_CONFIG_PROFILES_H
#define TERSE_CONFIG_PROFILES_H

#include "config/layer.h"

/* The key whose items are patterns (pattern.h). */
#define PROFILES_MATCH "match"

extern const struct layer_form profiles_form;
extern const struct layer profiles_builtin;

/* The uppermost layer. */
static inline const struct layer *profiles_of(const struct settings *s)
{
	return s->profiles ? s->profiles : &profiles_builtin;
}

/* The name of the profile that a command with these words (NULL-terminated, at least one) belongs
   to, or NULL: no pattern in any layer matches. The most exact pattern decides, of such the last
   one. Valid as long as the layers. */
const char *profiles_match(const struct layer *p, char *const words[]);

#endif
