// See artifact.h.

#include "supervisor/artifact/artifact.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/gap.h"
#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// The disk cap: a longer text keeps its beginning, up to half of the cap, and a rolling tail.
//
// The tail moves on by whole steps, from line start to line start, so a mark (offset and line
// number) is kept for each step while the text passes. A line longer than a step is cut inside.

#define CAP_MIN   4096 /* smaller caps are raised to this */
#define CAP_STEPS 8    /* in the tail */
#define CAP_MARKS (2 * CAP_STEPS)

struct cap_mark {
	uint64_t offset, line; /* line number `line` starts at `offset` */
};

struct cap {
	uint64_t head, tail, step;        /* bytes; head 0: no cap */
	struct cap_mark marks[CAP_MARKS]; /* after the gap, ascending */
	size_t mark_count;
	uint64_t next; /* the next mark is the first line start at or after this offset */

	/* The gap, empty (begin == end) until it is needed. */
	uint64_t begin, end; /* offsets */
	uint64_t from, to;   /* the lines of which it has a part */
	bool whole;          /* a line starts at `end`; false: the rest of line `to` */
};

/* One file of an artifact: large writes, the line index beside it, the live part after the final
   text, and the disk cap. */
struct stream {
	struct artifact *of;
	enum artifact_part part;
	bool is_text; /* it has an index */
	int fd, idx;
	int error;           /* the first failed write's errno, or 0 */
	bool keeping;        /* false: further bytes are counted, not stored */
	uint64_t kept_lines; /* whole lines in the file, once `keeping` is false */
	char *collected;     /* final bytes not written yet; allocated on first use */
	size_t len;
	uint64_t checked;          /* bytes of the text at the last check of the free space */
	struct index_writer index; /* counts of the final bytes, and their index */
	uint64_t line_start;       /* offset after the last newline */
	uint64_t end;              /* size of the file */
	size_t live;               /* bytes of the live part ... */
	uint64_t live_lines;       /* ... newlines in it ... */
	bool live_open;            /* ... and whether it ends inside a line */
	struct cap cap;
};

struct artifact {
	struct meta *meta;
	uint64_t max_bytes, min_free;
	int dir;
	struct stream parts[ARTIFACT_PARTS]; /* a part with `of` is in use; its file is open if fd
						>= 0 */
	char path[PATH_MAX];
};

/* --- what the metadata tell ---------------------------------------------------------------- */

/* Brings the counts up to date and writes ID.json. Returns 0, or -1 with errno. */
static int artifact_describe(struct artifact *a)
{
	struct meta *m = a->meta;
	struct meta_stream *const texts[] = {&m->out, &m->err};
	for (enum artifact_part part = ARTIFACT_OUT; part <= ARTIFACT_ERR; part++) {
		const struct stream *s = &a->parts[part];
		const struct cap *c = &s->cap;
		if (!s->of)
			continue;
		bool open = s->live > 0 ? s->live_open : s->index.bytes != s->line_start;
		struct meta_stream d = {.present = true,
					.error = s->error,
					.bytes = s->index.bytes + s->live,
					.lines = s->index.lines + s->live_lines + open};
		if (c->begin != c->end) {
			d.gap_from = c->from;
			d.gap_to = c->to;
			d.gap_offset = c->begin;
			d.gap_bytes = c->end - c->begin;
		}
		if (s->error && d.bytes > s->end) {
			d.lost_from = s->kept_lines + 1;
			d.lost_bytes = d.bytes - s->end;
		}
		*texts[part] = d;
	}
	const struct stream *raw = &a->parts[ARTIFACT_RAW];
	if (raw->of) {
		m->raw_bytes = raw->index.bytes + raw->len;
		m->raw_lost =
			raw->keeping || m->raw_bytes <= raw->end ? 0 : m->raw_bytes - raw->end;
		m->raw_error = raw->error;
	}
	return meta_write(a->dir, m);
}

/* --- one file ---------------------------------------------------------------------------- */

#define ENTRIES ((size_t)4096) /* bytes of index written at once */

/* A multiple of any file system's block size. */
#define PUNCH_ALIGN ((uint64_t)64 * 1024)

/* The index only saves time, so after a failure the artifact does without it. */
static void stop_indexing(struct stream *s)
{
	s->index.indexing = false;
	buffer_release(&s->index.entries);
	io_close(&s->idx);
}

