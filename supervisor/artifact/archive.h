// An artifact as one compressed file that can be passed on: ID.tar.zst, which tar(1) opens.
//
// The members are the artifact's files: ID.json first, then those of ID.txt, ID.err.txt, ID.raw,
// ID.cast and ID.shown that exist. A text with the gap of a disk cap is two members: ID.txt is the
// text up to and including the line that announces the gap, ID.rest.txt the text from the last byte
// of the gap on (likewise ID.err.txt and ID.rest.err.txt). The archive has no other bytes of the
// gap. The zstd frame has a checksum.
#ifndef TERSE_ARTIFACT_ARCHIVE_H
#define TERSE_ARTIFACT_ARCHIVE_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes the artifact `id` of the session directory `dir` to `fd`. Returns 0, or -1 with errno
   (EBUSY: its run still writes it). */
int archive_write(int dir, const char *id, int fd);

struct archive_restored {
	char id[ID_LEN + 1];
	bool there; /* the artifact was there before: nothing was changed */
	uint64_t lines, bytes;
};

/* Reads an archive, which may come from anywhere, and puts the artifact into `session` (a result of
   store_session_name) of the store. The artifact keeps its ID, which has to be `id` unless `id` is
   NULL. A part that is longer than `max_bytes`, or has a hole that the metadata do not name, is
   refused before a byte of it is written. `min_free` bytes stay free on the disk. Returns 0, or -1
   with errno: EBADMSG (this is not an archive, or is damaged), EXDEV (its ID is not `id`), EEXIST
   (a run has claimed `id`), EFBIG (a part is too large), ENOSPC ...; after an error nothing of the
   artifact is left. */
int archive_restore(const struct store *s, const char *session, const char *id, int fd,
		    uint64_t max_bytes, uint64_t min_free, struct archive_restored *restored);

#endif
