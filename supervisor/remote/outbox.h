// What waits to be pushed, in STORE/outbox, and emptying it into the remote.
//
//   wanted/ID           a run that is to be pushed, made with its artifact; which machine's it is,
//   and
//                       its labels, are in its metadata, so another one may archive it, if the
//                       store is on a volume that survives
//   wanted/ID.tar.zst   in its place once the run has ended: its archive, which does not depend on
//                       the store's cleaning. The directory is there while there may be something
//                       to do
//   new/                what is moved now, under the keys of the remote: archives, and segments of
//                       the index (index.h)
//   moving              the lines of these archives, made from them. When they have gone this file
//                       becomes a segment, so a run is in one, once; what has not gone waits again
//   lock, waiter, adding, hold, fetch   locks
//   retry       "FAILURES DUE\nWHY\n": after the remote failed, when to try again (ms since 1970)
//   dropped     "COUNT BYTES\n": what outbox_max has thrown out since terse push said so
//   .outbox.*   a file that is being written, locked as long; it takes its place by a rename
//
// Any number of processes may add at a time; one moves, in a loop until nothing is left. Every step
// leaves the outbox whole, so a process may be killed at any moment: what was begun is done again,
// and an object that is pushed twice is the same object.
//
// After a run its supervisor empties the outbox, when nobody waits for it any more. If another
// process holds the lock, it archives its own run and leaves: the holder looks again before it lets
// go. While the remote fails one process stays, tries again after 1 s, 2 s, 4 s ... up to 5 min,
// and leaves after an hour; then the next run or `terse push` goes on. SIGTERM makes it try once
// more at once, and leave.
#ifndef TERSE_REMOTE_OUTBOX_H
#define TERSE_REMOTE_OUTBOX_H

#include "lib/buffer.h"
#include "supervisor/artifact/store.h"
#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
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

/* Whether there may be something to push. One system call. */
bool outbox_has_work(const struct outbox *o);

/* Whether a run with this end is pushed. */
bool outbox_is_wanted(const struct settings *settings, const struct meta *m);

#define OUTBOX_CONTAINER 12

/* The machine of a run, and its labels as JSON: zeroed, and released by buffer_release(). */
struct outbox_origin {
	char host[REMOTE_HOST_LEN + 1], container[OUTBOX_CONTAINER + 1];
	struct buffer labels;
};

/* Notes them in the metadata, which use *origin. A label "$NAME" is that variable's of this
   process. */
void outbox_describe(const struct settings *settings, struct outbox_origin *origin, struct meta *m);

/* Takes the container's ID out of the text of /proc/self/mountinfo. Returns whether there is
   one. */
bool outbox_container(const char *mounts, char id[OUTBOX_CONTAINER + 1]);

/* Notes that the run is wanted. Returns 0, or -1 with errno. */
int outbox_want(const struct outbox *o, const char *id);

/* A run that goes on, or has just ended, is not wanted after all. */
void outbox_forget(const struct outbox *o, const char *id);

/* A run whose caller may go on is about to be wanted: holds up outbox_settle(). Returns a
   descriptor to close, or -1. */
int outbox_hold(const struct outbox *o);

/* Waits until then (monotonic) for such runs, so that what has ended before is pushed. */
void outbox_settle(const struct outbox *o, int64_t until_ms);

/* Archives all wanted runs that have ended, within outbox_max. Any number of processes may do so at
   a time, also with the same run: the first one wins. Returns how many could not be archived, with
   errno of the last one. */
unsigned outbox_pack(const struct outbox *o, const struct settings *settings);

/* A run was removed: it is not pushed any more, unless that has begun. Returns whether it
   waited. */
bool outbox_drop(const struct outbox *o, const char *id);

/* Two steps of the holder of the lock: what waits goes below new/, and its lines into `moving`;
   and the lines of what has gone from there become a segment, while the rest waits again. The
   first returns 0, the second how many lines, both -1 with errno. */
int outbox_send(const struct outbox *o);
int64_t outbox_receive(const struct outbox *o, int64_t now_ms);

struct outbox_numbers {
	uint64_t a, b;
};

struct outbox_state {
	uint64_t waiting, bytes;       /* archives */
	int64_t oldest_ms;             /* start of the first that waits, real time */
	bool index_left;               /* the index is not in the remote as it should be */
	struct outbox_numbers dropped; /* runs and bytes, since outbox_forgive() */
	uint64_t failures;             /* of the remote, one after the other ... */
	char why[REMOTE_WHY];          /* ... the last for this reason; "": not known */
};
struct outbox_state outbox_look(const struct outbox *o);

/* What was dropped has been said. */
void outbox_forgive(const struct outbox *o);

struct outbox_result {
	uint64_t pushed, left; /* runs */
	struct outbox_numbers dropped;
	bool index_left;
	char why[REMOTE_WHY]; /* something is left, "": nothing */
};

/* Empties it in a process that nobody waits for, with all signals blocked. */
void outbox_stay(const struct outbox *o, const struct settings *settings);

/* Moves all there is, and what comes meanwhile: once or, with `until_ms` (monotonic), as often as
   there is time until then. Takes over from a process that only waits. */
void outbox_push(const struct outbox *o, const struct settings *settings, int64_t until_ms,
		 struct outbox_result *result);

/* Milliseconds to wait after so many failures. */
int64_t outbox_delay(uint64_t failures);

/* Takes one of the locks, and waits for who has it until then (monotonic; 0: as long as it takes;
   OUTBOX_AT_ONCE: not at all). Returns a descriptor that holds it, or -1 with errno (EWOULDBLOCK:
   somebody has it). */
#define OUTBOX_AT_ONCE 1
int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms);

/* Appends a file of at most `most` bytes. Returns 0, or -1 with errno (EFBIG). */
int outbox_read_file(int dir, const char *name, int64_t most, struct buffer *out);

#endif
