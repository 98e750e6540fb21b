// See history.h.

#include "supervisor/artifact/history.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/removal.h"

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
struct recent_source {
	struct store *store;
	int dir;     /* the session's directory, or STORE/ids */
	int file;    /* SESSION/recent, or -1: `listed` is used */
	size_t left; /* records or entries not returned yet */
	char block[RECORD * AT_ONCE];
	size_t block_from;   /* the number of the first record in `block` */
	uint64_t *listed;    /* packed IDs, ascending */
	char id[ID_LEN + 1]; /* the newest not returned; "": none left */
};

struct recent {
	bool all; /* of every session */
	char session[STORE_SESSION_LEN + 1];
	int count;
	struct recent_source sources[STORE_MAX];
};

int recent_append(int dir, const char *id)
{
	char record[RECORD + 1];
	snprintf(record, sizeof(record), "%.*s\n", ID_LEN, id);
	return journal_append(dir, RECENT_FILE, record, RECORD);
}

/* The ID that the text begins with, which has at least so many bytes. */
static bool take_id(const char *text, char id[ID_LEN + 1])
{
	memcpy(id, text, ID_LEN);
	id[ID_LEN] = '\0';
	return id_is_valid(id);
}

/* Lists the names in s->dir that are an ID followed by `suffix`. */
static int recent_list(struct recent_source *s, const char *suffix)
{
	DIR *d = io_list(s->dir);
	size_t room = 0;
	int result = -1;
	if (!d)
		return -1;
	struct dirent *e;
	while ((errno = 0, e = readdir(d))) {
		char id[ID_LEN + 1];
		if (strlen(e->d_name) < ID_LEN || strcmp(e->d_name + ID_LEN, suffix) != 0 ||
		    !take_id(e->d_name, id))
			continue;
		uint64_t *added = array_add(&s->listed, &s->left, &room, sizeof(*added));
		if (!added)
			goto out;
		*added = id_pack(id);
	}
	if (errno)
		goto out;
	if (s->left > 0)
		qsort(s->listed, s->left, sizeof(*s->listed), id_compare);
	result = 0;
out:
	closedir(d);
	return result;
}

/* Opens SESSION/recent if it is there and of whole records. */
static bool recent_open_file(struct recent_source *s)
{
	s->file = store_open_file(s->dir, RECENT_FILE, O_RDONLY);
	struct stat st;
	if (s->file >= 0 && fstat(s->file, &st) == 0 && st.st_size % RECORD == 0) {
		s->left = (size_t)st.st_size / RECORD;
		s->block_from = s->left;
		return true;
	}
	io_close(&s->file);
	return false;
}

static bool exists(int dir, const char *id)
{
	/* An artifact that can't be looked at is not passed over. */
	return id_has_file(dir, id, ".txt") || errno != ENOENT;
}

/* Takes the next record of the file. A damaged one yields "". */
static int take_record(struct recent_source *s)
{
	if (--s->left < s->block_from) {
		s->block_from = s->left < AT_ONCE ? 0 : s->left - AT_ONCE + 1;
		size_t len = (s->left - s->block_from + 1) * RECORD;
		ssize_t n = io_read_at(s->file, s->block, len, (off_t)(s->block_from * RECORD));
		if (n < 0)
			return -1;
		if ((size_t)n < len)
			memset(s->block + n, 0, len - (size_t)n);
	}
	const char *record = s->block + (s->left - s->block_from) * RECORD;
	if (!take_id(record, s->id) || record[ID_LEN] != '\n')
		s->id[0] = '\0';
	return 0;
}

/* Moves s->id to the next artifact that still exists. */
static int recent_advance(struct recent_source *s)
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

static int open_source(struct recent_source *s, const char *session)
{
	s->dir = session ? store_open_session(s->store, session, false)
			 : store_open_ids(s->store, false);
	if (s->dir < 0)
		return errno == ENOENT ? 0 : -1;
	if (session ? !recent_open_file(s) && recent_list(s, ".txt") < 0 : recent_list(s, "") < 0)
		return -1;
	return recent_advance(s);
}

