// The remote: a place, such as a bucket, to which finished artifacts are pushed and from which they
// are read. [remote] of the user's or the system's ini file names it.
//
//   remote = rclone:NAME:PATH      by rclone, with credentials of its own
//   remote = file:/DIR             a directory that is there, by terse itself
//
// The objects, by their keys:
//
//   artifacts/2026/11/22/07/cmd-1m7vwf5bqe9c.tar.zst
//       one for each run (artifact/archive.h), by the hour in its ID
//   index/2026/11/22/07/HOST-cmd-1m7vwf5bqe9c-3.jsonl
//       the runs that were pushed together in that hour
//
// Objects are never changed.
#ifndef TERSE_REMOTE_REMOTE_H
#define TERSE_REMOTE_REMOTE_H

#include "config/settings.h"
#include "supervisor/artifact/meta.h"

#include <stdbool.h>
#include <stdint.h>

#define REMOTE_ARTIFACTS "artifacts"
#define REMOTE_INDEX     "index"

#define REMOTE_KEY_LEN  160
#define REMOTE_HOST_LEN 64
#define REMOTE_WHY      256

#define REMOTE_HOUR_MS ((int64_t)60 * 60 * 1000)

/* The directory of file:/DIR, else NULL. */
const char *remote_directory(const struct settings *s);

/* "2026/11/22/07", UTC. */
#define REMOTE_HOUR_LEN 13
void remote_hour(int64_t ms, char hour[REMOTE_HOUR_LEN + 1]);

/* Makes the key of an artifact; the hour follows from its ID. */
void remote_key(const char *id, char key[REMOTE_KEY_LEN]);

/* This machine's name, for keys. */
void remote_host(char host[REMOTE_HOST_LEN + 1]);

enum remote_work {
	REMOTE_MOVE,  /* all files below `local` become objects below `key`, and are removed */
	REMOTE_FETCH, /* the object `key` becomes the file `local` */
	REMOTE_LIST,  /* the objects in `hours` of the day `key`: local/07/NAME */
};

struct remote_call {
	enum remote_work work;
	const char *key, *local;
	uint32_t hours;       /* a bit for each; bit 7: hour 07 */
	const char *host;     /* the beginning of the objects' names */
	int64_t most;         /* > 0: no larger file is written */
	int64_t until_ms;     /* monotonic; 0: [remote] transfer_time alone counts */
	char why[REMOTE_WHY]; /* of a failure, on one line */
};

/* Makes the call in a child process, without a terminal and standard input, and with TERSE=0, so
   that nothing that it starts is supervised. The child ends with this process, and after
   transfer_time without progress. Returns 0, 1 (there is no such object or day), or -1 and
   `why`. */
int remote_run(const struct settings *s, struct remote_call *call);

/* Finds the reason of a failure in a program's messages: the first line about an error, without the
   date and the level of a log. Changes `said`. */
const char *remote_cause(char *said);

/* --- objects as files ------------------------------------------------------------------------- */

// remote = file:/DIR: objects as files below a directory, such as a shared mount.
//
// The directory has to exist, so that a missing mount is an error. Files in it get its permissions:
// 0640 in a directory of mode 0750. An object appears whole, under its name, or not at all.

/* Does the work of the call. Returns 0, or -1 with errno after a line on standard error; ENOENT:
   the directory exists, the object or the day does not. */
int directory_run(const char *directory, const struct remote_call *call);

/* Calls `each` for the regular files below the directory `path` until it does not return 0. `each`
   gets a file's path, and the part of that path after the first `top` bytes (0: after `path`).
   Returns the last result of `each`, or -1 with errno. */
int directory_walk(const char *path, size_t top,
		   int (*each)(void *ctx, const char *file, const char *below), void *ctx);

/* How many files directory_walk() would find; -1 with errno: not known. */
int64_t directory_count(const char *path);

/* --- the index -------------------------------------------------------------------------------- */

// The index of the remote: which runs were pushed, without a look at the artifacts themselves.
//
//   index/2026/11/22/07/HOST-cmd-1m7vwf5bqe9c-3.jsonl
//
// A segment has the lines of runs that were moved together: here three runs, whose first one is in
// the name. The hour is when the segment was made, after the ends of its runs. So an hour's
// segments are complete soon after the hour, and a reader that wants the newest runs reads only the
// newest hours. A segment is made in the outbox after the archives were moved: a run that is listed
// can be fetched.
//
// A line is the metadata of a run as in ID.json (artifact/meta.h), with "object_bytes".

/* The longest line and the longest segment that are read. Commands are cut to INDEX_COMMAND bytes,
   so that every line is shorter than INDEX_LINE. */
#define INDEX_LINE    ((size_t)64 * 1024)
#define INDEX_SEGMENT ((int64_t)32 * 1024 * 1024)
#define INDEX_COMMAND ((size_t)1024)

struct remote_index_reader {
	int64_t from_ms, to_ms; /* hours of segments */
	const char *host;       /* the beginning of the machine's name; "": any */
	/* Called for each line, in no order; a run may come twice. Returns 0 to go on. */
	int (*each)(void *ctx, const struct meta *run);
	/* Returns whether to stop; all runs that are not read yet have started before
	   `before_ms`. */
	bool (*enough)(void *ctx, int64_t before_ms);
	void *ctx;
	uint64_t damaged; /* damaged lines */
	char why[REMOTE_WHY];
};

/* Reads the index, the newest hours first. Returns 0, or -1 and `why` ("": no memory). */
int remote_index_read(const struct settings *s, struct remote_index_reader *reader);

/* --- reading an artifact ---------------------------------------------------------------------- */

// Reading from the remote: artifacts come into the session FETCH_SESSION of the store. There they
// are like any others: found by their IDs, and cleaned up.
//
// Nothing that the remote sends is trusted: no more than [spill] max_artifact is taken, and the
// object has to be an archive (archive.h) of the wanted run; anything else leaves nothing behind.

#define FETCH_SESSION "from-remote"

/* Fetches an artifact that is not in the store, by its whole ID. Waits while another process
   fetches something. Returns 0 (the store has it now), 1 (the remote does not have it), or -1 and
   `why_not`. */
int fetch_artifact(const struct settings *s, const char *id, char why_not[REMOTE_WHY]);

#endif
