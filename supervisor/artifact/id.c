// See id.h.

#include "supervisor/artifact/id.h"

#include "config/profile.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/journal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PREFIX      "cmd-"
#define PREFIX_LEN  4
#define RANDOM_BITS 15
#define TIME_BITS   45

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";

bool id_is_valid(const char *text)
{
	return strncmp(text, PREFIX, PREFIX_LEN) == 0 &&
	       strspn(text + PREFIX_LEN, digits) == ID_LEN - PREFIX_LEN && text[ID_LEN] == '\0';
}

uint64_t id_pack(const char *id)
{
	uint64_t packed = 0;
	for (int i = PREFIX_LEN; i < ID_LEN; i++)
		packed = packed << 5 | (uint64_t)(strchr(digits, id[i]) - digits);
	return packed;
}

void id_unpack(uint64_t packed, char id[ID_LEN + 1])
{
	memcpy(id, PREFIX, PREFIX_LEN);
	for (int i = ID_LEN - 1; i >= PREFIX_LEN; i--) {
		id[i] = digits[packed & 31];
		packed >>= 5;
	}
	id[ID_LEN] = '\0';
}

int id_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

int64_t id_time_ms(uint64_t packed)
{
	return (int64_t)(packed >> RANDOM_BITS);
}

uint64_t id_first_at(int64_t ms)
{
	return ms > 0 ? ((uint64_t)ms & ((1ULL << TIME_BITS) - 1)) << RANDOM_BITS : 0;
}

uint64_t id_last_at(int64_t ms)
{
	return id_first_at(ms) | ((1u << RANDOM_BITS) - 1);
}

const char *const id_suffixes[] = {".txt",     ".err.txt", ".raw",   ".json", ".idx",
				   ".err.idx", ".cast",    ".shown", NULL};

/* The longest suffix is ".err.txt". */
#define FILE_NAME_LEN (ID_LEN + 8)

int id_open_file(int dir, const char *id, const char *suffix, int flags)
{
	char name[FILE_NAME_LEN + 1];
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	return store_open_file(dir, name, flags);
}

void id_remove_files(int dir, const char *id)
{
	int saved = errno;
	for (size_t i = 0; id_suffixes[i]; i++) {
		char name[FILE_NAME_LEN + 1];
		snprintf(name, sizeof(name), "%s%s", id, id_suffixes[i]);
		unlinkat(dir, name, 0);
	}
	errno = saved;
}

bool id_has_file(int dir, const char *id, const char *suffix)
{
	char name[FILE_NAME_LEN + 1];
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	return io_is_there(dir, name);
}

bool id_of_file(const char *name, char id[ID_LEN + 1])
{
	if (strlen(name) <= ID_LEN)
		return false;
	memcpy(id, name, ID_LEN);
	id[ID_LEN] = '\0';
	if (!id_is_valid(id))
		return false;
	for (size_t i = 0; id_suffixes[i]; i++) {
		if (strcmp(name + ID_LEN, id_suffixes[i]) == 0)
			return true;
	}
	return false;
}

int id_claim(const struct store *s, const char *session, int64_t started_ms, char id[ID_LEN + 1])
{
	int ids = store_open_ids(s, true);
	if (ids < 0)
		return -1;
	uint64_t first = id_first_at(started_ms);
	int result = -1;
	/* 32,768 IDs per millisecond: after some misses the next millisecond is tried, so
	   that even a clock that stands still never runs out of them. */
	for (int attempt = 1; attempt <= 4096; attempt++) {
		uint16_t draw;
		if (getrandom(&draw, sizeof(draw), 0) != (ssize_t)sizeof(draw)) {
			if (errno == EINTR)
				continue;
			break;
		}
		id_unpack(first | (draw & ((1u << RANDOM_BITS) - 1)), id);
		result = symlinkat(session, ids, id);
		if (result == 0 || errno != EEXIST)
			break;
		if (attempt % 16 == 0)
			first += 1u << RANDOM_BITS;
	}
	io_close(&ids);
	return result;
}

int id_claim_exact(const struct store *s, const char *session, const char *id)
{
	int ids = store_open_ids(s, true);
	if (ids < 0)
		return -1;
	int result = symlinkat(session, ids, id);
	io_close(&ids);
	return result;
}

void id_release(const struct store *s, const char *id)
{
	int saved = errno, ids = store_open_ids(s, false);
	if (ids >= 0)
		unlinkat(ids, id, 0);
	io_close(&ids);
	errno = saved;
}

/* The session in the link ids/ID. Returns the length of its name, or -1 with errno. */
static ssize_t id_read_session(int ids, const char *id, char session[STORE_SESSION_LEN + 1])
{
	ssize_t n = readlinkat(ids, id, session, STORE_SESSION_LEN + 1);
	session[n > 0 && n <= STORE_SESSION_LEN ? n : 0] = '\0';
	return n;
}

