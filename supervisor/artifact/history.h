// The runs of a session, or of all, with and without artifacts, the newest end first: what
// meta_append_history() wrote to SESSION/history.jsonl, read from its end backwards, so that the
// time to find the newest does not depend on how many there are.
#ifndef TERSE_ARTIFACT_HISTORY_H
#define TERSE_ARTIFACT_HISTORY_H

#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdint.h>

struct history;

/* Of `session` (a result of store_session_name) in all the stores given, or of every session when
   it is NULL. The stores must outlive it. NULL with errno. */
struct history *history_open(struct store *stores, int count, const char *session);

/* The run that ended before. *m is valid until the next call. Returns 1, 0 at the end, or -1
   with errno. Lines that are damaged are passed over. */
int history_next(struct history *h, struct meta *m);

/* How many lines were damaged. */
uint64_t history_damaged(const struct history *h);

void history_close(struct history *h);

/* Splits what is read backwards into lines: finds the last line of the first `end` bytes of the
   file, without its newline, and stores at most `cap` bytes of it. Sets *start to where it begins
   and *len to its length, which may be more than `cap`. Returns 1, 0 if there is none, or -1 with
   errno. */
int history_last_line(int fd, uint64_t end, char *line, size_t cap, uint64_t *start, size_t *len);

#endif
