// The artifacts of a session, newest first, found without listing a directory that may hold very
// many.
//
// The file SESSION/recent has one ID and a newline for each artifact, appended when it is made.
// Removed artifacts are skipped. Without the file, or with a damaged one, the directory is listed.
#ifndef TERSE_ARTIFACT_HISTORY_H
#define TERSE_ARTIFACT_HISTORY_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

struct history;
struct recent;

#define RECENT_FILE "recent"

/* Notes a new artifact in its session's directory. Returns 0, or -1 with errno. */
int recent_append(int dir, const char *id);

/* Takes the IDs of removed artifacts out of the file, so that skipping them costs no time. Safe
   while others append. Returns 0, or -1 with errno. */
int recent_compact(int dir);

/* Goes through the artifacts of `session` (a result of store_session_name) in all the stores given,
   or of every session when it is NULL (then the directories are listed: eight bytes of memory for
   each artifact). The stores must outlive it. NULL with errno. */
struct recent *recent_open(struct store *stores, int count, const char *session);

/* The next older one. Returns 1, 0 at the end, or -1 with errno. */
int recent_next(struct recent *r, struct id_found *found);

void recent_close(struct recent *r);

// The runs of a session, or of all, with and without artifacts, the newest end first: what
// meta_append_history() wrote to SESSION/history.jsonl, read backwards, so that the time to find
// the newest does not depend on how many there are.

/* Opens the history of `session`, or of every session, as recent_open() does. */
struct history *history_open(struct store *stores, int count, const char *session);

/* The run that ended before. *m is valid until the next call. Returns 1, 0 at the end, or -1 with
   errno. Damaged lines are skipped. */
int history_next(struct history *h, struct meta *m);

/* The number of damaged lines. */
uint64_t history_damaged(const struct history *h);

void history_close(struct history *h);

/* Splits what is read backwards into lines: finds the last line of the first `end` bytes of the
   file, without its newline, and stores at most `cap` bytes of it. Sets *start to where it begins
   and *len to its length, which may be more than `cap`. Returns 1, 0 if there is none, or -1 with
   errno. */
int history_last_line(int fd, uint64_t end, char *line, size_t cap, uint64_t *start, size_t *len);

#endif
