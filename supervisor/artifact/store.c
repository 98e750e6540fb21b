// See store.h.

#include "supervisor/artifact/store.h"

#include "lib/human.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The longest pause between attempts to take a lock. */
#define LOCK_PAUSE_MS 20

#define TRIES 100

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* A place for a store: the value of `variable`, followed by `below`. */
struct candidate {
	const char *variable;
	const char *preset; /* used if the variable is not set; NULL: there is no candidate then */
	const char *below;
	bool made;      /* the directory in the variable is made, too, if it is missing */
	bool per_user;  /* the user's number is appended to the name */
	bool no_follow; /* the last step must not be a link, since others can plant links there */
};

static const struct candidate candidates[STORE_MAX] = {
	{"TERSE_HOME", NULL, "", true, false, false},
	{"XDG_STATE_HOME", NULL, "/terse", true, false, false},
	{"HOME", NULL, "/.local/state/terse", false, false, false},
	{"XDG_RUNTIME_DIR", NULL, "/terse", false, false, true},
	{"TMPDIR", "/tmp", "/terse-", false, true, true},
};

/* Whether this user may make files in the directory: 0, or -1 with errno. */
static int may_make(int dir, const char *path)
{
	/* Older container runtimes refuse faccessat2(), which libc uses. */
	return (int)syscall(SYS_faccessat, dir, path, W_OK | X_OK);
}

/* Whether a file belongs to the user, by the number that the kernel gave at exec. */
static bool is_of_user(const struct stat *st)
{
	return st->st_uid == (uid_t)getauxval(AT_EUID);
}

/* Makes a directory unless it exists. */
static int make_directory(int dir, const char *name)
{
	if (mkdirat(dir, name, 0700) < 0)
		return errno == EEXIST ? 0 : -1;
	/* The umask may have removed the owner's own bits. */
	return fchmodat(dir, name, 0700, 0);
}

/* Opens a directory that must belong to the user. `make`: makes it if it is missing. `locks`: marks
   it as in use, by a shared lock; on a file system without locks nobody removes it. ENOENT: it has
   just been removed. */
static int open_directory(int dir, const char *name, int flags, bool make, bool locks)
{
	int fd = openat(dir, name, DIRECTORY | flags);
	if (fd < 0 && errno == ENOENT && make && make_directory(dir, name) == 0)
		fd = openat(dir, name, DIRECTORY | flags);
	fd = io_above_standard(fd);
	if (fd >= 0 && locks)
		store_lock(fd, LOCK_SH, STORE_LOCK_MS);
	struct stat st;
	int error = fd < 0 || fstat(fd, &st) < 0 ? errno
		    : !is_of_user(&st)           ? EPERM
		    : st.st_nlink == 0           ? ENOENT
						 : 0;
	if (error) {
		io_close(&fd);
		errno = error;
	}
	return fd;
}

/* Makes the missing directories of a path. With `nearest` makes nothing, but opens the nearest
   ancestor that exists, to check whether they could be made: it has to be writable, and for root
   not another user's. */
static int make_path(const char *path, int *nearest)
{
	char prefix[PATH_MAX];
	size_t len = (size_t)snprintf(prefix, sizeof(prefix), "%s", path), end = len;
	struct stat st;
	int known;
	do {
		while (prefix[--end] != '/')
			;
		prefix[end] = '\0';
		known = stat(end ? prefix : "/", &st);
	} while (known < 0 && errno == ENOENT && end > 0);
	if (known < 0 || may_make(AT_FDCWD, end ? prefix : "/") < 0)
		return -1;
	if (geteuid() == 0 && st.st_uid != 0) {
		errno = EPERM;
		return -1;
	}
	if (nearest)
		*nearest = open(end ? prefix : "/", DIRECTORY | O_PATH);
	while (!nearest && end < len) {
		prefix[end] = '/';
		end += strlen(prefix + end);
		if (make_directory(AT_FDCWD, prefix) < 0)
			return -1;
	}
	return 0;
}

enum use {
	USE_READ,
	USE_WRITE, /* it is made when missing, and must be writable */
	USE_CHECK, /* only checks whether it could be made and written to */
};

