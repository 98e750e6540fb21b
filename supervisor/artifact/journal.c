// See journal.h.

#include "supervisor/artifact/journal.h"

#include "config/profile.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define NS_PER_MS 1000000
#define BEGINNING "{\"eventName\":\"terse."
#define TIME      ",\"timeUnixNano\":"
#define STARTED   ",\"startTimeUnixNano\":"
#define ENDED     ",\"endTimeUnixNano\":"
#define INSIDE    ",\"inside\":true"

/* A longer line was not written by terse. */
#define LINE_MOST ((size_t)64 * 1024)

/* How often an attempt is repeated because another process has replaced the file meanwhile. */
#define TRIES 100

/* --- appending ------------------------------------------------------------------------- */

int journal_append(int dir, struct buffer *line)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT;
	int result = -1, fd = -1;
	struct stat st;
	bool inside;
	buffer_append_string(line, "\n");
	if (buffer_check(line) < 0)
		goto out;
	/* Locks the file, so that nobody else is writing a line at its end. If the file
	   nevertheless ends with a part of a line, a newline is written first. */
	for (int operation = LOCK_SH;; operation = LOCK_EX) {
		char last = '\n';
		fd = store_open_locked(dir, JOURNAL_FILE, flags, operation, &st);
		if (fd >= 0 && st.st_size > 0)
			io_read_at(fd, &last, 1, st.st_size - 1);
		inside = last != '\n';
		if (!inside || operation == LOCK_EX)
			break;
		io_close(&fd);
	}
	/* Without locks no process takes lines out, so the line can be written without one. */
	if (fd < 0 && errno != EBUSY)
		fd = store_open_file(dir, JOURNAL_FILE, flags);
	if (fd < 0)
		goto out;
	/* A single call, so that the lines of several writers do not mix. */
	const struct iovec parts[] = {{(char *)"\n", inside}, {line->data, line->len}};
	ssize_t n;
	do {
		n = writev(fd, parts, 2);
	} while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n < line->len + inside) {
		/* The disk is full: removes the part of the line again, unless somebody has written
		   after it. */
		off_t end = lseek(fd, 0, SEEK_CUR);
		if (store_lock(fd, LOCK_EX, STORE_LOCK_MS) == 0 && fstat(fd, &st) == 0 &&
		    st.st_size == end)
			ftruncate(fd, end - n);
		errno = ENOSPC;
	} else if (n >= 0) {
		result = 0;
	}
out:
	io_close(&fd);
	buffer_release(line);
	return result;
}

static void add_made(struct buffer *line, const char *id)
{
	buffer_printf(line, BEGINNING "artifact\",\"id\":\"%s\"" TIME "%" PRId64 "}", id,
		      clock_real_ms() * NS_PER_MS);
}

int journal_add_made(int dir, const char *id)
{
	struct buffer line = BUFFER_INIT;
	add_made(&line, id);
	return journal_append(dir, &line);
}

int journal_add_end(int dir, const char *session, int64_t now_ms)
{
	struct buffer line = BUFFER_INIT;
	buffer_printf(&line, BEGINNING "session.end\"" TIME "%" PRId64, now_ms * NS_PER_MS);
	json_add_string(&line, "session.id", session);
	json_end(&line, '}');
	return journal_append(dir, &line);
}

int journal_add_read(int dir, const struct journal_read *read)
{
	struct buffer line = BUFFER_INIT;
	buffer_printf(&line,
		      BEGINNING "read\",\"id\":\"%s\"" TIME "%" PRId64 ",\"bytes\":%" PRIu64
				",\"tokens\":%" PRIu64 "%s}",
		      read->id, read->at_ms * NS_PER_MS, read->bytes, read->tokens,
		      read->inside ? INSIDE : "");
	return journal_append(dir, &line);
}

int journal_add_run(int dir, const struct meta *m, bool made)
{
	struct buffer line = BUFFER_INIT;
	struct meta run = *m;
	run.host = NULL;
	if (made) {
		add_made(&line, m->id);
		buffer_append_string(&line, "\n");
	}
	size_t before = line.len;
	/* The bytes that escaping adds are known only afterwards, so a line that is too long is
	   made again with a smaller budget. Labels are dropped last. */
	for (size_t budget = META_LINE;; budget /= 2) {
		buffer_truncate(&line, before);
		meta_encode(&line, &run, budget);
		if (line.len - before < META_LINE || (budget == 0 && !run.labels))
			break;
		run.labels = budget ? run.labels : NULL;
	}
	return journal_append(dir, &line);
}

