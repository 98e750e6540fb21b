// The runs of one command: the same words in the same directory. They are found in the journals.
#ifndef TERSE_ARTIFACT_EARLIER_H
#define TERSE_ARTIFACT_EARLIER_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>

/* Whether both are runs of the same command. */
bool earlier_is_same(const struct meta *a, const struct meta *b);

/* A run that was found, with its metadata and the open directory of its session. */
struct earlier_run {
	bool is_found;
	struct id_found found;
	struct meta meta;
	int dir;
};

/* Finds the newest run of the command of `m` that has ended, is kept, and started before `m`: first
   in `session` (a result of store_session_name), then in every session. Unless `success` is NULL,
   also finds the newest such run that ended with 0. Each search looks at `lines` lines of journals
   at most. Returns 0, or -1 with errno. Release both with earlier_run_release(), even after a
   failure. */
int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 long lines, struct earlier_run *last, struct earlier_run *success);
void earlier_run_release(struct earlier_run *run);

#endif
