// An artifact as one compressed file that can be passed on.
//
// The file is a zstd frame with a checksum. People can read its content, too:
//
//   terse-archive 1
//   json 0 412              part, offset in its file, length; then so many bytes
//   {"version":1, ...}      and no newline of ours
//   txt 0 262144
//   ...
//   txt 262144 0            length 0: the size of that part's file
//   end
//
// The parts are json (always the first, whole), txt, err.txt, raw, cast and shown. Where a part's
// file has a hole (the gap of a disk cap), no bytes are in the archive either.
#ifndef TERSE_ARTIFACT_ARCHIVE_H
#define TERSE_ARTIFACT_ARCHIVE_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings;

/* Writes the artifact of the session directory `dir`. `tell` (may be NULL) is called now and then
   with how many bytes of how many are read. Returns 0, or -1 with errno (EBUSY: its run still
   writes it). */
int archive_write(int dir, const char *id, int fd,
		  void (*tell)(void *ctx, uint64_t done, uint64_t total), void *ctx);

struct archive_restored {
	char id[ID_LEN + 1];
	bool there; /* it was before: nothing was changed */
	uint64_t lines, bytes;
};

/* Reads an archive, from anywhere, and puts the artifact into `session` (a result of
   store_session_name) of the store. It keeps its ID, which has to be `id`, or may be any if that is
   NULL. Each part may have [spill] max_artifact bytes. Returns 0, or -1 with errno: EBADMSG (it is
   no archive, or damaged), EXDEV (it is not `id`), EEXIST (a run has claimed `id`), EFBIG (a part
   is too large), ENOSPC ...; then nothing is left of it. */
int archive_restore(const struct store *s, const char *session, const char *id, int fd,
		    const struct settings *settings, struct archive_restored *restored);

#endif
