// See text.h.

#include "supervisor/artifact/text.h"

#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* An unfinished line that does not change for this time, in ms, counts as complete. The time is
   longer than the interval for flushing the live part. */
#define SETTLE 300

/* How many bytes of an unfinished line are compared. */
#define OPEN_LINE ((size_t)4096)

struct open_line {
	uint64_t start; /* the line's offset */
	size_t len;
	char data[OPEN_LINE];
};

ssize_t text_read(const struct text *t, char *data, size_t len, uint64_t offset)
{
	if (t->fd >= 0)
		return io_read_at(t->fd, data, len, (off_t)offset);
	size_t left = offset < t->size ? (size_t)(t->size - offset) : 0;
	len = len < left ? len : left;
	memcpy(data, t->memory.data + (t->size - left), len);
	return (ssize_t)len;
}

static bool ends_line(const struct text *t, uint64_t size)
{
	char last;
	return size == 0 || text_read(t, &last, 1, size - 1) != 1 || last == '\n';
}

/* Reads the line at the end of `size` bytes, or the last part of it. Returns false if it can't be
   read. */
static bool read_open_line(struct open_line *line, int fd, uint64_t size)
{
	line->len = size < OPEN_LINE ? (size_t)size : OPEN_LINE;
	line->start = size - line->len;
	if (io_read_whole(fd, line->data, line->len, (off_t)line->start) < 0)
		return false;
	const char *newline = memrchr(line->data, '\n', line->len);
	if (newline) {
		size_t before = (size_t)(newline - line->data) + 1;
		line->len -= before;
		line->start += before;
		memmove(line->data, line->data + before, line->len);
	}
	return true;
}

/* Decides how much of a text that may grow is read. A last line without a newline is read if it may
   be a prompt. It is left out if its rest is still to come: a write is under way, a write has
   filled the window, or the command is still writing. */
static int take_size(struct text *t)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct open_line first, now;
	struct stat st;
	if (fstat(t->fd, &st) < 0)
		return -1;
	t->size = (uint64_t)st.st_size;
	if (!t->held || ends_line(t, t->size))
		return 0;
	bool is_part = t->size % ARTIFACT_WINDOW == 0;
	if (!is_part && read_open_line(&first, t->fd, t->size)) {
		/* Waits until the file is written to, or until its last write is SETTLE ago. The
		   age is negative if the clock was set back. */
		const int64_t written = clock_ms(&st.st_mtim);
		int64_t age = clock_real_ms() - written;
		while (age >= 0 && age < SETTLE && clock_ms(&st.st_mtim) == written) {
			nanosleep(&pause, NULL);
			if (fstat(t->fd, &st) < 0)
				return -1;
			age = clock_real_ms() - written;
		}
		t->size = (uint64_t)st.st_size;
		if (ends_line(t, t->size))
			return 0;
		is_part = t->size % ARTIFACT_WINDOW == 0;
		/* Finds out whether the line is still being written, or is complete, or is being
		   redrawn. */
		if (!is_part && read_open_line(&now, t->fd, t->size)) {
			size_t len = first.len < now.len ? first.len : now.len;
			is_part = first.start != now.start ||
				  (first.len != now.len && memcmp(first.data, now.data, len) == 0);
		}
	}
	/* Leaves the line out, unless it is longer than OPEN_LINE. */
	if (is_part && read_open_line(&now, t->fd, t->size) && now.len < OPEN_LINE)
		t->size = now.start;
	return 0;
}

/* Takes the gap and the lost end from the metadata. */
static void use_meta(struct text *t)
{
	struct meta m;
	if (t->held) {
		io_close(&t->json);
		t->json = id_open_file(t->dir, t->id, ARTIFACT_JSON, O_RDONLY);
	}
	if (meta_read(t->dir, t->id, &m) < 0)
		return;
	const struct meta_stream *s = t->part == ARTIFACT_ERR ? &m.err : &m.out;
	if (s->gap_from && s->gap_offset <= t->size) {
		t->gap = (struct text_gap){
			.begin = s->gap_offset,
			.end = s->gap_offset + s->gap_bytes,
			.from = s->gap_from,
			.to = s->gap_to,
		};
		t->gap.whole = t->gap.end > t->size || ends_line(t, t->gap.end);
	}
	if (s->bytes == t->size)
		t->known = s->lines; /* 0 while the run continues: text_lines() counts them */
	if (s->error && s->bytes > t->size && t->gap.end <= t->size) {
		t->lost_bytes = s->bytes - t->size;
		t->lost_to = s->lines;
		t->lost_error = s->error;
	}
	meta_release(&m);
}

