// See outbox.h.

#include "supervisor/remote/outbox.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/artifact/archive.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/remote/directory.h"
#include "supervisor/remote/index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WANTED    "wanted"
#define ARCHIVE   ".tar.zst"
#define NEW       "new"
#define MOVING    "moving"
#define DROPPED   "dropped"
#define RETRY     "retry"
#define TEMPORARY ".outbox."

/* Locks: of the process that empties it, of the one that waits to do so, of who adds an archive or
   takes a run out, of runs that are about to be wanted. */
#define LOCK   "lock"
#define WAITER "waiter"
#define ADDING "adding"
#define HOLD   "hold"

/* Of a path below the outbox. */
#define BELOW 320

/* Between looks at a lock that somebody waits for. */
#define LOCK_PAUSE_MS 20
#define HOLD_PAUSE_MS 1

/* Of two numbers and a line. */
#define LINE_FILE_MAX ((int64_t)4096)

#define MOUNTS_MAX ((size_t)256 * 1024)

/* Archives that are moved at once; their lines become a segment, which is read whole. */
#define MOVED_MOST 4096

#define DELAY_MOST_MS ((int64_t)5 * 60 * 1000)
#define STAY_MS       ((int64_t)60 * 60 * 1000)

/* The first pause of `terse push --wait`; each later one is twice as long. */
#define PAUSE_MS 250

/* `terse push` waits so long for runs that have just ended. */
#define SETTLE_MS 2000

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

/* A file that takes its place by a rename, locked as long. */
static int begin_file(const struct outbox *o, char name[STORE_TEMPORARY])
{
	struct stat st = {.st_nlink = 1};
	int fd;
	store_temporary(TEMPORARY, name);
	do {
		fd = store_open_file(o->dir, name, O_RDWR | O_CREAT | O_TRUNC);
		/* sweep() may have taken it for a leftover just before. */
		if (fd >= 0 && flock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0)
			io_close(&fd);
	} while (st.st_nlink == 0);
	return fd;
}

/* Makes what is missing of the directories in front of a file. */
static void make_parents(const struct outbox *o, const char *path)
{
	char part[BELOW];
	for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(o->dir, part, 0700);
	}
}

static int outbox_rename(const struct outbox *o, const char *from, const char *to)
{
	int result = -1;
	/* The holder of the lock may remove a directory that is empty just then. */
	for (int i = 0; result < 0 && i < 100; i++) {
		result = renameat(o->dir, from, o->dir, to);
		if (result == 0 || errno != ENOENT || !io_is_there(o->dir, from))
			break;
		make_parents(o, to);
	}
	return result;
}

/* Puts the file there, or removes it where `result` is below 0, and closes it. Returns the
   result, with errno. */
static int end_file(const struct outbox *o, int result, int *fd, const char *name, const char *path)
{
	if (result == 0)
		result = outbox_rename(o, name, path);
	int error = errno;
	if (result < 0 && *fd >= 0)
		unlinkat(o->dir, name, 0);
	io_close(fd);
	errno = error;
	return result;
}

