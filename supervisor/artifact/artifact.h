// Writing an artifact: the text of a run on disk, and its metadata beside it.
//
//   SESSION/ID.txt      text (standard output, or both streams merged)
//           ID.err.txt  text of standard error, where kept apart
//           ID.raw      raw bytes, where kept
//           ID.cast     a recording with times (process/supervisor_internal.h), where wanted
//           ID.shown    what a reader was shown of it (artifact_keep_shown())
//           ID.json     metadata (meta.h)
//           ID.idx, ID.err.idx  line index (index.h)
//           journal.jsonl  what happened in the session (journal.h)
//
// Text is collected and written in large writes. While the run lives, each text file ends with the
// part that is not final yet (artifact_set_live), which is rewritten in place: a reader sees what a
// person would see, and a kill at any moment leaves the file like that.
//
// If a stream is longer than `max_bytes`, the first half of that many bytes stays, and the rest
// becomes a rolling tail. The whole lines between the two are released by punching a hole into the
// file, so offsets stay as they are; only a very long line is cut inside. One line at the start of
// the gap announces it. ID.json has the gap before the hole is made. If the file system can't punch
// holes, the text ends there (EFBIG). Only the first `max_bytes` of raw bytes and of a recording
// are kept.
//
// The first failed write (disk full, ...) ends that stream's writing for good: the bytes written so
// far stay, artifact_error() returns the error, and later calls count bytes but write none.
#ifndef TERSE_ARTIFACT_ARTIFACT_H
#define TERSE_ARTIFACT_ARTIFACT_H

#include "supervisor/artifact/id.h"
#include "supervisor/artifact/meta.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct artifact;

/* Writes of final text end at offsets that are multiples of this. The kernel uses large pages for
   them, and needs half the time. */
#define ARTIFACT_WINDOW ((size_t)256 * 1024)

/* Claims an ID, creates ID.txt (locked by this process as long as the artifact is open,
   close-on-exec) and ID.json, in the first store where all of that succeeds. `meta` has the
   command, cwd, session, start and state. If it has an ID, which the caller has claimed, the
   artifact uses that ID; otherwise a new ID is filled in. The artifact uses *meta until
   artifact_close(). `max_bytes` 0: no cap. Where less than `min_free` bytes are free the disk
   counts as full. NULL with errno. */
struct artifact *artifact_create(struct meta *meta, uint64_t max_bytes, uint64_t min_free);

/* Appends the next final bytes of a part. Returns 0, or -1 if this or an earlier write has failed.
   The first use creates the file of a part other than ID.txt. Final bytes replace the live part,
   which the caller sets again afterwards. If the old live part began with them, its rest may stay
   until then. */
int artifact_append(struct artifact *a, enum artifact_part part, const char *data, size_t len);

/* Creates the file of a part even if nothing is written to it. */
void artifact_use(struct artifact *a, enum artifact_part part);

/* Replaces the unfinished end of a text part, and writes everything collected so far. Returns as
   artifact_append(). */
int artifact_set_live(struct artifact *a, enum artifact_part part, const char *data, size_t len);

/* Ends the recording of a text part that background processes may still write to. Adds a line that
   says so, with the reason `why` ("silent for 10 min 0 s"). Returns as artifact_append(). */
int artifact_end_recording(struct artifact *a, enum artifact_part part, const char *why);

/* The errno of the first failed write, or 0. */
int artifact_error(const struct artifact *a);

/* Call it when the command has ended, or when a part grew afterwards: writes out everything, brings
   the counts in *meta up to date (with the live part) and replaces ID.json. The caller sets state,
   ended_ms, exit_code ... before. Returns 0, or -1 with errno when ID.json could not be written;
   artifact_error() is about the text. */
int artifact_update(struct artifact *a);

/* The open directory of its session, which the artifact owns. */
int artifact_directory(const struct artifact *a);

/* Writes the absolute path of a part to `out`. Returns false if the part has no file. */
bool artifact_part_path(const struct artifact *a, enum artifact_part part, char out[PATH_MAX]);

/* Writes ID.shown, once the reader has everything: first a line with a JSON object, which has the
   ranges of lines that were shown ("stdout", "stderr": [[FROM,TO]...], in the order shown) and the
   number of "bytes" that were printed; then these bytes, or a first part of them. Returns 0, or -1
   with errno. */
int artifact_keep_shown(const struct artifact *a, const char *data, size_t len);

/* Closes the files and frees. Writes nothing: call artifact_update() before. */
void artifact_close(struct artifact *a);

#endif
