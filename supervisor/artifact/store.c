// See store.h.

#include "supervisor/artifact/store.h"

#include "lib/buffer.h"
#include "lib/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Only the locks that mark a run are held for longer than a moment. */
#define LOCK_WAIT_MS 1000

#define TRIES 100

#define DIRECTORY (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* A place for a store: the value of `variable`, followed by `below`. */
struct candidate {
	const char *variable;
	const char *preset; /* where the variable is not set; NULL: no candidate then */
	const char *below;
	bool made;      /* the variable's directory is made, too, where it is missing */
	bool per_user;  /* the user's number is appended to the name */
	bool no_follow; /* others can plant links there, so its last step must be none */
};

static const struct candidate candidates[STORE_MAX] = {
	{"TERSE_HOME", NULL, "", true, false, false},
	{"XDG_STATE_HOME", NULL, "/terse", true, false, false},
	{"HOME", NULL, "/.local/state/terse", false, false, false},
	{"XDG_RUNTIME_DIR", NULL, "/terse", false, false, true},
	{"TMPDIR", "/tmp", "/terse-", false, true, true},
};

static const char *candidate_base(const struct candidate *c)
{
	const char *base = getenv(c->variable);
	return base && *base ? base : c->preset;
}

/* The absolute path of a candidate. ENOENT when its variable is not set. */
static int candidate_path(const struct candidate *c, char out[PATH_MAX])
{
	const char *base = candidate_base(c);
	out[0] = '\0';
	if (!base) {
		errno = ENOENT;
		return -1;
	}
	int n = 0;
	if (base[0] != '/') {
		/* The XDG specification has relative values ignored; only TERSE_HOME may be one. */
		if (c != &candidates[0]) {
			errno = EINVAL;
			return -1;
		}
		if (!getcwd(out, PATH_MAX))
			return -1;
		n = (int)strlen(out);
		if (n < PATH_MAX - 1)
			out[n++] = '/';
	}
	size_t room = PATH_MAX - (size_t)n;
	int added = c->per_user
			    ? snprintf(out + n, room, "%s%s%u", base, c->below, (unsigned)geteuid())
			    : snprintf(out + n, room, "%s%s", base, c->below);
	if (added < 0 || (size_t)added >= room) {
		out[0] = '\0';
		errno = ENAMETOOLONG;
		return -1;
	}
	return 0;
}

void store_settle(void)
{
	char path[PATH_MAX];
	const char *home = getenv(candidates[0].variable);
	if (home && *home && *home != '/' && candidate_path(&candidates[0], path) == 0)
		setenv(candidates[0].variable, path, 1);
}

/* Opens a directory that must belong to the user. */
static int open_directory(int dir, const char *name, int flags)
{
	int fd = io_above_standard(openat(dir, name, DIRECTORY | flags));
	struct stat st;
	int error = fd < 0 || fstat(fd, &st) < 0 ? errno : st.st_uid == geteuid() ? 0 : EPERM;
	if (error) {
		io_close(&fd);
		errno = error;
	}
	return fd;
}

/* Makes a directory unless it is there. */
static int make_directory(int dir, const char *name)
{
	if (mkdirat(dir, name, 0700) < 0)
		return errno == EEXIST ? 0 : -1;
	/* The umask may have taken the owner's own bits. */
	return fchmodat(dir, name, 0700, 0);
}

/* Opens one inside the store, where it is made when missing. */
static int open_below(int dir, const char *name, bool make)
{
	int fd = open_directory(dir, name, O_NOFOLLOW);
	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	return make_directory(dir, name) < 0 ? -1 : open_directory(dir, name, O_NOFOLLOW);
}

/* Whether the candidate, which has this path, may be made: the nearest ancestor that exists is
   writable, and for root not another user's. A home that is missing (a system user's) stays so. */
static int candidate_check(const struct candidate *c, const char *path)
{
	char prefix[PATH_MAX];
	if (!c->made && access(candidate_base(c), F_OK) < 0)
		return -1;
	snprintf(prefix, sizeof(prefix), "%s", path);
	for (;;) {
		char *slash = strrchr(prefix, '/');
		if (!slash)
			return 0;
		slash[slash == prefix] = '\0';
		struct stat st;
		if (stat(prefix, &st) == 0) {
			if (geteuid() == 0 && st.st_uid != 0) {
				errno = EPERM;
				return -1;
			}
			return io_may_make(AT_FDCWD, prefix);
		}
		if (errno != ENOENT || slash == prefix)
			return -1;
	}
}

static int make_path(const char *path)
{
	char prefix[PATH_MAX];
	snprintf(prefix, sizeof(prefix), "%s", path);
	for (char *at = prefix + 1;; at++) {
		if (*at != '/' && *at != '\0')
			continue;
		char kept = *at;
		*at = '\0';
		if (make_directory(AT_FDCWD, prefix) < 0)
			return -1;
		*at = kept;
		if (!kept)
			return 0;
	}
}

/* Opens a candidate; with `make` it is made when missing and must be writable. */
static int open_candidate(const struct candidate *c, bool make, struct store *s)
{
	s->fd = -1;
	if (candidate_path(c, s->path) < 0)
		return -1;
	int flags = c->no_follow ? O_NOFOLLOW : 0;
	s->fd = open_directory(AT_FDCWD, s->path, flags);
	if (s->fd < 0 && errno == ENOENT && make) {
		if (candidate_check(c, s->path) < 0 || make_path(s->path) < 0)
			return -1;
		s->fd = open_directory(AT_FDCWD, s->path, flags);
	}
	if (s->fd < 0)
		return -1;
	if (make && io_may_make(s->fd, ".") < 0) {
		io_close(&s->fd);
		return -1;
	}
	return 0;
}