/* --- one line -------------------------------------------------------------------------- */

/* The kind of a line, and the ID with which it begins. */
static enum journal_kind kind_of(const char *line, size_t len, char id[ID_LEN + 1])
{
	static const struct {
		const char *text;
		enum journal_kind kind;
	} beginnings[] = {
		{"read\",\"id\":\"", JOURNAL_READ},
		{"run\",\"id\":\"", JOURNAL_RUN},
		{"artifact\",\"id\":\"", JOURNAL_MADE},
		{"session.end\"" TIME, JOURNAL_ENDED},
	};
	const size_t begun = strlen(BEGINNING);
	*id = '\0';
	if (len < begun || line[len - 1] != '}' || memcmp(line, BEGINNING, begun) != 0)
		return JOURNAL_DAMAGED;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		enum journal_kind kind = beginnings[i].kind;
		size_t n = strlen(beginnings[i].text);
		if (len <= begun + n || memcmp(line + begun, beginnings[i].text, n) != 0)
			continue;
		n += begun;
		if (kind == JOURNAL_ENDED || (kind == JOURNAL_RUN && line[n] == '"'))
			return kind;
		if (len < n + ID_LEN + 2 || line[n + ID_LEN] != '"')
			return JOURNAL_DAMAGED;
		memcpy(id, line + n, ID_LEN);
		id[ID_LEN] = '\0';
		return id_is_valid(id) ? kind : JOURNAL_DAMAGED;
	}
	return JOURNAL_DAMAGED;
}

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Moves *at past the next occurrence of `key`, which begins with the comma before the member;
   leaves *at alone if there is none. One pass is enough, since members have a fixed order. Quotes
   within strings have a backslash before them, so no text is taken for a key. */
ALWAYS_INLINE bool pass_key(const char **at, const char *end, const char *key)
{
	const size_t len = strlen(key);
	/* The next member usually has the key. If not, tries each comma: commas are few. */
	for (const char *p = *at; p && end - p >= (ptrdiff_t)len;
	     p = memchr(p + 1, *key, (size_t)(end - p) - 1)) {
		if (memcmp(p, key, len) == 0) {
			*at = p + len;
			return true;
		}
	}
	return false;
}

/* The number after a key, or `none`. The line ends with a bracket, so the number has an end. */
ALWAYS_INLINE int64_t pass_number(const char **at, const char *end, const char *key, int64_t none)
{
	int64_t n = 0;
	if (!pass_key(at, end, key))
		return none;
	const char *digits = *at;
	while (**at >= '0' && **at <= '9' && n <= INT64_MAX / 10 - 1)
		n = n * 10 + (*(*at)++ - '0');
	return *at > digits && (**at == ',' || **at == '}') ? n : none;
}

/* The time after a key, in ms, or `none`. */
ALWAYS_INLINE int64_t pass_time(const char **at, const char *end, const char *key, int64_t none)
{
	int64_t ns = pass_number(at, end, key, -1);
	return ns < 0 ? none : ns / NS_PER_MS;
}

static int64_t time_of(const char *line, size_t len, const char *key)
{
	return pass_time(&line, line + len, key, -1);
}

/* --- taking lines out ------------------------------------------------------------------- */

struct filter {
	struct io_lines from;
	int to; /* < 0: only checks whether there is something to take out */
	long taken;
	bool (*keep)(void *ctx, const char *line, size_t len);
	void *ctx;
};

static int filter_lines(struct filter *f)
{
	struct buffer kept = BUFFER_INIT;
	const char *line;
	size_t len;
	int got = 1;
	while (got == 1 && (f->to >= 0 || f->taken == 0)) {
		got = io_lines_next(&f->from, &line, &len);
		if (got == 1 && (len == 0 || !f->keep(f->ctx, line, len)))
			f->taken++;
		else if (got == 1 && f->to >= 0)
			buffer_append(&kept, line, len + 1);
		if (got == 1 && kept.len < LINE_MOST)
			continue;
		if (buffer_check(&kept) < 0 || io_write(f->to, kept.data, kept.len) < 0)
			got = -1;
		buffer_clear(&kept);
	}
	buffer_release(&kept);
	return got;
}