int text_open(struct text *t, int dir, const char *id, enum artifact_part part)
{
	*t = (struct text){.fd = -1, .idx = -1, .dir = -1, .json = -1, .part = part};
	snprintf(t->id, sizeof(t->id), "%s", id);
	t->fd = id_open_file(dir, id, part, O_RDONLY);
	bool is_short = t->fd < 0 && errno == ENOENT && short_read(dir, id, part, &t->memory) == 0;
	if (t->fd < 0 && !is_short)
		goto fail;
	t->dir = fcntl(dir, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (t->dir < 0)
		goto fail;
	t->size = t->memory.len;
	/* A short text has no gap. */
	if (is_short)
		return 0;
	/* ID.txt carries the lock of all parts. */
	int text = part == ARTIFACT_OUT ? t->fd : id_open_file(dir, id, ARTIFACT_OUT, O_RDONLY);
	t->held = text >= 0 && meta_is_held(text);
	if (text != t->fd)
		io_close(&text);
	if (take_size(t) < 0)
		goto fail;
	if (part <= ARTIFACT_ERR)
		use_meta(t);
	return 0;
fail:
	text_close(t);
	return -1;
}

int text_open_file(struct text *t, const char *path)
{
	struct stat st;
	int fd = io_above_standard(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
	*t = (struct text){.fd = fd, .idx = -1, .dir = -1, .json = -1};
	bool known = fd >= 0 && fstat(fd, &st) == 0;
	if (known && S_ISREG(st.st_mode)) {
		t->size = (uint64_t)st.st_size;
		return 0;
	}
	if (known)
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	io_close(&t->fd);
	return -1;
}

void text_close(struct text *t)
{
	io_close(&t->fd);
	io_close(&t->idx);
	io_close(&t->dir);
	io_close(&t->json);
	buffer_release(&t->memory.record);
}

static bool text_has_gap(const struct text *t)
{
	return t->gap.begin != t->gap.end;
}

/* Seeks to the start of a line on disk, or to the gap if the line is in it. Returns as
   index_find(); *lines may be a line in the gap. */
static int find_line(struct text *t, uint64_t line, uint64_t *lines)
{
	const struct text_gap *gap = text_has_gap(t) ? &t->gap : NULL;
	struct index_range range = {.line = 1, .end = gap ? gap->begin : t->size};
	int result = 1;
	if (t->fd < 0) {
		uint64_t skip = line - 1;
		size_t at = newline_skip(t->memory.data, (size_t)t->size, &skip);
		*lines = line - skip - ends_line(t, at);
		if (skip > 0 || at == t->size)
			return 1;
		t->offset = at;
		return 0;
	}
	/* The index is opened for the first line that is far from the beginning. */
	if (t->idx < 0 && t->dir >= 0 && t->part <= ARTIFACT_ERR && line > INDEX_STRIDE)
		t->idx = id_open_file(t->dir, t->id, ARTIFACT_OUT_INDEX + t->part, O_RDONLY);
	/* The index has no entries for the gap, so the search for a line after the gap starts at
	   the gap's end. */
	if (!gap || line <= gap->from)
		result = index_find(t->fd, t->idx, &range, line, &t->offset, lines);
	if (!gap || result != 1)
		return result;
	if (line <= gap->to) {
		t->offset = gap->begin;
		return 0;
	}
	range = (struct index_range){.line = gap->to + gap->whole,
				     .start = gap->end < t->size ? gap->end : t->size,
				     .end = t->size};
	result = index_find(t->fd, t->idx, &range, line, &t->offset, lines);
	if (result == 1 && *lines < gap->to)
		*lines = gap->to;
	return result;
}

/* Whether the gap may have moved since the metadata were read. If so, reads them again. */
static bool has_moved(struct text *t)
{
	struct stat st;
	if (!t->held || t->json < 0 || fstat(t->json, &st) < 0 || st.st_nlink > 0)
		return false;
	use_meta(t);
	return true;
}

int text_lines(struct text *t, uint64_t *lines)
{
	do {
		if (t->known == 0 && find_line(t, UINT64_MAX, &t->known) < 0)
			return -1;
	} while (has_moved(t));
	*lines = t->known > t->lost_to ? t->known : t->lost_to;
	return 0;
}

int text_seek(struct text *t, uint64_t line, uint64_t *lines)
{
	int result;
	do {
		t->lost_reported = false;
		result = find_line(t, line, lines);
		if (result == 1 && line <= t->lost_to) {
			t->offset = t->size;
			result = 0;
		} else if (result == 1 && *lines < t->lost_to) {
			*lines = t->lost_to;
		}
	} while (has_moved(t));
	return result;
}

/* Goes backwards from `end`, not below `least`, over *skip newlines. Sets *at after the last
   newline that it passed, or to `least` if there are fewer; *skip: how many are missing. */
static int find_back(const struct text *t, uint64_t least, uint64_t end, uint64_t *skip,
		     uint64_t *at)
{
	char block[65536];
	*at = least;
	while (end > least) {
		size_t len = end - least < sizeof(block) ? (size_t)(end - least) : sizeof(block);
		ssize_t n = text_read(t, block, len, end - len);
		/* EIO: the file shrank. */
		errno = n < 0 ? errno : EIO;
		if (n != (ssize_t)len)
			return -1;
		uint64_t newlines = newline_count(block, len);
		if (newlines < *skip) {
			*skip -= newlines;
			end -= len;
			continue;
		}
		/* The line begins in this block: counts from the block's front. */
		newlines = newlines - *skip + 1;
		*skip = 0;
		*at = end - len + newline_skip(block, len, &newlines);
		return 0;
	}
	return 0;
}

int text_seek_back(struct text *t, uint64_t count, uint64_t most, uint64_t *found)
{
	/* The newline at the very end begins no line. */
	uint64_t end = t->size && ends_line(t, t->size) ? t->size - 1 : t->size;
	uint64_t least = most < t->size ? t->size - most : 0, skip = count;
	t->lost_reported = false;
	if (find_back(t, least, end, &skip, &t->offset) < 0)
		return -1;
	*found = t->size ? count - skip : 0;
	if (skip == 0 || t->size == 0)
		return 0;
	/* `least` is inside a line, unless a line ends directly before it. */
	bool inside = !ends_line(t, least);
	skip = *found;
	*found += !inside;
	return inside && skip ? find_back(t, least, end, &skip, &t->offset) : 0;
}

void text_seek_byte(struct text *t, uint64_t offset)
{
	t->offset = offset;
	t->lost_reported = false;
}

int text_line_start(const struct text *t, uint64_t offset, uint64_t *start)
{
	uint64_t least = text_has_gap(t) && offset >= t->gap.end ? t->gap.end : 0, skip = 1;
	return find_back(t, least, offset, &skip, start);
}

int text_next(struct text *t, char *data, size_t cap, struct text_piece *piece)
{
	*piece = (struct text_piece){.kind = TEXT_END};
	for (;;) {
		if (text_has_gap(t) && t->offset >= t->gap.begin && t->offset < t->gap.end) {
			const struct text_gap *g = &t->gap;
			*piece = (struct text_piece){
				.kind = TEXT_GAP,
				.gap = {.from = g->from, .to = g->to, .bytes = g->end - g->begin},
				.goes_on = !g->whole && g->end < t->size,
			};
			t->offset = g->end; /* may be past the end of the file */
			return 0;
		}
		uint64_t end = text_has_gap(t) && t->offset < t->gap.begin ? t->gap.begin : t->size;
		if (t->offset >= end && t->lost_bytes && !t->lost_reported) {
			uint64_t last = 0;
			if (find_line(t, UINT64_MAX, &last) < 0)
				return -1;
			piece->kind = TEXT_GAP;
			piece->gap = (struct gap){.from = last + ends_line(t, t->size),
						  .to = t->lost_to,
						  .bytes = t->lost_bytes,
						  .error = t->lost_error};
			t->lost_reported = true;
		}
		if (t->offset >= end)
			return 0;
		if (end - t->offset < cap)
			cap = (size_t)(end - t->offset);
		ssize_t n = text_read(t, data, cap, t->offset);
		if (n < 0)
			return -1;
		/* The bytes that were read may be from a hole that was made just now. The metadata
		   name a hole before it is made. */
		if (has_moved(t) && text_has_gap(t) && t->offset < t->gap.end &&
		    t->offset + (uint64_t)n > t->gap.begin)
			continue;
		if (n == 0) { /* the file shrank */
			t->offset = t->size;
			return 0;
		}
		piece->kind = TEXT_BYTES;
		piece->len = (size_t)n;
		t->offset += (uint64_t)n;
		return 0;
	}
}
