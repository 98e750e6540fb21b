// Which run `last` is.
//
// It is the run of the session that was started last, of those that have ended and those that have
// an artifact: the history and the artifacts know them. "last-N" is the N-th run before it. Runs of
// terse's own verbs (config/look.h), by which an agent reads what others have left, are none.
#ifndef TERSE_ARTIFACT_LAST_H
#define TERSE_ARTIFACT_LAST_H

#include "supervisor/artifact/id.h"

#include <stdbool.h>

/* Why a run that is known has no artifact, as errno. */
#define LAST_PRINTED ENODATA /* it was printed whole, and not kept */
#define LAST_UNKEPT  ENOLINK /* it could not be kept */
#define LAST_REMOVED ESTALE  /* it was removed, or had to go to another store */

/* Whether `name` is "last" or "last-N"; sets *back to N. */
bool last_is(const char *name, unsigned long *back);

/* Finds the artifact of the run. Returns 0, or -1 with errno: ENOENT, there are not so many runs;
   or as above, and found->id is then that of the last artifact before it, "" if there is none. */
int last_find(struct store *stores, int count, const char *session, unsigned long back,
	      struct id_found *found);

#endif
