// See outbox.h.

#include "supervisor/remote/outbox.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/utf8.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/stream.h"
#include "supervisor/remote/index.h"

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

#define WANTED "wanted"
#define LINE   ".line"
#define NEW    "new"
#define ADDING "adding"
#define HOLD   "hold"

/* Of a path below the outbox. */
#define BELOW 320

/* Between looks at a lock that somebody waits for. */
#define LOCK_PAUSE_MS 20
#define HOLD_PAUSE_MS 1

/* A session and 16 labels, at six bytes for each of theirs. */
#define WANTED_MAX ((int64_t)64 * 1024)

/* Of two numbers and a line. */
#define LINE_FILE_MAX ((int64_t)4096)

#define MOUNTS_MAX ((size_t)256 * 1024)

int outbox_open(struct outbox *o, const struct store *store, bool make)
{
	o->dir = -1;
	if (snprintf(o->path, sizeof(o->path), "%s/outbox", store->path) >= OUTBOX_PATH) {
		errno = ENAMETOOLONG;
		return -1;
	}
	o->dir = store_open_outbox(store, make);
	return o->dir < 0 ? -1 : 0;
}

void outbox_close(struct outbox *o)
{
	io_close(&o->dir);
}

bool outbox_has_work(const struct outbox *o)
{
	return o->dir >= 0 && io_is_there(o->dir, WANTED);
}

/* --- files and locks ------------------------------------------------------------------ */

int outbox_read_file(int dir, const char *name, int64_t most, struct buffer *out)
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

int outbox_begin_file(const struct outbox *o, const char *id, char name[OUTBOX_TEMPORARY_LEN])
{
	struct stat st = {.st_nlink = 1};
	int fd;
	snprintf(name, OUTBOX_TEMPORARY_LEN, ".%s.%ld", id, (long)getpid());
	do {
		fd = store_open_file(o->dir, name, O_RDWR | O_CREAT | O_TRUNC);
		/* outbox_sweep() may have taken it for a leftover just before. */
		if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0)
			io_close(&fd);
	} while (st.st_nlink == 0);
	return fd;
}

/* Makes what is missing of the directories in front of a file. */
static void outbox_make_parents(const struct outbox *o, const char *path)
{
	char part[BELOW];
	for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(o->dir, part, 0700);
	}
}

int outbox_end_file(const struct outbox *o, int result, int *fd, const char *name, const char *path)
{
	/* The holder of the lock may remove a directory that is empty just then. */
	for (int i = 0; result == 0 && i < 100; i++) {
		result = renameat(o->dir, name, o->dir, path);
		if (result == 0 || errno != ENOENT)
			break;
		outbox_make_parents(o, path);
		result = i < 99 ? 0 : -1;
	}
	int error = errno;
	if (result < 0)
		unlinkat(o->dir, name, 0);
	io_close(fd);
	errno = error;
	return result;
}

static int outbox_take(const struct outbox *o, const char *name, int operation)
{
	int fd = store_open_file(o->dir, name, O_RDWR | O_CREAT);
	if (fd >= 0 && flock(fd, operation | LOCK_NB) < 0)
		io_close(&fd);
	return fd;
}

int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	for (;;) {
		int lock = outbox_take(o, name, LOCK_EX);
		bool timed = until_ms > OUTBOX_AT_ONCE;
		bool goes_on =
			lock < 0 && (errno == EWOULDBLOCK || (timed && store_is_short(errno)));
		if (!goes_on || (until_ms && clock_monotonic_ms() >= until_ms))
			return lock;
		nanosleep(&pause, NULL);
	}
}

int outbox_hold(const struct outbox *o)
{
	return outbox_take(o, HOLD, LOCK_SH);
}

void outbox_settle(const struct outbox *o, int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = HOLD_PAUSE_MS * 1000000};
	int fd;
	while ((fd = outbox_take(o, HOLD, LOCK_EX)) < 0 && errno == EWOULDBLOCK &&
	       clock_monotonic_ms() < until_ms)
		nanosleep(&pause, NULL);
	io_close(&fd);
}

struct outbox_numbers outbox_read(const struct outbox *o, const char *name, char line[REMOTE_WHY])
{
	struct buffer text = BUFFER_INIT;
	struct outbox_numbers n = {0};
	char *end;
	if (line)
		*line = '\0';
	if (outbox_read_file(o->dir, name, LINE_FILE_MAX, &text) == 0 && buffer_string(&text)) {
		n.a = strtoull(text.data, &end, 10);
		n.b = strtoull(end, &end, 10);
		end += *end == '\n';
		if (line)
			snprintf(line, REMOTE_WHY, "%.*s", (int)strcspn(end, "\n"), end);
	}
	buffer_release(&text);
	return n;
}

