// See gc.h.

#include "supervisor/artifact/gc.h"

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/short.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- removing one artifact ---------------------------------------------------- */

/* Processes other than supervisors hold the lock for less than this. */
#define LOCK_HELD_MS 20

/* Whether a supervisor still writes the text, or has just begun to. If not, locks the text against
   a supervisor that is about to begin, and against another removal. */
static bool removal_is_running(int fd, int dir, const char *id)
{
	struct stat st;
	/* A supervisor makes the text, locks it and then writes the metadata. Right now a
	   supervisor may be between these steps. */
	if (!id_has_file(dir, id, ARTIFACT_JSON) && fstat(fd, &st) == 0 &&
	    clock_real_ms() / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S)
		return true;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return false;
	/* If the text is locked, or the file system has no locks, the metadata decide. meta_read()
	   reports a run as interrupted if it is not done and its text is not locked. */
	bool held = errno == EWOULDBLOCK, said = false;
	struct meta m;
	if (meta_read(dir, id, &m) == 0) {
		said = m.state != META_DONE && m.supervisor > 0;
		meta_release(&m);
	}
	if (said || !held)
		return said;
	/* A reader may be testing the lock, or another removal may hold it. */
	return store_lock(fd, LOCK_EX, LOCK_HELD_MS) < 0 && (fstat(fd, &st) < 0 || st.st_nlink > 0);
}

enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed)
{
	int fd = id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY), error = errno;
	if (fd < 0 && store_is_short(error))
		return REMOVAL_FAILED;
	bool is_short = short_is(dir, id);
	int lock = is_short ? short_lock(dir, id) : -1;
	const uint64_t bytes = is_short ? short_bytes(dir, id) : 0;
	if (is_short && lock < 0 && errno != ENOENT) {
		io_close(&fd);
		return REMOVAL_FAILED;
	}
	bool running = fd >= 0 && removal_is_running(fd, dir, id);
	/* A link of that name, or another user's file, is removed although it can't be opened. */
	int was = running ? -1 : id_remove_files(dir, id, freed);
	if (was < 0)
		error = fd < 0 && error != ENOENT ? error : errno;
	io_close(&fd);
	/* An artifact of another session may have claimed the ID. */
	if (was >= 0 && id_is_of(s, 1, id, session)) {
		id_release(s, id);
		was |= is_short;
		*freed += bytes;
	}
	io_close(&lock);
	errno = error;
	return running   ? REMOVAL_RUNNING
	       : was < 0 ? REMOVAL_FAILED
	       : was     ? REMOVAL_DONE
			 : REMOVAL_ABSENT;
}

/* --- what has to go ------------------------------------------------------------ */

#define SETTLED_MS ((int64_t)STORE_SETTLED_S * 1000)

struct retention_limits gc_limits(const struct settings *s)
{
	return (struct retention_limits){
		.max_age_ms = s->gc_age,
		.keep_ms = s->keep,
		.max_count = (uint64_t)s->gc_count,
		.max_bytes = (uint64_t)s->gc_size,
	};
}

/* Adds to the sum. Returns whether it is over the limit. */
static bool retention_is_over(uint64_t *sum, uint64_t more, uint64_t most)
{
	*sum = *sum + more < *sum ? UINT64_MAX : *sum + more;
	return most && *sum > most;
}

void retention_decide(struct inventory *v, const struct retention_limits *l, int64_t now_ms)
{
	uint64_t count = 0, bytes = 0;
	for (size_t i = 0; i < v->count; i++) {
		struct inventory_item *item = &v->items[i];
		const struct inventory_session *s = &v->sessions[item->session];
		item->why = RETENTION_STAYS;
		if (!item->text) {
			if (now_ms - item->last_ms >= SETTLED_MS)
				item->why = RETENTION_LEFTOVER;
		} else if (item->running) {
			/* Artifacts of running runs are never removed, so they are counted
			   first. */
			count++;
			retention_is_over(&bytes, item->bytes, 0);
		} else if (s->ended_ms && now_ms - s->ended_ms >= l->keep_ms) {
			item->why = RETENTION_ENDED;
		} else if (l->max_age_ms && now_ms - item->last_ms > l->max_age_ms) {
			item->why = RETENTION_AGE;
		}
	}
	for (size_t i = v->count; i-- > 0;) {
		struct inventory_item *item = &v->items[i];
		if (!item->text || item->running || item->why != RETENTION_STAYS)
			continue;
		bool many = retention_is_over(&count, 1, l->max_count);
		bool large = retention_is_over(&bytes, item->bytes, l->max_bytes);
		if (many || large)
			item->why = many ? RETENTION_COUNT : RETENTION_SIZE;
	}
}

