// Which tests have failed, as the lines of their runner name them, and how that differs from the
// run before.
//
// Names are evidence only where there are as many of them as the runner itself has counted.
#ifndef TERSE_COMPARE_OUTCOME_H
#define TERSE_COMPARE_OUTCOME_H

#include <stdbool.h>
#include <stddef.h>

#define OUTCOME_LEN 448

struct outcome;

/* Returns NULL with errno. */
struct outcome *outcome_new(void);
void outcome_free(struct outcome *o);

/* Takes the next line of the text, or of the one `before`, without its newline. */
void outcome_add_line(struct outcome *o, bool before, const char *line, size_t len);

/* Writes "failed: 2 (new: test_a; fixed: test_c)", or "" if any part of that is not proven.
   `succeeded`: how the run has ended. `new`: not among those that failed before; `fixed`: named as
   passed now; `no longer`: not among those that failed now, of a runner that tells when it has left
   tests out; `the same`: the same ones as before. */
void outcome_compare(char out[OUTCOME_LEN], struct outcome *o, bool succeeded);

#endif
