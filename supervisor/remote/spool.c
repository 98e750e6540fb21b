// See spool.h.

#include "supervisor/remote/spool.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/remote/catalog.h"
#include "supervisor/remote/origin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SUFFIX ".tar.zst"
#define ENTRY  ".entry"
#define WORK   "work"
#define HOLD   "hold"

/* Between looks at a lock that somebody waits for. */
#define LOCK_PAUSE_MS 20
#define HOLD_PAUSE_MS 1

/* Of two numbers and a line. */
#define LINE_FILE_MAX ((int64_t)4096)

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

int spool_open_temporary(const struct spool *s, const char *id, char name[SPOOL_TEMPORARY_LEN])
{
	snprintf(name, SPOOL_TEMPORARY_LEN, ".%s.%ld", id, (long)getpid());
	int fd = store_open_file(s->dir, name, O_RDWR | O_CREAT | O_TRUNC);
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int spool_want_labelled(const struct spool *s, const struct settings *settings,
			       const char *place, const char *id)
{
	char temporary[SPOOL_TEMPORARY_LEN];
	struct buffer text = BUFFER_INIT;
	int result = -1, fd = spool_open_temporary(s, id, temporary);
	if (fd < 0)
		return -1;
	buffer_printf(&text, "%s\n", place);
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
	char place[SPOOL_PLACE_LEN + 1], host[REMOTE_HOST_LEN + 1];
	remote_host(host);
	snprintf(place, sizeof(place), "%s/%s", session, host);
	if (spool_note_work(s) < 0)
		return -1;
	/* Better without its labels than not at all. */
	if ((settings->labels.count == 0 || spool_want_labelled(s, settings, place, id) < 0) &&
	    symlinkat(place, s->dir, id) < 0)
		return -1;
	/* Another process may have found nothing to do just before (spool_rest). */
	return spool_has_work(s) ? 0 : spool_note_work(s);
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

void spool_archive_name(const char *id, char name[SPOOL_ARCHIVE_LEN + 1])
{
	snprintf(name, SPOOL_ARCHIVE_LEN + 1, "%s" SUFFIX, id);
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
	char name[SPOOL_ARCHIVE_LEN + 1];
	spool_archive_name(id, name);
	return io_is_there(s->dir, name);
}

void spool_done(const struct spool *s, const char *id)
{
	char name[SPOOL_ARCHIVE_LEN + 1];
	spool_archive_name(id, name);
	unlinkat(s->dir, name, 0);
	spool_entry(id, name);
	unlinkat(s->dir, name, 0);
}

static int spool_take(const struct spool *s, const char *name, int operation)
{
	int fd = store_open_file(s->dir, name, O_RDWR | O_CREAT);
	if (fd >= 0 && flock(fd, operation | LOCK_NB) < 0)
		io_close(&fd);
	return fd;
}

int spool_lock(const struct spool *s, const char *name)
{
	return spool_take(s, name, LOCK_EX);
}

int spool_lock_until(const struct spool *s, const char *name, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (;;) {
		int lock = spool_lock(s, name);
		bool goes_on =
			lock < 0 && (errno == EWOULDBLOCK || (until_ms && store_is_short(errno)));
		if (!goes_on || (until_ms && clock_monotonic_ms() >= until_ms))
			return lock;
		nanosleep(&pause, NULL);
	}
}

int spool_hold(const struct spool *s)
{
	return spool_take(s, HOLD, LOCK_SH);
}

void spool_settle(const struct spool *s, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = HOLD_PAUSE_MS * 1000000};
	int fd;
	while ((fd = spool_lock(s, HOLD)) < 0 && errno == EWOULDBLOCK &&
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
	if (strlen(name) != SPOOL_ARCHIVE_LEN || strcmp(name + ID_LEN, SUFFIX) != 0)
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

int spool_list_wanted(const struct spool *s, struct spool_item **items, size_t *count)
{
	return spool_collect(s, true, items, count);
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
