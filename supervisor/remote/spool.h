// What waits to be pushed, in STORE/push:
//
//   ID             a run that is wanted, made with its artifact: a link whose text is
//                  "SESSION/HOST" or, where it has labels, a file "SESSION/HOST\n{labels}": another
//                  machine may pack it, if the store is on a volume that survives
//   ID.tar.zst   its archive, once it has ended; whole, and independent of the store's cleaning
//   ID.entry       its line for the index
//   work           there is something of the two
//   lock, waiter   locks of the pusher (pusher.h); spool: of who adds an archive; hold: of runs
//                  that are about to be wanted
//   retry          "FAILURES DUE\nWHY\n": after an upload failed, when to try again (ms since 1970)
//   dropped        "COUNT BYTES\n": what spool_max has thrown out since terse push said so
//   .ID.PID        an archive or such a file that is being written, locked as long
//
// Any number of processes may add at a time; one pushes. Every step leaves the spool whole, so a
// process may be killed at any moment: what was begun is done again, and an object that is pushed
// twice is the same object.
#ifndef TERSE_REMOTE_SPOOL_H
#define TERSE_REMOTE_SPOOL_H

#include "supervisor/artifact/store.h"
#include "supervisor/remote/remote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_DROPPED "dropped"

/* Leaves room for the names in it. */
#define SPOOL_PATH (PATH_MAX - 128)

struct spool {
	int dir; /* -1: there is none */
	char path[SPOOL_PATH];
};

struct spool_item {
	uint64_t id; /* packed */
	uint64_t bytes;
};

/* The file with an archive's line for the index (catalog.h). */
#define SPOOL_ENTRY_LEN (ID_LEN + 6)
void spool_entry(const char *id, char name[SPOOL_ENTRY_LEN + 1]);

/* The name of an archive. */
#define SPOOL_ARCHIVE_LEN (ID_LEN + 8)
void spool_archive_name(const char *id, char name[SPOOL_ARCHIVE_LEN + 1]);

/* Opens that of a store. Returns 0, or -1 with errno. */
int spool_open(struct spool *s, const struct store *store, bool make);
void spool_close(struct spool *s);

/* Whether there may be something to push. One system call. */
bool spool_has_work(const struct spool *s);

/* Appends a file of a directory of the store, of at most `most` bytes. Returns 0, or -1 with errno
   (EFBIG). */
struct buffer;
int spool_read_file(int dir, const char *name, int64_t most, struct buffer *out);

/* Notes that the run is wanted, with its machine and its labels (origin.h): for the run itself.
   Returns 0, or -1 with errno. */
#define SPOOL_PLACE_LEN (STORE_SESSION_LEN + 1 + REMOTE_HOST_LEN)
int spool_want(const struct spool *s, const struct settings *settings, const char *session,
	       const char *id);

/* Opens a file of a run that takes its place by a rename; its lock tells that it is no leftover.
   Returns a descriptor, or -1 with errno. */
#define SPOOL_TEMPORARY_LEN (ID_LEN + 24)
int spool_open_temporary(const struct spool *s, const char *id, char name[SPOOL_TEMPORARY_LEN]);

/* A run whose caller may go on is about to be wanted: holds up spool_settle(). Returns a descriptor
   to close, or -1. */
int spool_hold(const struct spool *s);

/* Waits until then (monotonic) for such runs, so that what has ended before is pushed. */
void spool_settle(const struct spool *s, int64_t until_ms);

/* It is not wanted, after all. */
void spool_forget(const struct spool *s, const char *id);

/* Whether a run with this end is pushed. */
struct meta;
bool spool_is_wanted(const struct settings *settings, const struct meta *m);

/* The archives, oldest first: free() them. Returns 0, or -1 with errno. */
int spool_list(const struct spool *s, struct spool_item **items, size_t *count);

/* The same of the wanted runs that are not packed. */
int spool_list_wanted(const struct spool *s, struct spool_item **items, size_t *count);

/* The path of an archive; whether it is there; removes it once it is pushed. */
void spool_archive(const struct spool *s, const char *id, char path[PATH_MAX]);
bool spool_has_archive(const struct spool *s, const char *id);
void spool_done(const struct spool *s, const char *id);

/* Takes back `work` if there is nothing. For the holder of the lock. */
void spool_rest(const struct spool *s);

/* Removes what crashed processes left. For the holder of the lock. */
void spool_sweep(const struct spool *s);

/* Takes one of the locks. Returns a descriptor that holds it, or -1 with errno (EWOULDBLOCK:
   somebody has it). */
int spool_lock(const struct spool *s, const char *name);

/* Waits for who has it until then (monotonic; 0: as long as it takes). Returns as above. */
int spool_lock_until(const struct spool *s, const char *name, int64_t until_ms);

/* Two numbers in a file of the spool, zeros without it. */
struct spool_numbers {
	uint64_t a, b;
};
struct spool_numbers spool_read(const struct spool *s, const char *name);

/* With a line behind them, which may be "". */
void spool_write(const struct spool *s, const char *name, struct spool_numbers numbers,
		 const char *line);

/* That line, or "". */
void spool_read_line(const struct spool *s, const char *name, char *line, size_t size);
void spool_remove(const struct spool *s, const char *name);

#endif
