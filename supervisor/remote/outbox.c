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
#include "supervisor/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WANTED  "wanted"
#define LINES   "lines"
#define NEW     "new"
#define DROPPED "dropped"
#define RETRY   "retry"

/* Names of locks: for the process that empties the outbox; for processes that add an archive or
   take a run out. */
#define LOCK   "lock"
#define ADDING "adding"

/* Room for a path below the outbox. */
#define BELOW 320

/* Room for two numbers and a line. */
#define LINE_FILE_MAX ((size_t)4096)

#define DELAY_MOST_MS ((int64_t)5 * 60 * 1000)
#define STAY_MS       ((int64_t)60 * 60 * 1000)

/* The pause between attempts of `terse push --wait`. */
#define PAUSE_MS 500

int outbox_open(struct outbox *o, const struct store *store, bool make)
{
	o->dir = -1;
	if (snprintf(o->path, sizeof(o->path), "%s/outbox", store->path) >= OUTBOX_PATH) {
		errno = ENAMETOOLONG;
		return -1;
	}
	o->dir = store_open_folder(store, STORE_OUTBOX, make);
	return o->dir < 0 ? -1 : 0;
}

void outbox_close(struct outbox *o)
{
	io_close(&o->dir);
}

/* --- files and locks ------------------------------------------------------------------ */

/* The path of the file that stands for a run in wanted/, lines/ or new/. */
static void item_path(const char *folder, const char *id, char path[BELOW])
{
	char key[REMOTE_KEY_LEN];
	remote_key(id, key);
	snprintf(path, BELOW, "%s/%s", folder, strcmp(folder, NEW) == 0 ? key : id);
}

/* Whether the file exists. If not, sets errno. */
static bool item_is_there(const struct outbox *o, const char *folder, const char *id)
{
	char path[BELOW];
	item_path(folder, id, path);
	return io_is_there(o->dir, path);
}

/* Removes the file. Returns whether it was there. */
static bool item_remove(const struct outbox *o, const char *folder, const char *id)
{
	char path[BELOW];
	item_path(folder, id, path);
	return unlinkat(o->dir, path, 0) == 0;
}

/* Renames a file into its place, and makes missing directories of the path. */
static int outbox_rename(const struct outbox *o, const char *from, const char *to)
{
	int result = -1;
	/* The holder of the lock may remove a directory while it is empty. */
	for (int i = 0; result < 0 && i < 100; i++) {
		char part[BELOW];
		result = renameat(o->dir, from, o->dir, to);
		if (result == 0 || errno != ENOENT || !io_is_there(o->dir, from))
			break;
		for (const char *slash = to; (slash = strchr(slash, '/')) != NULL; slash++) {
			snprintf(part, sizeof(part), "%.*s", (int)(slash - to), to);
			mkdirat(o->dir, part, 0700);
		}
	}
	return result;
}

/* Writes a file under a temporary name, and renames it once it is complete. The caller holds a
   lock, so that no other process uses the temporary name. */
static int write_file(const struct outbox *o, const char *temporary, const struct buffer *text,
		      const char *path)
{
	int result = buffer_check(text);
	int fd = result < 0 ? -1 : store_open_file(o->dir, temporary, O_WRONLY | O_CREAT | O_TRUNC);
	result = fd < 0 ? -1 : io_write(fd, text->data, text->len);
	io_close(&fd);
	return result < 0 ? -1 : outbox_rename(o, temporary, path);
}

/* Appends the text of a file, which has `most` bytes at most, to `out`. */
static int outbox_read(const struct outbox *o, const char *name, size_t most, struct buffer *out)
{
	int fd = store_open_file(o->dir, name, O_RDONLY);
	int result = fd < 0 ? -1 : io_read_all(fd, out, most);
	io_close(&fd);
	return result;
}

