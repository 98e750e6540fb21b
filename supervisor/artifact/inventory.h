// What there is in a store: every session, every artifact with its size and state.
//
// It takes some 50 bytes of memory for each artifact, and a look at each file: for cleaning up, and
// for telling how much there is; not for the path of a run.
#ifndef TERSE_ARTIFACT_INVENTORY_H
#define TERSE_ARTIFACT_INVENTORY_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/retention.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a session's directory: it was ended when this file was last written, unless there was a run
   since. */
#define INVENTORY_ENDED "ended"

struct inventory_session {
	char name[STORE_SESSION_LEN + 1];
	bool in_use;                 /* by a run, or what it left in the background */
	bool agent_gone;             /* its agent's process has ended */
	bool empty;                  /* no artifacts, no history */
	int64_t active_ms, ended_ms; /* last run; end, 0: it goes on */
	uint64_t count, bytes, running;
};

/* Files of an artifact whose text is not there. */
struct inventory_leftover {
	uint64_t id; /* packed */
	unsigned session;
	int64_t last_ms;
};

struct inventory {
	struct retention_item *items; /* sorted by ID */
	size_t count, room;
	struct inventory_session *sessions; /* sorted by name */
	size_t session_count, session_room;
	struct inventory_leftover *leftovers;
	size_t leftover_count, leftover_room;
};

/* Looks through one session, or all of them if it is NULL. Returns 0, or -1 with errno (nothing to
   release). What can't be opened (another's, a link) is passed over. */
int inventory_read(struct inventory *v, const struct store *s, const char *session);
void inventory_release(struct inventory *v);

#endif