int store_open_next(struct store *s, int *next)
{
	/* A variable that is not set explains less than any other error. */
	int error = ENOENT;
	s->fd = -1;
	while (*next < STORE_MAX) {
		const struct candidate *c = &candidates[(*next)++];
		if (open_candidate(c, true, s) == 0)
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

/* Whether a store may be there although it can't be opened, and is the user's. If there are others,
   stores that the user can't reach do not matter. */
static bool is_trouble(int error, int others)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
	case EPERM:
	case EINVAL:
	case ENAMETOOLONG: return false;
	case EACCES: return others == 0;
	default: return true;
	}
}

/* Opens those among the first `most` candidates. */
static int open_some(struct store stores[STORE_MAX], size_t most)
{
	int count = 0, errors[STORE_MAX] = {0}, error = 0;
	for (size_t i = 0; i < most; i++) {
		struct store *s = &stores[count];
		if (open_candidate(&candidates[i], false, s) < 0) {
			errors[i] = errno;
			continue;
		}
		/* Two variables may name the same directory. */
		struct stat other, st;
		bool known = false;
		for (int k = 0; k < count && !known; k++)
			known = fstat(stores[k].fd, &other) == 0 && fstat(s->fd, &st) == 0 &&
				other.st_dev == st.st_dev && other.st_ino == st.st_ino;
		if (known)
			store_close(s);
		else
			count++;
	}
	for (size_t i = 0; i < most && !error; i++)
		error = errors[i] && is_trouble(errors[i], count) ? errors[i] : 0;
	errno = error;
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

void store_explain(void (*each)(void *ctx, const char *path, const char *origin, int error),
		   void *ctx)
{
	for (size_t i = 0; i < STORE_MAX; i++) {
		struct store s;
		int error = 0;
		if (open_candidate(&candidates[i], false, &s) == 0) {
			if (io_may_make(s.fd, ".") < 0)
				error = errno;
			store_close(&s);
		} else {
			error = errno;
			if (error == ENOENT && s.path[0])
				error = candidate_check(&candidates[i], s.path) < 0 ? errno : 0;
		}
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
	/* If the file system does not report its free space, a write that finds none will. */
	if (min_free == 0 || fstatvfs(fd, &fs) < 0 ||
	    (uint64_t)fs.f_bavail * fs.f_frsize >= min_free)
		return true;
	errno = ENOSPC;
	return false;
}

int store_lock(int fd, int operation)
{
	for (int waited = 0;; waited++) {
		if (flock(fd, operation | LOCK_NB) == 0)
			return 0;
		if ((errno != EWOULDBLOCK && errno != EINTR) || waited == LOCK_WAIT_MS)
			return -1;
		struct timespec pause = {.tv_nsec = 1000000};
		nanosleep(&pause, NULL);
	}
}

static bool is_session_name(const char *session)
{
	char name[STORE_SESSION_LEN + 1];
	store_session_name(session, name);
	return strcmp(name, session) == 0;
}

int store_open_folder(const struct store *s, const char *name, bool make)
{
	return open_below(s->fd, name, make);
}

static int store_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct store_name *)a)->text, ((const struct store_name *)b)->text);
}

int store_list_sessions(const struct store *s, struct store_name **names, size_t *count)
{
	size_t room = 0;
	*names = NULL;
	*count = 0;
	DIR *d = io_list_opened(store_open_folder(s, STORE_SESSIONS, false));
	if (!d)
		return errno == ENOENT ? 0 : -1;
	bool failed = false;
	struct dirent *e = NULL;
	while (!failed && (errno = 0, e = readdir(d))) {
		if (!is_session_name(e->d_name))
			continue;
		struct store_name *added = array_add(names, count, &room, sizeof(*added));
		failed = !added;
		if (added)
			store_session_name(e->d_name, added->text);
	}
	failed |= !e && errno;
	int error = errno;
	closedir(d);
	if (failed) {
		free(*names);
		*names = NULL;
		*count = 0;
	} else if (*count > 0) {
		qsort(*names, *count, sizeof(**names), store_compare_names);
	}
	errno = error;
	return failed ? -1 : 0;
}

int store_open_session(const struct store *s, const char *session, bool make)
{
	if (!is_session_name(session)) {
		errno = EINVAL;
		return -1;
	}
	int sessions = store_open_folder(s, STORE_SESSIONS, make);
	if (sessions < 0)
		return -1;
	int fd = -1;
	/* Somebody may remove it while it is made or opened. */
	for (int i = 0; fd < 0 && i < TRIES; i++) {
		struct stat st;
		fd = open_below(sessions, session, make);
		if (!make || (fd < 0 && errno != ENOENT))
			break;
		/* It is in use. Without locks nobody removes it. */
		if (fd >= 0)
			store_lock(fd, LOCK_SH);
		if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_nlink == 0))
			io_close(&fd);
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

int store_open_file(int dir, const char *name, int flags)
{
	/* O_NONBLOCK: a FIFO that somebody put there must not stop us. */
	int fd = openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
	fd = io_above_standard(fd);
	if (fd < 0)
		return -1;
	bool writing = (flags & O_ACCMODE) != O_RDONLY;
	struct stat st;
	if (fstat(fd, &st) < 0)
		goto fail;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (writing && st.st_nlink > 1)) {
		errno = EPERM;
		goto fail;
	}
	if ((flags & O_CREAT) && (st.st_mode & 0777) != 0600 && fchmod(fd, 0600) < 0)
		goto fail;
	return fd;
fail:
	if (flags & O_EXCL) {
		int saved = errno;
		unlinkat(dir, name, 0);
		errno = saved;
	}
	io_close(&fd);
	return -1;
}
