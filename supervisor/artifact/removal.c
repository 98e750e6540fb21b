// See removal.h.

#include "supervisor/artifact/removal.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define TEMPORARY ".journal."

/* A longer line was not written by terse. */
#define LINE_MAX_BYTES ((size_t)64 * 1024)

/* Attempts when another process replaces the file meanwhile. */
#define TRIES 100

/* Whether the name still belongs to this open file. */
static bool is_current(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* Whether somebody's line was cut short: then the next one has to begin behind a newline. */
static bool ends_inside_line(int fd)
{
	struct stat st;
	char last = '\n';
	if (fstat(fd, &st) == 0 && st.st_size > 0)
		io_read_at(fd, &last, 1, st.st_size - 1);
	return last != '\n';
}

/* Opens and locks the file that has the name, without a line that somebody else is writing at its
   end: *inside tells whether there is a part of one all the same. Returns the descriptor. */
static int open_current(int dir, const char *name, bool *inside)
{
	int operation = LOCK_SH;
	for (int i = 0; i < TRIES; i++) {
		int fd = store_open_file(dir, name, O_RDWR | O_APPEND | O_CREAT);
		if (fd < 0)
			return -1;
		/* Without locks no process takes lines out. */
		bool locked = store_lock(fd, operation) == 0;
		bool current = !locked || is_current(fd);
		*inside = locked && ends_inside_line(fd);
		if (current && (!*inside || operation == LOCK_EX))
			return fd;
		operation = current ? LOCK_EX : operation;
		io_close(&fd);
	}
	errno = EBUSY;
	return -1;
}

int journal_append(int dir, const char *name, const char *line, size_t len)
{
	bool inside;
	int result = -1, fd = open_current(dir, name, &inside);
	if (fd < 0)
		return -1;
	/* A single call, so that the lines of several writers do not mix. */
	const struct iovec parts[] = {{(char *)"\n", inside}, {(char *)line, len}};
	ssize_t n;
	do {
		n = writev(fd, parts, 2);
	} while (n < 0 && errno == EINTR);
	if (n >= 0 && (size_t)n < len + inside) {
		/* The disk is full. Take the part back, unless somebody has written behind it. */
		off_t end = lseek(fd, 0, SEEK_CUR);
		struct stat st;
		if (store_lock(fd, LOCK_EX) == 0 && fstat(fd, &st) == 0 && st.st_size == end)
			ftruncate(fd, end - n);
		errno = ENOSPC;
	} else if (n >= 0) {
		result = 0;
	}
	io_close(&fd);
	return result;
}

struct filter {
	int from, to;
	uint64_t offset; /* in `from`: up to here all is dealt with */
	long taken;
	struct buffer block; /* read, not dealt with */
	size_t (*keep)(void *ctx, const char *line, size_t len);
	void *ctx;
};

/* Deals with the whole lines of the block. */
static int pass_lines(struct filter *f)
{
	size_t at = 0;
	const char *newline;
	struct buffer kept = BUFFER_INIT;
	while ((newline = memchr(f->block.data + at, '\n', f->block.len - at)) != NULL) {
		const char *line = f->block.data + at;
		size_t len = (size_t)(newline - line);
		size_t stays = f->keep(f->ctx, line, len);
		if (stays > 0)
			buffer_append(&kept, newline - stays, stays + 1);
		f->taken += stays < len || len == 0;
		at += len + 1;
	}
	int result = buffer_check(&kept);
	if (result == 0)
		result = io_write(f->to, kept.data, kept.len);
	f->offset += at;
	buffer_consume(&f->block, at);
	buffer_release(&kept);
	return result;
}

/* Deals with the present content of the file. A part of a line stays for the next time. */
static int pass_file(struct filter *f)
{
	for (;;) {
		if (buffer_reserve(&f->block, LINE_MAX_BYTES) < 0)
			return -1;
		ssize_t n = io_read_at(f->from, f->block.data + f->block.len, LINE_MAX_BYTES,
				       (off_t)(f->offset + f->block.len));
		if (n <= 0)
			return (int)n;
		f->block.len += (size_t)n;
		size_t before = f->block.len;
		if (pass_lines(f) < 0)
			return -1;
		if (f->block.len == before && before >= LINE_MAX_BYTES) {
			/* Not one of our lines. */
			f->offset += before;
			buffer_clear(&f->block);
			f->taken++;
		}
	}
}

/* Returns 1 when it was replaced by somebody else meanwhile. */
static int filter_once(struct filter *f, int dir, const char *name, const char *temporary)
{
	int result = -1;
	f->taken = 0;
	f->offset = 0;
	buffer_clear(&f->block);
	f->from = store_open_file(dir, name, O_RDONLY);
	if (f->from < 0)
		return -1;
	unlinkat(dir, temporary, 0);
	f->to = store_open_file(dir, temporary, O_WRONLY | O_CREAT | O_EXCL);
	if (f->to < 0)
		goto out;
	if (pass_file(f) < 0 || store_lock(f->from, LOCK_EX) < 0)
		goto out;
	if (!is_current(f->from)) {
		result = 1;
		goto out;
	}
	if (pass_file(f) < 0)
		goto out;
	f->taken += f->block.len > 0;
	result = 0;
	if (f->taken == 0)
		goto out;
	/* Keep the time: it tells when the session was last used. */
	struct stat st;
	if (fstat(f->from, &st) == 0)
		futimens(f->to, (const struct timespec[2]){st.st_atim, st.st_mtim});
	result = renameat(dir, temporary, dir, name);
out:
	if (f->to >= 0 && (result != 0 || f->taken == 0)) {
		int saved = errno;
		unlinkat(dir, temporary, 0);
		errno = saved;
	}
	io_close(&f->to);
	io_close(&f->from);
	return result;
}

long journal_filter(int dir, const char *name,
		    size_t (*keep)(void *ctx, const char *line, size_t len), void *ctx)
{
	struct filter f = {.from = -1, .to = -1, .keep = keep, .ctx = ctx};
	char temporary[64];
	int result = 1;
	snprintf(temporary, sizeof(temporary), TEMPORARY "%s.%ld", name, (long)getpid());
	for (int i = 0; i < TRIES && result == 1; i++)
		result = filter_once(&f, dir, name, temporary);
	buffer_release(&f.block);
	if (result == 1)
		errno = EBUSY;
	return result == 0 ? f.taken : -1;
}

bool journal_is_temporary(const char *name)
{
	return strncmp(name, TEMPORARY, strlen(TEMPORARY)) == 0;
}

/* The longest time that a process other than a supervisor holds the lock. */
#define LOCK_HELD_MS 20

/* Whether the metadata say that the run lives, for a text that is locked or a file system without
   locks. */
static bool is_said_to_run(int dir, const char *id)
{
	struct meta m;
	if (meta_read(dir, id, &m) < 0)
		return false;
	/* meta_read() makes a run that is neither done nor locked an interrupted one. */
	bool running = m.state != META_DONE && m.supervisor > 0;
	meta_release(&m);
	return running;
}

/* Locks the text against a run that is about to begin, or another removal. Returns 0, or -1 when
   it is held. */
static int lock_text(int fd, int dir, const char *id)
{
	struct stat st;
	/* Between the making of the text and its lock, which comes before the metadata. */
	if (!id_has_file(dir, id, ".json") && fstat(fd, &st) == 0 &&
	    clock_real_ms() / 1000 - st.st_ctim.tv_sec < STORE_SETTLED_S)
		return -1;
	for (int waited = 0;; waited++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return is_said_to_run(dir, id) ? -1 : 0;
		if (waited == LOCK_HELD_MS || is_said_to_run(dir, id))
			return -1;
		/* A reader may be testing the lock, or another removal has it. */
		if (fstat(fd, &st) == 0 && st.st_nlink == 0)
			return 0;
		struct timespec pause = {.tv_nsec = 1000000};
		nanosleep(&pause, NULL);
	}
}

bool removal_is_running(int dir, const char *id)
{
	int fd = id_open_file(dir, id, ".txt", O_RDONLY);
	if (fd < 0)
		return store_is_short(errno);
	bool running = lock_text(fd, dir, id) < 0;
	io_close(&fd);
	return running;
}

/* Returns 1 if it was there, 0, or -1 with errno. */
static int unlink_file(int dir, const char *id, const char *prefix, const char *suffix,
		       uint64_t *freed)
{
	char name[ID_LEN + 16];
	struct stat st;
	snprintf(name, sizeof(name), "%s%s%s", prefix, id, suffix);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -1;
	if (unlinkat(dir, name, 0) < 0)
		return errno == ENOENT ? 0 : -1;
	if (st.st_nlink == 1)
		*freed += (uint64_t)st.st_blocks * 512;
	return 1;
}

static void removal_release_claim(const struct store *s, const char *session, const char *id)
{
	char claimed[STORE_SESSION_LEN + 1];
	int ids = store_open_ids(s, false);
	if (ids < 0)
		return;
	ssize_t n = readlinkat(ids, id, claimed, sizeof(claimed));
	/* An artifact of another session may have claimed it. */
	if (n == (ssize_t)strlen(session) && memcmp(claimed, session, (size_t)n) == 0)
		unlinkat(ids, id, 0);
	io_close(&ids);
}

enum removal removal_of(const struct store *s, const char *session, int dir, const char *id,
			uint64_t *freed)
{
	enum removal result = REMOVAL_FAILED;
	int fd = id_open_file(dir, id, ".txt", O_RDONLY);
	int error = errno;
	if (fd < 0 && store_is_short(error))
		goto out;
	if (fd >= 0 && lock_text(fd, dir, id) < 0) {
		result = REMOVAL_RUNNING;
		goto out;
	}
	/* A link or another user's file of that name can't be opened, but is removed. */
	int was = unlink_file(dir, id, "", ".txt", freed);
	if (was < 0)
		goto out;
	for (size_t i = 0; id_suffixes[i]; i++)
		unlink_file(dir, id, "", id_suffixes[i], freed);
	unlink_file(dir, id, ".", ".json", freed);
	removal_release_claim(s, session, id);
	result = was ? REMOVAL_DONE : REMOVAL_ABSENT;
out:
	if (result == REMOVAL_FAILED && fd < 0 && error != ENOENT)
		errno = error;
	io_close(&fd);
	return result;
}