int outbox_lock(const struct outbox *o, const char *name, int64_t until_ms)
{
	int lock = store_open_file(o->dir, name, O_RDWR | O_CREAT);
	int64_t wait_ms = until_ms ? until_ms - clock_monotonic_ms() : INT64_MAX;
	if (lock >= 0 && store_lock(lock, LOCK_EX, wait_ms) < 0)
		io_close(&lock);
	return lock;
}

/* Reads two numbers from a file of the outbox (zeros if there is no such file), and the line after
   them into `line` ("": there is none; may be NULL). */
static struct outbox_numbers read_numbers(const struct outbox *o, const char *name,
					  char line[REMOTE_WHY])
{
	struct buffer text = BUFFER_INIT;
	struct outbox_numbers n = {0};
	char behind[REMOTE_WHY] = "";
	if (outbox_read(o, name, LINE_FILE_MAX, &text) == 0 && buffer_string(&text))
		sscanf(text.data, "%" SCNu64 " %" SCNu64 " %255[^\n]", &n.a, &n.b, behind);
	if (line)
		memcpy(line, behind, sizeof(behind));
	buffer_release(&text);
	return n;
}

static int write_numbers(const struct outbox *o, const char *name, struct outbox_numbers numbers,
			 const char *line)
{
	struct buffer text = BUFFER_INIT;
	char temporary[16];
	snprintf(temporary, sizeof(temporary), ".%s", name);
	buffer_printf(&text, "%" PRIu64 " %" PRIu64 "\n%s%s", numbers.a, numbers.b, line,
		      *line ? "\n" : "");
	int result = write_file(o, temporary, &text, name);
	buffer_release(&text);
	return result;
}

bool outbox_has_work(const struct outbox *o, bool adds)
{
	if (adds || !io_is_there(o->dir, WANTED))
		return adds;
	int64_t left = (int64_t)read_numbers(o, RETRY, NULL).b - clock_real_ms();
	/* No wait is longer than DELAY_MOST_MS, unless the clock was set back. */
	return left <= 0 || left > DELAY_MOST_MS;
}

/* --- wanted ------------------------------------------------------------------------- */

void outbox_describe(const struct settings *settings, struct outbox_origin *origin, struct meta *m)
{
	remote_host(origin->host);
	m->host = origin->host;
	buffer_clear(&origin->labels);
	json_begin(&origin->labels, NULL, '{');
	for (size_t i = 0; i < settings->labels.count; i++) {
		const char *label = settings->labels.items[i], *value = strchr(label, '=') + 1;
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)(value - label - 1), label);
		/* "$NAME" stands for the value of that variable of this process. */
		if (*value == '$' && value[1])
			value = getenv(value + 1);
		size_t len = value ? strlen(value) : 0;
		if (len > 0)
			json_add_text(&origin->labels, name, value,
				      utf8_floor(value, len, len < LABEL_MAX ? len : LABEL_MAX));
	}
	json_end(&origin->labels, '}');
	m->labels = buffer_string(&origin->labels);
}

int outbox_want(const struct outbox *o, const char *id)
{
	char path[BELOW];
	int fd = -1;
	item_path(WANTED, id, path);
	/* The holder of the lock may remove the directory while it is empty. */
	for (int i = 0; fd < 0 && i < 100 && (i == 0 || errno == ENOENT); i++) {
		mkdirat(o->dir, WANTED, 0700);
		fd = store_open_file(o->dir, path, O_WRONLY | O_CREAT);
	}
	int result = fd < 0 ? -1 : 0;
	io_close(&fd);
	return result;
}

void outbox_forget(const struct outbox *o, const char *id)
{
	item_remove(o, WANTED, id);
}

bool outbox_is_wanted(const struct settings *settings, const struct meta *m)
{
	return settings->push == PUSHING_ALL ||
	       (settings->push == PUSHING_FAILED && meta_has_failed(m));
}

/* --- what is there ------------------------------------------------------------------ */

/* Files whose names are IDs, the oldest first. */
struct items {
	struct item {
		char id[ID_LEN + 1];
		uint64_t bytes;
	} * list;
	size_t count, room;
	uint64_t bytes;
};