/* Drops the IDs of artifacts that were removed. */
static size_t keep_existing(void *ctx, const char *line, size_t len)
{
	char id[ID_LEN + 1];
	return len >= ID_LEN && take_id(line + len - ID_LEN, id) && exists(*(const int *)ctx, id)
		       ? ID_LEN
		       : 0;
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
		struct recent_source *s = &r->sources[r->count++];
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
static bool read_session(const struct recent_source *s, struct id_found *found)
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
		struct recent_source *newest = NULL;
		for (int i = 0; i < r->count; i++) {
			struct recent_source *s = &r->sources[i];
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
	if (!r)
		return;
	int saved = errno;
	for (int i = 0; i < r->count; i++) {
		io_close(&r->sources[i].dir);
		io_close(&r->sources[i].file);
		free(r->sources[i].listed);
	}
	free(r);
	errno = saved;
}

/* The history of one session. Its file is open only while a line is read, since there may be very
   many sessions. */
struct history_source {
	struct store *store;
	char *session;
	ino_t file;      /* identifies the file: it is another one after lines were taken out */
	uint64_t end;    /* bytes that are not read yet */
	int64_t last_ms; /* when the last one ended that was found */
	int64_t from_ms; /* what ended from then on was found in the file before */
	struct meta run; /* the newest of them */
	bool any;
};

struct history {
	struct history_source *sources;
	size_t count, cap;
	struct meta given; /* what the caller has */
	uint64_t damaged;
};

int history_last_line(int fd, uint64_t end, char *line, size_t cap, uint64_t *start, size_t *len)
{
	char block[4096];
	uint64_t stop = 0;
	/* A line that a full disk cut has no newline, and the next line then follows it
	   directly. */
	for (; end > 0; end--) {
		if (io_read_whole(fd, block, 1, (off_t)end - 1) < 0)
			return -1;
		if (*block != '\n')
			break;
	}
	for (uint64_t at = end; at > 0 && stop == 0;) {
		size_t n = at < sizeof(block) ? (size_t)at : sizeof(block);
		if (io_read_whole(fd, block, n, (off_t)(at - n)) < 0)
			return -1;
		at -= n;
		const char *newline = memrchr(block, '\n', n);
		if (newline)
			stop = at + (uint64_t)(newline - block) + 1;
	}
	*start = stop;
	*len = (size_t)(end - stop);
	if (io_read_whole(fd, line, *len < cap ? *len : cap, (off_t)stop) < 0)
		return -1;
	return end > 0;
}

/* Opens the file. If it was replaced or has shrunk, reading starts again at its end. */
static int history_open_file(struct history_source *s)
{
	struct stat st;
	int dir = store_open_session(s->store, s->session, false);
	if (dir < 0)
		return -1;
	int fd = store_open_file(dir, META_HISTORY, O_RDONLY);
	io_close(&dir);
	if (fd >= 0 && fstat(fd, &st) < 0)
		io_close(&fd);
	if (fd >= 0 && (st.st_ino != s->file || (uint64_t)st.st_size < s->end)) {
		s->file = st.st_ino;
		s->end = (uint64_t)st.st_size;
		s->from_ms = s->last_ms;
	}
	return fd;
}

/* Finds the next run of a source that is not damaged. */
static int history_advance(struct history *h, struct history_source *s)
{
	char line[META_HISTORY_MAX];
	uint64_t start;
	size_t len;
	int got = 0, fd = s->end ? history_open_file(s) : -1;
	s->any = false;
	if (fd < 0 && s->end && errno != ENOENT)
		return -1;
	while (fd >= 0 && !s->any &&
	       (got = history_last_line(fd, s->end, line, sizeof(line), &start, &len)) == 1) {
		s->end = start;
		s->any = len <= sizeof(line) && meta_parse(line, len, &s->run) == 0;
		h->damaged += !s->any;
		if (!s->any && errno == ENOMEM && len <= sizeof(line))
			got = -1;
		if (got < 0)
			break;
		if (!s->any)
			continue;
		s->last_ms = s->run.ended_ms;
		s->any = s->last_ms < s->from_ms;
		if (!s->any)
			meta_release(&s->run);
	}
	io_close(&fd);
	return got < 0 ? -1 : 0;
}

static int add_source(struct history *h, struct store *store, const char *session)
{
	struct history_source s = {
		.store = store, .session = strdup(session), .last_ms = INT64_MAX};
	int fd = s.session ? history_open_file(&s) : -1;
	bool there = fd >= 0, none = s.session && !there && errno == ENOENT;
	io_close(&fd);
	struct history_source *added =
		there ? array_add(&h->sources, &h->count, &h->cap, sizeof(*added)) : NULL;
	if (!added) {
		free(s.session);
		return none ? 0 : -1;
	}
	*added = s;
	return history_advance(h, added);
}

static int add_sessions(struct history *h, struct store *store)
{
	struct store_name *names;
	size_t count;
	int result = store_list_sessions(store, &names, &count);
	for (size_t i = 0; i < count && result == 0; i++)
		result = add_source(h, store, names[i].text);
	free(names);
	return result;
}

struct history *history_open(struct store *stores, int count, const char *session)
{
	struct history *h = calloc(1, sizeof(*h));
	int result = h ? 0 : -1;
	for (int i = 0; i < count && result == 0; i++)
		result = session ? add_source(h, &stores[i], session) : add_sessions(h, &stores[i]);
	if (result == 0)
		return h;
	history_close(h);
	return NULL;
}

int history_next(struct history *h, struct meta *m)
{
	struct history_source *newest = NULL;
	meta_release(&h->given);
	for (size_t i = 0; i < h->count; i++) {
		struct history_source *s = &h->sources[i];
		if (s->any && (!newest || s->run.ended_ms > newest->run.ended_ms))
			newest = s;
	}
	if (!newest)
		return 0;
	*m = h->given = newest->run;
	newest->run = (struct meta){.argv = NULL};
	return history_advance(h, newest) < 0 ? -1 : 1;
}

uint64_t history_damaged(const struct history *h)
{
	return h->damaged;
}

void history_close(struct history *h)
{
	if (!h)
		return;
	int saved = errno;
	for (size_t i = 0; i < h->count; i++) {
		meta_release(&h->sources[i].run);
		free(h->sources[i].session);
	}
	meta_release(&h->given);
	free(h->sources);
	free(h);
	errno = saved;
}
