// See gc.h.

#include "supervisor/artifact/gc.h"

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/agents/session.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"

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

/* --- removing one artifact ---------------------------------------------------- */

/* The longest time that a process other than a supervisor holds the lock. */
#define LOCK_HELD_MS 20

/* Whether the metadata say that the run lives, for a text that is locked or a file system without
   locks. */
static bool is_said_to_run(int dir, const char *id)
{
	struct meta m;
	if (meta_read(dir, id, &m) < 0)
		return false;
	/* meta_read() makes a run that is neither done nor locked an interrupted one. */
	bool running = m.state != META_DONE && m.supervisor > 0;
	meta_release(&m);
	return running;
}

/* Locks the text against a run that is about to begin, or another removal. Returns 0, or -1 when
   it is held. */
static int lock_text(int fd, int dir, const char *id)
{
	struct stat st;
	/* Between the making of the text and its lock, which comes before the metadata. */
	if (!id_has_file(dir, id, ARTIFACT_JSON) && fstat(fd, &st) == 0 &&
	    clock_real_ms() / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S)
		return -1;
	for (int waited = 0;; waited++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return is_said_to_run(dir, id) ? -1 : 0;
		if (waited == LOCK_HELD_MS || is_said_to_run(dir, id))
			return -1;
		/* A reader may be testing the lock, or another removal has it. */
		if (fstat(fd, &st) == 0 && st.st_nlink == 0)
			return 0;
		struct timespec pause = {.tv_nsec = 1000000};
		nanosleep(&pause, NULL);
	}
}

bool removal_is_running(int dir, const char *id)
{
	int fd = id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY);
	if (fd < 0)
		return store_is_short(errno);
	bool running = lock_text(fd, dir, id) < 0;
	io_close(&fd);
	return running;
}

