// What was read from the remote: artifacts in the session CACHE_SESSION of the store, up to
// [remote] cache_max bytes; the one that was fetched first goes first. There they are like any
// others, found by their IDs.
//
// Nothing that the remote sends is trusted: no more than cache_max is taken, it has to be an
// archive (archive.h) of the run that was asked for, and what is not leaves nothing.
#ifndef TERSE_REMOTE_CACHE_H
#define TERSE_REMOTE_CACHE_H

#include "supervisor/remote/remote.h"
#include "supervisor/remote/transfer.h"

#include <stdint.h>

#define CACHE_SESSION "from-remote"

enum cache_answer {
	CACHE_FETCHED, /* it is in the store now */
	CACHE_NONE,    /* the remote does not have it */
	CACHE_FAILED,  /* `why` says it */
};

struct cached {
	uint64_t bytes; /* of the object */
	char why[TRANSFER_WHY];
};

/* Fetches the artifact of a whole ID, which is not in the store. Waits for another process that
   fetches something. */
enum cache_answer cache_fetch(const struct remote *r, const char *id, struct cached *c);

#endif