int id_session(const struct store *stores, int count, const char *id,
	       char session[STORE_SESSION_LEN + 1])
{
	session[0] = '\0';
	for (int i = 0; i < count && !session[0]; i++) {
		int ids = store_open_ids(&stores[i], false);
		if (ids >= 0)
			id_read_session(ids, id, session);
		io_close(&ids);
	}
	return session[0] ? 0 : -1;
}

/* Whether the artifact that the link ids/ID stands for is there, and in which session. */
static bool is_there(const struct store *s, int ids, const char *id,
		     char session[STORE_SESSION_LEN + 1])
{
	ssize_t n = id_read_session(ids, id, session);
	if (n <= 0 || n > STORE_SESSION_LEN)
		return n < 0 && store_is_short(errno);
	/* Refuses what is no session's name, so also "../x". */
	int dir = store_open_session(s, session, false);
	if (dir < 0)
		return store_is_short(errno);
	bool there = id_has_file(dir, id, ".txt");
	io_close(&dir);
	return there;
}

bool id_exists(const struct store *s, const char *id)
{
	char session[STORE_SESSION_LEN + 1];
	int ids = store_open_ids(s, false);
	/* Unless this is certain, it is not gone. */
	bool there = ids < 0 ? errno != ENOENT : is_there(s, ids, id, session);
	io_close(&ids);
	return there;
}

static bool id_look_up(struct store *s, int ids, const char *id, struct id_found *found)
{
	if (!is_there(s, ids, id, found->session))
		return false;
	found->store = s;
	memcpy(found->id, id, ID_LEN + 1);
	return true;
}

static int find_whole(struct store *stores, int count, const char *id, struct id_found *found)
{
	bool there = false;
	int error = ENOENT;
	for (int i = 0; i < count && !there; i++) {
		int ids = store_open_ids(&stores[i], false);
		if (ids < 0) {
			error = errno == ENOENT ? error : errno;
			continue;
		}
		there = id_look_up(&stores[i], ids, id, found);
		io_close(&ids);
	}
	errno = error;
	return there ? 0 : -1;
}

static int find_prefix(struct store *stores, int count, const char *prefix, struct id_found *found)
{
	int matches = 0; /* different artifacts, up to two */
	size_t len = strlen(prefix);
	for (int i = 0; i < count; i++) {
		int ids = store_open_ids(&stores[i], false);
		DIR *d = io_list_opened(ids);
		if (!d && errno == ENOENT)
			continue;
		if (!d)
			return -1;
		struct dirent *e = NULL;
		while (matches < 2 && (errno = 0, e = readdir(d))) {
			struct id_found candidate;
			if (strncmp(e->d_name, prefix, len) != 0 || !id_is_valid(e->d_name) ||
			    !id_look_up(&stores[i], ids, e->d_name, &candidate) ||
			    (matches == 1 && strcmp(found->id, candidate.id) == 0))
				continue;
			if (matches++ == 0)
				*found = candidate;
		}
		bool failed = !e && errno && matches < 2;
		closedir(d);
		if (failed)
			return -1;
	}
	errno = matches ? EEXIST : ENOENT;
	return matches == 1 ? 0 : -1;
}

/* The ID in a name that has a whole one. */
static bool take_whole(const char *name, char id[ID_LEN + 1])
{
	const char *slash = strrchr(name, '/');
	if (id_of_file(slash ? slash + 1 : name, id))
		return true;
	if (id_is_valid(name))
		memcpy(id, name, ID_LEN + 1);
	return id_is_valid(name);
}

bool id_is_whole(const char *name)
{
	char id[ID_LEN + 1];
	return take_whole(name, id);
}

/* A run makes its artifact when its text spills: one that started this long before another one is
   taken to be noted before it. */
#define LATE_MS 60000

struct run {
	int64_t started_ms;
	size_t order;             /* in which it was found: a newer one first */
	struct id_found artifact; /* id "": none was made */
	bool unkept;              /* it could not be */
	bool looks;               /* it is no run for the purpose */
	bool is_there;            /* the artifact is */
	struct last_end end;      /* of one that has ended */
};

struct runs {
	struct run *items;
	size_t count, room;
};

