// The last run of the same command: how it ended, whether its text was the same, and which tests
// failed then and now; and the lines of the last run that succeeded. The last run is looked for in
// the session, then in the whole store; its text must have been kept.
#ifndef TERSE_COMPARE_SINCE_H
#define TERSE_COMPARE_SINCE_H

#include "lib/fingerprint.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/text.h"
#include "supervisor/report/wording.h"

#include <stdbool.h>

/* Compares a run that has ended, and whose files in the session directory `dir` are complete, with
   the last one. If there is none, out->id is "". If the run has failed, `success` is called with
   the lines of the command's last run that succeeded: once for its text, once for its standard
   error. */
void since_look(struct wording_since *out, const struct meta *m, int dir,
		void (*success)(void *ctx, bool is_stderr, const struct fingerprints *lines),
		void *ctx);

/* Finds out which tests have failed, by the names that a test runner prints. `texts`: standard
   output and error of the run, then those of the run before, all complete. Sets out->tests to
   "failed: 2 (new: test_a; fixed: test_c)", or leaves it as it is if a part of that is not certain:
   names are relied on only if there are as many of them as the runner itself has counted.
   `succeeded`: the run's exit status was 0. A "new" test did not fail before. A "fixed" one failed
   before and passed now. A "no longer" one failed before, and a runner that says what it leaves out
   does not name it now. "the same": the same tests failed before. */
void since_compare_tests(struct wording_since *out, struct text texts[4], bool succeeded);

#endif
