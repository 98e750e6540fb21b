// Artifact IDs: "cmd-", nine base-32 digits of the start time in milliseconds, and three that are
// random or encode a record's place (short.h). They sort by time as text. Digits: 0-9 a-z without i
// l o u.
#ifndef TERSE_ARTIFACT_ID_H
#define TERSE_ARTIFACT_ID_H

#include "supervisor/artifact/store.h"

#include <stdbool.h>
#include <stdint.h>

#define ID_LEN 16 /* characters, without the NUL */

/* How many IDs a millisecond has. */
#define ID_DRAWS 32768u

/* Claims an ID for `session` (a result of store_session_name) in the store: the one in `id`, or a
   new one if that is "". Nobody else gets the same ID, even when clocks step. Returns 0, or -1 with
   errno (EEXIST: the ID is taken). */
int id_claim(const struct store *s, const char *session, int64_t started_ms, char id[ID_LEN + 1]);

/* Makes a random ID for the millisecond `started_ms`. Returns 0, or -1 with errno. */
int id_draw(int64_t started_ms, char id[ID_LEN + 1]);

/* Gives a claimed ID back, and keeps errno. */
void id_release(const struct store *s, const char *id);

/* Whether the artifact with this whole ID exists. */
bool id_exists(const struct store *s, const char *id);

/* Whether `session` has claimed the ID, according to the first store that has the ID. */
bool id_is_of(const struct store *stores, int count, const char *id, const char *session);

/* Whether `text` has the form of a whole ID. */
bool id_is_valid(const char *text);

/* The files of an artifact: ID and suffix. Files from ARTIFACT_ARCHIVED on are not archived, since
   they can be made from the others. */
enum artifact_part {
	ARTIFACT_OUT,
	ARTIFACT_ERR,
	ARTIFACT_RAW,
	ARTIFACT_CAST,
	ARTIFACT_PARTS, /* the number of files that are written as streams (artifact.h) */
	ARTIFACT_SHOWN = ARTIFACT_PARTS,
	ARTIFACT_JSON,
	ARTIFACT_ARCHIVED,
	ARTIFACT_OUT_INDEX = ARTIFACT_ARCHIVED,
	ARTIFACT_ERR_INDEX,
	ARTIFACT_FILES,
};
extern const char *const artifact_suffixes[ARTIFACT_FILES];

/* Makes the file's name, after `prefix`, which has one character at most. */
#define ID_FILE_NAME (ID_LEN + 16)
void id_file_name(const char *prefix, const char *id, enum artifact_part part,
		  char name[ID_FILE_NAME]);

/* Opens a file of the artifact in its session's directory, with store_open_file(). */
int id_open_file(int dir, const char *id, enum artifact_part part, int flags);

/* Opens a file of the artifact for reading. For a short text (short.h) it opens a copy of what that
   file would have. */
int id_open_text(int dir, const char *id, enum artifact_part part);

/* Removes all files of the artifact in the directory, temporary ones too, the text first. Adds the
   bytes that this frees on disk to *freed. Returns whether there was a text, or -1 with errno if
   the text can't be removed: then all files stay. */
int id_remove_files(int dir, const char *id, uint64_t *freed);

/* Whether the file exists. If not, sets errno. */
bool id_has_file(int dir, const char *id, enum artifact_part part);

/* Whether the text of a run is kept in its session's directory. If not, sets errno. */
bool id_is_kept(int dir, const char *id);

/* Returns which file of an artifact has this name (ARTIFACT_FILES: none), and takes the ID from the
   name. */
enum artifact_part id_of_file(const char *name, char id[ID_LEN + 1]);

/* The start time in an ID, in milliseconds. */
int64_t id_time_ms(uint64_t packed);

/* The first ID of that millisecond, packed. */
uint64_t id_first_at(int64_t ms);

/* Converts an ID's twelve digits to a number that sorts as the text does, and back. */
uint64_t id_pack(const char *id);
void id_unpack(uint64_t packed, char id[ID_LEN + 1]);

/* Compares items that begin with a packed ID, for qsort(3) and bsearch(3). */
int id_compare(const void *a, const void *b);

/* Whether `name` is a whole ID, a file of an artifact ("ID.txt" ...), or a path to one; takes the
   ID from it. */
bool id_is_whole(const char *name, char id[ID_LEN + 1]);

struct id_found {
	struct store *store; /* one of the caller's stores */
	char session[STORE_SESSION_LEN + 1];
	char id[ID_LEN + 1];
};

/* The run is known, but its artifact was not kept, or was removed. */
#define LAST_UNKEPT ENODATA

/* Finds the artifact that `name` means: an ID, "ID.txt" (or any other file of an artifact, or a
   path that ends in it), a unique prefix of an ID with at least one digit, "last" or "last-N".
   Returns 0, or -1 with errno; ENOENT: there is none; EEXIST: the prefix is not unique; EINVAL:
   `name` is none of these.

   "last" is the run of `session` that started last among those that have ended or have an artifact.
   "last-N" is the N-th run before it. Runs of terse's own verbs (config/profile.h), with which an
   agent reads earlier output, do not count. If that run has no artifact, errno is LAST_UNKEPT. */
int id_find(struct store *stores, int count, const char *session, const char *name,
	    struct id_found *found);

#endif
