// Reading from the remote: artifacts come into the session FETCH_SESSION of the store, up to
// [remote] cache_max bytes; the one that was fetched first goes first. There they are like any
// others, found by their IDs.
//
// Nothing that the remote sends is trusted: no more than cache_max is taken, it has to be an
// archive (archive.h) of the run that was asked for, and what is not leaves nothing.
#ifndef TERSE_REMOTE_FETCH_H
#define TERSE_REMOTE_FETCH_H

#include "supervisor/remote/remote.h"

#include <stdint.h>

#define FETCH_SESSION "from-remote"

struct fetched {
	uint64_t bytes;       /* of the object */
	char why[REMOTE_WHY]; /* it failed */
};

/* Fetches the artifact of a whole ID, which is not in the store. Waits for another process that
   fetches something. Returns 0: it is in the store now; 1: the remote does not have it; -1 and
   `why`. */
int fetch_artifact(const struct settings *s, const char *id, struct fetched *f);

#endif
