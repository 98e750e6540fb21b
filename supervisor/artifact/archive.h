// An artifact as one compressed file that can be passed on: ID.tar.zst, which tar(1) opens.
//
// The members are the artifact's files: ID.json first, then what there is of ID.txt, ID.err.txt,
// ID.raw, ID.cast and ID.shown. A text with the gap of a disk cap is two members: ID.txt up to the
// line that announces the gap, ID.rest.txt from the byte before its end on (ID.err.txt and
// ID.rest.err.txt likewise); between them nothing is kept. The zstd frame has a checksum.
#ifndef TERSE_ARTIFACT_ARCHIVE_H
#define TERSE_ARTIFACT_ARCHIVE_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes the artifact of the session directory `dir`. Returns 0, or -1 with errno (EBUSY: its run
   still writes it). */
int archive_write(int dir, const char *id, int fd);

struct archive_restored {
	char id[ID_LEN + 1];
	bool there; /* it was before: nothing was changed */
	uint64_t lines, bytes;
};

/* Reads an archive, from anywhere, and puts the artifact into `session` (a result of
   store_session_name) of the store. It keeps its ID, which has to be `id`, or may be any if that is
   NULL. Each part may have `max_bytes`, and no hole that its metadata do not tell of; what has more
   is refused before a byte of it is written. `min_free` bytes stay free on the disk. Returns 0, or
   -1 with errno: EBADMSG (it is no archive, or damaged), EXDEV (it is not `id`), EEXIST (a run has
   claimed `id`), EFBIG (a part is too large), ENOSPC ...; then nothing is left of it. */
int archive_restore(const struct store *s, const char *session, const char *id, int fd,
		    uint64_t max_bytes, uint64_t min_free, struct archive_restored *restored);

#endif
