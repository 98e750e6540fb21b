// The artifacts of a session, newest first, found without listing a directory that
// may hold very many.
//
// Format of the file SESSION/recent: one ID and a newline for each artifact, appended
// (O_APPEND, one write) when it is made. Artifacts that were removed since are
// passed over. Without the file, or with one that is damaged, the directory is listed.
#ifndef TERSE_ARTIFACT_RECENT_H
#define TERSE_ARTIFACT_RECENT_H

#include "supervisor/artifact/id.h"

#define RECENT_FILE "recent"

/* Notes a new artifact in its session's directory. Returns 0, or -1 with errno. */
int recent_append(int dir, const char *id);

/* Takes the IDs of artifacts that were removed out of the file, so that passing over them costs
   no time. Safe while others append. Returns 0, or -1 with errno. */
int recent_compact(int dir);

struct recent;

/* Goes through the artifacts of `session` (a result of store_session_name) in all the
   stores given, or of every session when it is NULL (then the directories are listed:
   eight bytes of memory for each artifact). The stores must outlive it. NULL with errno. */
struct recent *recent_open(struct store *stores, int count, const char *session);

/* The next older one. Returns 1, 0 at the end, or -1 with errno. */
int recent_next(struct recent *r, struct id_found *found);

void recent_close(struct recent *r);

#endif
