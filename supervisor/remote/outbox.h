// What waits to be pushed, in STORE/outbox:
//
//   wanted/ID       a run that is to be pushed, made with its artifact: {"session":...,"host":...,
//                   "container":...,"labels":{...}}; another machine may archive it, if the store
//                   is on a volume that survives
//   wanted/ID.line  in its place once the run has ended and its archive is there: its line for the
//                   index (index.h), until it is in a segment. The directory is there while there
//                   may be something to do
//   new/            what is whole and is moved next, under the keys of the remote: archives, which
//                   do not depend on the store's cleaning, and segments of the index
//   lock, waiter         locks of the process that empties it (mover.h); adding: of who adds an
//                        archive or takes a run out; fetch: of who reads from the remote;
//                        hold: of runs that are about to be wanted
//   retry       "FAILURES DUE\nWHY\n": after the remote failed, when to try again (ms since 1970)
//   dropped     "COUNT BYTES\n": what outbox_max has thrown out since terse push said so
//   .ID.PID     a file that is being written, locked as long; it takes its place by a rename
//
// Any number of processes may add at a time; one moves. Every step leaves the outbox whole, so a
// process may be killed at any moment: what was begun is done again, and an object that is pushed
// twice is the same object.
#ifndef TERSE_REMOTE_OUTBOX_H
#define TERSE_REMOTE_OUTBOX_H

#include "supervisor/artifact/store.h"
#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct meta;

#define OUTBOX_DROPPED "dropped"

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

/* Notes that the run is wanted, with its machine and its labels: for the run itself. Returns 0, or
   -1 with errno. */
int outbox_want(const struct outbox *o, const struct settings *settings, const char *session,
		const char *id);

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

struct outbox_item {
	uint64_t id;    /* packed */
	bool line;      /* it has ended, and its archive ... */
	bool moved;     /* ... is in the remote; its line is in no segment yet ... */
	uint64_t bytes; /* ... or waits, with so many */
};

/* The runs, oldest first: free() them. Returns 0, or -1 with errno. */
int outbox_list(const struct outbox *o, struct outbox_item **items, size_t *count);

/* How many archives wait, and how many lines whose archives are moved. */
struct outbox_state {
	uint64_t waiting, bytes, moved;
	int64_t oldest_ms; /* start of the first that waits, real time */
};
struct outbox_state outbox_look(const struct outbox *o);

/* The path of a line below the outbox. */
#define OUTBOX_LINE_LEN (ID_LEN + 12)
void outbox_line(const char *id, char path[OUTBOX_LINE_LEN + 1]);

/* Nothing waits: takes back what outbox_has_work() looks at, unless something came meanwhile. For
   the holder of the lock. */
void outbox_rest(const struct outbox *o);

/* Removes what crashed processes left, and directories below new/ that are empty. For the holder of
   the lock. */
void outbox_sweep(const struct outbox *o);

/* Takes one of the locks, and waits for who has it until then (monotonic; 0: as long as it takes;
   OUTBOX_AT_ONCE: not at all). Returns a descriptor that holds it, or -1 with errno (EWOULDBLOCK:
   somebody has it). */
#define OUTBOX_AT_ONCE 1
int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms);

/* Appends a file of at most `most` bytes. Returns 0, or -1 with errno (EFBIG). */
int outbox_read_file(int dir, const char *name, int64_t most, struct buffer *out);

/* A file of a run that takes its place, `path` below the outbox, by a rename: opens it, and puts it
   there (result 0) or removes it. The first returns a descriptor, or -1 with errno; the second 0,
   or -1 with errno, and closes it. */
#define OUTBOX_TEMPORARY_LEN (ID_LEN + 24)
int outbox_begin_file(const struct outbox *o, const char *id, char name[OUTBOX_TEMPORARY_LEN]);
int outbox_end_file(const struct outbox *o, int result, int *fd, const char *name,
		    const char *path);

/* Two numbers in a file of the outbox, zeros without it, and the line behind them ("" without one;
   may be NULL). */
struct outbox_numbers {
	uint64_t a, b;
};
struct outbox_numbers outbox_read(const struct outbox *o, const char *name, char line[REMOTE_WHY]);
void outbox_write(const struct outbox *o, const char *name, struct outbox_numbers numbers,
		  const char *line);

/* Takes the container's ID out of the text of /proc/self/mountinfo. Returns whether there is
   one. */
#define OUTBOX_CONTAINER 12
bool outbox_container(const char *mounts, char id[OUTBOX_CONTAINER + 1]);

#endif
