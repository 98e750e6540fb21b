// See last.h.

#include "supervisor/artifact/last.h"

#include "config/look.h"
#include "supervisor/artifact/history.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/recent.h"
#include "supervisor/base/io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Artifacts are in the order in which they were made, and a run makes its own when its text spills:
   one that started this long before another one is taken to be behind it. */
#define LATE_MS 60000

struct run {
	int64_t started_ms;
	size_t order;             /* in which it was found: a newer one first */
	struct id_found artifact; /* id "": none was made */
	bool unkept;              /* it could not be */
	bool looks;               /* it is no run for the purpose */
	bool is_there;            /* the artifact is */
};

struct runs {
	struct run *items;
	size_t count, room;
};

static struct run *last_add(struct runs *r)
{
	if (r->count == r->room) {
		size_t room = r->room ? 2 * r->room : 16;
		struct run *more = reallocarray(r->items, room, sizeof(*more));
		if (!more)
			return NULL;
		r->items = more;
		r->room = room;
	}
	struct run *run = &r->items[r->count++];
	*run = (struct run){.order = r->count};
	return run;
}

/* How many runs were started at this time or later. */
static unsigned long count_since(const struct runs *r, int64_t ms)
{
	unsigned long n = 0;
	for (size_t i = 0; i < r->count; i++)
		n += !r->items[i].looks && r->items[i].started_ms >= ms;
	return n;
}

/* Those that have ended. What ended before a run began, began before it, too. */
static int add_ended(struct runs *r, struct history *h, unsigned long back)
{
	struct meta m;
	int got;
	while ((got = history_next(h, &m)) == 1 && count_since(r, m.ended_ms) <= back) {
		struct run *run = last_add(r);
		if (!run)
			return -1;
		run->started_ms = m.started_ms;
		run->looks = look_is(m.argv);
		run->unkept = m.unkept;
		memcpy(run->artifact.id, m.id, sizeof(m.id));
	}
	return got < 0 ? -1 : 0;
}

static struct run *find_run(const struct runs *r, const char *id)
{
	for (size_t i = 0; i < r->count; i++) {
		if (strcmp(r->items[i].artifact.id, id) == 0)
			return &r->items[i];
	}
	return NULL;
}

/* What the metadata tell of a run that the history does not know. */
static void last_look_up(struct run *run)
{
	struct meta m;
	const struct id_found *a = &run->artifact;
	int dir = store_open_session(a->store, a->session, false);
	run->started_ms = id_time_ms(id_pack(a->id));
	if (dir >= 0 && meta_read(dir, a->id, &m) == 0) {
		run->started_ms = m.started_ms;
		run->looks = look_is(m.argv);
		meta_release(&m);
	}
	io_close(&dir);
}

/* Those with an artifact, the newest first, until there are enough and one of them was kept. */
static int add_kept(struct runs *r, struct recent *artifacts, unsigned long back)
{
	struct id_found found;
	int got;
	bool enough = false;
	while (!enough && (got = recent_next(artifacts, &found)) == 1) {
		struct run *run = find_run(r, found.id);
		bool is_new = !run;
		if (is_new)
			run = last_add(r);
		if (!run)
			return -1;
		run->artifact = found;
		run->is_there = true;
		if (is_new)
			last_look_up(run);
		enough = !run->looks && count_since(r, run->started_ms + LATE_MS) > back;
	}
	return enough || got == 0 ? 0 : -1;
}

static int last_newest_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->started_ms != y->started_ms)
		return x->started_ms < y->started_ms ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The run meant, and the last artifact of it or before it. */
static int last_choose(const struct runs *r, unsigned long back, struct id_found *found)
{
	const struct run *run = NULL, *kept = NULL;
	for (size_t i = 0; i < r->count && !kept; i++) {
		const struct run *at = &r->items[i];
		if (at->looks || (!run && back-- > 0))
			continue;
		run = run ? run : at;
		kept = at->is_there ? at : NULL;
	}
	found->id[0] = '\0';
	if (kept)
		*found = kept->artifact;
	if (run && run == kept)
		return 0;
	errno = !run                  ? ENOENT
		: run->artifact.id[0] ? LAST_REMOVED
		: run->unkept         ? LAST_UNKEPT
				      : LAST_PRINTED;
	return -1;
}

bool last_is(const char *name, unsigned long *back)
{
	if (strncmp(name, "last", 4) != 0)
		return false;
	*back = 0;
	if (!name[4])
		return true;
	if (name[4] != '-' || !name[5] || strspn(name + 5, "0123456789") != strlen(name + 5))
		return false;
	errno = 0;
	*back = strtoul(name + 5, NULL, 10);
	return errno == 0;
}

int last_find(struct store *stores, int count, const char *session, unsigned long back,
	      struct id_found *found)
{
	struct runs r = {NULL, 0, 0};
	struct history *h = history_open(stores, count, session);
	struct recent *artifacts = recent_open(stores, count, session);
	int result = -1;
	if (h && artifacts && add_ended(&r, h, back) == 0 && add_kept(&r, artifacts, back) == 0) {
		if (r.count > 1)
			qsort(r.items, r.count, sizeof(*r.items), last_newest_first);
		result = last_choose(&r, back, found);
	}
	int error = errno;
	if (h)
		history_close(h);
	if (artifacts)
		recent_close(artifacts);
	free(r.items);
	errno = error;
	return result;
}
