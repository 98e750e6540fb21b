// Sums over what runs have shown and what was read back (artifact/journal.h), for terse stats and
// terse report.
#ifndef TERSE_COMMAND_STATS_H
#define TERSE_COMMAND_STATS_H

#include "lib/buffer.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, and the estimate of their tokens. */
struct stats_size {
	uint64_t bytes, tokens;
};

struct stats_sum {
	uint64_t runs, failed; /* commands of terse itself do not count */
	int64_t duration_ms;
	uint64_t text;           /* bytes that commands wrote for a reader, as text */
	struct stats_size shown; /* of that; what no agent read is in neither */
	struct stats_size own;   /* what the agents would have shown by themselves */
	struct stats_size read;  /* read back later */
	uint64_t reads;          /* how often */
	uint64_t kept, followed; /* artifacts; those of them that were read */
};

/* own - (shown + read), which may be negative. */
int64_t stats_saved(const struct stats_sum *s);
int64_t stats_saved_tokens(const struct stats_sum *s);

enum stats_by { STATS_BY_NOTHING = -1, STATS_BY_COMMAND, STATS_BY_AGENT };

struct stats_group {
	char *name;
	struct stats_sum sum;
};

struct stats {
	/* Set by the owner; the rest is zeroed. */
	int by;           /* enum stats_by */
	int64_t from_ms;  /* runs and reads since then */
	const char *only; /* one artifact's ID; NULL: every run */

	struct stats_sum all;
	int64_t first_ms; /* when the first of these runs started; 0: there is none */
	uint64_t damaged; /* lines */
	struct stats_group **groups;
	size_t group_count, group_room;
	void *tree; /* the groups by their names, as tsearch(3) keeps them */
	/* The artifacts of the session that is being read. */
	struct stats_artifact {
		uint64_t id;
		struct stats_group *group; /* or NULL */
		bool followed;
	} * artifacts;
	size_t artifact_count, artifact_room;
	struct buffer name; /* of a group, while it is looked up */
	bool failed;        /* there was no memory for all */
};

/* Adds a session of a store. Returns 0, or -1 with errno. */
int stats_add_session(struct stats *s, struct store *store, const char *session);

void stats_release(struct stats *s);

/* Appends the members of an object: "runs", "failed", ... (docs/json.md). */
void stats_append_json(struct buffer *out, const struct stats_sum *s);

/* Appends a short name for a command: "npm test", "make"; of a shell string what its last output
   comes from. */
void stats_name_command(struct buffer *out, char *const *argv);

#endif