static void write_entries(struct stream *s)
{
	/* A text shorter than the stride has no index. */
	if (!s->index.indexing || s->index.entries.len == 0 || s->index.lines < INDEX_STRIDE)
		return;
	if (s->idx < 0)
		s->idx = id_open_file(s->of->dir, s->of->meta->id, ARTIFACT_OUT_INDEX + s->part,
				      O_WRONLY | O_CREAT | O_EXCL);
	if (s->idx < 0 || io_write(s->idx, s->index.entries.data, s->index.entries.len) < 0)
		stop_indexing(s);
	else
		buffer_clear(&s->index.entries);
}

/* Writes at `offset`. Returns how many bytes were written; if not all, s->error has the reason. */
static size_t stream_write_some(struct stream *s, const char *data, size_t len, uint64_t offset)
{
	size_t done = 0;
	while (done < len) {
		ssize_t n = pwrite(s->fd, data + done, len - done, (off_t)(offset + done));
		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			s->error = n == 0 ? ENOSPC : errno;
			break;
		}
	}
	if (offset + done > s->end)
		s->end = offset + done;
	return done;
}

static void stream_shrink(struct stream *s, uint64_t size)
{
	if (size < s->end && ftruncate(s->fd, (off_t)size) == 0)
		s->end = size;
}

static void set_live(struct stream *s, const char *data, size_t len)
{
	s->live = len;
	s->live_lines = newline_count(data, len);
	s->live_open = len > 0 && data[len - 1] != '\n';
}

/* Stops storing: the file stays as a prefix of the text. */
static void stop_keeping(struct stream *s, uint64_t size)
{
	s->keeping = false;
	s->kept_lines = s->index.lines;
	set_live(s, NULL, 0);
	stream_shrink(s, size);
	write_entries(s);
	stop_indexing(s);
}

/* Releases the bytes by which the gap has grown. */
static void punch(struct stream *s, const struct cap *before)
{
	struct cap *c = &s->cap;
	if (!c->whole) {
		/* The cut must not be inside a character, either. */
		char next[4];
		ssize_t n = io_read_at(s->fd, next, sizeof(next), (off_t)c->end);
		for (ssize_t i = 0; i < n && i < 3 && (next[i] & 0xC0) == 0x80; i++)
			c->end++;
	}
	/* The newline before the end of the gap stays. It shows that a line starts there, and for
	   readers of the bare file it keeps that line apart from the hole. */
	uint64_t hole = c->begin + GAP_ANNOUNCE_MAX, hole_end = c->end - c->whole;
	/* The last block of the old hole was only partly in it, so it is released now. */
	uint64_t again = (before->end - 1) / PUNCH_ALIGN * PUNCH_ALIGN;
	if (again > hole)
		hole = again;
	/* Writes the metadata before bytes are released, so that the metadata never lag behind the
	   file. */
	artifact_describe(s->of);
	int result;
	do {
		result = fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)hole,
				   (off_t)(hole_end - hole));
	} while (result < 0 && errno == EINTR);
	if (result < 0) {
		/* The file system can't make holes: the text ends here. */
		s->error = errno == EOPNOTSUPP ? EFBIG : errno;
		*c = *before;
		stop_keeping(s, s->index.bytes);
		artifact_describe(s->of);
		return;
	}
	/* Writes the line that announces the gap at the start of the gap. It is a line of its own,
	   even if the cut is inside a line. NULs overwrite the rest of the old bytes, so they read
	   like the hole. Errors do not matter, since the metadata say the same. */
	char block[GAP_ANNOUNCE_MAX + 1] = {'\n'}, last = '\n';
	const struct gap gap = {.from = c->from, .to = c->to, .bytes = c->end - c->begin};
	int saved = s->error;
	gap_announce(block + 1, &gap);
	if (c->begin > 0)
		io_read_at(s->fd, &last, 1, (off_t)c->begin - 1);
	stream_write_some(s, block + (last == '\n'), GAP_ANNOUNCE_MAX, c->begin);
	s->error = saved;
	/* Releases the index entries of the gap's lines, too: nobody looks these lines up. */
	uint64_t begin = index_offset((c->from - 1) / INDEX_STRIDE + 1);
	uint64_t end = index_offset((c->to + c->whole + INDEX_STRIDE - 2) / INDEX_STRIDE);
	if (s->idx >= 0 && end > begin)
		fallocate(s->idx, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
			  (off_t)(end - begin));
}