static int write_file(const struct outbox *o, const struct buffer *text, const char *path)
{
	char name[STORE_TEMPORARY];
	int fd = begin_file(o, name);
	int result = fd < 0 ? -1 : buffer_check(text);
	if (result == 0)
		result = io_write(fd, text->data, text->len);
	return end_file(o, result, &fd, name, path);
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

/* Two numbers in a file of the outbox, zeros without it, and the line behind them ("" without one;
   may be NULL). */
static struct outbox_numbers read_numbers(const struct outbox *o, const char *name,
					  char line[REMOTE_WHY])
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

static void write_numbers(const struct outbox *o, const char *name, struct outbox_numbers numbers,
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

void outbox_describe(const struct settings *settings, struct outbox_origin *origin, struct meta *m)
{
	char *text = malloc(MOUNTS_MAX);
	int fd = text ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? -1 : io_read(fd, text, MOUNTS_MAX - 1);
	if (n >= 0) {
		text[n] = '\0';
		if (outbox_container(text, origin->container))
			m->container = origin->container;
	}
	io_close(&fd);
	free(text);
	remote_host(origin->host);
	m->host = origin->host;
	buffer_clear(&origin->labels);
	json_begin_object(&origin->labels, NULL);
	for (size_t i = 0; i < settings->labels.count; i++) {
		const char *label = settings->labels.items[i], *value = strchr(label, '=') + 1;
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(value - label - 1), label);
		/* "$NAME" is that variable's of this process. */
		if (*value == '$' && value[1])
			value = getenv(value + 1);
		size_t len = value ? strlen(value) : 0;
		if (len > 0)
			json_add_text(&origin->labels, name, value,
				      utf8_floor(value, len, len < LABEL_MAX ? len : LABEL_MAX));
	}
	json_end_object(&origin->labels);
	m->labels = buffer_string(&origin->labels);
}

int outbox_want(const struct outbox *o, const char *id)
{
	char path[BELOW];
	int fd = -1;
	snprintf(path, sizeof(path), WANTED "/%s", id);
	/* The holder of the lock may remove the directory while it is empty. */
	for (int i = 0; fd < 0 && i < 100; i++) {
		fd = store_open_file(o->dir, path, O_WRONLY | O_CREAT);
		if (fd < 0 && errno != ENOENT)
			return -1;
		if (fd < 0)
			make_parents(o, path);
	}
	int result = fd < 0 ? -1 : 0;
	io_close(&fd);
	return result;
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

/* --- what is there ------------------------------------------------------------------ */

static void waiting_path(const char *id, char path[BELOW])
{
	snprintf(path, BELOW, WANTED "/%.16s" ARCHIVE, id);
}

static void moving_path(const char *id, char path[BELOW])
{
	char key[REMOTE_KEY_LEN];
	remote_key(id, key);
	snprintf(path, BELOW, NEW "/%s", key);
}

struct item {
	uint64_t id;    /* packed */
	bool archived;  /* else it is wanted */
	uint64_t bytes; /* of its archive */
};

/* What waits below wanted/, oldest first: free() them. Returns 0, or -1 with errno. */
static int list_waiting(const struct outbox *o, struct item **items, size_t *count)
{
	size_t room = 0;
	int fd = openat(o->dir, WANTED, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;
	struct dirent *e;
	DIR *d = io_list_opened(fd);
	*items = NULL;
	*count = 0;
	if (!d)
		return errno == ENOENT ? 0 : -1;
	while (!error && (errno = 0, e = readdir(d)) != NULL) {
		char id[ID_LEN + 1];
		struct stat st;
		snprintf(id, sizeof(id), "%.16s", e->d_name);
		bool archived = strcmp(e->d_name + strlen(id), ARCHIVE) == 0;
		if (!id_is_valid(id) || (!archived && e->d_name[ID_LEN]) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		struct item *item = array_add(items, count, &room, sizeof(*item));
		error = item ? 0 : errno;
		if (item)
			*item = (struct item){id_pack(id), archived,
					      archived ? (uint64_t)st.st_size : 0};
	}
	error = error ? error : errno;
	closedir(d);
	if (!error && *count > 0)
		qsort(*items, *count, sizeof(**items), id_compare);
	if (error) {
		free(*items);
		*items = NULL;
		*count = 0;
	}
	errno = error;
	return error ? -1 : 0;
}

static void add_archive(struct outbox_state *s, uint64_t id, uint64_t bytes)
{
	int64_t ms = id_time_ms(id);
	if (s->waiting++ == 0 || ms < s->oldest_ms)
		s->oldest_ms = ms;
	s->bytes += bytes;
}

static int count_moving(void *ctx, const char *file, const char *below)
{
	char id[ID_LEN + 1];
	struct stat st;
	const char *slash = strrchr(below, '/');
	snprintf(id, sizeof(id), "%.16s", slash ? slash + 1 : below);
	if (id_is_valid(id) && lstat(file, &st) == 0)
		add_archive(ctx, id_pack(id), (uint64_t)st.st_size);
	return 0;
}

static int count_file(void *ctx, const char *file, const char *below)
{
	(void)file, (void)below;
	++*(uint64_t *)ctx;
	return 0;
}

/* Below new/. */
static void new_path(const struct outbox *o, const char *folder, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" NEW "/%s", o->path, folder);
}

struct outbox_state outbox_look(const struct outbox *o)
{
	struct outbox_state s = {.waiting = 0};
	struct item *items;
	size_t count;
	char path[PATH_MAX];
	uint64_t segments = 0;
	/* What can't be counted may be there. */
	if (list_waiting(o, &items, &count) < 0)
		s.waiting = 1;
	for (size_t i = 0; i < count; i++) {
		if (items[i].archived)
			add_archive(&s, items[i].id, items[i].bytes);
	}
	free(items);
	new_path(o, REMOTE_ARTIFACTS, path);
	directory_walk(path, count_moving, &s);
	new_path(o, REMOTE_INDEX, path);
	directory_walk(path, count_file, &segments);
	s.index_left = segments > 0 || io_is_there(o->dir, MOVING);
	s.failures = read_numbers(o, RETRY, s.why).a;
	s.dropped = read_numbers(o, DROPPED, NULL);
	return s;
}

void outbox_forgive(const struct outbox *o)
{
	unlinkat(o->dir, DROPPED, 0);
}

/* --- taking out --------------------------------------------------------------------- */

/* Returns whether it waited. */
static bool outbox_remove(const struct outbox *o, const char *id)
{
	char path[BELOW];
	snprintf(path, sizeof(path), WANTED "/%s", id);
	bool waited = unlinkat(o->dir, path, 0) == 0;
	waiting_path(id, path);
	return unlinkat(o->dir, path, 0) == 0 || waited;
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

/* Removes what crashed processes left, and directories below new/ that are empty. */
static void sweep(const struct outbox *o)
{
	struct dirent *e;
	DIR *d = io_list(o->dir);
	outbox_prune(o->dir, NEW, 6);
	while (d && (e = readdir(d)) != NULL) {
		bool mine = strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)) == 0;
		int fd = mine ? store_open_file(o->dir, e->d_name, O_RDONLY) : -1;
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
	struct item *items = NULL;
	size_t count = 0;
	struct outbox_numbers dropped = read_numbers(o, DROPPED, NULL), before = dropped;
	bool fits = bytes <= most;
	uint64_t total = bytes + (fits ? outbox_look(o).bytes : 0);
	if (!fits) {
		dropped.a++;
		dropped.b += bytes;
	} else if (total > most) {
		list_waiting(o, &items, &count);
	}
	for (size_t i = 0; i < count && total > most; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (!items[i].archived || !outbox_remove(o, id))
			continue;
		total -= items[i].bytes;
		dropped.a++;
		dropped.b += items[i].bytes;
	}
	free(items);
	if (dropped.a > before.a)
		write_numbers(o, DROPPED, dropped, "");
	return fits;
}

/* Archives a run if it has ended. Returns 0 if it is dealt with, 1 if it goes on, or -1 with
   errno. */
static int pack_one(const struct outbox *o, const struct settings *settings, const char *id)
{
	char wanted[BELOW], path[BELOW], temporary[STORE_TEMPORARY];
	struct store stores[STORE_MAX];
	struct id_found found;
	struct meta m = {.argv = NULL};
	struct stat st;
	int result = -1, dir = -1, fd = -1, lock = -1, count = store_open_everywhere(stores);
	snprintf(wanted, sizeof(wanted), WANTED "/%s", id);
	waiting_path(id, path);
	if (id_find(stores, count, "", id, &found) < 0) {
		/* It was removed, or this is nothing that a run has made. */
		if (store_is_short(errno))
			goto out;
		outbox_forget(o, id);
		result = 0;
		goto out;
	}
	dir = store_open_session(found.store, found.session, false);
	if (dir < 0 || meta_read(dir, id, &m) < 0)
		goto out;
	result = m.state == META_RUNNING;
	if (result > 0)
		goto out;
	if (!outbox_is_wanted(settings, &m)) {
		outbox_forget(o, id);
		goto out;
	}
	result = -1;
	fd = begin_file(o, temporary);
	if (fd < 0)
		goto out;
	if (store_has_room(fd, (uint64_t)settings->min_free) &&
	    archive_write(dir, id, fd, NULL, NULL) == 0 && fstat(fd, &st) == 0)
		result = 0;
	/* It takes its place, if no other process was first. */
	lock = result == 0 ? outbox_lock(o, ADDING, 0) : -1;
	if (result == 0 &&
	    (!io_is_there(o->dir, wanted) || io_is_there(o->dir, path) ||
	     !outbox_make_room(o, (uint64_t)st.st_size, (uint64_t)settings->outbox_max)))
		unlinkat(o->dir, temporary, 0);
	else
		result = end_file(o, result, &fd, temporary, path);
	if (result == 0)
		unlinkat(o->dir, wanted, 0);
	/* It still writes. */
	if (result < 0 && errno == EBUSY)
		result = 1;
out:;
	int error = errno;
	meta_release(&m);
	io_close(&lock);
	io_close(&fd);
	io_close(&dir);
	store_close_all(stores, count);
	errno = error;
	return result;
}

unsigned outbox_pack(const struct outbox *o, const struct settings *settings)
{
	struct item *items;
	size_t count;
	unsigned failed = 0;
	int error = 0;
	if (list_waiting(o, &items, &count) < 0)
		return 1;
	for (size_t i = 0; i < count; i++) {
		char id[ID_LEN + 1];
		id_unpack(items[i].id, id);
		if (!items[i].archived && pack_one(o, settings, id) < 0) {
			error = errno;
			failed++;
		}
	}
	free(items);
	errno = error;
	return failed;
}

/* --- moving -------------------------------------------------------------------------- */

/* Appends the line of an archive. Returns false if it is none. */
static bool outbox_add_line(const struct outbox *o, struct buffer *out, const char *path)
{
	char host[REMOTE_HOST_LEN + 1];
	struct meta m;
	struct stat st;
	int fd = store_open_file(o->dir, path, O_RDONLY);
	bool good = fd >= 0 && fstat(fd, &st) == 0 && archive_read_meta(fd, &m) == 0;
	if (good) {
		remote_host(host);
		m.host = m.host ? m.host : host;
		m.object_bytes = (uint64_t)st.st_size;
		index_add_line(out, &m);
		meta_release(&m);
	}
	io_close(&fd);
	return good;
}

/* Puts archives that wait below new/, from where they are moved, and notes their lines. For the
   holder of the lock. Returns 0, or -1 with errno. */
int outbox_send(const struct outbox *o)
{
	struct item *items;
	struct buffer lines = BUFFER_INIT;
	size_t count, sent = 0;
	char id[ID_LEN + 1], from[BELOW], to[BELOW];
	int result = list_waiting(o, &items, &count);
	int lock = outbox_lock(o, ADDING, 0);
	for (size_t i = 0; i < count && sent < MOVED_MOST && result == 0; i++) {
		if (!items[i].archived)
			continue;
		id_unpack(items[i].id, id);
		waiting_path(id, from);
		moving_path(id, to);
		if (outbox_rename(o, from, to) < 0) {
			result = errno == ENOENT ? 0 : -1;
			continue;
		}
		/* Who archived it was killed before this. */
		outbox_forget(o, id);
		sent++;
	}
	io_close(&lock);
	for (size_t i = 0; i < count && result == 0; i++) {
		id_unpack(items[i].id, id);
		moving_path(id, to);
		if (!items[i].archived || !io_is_there(o->dir, to) ||
		    outbox_add_line(o, &lines, to))
			continue;
		/* A damaged one is given up; none may go without its line. */
		if (errno == EBADMSG)
			unlinkat(o->dir, to, 0);
		else
			result = -1;
	}
	if (result == 0)
		result = write_file(o, &lines, MOVING);
	free(items);
	buffer_release(&lines);
	return result;
}

static int put_back(void *ctx, const char *file, const char *below)
{
	const struct outbox *o = ctx;
	char id[ID_LEN + 1], path[BELOW];
	const char *slash = strrchr(below, '/');
	(void)file;
	snprintf(id, sizeof(id), "%.16s", slash ? slash + 1 : below);
	if (!id_is_valid(id))
		return 0;
	char from[BELOW];
	moving_path(id, from);
	waiting_path(id, path);
	return outbox_rename(o, from, path) < 0 && errno != ENOENT ? -1 : 0;
}

int64_t outbox_receive(const struct outbox *o, int64_t now_ms)
{
	struct buffer text = BUFFER_INIT, gone = BUFFER_INIT;
	char first[ID_LEN + 1] = "", path[PATH_MAX], hour[REMOTE_HOUR_LEN + 1];
	char host[REMOTE_HOST_LEN + 1];
	int64_t lines = 0;
	int result = outbox_read_file(o->dir, MOVING, INDEX_SEGMENT, &text);
	if (result < 0 && errno == ENOENT)
		result = 0;
	for (size_t at = 0; at < text.len && result == 0;) {
		const char *line = text.data + at, *end = memchr(line, '\n', text.len - at);
		size_t len = end ? (size_t)(end - line) + 1 : text.len - at;
		char id[ID_LEN + 1], archive[BELOW];
		snprintf(id, sizeof(id), "%.*s", len > INDEX_ID ? ID_LEN : 0, line + INDEX_ID);
		at += len;
		if (!id_is_valid(id))
			continue;
		moving_path(id, archive);
		if (io_is_there(o->dir, archive) || errno != ENOENT)
			continue;
		if (lines++ == 0)
			memcpy(first, id, sizeof(first));
		buffer_append(&gone, line, len);
	}
	if (result == 0 && lines > 0) {
		remote_hour(now_ms, hour);
		remote_host(host);
		snprintf(path, sizeof(path), NEW "/" REMOTE_INDEX "/%s/%s-%s-%" PRId64 ".jsonl",
			 hour, host, first, lines);
		/* The others' lines are made again, from their archives. */
		if (gone.len < text.len)
			result = write_file(o, &gone, MOVING);
		if (result == 0)
			result = outbox_rename(o, MOVING, path);
	} else if (result == 0) {
		unlinkat(o->dir, MOVING, 0);
	}
	new_path(o, REMOTE_ARTIFACTS, path);
	if (result == 0)
		result = directory_walk(path, put_back, (void *)o);
	int error = errno;
	buffer_release(&text);
	buffer_release(&gone);
	errno = error;
	return result < 0 ? -1 : lines;
}

struct mover {
	const struct outbox *outbox;
	const struct settings *settings;
	int64_t end_ms;    /* monotonic; 0: none */
	uint64_t failures; /* passes without a success */
	int64_t due_ms;    /* monotonic: when to try again */
	struct outbox_result *result;
};

int64_t outbox_delay(uint64_t failures)
{
	int64_t delay = 1000;
	for (uint64_t i = 1; i < failures && delay < DELAY_MOST_MS; i++)
		delay *= 2;
	return delay < DELAY_MOST_MS ? delay : DELAY_MOST_MS;
}

static bool mover_is_late(const struct mover *m)
{
	return m->end_ms && clock_monotonic_ms() >= m->end_ms;
}

/* A folder of what is moved, below new/. */
struct folder {
	const struct outbox *outbox;
	const char *name;
};

static uint64_t mover_left(void *ctx)
{
	const struct folder *f = ctx;
	char path[PATH_MAX];
	uint64_t count = 0;
	new_path(f->outbox, f->name, path);
	directory_walk(path, count_file, &count);
	return count;
}

/* Moves what is in a folder. Notes why something may be left. */
static void mover_move(const struct mover *m, const char *name, char why[REMOTE_WHY])
{
	char local[PATH_MAX];
	struct folder folder = {m->outbox, name};
	uint64_t before = mover_left(&folder);
	new_path(m->outbox, name, local);
	struct remote_call call = {.work = REMOTE_MOVE,
				   .key = name,
				   .local = local,
				   .until_ms = m->end_ms,
				   .progress = mover_left,
				   .ctx = &folder};
	*why = '\0';
	if (before == 0 || mover_is_late(m))
		return;
	if (remote_run(m->settings, &call) < 0)
		memcpy(why, call.why, sizeof(call.why));
	else if (mover_left(&folder) == before)
		snprintf(why, REMOTE_WHY, "its program has moved nothing");
	if (mover_left(&folder) == 0)
		*why = '\0';
}

/* Looks at what is left. Returns whether nothing is. */
static bool mover_measure(const struct mover *m, unsigned unpacked)
{
	struct outbox_result *r = m->result;
	struct outbox_state state = outbox_look(m->outbox);
	r->left = state.waiting + unpacked;
	r->index_left = state.index_left;
	return r->left == 0 && !r->index_left;
}

/* Moves each thing once; the lock is held. Returns whether nothing is left; if something is and
   there is no reason, it has come meanwhile. */
static bool mover_pass(const struct mover *m)
{
	const struct outbox *o = m->outbox;
	struct outbox_result *r = m->result;
	char artifacts[REMOTE_WHY] = "", index[REMOTE_WHY];
	sweep(o);
	/* What a process has left that was killed. */
	int64_t lines = outbox_receive(o, clock_real_ms());
	int unmade = lines < 0 ? errno : 0;
	unsigned unpacked = outbox_pack(o, m->settings);
	int error = errno;
	if (!unmade && !mover_is_late(m)) {
		unmade = outbox_send(o) < 0 ? errno : 0;
		if (!unmade)
			mover_move(m, REMOTE_ARTIFACTS, artifacts);
		int64_t more = outbox_receive(o, clock_real_ms());
		unmade = more < 0 ? errno : unmade;
		lines += more > 0 ? more : 0;
	}
	r->pushed += lines > 0 ? (uint64_t)lines : 0;
	mover_move(m, REMOTE_INDEX, index);
	/* That of the artifacts comes first. */
	memcpy(r->why, *artifacts ? artifacts : index, sizeof(r->why));
	if (!*r->why && unmade)
		snprintf(r->why, sizeof(r->why), "the index: %s", strerror(unmade));
	if (!*r->why && unpacked)
		snprintf(r->why, sizeof(r->why), "%s", strerror(error));
	bool done = mover_measure(m, unpacked);
	TRACE(PROCESS, "mover: %d pushed, %d left %s", (int)r->pushed, (int)r->left, r->why);
	return done;
}

/* A pass and what follows from it for the next one: noted in the outbox for other processes, and
   here, since the disk may be full. Returns whether nothing is left. */
static bool mover_try(struct mover *m)
{
	uint64_t noted = read_numbers(m->outbox, RETRY, NULL).a, before = m->result->pushed;
	uint64_t failures = noted > m->failures ? noted : m->failures;
	bool done = mover_pass(m);
	if (done || !*m->result->why) {
		m->failures = 0;
		m->due_ms = 0;
		unlinkat(m->outbox->dir, RETRY, 0);
		if (done) {
			/* What outbox_has_work() looks at; it fails where there is a run. */
			outbox_prune(m->outbox->dir, NEW, 6);
			unlinkat(m->outbox->dir, WANTED, AT_REMOVEDIR);
		}
	} else if (!mover_is_late(m)) {
		m->failures = m->result->pushed > before ? 1 : failures + 1;
		int64_t delay = outbox_delay(m->failures);
		m->due_ms = clock_monotonic_ms() + delay;
		write_numbers(
			m->outbox, RETRY,
			(struct outbox_numbers){m->failures, (uint64_t)(clock_real_ms() + delay)},
			m->result->why);
	}
	return done;
}

/* Waits for the next attempt, as the only one. Returns whether to make it; *last: and then to
   leave, since a signal to end came. */
static bool mover_wait(const struct mover *m, int64_t end_ms, bool *last)
{
	int64_t left = (int64_t)read_numbers(m->outbox, RETRY, NULL).b - clock_real_ms();
	int64_t own = m->due_ms - clock_monotonic_ms();
	sigset_t set;
	left = left > own ? left : own;
	/* A clock that was set back counts no more than the longest delay. */
	left = left < 0 ? 0 : left > DELAY_MOST_MS ? DELAY_MOST_MS : left;
	if (left > 0 && clock_monotonic_ms() + left > end_ms)
		return false;
	int waiter = left > 0 ? outbox_lock(m->outbox, WAITER, OUTBOX_AT_ONCE) : -1;
	if (left > 0 && waiter < 0)
		return false;
	const struct timespec time = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	*last = sigtimedwait(&set, NULL, &time) > 0;
	io_close(&waiter);
	return true;
}

void outbox_stay(const struct outbox *o, const struct settings *settings)
{
	struct outbox_result result = {0};
	struct mover m = {.outbox = o, .settings = settings, .result = &result};
	int64_t end_ms = clock_monotonic_ms() + STAY_MS;
	bool last = false;
	/* At once, so that the session may end and be removed. */
	outbox_pack(o, settings);
	while (!last && mover_wait(&m, end_ms, &last)) {
		int lock = outbox_lock(o, LOCK, OUTBOX_AT_ONCE);
		if (lock < 0)
			break;
		bool done = mover_try(&m);
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		if (done && outbox_look(o).waiting == 0)
			break;
	}
}

/* The lock can't be had, mostly since another process moves all the time: what is left. */
static bool mover_note_left(const struct mover *m, int error)
{
	unsigned unpacked = outbox_pack(m->outbox, m->settings);
	bool done = mover_measure(m, unpacked);
	snprintf(m->result->why, sizeof(m->result->why), "%s",
		 error == EWOULDBLOCK ? "another process still pushes" : strerror(error));
	return done;
}

/* One attempt of outbox_push(). Returns whether nothing is left. */
static bool mover_turn(struct mover *m)
{
	bool done, again;
	do {
		int lock = outbox_lock(m->outbox, LOCK, m->end_ms);
		bool held = lock >= 0;
		done = held ? mover_try(m) : mover_note_left(m, errno);
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		again = held && !mover_is_late(m) &&
			(done ? outbox_look(m->outbox).waiting > 0 : !*m->result->why);
	} while (again);
	return done;
}

void outbox_push(const struct outbox *o, const struct settings *settings, int64_t until_ms,
		 struct outbox_result *result)
{
	struct mover m = {.outbox = o, .settings = settings, .end_ms = until_ms, .result = result};
	int64_t settled = clock_monotonic_ms() + SETTLE_MS;
	*result = (struct outbox_result){0};
	/* Runs that have ended are wanted at once; one that is stopped does not hold us up. */
	outbox_settle(o, until_ms && until_ms < settled ? until_ms : settled);
	for (int64_t delay = PAUSE_MS; !mover_turn(&m) && !mover_is_late(&m); delay *= 2) {
		if (clock_monotonic_ms() + delay > until_ms)
			break;
		const struct timespec pause = {.tv_sec = delay / 1000,
					       .tv_nsec = delay % 1000 * 1000000};
		nanosleep(&pause, NULL);
	}
	if (!*result->why && mover_is_late(&m) && (result->left > 0 || result->index_left))
		snprintf(result->why, sizeof(result->why), "the time was over");
	result->dropped = read_numbers(o, DROPPED, NULL);
}
