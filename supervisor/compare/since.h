// What has changed since the last run of the same command: how that ended, which lines that tell of
// a failure are new or gone, whether the texts are the same. The last run is that of the session,
// else of the store, whose text was kept.
#ifndef TERSE_COMPARE_SINCE_H
#define TERSE_COMPARE_SINCE_H

#include "lib/fingerprint.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run that has ended. */
struct since_run {
	const struct meta *meta;
	const struct artifact *artifact; /* written completely */
	/* Its lines that tell of a failure (artifact/earlier.h), which are all of them, or not. Of
	   one that succeeded none count. */
	const uint64_t *failures;
	size_t failure_count;
	bool all_failures;
	/* Called with the lines of the command's last run that succeeded, if this one did not: of
	   its text, or of its standard error. */
	void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines);
	void *ctx;
};

/* Joins two sorted lists of fingerprints in the first of them, which grows. Returns that; without
   memory it has what it had. */
const uint64_t *since_join(uint64_t **prints, size_t *count, const uint64_t *more,
			   size_t more_count);

/* Compares it with the run before, and makes it the last one. Without a run before, and where
   anything fails, out->id is "". */
void since_look(struct wording_since *out, const struct since_run *run);

#endif
