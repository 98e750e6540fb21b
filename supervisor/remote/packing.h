// Packs wanted runs that have ended: from then on their archives in the spool depend on nothing
// else in the store.
//
// Any number of processes may pack at a time, also the same run: the first one wins.
#ifndef TERSE_REMOTE_PACKING_H
#define TERSE_REMOTE_PACKING_H

#include "supervisor/remote/spool.h"

#include <stdbool.h>

/* Packs all of them, within spool_max. Returns how many could not be packed, with errno of the last
   one. */
unsigned packing_all(const struct spool *s, const struct settings *settings);

/* A run was removed: it is not pushed any more, unless that has begun. Returns whether it
   waited. */
bool packing_drop(const struct spool *s, const char *id);

#endif
