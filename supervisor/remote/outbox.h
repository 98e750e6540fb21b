// The runs that wait to be pushed, in STORE/outbox, and emptying it into the remote.
//
//   wanted/ID   a run that is to be pushed, made with its artifact; which machine's it is, and its
//               labels, are in its metadata, so another one may archive it, if the store is on a
//               volume that survives. It goes when the archive is there; the directory is there
//               while there may be something to do
//   lines/ID    then its line of the index (remote.h), made before the archive. When that has gone,
//               the line goes into a segment, and then away: after a kill between the two a run
//               may be in two segments
//   new/        archives and segments of the index, under the keys of the remote, to be moved.
//               They do not depend on the store's cleaning
//   lock        locked by who moves; adding: by who archives, or takes out; fetch: by who fetches
//   retry       "FAILURES DUE\nWHY\n": after the remote failed, when to try again (ms since 1970)
//   dropped     "COUNT BYTES\n": what outbox_max has thrown out since terse push said so
//   .archive, .line, .segment, .retry, .dropped   what takes its place by a rename when it is whole
//
// Any number of processes may add at a time; one moves, in a loop until nothing is left. Every step
// leaves the outbox whole, so a process may be killed at any moment: what was begun is done again,
// and an object that is pushed twice is the same object.
//
// After a run its supervisor empties the outbox, when nobody waits for it any more. If another
// process moves, it archives its own run and leaves: that one looks again before it leaves. If the
// remote fails, the process notes when it will try again, after 1 s, 2 s, 4 s ... up to 5 min, and
// stays for an hour; others archive and leave while that time has not come. SIGTERM makes it try
// once more at once, and leave.
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

/* Leaves room for the names in it. */
#define OUTBOX_PATH (PATH_MAX - 256)

struct outbox {
	int dir; /* -1: there is none */
	char path[OUTBOX_PATH];
};

/* Opens that of a store. Returns 0, or -1 with errno. */
int outbox_open(struct outbox *o, const struct store *store, bool make);
void outbox_close(struct outbox *o);

/* Whether a process may have something to do here: its run was noted (`adds`), or something waits,
   and no later attempt of another process has been noted. */
bool outbox_has_work(const struct outbox *o, bool adds);

/* Whether a run with this end is pushed. */
bool outbox_is_wanted(const struct settings *settings, const struct meta *m);

/* The machine of a run, and its labels as JSON: zeroed, and released by buffer_release(). */
struct outbox_origin {
	char host[REMOTE_HOST_LEN + 1];
	struct buffer labels;
};

/* Notes host and labels in the metadata, which point into *origin from then on. A label "$NAME"
   becomes the value of that variable of this process. */
void outbox_describe(const struct settings *settings, struct outbox_origin *origin, struct meta *m);

/* Notes that the run is wanted. Returns 0, or -1 with errno. */
int outbox_want(const struct outbox *o, const char *id);

/* A run that goes on, or has just ended, is not wanted after all. */
void outbox_forget(const struct outbox *o, const char *id);

/* Archives all wanted runs that have ended, within outbox_max. Waits, as outbox_lock(), for another
   process that does so. Returns 0, or -1 with errno: one run could not be archived, and those
   behind it were not tried. */
int outbox_pack(const struct outbox *o, const struct settings *settings, int64_t until_ms);

/* A run was removed: it is no longer pushed, unless its push has begun. Returns whether the run
   waited. */
bool outbox_drop(const struct outbox *o, const char *id);

/* For the holder of the lock: the lines of archives that have gone become a segment, as many as
   it may have. Returns how many, or -1 with errno. */
int64_t outbox_index(const struct outbox *o, int64_t now_ms);

struct outbox_numbers {
	uint64_t a, b;
};

/* The state of the outbox, and what a push has come to. */
struct outbox_state {
	uint64_t waiting, bytes;       /* archives */
	int64_t oldest_ms;             /* start of the first that waits, real time */
	bool index_left;               /* the index is not in the remote as it should be */
	struct outbox_numbers dropped; /* runs and bytes, since outbox_forgive() */
	uint64_t failures;             /* of the remote, one after the other ... */
	char why[REMOTE_WHY];          /* ... the last for this reason; "": not known */
	uint64_t pushed;               /* runs; by outbox_push() */
};
struct outbox_state outbox_look(const struct outbox *o);

/* Notes that the user was told what was dropped. */
void outbox_forgive(const struct outbox *o);

/* Empties it in a process that nobody waits for, with all signals blocked. */
void outbox_stay(const struct outbox *o, const struct settings *settings);

/* Moves all there is, and what comes meanwhile: once or, with `until_ms` (monotonic), as often as
   there is time until then, whether or not another process waits to do so. In the result runs that
   could not be archived wait, too, and `why` tells why something is left. */
struct outbox_state outbox_push(const struct outbox *o, const struct settings *settings,
				int64_t until_ms);

/* Takes one of the locks; waits for its holder until `until_ms` (monotonic; 0: as long as it takes;
   OUTBOX_AT_ONCE: not at all). Returns a descriptor that holds it, or -1 with errno (EWOULDBLOCK:
   somebody has it). */
#define OUTBOX_AT_ONCE 1
int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms);

#endif
