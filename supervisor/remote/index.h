// The index of the remote: which runs were pushed, without a look at the artifacts themselves.
//
//   index/2026/11/22/07/HOST-cmd-1m7vwf5bqe9c-3.jsonl
//
// A segment has the lines of runs that were moved together, three here, the first of which is in
// its name; the hour is that in which it was made, behind the ends of its runs. So the runs of an
// hour are complete soon after it, and whoever wants the newest ones reads the newest hours only. A
// segment is made in the outbox when the archives have gone: a run that is listed can be fetched.
//
// A line is the metadata of a run as in ID.json (artifact/meta.h), with "object_bytes".
#ifndef TERSE_REMOTE_INDEX_H
#define TERSE_REMOTE_INDEX_H

#include "supervisor/artifact/meta.h"
#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stdint.h>

/* The longest line, and the longest segment that is read; with this much of its command a run's
   line is shorter. */
#define INDEX_LINE    ((size_t)64 * 1024)
#define INDEX_SEGMENT ((int64_t)32 * 1024 * 1024)
#define INDEX_COMMAND ((size_t)1024)

struct index_reader {
	int64_t from_ms, to_ms; /* hours of segments */
	const char *host;       /* the beginning of its name, "": any */
	/* Called for each line, in no order; a run may come twice. Returns 0 to go on. */
	int (*each)(void *ctx, const struct meta *run);
	/* Runs that are not read yet have started before `before_ms`: returns whether to stop. */
	bool (*enough)(void *ctx, int64_t before_ms);
	void *ctx;
	uint64_t damaged; /* lines that are none */
	char why[REMOTE_WHY];
};

/* Reads the index, the newest hours first. Returns 0, or -1 and `why` ("": no memory). */
int index_read(const struct settings *s, struct index_reader *reader);

#endif
