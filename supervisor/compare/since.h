// The last run of the same command: how it ended, whether its text was the same, and which tests
// failed then and now; and what the last one that succeeded has said. The last run is that of the
// session, else of the store, whose text was kept.
#ifndef TERSE_COMPARE_SINCE_H
#define TERSE_COMPARE_SINCE_H

#include "lib/fingerprint.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>

/* A run that has ended. */
struct since_run {
	const struct meta *meta;
	const struct artifact *artifact; /* written completely */
	/* Called with the lines of the command's last run that succeeded, if this one did not: of
	   its text, or of its standard error. */
	void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines);
	void *ctx;
};

/* Compares it with the run before, and makes it the last one. Without a run before, and where
   anything fails, out->id is "". */
void since_look(struct wording_since *out, const struct since_run *run);

#endif
