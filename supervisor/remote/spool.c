// See spool.h.

#include "supervisor/remote/spool.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/stream.h"
#include "supervisor/remote/catalog.h"
#include "supervisor/remote/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX     ".terse.zst"
#define SUFFIX_LEN 10
#define ENTRY      ".entry"
#define WORK       "work"
#define ADDING     "spool"
#define HOLD       "hold"

/* Between looks at a lock that somebody waits for. */
#define LOCK_PAUSE_MS 20
#define HOLD_PAUSE_MS 1

/* ".ID.PID" */
#define TEMPORARY_LEN (ID_LEN + 24)

/* Of two numbers and a line. */
#define LINE_FILE_MAX ((int64_t)4096)

/* A session and 16 labels, at six bytes for each. */
#define WANTED_MAX ((int64_t)64 * 1024)

int spool_open(struct spool *s, const struct store *store, bool make)
{
	s->dir = -1;
	if (snprintf(s->path, sizeof(s->path), "%s/push", store->path) >= SPOOL_PATH) {
		errno = ENAMETOOLONG;
		return -1;
	}
	s->dir = store_open_push(store, make);
	return s->dir < 0 ? -1 : 0;
}

void spool_close(struct spool *s)
{
	io_close(&s->dir);
}

bool spool_has_work(const struct spool *s)
{
	return s->dir >= 0 && io_is_there(s->dir, WORK);
}

static int spool_note_work(const struct spool *s)
{
	int fd = store_open_file(s->dir, WORK, O_WRONLY | O_CREAT);
	int result = fd < 0 ? -1 : 0;
	io_close(&fd);
	return result;
}