/* Takes a run from its line, or from the metadata of its artifact. */
static struct run *last_add(struct runs *r, const struct journal_line *line)
{
	struct run *run = array_add(&r->items, &r->count, &r->room, sizeof(*run));
	struct meta m = {.owned = NULL};
	if (!run)
		return NULL;
	*run = (struct run){.order = r->count, .is_there = line->is_there};
	run->artifact.store = line->store;
	memcpy(run->artifact.id, line->id, sizeof(line->id));
	snprintf(run->artifact.session, sizeof(run->artifact.session), "%s", line->session);
	if (line->kind == JOURNAL_RUN) {
		meta_parse(line->text, line->len, &m);
	} else {
		int dir = store_open_session(line->store, line->session, false);
		if (dir >= 0)
			meta_read(dir, line->id, &m);
		io_close(&dir);
	}
	bool read = m.owned;
	run->started_ms = read ? m.started_ms : *line->id ? id_time_ms(id_pack(line->id)) : 0;
	run->looks = read ? profile_is_own(m.argv) : !*line->id;
	run->unkept = m.unkept;
	run->end = (struct last_end){.interrupted = m.state == META_INTERRUPTED,
				     .timed_out = m.timed_out,
				     .exit_code = m.exit_code,
				     .signal = m.signal,
				     .duration_ms = m.duration_ms,
				     .ended_ms = line->kind == JOURNAL_RUN ? m.ended_ms : 0};
	meta_release(&m);
	return run;
}

static int last_newest_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;
	if (x->started_ms != y->started_ms)
		return x->started_ms < y->started_ms ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The run that started as the `back`-th before the last one, or NULL; and, with `kept`, that of the
   last artifact of it or before it. */
static const struct run *last_choose(struct runs *r, unsigned long back, const struct run **kept)
{
	const struct run *run = NULL;
	if (r->count > 1)
		qsort(r->items, r->count, sizeof(*r->items), last_newest_first);
	*kept = NULL;
	for (size_t i = 0; i < r->count && !*kept; i++) {
		const struct run *at = &r->items[i];
		if (at->looks || (!run && back-- > 0))
			continue;
		run = run ? run : at;
		*kept = at->is_there ? at : NULL;
	}
	return run;
}

/* Whether `name` is "last" or "last-N"; sets *back to N. */
static bool is_last(const char *name, unsigned long *back)
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

/* Finds the artifact of the run. The journal is read from its end until more runs than `back` have
   started behind what it tells of, since what stands before has started before; and until an
   artifact is found. For that, lines of runs without one do not matter. */
static int last_find(struct store *stores, int count, const char *session, unsigned long back,
		     struct id_found *found)
{
	struct journal *j = journal_open(stores, count, session, JOURNAL_RUN | JOURNAL_MADE);
	struct runs r = {NULL, 0, 0};
	struct journal_line line;
	const struct run *run, *kept = NULL;
	int result = -1, got = j ? 1 : -1;
	bool enough = false;
	while (!kept && got == 1 && (got = journal_next(j, &line)) == 1) {
		struct run *of = NULL;
		for (size_t i = 0; *line.id && i < r.count && !of; i++)
			of = strcmp(r.items[i].artifact.id, line.id) == 0 ? &r.items[i] : NULL;
		if (enough && !line.is_there)
			continue;
		if (of && line.is_there) {
			/* It had to go to another store. */
			of->is_there = true;
			of->artifact.store = line.store;
		}
		if (!of && !(of = last_add(&r, &line))) {
			got = -1;
			break;
		}
		int64_t then = line.kind == JOURNAL_MADE ? of->started_ms + LATE_MS
			       : of->end.ended_ms        ? of->end.ended_ms
							 : INT64_MAX;
		unsigned long behind = 0;
		for (size_t i = 0; i < r.count; i++)
			behind += !r.items[i].looks && r.items[i].started_ms >= then;
		enough |= behind > back;
		if (enough)
			last_choose(&r, back, &kept);
	}
	if (got >= 0) {
		run = last_choose(&r, back, &kept);
		found->id[0] = '\0';
		if (kept)
			*found = kept->artifact;
		if (run)
			found->end = run->end;
		result = run && run == kept ? 0 : -1;
		errno = !run                  ? ENOENT
			: run->artifact.id[0] ? LAST_REMOVED
			: run->unkept         ? LAST_UNKEPT
					      : LAST_PRINTED;
	}
	int error = errno;
	journal_close(j);
	free(r.items);
	errno = error;
	return result;
}

int id_find(struct store *stores, int count, const char *session, const char *name,
	    struct id_found *found)
{
	unsigned long back;
	if (is_last(name, &back))
		return last_find(stores, count, session, back, found);
	char id[ID_LEN + 1];
	if (take_whole(name, id))
		return find_whole(stores, count, id, found);
	size_t len = strlen(name);
	if (len > PREFIX_LEN && len < ID_LEN && strncmp(name, PREFIX, PREFIX_LEN) == 0 &&
	    strspn(name + PREFIX_LEN, digits) == len - PREFIX_LEN)
		return find_prefix(stores, count, name, found);
	errno = EINVAL;
	return -1;
}
