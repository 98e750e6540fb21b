// Garbage collection: removes artifacts past their time (retention.h), sessions that are over, and
// leftovers of crashes.
//
// It is safe beside runs and other gcs: a run locks what it uses, and a file that is gone already
// is no error.
//
// The inventory of a store: every session, every artifact with its size and state.
//
// It takes some 50 bytes of memory and a stat(2) for each artifact, so it is for cleaning up and
// for `terse session`, not for the path of a run.
#ifndef TERSE_ARTIFACT_GC_H
#define TERSE_ARTIFACT_GC_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/retention.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

/* In a session's directory; the session ended when this file was last written, unless a run
   followed. */
#define INVENTORY_ENDED "ended"

struct inventory_session {
	char name[STORE_SESSION_LEN + 1];
	bool in_use;                 /* by a run, or what it left in the background */
	bool agent_gone;             /* its agent's process has ended */
	bool empty;                  /* no artifacts, no history */
	int64_t active_ms, ended_ms; /* last run; end, 0: it goes on */
	uint64_t count, bytes, running;
};

/* Files of an artifact that has no text. */
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
   release). Passes over what can't be opened (another user's, a link). */
int inventory_read(struct inventory *v, const struct store *s, const char *session);
void inventory_release(struct inventory *v);

struct gc_result {
	uint64_t artifacts, bytes; /* removed; disk space freed, by leftovers as well */
	uint64_t sessions;         /* removed */
	uint64_t leftovers;        /* files of no artifact, claims of no ID, temporary names */
	uint64_t failed;           /* could not be removed, ... */
	int error;                 /* ... the first for this reason */
};

struct gc {
	const struct store *store;
	struct retention_limits limits;
	int64_t now_ms;
	bool dry; /* only tell */
	/* Called for each artifact that was removed; may be NULL. */
	void (*removed)(void *ctx, const struct inventory_session *session,
			const struct retention_item *item);
	void *ctx;
	struct gc_result result; /* added to */
};

struct retention_limits gc_limits(const struct settings *settings);

/* Returns 0, or -1 with errno when the store can't be looked through. */
int gc_run(struct gc *g);

/* Removes the artifacts of one session with an ID in from..to (packed) that no run uses, and calls
   `removed` for each. Returns how many are in use, or -1 with errno. */
long gc_remove_session_part(struct gc *g, const char *session, uint64_t from, uint64_t to);

/* Removes the rest of a session that has no artifacts. Returns whether it is gone. */
bool gc_remove_session(const struct store *s, const char *session);

/* The session has ended now. Returns 0, or -1 with errno (ENOENT: there is no such). */
int gc_end_session(const struct store *s, const char *session);

/* Whether the last automatic gc is longer ago than that. Costs one system call. */
bool gc_is_due(const struct store *s, int64_t interval_ms);

/* Takes the turn of the automatic gc. Returns false if it is not due, or another process has it. */
bool gc_take_turn(const struct store *s, int64_t interval_ms);

#endif
