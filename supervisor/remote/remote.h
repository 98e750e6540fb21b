// The remote: a place, such as a bucket, that finished artifacts are moved to and read from, which
// [remote] of the user's or the system's ini file names.
//
//   remote = rclone:NAME:PATH      by rclone, with credentials of its own
//   remote = file:/DIR             a directory that is there, by terse itself (directory.h)
//
// The objects, by their keys:
//
//   artifacts/2026/11/22/07/cmd-1m7vwf5bqe9c.tar.zst   one for each run (artifact/archive.h), by
//   the
//                                                      hour in its ID
//   index/2026/11/22/07/HOST-cmd-1m7vwf5bqe9c-3.jsonl  the runs that were pushed together in that
//                                                      hour (index.h)
//
// None of them is ever changed.
#ifndef TERSE_REMOTE_REMOTE_H
#define TERSE_REMOTE_REMOTE_H

#include "config/settings.h"
#include "supervisor/artifact/id.h"

#include <stdbool.h>
#include <stdint.h>

#define REMOTE_ARTIFACTS "artifacts"
#define REMOTE_INDEX     "index"

#define REMOTE_KEY_LEN  160
#define REMOTE_HOST_LEN 64
#define REMOTE_WHY      256

#define REMOTE_HOUR_MS ((int64_t)60 * 60 * 1000)

/* Whether there is one that runs are pushed to. */
bool remote_pushes(const struct settings *s);

/* The directory of file:/DIR, else NULL. */
const char *remote_directory(const struct settings *s);

/* "2026/11/22/07", UTC. */
#define REMOTE_HOUR_LEN 13
void remote_hour(int64_t ms, char hour[REMOTE_HOUR_LEN + 1]);

/* The key of an artifact; an ID holds the hour. */
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
	uint32_t hours;       /* bit 7: 07 */
	const char *host;     /* their names begin so */
	int64_t most;         /* > 0: no larger file is written */
	int64_t until_ms;     /* monotonic; 0: [remote] transfer_time alone counts */
	char why[REMOTE_WHY]; /* of a failure, on one line */
};

/* Does it, in a process of its own: without a terminal and without standard input, with TERSE=0, so
   that nothing it starts is supervised; it ends with this process, and after transfer_time without
   progress. Returns 0, 1 (there is no such object or day), or -1 and `why`. */
int remote_run(const struct settings *s, struct remote_call *call);

/* What a program said of its failure: the first line that tells an error, without the date and the
   level of a log. `said` is changed. */
const char *remote_cause(char *said);

#endif
