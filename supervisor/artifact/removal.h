// Removing one artifact.
//
// Its text goes first: from then on it is not listed, found or counted. What a crash leaves of the
// other files has no text, and goes with the next gc (gc.h). The claim of its ID goes last, so that
// no new run gets that ID before.
//
// Nothing but names in the session's directory and in STORE/ids is removed; a link that somebody
// put there goes, and what it leads to stays.
#ifndef TERSE_ARTIFACT_REMOVAL_H
#define TERSE_ARTIFACT_REMOVAL_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdint.h>

enum removal {
	REMOVAL_DONE,
	REMOVAL_ABSENT,  /* it is not there (any more) */
	REMOVAL_RUNNING, /* a keeper still writes it, or has just begun to: it stays */
	REMOVAL_FAILED,  /* errno */
};

/* `dir` is the session's directory. What became free is added to *freed, also of one that was only
   in part there (REMOVAL_ABSENT). Any number of processes may do this at a time. */
enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed);

/* Whether a keeper still writes it, or has just begun to. */
bool removal_is_running(int dir, const char *id);

#endif
