// See recent.h.

#include "supervisor/artifact/recent.h"

#include "supervisor/artifact/journal.h"
#include "supervisor/base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD  (ID_LEN + 1)
#define AT_ONCE 64 /* records read with one call */

/* The artifacts of one store, newest first. */
struct source {
	struct store *store;
	int dir;       /* the session's directory, or STORE/ids */
	int file;      /* SESSION/recent, or -1: `listed` is used */
	uint64_t left; /* records or entries not handed on yet */
	char block[RECORD * AT_ONCE];
	uint64_t block_from; /* the number of the first record in `block` */
	uint64_t *listed;    /* packed IDs, ascending */
	char id[ID_LEN + 1]; /* the newest not handed on; "": none left */
};

struct recent {
	bool all; /* of every session */
	char session[STORE_SESSION_LEN + 1];
	int count;
	struct source sources[STORE_MAX];
};

int recent_append(int dir, const char *id)
{
	char record[RECORD + 1];
	snprintf(record, sizeof(record), "%.*s\n", ID_LEN, id);
	return journal_append(dir, RECENT_FILE, record, RECORD);
}

static int recent_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Lists the names in s->dir that are an ID followed by `suffix`. */
static int recent_list(struct source *s, const char *suffix)
{
	int copy = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d) {
		io_close(&copy);
		return -1;
	}
	size_t cap = 0;
	int result = -1;
	struct dirent *e;
	while ((errno = 0, e = readdir(d))) {
		char id[ID_LEN + 1];
		if (strlen(e->d_name) < ID_LEN || strcmp(e->d_name + ID_LEN, suffix) != 0)
			continue;
		memcpy(id, e->d_name, ID_LEN);
		id[ID_LEN] = '\0';
		if (!id_is_valid(id))
			continue;
		if (s->left == cap) {
			cap = cap ? cap * 2 : 256;
			uint64_t *more = reallocarray(s->listed, cap, sizeof(*more));
			if (!more)
				goto out;
			s->listed = more;
		}
		s->listed[s->left++] = id_pack(id);
	}
	if (errno)
		goto out;
	if (s->left > 0)
		qsort(s->listed, s->left, sizeof(*s->listed), recent_compare);
	result = 0;
out:
	closedir(d);
	return result;
}

/* Opens SESSION/recent if it is there and of whole records. */
static bool recent_open_file(struct source *s)
{
	s->file = store_open_file(s->dir, RECENT_FILE, O_RDONLY);
	struct stat st;
	if (s->file >= 0 && fstat(s->file, &st) == 0 && st.st_size % RECORD == 0) {
		s->left = (uint64_t)st.st_size / RECORD;
		s->block_from = s->left;
		return true;
	}
	io_close(&s->file);
	return false;
}

static bool exists(int dir, const char *id)
{
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", id);
	/* What can't be looked at is no reason to pass it over. */
	return io_is_there(dir, name) || errno != ENOENT;
}

/* Takes the next record of the file. A damaged one yields "". */
static int take_record(struct source *s)
{
	if (--s->left < s->block_from) {
		s->block_from = s->left < AT_ONCE ? 0 : s->left - AT_ONCE + 1;
		size_t len = (size_t)(s->left - s->block_from + 1) * RECORD;
		ssize_t n = io_read_at(s->file, s->block, len, (off_t)(s->block_from * RECORD));
		if (n < 0)
			return -1;
		if ((size_t)n < len)
			memset(s->block + n, 0, len - (size_t)n);
	}
	const char *record = s->block + (s->left - s->block_from) * RECORD;
	memcpy(s->id, record, ID_LEN);
	s->id[ID_LEN] = '\0';
	if (record[ID_LEN] != '\n' || !id_is_valid(s->id))
		s->id[0] = '\0';
	return 0;
}

/* Moves s->id to the next artifact that still exists. */
static int recent_advance(struct source *s)
{
	while (s->left > 0) {
		if (s->file < 0) {
			id_unpack(s->listed[--s->left], s->id);
			return 0;
		}
		if (take_record(s) < 0)
			return -1;
		if (s->id[0] && exists(s->dir, s->id))
			return 0;
	}
	s->id[0] = '\0';
	return 0;
}

static int open_source(struct source *s, const char *session)
{
	s->dir = session ? store_open_session(s->store, session, false)
			 : store_open_ids(s->store, false);
	if (s->dir < 0)
		return errno == ENOENT ? 0 : -1;
	if (session ? !recent_open_file(s) && recent_list(s, ".txt") < 0 : recent_list(s, "") < 0)
		return -1;
	return recent_advance(s);
}

/* Of an ID that was removed nothing. */
static size_t keep_existing(void *ctx, const char *line, size_t len)
{
	char id[ID_LEN + 1];
	if (len < ID_LEN)
		return 0;
	memcpy(id, line + len - ID_LEN, ID_LEN);
	id[ID_LEN] = '\0';
	return id_is_valid(id) && exists(*(const int *)ctx, id) ? ID_LEN : 0;
}

int recent_compact(int dir)
{
	long taken = journal_filter(dir, RECENT_FILE, keep_existing, &dir);
	return taken < 0 && errno != ENOENT ? -1 : 0;
}

struct recent *recent_open(struct store *stores, int count, const char *session)
{
	struct recent *r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->all = !session;
	snprintf(r->session, sizeof(r->session), "%s", session ? session : "");
	for (int i = 0; i < count && i < STORE_MAX; i++) {
		struct source *s = &r->sources[r->count++];
		s->store = &stores[i];
		s->dir = s->file = -1;
		if (open_source(s, session) < 0) {
			recent_close(r);
			return NULL;
		}
	}
	return r;
}

/* Fills in which session an artifact of STORE/ids belongs to. */
static bool read_session(const struct source *s, struct id_found *found)
{
	char session[sizeof(found->session)];
	ssize_t n = readlinkat(s->dir, found->id, session, sizeof(session));
	if (n <= 0 || n == (ssize_t)sizeof(session))
		return false;
	session[n] = '\0';
	store_session_name(session, found->session);
	return strcmp(session, found->session) == 0;
}

int recent_next(struct recent *r, struct id_found *found)
{
	for (;;) {
		struct source *newest = NULL;
		for (int i = 0; i < r->count; i++) {
			struct source *s = &r->sources[i];
			if (s->id[0] && (!newest || strcmp(s->id, newest->id) > 0))
				newest = s;
		}
		if (!newest)
			return 0;
		found->store = newest->store;
		memcpy(found->id, newest->id, sizeof(found->id));
		memcpy(found->session, r->session, sizeof(found->session));
		if (recent_advance(newest) < 0)
			return -1;
		if (!r->all || read_session(newest, found))
			return 1;
	}
}

void recent_close(struct recent *r)
{
	int saved = errno;
	for (int i = 0; i < r->count; i++) {
		io_close(&r->sources[i].dir);
		io_close(&r->sources[i].file);
		free(r->sources[i].listed);
	}
	free(r);
	errno = saved;
}