static int items_add(void *ctx, const char *file, const char *below)
{
	struct items *items = ctx;
	struct item item;
	struct stat st;
	(void)below;
	snprintf(item.id, sizeof(item.id), "%s", strrchr(file, '/') + 1);
	if (!id_is_valid(item.id) || lstat(file, &st) < 0)
		return 0;
	item.bytes = (uint64_t)st.st_size;
	if (!array_add(&items->list, &items->count, &items->room, sizeof(item)))
		return -1;
	items->list[items->count - 1] = item;
	items->bytes += item.bytes;
	return 0;
}

static int items_compare(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->id, ((const struct item *)b)->id);
}

/* Lists wanted/, the lines, or the archives. The caller frees items->list. */
static int items_read(struct items *items, const struct outbox *o, const char *folder)
{
	char path[PATH_MAX];
	*items = (struct items){0};
	snprintf(path, sizeof(path), "%s/%s", o->path, folder);
	int result = directory_walk(path, 0, items_add, items);
	if (items->count > 0)
		qsort(items->list, items->count, sizeof(*items->list), items_compare);
	return result;
}

#define ARCHIVES NEW "/" REMOTE_ARTIFACTS

struct outbox_state outbox_look(const struct outbox *o)
{
	struct outbox_state s = {.waiting = 0};
	struct items items;
	char path[PATH_MAX];
	int result = items_read(&items, o, ARCHIVES);
	/* A folder that can't be read may have a run. */
	s.waiting = items.count + (result < 0);
	s.bytes = items.bytes;
	s.oldest_ms = items.count ? id_time_ms(id_pack(items.list[0].id)) : 0;
	free(items.list);
	snprintf(path, sizeof(path), "%s/" LINES, o->path);
	s.index_left = directory_count(path) > (int64_t)s.waiting;
	snprintf(path, sizeof(path), "%s/" NEW "/" REMOTE_INDEX, o->path);
	s.index_left |= directory_count(path) != 0;
	s.failures = read_numbers(o, RETRY, s.why).a;
	s.dropped = read_numbers(o, DROPPED, NULL);
	return s;
}

void outbox_forgive(const struct outbox *o)
{
	unlinkat(o->dir, DROPPED, 0);
}

/* Takes a run out. Removes its line before its archive, since a line without an archive means that
   the run was pushed. Returns whether the run waited. */
static bool outbox_remove(const struct outbox *o, const char *id)
{
	bool waited = item_remove(o, WANTED, id);
	waited |= item_remove(o, LINES, id);
	return item_remove(o, NEW, id) || waited;
}

bool outbox_drop(const struct outbox *o, const char *id)
{
	int adding = outbox_lock(o, ADDING, 0), lock = outbox_lock(o, LOCK, OUTBOX_AT_ONCE);
	bool moves = lock < 0 && errno == EWOULDBLOCK;
	bool waited = !(moves && item_is_there(o, NEW, id)) && outbox_remove(o, id);
	io_close(&lock);
	io_close(&adding);
	return waited;
}

/* Removes empty directories, for nftw(3), which visits a directory after its contents. */
static int outbox_prune(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	rmdir(path);
	return 0;
}

/* --- archiving ---------------------------------------------------------------------- */

#define TEMPORARY ".archive"

/* Drops the oldest archives until there is room for `bytes` more. Returns whether there is. */
static bool outbox_make_room(const struct outbox *o, uint64_t bytes, uint64_t most)
{
	struct items items = {0};
	struct outbox_numbers dropped = read_numbers(o, DROPPED, NULL), before = dropped;
	bool fits = bytes <= most;
	if (fits)
		items_read(&items, o, ARCHIVES);
	dropped.a += !fits;
	dropped.b += fits ? 0 : bytes;
	for (size_t i = 0; i < items.count && bytes + items.bytes > most; i++) {
		if (!outbox_remove(o, items.list[i].id))
			continue;
		items.bytes -= items.list[i].bytes;
		dropped.a++;
		dropped.b += items.list[i].bytes;
	}
	free(items.list);
	if (dropped.a > before.a)
		write_numbers(o, DROPPED, dropped, "");
	return fits;
}

