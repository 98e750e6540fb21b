// The runs of one command: the same words in the same directory.
//
// STORE/commands/HASH      symbolic link to "SESSION/ID": the last artifact of that command
//                HASH.ok   its last one that ended with 0
//
// The hash is that of words and directory; who follows a link checks them.
#ifndef TERSE_ARTIFACT_EARLIER_H
#define TERSE_ARTIFACT_EARLIER_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether both are runs of the same command. */
bool earlier_is_same(const struct meta *a, const struct meta *b);

/* Finds the newest artifact of the command of `m` that is older than its own: in the session
   first (a result of store_session_name), then in every one. Returns 1, 0 if there is none among
   the artifacts that are looked at (thousands), or -1 with errno. */
int earlier_find(struct store *stores, int count, const char *session, const struct meta *m,
		 struct id_found *found);

/* The same quickly, at the end of a run: by the end of the session's history (in `dir`), then by
   the link. Of a `success` the link alone. Fills in the found run's metadata, which the caller
   releases, and *found. Returns whether there is one. */
bool earlier_look_up(struct store *s, const char *session, int dir, const struct meta *m,
		     bool success, struct id_found *found, struct meta *other);

/* The artifact of `m` in `session`, which has ended, is the last one of its command. Returns 0, or
   -1 with errno. */
int earlier_note(const struct store *s, const char *session, const struct meta *m);

/* Removes links to artifacts that are gone. */
void earlier_sweep(const struct store *s);

// The lines of a failed run that tell of a failure, as fingerprints (lib/fingerprint.h), sorted and
// each once:
//
//   ID.fail   "tersefa1", then each fingerprint in eight bytes, the lowest first

/* Returns 0, or -1 with errno. */
int failures_write(int dir, const char *id, const uint64_t *prints, size_t count);

/* Reads them into memory that the caller frees. Returns 0, or -1 with errno (EBADMSG: it is
   none of our files; ENOENT). */
int failures_read(int dir, const char *id, uint64_t **prints, size_t *count);

#endif
