// Which tests have failed, by the names that a test runner prints, and which failed in the run
// before.
//
// Names are relied on only if there are as many of them as the runner itself has counted.
#ifndef TERSE_COMPARE_OUTCOME_H
#define TERSE_COMPARE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#define OUTCOME_LEN 448

struct outcome;

/* Returns NULL with errno. */
struct outcome *outcome_new(void);
void outcome_free(struct outcome *o);

/* Takes the next line, without its newline, of the text or, with `before`, of the text of the run
   before. */
void outcome_add_line(struct outcome *o, bool before, const char *line, size_t len);

/* Writes "failed: 2 (new: test_a; fixed: test_c)", or "" if a part of that is not certain.
   `succeeded`: the run's exit status was 0. "new" has not failed before; "fixed" has failed before,
   and passed now; "no longer" has failed before, and is not named now by a runner that says what it
   leaves out; "the same": the same tests have failed before. */
void outcome_compare(char out[OUTCOME_LEN], struct outcome *o, bool succeeded);

#endif