/* Returns 1 if it was there, 0, or -1 with errno. */
static int unlink_file(int dir, const char *id, const char *prefix, enum artifact_part part,
		       uint64_t *freed)
{
	char name[ID_FILE_NAME];
	struct stat st;
	id_file_name(prefix, id, part, name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (unlinkat(dir, name, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	if (st.st_nlink == 1)
		*freed += (uint64_t)st.st_blocks * 512;
	return 1;
}

enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed)
{
	enum removal result = REMOVAL_FAILED;
	int fd = id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY);
	int error = errno;
	if (fd < 0 && store_is_short(error))
		goto out;
	if (fd >= 0 && lock_text(fd, dir, id) < 0) {
		result = REMOVAL_RUNNING;
		goto out;
	}
	/* A link or another user's file of that name can't be opened, but is removed. */
	int was = unlink_file(dir, id, "", ARTIFACT_OUT, freed);
	if (was < 0)
		goto out;
	for (enum artifact_part part = ARTIFACT_ERR; part < ARTIFACT_FILES; part++)
		unlink_file(dir, id, "", part, freed);
	unlink_file(dir, id, ".", ARTIFACT_JSON, freed);
	/* An artifact of another session may have claimed the ID. */
	char claimed[STORE_SESSION_LEN + 1];
	int ids = store_open_ids(s, false);
	ssize_t n = ids < 0 ? -1 : readlinkat(ids, id, claimed, sizeof(claimed));
	if (n == (ssize_t)strlen(session) && memcmp(claimed, session, (size_t)n) == 0)
		unlinkat(ids, id, 0);
	io_close(&ids);
	result = was ? REMOVAL_DONE : REMOVAL_ABSENT;
out:
	if (result == REMOVAL_FAILED && fd < 0 && error != ENOENT)
		errno = error;
	io_close(&fd);
	return result;
}

/* --- seen time, and what has to go -------------------------------------------- */

/* A line has two numbers of up to 20 digits. */
#define TEXT_MAX (SEEN_GAPS * 48)

/* If there is no room, the two oldest become one, which makes no artifact older. */
static void seen_add(struct seen *s, int64_t end_ms, int64_t unseen_ms)
{
	if (s->count == SEEN_GAPS) {
		s->gaps[1].unseen_ms += s->gaps[0].unseen_ms;
		memmove(s->gaps, s->gaps + 1, (SEEN_GAPS - 1) * sizeof(*s->gaps));
		s->count--;
	}
	s->gaps[s->count].end_ms = end_ms;
	s->gaps[s->count++].unseen_ms = unseen_ms;
}

void seen_look(struct seen *s, int fd, int64_t now_ms, bool keep)
{
	char text[TEXT_MAX + 1];
	struct stat st;
	s->count = 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	ssize_t n = io_read_at(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	char *rest;
	for (char *line = strtok_r(text, "\n", &rest); line && s->count < SEEN_GAPS;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *end;
		int64_t end_ms = strtoll(line, &end, 10), unseen_ms = strtoll(end, NULL, 10);
		if (end_ms > 0 && unseen_ms > 0 && unseen_ms < INT64_MAX / SEEN_GAPS)
			seen_add(s, end_ms, unseen_ms);
	}
	int64_t since = now_ms - (int64_t)st.st_mtim.tv_sec * 1000;
	if (since > SEEN_STEP_MS) {
		seen_add(s, now_ms, since - SEEN_STEP_MS);
		size_t len = 0;
		for (int i = 0; i < s->count; i++)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%" PRId64 " %" PRId64 "\n", s->gaps[i].end_ms,
						s->gaps[i].unseen_ms);
		/* On a full disk the gaps are forgotten. */
		bool lost = keep &&
			    (io_write_at(fd, text, len, 0) < 0 || ftruncate(fd, (off_t)len) < 0);
		(void)lost;
	}
	const struct timespec now = {.tv_sec = now_ms / 1000}, times[2] = {now, now};
	if (keep)
		futimens(fd, times);
}

int64_t seen_age(const struct seen *s, int64_t now_ms, int64_t age_ms)
{
	int64_t then = now_ms - age_ms;
	for (int i = s->count; i-- > 0;)
		then -= s->gaps[i].end_ms > then ? s->gaps[i].unseen_ms : 0;
	return now_ms - then;
}

/* Adds to the sum. Returns whether it is over the limit. */
static bool retention_is_over(uint64_t *sum, uint64_t more, uint64_t most)
{
	*sum = *sum + more < *sum ? UINT64_MAX : *sum + more;
	return most && *sum > most;
}

void retention_decide(struct retention_item *items, size_t count,
		      struct retention_session *sessions, const struct retention_limits *l,
		      int64_t now_ms)
{
	uint64_t all_count = 0, all_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		items[i].why = RETENTION_STAYS;
		if (!items[i].running && s->ended_ms && now_ms - s->ended_ms >= l->keep_ms)
			items[i].why = RETENTION_ENDED;
		else if (!items[i].running && l->max_age_ms &&
			 now_ms - items[i].last_ms > l->max_age_ms)
			items[i].why = RETENTION_AGE;
		s->count = s->bytes = 0;
	}
	/* Running ones stay in any case, so they are counted first. */
	for (size_t i = 0; i < count; i++) {
		struct retention_session *s = &sessions[items[i].session];
		if (!items[i].running)
			continue;
		s->count++;
		retention_is_over(&s->bytes, items[i].bytes, 0);
		all_count++;
		retention_is_over(&all_bytes, items[i].bytes, 0);
	}
	for (size_t i = count; i-- > 0;) {
		struct retention_item *item = &items[i];
		struct retention_session *s = &sessions[item->session];
		if (item->running || item->why != RETENTION_STAYS)
			continue;
		bool many = retention_is_over(&s->count, 1, l->session_count);
		bool large = retention_is_over(&s->bytes, item->bytes, l->session_bytes);
		if (many || large) {
			item->why = many ? RETENTION_SESSION_COUNT : RETENTION_SESSION_SIZE;
			continue;
		}
		many = retention_is_over(&all_count, 1, l->max_count);
		large = retention_is_over(&all_bytes, item->bytes, l->max_bytes);
		if (many || large)
			item->why = many ? RETENTION_COUNT : RETENTION_SIZE;
	}
}

