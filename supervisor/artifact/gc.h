// Garbage collection: removes artifacts beyond the limits (struct retention_limits), sessions that
// are over, and leftovers of crashes.
//
// It is safe while runs and other gcs are active: a run locks its files, and a file that is already
// gone is not an error.
#ifndef TERSE_ARTIFACT_GC_H
#define TERSE_ARTIFACT_GC_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

// Removing one artifact.
//
// The text goes first: without a text an artifact is not listed, found or counted, and the next gc
// removes what a crash has left of it. The claim of the ID goes last, so that no new run gets the
// ID while files are left.
//
// Only names in the session's directory and in STORE/ids are removed: if somebody put a link there,
// its target stays.

enum removal {
	REMOVAL_DONE,
	REMOVAL_ABSENT,  /* there is no such artifact */
	REMOVAL_RUNNING, /* the artifact stays, since a supervisor writes it or is about to */
	REMOVAL_FAILED,  /* errno tells why */
};

/* Removes the artifact. `dir` is the session's directory. Adds the freed bytes to *freed, even if
   only parts of an artifact were there (REMOVAL_ABSENT). The next short_sweep() overwrites the
   bytes of a short text. Any number of processes may call this at the same time. */
enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed);

// The inventory of a store: every session, every artifact with its size and state.
//
// It takes some 50 bytes of memory and a stat(2) for each file, so only cleaning up and `terse
// session` use it.

/* Why an artifact is removed: the first reason that applies. */
enum retention_why {
	RETENTION_STAYS,
	RETENTION_LEFTOVER, /* it has had no text for a while */
	RETENTION_ENDED,    /* its session has ended long enough ago */
	RETENTION_AGE,
	RETENTION_COUNT,
	RETENTION_SIZE,
	RETENTION_ASKED,   /* somebody asked for it */
	RETENTION_REASONS, /* their number */
};

struct inventory_item {
	uint64_t id;     /* packed (id.h) */
	uint64_t bytes;  /* on disk */
	int64_t last_ms; /* when it was last written */
	unsigned session;
	bool text, json;        /* it has these files; if it has no text, a crash has left the
				   others */
	bool running;           /* it stays whatever the limits are, but counts towards them */
	enum retention_why why; /* the decision */
};

struct inventory_session {
	char name[STORE_SESSION_LEN + 1];
	bool in_use;                 /* by a run, or by processes that it left in the background */
	bool agent_gone;             /* its agent's process has ended */
	bool empty;                  /* no artifacts, no history */
	int64_t active_ms, ended_ms; /* when its last run was; when the session ended, or 0 */
	uint64_t count, bytes, running;
};

struct inventory {
	struct inventory_item *items; /* sorted by ID */
	size_t count, room;
	struct inventory_session *sessions; /* the most recently used first */
	size_t session_count, session_room;
};

/* Looks through one session, or all of them if it is NULL. Returns 0, or -1 with errno (nothing to
   release). Skips sessions that can't be opened (another user's, a link). */
int inventory_read(struct inventory *v, const struct store *s, const char *session);
void inventory_release(struct inventory *v);

/* A value of 0 means no limit, except for keep_ms. */
struct retention_limits {
	int64_t max_age_ms;
	int64_t keep_ms; /* how long artifacts of a session that has ended are kept; 0: not at
			    all */
	uint64_t max_count, max_bytes;
};

/* Decides which artifacts go; if there are too many, the oldest. Touches no file. */
void retention_decide(struct inventory *v, const struct retention_limits *limits, int64_t now_ms);

struct gc_result {
	uint64_t artifacts; /* removed */
	uint64_t bytes;     /* freed disk space, that of leftovers included */
	uint64_t sessions;  /* removed */
	uint64_t leftovers; /* files of no artifact, claims of no ID, temporary names */
	uint64_t failed;    /* could not be removed */
	int error;          /* the errno of the first failure */
};

struct gc {
	const struct store *store;
	struct retention_limits limits;
	int64_t now_ms;
	int64_t interval_ms; /* not 0: an automatic gc, which cleans up only if it is due and no
				other process is doing so */
	bool dry;            /* remove nothing, only count */
	/* Called for each artifact that was removed; may be NULL. */
	void (*removed)(void *ctx, const struct inventory_session *session,
			const struct inventory_item *item);
	void *ctx;
	struct gc_result result; /* added to */
};

/* Counts something that could not be removed, for the reason in errno. */
void gc_note_failure(struct gc *g);

struct retention_limits gc_limits(const struct settings *settings);

/* Whether the last gc is longer ago than the interval. Costs one system call. */
bool gc_is_due(const struct store *s, int64_t interval_ms);

/* Returns 0, 1 if an automatic gc was not due or another process is doing it, or -1 with errno if
   the store can't be read.

   An automatic gc ignores the limits of age if the last gc was more than a day ago: the clock may
   have jumped, and may be right again at the next gc. */
int gc_run(struct gc *g);

/* Removes those artifacts of one session with an ID in from..to (packed) that no run uses, and
   calls `removed` for each. Returns how many stay because a run uses them, or -1 with errno. */
long gc_remove_session_part(struct gc *g, const char *session, uint64_t from, uint64_t to);

/* Removes the rest of a session that has no artifacts. Returns whether it is gone. */
bool gc_remove_session(const struct store *s, const char *session);

/* Notes that the session has ended now. Returns 0, or -1 with errno (ENOENT: there is no such
   session). */
int gc_end_session(const struct store *s, const char *session);

#endif