/* --- the inventory ------------------------------------------------------------ */

/* Returns a second descriptor of an open directory, to list it from its first entry on. */
static int reopen_directory(int dir)
{
	return openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int inventory_add_short(void *ctx, const char *id, uint64_t bytes)
{
	struct inventory *v = ctx;
	struct inventory_item *item = array_add(&v->items, &v->count, &v->room, sizeof(*item));
	if (!item)
		return -1;
	*item = (struct inventory_item){
		.id = id_pack(id),
		.bytes = bytes,
		.session = (unsigned)v->session_count,
		.text = true,
		.json = true,
	};
	item->last_ms = id_time_ms(item->id);
	return 0;
}

/* Adds the artifacts of a session: collects an item for each file, and then joins the items of each
   ID. */
static int inventory_add_items(struct inventory *v, struct inventory_session *s, int dir)
{
	size_t first = v->count;
	DIR *d = io_list(reopen_directory(dir));
	int result = 0;
	if (!d)
		return -1;
	struct dirent *e = NULL;
	while (result == 0 && (errno = 0, e = readdir(d))) {
		char id[ID_LEN + 1];
		struct stat st;
		enum artifact_part file = id_of_file(e->d_name, id);
		if (short_is_file(e->d_name) &&
		    short_walk(dir, s->name, e->d_name, false, inventory_add_short, v) < 0 &&
		    store_is_short(errno))
			result = -1;
		if (file == ARTIFACT_FILES || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		struct inventory_item *item =
			array_add(&v->items, &v->count, &v->room, sizeof(*item));
		if (item)
			*item = (struct inventory_item){
				.id = id_pack(id),
				.bytes = st.st_nlink == 1 ? (uint64_t)st.st_blocks * 512 : 0,
				.last_ms = clock_ms(&st.st_mtim),
				.session = (unsigned)v->session_count,
				.text = file == ARTIFACT_OUT,
				.json = file == ARTIFACT_JSON,
			};
		result = item ? 0 : -1;
	}
	if (!e && errno)
		result = -1;
	closedir(d);
	size_t files = v->count, last = first;
	if (files > first)
		qsort(v->items + first, files - first, sizeof(*v->items), id_compare);
	for (size_t i = first; i < files; i++) {
		struct inventory_item *item = &v->items[last], *file = &v->items[i];
		if (i > first && file->id == item->id) {
			item->bytes += file->bytes;
			if (file->text || !item->text)
				item->last_ms = file->last_ms;
			item->text |= file->text;
			item->json |= file->json;
		} else {
			last += i > first;
			v->items[last] = *file;
		}
	}
	v->count = files > first ? last + 1 : first;
	for (size_t i = first; i < v->count; i++) {
		struct inventory_item *item = &v->items[i];
		char id[ID_LEN + 1];
		/* An empty text without metadata is from a run that was killed as it began. */
		item->text &= item->json || item->bytes > 0;
		if (!item->text)
			continue;
		id_unpack(item->id, id);
		int fd = s->in_use ? id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY) : -1;
		item->running = s->in_use &&
				(fd < 0 ? store_is_short(errno) : removal_is_running(fd, dir, id));
		io_close(&fd);
		s->count++;
		s->bytes += item->bytes;
		s->running += item->running;
		if (item->last_ms > s->active_ms)
			s->active_ms = item->last_ms;
	}
	return result;
}

static int add_session(struct inventory *v, const struct store *store, const char *name)
{
	struct inventory_session s = {.in_use = false};
	struct stat st;
	int result = -1, dir = store_open_session(store, name, false);
	/* The session is gone by now, or not readable. */
	if (dir < 0)
		return store_is_short(errno) ? -1 : 0;
	snprintf(s.name, sizeof(s.name), "%s", name);
	s.in_use = store_is_in_use(dir);
	if (inventory_add_items(v, &s, dir) < 0)
		goto out;
	int64_t journal = 0, ended = journal_end_ms(dir);
	if (fstatat(dir, JOURNAL_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0)
		journal = clock_ms(&st.st_mtim);
	s.empty = s.count == 0 && journal == 0;
	if (ended >= s.active_ms && !s.in_use)
		s.ended_ms = ended;
	if (journal > s.active_ms)
		s.active_ms = journal;
	if (s.active_ms == 0 && fstat(dir, &st) == 0)
		s.active_ms = clock_ms(&st.st_mtim);
	s.agent_gone = session_is_over(s.name);
	struct inventory_session *added =
		array_add(&v->sessions, &v->session_count, &v->session_room, sizeof(*added));
	if (!added)
		goto out;
	*added = s;
	result = 0;
out:
	io_close(&dir);
	return result;
}

int inventory_read(struct inventory *v, const struct store *s, const char *session)
{
	struct store store = *s;
	struct journal_session *sessions;
	size_t count;
	*v = (struct inventory){0};
	int result = journal_sessions(&store, 1, session, &sessions, &count);
	for (size_t i = 0; i < count && result == 0; i++)
		result = add_session(v, s, sessions[i].name);
	free(sessions);
	if (result < 0)
		inventory_release(v);
	else if (v->count > 0)
		qsort(v->items, v->count, sizeof(*v->items), id_compare);
	return result;
}

void inventory_release(struct inventory *v)
{
	free(v->items);
	free(v->sessions);
	*v = (struct inventory){0};
}

/* --- when ------------------------------------------------------------------------ */

/* The modification time of this file is the time of the last gc. */
#define STAMP "gc"

/* If the last cleanup is longer ago than this, no run came in between, or the clock has jumped. */
#define AWAY_MS ((int64_t)24 * 60 * 60 * 1000)

static bool gc_is_time(const struct stat *st, int64_t interval_ms)
{
	int64_t age = clock_real_ms() - (int64_t)st->st_mtim.tv_sec * 1000;
	/* A time in the future comes from a clock that was wrong. */
	return interval_ms > 0 && (age >= interval_ms || age < -interval_ms);
}

bool gc_is_due(const struct store *s, int64_t interval_ms)
{
	struct stat st;
	if (fstatat(s->fd, STAMP, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return gc_is_time(&st, interval_ms);
	/* A new store has nothing to clean up: the interval starts now. */
	int fd = store_open_file(s->fd, STAMP, O_WRONLY | O_CREAT);
	io_close(&fd);
	return false;
}

/* Returns whether to clean up now: false if an automatic gc is not due, or another process is doing
   it. */
static bool gc_begin(struct gc *g)
{
	const struct timespec now = {.tv_sec = g->now_ms / 1000}, times[2] = {now, now};
	struct retention_limits *l = &g->limits;
	struct stat st = {0};
	int fd = store_open_file(g->store->fd, STAMP, g->dry ? O_RDONLY : O_RDWR);
	bool mine = g->interval_ms == 0 || (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
					    fstat(fd, &st) == 0 && gc_is_time(&st, g->interval_ms));
	/* After AWAY_MS an automatic gc ignores the limits of age; the next one applies them. */
	if (g->interval_ms && g->now_ms - clock_ms(&st.st_mtim) > AWAY_MS) {
		l->max_age_ms = 0;
		l->keep_ms = l->keep_ms ? INT64_MAX : 0;
	}
	if (mine && !g->dry)
		futimens(fd, times);
	io_close(&fd);
	return mine;
}

/* --- sessions -------------------------------------------------------------- */

void gc_note_failure(struct gc *g)
{
	if (g->result.failed++ == 0)
		g->result.error = errno;
}

/* Removes the artifacts that were decided on; with `dry` only counts them. A crash at any point
   does no harm. */
static void remove_items(struct gc *g, struct inventory *v, bool newest_first)
{
	int dir = -1;
	unsigned open = 0;
	for (size_t i = 0; i < v->count; i++) {
		struct inventory_item *item = &v->items[newest_first ? v->count - 1 - i : i];
		struct inventory_session *s = &v->sessions[item->session];
		enum removal removed = REMOVAL_DONE;
		uint64_t freed = item->bytes;
		char id[ID_LEN + 1];
		if (item->why == RETENTION_STAYS || item->running)
			continue;
		if (dir < 0 || open != item->session) {
			io_close(&dir);
			dir = store_open_session(g->store, s->name, false);
			open = item->session;
		}
		if (dir < 0 && errno != ENOENT)
			gc_note_failure(g);
		if (dir < 0)
			continue;
		if (!g->dry) {
			id_unpack(item->id, id);
			freed = 0;
			removed = removal_of(g->store, s->name, dir, id, &freed);
		}
		if (item->why == RETENTION_LEFTOVER) {
			g->result.leftovers++;
			g->result.bytes += freed;
			continue;
		}
		if (removed == REMOVAL_FAILED)
			gc_note_failure(g);
		item->running = removed == REMOVAL_RUNNING;
		if (removed != REMOVAL_DONE)
			continue;
		item->bytes = freed;
		s->count--;
		g->result.artifacts++;
		g->result.bytes += freed;
		if (g->removed)
			g->removed(g->ctx, s, item);
	}
	io_close(&dir);
}

bool gc_remove_session(const struct store *s, const char *session)
{
	int dir = store_open_session(s, session, false);
	int sessions = dir < 0 ? -1 : store_open_folder(s, STORE_SESSIONS, false);
	DIR *d = sessions >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0
			 ? io_list(reopen_directory(dir))
			 : NULL;
	bool only = d, removed = false;
	for (struct dirent *e; only && (e = readdir(d));) {
		only = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		       strcmp(e->d_name, JOURNAL_FILE) == 0 || strcmp(e->d_name, JOURNAL_SUMS) == 0;
	}
	if (d)
		closedir(d);
	if (only) {
		unlinkat(dir, JOURNAL_SUMS, 0);
		unlinkat(dir, JOURNAL_FILE, 0);
		removed = unlinkat(sessions, session, AT_REMOVEDIR) == 0;
	}
	io_close(&sessions);
	io_close(&dir);
	return removed;
}

int gc_end_session(const struct store *s, const char *session)
{
	int dir = store_open_session(s, session, false);
	if (dir < 0)
		return -1;
	int result = journal_add_end(dir, session, clock_real_ms());
	io_close(&dir);
	return result;
}

/* --- all of it ------------------------------------------------------------- */

static bool is_temporary(const char *name)
{
	char id[ID_LEN + 1];
	return strncmp(name, JOURNAL_TEMPORARY, strlen(JOURNAL_TEMPORARY)) == 0 ||
	       (name[0] == '.' &&
		(id_of_file(name + 1, id) < ARTIFACT_FILES || id_is_valid(name + 1)));
}

/* Whether the ID is claimed for an artifact that does not exist. */
static bool is_idle_claim(const struct gc *g, const struct inventory *v, int ids, const char *name)
{
	struct short_place place;
	if (!id_is_valid(name))
		return false;
	const uint64_t id = id_pack(name);
	if (v->count > 0 && bsearch(&id, v->items, v->count, sizeof(*v->items), id_compare))
		return false;
	bool lost = false;
	if (short_follow(ids, name, &place) == 0 && place.is_short) {
		int dir = store_open_session(g->store, place.session, false);
		struct short_part record = {.len = 0};
		lost = (dir < 0 || short_read(dir, name, ARTIFACT_JSON, &record) < 0) &&
		       (errno == ENOENT || errno == EBADMSG);
		buffer_release(&record.record);
		io_close(&dir);
	}
	if (!lost && id_exists(g->store, name))
		return false;
	/* A living run may have an ID and nothing on disk yet. */
	int live = store_open_folder(g->store, STORE_LIVE, false);
	bool lives = live >= 0 && io_is_there(live, name);
	io_close(&live);
	return !lives;
}

/* Removes old temporary files from a directory, and with `v` also claims without an artifact;
   closes the directory. */
static void sweep(struct gc *g, int dir, const struct inventory *v)
{
	DIR *d = io_list(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		const char *name = e->d_name;
		if (!(is_temporary(name) || (v && is_idle_claim(g, v, dir, name))) ||
		    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    (v && !S_ISLNK(st.st_mode)) ||
		    g->now_ms / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S ||
		    (!g->dry && unlinkat(dir, name, 0) < 0))
			continue;
		g->result.leftovers++;
		if (st.st_nlink == 1)
			g->result.bytes += (uint64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
}

int gc_run(struct gc *g)
{
	struct inventory v;
	const struct retention_limits given = g->limits, *l = &g->limits;
	if (!gc_begin(g))
		return 1;
	if (inventory_read(&v, g->store, NULL) < 0)
		return -1;
	for (size_t i = 0; i < v.session_count; i++) {
		struct inventory_session *s = &v.sessions[i];
		if (s->agent_gone && !s->in_use && !s->ended_ms &&
		    (g->dry || gc_end_session(g->store, s->name) == 0))
			s->ended_ms = g->now_ms;
	}
	retention_decide(&v, &g->limits, g->now_ms);
	remove_items(g, &v, false);
	/* Then cleans up each session, and removes a session if nothing is lost with it. */
	for (size_t i = 0; i < v.session_count; i++) {
		const struct inventory_session *s = &v.sessions[i];
		int dir = store_open_session(g->store, s->name, false);
		if (dir < 0)
			continue;
		if (!g->dry) {
			journal_clean(dir, 0, l->max_age_ms ? g->now_ms - l->max_age_ms : 0);
			short_sweep(dir, s->name);
		}
		sweep(g, dir, NULL);
		int64_t idle = g->now_ms - s->active_ms;
		bool over = (s->ended_ms && g->now_ms - s->ended_ms >= l->keep_ms) ||
			    (l->max_age_ms && idle > l->max_age_ms) ||
			    (s->empty && idle > SETTLED_MS);
		if (over && s->count == 0 && !s->in_use &&
		    (g->dry || gc_remove_session(g->store, s->name)))
			g->result.sessions++;
	}
	sweep(g, store_open_folder(g->store, STORE_IDS, false), &v);
	sweep(g, reopen_directory(g->store->fd), NULL);
	/* Sockets of supervisors that were killed before they could rename them. */
	sweep(g, store_open_folder(g->store, STORE_LIVE, false), NULL);
	inventory_release(&v);
	g->limits = given;
	return 0;
}

long gc_remove_session_part(struct gc *g, const char *session, uint64_t from, uint64_t to)
{
	struct inventory v;
	long in_use = 0;
	if (inventory_read(&v, g->store, session) < 0)
		return -1;
	for (size_t i = 0; i < v.count; i++) {
		struct inventory_item *item = &v.items[i];
		if (item->text && item->id >= from && item->id <= to)
			item->why = RETENTION_ASKED;
	}
	/* Removes the newest first, so that a crash leaves an earlier state of the session. */
	remove_items(g, &v, true);
	for (size_t i = 0; i < v.count; i++)
		in_use += v.items[i].why == RETENTION_ASKED && v.items[i].running;
	int dir = store_open_session(g->store, session, false);
	if (dir < 0 && errno != ENOENT)
		in_use = -1;
	if (dir >= 0 && !g->dry) {
		journal_clean(dir, 0, 0);
		if (short_sweep(dir, session) < 0)
			gc_note_failure(g);
	}
	io_close(&dir);
	inventory_release(&v);
	return in_use;
}