void outbox_write(const struct outbox *o, const char *name, struct outbox_numbers numbers,
		  const char *line)
{
	struct buffer text = BUFFER_INIT;
	buffer_printf(&text, "%" PRIu64 " %" PRIu64 "\n%s%s", numbers.a, numbers.b, line,
		      *line ? "\n" : "");
	int fd = store_open_file(o->dir, name, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd >= 0)
		io_write(fd, text.data, text.len);
	io_close(&fd);
	buffer_release(&text);
}

/* --- wanted ------------------------------------------------------------------------- */

bool outbox_container(const char *mounts, char id[OUTBOX_CONTAINER + 1])
{
	/* Container engines mount files such as /etc/hostname from a directory that is named after
	   the container, by 64 digits. */
	static const char *const marks[] = {"/containers/", "/sandboxes/", "/overlay-containers/",
					    "/cri-containerd/"};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		for (const char *at = mounts; (at = strstr(at, marks[i])) != NULL;) {
			at += strlen(marks[i]);
			if (strspn(at, "0123456789abcdef") != 64)
				continue;
			snprintf(id, OUTBOX_CONTAINER + 1, "%s", at);
			return true;
		}
	}
	return false;
}

static void outbox_add_container(struct buffer *out)
{
	char id[OUTBOX_CONTAINER + 1], *text = malloc(MOUNTS_MAX);
	int fd = text ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : io_read(fd, text, MOUNTS_MAX - 1);
	bool found = false;
	if (n >= 0) {
		text[n] = '\0';
		found = outbox_container(text, id);
	}
	json_add_string(out, "container", found ? id : NULL);
	io_close(&fd);
	free(text);
}

/* A value "$NAME" is that variable's of this process. */
static void outbox_add_labels(struct buffer *out, const struct settings *settings)
{
	json_begin_object(out, "labels");
	for (size_t i = 0; i < settings->labels.count; i++) {
		const char *label = settings->labels.items[i], *value = strchr(label, '=') + 1;
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(value - label - 1), label);
		if (*value == '$' && value[1])
			value = getenv(value + 1);
		size_t len = value ? strlen(value) : 0;
		if (len > 0)
			json_add_text(out, name, value,
				      utf8_floor(value, len, len < LABEL_MAX ? len : LABEL_MAX));
	}
	json_end_object(out);
}

int outbox_want(const struct outbox *o, const struct settings *settings, const char *session,
		const char *id)
{
	char temporary[OUTBOX_TEMPORARY_LEN], path[BELOW], host[REMOTE_HOST_LEN + 1];
	struct buffer text = BUFFER_INIT;
	int fd = outbox_begin_file(o, id, temporary);
	if (fd < 0)
		return -1;
	remote_host(host);
	json_begin_object(&text, NULL);
	json_add_string(&text, "session", session);
	json_add_string(&text, "host", host);
	outbox_add_container(&text);
	outbox_add_labels(&text, settings);
	json_end_object(&text);
	int result = buffer_check(&text);
	if (result == 0)
		result = io_write(fd, text.data, text.len);
	snprintf(path, sizeof(path), WANTED "/%s", id);
	buffer_release(&text);
	return outbox_end_file(o, result, &fd, temporary, path);
}

void outbox_forget(const struct outbox *o, const char *id)
{
	char path[BELOW];
	snprintf(path, sizeof(path), WANTED "/%s", id);
	unlinkat(o->dir, path, 0);
}

bool outbox_is_wanted(const struct settings *settings, const struct meta *m)
{
	return settings->push == PUSHING_ALL ||
	       (settings->push == PUSHING_FAILED && meta_has_failed(m));
}

/* --- listing ------------------------------------------------------------------------ */

void outbox_line(const char *id, char path[OUTBOX_LINE_LEN + 1])
{
	snprintf(path, OUTBOX_LINE_LEN + 1, WANTED "/%.16s" LINE, id);
}

static void outbox_archive(const char *id, char path[BELOW])
{
	char key[REMOTE_KEY_LEN];
	remote_key(id, key);
	snprintf(path, BELOW, NEW "/%s", key);
}

