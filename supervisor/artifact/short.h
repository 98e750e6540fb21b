// Short texts: records of runs whose text fits into a few pages, in place of files of their own.
//
//   SESSION/cmd-1m7v.texts  the records of the runs whose IDs begin like this (they started within
//                           nine hours), in one sequence
//   SESSION/cmd-1m7v.link   a symbolic link whose text is SESSION+BASE
//   STORE/ids/ID            a hard link to that link: the record's place follows from ID and BASE.
//                           For a run that got its ID before its end, a symbolic link with another
//                           base
//
// A record has the content of ID.json, ID.txt, ID.err.txt and ID.shown (artifact.h). It is written
// at the end of its file, under an exclusive lock, before the link. The link is what keeps the run,
// so if a process is killed, a text is stored completely or not at all. A checksum covers the
// record, its ID and its place, so that a reader gets either the text of that ID or EBADMSG. A
// record begins at a multiple of a cell's size. The last digits of the ID, minus the base, are the
// number of cells before the record, modulo ID_DRAWS. So one symbolic link serves all these runs;
// on some file systems a new inode for each run would cost more than all the rest. The base is
// random, so that runs of the same millisecond in other sessions and stores have other IDs.
//
// A run is removed by removing its link. short_sweep() then overwrites all records without a link,
// including those that a killed process has left.
#ifndef TERSE_ARTIFACT_SHORT_H
#define TERSE_ARTIFACT_SHORT_H

#include "lib/buffer.h"
#include "supervisor/artifact/id.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct meta;

/* The most bytes of text, including standard error. */
#define SHORT_MOST ((size_t)16 * 1024)

/* The text of a link: a session; for a short text then "+" and the base. */
#define SHORT_LINK (STORE_SESSION_LEN + 24)

struct short_place {
	bool is_short;
	bool is_whole; /* it has a base */
	uint64_t base;
	char session[STORE_SESSION_LEN + 1]; /* "": it is not the name of a session */
};

/* Reads the link of an ID in STORE/ids. Returns 0, or -1 with errno. */
int short_follow(int ids, const char *id, struct short_place *place);

/* The bytes of the run's record; 0: there is none. */
uint64_t short_bytes(int dir, const char *id);

/* Whether the run is kept as a short text. `dir`: its session's directory. Sets errno if not
   (ENOENT: certainly not). */
bool short_is(int dir, const char *id);

/* Keeps the parts of a run that has ended, and its metadata, in its session's directory; NULL:
   there is no such part. A run without an ID gets one. ARTIFACT_SHOWN needs only its first line if
   the rest equals ARTIFACT_OUT. If less than `min_free` bytes are free, the disk counts as full,
   unless the record fits into the file's last block. Returns 0, or -1 with errno, nothing stored
   and *m unchanged. */
int short_add(int dir, struct meta *m, uint64_t min_free,
	      const struct buffer *const parts[ARTIFACT_JSON]);

/* Reads the record of a run and finds a part in it. *found need not be initialized. The caller
   releases `record`, even after a failure. Returns 0, or -1 with errno (ENOENT: there is no record;
   EBADMSG: it is damaged). */
struct short_part {
	struct buffer record;
	const char *data; /* in `record` */
	size_t len;
};
int short_read(int dir, const char *id, enum artifact_part part, struct short_part *found);

/* Locks the file of records that the run would be in, so that no process removes the run or turns
   it into files meanwhile. Returns a descriptor, which unlocks when it is closed, or -1 with errno
   (ENOENT: there is no such file). */
int short_lock(int dir, const char *id);

/* Turns a short text into files, for a caller that needs their paths. Returns 0, even if the run
   has no short text, or -1 with errno. */
int short_unpack(int dir, const char *id);

/* Whether a file of this name in a session's directory has records. */
bool short_is_file(const char *name);

/* Calls `each` (may be NULL) for the records of such a file that have a link, until it returns
   something other than 0. `sweeps`: overwrites the other records, as short_sweep() does. Returns 0,
   or -1 with errno. */
int short_walk(int dir, const char *session, const char *name, bool sweeps,
	       int (*each)(void *ctx, const char *id, uint64_t bytes), void *ctx);

/* Overwrites the records of removed runs in the session's directory, and removes files that have no
   run left. Returns 0, or -1 with errno when something could not be overwritten. */
int short_sweep(int dir, const char *session);

#endif