/* Makes room on disk for `len` more bytes under the cap. */
static void stream_make_room(struct stream *s, size_t len)
{
	struct cap *c = &s->cap;
	uint64_t bytes = s->index.bytes;
	if (c->head == 0 || bytes < c->head || bytes + len - c->end <= c->tail)
		return;
	const struct cap before = *c;
	uint64_t needed = bytes + len - c->tail;
	size_t passed = 0;
	while (passed < c->mark_count && c->marks[passed].offset < needed)
		passed++;
	if (passed < c->mark_count) {
		c->end = c->marks[passed].offset;
		c->to = c->marks[passed].line - 1;
		c->whole = true;
		passed++;
	} else {
		/* No line starts at or after c->next, so all bytes after it belong to the
		   unfinished line. c->next is well before `bytes`: at most two steps after
		   `needed`. */
		c->end = (needed > c->next ? needed : c->next) + c->step;
		c->to = s->index.lines + 1;
		c->whole = false;
	}
	c->mark_count -= passed;
	memmove(c->marks, c->marks + passed, c->mark_count * sizeof(*c->marks));
	punch(s, &before);
}

/* Counts `len` final bytes, whether they were written or lost. */
static void stream_pass(struct stream *s, const char *data, size_t len)
{
	struct cap *c = &s->cap;
	uint64_t bytes = s->index.bytes, lines = s->index.lines;
	if (!s->is_text) {
		s->index.bytes += len;
		return;
	}
	const char *newline = memrchr(data, '\n', len);
	if (newline)
		s->line_start = bytes + (uint64_t)(newline - data) + 1;
	/* Marks where lines start, for the tail of the cap. A line that starts at `next` has a
	   newline one byte before. */
	for (size_t done = 0; c->head > 0 && bytes + len >= c->next && c->mark_count < CAP_MARKS;) {
		size_t from = c->next - 1 > bytes + done ? (size_t)(c->next - 1 - bytes) : done;
		newline = memchr(data + from, '\n', len - from);
		if (!newline)
			break;
		size_t start = (size_t)(newline - data) + 1;
		lines += newline_count(data + done, start - done);
		done = start;
		c->marks[c->mark_count++] =
			(struct cap_mark){.offset = bytes + start, .line = lines + 1};
		c->next = bytes + start + c->step;
	}
	if (index_feed(&s->index, data, len) < 0)
		stop_indexing(s);
	if (s->index.bytes != c->head || c->head == 0)
		return;
	/* The head ends with a whole line, unless that would drop half of the head. */
	uint64_t at = s->line_start;
	if (c->head - at > c->head / 2) {
		char tail[4];
		size_t cut = 0;
		ssize_t n = io_read_at(s->fd, tail, sizeof(tail), (off_t)(c->head - sizeof(tail)));
		if (n != sizeof(tail) || !utf8_incomplete(tail, sizeof(tail), &cut))
			cut = 0;
		at = c->head - cut;
	}
	c->begin = c->end = at;
	c->from = c->to = s->index.lines + 1;
}

/* Writes `len` final bytes, and then the `live` bytes that follow them in `data`. */
static int stream_store(struct stream *s, const char *data, size_t len, size_t live)
{
	/* The live part is now final or stale, so it must not stay. */
	set_live(s, NULL, 0);
	/* Stops before the disk is full, so that other programs find room. A rolling tail needs no
	   more room. */
	if (s->keeping && s->of->min_free > 0 && s->cap.begin == s->cap.end &&
	    (!s->checked || s->index.bytes - s->checked >= ARTIFACT_WINDOW)) {
		s->checked = s->index.bytes;
		if (!store_has_room(s->fd, s->of->min_free)) {
			s->error = ENOSPC;
			stop_keeping(s, s->index.bytes);
		}
	}
	if (s->keeping)
		stream_shrink(s, s->index.bytes + len + live);
	while (len > 0) {
		/* `n`: the bytes that the cap lets pass at once. */
		const struct cap *c = &s->cap;
		uint64_t bytes = s->index.bytes, most = bytes < c->head ? c->head - bytes : c->step;
		size_t n = c->head == 0 || len < most ? len : (size_t)most;
		size_t behind = n == len ? live : 0;
		/* Raw bytes have no tail, since no line among them could announce a gap. */
		if (s->keeping && s->is_text)
			stream_make_room(s, n);
		else if (s->keeping && c->head != 0 && bytes + n > c->head + c->tail)
			stop_keeping(s, bytes);
		if (s->keeping) {
			size_t done = stream_write_some(s, data, n + behind, s->index.bytes);
			if (done < n + behind) {
				done = done < n ? done : n;
				stop_keeping(s, s->index.bytes + done);
				s->kept_lines += newline_count(data, done);
			}
		}
		stream_pass(s, data, n);
		data += n;
		len -= n;
	}
	if (s->index.entries.len >= ENTRIES)
		write_entries(s);
	return s->error ? -1 : 0;
}

