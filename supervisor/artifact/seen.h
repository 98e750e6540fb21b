// How much time a store has seen pass, by which the age of what is in it counts: a clock that jumps
// makes nothing old.
//
// STORE/gc is looked at whenever the store is cleaned up, and its time is when that was last. Of
// the time between two looks at most SEEN_STEP_MS count. The rest went by unseen: the clock was
// set, or nothing ran. Each such time is a line of the file, "END UNSEEN\n", in milliseconds.
#ifndef TERSE_ARTIFACT_SEEN_H
#define TERSE_ARTIFACT_SEEN_H

#include <stdbool.h>
#include <stdint.h>

/* Under a day, after which the artifacts of a session that has ended go. */
#define SEEN_STEP_MS ((int64_t)23 * 60 * 60 * 1000)
#define SEEN_GAPS    32

struct seen {
	struct {
		int64_t end_ms, unseen_ms;
	} gaps[SEEN_GAPS]; /* the oldest first */
	int count;
};

/* Looks at the open file, at this time. `keep`: it is written to. Without a file (-1) all time was
   seen. */
void seen_look(struct seen *s, int fd, int64_t now_ms, bool keep);

/* How old something is by the clock when it is of this age by the time that was seen. */
int64_t seen_age(const struct seen *s, int64_t now_ms, int64_t age_ms);

#endif
