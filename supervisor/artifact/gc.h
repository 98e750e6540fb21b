// Garbage collection: removes artifacts past their time (struct retention_limits), sessions that
// are over, and leftovers of crashes.
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
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

// Removing one artifact.
//
// Its text goes first: from then on it is not listed, found or counted. Other files that a crash
// leaves have no text, and go with the next gc (gc.h). The claim of its ID goes last, so that no
// new run gets that ID before.
//
// Nothing but names in the session's directory and in STORE/ids is removed; a link that somebody
// put there goes, and what it leads to stays.

enum removal {
	REMOVAL_DONE,
	REMOVAL_ABSENT,  /* it is not there (any more) */
	REMOVAL_RUNNING, /* a supervisor still writes it, or has just begun to: it stays */
	REMOVAL_FAILED,  /* errno */
};

/* `dir` is the session's directory. Adds the freed bytes to *freed, even if only a part of the
   artifact was there (REMOVAL_ABSENT). Any number of processes may do this at a time. */
enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed);

/* Whether a supervisor still writes it, or has just begun to. */
bool removal_is_running(int dir, const char *id);

// The time that a store has seen pass. Ages in it are counted by this time, so that a clock that
// jumps makes nothing old.
//
// STORE/gc is looked at whenever the store is cleaned up, and its time is when that was last. Of
// the time between two looks at most SEEN_STEP_MS count. The rest went by unseen: the clock was
// set, or nothing ran. Each such time is a line of the file, "END UNSEEN\n", in milliseconds.

/* Under a day, after which the artifacts of a session that has ended go. */
#define SEEN_STEP_MS ((int64_t)23 * 60 * 60 * 1000)
#define SEEN_GAPS    32

struct seen {
	struct {
		int64_t end_ms, unseen_ms;
	} gaps[SEEN_GAPS]; /* the oldest first */
	int count;
};

/* Looks at the open file, at this time. `keep`: it is written to. Without a file (-1) all time was
   seen. */
void seen_look(struct seen *s, int fd, int64_t now_ms, bool keep);

/* Converts an age in seen time to an age by the clock. */
int64_t seen_age(const struct seen *s, int64_t now_ms, int64_t age_ms);

// The decision which artifacts go. Only numbers, no files.

/* 0: no limit, except for keep_ms. */
struct retention_limits {
	int64_t max_age_ms;
	int64_t keep_ms; /* of a session that has ended; 0: nothing is kept */
	uint64_t max_count, max_bytes;
	uint64_t session_count, session_bytes; /* of each session */
};

/* Why one is removed; the first that applies. */
enum retention_why {
	RETENTION_STAYS,
	RETENTION_ENDED, /* its session has, long enough ago */
	RETENTION_AGE,
	RETENTION_SESSION_COUNT,
	RETENTION_SESSION_SIZE,
	RETENTION_COUNT,
	RETENTION_SIZE,
	RETENTION_REASONS, /* their number */
};

struct retention_item {
	uint64_t id;     /* packed (id.h) */
	uint64_t bytes;  /* on disk */
	int64_t last_ms; /* when it was last written */
	unsigned session;
	bool running;           /* stays, whatever the limits; counts all the same */
	enum retention_why why; /* the decision */
};

struct retention_session {
	int64_t ended_ms;      /* 0: it goes on */
	uint64_t count, bytes; /* for the decision's own use */
};

/* Decides about all of `items`, which are sorted by `id`. Where there are too many, the oldest
   go. */
void retention_decide(struct retention_item *items, size_t count,
		      struct retention_session *sessions, const struct retention_limits *limits,
		      int64_t now_ms);

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