static int stream_flush(struct stream *s)
{
	if (s->len > 0)
		stream_store(s, s->collected, s->len, 0);
	s->len = 0;
	write_entries(s);
	return s->error ? -1 : 0;
}

static void stream_close(struct stream *s)
{
	io_close(&s->fd);
	io_close(&s->idx);
	buffer_release(&s->index.entries);
	free(s->collected);
	s->collected = NULL;
}

/* --- all of them ------------------------------------------------------------------------- */

/* Returns the stream of a part; the first use begins it. If its file can't be made, the stream only
   counts. */
static struct stream *use_part(struct artifact *a, enum artifact_part part)
{
	struct stream *s = &a->parts[part];
	if (s->of)
		return s;
	*s = (struct stream){.of = a, .part = part, .is_text = part <= ARTIFACT_ERR, .idx = -1};
	s->fd = id_open_file(a->dir, a->meta->id, part, O_RDWR | O_CREAT | O_EXCL);
	s->keeping = s->fd >= 0;
	s->error = s->fd < 0 ? errno : 0;
	if (a->max_bytes > 0 && s->keeping) {
		uint64_t most = a->max_bytes < CAP_MIN ? CAP_MIN : a->max_bytes;
		struct cap *c = &s->cap;
		c->step = most / 2 / CAP_STEPS;
		c->tail = c->step * CAP_STEPS;
		c->head = most - c->tail;
		c->next = c->head + c->step;
	}
	if (s->is_text && s->keeping && index_init(&s->index) < 0)
		stop_indexing(s);
	return s;
}

/* Claims the ID and creates the artifact in one store. A failure leaves nothing behind. */
static int create_in(struct artifact *a, const struct store *store, const char *session)
{
	struct meta *m = a->meta;
	uint64_t freed = 0;
	a->dir = store_open_session(store, session, true);
	if (a->dir < 0)
		return -1;
	if (!store_has_room(a->dir, a->min_free))
		goto close_dir;
	/* The caller may have claimed the ID before, in any store. */
	bool again = m->id[0];
	if (id_claim(store, session, m->started_ms, m->id) < 0 && (!again || errno != EEXIST))
		goto close_dir;
	int n = snprintf(a->path, sizeof(a->path), "%s/sessions/%s/%s.txt", store->path, session,
			 m->id);
	if ((size_t)n >= sizeof(a->path)) {
		errno = ENAMETOOLONG;
		goto release;
	}
	struct stream *text = use_part(a, ARTIFACT_OUT);
	if (text->fd < 0) {
		errno = text->error;
		goto release;
	}
	/* This lock shows others that the run lives. A reader that tests it (meta_is_held) holds it
	   for a moment. In a file system without locks the run looks interrupted; nothing else is
	   lost. */
	store_lock(text->fd, LOCK_EX, STORE_LOCK_MS);
	if (artifact_describe(a) == 0 && journal_add_made(a->dir, m->id) == 0)
		return 0;
	int error = errno;
	stream_close(text);
	id_remove_files(a->dir, m->id, &freed);
	errno = error;
release:
	a->parts[ARTIFACT_OUT].of = NULL;
	id_release(store, m->id);
close_dir:
	io_close(&a->dir);
	return -1;
}

struct artifact *artifact_create(struct meta *meta, uint64_t max_bytes, uint64_t min_free)
{
	struct artifact *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->meta = meta;
	a->max_bytes = max_bytes;
	a->min_free = min_free;
	char session[STORE_SESSION_LEN + 1];
	store_session_name(meta->session, session);
	struct store store;
	int next = 0, error = 0;
	while (store_open_next(&store, &next) == 0) {
		int result = create_in(a, &store, session);
		store_close(&store);
		if (result == 0)
			return a;
		error = errno;
	}
	if (!error)
		error = errno;
	meta->id[0] = '\0';
	free(a);
	errno = error;
	return NULL;
}

/* If the first live bytes on disk equal the collected bytes, which are now final, reads the rest of
   the live bytes into the memory after the collected ones. Returns how many it has read. */