/* Opens a candidate. Fills in the path ("" where the variable is not set) even if opening fails. */
static int candidate_open(const struct candidate *c, enum use use, struct store *s)
{
	const char *base = getenv(c->variable);
	char user[16] = "";
	base = base && *base ? base : c->preset;
	*s->path = '\0';
	s->fd = -1;
	/* A relative path is invalid, as in the XDG specification. */
	errno = !base ? ENOENT : EINVAL;
	if (!base || *base != '/')
		return -1;
	if (c->per_user)
		snprintf(user, sizeof(user), "%u", (unsigned)geteuid());
	if (snprintf(s->path, PATH_MAX, "%s%s%s", base, c->below, user) >= PATH_MAX) {
		*s->path = '\0';
		errno = ENAMETOOLONG;
		return -1;
	}
	int flags = c->no_follow ? O_NOFOLLOW : 0;
	s->fd = open_directory(AT_FDCWD, s->path, flags, false, false);
	if (s->fd < 0 && errno == ENOENT && use != USE_READ) {
		/* A missing home (of a system user) is not made. */
		if ((!c->made && access(base, F_OK) < 0) ||
		    make_path(s->path, use == USE_CHECK ? &s->fd : NULL) < 0)
			return -1;
		if (use != USE_CHECK)
			s->fd = open_directory(AT_FDCWD, s->path, flags, false, false);
	}
	if (s->fd >= 0 && use != USE_READ && may_make(s->fd, ".") < 0)
		io_close(&s->fd);
	return s->fd < 0 ? -1 : 0;
}

int store_open_next(struct store *s, int *next)
{
	/* Any other error explains more than ENOENT, which also means that a variable is not
	   set. */
	int error = ENOENT;
	s->fd = -1;
	while (*next < STORE_MAX) {
		const struct candidate *c = &candidates[(*next)++];
		if (candidate_open(c, USE_WRITE, s) == 0)
			return 0;
		if (errno != ENOENT)
			error = errno;
	}
	errno = error;
	return -1;
}

int store_open_write(struct store *s)
{
	int next = 0;
	return store_open_next(s, &next);
}