/* Archives a run if it has ended: puts its line of the index in place, then its archive, and
   removes its mark in wanted/. Returns 0, even if the run has not ended, or -1 with errno. */
static int pack_one(const struct outbox *o, const struct settings *settings, struct store *stores,
		    int count, const char *id)
{
	char path[BELOW], line_at[BELOW];
	struct buffer line = BUFFER_INIT;
	struct id_found found;
	struct meta m = {.argv = NULL};
	struct stat st;
	item_path(NEW, id, path);
	item_path(LINES, id, line_at);
	/* The process that archived the run was killed before it removed the mark. */
	if (io_is_there(o->dir, path) && io_is_there(o->dir, line_at)) {
		outbox_forget(o, id);
		return 0;
	}
	if (id_find(stores, count, "", id, &found) < 0) {
		/* The run was removed, or this file was not made for a run. */
		if (store_is_short(errno))
			return -1;
		outbox_remove(o, id);
		return 0;
	}
	int result = -1, fd = -1, dir = store_open_session(found.store, found.session, false);
	if (dir < 0 || meta_read(dir, id, &m) < 0)
		goto out;
	result = 0;
	if (m.state == META_RUNNING)
		goto out;
	if (!outbox_is_wanted(settings, &m)) {
		outbox_forget(o, id);
		goto out;
	}
	fd = store_open_file(o->dir, TEMPORARY, O_RDWR | O_CREAT | O_TRUNC);
	if (fd < 0 || !store_has_room(fd, (uint64_t)settings->min_free) ||
	    archive_write(dir, id, fd) < 0 || fstat(fd, &st) < 0) {
		/* The run still writes. */
		result = errno == EBUSY ? 0 : -1;
		goto out;
	}
	if (!outbox_make_room(o, (uint64_t)st.st_size, (uint64_t)settings->outbox_max)) {
		outbox_remove(o, id);
		goto out;
	}
	m.object_bytes = (uint64_t)st.st_size;
	meta_encode(&line, &m, INDEX_COMMAND);
	buffer_append_string(&line, "\n");
	result = write_file(o, ".line", &line, line_at);
	if (result == 0)
		result = outbox_rename(o, TEMPORARY, path);
	if (result == 0)
		outbox_forget(o, id);
out:
	if (fd >= 0)
		io_unlink(o->dir, TEMPORARY);
	buffer_release(&line);
	meta_release(&m);
	io_close(&fd);
	io_close(&dir);
	return result;
}

int outbox_pack(const struct outbox *o, const struct settings *settings, int64_t until_ms)
{
	struct store stores[STORE_MAX];
	struct items items = {0};
	int result = -1, count = 0, lock = outbox_lock(o, ADDING, until_ms);
	if ((lock >= 0 || errno != EWOULDBLOCK) && items_read(&items, o, WANTED) == 0) {
		/* Removes the temporary file that a killed process may have left. */
		unlinkat(o->dir, TEMPORARY, 0);
		count = store_open_everywhere(stores);
		result = 0;
	}
	for (size_t i = 0; i < items.count && result == 0; i++)
		result = pack_one(o, settings, stores, count, items.list[i].id);
	store_close_all(stores, count);
	io_close(&lock);
	free(items.list);
	return result;
}

/* --- the index ------------------------------------------------------------------------ */

