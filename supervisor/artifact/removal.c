// See removal.h.

#include "supervisor/artifact/removal.h"

#include "supervisor/artifact/meta.h"
#include "supervisor/base/clock.h"
#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long others than keepers hold the lock at most. */
#define MOMENT_MS 20

static bool has_metadata(int dir, const char *id)
{
	char name[ID_LEN + 6];
	snprintf(name, sizeof(name), "%s.json", id);
	return io_is_there(dir, name);
}

/* What the metadata tell, if the text is locked or there are no locks. */
static bool is_said_to_run(int dir, const char *id)
{
	struct meta m;
	if (meta_read(dir, id, &m) < 0)
		return false;
	/* What was not done and is not locked is taken for interrupted. */
	bool running = m.state != META_DONE && m.keeper > 0;
	meta_release(&m);
	return running;
}

/* Locks the text against a run that is about to begin, or another removal. Returns 0, or -1 when
   it is held. */
static int lock_text(int fd, int dir, const char *id)
{
	struct stat st;
	/* Between the making of the text and its lock, which comes before the metadata. */
	if (!has_metadata(dir, id) && fstat(fd, &st) == 0 &&
	    clock_real_ms() / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S)
		return -1;
	for (int waited = 0;; waited++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return is_said_to_run(dir, id) ? -1 : 0;
		if (waited == MOMENT_MS || is_said_to_run(dir, id))
			return -1;
		/* A reader that looks whether it is held, or another removal. */
		if (fstat(fd, &st) == 0 && st.st_nlink == 0)
			return 0;
		struct timespec pause = {.tv_nsec = 1000000};
		nanosleep(&pause, NULL);
	}
}

bool removal_is_running(int dir, const char *id)
{
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", id);
	int fd = store_open_file(dir, name, O_RDONLY);
	if (fd < 0)
		return store_is_short(errno);
	bool running = lock_text(fd, dir, id) < 0;
	io_close(&fd);
	return running;
}

/* Returns 1 if it was there, 0, or -1 with errno. */
static int unlink_file(int dir, const char *id, const char *prefix, const char *suffix,
		       uint64_t *freed)
{
	char name[ID_LEN + 16];
	struct stat st;
	snprintf(name, sizeof(name), "%s%s%s", prefix, id, suffix);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (unlinkat(dir, name, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	if (st.st_nlink == 1)
		*freed += (uint64_t)st.st_blocks * 512;
	return 1;
}

static void removal_release_claim(const struct store *s, const char *session, const char *id)
{
	char claimed[STORE_SESSION_LEN + 1];
	int ids = store_open_ids(s, false);
	if (ids < 0)
		return;
	ssize_t n = readlinkat(ids, id, claimed, sizeof(claimed));
	/* It may be claimed by an artifact of another session. */
	if (n == (ssize_t)strlen(session) && memcmp(claimed, session, (size_t)n) == 0)
		unlinkat(ids, id, 0);
	io_close(&ids);
}

enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed)
{
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", id);
	enum removal result = REMOVAL_FAILED;
	int fd = store_open_file(dir, name, O_RDONLY);
	int error = errno;
	if (fd < 0 && store_is_short(error))
		goto out;
	if (fd >= 0 && lock_text(fd, dir, id) < 0) {
		result = REMOVAL_RUNNING;
		goto out;
	}
	/* A link or another's file in its place can't be opened, but goes. */
	int was = unlink_file(dir, id, "", ".txt", freed);
	if (was < 0)
		goto out;
	for (size_t i = 0; id_suffixes[i]; i++)
		unlink_file(dir, id, "", id_suffixes[i], freed);
	unlink_file(dir, id, ".", ".json", freed);
	removal_release_claim(s, session, id);
	result = was ? REMOVAL_DONE : REMOVAL_ABSENT;
out:
	if (result == REMOVAL_FAILED && fd < 0 && error != ENOENT)
		errno = error;
	io_close(&fd);
	return result;
}