bool store_is_short(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/* Opens the stores among the first `most` candidates. */
static int open_some(struct store stores[STORE_MAX], size_t most)
{
	int count = 0, denied = 0, error = 0;
	for (size_t i = 0; i < most; i++) {
		struct store *s = &stores[count];
		struct stat other, st;
		bool known = false;
		if (candidate_open(&candidates[i], USE_READ, s) == 0) {
			/* Two variables may name the same directory. */
			for (int k = 0; k < count && !known; k++)
				known = fstat(stores[k].fd, &other) == 0 &&
					fstat(s->fd, &st) == 0 && other.st_dev == st.st_dev &&
					other.st_ino == st.st_ino;
			if (known)
				store_close(s);
			count += !known;
			continue;
		}
		/* After these errors the user has no store there; after others there may be one
		   that can't be opened now. */
		switch (errno) {
		case ENOENT:
		case ENOTDIR:
		case ELOOP:
		case EPERM:
		case EINVAL:
		case ENAMETOOLONG: break;
		case EACCES: denied = EACCES; break;
		default: error = error ? error : errno;
		}
	}
	/* A store that the user may not open (EACCES) matters only if there is no other store. */
	errno = !error && count == 0 ? denied : error;
	return count;
}

int store_open_all(struct store stores[STORE_MAX])
{
	const char *home = getenv(candidates[0].variable);
	return open_some(stores, home && *home ? 1 : STORE_MAX);
}

int store_open_everywhere(struct store stores[STORE_MAX])
{
	return open_some(stores, STORE_MAX);
}

void store_close(struct store *s)
{
	io_close(&s->fd);
}

void store_close_all(struct store *stores, int count)
{
	while (count > 0)
		store_close(&stores[--count]);
}

void store_explain(uint64_t min_free,
		   void (*each)(void *ctx, const char *path, const char *origin, int error),
		   void *ctx)
{
	for (size_t i = 0; i < STORE_MAX; i++) {
		struct store s = {.fd = -1};
		bool fails = candidate_open(&candidates[i], USE_CHECK, &s) < 0 ||
			     !store_has_room(s.fd, min_free);
		const int error = fails ? errno : 0;
		store_close(&s);
		each(ctx, s.path, candidates[i].variable, error);
	}
}

void store_clean_name(const char *text, char *out, size_t size)
{
	size_t n = 0;
	for (; n + 1 < size && text[n]; n++) {
		char c = text[n];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		bool digit = c >= '0' && c <= '9';
		bool inside = n > 0 && (c == '.' || c == '-');
		out[n] = letter || digit || inside ? c : '_';
	}
	out[n] = '\0';
}

void store_session_name(const char *session, char out[STORE_SESSION_LEN + 1])
{
	store_clean_name(session && *session ? session : "default", out, STORE_SESSION_LEN + 1);
}

bool store_has_room(int fd, uint64_t min_free)
{
	struct statvfs fs;
	/* If the file system does not report its free space, there may be enough. */
	if (min_free == 0 || fstatvfs(fd, &fs) < 0 ||
	    (uint64_t)fs.f_bavail * fs.f_frsize >= min_free)
		return true;
	errno = ENOSPC;
	return false;
}

int store_lock(int fd, int operation, int64_t wait_ms)
{
	int64_t begin_ms = 0, waited = 0;
	while (flock(fd, operation | LOCK_NB) < 0) {
		if ((errno != EWOULDBLOCK && errno != EINTR) || waited >= wait_ms)
			return -1;
		begin_ms = begin_ms ? begin_ms : clock_monotonic_ms();
		int64_t ms = waited / 8 < LOCK_PAUSE_MS ? 1 + waited / 8 : LOCK_PAUSE_MS;
		struct timespec pause = {.tv_nsec = ms * 1000000};
		nanosleep(&pause, NULL);
		waited = clock_monotonic_ms() - begin_ms;
	}
	return 0;
}

int store_open_folder(const struct store *s, const char *name, bool make)
{
	return open_directory(s->fd, name, O_NOFOLLOW, make, false);
}

int store_open_session(const struct store *s, const char *session, bool make)
{
	char name[STORE_SESSION_LEN + 1];
	store_session_name(session, name);
	if (strcmp(name, session) != 0) {
		errno = EINVAL;
		return -1;
	}
	int sessions = store_open_folder(s, STORE_SESSIONS, make);
	if (sessions < 0)
		return -1;
	int fd = -1;
	/* Somebody may remove the directory between making and opening it. */
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		fd = open_directory(sessions, session, O_NOFOLLOW, make, make);
		if (!make || (fd < 0 && errno != ENOENT))
			break;
	}
	io_close(&sessions);
	return fd;
}

bool store_is_in_use(int session_dir)
{
	if (flock(session_dir, LOCK_EX | LOCK_NB) < 0)
		return true;
	flock(session_dir, LOCK_UN);
	return false;
}

int store_open_locked(int dir, const char *name, int flags, int operation, struct stat *st)
{
	const bool writing = (flags & O_ACCMODE) != O_RDONLY;
	int fd = -1;
	/* Somebody may remove or replace the file before it is locked. */
	for (int i = 0; fd < 0; i++) {
		if (i == TRIES) {
			errno = EBUSY;
			return -1;
		}
		/* O_NONBLOCK: a FIFO that somebody put there must not stop us. */
		fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
			    0600);
		fd = io_above_standard(fd);
		if (fd < 0)
			return -1;
		if ((operation && store_lock(fd, operation, STORE_LOCK_MS) < 0) ||
		    fstat(fd, st) < 0)
			goto fail;
		if (operation && st->st_nlink == 0)
			io_close(&fd);
	}
	if (!S_ISREG(st->st_mode) || !is_of_user(st) || (writing && st->st_nlink > 1)) {
		errno = EPERM;
		goto fail;
	}
	if ((flags & O_CREAT) && (st->st_mode & 0777) != 0600 && fchmod(fd, 0600) < 0)
		goto fail;
	return fd;
fail:
	if (flags & O_EXCL)
		io_unlink(dir, name);
	io_close(&fd);
	return -1;
}

int store_open_file(int dir, const char *name, int flags)
{
	struct stat st;
	return store_open_locked(dir, name, flags, 0, &st);
}
