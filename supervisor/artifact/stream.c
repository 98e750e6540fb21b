// See stream.h.

#include "supervisor/artifact/stream.h"

#include "lib/bytes.h"
#include "lib/gap.h"
#include "lib/io.h"
#include "lib/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* 0: no cap. */
static void cap_init(struct cap *c, uint64_t max_bytes)
{
	*c = (struct cap){0};
	if (max_bytes == 0)
		return;
	if (max_bytes < CAP_MIN)
		max_bytes = CAP_MIN;
	c->step = max_bytes / 2 / CAP_STEPS;
	c->tail = c->step * CAP_STEPS;
	c->head = max_bytes - c->tail;
	c->next = c->head + c->step;
}

/* The part of the next `len` bytes that may be passed at once, after `bytes` others. */
static size_t cap_piece(const struct cap *c, uint64_t bytes, size_t len)
{
	if (c->head == 0)
		return len;
	uint64_t most = bytes < c->head ? c->head - bytes : c->step;
	return len < most ? len : (size_t)most;
}

/* The head is complete: where it ends and the line that starts (or goes on) there. */
static void cap_end_head(struct cap *c, uint64_t offset, uint64_t line)
{
	c->begin = c->end = offset;
	c->from = c->to = line;
}

/* To be called before `len` bytes (a result of cap_piece) are passed; `bytes` and `lines`
   (newlines) have been. Returns true when the gap was made or grew. */
static bool cap_make_room(struct cap *c, uint64_t bytes, uint64_t lines, size_t len)
{
	if (c->head == 0 || bytes < c->head || bytes + len - c->end <= c->tail)
		return false;
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
		/* No line starts from c->next on, so all from there is in the line that is open.
		   It lies well before `bytes`: at most two steps behind `needed`. */
		c->end = (needed > c->next ? needed : c->next) + c->step;
		c->to = lines + 1;
		c->whole = false;
	}
	c->mark_count -= passed;
	memmove(c->marks, c->marks + passed, c->mark_count * sizeof(*c->marks));
	return true;
}

/* The same bytes have been passed; `bytes` and `lines` are from before them. */
static void cap_pass(struct cap *c, uint64_t bytes, uint64_t lines, const char *data, size_t len)
{
	if (c->head == 0)
		return;
	size_t done = 0;
	/* A line that starts at `next` has its newline one byte before. */
	while (bytes + len >= c->next && c->mark_count < CAP_MARKS) {
		size_t from = c->next - 1 > bytes + done ? (size_t)(c->next - 1 - bytes) : done;
		const char *newline = memchr(data + from, '\n', len - from);
		if (!newline)
			return;
		size_t start = (size_t)(newline - data) + 1;
		lines += newline_count(data + done, start - done);
		done = start;
		c->marks[c->mark_count++] =
			(struct cap_mark){.offset = bytes + start, .line = lines + 1};
		c->next = bytes + start + c->step;
	}
}

#define ENTRIES ((size_t)4096) /* bytes of index written at once */

/* A multiple of any file system's block size. */
#define PUNCH_ALIGN ((uint64_t)64 * 1024)

int stream_open(struct stream *s, const struct stream_options *options)
{
	*s = (struct stream){.options = *options, .idx = -1, .keeping = true};
	s->fd = id_open_file(options->dir, options->id, options->suffix, O_RDWR | O_CREAT | O_EXCL);
	if (s->fd < 0)
		return -1;
	cap_init(&s->cap, options->max_bytes);
	s->indexing = options->idx && index_init(&s->index, &s->entries) == 0;
	if (!s->indexing)
		s->index = (struct index_writer){0};
	return 0;
}

/* The index only saves time, so a failure just ends it. */
static void stop_indexing(struct stream *s)
{
	s->indexing = false;
	s->index.pending = NULL;
	buffer_release(&s->entries);
	io_close(&s->idx);
}

static void write_entries(struct stream *s)
{
	/* A text shorter than the stride has no index. */
	if (!s->indexing || s->entries.len == 0 || s->index.lines < INDEX_STRIDE)
		return;
	if (s->idx < 0)
		s->idx = id_open_file(s->options.dir, s->options.id, s->options.idx,
				      O_WRONLY | O_CREAT | O_EXCL);
	if (s->idx < 0 || io_write(s->idx, s->entries.data, s->entries.len) < 0)
		stop_indexing(s);
	else
		buffer_clear(&s->entries);
}

/* Writes at `offset`. Returns how much was written; s->error tells why not all. */
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

/* Ends the storing: the file stays as a prefix of the text. */
static void stop_keeping(struct stream *s, uint64_t size)
{
	s->keeping = false;
	s->kept_lines = s->index.lines;
	set_live(s, NULL, 0);
	stream_shrink(s, size);
	write_entries(s);
	stop_indexing(s);
}

