// The runs of one command: the same words in the same directory.
#ifndef TERSE_ARTIFACT_EARLIER_H
#define TERSE_ARTIFACT_EARLIER_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>

/* Whether both are runs of the same command. */
bool earlier_is_same(const struct meta *a, const struct meta *b);

/* Finds the newest artifact of the command of `m` that is older than its own: in the session
   first (a result of store_session_name), then in every one. Returns 1, 0 if there is none among
   the artifacts that are looked at (thousands), or -1 with errno. */
int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found);

#endif
