// See cache.h.

#include "supervisor/remote/cache.h"

#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/removal.h"
#include "supervisor/remote/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names in STORE/push. */
#define LOCK       "cache"
#define OBJECT     "object"
#define OBJECT_LEN 6

/* Removes what was fetched, also by a process that was killed. For the holder of the lock. */
static void cache_remove_objects(const struct spool *s)
{
	struct dirent *e;
	DIR *d = io_list(s->dir);
	while (d && (e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, OBJECT, OBJECT_LEN) == 0)
			unlinkat(s->dir, e->d_name, 0);
	}
	if (d)
		closedir(d);
}

static int cache_fail(struct cached *c, const char *why)
{
	snprintf(c->why, sizeof(c->why), "%s", why);
	return -1;
}

static const char *cache_explain(int error)
{
	switch (error) {
	case EBADMSG: return "what it has under this ID is no archive of terse, or damaged";
	case EXDEV: return "what it has under this ID is another run";
	case EFBIG: return "larger than [remote] cache_max, or [spill] max_artifact";
	case EEXIST: return "a run that is about to begin here has this ID";
	default: return strerror(error);
	}
}

static int cache_by_age(const void *a, const void *b)
{
	const struct retention_item *x = a, *y = b;
	return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

/* Keeps the cache within its size, and the artifact that was fetched now. */
static void cache_make_room(const struct store *store, const char *id, uint64_t most)
{
	struct inventory v;
	uint64_t total = 0, freed = 0, kept = id_pack(id);
	int dir = store_open_session(store, CACHE_SESSION, false);
	if (dir < 0 || inventory_read(&v, store, CACHE_SESSION) < 0) {
		io_close(&dir);
		return;
	}
	for (size_t i = 0; i < v.count; i++)
		total += v.items[i].bytes;
	if (v.count > 0)
		qsort(v.items, v.count, sizeof(*v.items), cache_by_age);
	for (size_t i = 0; i < v.count && total > most; i++) {
		char name[ID_LEN + 1];
		id_unpack(v.items[i].id, name);
		if (v.items[i].id != kept &&
		    removal_of(store, CACHE_SESSION, dir, name, &freed) == REMOVAL_DONE)
			total -= v.items[i].bytes < total ? v.items[i].bytes : total;
	}
	inventory_release(&v);
	io_close(&dir);
}

/* The object is there: takes the artifact out of it. */
static int cache_restore(const struct remote *r, const struct store *store, const char *file,
			 const char *id, struct cached *c)
{
	struct settings limits = *r->settings;
	struct archive_restored restored;
	struct stat st;
	int result = -1, fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (limits.max_artifact > limits.cache_max)
		limits.max_artifact = limits.cache_max;
	if (fd < 0 || fstat(fd, &st) < 0)
		cache_fail(c, "its program has made no file");
	else if (!S_ISREG(st.st_mode) || st.st_size > limits.cache_max)
		cache_fail(c, cache_explain(EFBIG));
	else if (archive_restore(store, CACHE_SESSION, id, fd, &limits, &restored) < 0)
		cache_fail(c, cache_explain(errno));
	else
		result = 0;
	if (result == 0) {
		c->bytes = (uint64_t)st.st_size;
		cache_make_room(store, id, (uint64_t)limits.cache_max);
	}
	io_close(&fd);
	return result;
}

/* Transfers the object into the file, and the artifact into the store. */
static enum cache_answer cache_transfer(const struct remote *r, const struct store *store,
					const struct spool *s, const char *id, struct cached *c)
{
	char key[REMOTE_KEY_LEN], file[PATH_MAX];
	remote_key(id, key);
	snprintf(file, sizeof(file), "%s/" OBJECT "-%s.tar.zst", s->path, id);
	const struct remote_object object = {.file = file, .key = key, .id = id, .host = r->host};
	int got = transfer_run(r, REMOTE_PULL, &object, r->settings->cache_max, 0, c->why);
	if (got != 0)
		return got > 0 ? CACHE_NONE : CACHE_FAILED;
	return cache_restore(r, store, file, id, c) == 0 ? CACHE_FETCHED : CACHE_FAILED;
}

enum cache_answer cache_fetch(const struct remote *r, const char *id, struct cached *c)
{
	struct store store;
	struct spool spool;
	enum cache_answer answer = CACHE_FAILED;
	*c = (struct cached){0};
	if (store_open_write(&store) < 0) {
		cache_fail(c, strerror(errno));
		return CACHE_FAILED;
	}
	/* Another process that fetches has the time of two transfers. */
	int64_t until = clock_monotonic_ms() + 2 * r->settings->transfer_time;
	int lock = -1;
	if (spool_open(&spool, &store, true) < 0) {
		cache_fail(c, strerror(errno));
	} else if ((lock = spool_lock_until(&spool, LOCK, until)) < 0) {
		cache_fail(c, errno == EWOULDBLOCK ? "another process reads from it for long"
						   : strerror(errno));
	} else if (id_exists(&store, id)) {
		answer = CACHE_FETCHED;
	} else {
		cache_remove_objects(&spool);
		answer = cache_transfer(r, &store, &spool, id, c);
		cache_remove_objects(&spool);
	}
	io_close(&lock);
	spool_close(&spool);
	store_close(&store);
	return answer;
}
