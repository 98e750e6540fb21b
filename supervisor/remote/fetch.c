// See fetch.h.

#include "supervisor/remote/fetch.h"

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

static int fetch_fail(struct fetched *f, const char *why)
{
	snprintf(f->why, sizeof(f->why), "%s", why);
	return -1;
}

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

/* The object is there: takes the artifact out of it. */
static int fetch_restore(const struct settings *s, const struct store *store, const char *file,
			 const char *id, struct fetched *f)
{
	struct settings limits = *s;
	struct archive_restored restored;
	struct stat st;
	int result = -1, fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (limits.max_artifact > limits.cache_max)
		limits.max_artifact = limits.cache_max;
	if (fd < 0 || fstat(fd, &st) < 0)
		fetch_fail(f, "its program has made no file");
	else if (!S_ISREG(st.st_mode) || st.st_size > limits.cache_max)
		fetch_fail(f, fetch_explain(EFBIG));
	else if (archive_restore(store, FETCH_SESSION, id, fd, &limits, &restored) < 0)
		fetch_fail(f, fetch_explain(errno));
	else
		result = 0;
	if (result == 0) {
		f->bytes = (uint64_t)st.st_size;
		fetch_make_room(store, id, (uint64_t)limits.cache_max);
	}
	io_close(&fd);
	return result;
}

enum fetch_answer fetch_artifact(const struct settings *s, const char *id, struct fetched *f)
{
	struct store store;
	struct outbox outbox;
	char key[REMOTE_KEY_LEN], file[PATH_MAX];
	enum fetch_answer answer = FETCH_FAILED;
	*f = (struct fetched){0};
	if (store_open_write(&store) < 0) {
		fetch_fail(f, strerror(errno));
		return FETCH_FAILED;
	}
	/* Another process that fetches has the time of two calls. */
	int64_t until = clock_monotonic_ms() + 2 * s->transfer_time;
	int lock = -1;
	if (outbox_open(&outbox, &store, true) < 0) {
		fetch_fail(f, strerror(errno));
	} else if ((lock = outbox_lock(&outbox, LOCK, until)) < 0) {
		fetch_fail(f, errno == EWOULDBLOCK ? "another process reads from it for long"
						   : strerror(errno));
	} else if (id_exists(&store, id)) {
		answer = FETCH_DONE;
	} else {
		remote_key(id, key);
		snprintf(file, sizeof(file), "%s/" OBJECT, outbox.path);
		struct remote_call call = {
			.work = REMOTE_FETCH, .key = key, .local = file, .most = s->cache_max};
		/* One that a process left which was killed. */
		unlink(file);
		int got = remote_run(s, &call);
		if (got < 0)
			fetch_fail(f, call.why);
		else if (got > 0)
			answer = FETCH_NONE;
		else if (fetch_restore(s, &store, file, id, f) == 0)
			answer = FETCH_DONE;
		unlink(file);
	}
	io_close(&lock);
	outbox_close(&outbox);
	store_close(&store);
	return answer;
}
