// The runs of one command: the same words in the same directory.
//
//   STORE/commands   a line for each run that was previewed, in the order of their ends
//   (journal.h):
//                    the hash of its command, its ID, how it ended, its session
//
// Who finds a run there checks its words and directory, and whether it is still there.
#ifndef TERSE_ARTIFACT_EARLIER_H
#define TERSE_ARTIFACT_EARLIER_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>

/* Whether both are runs of the same command. */
bool earlier_is_same(const struct meta *a, const struct meta *b);

/* Finds the newest artifact of the command of `m` that is older than its own: in the session
   first (a result of store_session_name), then in every one. Returns 1, 0 if there is none among
   the artifacts that are looked at (thousands), or -1 with errno. */
int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found);

/* A run that was found, with its metadata and the open directory of its session. */
struct earlier_run {
	bool is_found;
	struct id_found found;
	struct meta meta;
	int dir;
};

/* Finds quickly, at the end of a run, among the last runs that were noted: the newest of the same
   command, in its session (a result of store_session_name) if there is one; and the newest one in
   any session that ended with 0 (`success` may be NULL). earlier_run_release() both. */
void earlier_look_up(struct store *s, const char *session, const struct meta *m,
		     struct earlier_run *last, struct earlier_run *success);
void earlier_run_release(struct earlier_run *run);

/* Notes the run of `m` in `session`, which has ended. Returns 0, or -1 with errno. */
int earlier_note(const struct store *s, const char *session, const struct meta *m);

/* Takes out runs whose artifacts are gone. */
void earlier_sweep(const struct store *s);

#endif
