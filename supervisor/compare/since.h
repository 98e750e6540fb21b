// The last run of the same command: how it ended, whether its text was the same, and which tests
// failed then and now; and the lines of the last run that succeeded. The last run is looked for in
// the session, then in the whole store; its text has to be kept.
#ifndef TERSE_COMPARE_SINCE_H
#define TERSE_COMPARE_SINCE_H

#include "lib/fingerprint.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>

/* The run that has ended now. */
struct since_run {
	const struct meta *meta;
	const struct artifact *artifact; /* its files are complete */
	/* If this run has failed, called with the lines of the command's last run that succeeded:
	   once for its text, once for its standard error. */
	void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines);
	void *ctx;
};

/* Compares the run with the last one. If there is none, or anything fails, out->id is "". */
void since_look(struct wording_since *out, const struct since_run *run);

#endif
