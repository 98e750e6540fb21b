// Who is whose child, as /proc tells it: from the lists that the kernel keeps of the children of
// each thread, or, where it keeps none (no CONFIG_PROC_CHILDREN), from one pass over all processes.
#ifndef TERSE_PROCESS_KIN_H
#define TERSE_PROCESS_KIN_H

#include "supervisor/base/buffer.h"

#include <stdbool.h>
#include <sys/types.h>

/* Zeroed: nothing is known yet. To be used for one question and released, since it grows stale. */
struct kin {
	bool passes;       /* the lists are not to be asked */
	struct buffer all; /* of struct kin_pair: what the pass found */
};

/* Puts the PIDs (pid_t) of the children of `parent` into `out`, which is emptied first. Who is its
   child from before the call to its end is among them. Without memory some may be missing: then
   the result is -1, else 0. */
int kin_children(struct kin *k, pid_t parent, struct buffer *out);

/* The same of every process of which `parent` is the ancestor through no one who has ended: parents
   first. */
int kin_descendants(struct kin *k, pid_t parent, struct buffer *out);

/* Forgets what a pass has found, so that the next question begins a new one. */
void kin_release(struct kin *k);

#endif
