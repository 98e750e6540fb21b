// The directories that hold artifacts.
//
//   STORE/sessions/SESSION/ID.txt ...   the artifacts (see artifact.h)
//   STORE/ids/ID                        symbolic link whose text is the session:
//                                       claims the ID and finds it again
//   STORE/live/ID                       control socket of a run that lives
//   STORE/outbox/...                    what waits for the remote
//   STORE/gc                            written when the store was last cleaned up (gc.h)
//
// STORE is the first usable of $TERSE_HOME, $XDG_STATE_HOME/terse, ~/.local/state/terse ($HOME
// only, never the password file), $XDG_RUNTIME_DIR/terse, ${TMPDIR:-/tmp}/terse-UID. A writer takes
// the first of these directories that it can make and write to; it does not make a missing $HOME,
// $XDG_RUNTIME_DIR or $TMPDIR. A reader looks in all of them, in this order. If $TERSE_HOME is set,
// reading looks only there. Only a search for a run by its whole ID looks in the other stores, too:
// the run went there if $TERSE_HOME could not be written.
//
// Directories are made 0700 and must belong to the effective user (any other candidate is skipped).
// Files are made 0600. Nothing below STORE is reached through a symbolic link: every step is
// openat() with O_NOFOLLOW. Root makes no store inside another user's directory: that user could
// not use it afterwards.
#ifndef TERSE_ARTIFACT_STORE_H
#define TERSE_ARTIFACT_STORE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stat;

#define STORE_MAX         5
#define STORE_SESSION_LEN 100 /* the most bytes of the name of a session's directory */

/* Seconds after which a half-made file counts as left by a crash. */
#define STORE_SETTLED_S 60

struct store {
	int fd;              /* the STORE directory, close-on-exec; -1: not open */
	char path[PATH_MAX]; /* absolute */
};

/* Opens (making what is missing) the first store that can be written to.
   Returns 0, or -1 with the errno of the last candidate. */
int store_open_write(struct store *s);

/* The same, from candidate *next on (0 at first). Moves *next past the candidate that it opened, so
   that a caller whose write fails in one store can go on to the next. */
int store_open_next(struct store *s, int *next);

/* Whether this errno of open() means that the machine is short of a resource now, and so says
   nothing about the file. */
bool store_is_short(int error);

/* Opens existing stores for reading, best first; with $TERSE_HOME set only that one. Returns how
   many (0 to STORE_MAX). errno is 0, or, if there may be more stores that can't be opened now, says
   why. */
int store_open_all(struct store stores[STORE_MAX]);

/* Like store_open_all(), but opens all stores even if $TERSE_HOME is set, to find a run by its
   whole ID. */
int store_open_everywhere(struct store stores[STORE_MAX]);

void store_close(struct store *s);
void store_close_all(struct store *stores, int count);

/* Tells `doctor` whether each candidate is usable for writing: calls `each` with the path ("" if
   its variable is not set), where the path comes from ("TERSE_HOME", ...), and 0 or an errno
   (ENOSPC: less than `min_free` bytes are free). Makes nothing. */
void store_explain(uint64_t min_free,
		   void (*each)(void *ctx, const char *path, const char *origin, int error),
		   void *ctx);

/* Copies a text as the name of a file or an object: letters, digits, '.', '_', '-', not starting
   with '.' or '-', at most `size` - 1 bytes; other bytes become '_'. */
void store_clean_name(const char *text, char *out, size_t size);

/* Copies a session's name in the same way, at most STORE_SESSION_LEN bytes; NULL or "" becomes
   "default". */
void store_session_name(const char *session, char out[STORE_SESSION_LEN + 1]);

/* Whether the file system of this file or directory has `min_free` bytes free. If not, sets errno
   to ENOSPC. */
bool store_has_room(int fd, uint64_t min_free);

/* Opens the session's directory. Returns a close-on-exec descriptor, or -1 with errno. `session`
   must be a result of store_session_name (else EINVAL). `make`: makes a directory that is missing
   and marks it as in use, by a shared lock, as long as the descriptor is open, so that nobody
   removes it (gc_remove_session). */
int store_open_session(const struct store *s, const char *session, bool make);

/* Whether a run uses the session's directory. True if that can't be found out. */
bool store_is_in_use(int session_dir);

/* Takes a lock (LOCK_SH or LOCK_EX) on an open file or directory. Waits for a holder of the lock,
   wait_ms at most; 0 or less: not at all. Closing the descriptor releases the lock. Returns 0, or
   -1 with errno (EWOULDBLOCK: somebody holds it). */
int store_lock(int fd, int operation, int64_t wait_ms);

/* Locks are held for less than this, except for locks that mark a run as alive. */
#define STORE_LOCK_MS 1000

/* Opens a directory of the store: STORE_SESSIONS ... Returns a close-on-exec descriptor, or -1 with
   errno. */
#define STORE_SESSIONS "sessions"
#define STORE_IDS      "ids"
#define STORE_LIVE     "live"   /* sockets of the runs that live (process/protocol.h) */
#define STORE_OUTBOX   "outbox" /* artifacts that wait for the remote (remote/outbox.h) */
int store_open_folder(const struct store *s, const char *name, bool make);

/* Opens (or with O_CREAT makes, 0600 whatever the umask) a file in a directory of the store.
   Close-on-exec, above the standard descriptors, never through a symbolic link. EPERM when it is
   not a regular file of the effective user, or has a second hard link and is to be written. */
int store_open_file(int dir, const char *name, int flags);

/* Like store_open_file(), and locks the file as store_lock() does, with STORE_LOCK_MS as the
   longest wait (operation 0: no lock). The file that is locked still has that name; *st is its
   state after the lock was taken. */
int store_open_locked(int dir, const char *name, int flags, int operation, struct stat *st);

#endif