static void gap_of(const struct stream *s, struct meta_stream *m)
{
	const struct cap *c = &s->cap;
	uint64_t end = s->open_gap ? m->bytes : c->end;
	if (c->begin == end)
		return;
	m->gap_from = c->from;
	m->gap_to = s->open_gap ? m->lines : c->to;
	m->gap_offset = c->begin;
	m->gap_bytes = end - c->begin;
}

void stream_describe(const struct stream *s, struct meta_stream *m)
{
	*m = (struct meta_stream){.present = true, .error = s->error};
	m->bytes = s->index.bytes + s->live;
	bool open = s->live > 0 ? s->live_open : s->index.bytes != s->line_start;
	m->lines = s->index.lines + s->live_lines + open;
	gap_of(s, m);
	if (s->error && m->bytes > s->end) {
		m->lost_from = s->kept_lines + 1;
		m->lost_bytes = m->bytes - s->end;
	}
}

/* Writes the line that stands at the start of the gap `g`. Best effort, since the metadata say the
   same. */
static void announce(struct stream *s, const struct meta_stream *g)
{
	char block[GAP_ANNOUNCE_MAX + 1] = {'\n'}, before = '\n';
	const struct gap gap = {.from = g->gap_from, .to = g->gap_to, .bytes = g->gap_bytes};
	size_t len = gap_announce(block + 1, &gap);
	/* Keep it a line of its own, even if the cut is inside a line. */
	if (g->gap_offset > 0)
		io_read_at(s->fd, &before, 1, (off_t)g->gap_offset - 1);
	const char *line = before == '\n' ? block + 1 : block;
	len += line == block;
	int saved = s->error;
	if (s->open_gap) {
		/* All of the line has to be inside the gap, or a reader takes its end for text. */
		if (len <= g->gap_bytes) {
			stream_write_some(s, line, len, g->gap_offset);
			stream_shrink(s, g->gap_offset + len);
		}
	} else {
		/* Padded with NULs, like the hole behind it, over the old bytes. */
		stream_write_some(s, line, GAP_ANNOUNCE_MAX, g->gap_offset);
	}
	s->error = saved;
}

/* The file system can't make holes: the text ends here, at the last line start if that is near. */
static void give_up_tail(struct stream *s)
{
	struct cap *c = &s->cap;
	uint64_t at = s->index.bytes;
	if (at - s->line_start <= c->tail / 2)
		at = s->line_start;
	cap_end_head(c, at, s->index.lines + 1);
	s->open_gap = true;
	stop_keeping(s, at);
	s->options.gap_moved(s->options.ctx);
}

/* Releases the index entries of the gap, too, since nobody looks for its lines. */
static void punch_index(struct stream *s)
{
	const struct cap *c = &s->cap;
	uint64_t begin = index_offset((c->from - 1) / INDEX_STRIDE + 1);
	uint64_t end = index_offset((c->to + c->whole + INDEX_STRIDE - 2) / INDEX_STRIDE);
	if (s->idx >= 0 && end > begin)
		fallocate(s->idx, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
			  (off_t)(end - begin));
}

/* Releases what the gap has grown by. */
static void punch(struct stream *s, uint64_t old_end)
{
	struct cap *c = &s->cap;
	if (!c->whole) {
		/* The cut must not be inside a character, either. */
		char next[4];
		ssize_t n = io_read_at(s->fd, next, sizeof(next), (off_t)c->end);
		for (ssize_t i = 0; i < n && i < 3 && (next[i] & 0xC0) == 0x80; i++)
			c->end++;
	}
	/* The newline before the end stays: it tells that a line starts there, and keeps
	   that line apart from the hole for whoever reads the file as it is. */
	uint64_t hole = c->begin + GAP_ANNOUNCE_MAX, hole_end = c->end - c->whole;
	/* A block that was only half in the hole till now is released with its other half. */
	uint64_t again = (old_end - 1) / PUNCH_ALIGN * PUNCH_ALIGN;
	if (again > hole)
		hole = again;
	s->options.gap_moved(s->options.ctx);
	int result;
	do {
		result = fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)hole,
				   (off_t)(hole_end - hole));
	} while (result < 0 && errno == EINTR);
	if (result == 0) {
		struct meta_stream m;
		stream_describe(s, &m);
		announce(s, &m);
		punch_index(s);
	} else if (old_end == c->begin) {
		give_up_tail(s);
	} else {
		s->error = errno;
		stop_keeping(s, s->index.bytes);
	}
}

/* `len` final bytes were written or lost: counts them. */
static void stream_pass(struct stream *s, const char *data, size_t len)
{
	struct cap *c = &s->cap;
	uint64_t bytes = s->index.bytes, lines = s->index.lines;
	if (!s->options.idx) {
		s->index.bytes += len;
		return;
	}
	if (index_feed(&s->index, data, len) < 0)
		stop_indexing(s);
	const char *newline = memrchr(data, '\n', len);
	if (newline)
		s->line_start = bytes + (uint64_t)(newline - data) + 1;
	cap_pass(c, bytes, lines, data, len);
	if (s->index.bytes != c->head || c->head == 0)
		return;
	/* The head ends with a line, unless that would give up half of it. */
	uint64_t at = s->line_start;
	if (c->head - at > c->head / 2) {
		char tail[4];
		size_t cut = 0;
		ssize_t n = io_read_at(s->fd, tail, sizeof(tail), (off_t)(c->head - sizeof(tail)));
		if (n != sizeof(tail) || !utf8_incomplete(tail, sizeof(tail), &cut))
			cut = 0;
		at = c->head - cut;
	}
	cap_end_head(c, at, s->index.lines + 1);
}