/* --- the inventory ------------------------------------------------------------ */

/* One file of an artifact. */
struct part {
	uint64_t id, bytes;
	int64_t last_ms;
	bool text, json;
};

struct parts {
	struct part *items;
	size_t count, room;
};

static int64_t last_written(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
}

static int read_parts(struct parts *parts, int dir)
{
	DIR *d = io_list(dir);
	int result = 0;
	if (!d)
		return -1;
	struct dirent *e = NULL;
	while (result == 0 && (errno = 0, e = readdir(d))) {
		char id[ID_LEN + 1];
		struct stat st;
		enum artifact_part file;
		if ((file = id_of_file(e->d_name, id)) == ARTIFACT_FILES ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		struct part *added =
			array_add(&parts->items, &parts->count, &parts->room, sizeof(*added));
		if (added)
			*added = (struct part){
				.id = id_pack(id),
				.bytes = st.st_nlink == 1 ? (uint64_t)st.st_blocks * 512 : 0,
				.last_ms = last_written(&st),
				.text = file == ARTIFACT_OUT,
				.json = file == ARTIFACT_JSON,
			};
		result = added ? 0 : -1;
	}
	if (!e && errno)
		result = -1;
	closedir(d);
	if (parts->count > 0)
		qsort(parts->items, parts->count, sizeof(*parts->items), id_compare);
	return result;
}

/* Adds the artifact that the parts from `at` on belong to; returns the index behind them, or -1. */
static long inventory_add_item(struct inventory *v, struct inventory_session *s, int dir,
			       const struct parts *parts, size_t at)
{
	const struct part *first = &parts->items[at];
	struct retention_item item = {.id = first->id, .session = (unsigned)v->session_count};
	bool text = false, json = false;
	for (; at < parts->count && parts->items[at].id == first->id; at++) {
		const struct part *p = &parts->items[at];
		item.bytes += p->bytes;
		if (p->text || !text)
			item.last_ms = p->last_ms;
		text |= p->text;
		json |= p->json;
	}
	/* An empty text without metadata is from a run that was killed as it began. */
	if (!text || (!json && item.bytes == 0)) {
		struct inventory_leftover *left = array_add(&v->leftovers, &v->leftover_count,
							    &v->leftover_room, sizeof(*left));
		if (left)
			*left = (struct inventory_leftover){item.id, item.session, item.last_ms};
		return left ? (long)at : -1;
	}
	char id[ID_LEN + 1];
	id_unpack(item.id, id);
	item.running = s->in_use && removal_is_running(dir, id);
	s->count++;
	s->bytes += item.bytes;
	s->running += item.running;
	if (item.last_ms > s->active_ms)
		s->active_ms = item.last_ms;
	struct retention_item *added = array_add(&v->items, &v->count, &v->room, sizeof(*added));
	if (!added)
		return -1;
	*added = item;
	return (long)at;
}

static void read_times(struct inventory_session *s, int dir)
{
	struct stat st;
	int64_t journal = 0, ended = journal_end_ms(dir);
	if (fstatat(dir, JOURNAL_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size > 0)
		journal = last_written(&st);
	s->empty = s->count == 0 && journal == 0;
	if (ended >= s->active_ms && !s->in_use)
		s->ended_ms = ended;
	if (journal > s->active_ms)
		s->active_ms = journal;
	if (s->active_ms == 0 && fstat(dir, &st) == 0)
		s->active_ms = last_written(&st);
	s->agent_gone = session_is_over(s->name);
}

static int add_session(struct inventory *v, const struct store *store, const char *name)
{
	struct parts parts = {NULL, 0, 0};
	struct inventory_session s = {.in_use = false};
	int dir = store_open_session(store, name, false);
	/* The session is gone by now, or not readable. */
	if (dir < 0)
		return store_is_short(errno) ? -1 : 0;
	snprintf(s.name, sizeof(s.name), "%s", name);
	s.in_use = store_is_in_use(dir);
	int result = -1;
	if (read_parts(&parts, dir) < 0)
		goto out;
	for (size_t at = 0; at < parts.count;) {
		long next = inventory_add_item(v, &s, dir, &parts, at);
		if (next < 0)
			goto out;
		at = (size_t)next;
	}
	read_times(&s, dir);
	struct inventory_session *added =
		array_add(&v->sessions, &v->session_count, &v->session_room, sizeof(*added));
	if (!added)
		goto out;
	*added = s;
	result = 0;
out:
	free(parts.items);
	io_close(&dir);
	return result;
}

int inventory_read(struct inventory *v, const struct store *s, const char *session)
{
	struct store_name *names = NULL;
	size_t count = 0;
	*v = (struct inventory){0};
	int result = session ? add_session(v, s, session) : store_list_sessions(s, &names, &count);
	for (size_t i = 0; i < count && result == 0; i++)
		result = add_session(v, s, names[i].text);
	free(names);
	if (result < 0)
		inventory_release(v);
	else if (v->count > 0)
		qsort(v->items, v->count, sizeof(*v->items), id_compare);
	return result;
}

void inventory_release(struct inventory *v)
{
	int saved = errno;
	free(v->items);
	free(v->sessions);
	free(v->leftovers);
	*v = (struct inventory){0};
	errno = saved;
}

/* STORE/gc: locked while an automatic gc runs; its time is that of the last one (struct seen). */
#define STAMP "gc"

#define SETTLED_MS ((int64_t)STORE_SETTLED_S * 1000)

struct retention_limits gc_limits(const struct settings *s)
{
	return (struct retention_limits){
		.max_age_ms = s->gc_age,
		.keep_ms = s->keep,
		.max_count = (uint64_t)s->gc_count,
		.max_bytes = (uint64_t)s->gc_size,
		.session_count = (uint64_t)s->gc_session_count,
		.session_bytes = (uint64_t)s->gc_session_size,
	};
}

static void note_failure(struct gc *g)
{
	if (g->result.failed++ == 0)
		g->result.error = errno;
}

/* Removes an artifact, or with `dry` counts what that would free. Returns whether it is gone. */
static bool remove_item(struct gc *g, int dir, const struct inventory_session *session,
			struct retention_item *item)
{
	char id[ID_LEN + 1];
	uint64_t freed = g->dry ? item->bytes : 0;
	id_unpack(item->id, id);
	if (!g->dry) {
		enum removal r = removal_of(g->store, session->name, dir, id, &freed);
		if (r == REMOVAL_FAILED)
			note_failure(g);
		if (r == REMOVAL_RUNNING)
			item->running = true;
		if (r != REMOVAL_DONE)
			return false;
		item->bytes = freed;
	}
	g->result.artifacts++;
	g->result.bytes += freed;
	if (g->removed)
		g->removed(g->ctx, session, item);
	return true;
}

/* --- sessions -------------------------------------------------------------- */

bool gc_remove_session(const struct store *s, const char *session)
{
	int dir = store_open_session(s, session, false);
	int sessions = dir < 0 ? -1 : store_open_sessions(s, false);
	DIR *d = sessions >= 0 && flock(dir, LOCK_EX | LOCK_NB) == 0 ? io_list(dir) : NULL;
	bool only = d, removed = false;
	for (struct dirent *e; only && (e = readdir(d));) {
		only = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		       strcmp(e->d_name, JOURNAL_FILE) == 0;
	}
	if (d)
		closedir(d);
	if (only) {
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
	int result = journal_add_end(dir, clock_real_ms());
	io_close(&dir);
	return result;
}

/* Whether the session can be removed without losing anything. */
static bool gc_is_over(const struct gc *g, const struct inventory_session *s)
{
	int64_t idle = g->now_ms - s->active_ms;
	if (s->count > 0 || s->in_use)
		return false;
	if (s->ended_ms && g->now_ms - s->ended_ms >= g->limits.keep_ms)
		return true;
	if (g->limits.max_age_ms && idle > g->limits.max_age_ms)
		return true;
	return s->empty && idle > SETTLED_MS;
}

/* --- leftovers ------------------------------------------------------------- */

/* Removes old temporary files. */
static void sweep_temporary(struct gc *g, int dir)
{
	DIR *d = io_list(dir);
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		char id[ID_LEN + 1];
		const char *name = e->d_name;
		bool temporary = journal_is_temporary(name) ||
				 (name[0] == '.' && (id_of_file(name + 1, id) < ARTIFACT_FILES ||
						     id_is_valid(name + 1)));
		if (!temporary || fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    g->now_ms / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S)
			continue;
		if (!g->dry && unlinkat(dir, e->d_name, 0) < 0)
			continue;
		g->result.leftovers++;
		if (st.st_nlink == 1)
			g->result.bytes += (uint64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
}

static void sweep_leftovers(struct gc *g, const struct inventory *v)
{
	for (size_t i = 0; i < v->leftover_count; i++) {
		const struct inventory_leftover *l = &v->leftovers[i];
		const char *session = v->sessions[l->session].name;
		char id[ID_LEN + 1];
		if (g->now_ms - l->last_ms < SETTLED_MS)
			continue;
		id_unpack(l->id, id);
		int dir = g->dry ? -1 : store_open_session(g->store, session, false);
		if (dir >= 0)
			removal_of(g->store, session, dir, id, &g->result.bytes);
		io_close(&dir);
		g->result.leftovers++;
	}
}

/* Whether an ID was claimed long ago for an artifact that does not exist. */
static bool is_stale(const struct gc *g, int ids, const char *id)
{
	struct stat st;
	if (fstatat(ids, id, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode) ||
	    g->now_ms / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S || id_exists(g->store, id))
		return false;
	/* A living run may have an ID and nothing on disk yet. */
	int live = store_open_live(g->store, false);
	bool is_live = live >= 0 && io_is_there(live, id);
	io_close(&live);
	return !is_live;
}

/* Gives back claimed IDs that have no artifact. */
static void sweep_claims(struct gc *g, const struct inventory *v)
{
	int ids = store_open_ids(g->store, false);
	DIR *d = io_list_opened(ids);
	for (struct dirent *e; d && (e = readdir(d));) {
		if (!id_is_valid(e->d_name))
			continue;
		const uint64_t id = id_pack(e->d_name);
		bool seen = v->count > 0 &&
			    bsearch(&id, v->items, v->count, sizeof(*v->items), id_compare);
		if (!seen && is_stale(g, ids, e->d_name) &&
		    (g->dry || unlinkat(ids, e->d_name, 0) == 0))
			g->result.leftovers++;
	}
	if (d)
		closedir(d);
}

/* --- all of it ------------------------------------------------------------- */

/* Cleans up one session. */
static void clean_session(struct gc *g, struct inventory *v, unsigned index)
{
	struct inventory_session *s = &v->sessions[index];
	int dir = store_open_session(g->store, s->name, false);
	if (dir < 0)
		return;
	sweep_temporary(g, dir);
	int64_t oldest = g->limits.max_age_ms ? g->now_ms - g->limits.max_age_ms : 0;
	if (!g->dry)
		journal_clean(dir, 0, oldest);
	io_close(&dir);
	if (gc_is_over(g, s) && (g->dry || gc_remove_session(g->store, s->name)))
		g->result.sessions++;
}

static void remove_items(struct gc *g, struct inventory *v)
{
	int dir = -1;
	unsigned open = 0;
	for (size_t i = 0; i < v->count; i++) {
		struct retention_item *item = &v->items[i];
		struct inventory_session *s = &v->sessions[item->session];
		if (item->why == RETENTION_STAYS)
			continue;
		if (dir < 0 || open != item->session) {
			io_close(&dir);
			dir = store_open_session(g->store, s->name, false);
			open = item->session;
		}
		if (dir >= 0 && remove_item(g, dir, s, item))
			s->count--;
		if (dir < 0 && errno != ENOENT)
			note_failure(g);
	}
	io_close(&dir);
}

/* Only time that the store has seen pass counts as age. */
static void count_seen_time(struct gc *g)
{
	struct retention_limits *l = &g->limits;
	struct seen seen;
	int fd = store_open_file(g->store->fd, STAMP, g->dry ? O_RDONLY : O_RDWR);
	seen_look(&seen, fd, g->now_ms, !g->dry);
	io_close(&fd);
	if (l->max_age_ms)
		l->max_age_ms = seen_age(&seen, g->now_ms, l->max_age_ms);
	if (l->keep_ms)
		l->keep_ms = seen_age(&seen, g->now_ms, l->keep_ms);
}

int gc_run(struct gc *g)
{
	struct inventory v;
	if (inventory_read(&v, g->store, NULL) < 0)
		return -1;
	int result = -1;
	struct retention_session *ends = calloc(v.session_count + 1, sizeof(*ends));
	if (!ends)
		goto out;
	count_seen_time(g);
	/* Those end whose agent is gone. */
	for (size_t i = 0; i < v.session_count; i++) {
		struct inventory_session *s = &v.sessions[i];
		if (s->agent_gone && !s->in_use && !s->ended_ms &&
		    (g->dry || gc_end_session(g->store, s->name) == 0))
			s->ended_ms = g->now_ms;
		ends[i].ended_ms = s->ended_ms;
	}
	retention_decide(v.items, v.count, ends, &g->limits, g->now_ms);
	remove_items(g, &v);
	sweep_leftovers(g, &v);
	for (size_t i = 0; i < v.session_count; i++)
		clean_session(g, &v, (unsigned)i);
	sweep_claims(g, &v);
	if (!g->dry)
		earlier_sweep(g->store);
	sweep_temporary(g, g->store->fd);
	/* Sockets of supervisors that were killed before they could rename them. */
	int live = store_open_live(g->store, false);
	if (live >= 0)
		sweep_temporary(g, live);
	io_close(&live);
	result = 0;
out:
	free(ends);
	inventory_release(&v);
	return result;
}

long gc_remove_session_part(struct gc *g, const char *session, uint64_t from, uint64_t to)
{
	struct inventory v;
	long in_use = 0;
	if (inventory_read(&v, g->store, session) < 0)
		return -1;
	int dir = store_open_session(g->store, session, false);
	if (dir < 0 && errno != ENOENT)
		in_use = -1;
	int error = errno;
	/* Newest first: if it ends early, the rest is an earlier state of the session. */
	for (size_t i = v.count; dir >= 0 && i-- > 0;) {
		struct retention_item *item = &v.items[i];
		if (item->id < from || item->id > to)
			continue;
		if (!item->running)
			remove_item(g, dir, &v.sessions[0], item);
		in_use += item->running;
	}
	if (dir >= 0 && !g->dry)
		journal_clean(dir, 0, 0);
	io_close(&dir);
	inventory_release(&v);
	errno = error;
	return in_use;
}

/* --- by itself ------------------------------------------------------------- */

static bool is_time(const struct stat *st, int64_t interval_ms)
{
	int64_t age = clock_real_ms() - (int64_t)st->st_mtim.tv_sec * 1000;
	/* A time in the future comes from a clock that was wrong. */
	return interval_ms > 0 && (age >= interval_ms || age < -interval_ms);
}

bool gc_is_due(const struct store *s, int64_t interval_ms)
{
	struct stat st;
	if (fstatat(s->fd, STAMP, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return is_time(&st, interval_ms);
	/* A new store has nothing to clean up: the interval starts now. */
	int fd = store_open_file(s->fd, STAMP, O_WRONLY | O_CREAT);
	io_close(&fd);
	return false;
}

bool gc_take_turn(const struct store *s, int64_t interval_ms)
{
	struct stat st;
	struct seen seen;
	int fd = store_open_file(s->fd, STAMP, O_RDWR);
	bool mine = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		    is_time(&st, interval_ms);
	if (mine)
		seen_look(&seen, fd, clock_real_ms(), true);
	io_close(&fd);
	return mine;
}
