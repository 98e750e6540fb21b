// See meta.h.

#include "supervisor/artifact/meta.h"

#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta_json.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Arguments of at most 128 KB: escaped six-fold they still are under META_MAX. */
#define COMMAND_BUDGET (128 * 1024)

/* Writes over what is there, which needs no room on a full disk as long as it fits into
   the blocks of the file. A reader may see a mixture for a moment. */
static int overwrite(int dir, const char *name, const struct buffer *text)
{
	struct stat st;
	int result = -1, fd = store_open_file(dir, name, O_WRONLY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= text->len)
		result = io_write_at(fd, text->data, text->len, 0);
	else
		errno = ENOSPC;
	if (result == 0)
		result = ftruncate(fd, (off_t)text->len);
	io_close(&fd);
	return result;
}

static int meta_replace(int dir, const char *name, const struct buffer *text)
{
	char temporary[ID_LEN + 7];
	snprintf(temporary, sizeof(temporary), ".%s", name);
	int fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0 && errno == EEXIST && unlinkat(dir, temporary, 0) == 0)
		fd = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return -1;
	int result = io_write(fd, text->data, text->len);
	if (result == 0)
		result = renameat(dir, temporary, dir, name);
	if (result < 0) {
		int saved = errno;
		unlinkat(dir, temporary, 0);
		errno = saved;
	}
	io_close(&fd);
	return result;
}

struct gaps meta_gaps(const struct meta_stream *s)
{
	struct gaps gaps = {.count = 0};
	if (s->gap_from)
		gaps.items[gaps.count++] =
			(struct gap){.from = s->gap_from, .to = s->gap_to, .bytes = s->gap_bytes};
	if (s->lost_from)
		gaps.items[gaps.count++] = (struct gap){.from = s->lost_from,
							.to = s->lines,
							.bytes = s->lost_bytes,
							.error = s->error};
	return gaps;
}

struct gaps meta_raw_gaps(const struct meta *m)
{
	return (struct gaps){.items = {{.bytes = m->raw_lost, .error = m->raw_error}},
			     .count = m->raw_lost > 0};
}

int meta_write(int dir, const struct meta *m)
{
	char name[ID_LEN + 6];
	snprintf(name, sizeof(name), "%s.json", m->id);
	struct buffer text = BUFFER_INIT;
	bool encoded = meta_encode(&text, m, COMMAND_BUDGET) == 0;
	int result = encoded ? meta_replace(dir, name, &text) : -1, error = errno;
	/* The other way may be the one that works. */
	if (encoded && result < 0) {
		result = overwrite(dir, name, &text);
		errno = error;
	}
	buffer_release(&text);
	return result;
}

int meta_append_history(int dir, const struct meta *m)
{
	struct buffer line = BUFFER_INIT;
	int result = -1;
	/* How much escaping adds is known only afterwards. */
	for (size_t budget = META_HISTORY_MAX;; budget /= 2) {
		buffer_clear(&line);
		if (meta_encode(&line, m, budget) < 0 || buffer_append(&line, "\n", 1) < 0)
			goto out;
		if (line.len <= META_HISTORY_MAX || budget == 0)
			break;
	}
	result = journal_append(dir, META_HISTORY, line.data, line.len);
out:
	buffer_release(&line);
	return result;
}

/* Of a history line, or -1. No other place in it can hold this: quotes in strings are escaped. */
static int64_t started_in(const char *line, size_t len)
{
	static const char key[] = "\"started_ms\":";
	const char *at = memmem(line, len, key, sizeof(key) - 1);
	char digits[24];
	if (!at)
		return -1;
	at += sizeof(key) - 1;
	size_t left = (size_t)(line + len - at);
	snprintf(digits, sizeof(digits), "%.*s", (int)(left < 20 ? left : 20), at);
	return strtoll(digits, NULL, 10);
}

struct span_of_time {
	int64_t from_ms, to_ms;
};

static size_t keep_others(void *ctx, const char *line, size_t len)
{
	const struct span_of_time *span = ctx;
	int64_t started = started_in(line, len);
	return started >= span->from_ms && started < span->to_ms ? 0 : len;
}

long meta_forget_history(int dir, int64_t from_ms, int64_t to_ms)
{
	struct span_of_time span = {from_ms, to_ms};
	return journal_filter(dir, META_HISTORY, keep_others, &span);
}

int64_t meta_first_in_history(int dir)
{
	char line[META_HISTORY_MAX];
	int fd = store_open_file(dir, META_HISTORY, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : io_read_at(fd, line, sizeof(line), 0);
	io_close(&fd);
	const char *newline = n > 0 ? memchr(line, '\n', (size_t)n) : NULL;
	return newline ? started_in(line, (size_t)(newline - line)) : -1;
}

bool meta_is_held(int text_fd)
{
	if (flock(text_fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK;
	flock(text_fd, LOCK_UN);
	return false;
}

static int read_json(int dir, const char *id, struct meta *m)
{
	char name[ID_LEN + 6];
	snprintf(name, sizeof(name), "%s.json", id);
	char *text = NULL;
	struct stat st;
	int result = -1;
	*m = (struct meta){0};
	int fd = store_open_file(dir, name, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) < 0)
		goto out;
	errno = EBADMSG;
	if (st.st_size > META_MAX)
		goto out;
	text = malloc((size_t)st.st_size + 1);
	ssize_t n = text ? io_read(fd, text, (size_t)st.st_size) : -1;
	if (n < 0 || meta_parse(text, (size_t)n, m) < 0)
		goto out;
	if (strcmp(m->id, id) != 0) {
		meta_release(m);
		errno = EBADMSG;
		goto out;
	}
	result = 0;
out:
	free(text);
	io_close(&fd);
	return result;
}

/* What the metadata of an unfinished run can't know. */
static void update_stream(int dir, const char *id, const char *suffix, struct meta_stream *s)
{
	char name[ID_LEN + 9];
	struct stat st;
	snprintf(name, sizeof(name), "%s%s", id, suffix);
	if (s->error || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	s->present = true;
	s->bytes = (uint64_t)st.st_size;
	s->lines = 0;
}

/* Its end is when the text was last written. */
static void interrupt(struct meta *m, int fd)
{
	struct stat st;
	m->state = META_INTERRUPTED;
	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	m->ended_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	if (m->ended_ms > m->started_ms)
		m->duration_ms = m->ended_ms - m->started_ms;
}

int meta_read(int dir, const char *id, struct meta *m)
{
	if (read_json(dir, id, m) < 0)
		return -1;
	if (m->state != META_RUNNING)
		return 0;
	char name[ID_LEN + 5];
	snprintf(name, sizeof(name), "%s.txt", id);
	int fd = store_open_file(dir, name, O_RDONLY);
	bool was_running = true;
	if (fd < 0 || !meta_is_held(fd)) {
		/* The keeper is gone. It may have finished between the two looks. */
		struct meta again;
		if (read_json(dir, id, &again) == 0) {
			meta_release(m);
			*m = again;
		}
		was_running = m->state == META_RUNNING;
		if (was_running)
			interrupt(m, fd);
	}
	io_close(&fd);
	if (was_running) {
		update_stream(dir, id, ".txt", &m->out);
		update_stream(dir, id, ".err.txt", &m->err);
	}
	return 0;
}

void meta_release(struct meta *m)
{
	free(m->owned);
	*m = (struct meta){0};
}
