// The outbox, STORE/outbox: the runs that wait to be pushed, and how they get to the remote.
//
//   wanted/ID   a mark: the run is to be pushed. It is made with the artifact, and removed when the
//               archive is there. The metadata name the run's machine and labels, so another
//               machine that has the volume of the store may archive it. The directory exists
//               while there may be something to do
//   lines/ID    the run's line of the index (remote.h), made before the archive. When the archive
//               has been moved, the line goes into a segment and is then removed: after a kill
//               between these steps a run is in two segments
//   new/        archives and segments of the index, under the keys of the remote, to be moved.
//               Cleaning up the store does not touch them
//   lock        locked by the process that moves files; adding: by those that archive or take a run
//               out; fetch: by processes that fetch
//   retry       "FAILURES DUE\nWHY\n": after the remote failed, when to try again (ms since 1970)
//   dropped     "COUNT BYTES\n": what outbox_max has dropped since terse push reported it
//   .archive, .line, .segment, .retry, .dropped   temporary names, renamed when complete
//
// Any number of processes may add runs at the same time. One process moves the files to the remote,
// in a loop until nothing is left. Every step leaves the outbox consistent, so a process may be
// killed at any moment: the next one repeats the step, and an object that is pushed twice is the
// same object.
//
// When a run has ended and its front end has returned, the supervisor empties the outbox. If
// another process is already moving files, the supervisor archives its own run and ends; the other
// process looks for new archives before it ends. If the remote fails, the moving process notes when
// it will try again (after 1 s, 2 s, 4 s ... up to 5 min), and stays for an hour. Until that time
// other processes archive their runs and end. SIGTERM makes the process try once more at once, and
// end.
#ifndef TERSE_REMOTE_OUTBOX_H
#define TERSE_REMOTE_OUTBOX_H

#include "lib/buffer.h"
#include "supervisor/artifact/store.h"
#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stdint.h>

struct meta;

/* Bytes of a label's value. */
#define LABEL_MAX 256

/* The longest path of an outbox; the names below it need some room. */
#define OUTBOX_PATH (PATH_MAX - 256)

struct outbox {
	int dir; /* -1: there is none */
	char path[OUTBOX_PATH];
};

/* Opens the outbox of a store. Returns 0, or -1 with errno. */
int outbox_open(struct outbox *o, const struct store *store, bool make);
void outbox_close(struct outbox *o);

/* Whether this process may have to push: it has noted its run (`adds`), or something waits and no
   other process has noted a later attempt. */
bool outbox_has_work(const struct outbox *o, bool adds);

/* Whether a run that ended like this is to be pushed. */
bool outbox_is_wanted(const struct settings *settings, const struct meta *m);

/* The machine of a run, and its labels as JSON. The owner zeroes the struct, and calls
   buffer_release() for `labels`. */
struct outbox_origin {
	char host[REMOTE_HOST_LEN + 1];
	struct buffer labels;
};

/* Puts host and labels into the metadata, which then point into *origin. A label "$NAME" becomes
   the value of that variable of this process. */
void outbox_describe(const struct settings *settings, struct outbox_origin *origin, struct meta *m);

/* Notes that the run is wanted. Returns 0, or -1 with errno. */
int outbox_want(const struct outbox *o, const char *id);

/* Notes that a run, which is live or has just ended, is not wanted after all. */
void outbox_forget(const struct outbox *o, const char *id);

/* Archives all wanted runs that have ended, within outbox_max. If another process is archiving,
   waits for it like outbox_lock(). Returns 0, or -1 with errno if a run could not be archived; the
   runs after it were not tried then. */
int outbox_pack(const struct outbox *o, const struct settings *settings, int64_t until_ms);

/* Takes a run that was removed out of the outbox, unless its push has begun. Returns whether the
   run waited. */
bool outbox_drop(const struct outbox *o, const char *id);

/* For the holder of the lock: makes a segment from the lines of archives that were moved, from as
   many as a segment may have. Returns the number of lines, or -1 with errno. */
int64_t outbox_index(const struct outbox *o, int64_t now_ms);

struct outbox_numbers {
	uint64_t a, b;
};

/* The state of the outbox, and the result of a push. */
struct outbox_state {
	uint64_t waiting, bytes;       /* archives */
	int64_t oldest_ms;             /* start of the oldest run that waits, real time */
	bool index_left;               /* parts of the index are not in the remote yet */
	struct outbox_numbers dropped; /* runs and bytes, since outbox_forgive() */
	uint64_t failures;             /* of the remote in a row */
	char why[REMOTE_WHY];          /* the reason of the last failure; "": not known */
	uint64_t pushed;               /* runs that outbox_push() has pushed */
};
struct outbox_state outbox_look(const struct outbox *o);

/* Resets `dropped`, after the user has seen it. */
void outbox_forgive(const struct outbox *o);

/* Empties the outbox in a process that nobody waits for, with all signals blocked. */
void outbox_stay(const struct outbox *o, const struct settings *settings);

/* Empties the outbox, including runs that are added meanwhile. Tries once, or, with `until_ms`
   (monotonic), until that time, even while another process waits before its next attempt. In the
   result, `waiting` includes runs that could not be archived, and `why` says why something is
   left. */
struct outbox_state outbox_push(const struct outbox *o, const struct settings *settings,
				int64_t until_ms);

/* Takes one of the locks; waits for its holder until `until_ms` (monotonic; 0: as long as it takes;
   OUTBOX_AT_ONCE: not at all). Returns a descriptor that holds it, or -1 with errno (EWOULDBLOCK:
   another process holds the lock). */
#define OUTBOX_AT_ONCE 1
int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms);

#endif