int spool_read_file(int dir, const char *name, int64_t most, struct buffer *out)
{
	struct stat st;
	int result = -1, fd = store_open_file(dir, name, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	errno = EFBIG;
	if (st.st_size > most || buffer_reserve(out, (size_t)st.st_size + 1) < 0)
		goto out;
	ssize_t n = io_read(fd, out->data + out->len, (size_t)st.st_size);
	if (n >= 0) {
		out->len += (size_t)n;
		result = 0;
	}
out:
	io_close(&fd);
	return result;
}

/* Opens a file that takes its place by a rename, and locks it so that nobody sweeps it away. */
static int spool_open_temporary(const struct spool *s, const char *id, char name[TEMPORARY_LEN])
{
	snprintf(name, TEMPORARY_LEN, ".%s.%ld", id, (long)getpid());
	int fd = store_open_file(s->dir, name, O_RDWR | O_CREAT | O_TRUNC);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int spool_want_labelled(const struct spool *s, const struct settings *settings,
			       const char *session, const char *id)
{
	char temporary[TEMPORARY_LEN];
	struct buffer text = BUFFER_INIT;
	int result = -1, fd = spool_open_temporary(s, id, temporary);
	if (fd < 0)
		return -1;
	buffer_printf(&text, "%s\n", session);
	origin_add_labels(&text, settings);
	if (buffer_check(&text) == 0 && io_write(fd, text.data, text.len) == 0)
		result = renameat(s->dir, temporary, s->dir, id);
	int error = errno;
	if (result < 0)
		unlinkat(s->dir, temporary, 0);
	buffer_release(&text);
	io_close(&fd);
	errno = error;
	return result;
}

int spool_want(const struct spool *s, const struct settings *settings, const char *session,
	       const char *id)
{
	if (spool_note_work(s) < 0)
		return -1;
	if (settings->labels.count > 0 && spool_want_labelled(s, settings, session, id) == 0)
		return 0;
	/* Better without its labels than not at all. */
	return symlinkat(session, s->dir, id);
}

/* Splits "SESSION\n{labels}". The labels become a part of a line, so what is no object is {}. */
static void spool_parse_wanted(const struct buffer *text, char session[STORE_SESSION_LEN + 1],
			       struct buffer *labels)
{
	const char *newline = text->len > 0 ? memchr(text->data, '\n', text->len) : NULL;
	size_t len = newline ? (size_t)(newline - text->data) : 0;
	size_t rest = newline ? text->len - len - 1 : 0;
	json_t *object = newline ? json_loadb(newline + 1, rest, 0, NULL) : NULL;
	snprintf(session, STORE_SESSION_LEN + 1, "%.*s", (int)len, newline ? text->data : "");
	if (json_is_object(object))
		buffer_append(labels, newline + 1, rest);
	else
		buffer_append_string(labels, "{}");
	json_decref(object);
}

/* What spool_want() has noted. Returns 0, or -1 with errno. */
static int spool_read_wanted(const struct spool *s, const char *id,
			     char session[STORE_SESSION_LEN + 1], struct buffer *labels)
{
	struct buffer text = BUFFER_INIT;
	ssize_t n = readlinkat(s->dir, id, session, STORE_SESSION_LEN + 1);
	if (n < 0 && errno != EINVAL)
		return -1;
	if (n >= 0) {
		session[n <= STORE_SESSION_LEN ? n : 0] = '\0';
		buffer_append_string(labels, "{}");
		return buffer_check(labels);
	}
	int result = spool_read_file(s->dir, id, WANTED_MAX, &text);
	if (result == 0) {
		spool_parse_wanted(&text, session, labels);
		result = buffer_check(labels);
	}
	buffer_release(&text);
	return result;
}

void spool_forget(const struct spool *s, const char *id)
{
	unlinkat(s->dir, id, 0);
}

bool spool_is_wanted(const struct settings *settings, const struct meta *m)
{
	return settings->push == PUSHING_ALL ||
	       (settings->push == PUSHING_FAILED && meta_has_failed(m));
}

static void spool_name(const char *id, char name[ID_LEN + SUFFIX_LEN + 1])
{
	snprintf(name, ID_LEN + SUFFIX_LEN + 1, "%s" SUFFIX, id);
}

void spool_entry(const char *id, char name[SPOOL_ENTRY_LEN + 1])
{
	snprintf(name, SPOOL_ENTRY_LEN + 1, "%s" ENTRY, id);
}

void spool_archive(const struct spool *s, const char *id, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s" SUFFIX, s->path, id);
}

bool spool_has_archive(const struct spool *s, const char *id)
{
	char name[ID_LEN + SUFFIX_LEN + 1];
	spool_name(id, name);
	return io_is_there(s->dir, name);
}

void spool_done(const struct spool *s, const char *id)
{
	char name[ID_LEN + SUFFIX_LEN + 1];
	spool_name(id, name);
	unlinkat(s->dir, name, 0);
	spool_entry(id, name);
	unlinkat(s->dir, name, 0);
}

int spool_lock(const struct spool *s, const char *name)
{
	int fd = store_open_file(s->dir, name, O_RDWR | O_CREAT);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		io_close(&fd);
	return fd;
}

int spool_lock_until(const struct spool *s, const char *name, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (;;) {
		int lock = spool_lock(s, name);
		if (lock >= 0 || (until_ms && clock_monotonic_ms() >= until_ms))
			return lock;
		nanosleep(&pause, NULL);
	}
}

static int spool_open_hold(const struct spool *s, int operation)
{
	int fd = store_open_file(s->dir, HOLD, O_RDWR | O_CREAT);
	if (fd >= 0 && flock(fd, operation | LOCK_NB) < 0)
		io_close(&fd);
	return fd;
}

int spool_hold(const struct spool *s)
{
	return spool_open_hold(s, LOCK_SH);
}

void spool_settle(const struct spool *s, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = HOLD_PAUSE_MS * 1000000};
	int fd;
	while ((fd = spool_open_hold(s, LOCK_EX)) < 0 && errno == EWOULDBLOCK &&
	       clock_monotonic_ms() < until_ms)
		nanosleep(&pause, NULL);
	io_close(&fd);
}

struct spool_numbers spool_read(const struct spool *s, const char *name)
{
	char text[64], *end;
	struct spool_numbers n = {0};
	int fd = store_open_file(s->dir, name, O_RDONLY);
	ssize_t len = fd < 0 ? -1 : io_read(fd, text, sizeof(text) - 1);
	io_close(&fd);
	if (len <= 0)
		return n;
	text[len] = '\0';
	n.a = strtoull(text, &end, 10);
	n.b = strtoull(end, NULL, 10);
	return n;
}

void spool_write(const struct spool *s, const char *name, struct spool_numbers numbers,
		 const char *line)
{
	struct buffer text = BUFFER_INIT;
	buffer_printf(&text, "%" PRIu64 " %" PRIu64 "\n%s%s", numbers.a, numbers.b, line,
		      *line ? "\n" : "");
	int fd = store_open_file(s->dir, name, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0)
		io_write(fd, text.data, text.len);
	io_close(&fd);
	buffer_release(&text);
}

void spool_read_line(const struct spool *s, const char *name, char *line, size_t size)
{
	struct buffer text = BUFFER_INIT;
	const char *from = spool_read_file(s->dir, name, LINE_FILE_MAX, &text) == 0
				   ? buffer_string(&text)
				   : NULL;
	from = from ? strchr(from, '\n') : NULL;
	snprintf(line, size, "%.*s", from ? (int)strcspn(from + 1, "\n") : 0, from ? from + 1 : "");
	buffer_release(&text);
}

void spool_remove(const struct spool *s, const char *name)
{
	unlinkat(s->dir, name, 0);
}

/* --- listing ------------------------------------------------------------------------ */

/* Calls `each` for the names in the spool until it returns other than 0. */
static int spool_each(const struct spool *s, int (*each)(void *ctx, const char *name), void *ctx)
{
	int result = 0;
	struct dirent *e;
	DIR *d = io_list(s->dir);
	while (d && result == 0 && (errno = 0, e = readdir(d)) != NULL)
		result = each(ctx, e->d_name);
	if (d && result == 0 && errno)
		result = -1;
	if (d)
		closedir(d);
	return d ? result : -1;
}

/* Whether the name is that of an archive; takes its ID. */
static bool spool_is_archive(const char *name, char id[ID_LEN + 1])
{
	if (strlen(name) != ID_LEN + SUFFIX_LEN || strcmp(name + ID_LEN, SUFFIX) != 0)
		return false;
	memcpy(id, name, ID_LEN);
	id[ID_LEN] = '\0';
	return id_is_valid(id);
}

struct spool_items {
	const struct spool *spool;
	struct spool_item *items;
	size_t count, room;
	bool wanted; /* the links, else the archives */
};

static int spool_add(void *ctx, const char *name)
{
	struct spool_items *list = ctx;
	char id[ID_LEN + 1];
	struct stat st = {0};
	if (list->wanted ? !id_is_valid(name) : !spool_is_archive(name, id))
		return 0;
	if (list->wanted)
		memcpy(id, name, sizeof(id));
	else if (fstatat(list->spool->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	struct spool_item *item =
		array_add(&list->items, &list->count, &list->room, sizeof(*list->items));
	if (item)
		*item = (struct spool_item){.id = id_pack(id), .bytes = (uint64_t)st.st_size};
	return item ? 0 : -1;
}

static int spool_collect(const struct spool *s, bool wanted, struct spool_item **items,
			 size_t *count)
{
	struct spool_items list = {.spool = s, .wanted = wanted};
	int result = spool_each(s, spool_add, &list);
	if (result < 0) {
		free(list.items);
		list = (struct spool_items){0};
	} else if (list.count > 0) {
		qsort(list.items, list.count, sizeof(*list.items), id_compare);
	}
	*items = list.items;
	*count = list.count;
	return result;
}

int spool_list(const struct spool *s, struct spool_item **items, size_t *count)
{
	return spool_collect(s, false, items, count);
}

/* --- packing ------------------------------------------------------------------------ */

/* Opens the directory of a session in the store that has the artifact: -1 if none has. */
static int spool_open_session(const char *session, const char *id)
{
	struct store stores[STORE_MAX];
	int dir = -1, count = store_open_everywhere(stores);
	for (int i = 0; i < count && dir < 0; i++) {
		dir = store_open_session(&stores[i], session, false);
		if (dir >= 0 && !id_has_file(dir, id, ".txt"))
			io_close(&dir);
	}
	store_close_all(stores, count);
	return dir;
}

/* Throws out the oldest archives until there is room for `bytes` more. Returns whether there is. */
static bool spool_make_room(const struct spool *s, uint64_t bytes, uint64_t most)
{
	struct spool_item *items;
	size_t count;
	uint64_t total = bytes;
	struct spool_numbers dropped = spool_read(s, SPOOL_DROPPED), before = dropped;
	bool fits = bytes <= most;
	if (!fits) {
		dropped.a++;
		dropped.b += bytes;
	} else if (spool_list(s, &items, &count) == 0) {
		for (size_t i = 0; i < count; i++)
			total += items[i].bytes;
		for (size_t i = 0; i < count && total > most; i++) {
			char id[ID_LEN + 1];
			id_unpack(items[i].id, id);
			spool_done(s, id);
			total -= items[i].bytes;
			dropped.a++;
			dropped.b += items[i].bytes;
		}
		free(items);
	}
	if (dropped.a > before.a)
		spool_write(s, SPOOL_DROPPED, dropped, "");
	return fits;
}

/* Keeps others from adding. Without locks two may add at a time: then spool_max is exceeded a
   little. */
static int spool_lock_adding(const struct spool *s)
{
	int lock = store_open_file(s->dir, ADDING, O_RDWR | O_CREAT);
	if (lock >= 0)
		flock(lock, LOCK_EX);
	return lock;
}

bool spool_drop(const struct spool *s, const char *id)
{
	int lock = spool_lock_adding(s);
	bool waited = io_is_there(s->dir, id) || spool_has_archive(s, id);
	spool_forget(s, id);
	spool_done(s, id);
	io_close(&lock);
	return waited;
}

/* A wanted run that has ended. */
struct spool_run {
	const char *id;
	const struct meta *meta;
	const struct buffer *labels;
};

/* Writes the line for the index. */
static int spool_write_entry(const struct spool *s, const struct spool_run *run, uint64_t bytes)
{
	char name[SPOOL_ENTRY_LEN + 1], host[REMOTE_HOST_LEN + 1];
	struct buffer line = BUFFER_INIT;
	int result = -1, fd = -1;
	spool_entry(run->id, name);
	remote_host(host);
	if (catalog_encode(&line, run->meta, run->labels, host, bytes) == 0)
		fd = store_open_file(s->dir, name, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0)
		result = io_write(fd, line.data, line.len);
	buffer_release(&line);
	io_close(&fd);
	return result;
}

/* The archive is written: it takes its place behind its line for the index, if the run is still
   wanted and no other process was first. */
static int spool_add_archive(const struct spool *s, const struct settings *settings,
			     const struct spool_run *run, const char *temporary, int fd)
{
	const char *id = run->id;
	char name[ID_LEN + SUFFIX_LEN + 1];
	struct stat st;
	int result = -1, lock = spool_lock_adding(s);
	spool_name(id, name);
	if (fstat(fd, &st) < 0)
		goto out;
	uint64_t bytes = (uint64_t)st.st_size;
	if (!io_is_there(s->dir, id) || io_is_there(s->dir, name) ||
	    !spool_make_room(s, bytes, (uint64_t)settings->spool_max))
		result = unlinkat(s->dir, temporary, 0);
	else if (spool_write_entry(s, run, bytes) == 0)
		result = renameat(s->dir, temporary, s->dir, name);
	if (result == 0)
		spool_forget(s, id);
out:
	io_close(&lock);
	return result;
}

/* Writes the archive of a run that has ended. Returns 0, or -1 with errno (EBUSY: it goes on). */
static int spool_pack_artifact(const struct spool *s, const struct settings *settings, int session,
			       const struct spool_run *run)
{
	char temporary[TEMPORARY_LEN];
	int fd = spool_open_temporary(s, run->id, temporary);
	if (fd < 0)
		return -1;
	int result = stream_has_room(fd, (uint64_t)settings->min_free) ? 0 : -1;
	if (result == 0)
		result = archive_write(session, run->id, fd);
	if (result == 0)
		result = spool_add_archive(s, settings, run, temporary, fd);
	int error = errno;
	if (result < 0)
		unlinkat(s->dir, temporary, 0);
	io_close(&fd);
	errno = error;
	return result;
}

/* Packs the run of an artifact that is there. Returns as spool_pack_one(). */
static int spool_pack_found(const struct spool *s, const struct settings *settings, int session,
			    const char *id, const struct buffer *labels)
{
	struct meta m;
	int result = 0;
	if (meta_read(session, id, &m) < 0)
		return -1;
	if (m.state == META_RUNNING)
		result = 1;
	else if (!spool_is_wanted(settings, &m))
		spool_forget(s, id);
	else
		result = spool_pack_artifact(
			s, settings, session,
			&(struct spool_run){.id = id, .meta = &m, .labels = labels});
	int error = errno;
	meta_release(&m);
	errno = error;
	return result < 0 && errno == EBUSY ? 1 : result;
}

/* Returns 0 if it is dealt with, 1 if its run goes on, or -1 with errno. */
static int spool_pack_one(const struct spool *s, const struct settings *settings, const char *id)
{
	char session[STORE_SESSION_LEN + 1] = "";
	struct buffer labels = BUFFER_INIT;
	int result = -1, dir = -1;
	if (spool_read_wanted(s, id, session, &labels) < 0) {
		/* Another process was first, or it is nothing that a run has made. */
		if (errno == EPERM || errno == EFBIG)
			spool_forget(s, id);
		result = errno == ENOENT || errno == EPERM || errno == EFBIG ? 0 : -1;
		goto out;
	}
	dir = spool_open_session(session, id);
	if (dir >= 0) {
		result = spool_pack_found(s, settings, dir, id, &labels);
	} else if (!store_is_short(errno)) {
		/* It was removed. */
		spool_forget(s, id);
		result = 0;
	}
out:;
	int error = errno;
	buffer_release(&labels);
	io_close(&dir);
	errno = error;
	return result;
}

unsigned spool_pack(const struct spool *s, const struct settings *settings)
{
	struct spool_item *items;
	size_t count;
	unsigned failed = 0;
	int error = 0;
	if (spool_collect(s, true, &items, &count) < 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (spool_pack_one(s, settings, id) < 0) {
			error = errno;
			failed++;
		}
	}
	free(items);
	errno = error;
	return failed;
}

/* --- cleaning ----------------------------------------------------------------------- */

static int spool_look(void *ctx, const char *name)
{
	char id[ID_LEN + 1];
	(void)ctx;
	return id_is_valid(name) || spool_is_archive(name, id);
}

void spool_rest(const struct spool *s)
{
	/* Who adds something after the look makes the file after it, too, or again below. */
	spool_remove(s, WORK);
	if (spool_each(s, spool_look, NULL) != 0 || catalog_is_dirty(s))
		spool_note_work(s);
}

static int spool_sweep_one(void *ctx, const char *name)
{
	const struct spool *s = ctx;
	char id[ID_LEN + 1];
	snprintf(id, sizeof(id), "%.*s", ID_LEN, *name == '.' ? name + 1 : name);
	if (!id_is_valid(id) || id_is_valid(name) || spool_is_archive(name, id))
		return 0;
	/* The line of an archive that is there, or will be soon. */
	if (strcmp(name + strlen(id), ENTRY) == 0 &&
	    (spool_has_archive(s, id) || io_is_there(s->dir, id)))
		return 0;
	int fd = store_open_file(s->dir, name, O_RDONLY);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(s->dir, name, 0);
	io_close(&fd);
	return 0;
}

void spool_sweep(const struct spool *s)
{
	spool_each(s, spool_sweep_one, (void *)s);
}