int64_t outbox_index(const struct outbox *o, int64_t now_ms)
{
	char hour[REMOTE_HOUR_LEN + 1], host[REMOTE_HOST_LEN + 1], path[BELOW];
	struct buffer text = BUFFER_INIT;
	struct items items;
	size_t lines = 0;
	int result = items_read(&items, o, LINES);
	remote_hour(now_ms, hour);
	remote_host(host);
	for (size_t i = 0; i < items.count && result == 0 && text.len + INDEX_LINE <= INDEX_SEGMENT;
	     i++) {
		const char *id = items.list[i].id;
		/* A run with a mark in wanted/ is not archived yet. */
		if (item_is_there(o, WANTED, id) || item_is_there(o, NEW, id) || errno != ENOENT)
			continue;
		item_path(LINES, id, path);
		result = outbox_read(o, path, INDEX_LINE, &text);
		if (result == 0)
			items.list[lines++] = items.list[i];
		else if (errno == ENOENT)
			result = 0; /* it was dropped meanwhile */
	}
	if (result == 0 && lines > 0) {
		snprintf(path, sizeof(path), NEW "/" REMOTE_INDEX "/%s/%s-%s-%zu.jsonl", hour, host,
			 items.list[0].id, lines);
		result = write_file(o, ".segment", &text, path);
	}
	for (size_t i = 0; i < lines && result == 0; i++)
		item_remove(o, LINES, items.list[i].id);
	free(items.list);
	buffer_release(&text);
	return result < 0 ? -1 : (int64_t)lines;
}

/* --- moving -------------------------------------------------------------------------- */

static bool is_late(int64_t end_ms)
{
	return end_ms && clock_monotonic_ms() >= end_ms;
}

/* Moves the files of a folder until this monotonic time (0: no limit). Notes the first reason why
   something may be left. */
static void outbox_move(const struct outbox *o, const struct settings *settings, const char *folder,
			int64_t end_ms, char why[REMOTE_WHY])
{
	char local[PATH_MAX];
	snprintf(local, sizeof(local), "%s/" NEW "/%s", o->path, folder);
	struct remote_call call = {
		.work = REMOTE_MOVE, .key = folder, .local = local, .until_ms = end_ms};
	int64_t before = directory_count(local);
	if (before < 0 && !*why)
		snprintf(why, REMOTE_WHY, "%s", strerror(errno));
	if (before <= 0 || is_late(end_ms))
		return;
	int result = remote_run(settings, &call);
	int64_t left = directory_count(local);
	if (left != 0 && (result < 0 || left == before) && !*why)
		snprintf(why, REMOTE_WHY, "%s",
			 result < 0 ? call.why : "its program has moved nothing");
}

static bool outbox_is_empty(const struct outbox_state *s)
{
	return s->waiting == 0 && !s->index_left;
}

/* Fills in the state after a push. `why`: why something is left; `unpacked`: a run could not be
   archived, and counts as waiting. */
static void outbox_measure(const struct outbox *o, bool unpacked, const char *why,
			   struct outbox_state *s)
{
	uint64_t pushed = s->pushed;
	*s = outbox_look(o);
	s->waiting += unpacked;
	s->pushed = pushed;
	snprintf(s->why, sizeof(s->why), "%s", why);
}

/* Moves everything once; the caller holds the lock. Returns whether nothing is left. If something
   is left and `why` is empty, it was added meanwhile. */
static bool outbox_pass(const struct outbox *o, const struct settings *settings, int64_t end_ms,
			struct outbox_state *s)
{
	char new[PATH_MAX], why[REMOTE_WHY] = "";
	int unpacked = outbox_pack(o, settings, end_ms) < 0 ? errno : 0;
	outbox_move(o, settings, REMOTE_ARTIFACTS, end_ms, why);
	int64_t lines = outbox_index(o, clock_real_ms());
	int unmade = lines < 0 ? errno : 0;
	outbox_move(o, settings, REMOTE_INDEX, end_ms, why);
	if (!*why && unmade)
		snprintf(why, sizeof(why), "the index: %s", strerror(unmade));
	if (!*why && unpacked)
		snprintf(why, sizeof(why), "%s", strerror(unpacked));
	snprintf(new, sizeof(new), "%s/" NEW, o->path);
	nftw(new, outbox_prune, 8, FTW_DEPTH | FTW_PHYS);
	outbox_measure(o, unpacked, why, s);
	s->pushed += lines > 0 ? (uint64_t)lines : 0;
	bool done = outbox_is_empty(s);
	if (done || !*why)
		unlinkat(o->dir, RETRY, 0);
	/* Removes the folders that outbox_has_work() looks at. This fails if a run was added
	   meanwhile. */
	if (done) {
		unlinkat(o->dir, LINES, AT_REMOVEDIR);
		unlinkat(o->dir, WANTED, AT_REMOVEDIR);
	}
	TRACE(PROCESS, "outbox: %d pushed, %d left %s", (int)s->pushed, (int)s->waiting, why);
	return done;
}

