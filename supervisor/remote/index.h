// The index of the remote: which runs were pushed, without a look at the artifacts themselves.
//
//   index/2026/11/22/07/HOST-cmd-1m7vwf5bqe9c-3.jsonl
//
// A segment has the lines of runs that were moved together, three here, the first of which is in
// its name; the hour is that in which it was made, behind the ends of its runs. So the runs of an
// hour are complete soon after it, and whoever wants the newest ones reads the newest hours only. A
// segment is made in the outbox when the archives have gone: a run that is listed can be fetched.
//
// A line: {"run":{...},"host":"...","container":null,"labels":{...},"object_bytes":4711}, "run" as
// in ID.json (artifact/meta.h).
#ifndef TERSE_REMOTE_INDEX_H
#define TERSE_REMOTE_INDEX_H

#include "supervisor/artifact/meta.h"
#include "supervisor/remote/outbox.h"
#include "supervisor/remote/remote.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The longest line. */
#define INDEX_LINE ((size_t)64 * 1024)

/* Appends the line of a run with a newline; `note` is what its file below wanted/ has (outbox.h).
   Returns 0, or -1 with ENOMEM. */
int index_encode(struct buffer *out, const struct meta *m, json_t *note, uint64_t object_bytes);

/* Makes segments of the lines whose archives are moved. For the holder of the lock. Returns how
   many lines they have; *error is 0, or errno if some are left. */
uint64_t index_make(const struct outbox *o, int64_t now_ms, int *error);

/* How many segments wait. */
uint64_t index_waits(const struct outbox *o);

struct index_run {
	struct meta meta;                      /* as from meta_parse() */
	const char *host, *container, *labels; /* "job=4812 team=a"; "" where there is none */
	const char *labels_json;               /* an object of strings, in ASCII */
	uint64_t object_bytes;
};

struct index_reader {
	int64_t from_ms, to_ms; /* hours of segments */
	const char *host;       /* the beginning of its name, "": any */
	/* Called for each line, in no order; a run may come twice. Returns 0 to go on. */
	int (*each)(void *ctx, const struct index_run *run);
	/* Runs that are not read yet have started before `before_ms`: returns whether to stop. */
	bool (*enough)(void *ctx, int64_t before_ms);
	void *ctx;
	uint64_t damaged; /* lines that are none */
	char why[REMOTE_WHY];
};

/* Reads the index, the newest hours first. Returns 0, or -1 and `why` ("": no memory). */
int index_read(const struct settings *s, struct index_reader *reader);

#endif