/* Filters once. Returns 1 when somebody else has replaced the file meanwhile. */
static int filter_once(struct filter *f, int dir)
{
	char temporary[48];
	struct stat st;
	int result = -1;
	f->from.fd = store_open_file(dir, JOURNAL_FILE, O_RDONLY);
	if (f->from.fd < 0)
		return -1;
	if (filter_lines(f) < 0)
		goto out;
	result = 0;
	if (f->taken == 0 && f->from.block.len == 0)
		goto out;
	result = -1;
	uint64_t random = 0;
	while (getrandom(&random, sizeof(random), 0) < 0 && errno == EINTR)
		;
	snprintf(temporary, sizeof(temporary), JOURNAL_TEMPORARY "%016" PRIx64, random);
	f->to = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	f->taken = 0;
	f->from.offset = f->from.at = f->from.block.len = 0;
	if (f->to < 0 || filter_lines(f) < 0 ||
	    store_lock(f->from.fd, LOCK_EX, STORE_LOCK_MS) < 0 || fstat(f->from.fd, &st) < 0)
		goto out;
	result = st.st_nlink == 0;
	if (result == 1)
		goto out;
	result = filter_lines(f);
	f->taken += f->from.block.len > 0;
	/* Keeps the file's time, since it is the time when the session was last used. */
	futimens(f->to, (const struct timespec[2]){st.st_atim, st.st_mtim});
	if (result == 0)
		result = renameat(dir, temporary, dir, JOURNAL_FILE);
out:
	if (f->to >= 0 && result != 0)
		io_unlink(dir, temporary);
	io_close(&f->to);
	io_close(&f->from.fd);
	return result;
}

long journal_filter(int dir, bool (*keep)(void *ctx, const char *line, size_t len), void *ctx)
{
	struct filter f;
	int result = 1;
	for (int i = 0; i < TRIES && result == 1; i++) {
		f = (struct filter){.from.most = LINE_MOST, .to = -1, .keep = keep, .ctx = ctx};
		result = filter_once(&f, dir);
		buffer_release(&f.from.block);
	}
	if (result == 1)
		errno = EBUSY;
	return result == 0 ? f.taken : -1;
}

struct cleaning {
	int dir;
	int64_t from_ms, to_ms;
};

static bool exists(int dir, const char *id)
{
	/* An artifact that can't be checked counts as present. */
	return id_is_kept(dir, id) || errno != ENOENT;
}

static bool keep_line(void *ctx, const char *line, size_t len)
{
	const struct cleaning *c = ctx;
	char id[ID_LEN + 1];
	int64_t ms = -1;
	switch (kind_of(line, len, id)) {
	case JOURNAL_MADE: return exists(c->dir, id);
	case JOURNAL_RUN: ms = time_of(line, len, STARTED); break;
	case JOURNAL_READ: ms = time_of(line, len, TIME); break;
	default: break;
	}
	return ms < c->from_ms || ms >= c->to_ms;
}

long journal_clean(int dir, int64_t from_ms, int64_t to_ms)
{
	struct cleaning c = {dir, from_ms, to_ms};
	return journal_filter(dir, keep_line, &c);
}

/* --- reading from the end ---------------------------------------------------------------- */

/* Reads the lines of a file from its end on, into a block of the caller's. */
struct journal_tail {
	int fd;
	uint64_t end;  /* everything after this offset was returned */
	uint64_t from; /* the block's offset */
	size_t len, room;
	char *block;
};

/* The block's size for a caller that reads few lines. */
#define BLOCK ((size_t)8192)

/* Goes to the previous line, without its newline; skips empty lines. A line that is longer than the
   block was not written by terse: only its first bytes are returned, which do not parse. A line is
   valid until the next call. Returns 1, 0 at the beginning, or -1 with errno. */
static int journal_tail_next(struct journal_tail *t, const char **line, size_t *len)
{
	for (bool is_cut = false;;) {
		if (t->end > t->from + t->len || t->end <= t->from) {
			if (t->end == 0)
				return 0;
			t->len = t->end < t->room ? (size_t)t->end : t->room;
			t->from = t->end - t->len;
			if (io_read_whole(t->fd, t->block, t->len, (off_t)t->from) < 0)
				return -1;
		}
		size_t n = (size_t)(t->end - t->from);
		while (n > 0 && t->block[n - 1] == '\n' && !is_cut)
			n--;
		const char *newline = n > 0 ? memrchr(t->block, '\n', n) : NULL;
		size_t start = newline ? (size_t)(newline - t->block) + 1 : 0;
		t->end = t->from + n;
		if (n > 0 && (newline || t->from == 0)) {
			t->end = t->from + start;
			*line = t->block + start;
			*len = is_cut ? 0 : n - start;
			return 1;
		}
		/* The line begins further back. */
		is_cut |= n == t->room;
		t->end -= n == t->room ? n : 0;
		t->len = 0;
	}
}