static size_t read_live_behind(struct stream *s)
{
	char there[4096];
	if (!s->keeping || s->live <= s->len || s->live > ARTIFACT_WINDOW)
		return 0;
	for (size_t at = 0, n; at < s->len; at += n) {
		n = s->len - at < sizeof(there) ? s->len - at : sizeof(there);
		if (io_read_whole(s->fd, there, n, (off_t)(s->index.bytes + at)) < 0 ||
		    memcmp(there, s->collected + at, n) != 0)
			return 0;
	}
	size_t behind = s->live - s->len;
	return io_read_whole(s->fd, s->collected + s->len, behind,
			     (off_t)(s->index.bytes + s->len)) < 0
		       ? 0
		       : behind;
}

int artifact_append(struct artifact *a, enum artifact_part part, const char *data, size_t len)
{
	struct stream *s = len > 0 ? use_part(a, part) : &a->parts[part];
	if (len > 0 && !s->collected)
		s->collected = io_block(ARTIFACT_WINDOW);
	if (len > 0 && !s->collected)
		return stream_store(s, data, len, 0);
	while (len > 0) {
		size_t room = ARTIFACT_WINDOW - (s->index.bytes + s->len) % ARTIFACT_WINDOW;
		size_t n = len < room ? len : room;
		memcpy(s->collected + s->len, data, n);
		s->len += n;
		data += n;
		len -= n;
		if (n == room) {
			size_t live = read_live_behind(s);
			stream_store(s, s->collected, s->len, live);
			if (s->keeping)
				set_live(s, s->collected + s->len, live);
			s->len = 0;
		}
	}
	return s->error ? -1 : 0;
}

void artifact_use(struct artifact *a, enum artifact_part part)
{
	use_part(a, part);
}

int artifact_set_live(struct artifact *a, enum artifact_part part, const char *data, size_t len)
{
	/* Writing zero bytes does not create the file. */
	if (len == 0 && !a->parts[part].of)
		return 0;
	struct stream *s = use_part(a, part);
	if (s->collected && s->len + len <= ARTIFACT_WINDOW && s->len > 0) {
		/* Writes final and live bytes together, so that a reader always finds either the
		   old live bytes or the new ones. */
		if (len > 0)
			memcpy(s->collected + s->len, data, len);
		stream_store(s, s->collected, s->len, len);
		s->len = 0;
	} else {
		stream_flush(s);
		if (s->keeping) {
			stream_shrink(s, s->index.bytes + len);
			if (stream_write_some(s, data, len, s->index.bytes) < len)
				stop_keeping(s, s->index.bytes);
		}
	}
	write_entries(s);
	if (s->keeping)
		set_live(s, data, len);
	return s->error ? -1 : 0;
}

int artifact_end_recording(struct artifact *a, enum artifact_part part, const char *why)
{
	struct stream *s = use_part(a, part);
	char line[GAP_ANNOUNCE_MAX];
	stream_flush(s);
	int len =
		snprintf(line, sizeof(line),
			 "%s[... recording ended: %.80s; what background processes write later is "
			 "not kept]\n",
			 s->index.bytes != s->line_start ? "\n" : "", why);
	/* If bytes were lost before, the text has ended already. */
	return s->keeping ? artifact_append(a, part, line, (size_t)len) : s->error ? -1 : 0;
}

int artifact_error(const struct artifact *a)
{
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->parts[i].error)
			return a->parts[i].error;
	}
	return 0;
}

int artifact_update(struct artifact *a)
{
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->parts[i].of)
			stream_flush(&a->parts[i]);
	}
	return artifact_describe(a);
}

int artifact_directory(const struct artifact *a)
{
	return a->dir;
}

bool artifact_part_path(const struct artifact *a, enum artifact_part part, char out[PATH_MAX])
{
	int len = (int)(strlen(a->path) - strlen(artifact_suffixes[ARTIFACT_OUT]));
	bool there = a->parts[part].of && a->parts[part].fd >= 0;
	return there &&
	       snprintf(out, PATH_MAX, "%.*s%s", len, a->path, artifact_suffixes[part]) < PATH_MAX;
}

int artifact_keep_shown(const struct artifact *a, const char *data, size_t len)
{
	int fd = id_open_file(a->dir, a->meta->id, ARTIFACT_SHOWN, O_WRONLY | O_CREAT | O_TRUNC);
	if (fd < 0)
		return -1;
	int result = store_has_room(a->dir, a->min_free) ? io_write(fd, data, len) : -1;
	io_close(&fd);
	return result;
}

void artifact_close(struct artifact *a)
{
	if (!a)
		return;
	for (int i = 0; i < ARTIFACT_PARTS; i++) {
		if (a->parts[i].of)
			stream_close(&a->parts[i]);
	}
	io_close(&a->dir);
	free(a);
}
