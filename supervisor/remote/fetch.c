// See remote.h.

#include "supervisor/remote/remote.h"

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/remote/outbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names in the outbox: the lock, and the fetched object. */
#define LOCK   "fetch"
#define OBJECT "fetched"

static const char *fetch_explain(int error)
{
	switch (error) {
	case EBADMSG: return "what it has under this ID is no archive of terse, or damaged";
	case EXDEV: return "what it has under this ID is another run";
	case EFBIG: return "larger than [spill] max_artifact";
	case EEXIST: return "a run that is about to begin here has this ID";
	default: return strerror(error);
	}
}

/* Takes the artifact out of the fetched object. Returns NULL, or why it could not. */
static const char *fetch_restore(const struct settings *s, const struct store *store,
				 const char *file, const char *id)
{
	struct archive_restored restored;
	struct stat st;
	const char *why = NULL;
	int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "its program has made no file";
	else if (st.st_size > s->max_artifact)
		why = fetch_explain(EFBIG);
	else if (archive_restore(store, FETCH_SESSION, id, fd, (uint64_t)s->max_artifact,
				 (uint64_t)s->min_free, &restored) < 0)
		why = fetch_explain(errno);
	io_close(&fd);
	return why;
}

int fetch_artifact(const struct settings *s, const char *id, char why_not[REMOTE_WHY])
{
	struct store store;
	struct outbox outbox = {.dir = -1};
	char key[REMOTE_KEY_LEN], file[PATH_MAX];
	struct remote_call call = {
		.work = REMOTE_FETCH, .key = key, .local = file, .most = s->max_artifact};
	/* Waits for another process that fetches, for the time of two calls. */
	int64_t until = clock_monotonic_ms() + 2 * s->transfer_time;
	const char *why = NULL;
	int lock = -1, got = 0;
	if (store_open_write(&store) < 0 || outbox_open(&outbox, &store, true) < 0) {
		why = strerror(errno);
	} else if ((lock = outbox_lock(&outbox, LOCK, until)) < 0) {
		why = errno == EWOULDBLOCK ? "another process reads from it for long"
					   : strerror(errno);
	} else if (!id_exists(&store, id)) {
		struct gc gc = {.store = &store,
				.limits = gc_limits(s),
				.now_ms = clock_real_ms(),
				.interval_ms = s->gc_interval};
		/* Cleans the store up here, too: a user who only reads has no runs that would clean
		   it up. */
		if (gc_is_due(&store, s->gc_interval))
			gc_run(&gc);
		remote_key(id, key);
		snprintf(file, sizeof(file), "%s/" OBJECT, outbox.path);
		/* A killed process may have left such a file. */
		unlink(file);
		got = remote_run(s, &call);
		why = got < 0 ? call.why : got > 0 ? NULL : fetch_restore(s, &store, file, id);
		unlink(file);
	}
	if (why)
		snprintf(why_not, REMOTE_WHY, "%s", why);
	io_close(&lock);
	outbox_close(&outbox);
	store_close(&store);
	return why ? -1 : got;
}
