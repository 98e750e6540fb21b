// See inventory.h.

#include "supervisor/artifact/inventory.h"

#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/recent.h"
#include "supervisor/artifact/removal.h"
#include "supervisor/artifact/session.h"
#include "supervisor/base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* The array with room for one more, or NULL (then it is as it was). */
static void *grown(void *items, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return items;
	size_t wanted = *room ? *room * 2 : 64;
	void *more = reallocarray(items, wanted, size);
	if (more)
		*room = wanted;
	return more;
}

/* When a file of the session was last written; 0: it is not there. */
static int64_t time_of(int dir, const char *name)
{
	struct stat st;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	return last_written(&st);
}

static int inventory_add_part(struct parts *parts, int dir, const char *name)
{
	char id[ID_LEN + 1];
	struct stat st;
	if (!id_of_file(name, id) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	struct part *more = grown(parts->items, parts->count, &parts->room, sizeof(*more));
	if (!more)
		return -1;
	parts->items = more;
	parts->items[parts->count++] = (struct part){
		.id = id_pack(id),
		.bytes = st.st_nlink == 1 ? (uint64_t)st.st_blocks * 512 : 0,
		.last_ms = last_written(&st),
		.text = strcmp(name + ID_LEN, ".txt") == 0,
		.json = strcmp(name + ID_LEN, ".json") == 0,
	};
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

static int read_parts(struct parts *parts, int dir)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		io_close(&copy);
		return -1;
	}
	int result = 0;
	struct dirent *e = NULL;
	while (result == 0 && (errno = 0, e = readdir(d)))
		result = inventory_add_part(parts, dir, e->d_name);
	if (!e && errno)
		result = -1;
	closedir(d);
	if (parts->count > 0)
		qsort(parts->items, parts->count, sizeof(*parts->items), compare_parts);
	return result;
}

static int add_leftover(struct inventory *v, const struct retention_item *item)
{
	struct inventory_leftover *more =
		grown(v->leftovers, v->leftover_count, &v->leftover_room, sizeof(*more));
	if (!more)
		return -1;
	v->leftovers = more;
	v->leftovers[v->leftover_count++] = (struct inventory_leftover){
		.id = item->id, .session = item->session, .last_ms = item->last_ms};
	return 0;
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
	/* An empty one without metadata is of a run that was killed as it began. */
	if (!text || (!json && item.bytes == 0))
		return add_leftover(v, &item) < 0 ? -1 : (long)at;
	char id[ID_LEN + 1];
	id_unpack(item.id, id);
	item.running = s->in_use && removal_is_running(dir, id);
	s->count++;
	s->bytes += item.bytes;
	s->running += item.running;
	if (item.last_ms > s->active_ms)
		s->active_ms = item.last_ms;
	struct retention_item *more = grown(v->items, v->count, &v->room, sizeof(*more));
	if (!more)
		return -1;
	v->items = more;
	v->items[v->count++] = item;
	return (long)at;
}

static void read_times(struct inventory_session *s, int dir)
{
	struct stat st;
	int64_t history = time_of(dir, META_HISTORY), recent = time_of(dir, RECENT_FILE);
	int64_t ended = time_of(dir, INVENTORY_ENDED);
	s->empty = s->count == 0 && history == 0;
	if (history > s->active_ms)
		s->active_ms = history;
	if (recent > s->active_ms)
		s->active_ms = recent;
	if (s->active_ms == 0 && fstat(dir, &st) == 0)
		s->active_ms = last_written(&st);
	if (ended >= s->active_ms && !s->in_use)
		s->ended_ms = ended;
	s->agent_gone = session_is_over(s->name);
}

static int add_session(struct inventory *v, const struct store *store, const char *name)
{
	struct parts parts = {NULL, 0, 0};
	struct inventory_session s = {.in_use = false};
	int dir = store_open_session(store, name, false);
	/* Gone by now, or kept from us. */
	if (dir < 0)
		return store_is_short(errno) ? -1 : 0;
	snprintf(s.name, sizeof(s.name), "%s", name);
	s.in_use = store_is_in_use(dir);
	int result = -1;
	struct inventory_session *more =
		grown(v->sessions, v->session_count, &v->session_room, sizeof(*more));
	if (more)
		v->sessions = more;
	if (!more || read_parts(&parts, dir) < 0)
		goto out;
	for (size_t at = 0; at < parts.count;) {
		long next = inventory_add_item(v, &s, dir, &parts, at);
		if (next < 0)
			goto out;
		at = (size_t)next;
	}
	read_times(&s, dir);
	v->sessions[v->session_count++] = s;
	result = 0;
out:
	free(parts.items);
	io_close(&dir);
	return result;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of all sessions, sorted; each is to be freed, and the array. Returns how many, or -1.
 */
static long list_sessions(const struct store *s, char ***names)
{
	size_t count = 0, room = 0;
	*names = NULL;
	int dir = store_open_sessions(s, false);
	if (dir < 0)
		return errno == ENOENT ? 0 : -1;
	DIR *d = fdopendir(dir);
	if (!d) {
		io_close(&dir);
		return -1;
	}
	bool failed = false;
	struct dirent *e = NULL;
	while (!failed && (errno = 0, e = readdir(d))) {
		char name[STORE_SESSION_LEN + 1];
		store_session_name(e->d_name, name);
		if (strcmp(name, e->d_name) != 0)
			continue;
		char **more = grown(*names, count, &room, sizeof(*more));
		if (more)
			*names = more;
		failed = !more || !(more[count] = strdup(name));
		count += !failed;
	}
	failed |= !e && errno;
	closedir(d);
	if (count > 0)
		qsort(*names, count, sizeof(**names), compare_names);
	if (!failed)
		return (long)count;
	while (count > 0)
		free((*names)[--count]);
	free(*names);
	*names = NULL;
	return -1;
}

static int add_all_sessions(struct inventory *v, const struct store *s)
{
	char **names;
	long count = list_sessions(s, &names);
	int result = count < 0 ? -1 : 0;
	for (long i = 0; i < count; i++) {
		if (result == 0)
			result = add_session(v, s, names[i]);
		free(names[i]);
	}
	free(names);
	return result;
}

static int compare_items(const void *a, const void *b)
{
	const struct retention_item *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

int inventory_read(struct inventory *v, const struct store *s, const char *session)
{
	*v = (struct inventory){0};
	int result = session ? add_session(v, s, session) : add_all_sessions(v, s);
	if (result < 0)
		inventory_release(v);
	else if (v->count > 0)
		qsort(v->items, v->count, sizeof(*v->items), compare_items);
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
