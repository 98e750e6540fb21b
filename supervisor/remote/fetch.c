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

/* Names in the outbox: the lock, and what is fetched under it. */
#define LOCK   "fetch"
#define OBJECT "fetched"

static const char *fetch_explain(int error)
{
	switch (error) {
	case EBADMSG: return "what it has under this ID is no archive of terse, or damaged";
	case EXDEV: return "what it has under this ID is another run";
	case EFBIG: return "larger than [remote] cache_max, or [spill] max_artifact";
	case EEXIST: return "a run that is about to begin here has this ID";
	default: return strerror(error);
	}
}

static int fetch_by_age(const void *a, const void *b)
{
	const struct inventory_item *x = a, *y = b;
	return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

/* Keeps the cache within its size, and the artifact that was fetched now. */
static void fetch_make_room(const struct store *store, const char *id, uint64_t most)
{
	struct inventory v;
	uint64_t total = 0, freed = 0, kept = id_pack(id);
	int dir = store_open_session(store, FETCH_SESSION, false);
	if (dir < 0 || inventory_read(&v, store, FETCH_SESSION) < 0) {
		io_close(&dir);
		return;
	}
	for (size_t i = 0; i < v.count; i++)
		total += v.items[i].bytes;
	if (v.count > 0)
		qsort(v.items, v.count, sizeof(*v.items), fetch_by_age);
	for (size_t i = 0; i < v.count && total > most; i++) {
		char name[ID_LEN + 1];
		id_unpack(v.items[i].id, name);
		if (v.items[i].id != kept &&
		    removal_of(store, FETCH_SESSION, dir, name, &freed) == REMOVAL_DONE)
			total -= v.items[i].bytes < total ? v.items[i].bytes : total;
	}
	inventory_release(&v);
	io_close(&dir);
}

/* The object is there: takes the artifact out of it. Returns NULL, or why it could not. */
static const char *fetch_restore(const struct settings *s, const struct store *store,
				 const char *file, const char *id, struct fetched *f)
{
	const int64_t most = s->max_artifact < s->cache_max ? s->max_artifact : s->cache_max;
	struct archive_restored restored;
	struct stat st;
	const char *why = NULL;
	int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "its program has made no file";
	else if (st.st_size > s->cache_max)
		why = fetch_explain(EFBIG);
	else if (archive_restore(store, FETCH_SESSION, id, fd, (uint64_t)most,
				 (uint64_t)s->min_free, &restored) < 0)
		why = fetch_explain(errno);
	if (!why) {
		f->bytes = (uint64_t)st.st_size;
		fetch_make_room(store, id, (uint64_t)s->cache_max);
	}
	io_close(&fd);
	return why;
}

int fetch_artifact(const struct settings *s, const char *id, struct fetched *f)
{
	struct store store;
	struct outbox outbox = {.dir = -1};
	char key[REMOTE_KEY_LEN], file[PATH_MAX];
	struct remote_call call = {
		.work = REMOTE_FETCH, .key = key, .local = file, .most = s->cache_max};
	/* Another process that fetches has the time of two calls. */
	int64_t until = clock_monotonic_ms() + 2 * s->transfer_time;
	const char *why = NULL;
	int lock = -1, got = 0;
	*f = (struct fetched){0};
	if (store_open_write(&store) < 0 || outbox_open(&outbox, &store, true) < 0) {
		why = strerror(errno);
	} else if ((lock = outbox_lock(&outbox, LOCK, until)) < 0) {
		why = errno == EWOULDBLOCK ? "another process reads from it for long"
					   : strerror(errno);
	} else if (!id_exists(&store, id)) {
		remote_key(id, key);
		snprintf(file, sizeof(file), "%s/" OBJECT, outbox.path);
		/* One that a process left which was killed. */
		unlink(file);
		got = remote_run(s, &call);
		why = got < 0 ? call.why : got > 0 ? NULL : fetch_restore(s, &store, file, id, f);
		unlink(file);
	}
	if (why)
		snprintf(f->why, sizeof(f->why), "%s", why);
	io_close(&lock);
	outbox_close(&outbox);
	store_close(&store);
	return why ? -1 : got;
}
