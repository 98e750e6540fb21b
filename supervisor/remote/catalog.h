// The index of the remote: which runs were pushed, without a look at the artifacts themselves.
//
//   index/2026-11-22/07/HOST-k3x7f9q2.jsonl
//
// One object for each hour and store, by the time of the push; it has a line for each run and is
// written again as a whole when something comes. A store has one writer, the holder of the pusher's
// lock, and a name of its own, so no two write the same object. Its hour is kept in STORE/push
// until it is over:
//
//   name             the store's eight digits
//   index.DATE.HOUR  the lines
//   dirty.DATE.HOUR  they are not all in the remote
//   ID.entry         the line of an archive that waits
//
// A line: {"run":{...},"host":"...","container":null,"labels":{...},"object_bytes":4711}, "run" as
// in ID.json (artifact/meta.h).
#ifndef TERSE_REMOTE_CATALOG_H
#define TERSE_REMOTE_CATALOG_H

#include "supervisor/artifact/meta.h"
#include "supervisor/remote/remote.h"
#include "supervisor/remote/spool.h"
#include "supervisor/remote/transfer.h"

#include <stdbool.h>
#include <stdint.h>

/* The longest line. */
#define CATALOG_LINE ((size_t)64 * 1024)

/* Appends the line of a run without its newline; `labels` as from origin_add_labels(). Returns 0,
   or -1 with ENOMEM. */
int catalog_encode(struct buffer *out, const struct meta *m, const struct buffer *labels,
		   const char *host, uint64_t object_bytes);

/* An archive was pushed: its line goes into the hour that is now, unless it is there. For the
   holder of the lock. Returns 0, or -1 with errno. */
int catalog_add(const struct spool *s, const char *id, int64_t now_ms);

/* The session in the line of an archive that waits; "default" if it has none. Returns 0, or -1 with
   ENOMEM. */
int catalog_session(const struct spool *s, const char *id, char session[STORE_SESSION_LEN + 1]);

/* Whether there are lines that the remote does not have. */
bool catalog_is_dirty(const struct spool *s);

/* Pushes these until `until_ms` (monotonic; 0: no limit). Removes the hours before `now_ms` (real
   time) that are pushed. Returns 0, or -1 and `why`. */
int catalog_push(const struct spool *s, const struct remote *r, int64_t now_ms, int64_t until_ms,
		 char why[TRANSFER_WHY]);

struct catalog_run {
	struct meta meta;                      /* as from meta_parse() */
	const char *host, *container, *labels; /* "job=4812 team=a"; "" where there is none */
	const char *labels_json;               /* an object of strings, in ASCII */
	uint64_t object_bytes;
};

struct catalog_reader {
	int64_t from_ms, to_ms; /* hours of pushes */
	const char *host;       /* the beginning of its name, "": any */
	/* Called for each line, in no order; a run may come twice. Returns 0 to go on. */
	int (*each)(void *ctx, const struct catalog_run *run);
	void *ctx;
	uint64_t objects, damaged; /* read; lines that are none */
	char why[TRANSFER_WHY];
};

/* Reads the index. Returns 0, or -1 and `why`. */
int catalog_read(const struct remote *r, struct catalog_reader *reader);

#endif