bool stream_has_room(int fd, uint64_t min_free)
{
	struct statvfs fs;
	/* If the file system does not report its free space, a write that finds none will. */
	if (min_free == 0 || fstatvfs(fd, &fs) < 0 ||
	    (uint64_t)fs.f_bavail * fs.f_frsize >= min_free)
		return true;
	errno = ENOSPC;
	return false;
}

/* Stops in time, so that others find room on the disk. */
static void leave_room(struct stream *s)
{
	uint64_t bytes = s->index.bytes;
	/* A tail that rolls on takes no more. */
	if (s->options.min_free == 0 || s->cap.begin != s->cap.end ||
	    (s->checked && bytes - s->checked < STREAM_WINDOW))
		return;
	s->checked = bytes;
	if (stream_has_room(s->fd, s->options.min_free))
		return;
	s->error = ENOSPC;
	stop_keeping(s, bytes);
}

/* Makes room on disk for `len` more bytes under the cap. */
static void make_room(struct stream *s, size_t len)
{
	struct cap *c = &s->cap;
	if (!s->options.idx) {
		/* Raw bytes have no lines to announce a gap with: only their head is kept. */
		if (c->head != 0 && s->index.bytes + len > c->head + c->tail)
			stop_keeping(s, s->index.bytes);
		return;
	}
	uint64_t old_end = c->end;
	if (cap_make_room(c, s->index.bytes, s->index.lines, len))
		punch(s, old_end);
}

/* Writes `len` final bytes, and behind them in `data` the `live` ones. */
static int store(struct stream *s, const char *data, size_t len, size_t live)
{
	/* The live part is now final or stale, so none of it may stay. */
	set_live(s, NULL, 0);
	if (s->keeping)
		leave_room(s);
	if (s->keeping)
		stream_shrink(s, s->index.bytes + len + live);
	while (len > 0) {
		size_t n = cap_piece(&s->cap, s->index.bytes, len);
		size_t behind = n == len ? live : 0;
		if (s->keeping)
			make_room(s, n);
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
	if (s->entries.len >= ENTRIES)
		write_entries(s);
	return s->error ? -1 : 0;
}

static int store_collected(struct stream *s)
{
	size_t len = s->len;
	s->len = 0;
	return store(s, s->collected, len, 0);
}

int stream_append(struct stream *s, const char *data, size_t len)
{
	if (!s->collected)
		s->collected = malloc(STREAM_WINDOW);
	if (!s->collected)
		return store(s, data, len, 0);
	while (len > 0) {
		size_t room = STREAM_WINDOW - stream_bytes(s) % STREAM_WINDOW;
		size_t n = len < room ? len : room;
		memcpy(s->collected + s->len, data, n);
		s->len += n;
		data += n;
		len -= n;
		if (n == room)
			store_collected(s);
	}
	return s->error ? -1 : 0;
}

int stream_flush(struct stream *s)
{
	int result = s->error ? -1 : 0;
	if (s->collected && s->len > 0)
		result = store_collected(s);
	write_entries(s);
	struct meta_stream m;
	stream_describe(s, &m);
	if (s->open_gap && m.gap_from)
		announce(s, &m);
	return result;
}

int stream_end_recording(struct stream *s, const char *why)
{
	char line[1 + GAP_ANNOUNCE_MAX] = {'\n'};
	stream_flush(s);
	bool inside = s->index.bytes != s->line_start;
	size_t len = gap_announce_end(line + 1, why) + inside;
	/* A loss before this one was announced already. */
	return s->keeping ? stream_append(s, line + !inside, len) : s->error ? -1 : 0;
}

int stream_set_live(struct stream *s, const char *data, size_t len)
{
	if (s->collected && s->len + len <= STREAM_WINDOW && s->len > 0) {
		/* Together, so that there is no moment with neither the old nor the new. */
		if (len > 0)
			memcpy(s->collected + s->len, data, len);
		store(s, s->collected, s->len, len);
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

uint64_t stream_bytes(const struct stream *s)
{
	return s->index.bytes + s->len;
}

uint64_t stream_lost(const struct stream *s)
{
	return s->keeping || stream_bytes(s) <= s->end ? 0 : stream_bytes(s) - s->end;
}

void stream_close(struct stream *s)
{
	io_close(&s->fd);
	io_close(&s->idx);
	buffer_release(&s->entries);
	free(s->collected);
	s->collected = NULL;
}