void outbox_stay(const struct outbox *o, const struct settings *settings)
{
	int64_t end_ms = clock_monotonic_ms() + STAY_MS;
	struct outbox_numbers own = {0};
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGHUP);
	/* Archives at once, so that the session may end and be removed. */
	outbox_pack(o, settings, 0);
	for (bool last = false;;) {
		struct outbox_numbers noted = read_numbers(o, RETRY, NULL);
		int64_t left = (int64_t)noted.b - clock_real_ms();
		/* If the clock was set back, waits at most for the longest delay. */
		left = left > DELAY_MOST_MS ? (own.b ? DELAY_MOST_MS : 0) : left;
		/* If the note has changed, another process tries again, or has pushed meanwhile. */
		if (noted.b != own.b && (own.b || left > 0))
			break;
		if (left > 0 && !last) {
			const struct timespec time = {.tv_sec = left / 1000,
						      .tv_nsec = left % 1000 * 1000000};
			if (clock_monotonic_ms() + left > end_ms)
				break;
			last = sigtimedwait(&ends, NULL, &time) > 0;
			continue;
		}
		int lock = outbox_lock(o, LOCK, OUTBOX_AT_ONCE);
		if (lock < 0)
			break;
		struct outbox_state s = {.pushed = 0};
		bool done = outbox_pass(o, settings, 0, &s), failed = !done && *s.why;
		uint64_t failures = failed ? (s.pushed > 0 ? 1 : noted.a + 1) : 0;
		/* 1 s, 2 s, 4 s ... */
		int64_t delay = failures > 9 ? DELAY_MOST_MS : (int64_t)500 << failures;
		own = (struct outbox_numbers){failures,
					      failed ? (uint64_t)(clock_real_ms() + delay) : 0};
		if (failed && write_numbers(o, RETRY, own, s.why) < 0)
			last = true;
		io_close(&lock);
		/* Somebody may have added something, and found the lock held. */
		if (last || (done && outbox_look(o).waiting == 0))
			break;
	}
}

struct outbox_state outbox_push(const struct outbox *o, const struct settings *settings,
				int64_t until_ms)
{
	const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
	struct outbox_state s = {.pushed = 0};
	for (;;) {
		int lock = outbox_lock(o, LOCK, until_ms);
		if (lock >= 0) {
			bool done = outbox_pass(o, settings, until_ms, &s);
			io_close(&lock);
			/* Somebody may have added something, and found the lock held. */
			if (!is_late(until_ms) && (done ? outbox_look(o).waiting > 0 : !*s.why))
				continue;
		} else {
			/* The lock is not free, usually because another process is moving files all
			   the time. */
			const char *why = errno == EWOULDBLOCK ? "another process still pushes"
							       : strerror(errno);
			outbox_measure(o, outbox_pack(o, settings, until_ms) < 0, why, &s);
		}
		if (outbox_is_empty(&s) || clock_monotonic_ms() + PAUSE_MS > until_ms)
			break;
		nanosleep(&pause, NULL);
	}
	if (outbox_is_empty(&s))
		*s.why = '\0';
	else if (!*s.why && is_late(until_ms))
		snprintf(s.why, sizeof(s.why), "the time was over");
	return s;
}