int outbox_list(const struct outbox *o, struct outbox_item **items, size_t *count)
{
	struct outbox_item *list = NULL, *item;
	size_t n = 0, room = 0;
	int fd = openat(o->dir, WANTED, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	struct dirent *e;
	DIR *d = io_list_opened(fd);
	*items = NULL;
	*count = 0;
	if (!d)
		return errno == ENOENT ? 0 : -1;
	while (!error && (errno = 0, e = readdir(d)) != NULL) {
		char id[ID_LEN + 1], path[BELOW];
		struct stat st = {0};
		snprintf(id, sizeof(id), "%.16s", e->d_name);
		bool line = strcmp(e->d_name + strlen(id), LINE) == 0;
		if (!id_is_valid(id) || (!line && e->d_name[ID_LEN]))
			continue;
		item = array_add(&list, &n, &room, sizeof(*list));
		error = item ? 0 : errno;
		outbox_archive(id, path);
		bool moved = line && fstatat(o->dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
			     errno == ENOENT;
		if (item)
			*item = (struct outbox_item){id_pack(id), line, moved,
						     (uint64_t)st.st_size};
	}
	error = error ? error : errno;
	closedir(d);
	if (error) {
		free(list);
		errno = error;
		return -1;
	}
	if (n > 0)
		qsort(list, n, sizeof(*list), id_compare);
	*items = list;
	*count = n;
	return 0;
}

struct outbox_state outbox_look(const struct outbox *o)
{
	struct outbox_item *items;
	struct outbox_state state = {0};
	size_t count;
	/* What can't be counted may be there. */
	if (outbox_list(o, &items, &count) < 0)
		return (struct outbox_state){.waiting = 1};
	for (size_t i = 0; i < count; i++) {
		bool waits = items[i].line && !items[i].moved;
		if (waits && state.waiting++ == 0)
			state.oldest_ms = id_time_ms(items[i].id);
		state.bytes += items[i].bytes;
		state.moved += items[i].moved;
	}
	free(items);
	return state;
}

/* --- taking out --------------------------------------------------------------------- */

/* The archive goes last: without a line, one that is not there was not moved. Returns whether it
   waited. */
static bool outbox_remove(const struct outbox *o, const char *id)
{
	char path[BELOW], line[OUTBOX_LINE_LEN + 1];
	snprintf(path, sizeof(path), WANTED "/%s", id);
	bool waited = unlinkat(o->dir, path, 0) == 0;
	outbox_archive(id, path);
	bool moved = !io_is_there(o->dir, path);
	outbox_line(id, line);
	if (!moved) {
		unlinkat(o->dir, line, 0);
		waited |= unlinkat(o->dir, path, 0) == 0;
	}
	return waited;
}

bool outbox_drop(const struct outbox *o, const char *id)
{
	/* Without locks two may add at a time: then outbox_max is exceeded a little. */
	int lock = outbox_lock(o, ADDING, 0);
	bool waited = outbox_remove(o, id);
	io_close(&lock);
	return waited;
}

/* Removes directories that are empty, from the bottom up. */
static void outbox_prune(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *e;
	DIR *d = io_list_opened(fd);
	while (d && depth > 0 && (e = readdir(d)) != NULL) {
		if (*e->d_name != '.' && strlen(e->d_name) <= strlen(REMOTE_ARTIFACTS))
			outbox_prune(dirfd(d), e->d_name, depth - 1);
	}
	if (d)
		closedir(d);
	if (d)
		unlinkat(at, name, AT_REMOVEDIR);
}

void outbox_rest(const struct outbox *o)
{
	outbox_prune(o->dir, NEW, 6);
	/* Fails where there is a run. */
	unlinkat(o->dir, WANTED, AT_REMOVEDIR);
}

void outbox_sweep(const struct outbox *o)
{
	struct dirent *e;
	DIR *d = io_list(o->dir);
	outbox_prune(o->dir, NEW, 6);
	while (d && (e = readdir(d)) != NULL) {
		char id[ID_LEN + 1];
		snprintf(id, sizeof(id), "%s", *e->d_name == '.' ? e->d_name + 1 : "");
		int fd = id_is_valid(id) ? store_open_file(o->dir, e->d_name, O_RDONLY) : -1;
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(o->dir, e->d_name, 0);
		io_close(&fd);
	}
	if (d)
		closedir(d);
}

/* --- archiving ---------------------------------------------------------------------- */

/* Throws out the oldest archives until there is room for `bytes` more. Returns whether there is. */
static bool outbox_make_room(const struct outbox *o, uint64_t bytes, uint64_t most)
{
	struct outbox_item *items = NULL;
	size_t count = 0;
	uint64_t total = bytes;
	struct outbox_numbers dropped = outbox_read(o, OUTBOX_DROPPED, NULL), before = dropped;
	bool fits = bytes <= most;
	if (!fits) {
		dropped.a++;
		dropped.b += bytes;
	} else if (outbox_list(o, &items, &count) == 0) {
		for (size_t i = 0; i < count; i++)
			total += items[i].bytes;
	}
	for (size_t i = 0; i < count && total > most; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (!items[i].line || items[i].moved || !outbox_remove(o, id))
			continue;
		total -= items[i].bytes;
		dropped.a++;
		dropped.b += items[i].bytes;
	}
	free(items);
	if (dropped.a > before.a)
		outbox_write(o, OUTBOX_DROPPED, dropped, "");
	return fits;
}

/* The archive is written: it takes its place, and its line, in this order, if the run is still
   wanted and no other process was first. */
static int outbox_add_archive(const struct outbox *o, const struct settings *settings,
			      const struct meta *m, json_t *note, const char *temporary, int *fd)
{
	char wanted[BELOW], line[OUTBOX_LINE_LEN + 1], path[BELOW], name[OUTBOX_TEMPORARY_LEN];
	struct buffer text = BUFFER_INIT;
	struct stat st;
	int result = -1, lock = outbox_lock(o, ADDING, 0), to = -1;
	snprintf(wanted, sizeof(wanted), WANTED "/%s", m->id);
	outbox_line(m->id, line);
	outbox_archive(m->id, path);
	if (fstat(*fd, &st) == 0)
		result = index_encode(&text, m, note, (uint64_t)st.st_size);
	if (result == 0 &&
	    (!io_is_there(o->dir, wanted) || io_is_there(o->dir, line) ||
	     !outbox_make_room(o, (uint64_t)st.st_size, (uint64_t)settings->outbox_max))) {
		unlinkat(o->dir, temporary, 0);
		unlinkat(o->dir, wanted, 0);
		goto out;
	}
	result = outbox_end_file(o, result, fd, temporary, path);
	if (result == 0) {
		to = outbox_begin_file(o, m->id, name);
		result = to < 0 ? -1 : io_write(to, text.data, text.len);
		result = to < 0 ? -1 : outbox_end_file(o, result, &to, name, line);
	}
	if (result == 0)
		unlinkat(o->dir, wanted, 0);
out:;
	int error = errno;
	io_close(&lock);
	buffer_release(&text);
	errno = error;
	return result;
}

/* Opens the directory of a session in the store that has the artifact: -1 if none has. */
static int outbox_open_session(const char *session, const char *id)
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

/* Archives a run if it has ended. Returns 0 if it is dealt with, 1 if it goes on, or -1 with
   errno. */
static int outbox_pack_one(const struct outbox *o, const struct settings *settings, const char *id)
{
	char path[BELOW], temporary[OUTBOX_TEMPORARY_LEN], session[STORE_SESSION_LEN + 1];
	struct buffer text = BUFFER_INIT;
	struct meta m = {.argv = NULL};
	json_t *note = NULL;
	int result = -1, dir = -1, fd = -1;
	bool read = false;
	snprintf(path, sizeof(path), WANTED "/%s", id);
	if (outbox_read_file(o->dir, path, WANTED_MAX, &text) == 0)
		note = json_read(text.data, text.len, 0, NULL);
	/* Another process was first. */
	result = !note && errno == ENOENT ? 0 : -1;
	if (!note && (result == 0 || store_is_short(errno)))
		goto out;
	store_session_name(json_string_value(json_object_get(note, "session")), session);
	dir = note ? outbox_open_session(session, id) : -1;
	if (note && dir < 0 && store_is_short(errno))
		goto out;
	if (dir < 0) {
		/* It was removed, or this is nothing that a run has made. */
		outbox_forget(o, id);
		result = 0;
		goto out;
	}
	read = meta_read(dir, id, &m) == 0;
	if (!read)
		goto out;
	result = m.state == META_RUNNING;
	if (result == 0 && !outbox_is_wanted(settings, &m)) {
		outbox_forget(o, id);
	} else if (result == 0) {
		fd = outbox_begin_file(o, id, temporary);
		result = fd >= 0 && stream_has_room(fd, (uint64_t)settings->min_free) ? 0 : -1;
		if (result == 0)
			result = archive_write(dir, id, fd, NULL, NULL);
		if (result == 0)
			result = outbox_add_archive(o, settings, &m, note, temporary, &fd);
		else if (fd >= 0)
			unlinkat(o->dir, temporary, 0);
		/* It still writes. */
		if (result < 0 && errno == EBUSY)
			result = 1;
	}
out:;
	int error = errno;
	if (read)
		meta_release(&m);
	json_decref(note);
	buffer_release(&text);
	io_close(&fd);
	io_close(&dir);
	errno = error;
	return result;
}

unsigned outbox_pack(const struct outbox *o, const struct settings *settings)
{
	struct outbox_item *items;
	size_t count;
	unsigned failed = 0;
	int error = 0;
	if (outbox_list(o, &items, &count) < 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (!items[i].line && outbox_pack_one(o, settings, id) < 0) {
			error = errno;
			failed++;
		}
	}
	free(items);
	errno = error;
	return failed;
}
