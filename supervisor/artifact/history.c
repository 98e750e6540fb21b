// See history.h.

#include "supervisor/artifact/history.h"

#include "supervisor/artifact/meta_json.h"
#include "supervisor/base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file. It is open only while a line is read: there may be very many sessions. */
struct source {
	struct store *store;
	char *session;
	ino_t file;      /* which one it is: where somebody has taken lines out it is another */
	uint64_t end;    /* bytes that are not handed on yet */
	int64_t last_ms; /* when the last one ended that was found */
	int64_t from_ms; /* what ended from then on was found in the file before */
	struct meta run; /* the newest of them */
	bool any;
};

struct history {
	struct source *sources;
	size_t count, cap;
	struct meta given; /* what the caller has */
	uint64_t damaged;
};

int history_last_line(int fd, uint64_t end, char *line, size_t cap, uint64_t *start, size_t *len)
{
	char block[4096];
	uint64_t stop = 0;
	/* A line that a full disk cut has no newline; the next one then is a part of it. */
	for (; end > 0; end--) {
		ssize_t got = io_read_at(fd, block, 1, (off_t)end - 1);
		if (got != 1) {
			errno = got < 0 ? errno : EIO; /* the file shrank */
			return -1;
		}
		if (*block != '\n')
			break;
	}
	for (uint64_t at = end; at > 0 && stop == 0;) {
		size_t n = at < sizeof(block) ? (size_t)at : sizeof(block);
		ssize_t got = io_read_at(fd, block, n, (off_t)(at - n));
		if (got < (ssize_t)n) {
			errno = got < 0 ? errno : EIO; /* the file shrank */
			return -1;
		}
		at -= n;
		const char *newline = memrchr(block, '\n', n);
		if (newline)
			stop = at + (uint64_t)(newline - block) + 1;
	}
	*start = stop;
	*len = (size_t)(end - stop);
	size_t want = *len < cap ? *len : cap;
	ssize_t got = io_read_at(fd, line, want, (off_t)stop);
	if (got != (ssize_t)want) {
		errno = got < 0 ? errno : EIO;
		return -1;
	}
	return end > 0;
}

/* Opens the file, and takes it as it is now: another one, or a shorter one, is begun anew. */
static int history_open_file(struct source *s)
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
static int history_advance(struct history *h, struct source *s)
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
	struct source s = {.store = store, .session = strdup(session), .last_ms = INT64_MAX};
	struct stat st;
	if (!s.session)
		return -1;
	int fd = history_open_file(&s);
	bool there = fd >= 0 && fstat(fd, &st) == 0, failed = !there && errno != ENOENT;
	io_close(&fd);
	if (failed) {
		free(s.session);
		return -1;
	}
	if (h->count == h->cap && there) {
		size_t cap = h->cap ? h->cap * 2 : 16;
		struct source *more = reallocarray(h->sources, cap, sizeof(*more));
		if (!more) {
			free(s.session);
			return -1;
		}
		h->sources = more;
		h->cap = cap;
	}
	if (!there) {
		free(s.session);
		return 0;
	}
	s.end = (uint64_t)st.st_size;
	h->sources[h->count++] = s;
	return history_advance(h, &h->sources[h->count - 1]);
}

static int add_sessions(struct history *h, struct store *store)
{
	int fd = openat(store->fd, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int result = 0;
	struct dirent *e;
	if (!d) {
		bool none = fd < 0 && errno == ENOENT;
		io_close(&fd);
		return none ? 0 : -1;
	}
	while (result == 0 && (errno = 0, e = readdir(d))) {
		char name[STORE_SESSION_LEN + 1];
		store_session_name(e->d_name, name);
		if (strcmp(name, e->d_name) == 0)
			result = add_source(h, store, name);
	}
	if (!e && errno)
		result = -1;
	closedir(d);
	return result;
}

struct history *history_open(struct store *stores, int count, const char *session)
{
	struct history *h = calloc(1, sizeof(*h));
	int result = h ? 0 : -1;
	for (int i = 0; i < count && result == 0; i++)
		result = session ? add_source(h, &stores[i], session) : add_sessions(h, &stores[i]);
	if (h && result < 0) {
		history_close(h);
		return NULL;
	}
	return h;
}

int history_next(struct history *h, struct meta *m)
{
	struct source *newest = NULL;
	meta_release(&h->given);
	for (size_t i = 0; i < h->count; i++) {
		struct source *s = &h->sources[i];
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
