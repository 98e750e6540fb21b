// The time that a store has seen pass. Ages in it are counted by this time, so that a clock that
// jumps makes nothing old.
//
// STORE/gc is looked at whenever the store is cleaned up, and its time is when that was last. Of
// the time between two looks at most SEEN_STEP_MS count. The rest went by unseen: the clock was
// set, or nothing ran. Each such time is a line of the file, "END UNSEEN\n", in milliseconds.
#ifndef TERSE_ARTIFACT_RETENTION_H
#define TERSE_ARTIFACT_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
