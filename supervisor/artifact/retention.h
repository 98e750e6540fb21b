// Which artifacts have had their time. Only numbers, no files.
#ifndef TERSE_ARTIFACT_RETENTION_H
#define TERSE_ARTIFACT_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0: no limit, but for keep_ms. */
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

/* Decides about all of `items`, which are sorted by `id`. Of what is too much the oldest goes. */
void retention_decide(struct retention_item *items, size_t count,
		      struct retention_session *sessions, const struct retention_limits *limits,
		      int64_t now_ms);

#endif
