// Cleaning a store up: artifacts that have had their time (retention.h), sessions that are over,
// and what crashes have left behind.
//
// Safe beside anything else that goes on in the store, also beside another gc: what a run uses is
// locked, and what is gone already is no error.
#ifndef TERSE_ARTIFACT_GC_H
#define TERSE_ARTIFACT_GC_H

#include "supervisor/artifact/inventory.h"
#include "supervisor/artifact/retention.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

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
	/* Told of each artifact that was removed; may be NULL. */
	void (*removed)(void *ctx, const struct inventory_session *session,
			const struct retention_item *item);
	void *ctx;
	struct gc_result result; /* added to */
};

struct settings;

struct retention_limits gc_limits(const struct settings *settings);

/* Returns 0, or -1 with errno when the store can't be looked through. */
int gc_run(struct gc *g);

/* Removes the artifacts of one session with an ID in from..to (packed) that no run uses, as
   `removed` is told. Returns how many of them are in use, or -1 with errno. */
long gc_remove_session_part(struct gc *g, const char *session, uint64_t from, uint64_t to);

/* Removes what is left of a session that has no artifacts. Returns whether it is gone. */
bool gc_remove_session(const struct store *s, const char *session);

/* The session has ended now. Returns 0, or -1 with errno (ENOENT: there is no such). */
int gc_end_session(const struct store *s, const char *session);

/* Whether the last gc that cleaned up by itself is longer ago than that. Costs one system call. */
bool gc_is_due(const struct store *s, int64_t interval_ms);

/* Makes it this process' turn to clean up by itself. Returns false if it is not due, or another one
   is at it. */
bool gc_take_turn(const struct store *s, int64_t interval_ms);

#endif
