// The table of verbs, made from the names in config/profile.h.

#include "config/profile.h"

#include "supervisor/command/verb.h"

#define DECLARE(name) extern const struct verb verb_##name;
#define ENTRY(name)   &verb_##name,

VERBS(DECLARE, DECLARE, DECLARE)

const struct verb *const verbs[] = {VERBS(ENTRY, ENTRY, ENTRY) NULL};