int64_t journal_end_ms(int dir)
{
	char block[BLOCK];
	struct journal_tail t = {.block = block, .room = sizeof(block)};
	struct stat st;
	const char *line;
	size_t len;
	char id[ID_LEN + 1];
	int64_t ms = 0;
	enum journal_kind kind = JOURNAL_READ;
	t.fd = store_open_file(dir, JOURNAL_FILE, O_RDONLY);
	t.end = t.fd >= 0 && fstat(t.fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	while ((kind == JOURNAL_READ || kind == JOURNAL_DAMAGED) &&
	       journal_tail_next(&t, &line, &len) == 1) {
		kind = kind_of(line, len, id);
		ms = kind == JOURNAL_ENDED ? time_of(line, len, TIME) : 0;
	}
	io_close(&t.fd);
	return ms > 0 ? ms : 0;
}

/* --- the sessions ------------------------------------------------------------------------ */

static int compare_used(const void *a, const void *b)
{
	const struct journal_session *x = a, *y = b;
	if (x->ms != y->ms)
		return x->ms < y->ms ? 1 : -1;
	return x->store == y->store ? strcmp(x->name, y->name) : x->store < y->store ? -1 : 1;
}

/* Adds the session `name` of the folder, if that is a session's name. */
static int sessions_add(struct journal_session **sessions, size_t *found, size_t *room,
			struct store *store, int folder, const char *name)
{
	char clean[STORE_SESSION_LEN + 1], path[STORE_SESSION_LEN + sizeof("/" JOURNAL_FILE)];
	struct stat st = {.st_size = 0};
	store_session_name(name, clean);
	if (strcmp(name, clean) != 0)
		return 0;
	struct journal_session *added = array_add(sessions, found, room, sizeof(*added));
	if (!added)
		return -1;
	snprintf(path, sizeof(path), "%s/" JOURNAL_FILE, name);
	if (fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW);
	added->store = store;
	added->ms = clock_ms(&st.st_mtim);
	memcpy(added->name, clean, sizeof(clean));
	return 0;
}

int journal_sessions(struct store *stores, int count, const char *session,
		     struct journal_session **sessions, size_t *found)
{
	size_t room = 0;
	int result = 0;
	*sessions = NULL;
	*found = 0;
	for (int i = 0; i < count && result == 0; i++) {
		int folder = store_open_folder(&stores[i], STORE_SESSIONS, false);
		DIR *d = session ? NULL : io_list(folder);
		struct dirent *e;
		if (session) {
			result = sessions_add(sessions, found, &room, &stores[i], folder, session);
			io_close(&folder);
		} else if (!d && errno != ENOENT) {
			result = -1;
		}
		while (d && result == 0 && (errno = 0, e = readdir(d)))
			result =
				sessions_add(sessions, found, &room, &stores[i], folder, e->d_name);
		if (d && errno)
			result = -1;
		if (d)
			closedir(d);
	}
	if (*found > 0)
		qsort(*sessions, *found, sizeof(**sessions), compare_used);
	if (result == 0)
		return 0;
	free(*sessions);
	*sessions = NULL;
	*found = 0;
	return -1;
}

/* --- lines in their order ---------------------------------------------------------------- */

/* A file's modification time comes from a clock with a coarse tick, so it may be a little before
   the time in the file's last line. */
#define TICK_MS 2000

struct source {
	struct journal_line line; /* the newest line that was not returned; kind 0: there is none */
	char *copy;
	ino_t file;      /* the file's inode; taking lines out replaces the file */
	uint64_t end;    /* bytes that are not read yet */
	int64_t ms;      /* the time of `line`, or, before `line` was read, an upper bound of it */
	int64_t from_ms; /* lines from this time on were already read from the file before it was
			    replaced */
};

struct journal {
	unsigned kinds;
	struct source *sources;
	size_t count;
	/* A heap of the sources that may have more lines, the newest first. */
	struct source **heap;
	size_t left;
	/* Only one session is open at a time: there may be very many. */
	struct source *open;
	int dir;
	struct journal_tail tail;
	bool is_given;      /* the caller has the line of the first source */
	bool is_unfinished; /* the next line from `open` is one that is being written */
	struct meta run;    /* the run that was returned last */
	uint64_t damaged;
};

/* Opens the source's file. If the file was replaced or has shrunk, reading starts again at its
   end. */
static int enter_source(struct journal *j, struct source *s)
{
	struct stat st;
	j->open = NULL;
	io_close(&j->dir);
	io_close(&j->tail.fd);
	j->dir = store_open_session(s->line.of.store, s->line.of.session, false);
	j->tail.fd = j->dir < 0 ? -1 : store_open_locked(j->dir, JOURNAL_FILE, O_RDONLY, 0, &st);
	if (j->tail.fd < 0)
		return -1;
	if (st.st_ino != s->file || (uint64_t)st.st_size < s->end) {
		s->from_ms = s->file ? s->ms : INT64_MAX;
		s->file = st.st_ino;
		s->end = (uint64_t)st.st_size;
	}
	char last = '\n';
	j->is_unfinished = s->end == (uint64_t)st.st_size && s->end > 0 &&
			   io_read_at(j->tail.fd, &last, 1, (off_t)s->end - 1) == 1 && last != '\n';
	j->tail.end = s->end;
	j->tail.len = 0;
	j->open = s;
	return 0;
}

static int advance(struct journal *j, struct source *s)
{
	struct journal_line *l = &s->line;
	int got;
	l->kind = JOURNAL_DAMAGED;
	if (j->open != s && enter_source(j, s) < 0)
		return errno == ENOENT ? 0 : -1;
	while ((got = journal_tail_next(&j->tail, &l->text, &l->len)) == 1) {
		enum journal_kind kind = kind_of(l->text, l->len, l->of.id);
		s->end = l->at = j->tail.end;
		j->damaged +=
			kind == JOURNAL_DAMAGED && j->kinds & JOURNAL_RUN && !j->is_unfinished;
		j->is_unfinished = false;
		if (!(kind & j->kinds))
			continue;
		l->is_there = j->kinds & JOURNAL_MADE && *l->of.id &&
			      (j->kinds & JOURNAL_UNSEEN || exists(j->dir, l->of.id));
		l->kind = kind;
		if (kind != JOURNAL_MADE || l->is_there) {
			if (j->count == 1)
				return 0;
			s->ms = journal_line_ms(l);
			if (s->ms < s->from_ms)
				break;
		}
		l->kind = JOURNAL_DAMAGED;
	}
	if (got == 1) {
		/* A damaged line may have NULs. */
		char *copy = malloc(l->len + 1);
		if (copy)
			memcpy(copy, l->text, l->len);
		free(s->copy);
		l->text = s->copy = copy;
		got = copy ? 1 : -1;
	}
	return got < 0 ? -1 : 0;
}

int64_t journal_line_ms(const struct journal_line *line)
{
	const char *key = line->kind == JOURNAL_RUN ? ENDED : TIME;
	int64_t ms = time_of(line->text, line->len, key);
	return ms < 0 ? 0 : ms;
}

static bool is_newer(const struct source *a, const struct source *b)
{
	return a->ms > b->ms || (a->ms == b->ms && a < b);
}

struct journal *journal_open(struct store *stores, int count, const char *session, unsigned kinds)
{
	struct journal *j = calloc(1, sizeof(*j));
	struct journal_session *found = NULL;
	size_t sessions = (size_t)count;
	if (!j)
		return NULL;
	j->kinds = kinds;
	j->dir = -1;
	/* Room for the longest line; usually only the first pages are touched. read(2) is faster
	   into whole pages. */
	j->tail = (struct journal_tail){.fd = -1, .block = io_block(LINE_MOST), .room = LINE_MOST};
	if (!j->tail.block ||
	    (!session && journal_sessions(stores, count, NULL, &found, &sessions) < 0))
		goto fail;
	j->sources = calloc(sessions + 1, sizeof(*j->sources));
	j->heap = calloc(sessions + 1, sizeof(struct source *));
	if (!j->sources || !j->heap)
		goto fail;
	for (; j->count < sessions; j->count++) {
		const struct journal_session *f = session ? NULL : &found[j->count];
		struct source *s = j->heap[j->count] = &j->sources[j->count];
		s->line.of.store = f ? f->store : &stores[j->count];
		s->ms = f ? f->ms + TICK_MS : INT64_MAX;
		snprintf(s->line.of.session, sizeof(s->line.of.session), "%s",
			 f ? f->name : session);
	}
	j->left = j->count;
	free(found);
	return j;
fail:
	free(found);
	journal_close(j);
	return NULL;
}

int journal_next(struct journal *j, struct journal_line *line)
{
	while (j->left > 0) {
		struct source *s = j->heap[0];
		bool is_next = s->line.kind && !j->is_given;
		if (is_next)
			*line = s->line;
		j->is_given = is_next;
		if (is_next)
			return 1;
		if (advance(j, s) < 0)
			return -1;
		/* Restores the order of the heap: its first source has gone on to an older line, or
		   has no more lines (kind 0). */
		s = s->line.kind ? s : j->heap[--j->left];
		size_t at = 0, below;
		while ((below = 2 * at + 1) < j->left) {
			if (below + 1 < j->left && is_newer(j->heap[below + 1], j->heap[below]))
				below++;
			if (is_newer(s, j->heap[below]))
				break;
			j->heap[at] = j->heap[below];
			at = below;
		}
		j->heap[at] = s;
	}
	return 0;
}

int journal_parse_run(struct journal *j, const struct journal_line *line, struct meta *m)
{
	meta_release(&j->run);
	errno = EBADMSG;
	if (line->len <= META_LINE && meta_parse(line->text, line->len, &j->run) == 0) {
		*m = j->run;
		return 1;
	}
	j->damaged += errno != ENOMEM;
	return errno == ENOMEM ? -1 : 0;
}

int journal_next_run(struct journal *j, struct meta *m)
{
	struct journal_line line;
	int got, taken = 0;
	while (taken == 0 && (got = journal_next(j, &line)) == 1)
		taken = journal_parse_run(j, &line, m);
	return taken ? taken : got;
}

bool journal_parse_read(const struct journal_line *line, struct journal_read *read)
{
	const char *at = line->text, *end = at + line->len;
	read->at_ms = pass_time(&at, end, TIME, -1);
	int64_t bytes = pass_number(&at, end, ",\"bytes\":", -1);
	int64_t tokens = pass_number(&at, end, ",\"tokens\":", -1);
	read->bytes = (uint64_t)bytes;
	read->tokens = (uint64_t)tokens;
	read->inside = pass_key(&at, end, INSIDE);
	memcpy(read->id, line->of.id, sizeof(read->id));
	return bytes >= 0 && tokens >= 0 && read->at_ms >= 0;
}

bool journal_parse_sums(const struct journal_line *line, struct journal_sums *sums)
{
	const char *at = line->text, *end = at + line->len;
	*sums = (struct journal_sums){.has_failed = true};
	if (pass_key(&at, end, ",\"state\":\"") && end - at > 5 && memcmp(at, "done\"", 5) == 0)
		sums->has_failed = false;
	sums->started_ms = pass_time(&at, end, STARTED, 0);
	sums->duration_ms = pass_time(&at, end, ",\"duration_ns\":", -1);
	sums->has_failed |= pass_number(&at, end, ",\"process.exit.code\":", -1) != 0;
	if (pass_key(&at, end, ",\"shown\":{")) {
		const char *behind = (const char *)memchr(at, '}', (size_t)(end - at)) + 1;
		sums->shown.bytes = (uint64_t)pass_number(&at, behind, "\"bytes\":", 0);
		sums->shown.tokens = (uint64_t)pass_number(&at, behind, ",\"tokens\":", 0);
		sums->shown.text = (uint64_t)pass_number(&at, behind, ",\"text\":", 0);
		sums->shown.own = (uint64_t)pass_number(&at, behind, ",\"own\":", 0);
		at = behind;
	}
	/* The user's labels come last, and may have any name, even "profile". */
	const char *labels = at, *quote;
	if (pass_key(&labels, end, ",\"labels\":{"))
		end = labels;
	if (pass_key(&at, end, ",\"gen_ai.agent.name\":\"") &&
	    (quote = memchr(at, '"', (size_t)(end - at))) != NULL)
		sums->agent = (struct member_value){at, (size_t)(quote - at)};
	sums->is_own = pass_key(&at, end, ",\"profile\":\"" PROFILE_TERSE "\"");
	/* The number must end before the line's closing bracket. */
	return sums->duration_ms >= 0 && at < end;
}

uint64_t journal_damaged(const struct journal *j)
{
	return j->damaged;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	io_close(&j->dir);
	io_close(&j->tail.fd);
	for (size_t i = 0; i < j->count; i++)
		free(j->sources[i].copy);
	meta_release(&j->run);
	free(j->sources);
	free(j->heap);
	free(j->tail.block);
	free(j);
}
