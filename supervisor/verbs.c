// The table of verbs. A new one is a name in config/profile.h (docs/CONTRIBUTING.md).

#include "config/profile.h"

#include "supervisor/command/verb.h"

#define DECLARE(name) extern const struct verb verb_##name;
#define ENTRY(name)   &verb_##name,

VERBS(DECLARE, DECLARE, DECLARE)

const struct verb *const verbs[] = {VERBS(ENTRY, ENTRY, ENTRY) NULL};
