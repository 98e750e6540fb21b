// See io.h.

#include "lib/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

char *io_block(size_t size)
{
	return aligned_alloc(PAGE, (size + PAGE - 1) & ~(PAGE - 1));
}

/* Reads or writes `len` bytes; a read ends early at the end of the file. Repeats after EINTR and
   short counts, and waits where the descriptor is non-blocking. Returns the number of bytes, or -1
   with errno. */
static ssize_t transfer(int fd, bool writes, char *data, size_t len, off_t offset)
{
	size_t done = 0;
	while (done < len) {
		const off_t at = offset + (off_t)done;
		char *p = data + done;
		ssize_t n;
		if (writes)
			n = offset < 0 ? write(fd, p, len - done) : pwrite(fd, p, len - done, at);
		else
			n = offset < 0 ? read(fd, p, len - done) : pread(fd, p, len - done, at);
		if (n == 0 && !writes)
			break;
		done += n > 0 ? (size_t)n : 0;
		if (n >= 0 || errno == EINTR)
			continue;
		struct pollfd wait = {.fd = fd, .events = writes ? POLLOUT : POLLIN};
		if (errno != EAGAIN || (poll(&wait, 1, -1) < 0 && errno != EINTR))
			return -1;
	}
	return (ssize_t)done;
}

int io_write(int fd, const void *data, size_t len)
{
	return transfer(fd, true, (char *)data, len, -1) < 0 ? -1 : 0;
}

int io_write_at(int fd, const void *data, size_t len, off_t offset)
{
	return transfer(fd, true, (char *)data, len, offset) < 0 ? -1 : 0;
}

ssize_t io_read(int fd, void *data, size_t len)
{
	return transfer(fd, false, data, len, -1);
}

ssize_t io_read_at(int fd, void *data, size_t len, off_t offset)
{
	return transfer(fd, false, data, len, offset);
}

int io_read_whole(int fd, void *data, size_t len, off_t offset)
{
	ssize_t n = io_read_at(fd, data, len, offset);
	if (n >= 0 && (size_t)n < len)
		errno = EIO;
	return n >= 0 && (size_t)n == len ? 0 : -1;
}

DIR *io_list(int dir)
{
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	if (!list)
		io_close(&dir);
	return list;
}

/* For nftw(3). */
static int io_remove(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st, (void)kind, (void)where;
	remove(path);
	return 0;
}

void io_remove_tree(const char *path)
{
	nftw(path, io_remove, 8, FTW_DEPTH | FTW_PHYS);
}

int io_read_all(int fd, struct buffer *out, size_t most)
{
	size_t start = out->len, room;
	ssize_t n;
	do {
		if (buffer_reserve(out, 4096) < 0)
			return -1;
		room = out->cap - out->len;
		n = io_read(fd, out->data + out->len, room);
		if (n < 0)
			return -1;
		out->len += (size_t)n;
		if (out->len - start > most) {
			errno = EFBIG;
			return -1;
		}
	} while ((size_t)n == room);
	return 0;
}

int io_lines_next(struct io_lines *l, const char **line, size_t *len)
{
	for (;;) {
		size_t left = l->block.len - l->at;
		*line = left > 0 ? l->block.data + l->at : "";
		*len = 0;
		const char *newline = memchr(*line, '\n', left);
		if (newline) {
			*len = (size_t)(newline - *line);
			l->at += *len + 1;
			return 1;
		}
		if (left >= l->most) {
			l->at += left;
			return 1;
		}
		l->offset += l->at;
		buffer_consume(&l->block, l->at);
		l->at = 0;
		if (buffer_reserve(&l->block, l->most) < 0)
			return -1;
		ssize_t n = io_read_at(l->fd, l->block.data + l->block.len, l->most,
				       (off_t)(l->offset + l->block.len));
		if (n <= 0)
			return (int)n;
		l->block.len += (size_t)n;
	}
}

bool io_is_there(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void io_unlink(int dir, const char *name)
{
	int saved = errno;
	unlinkat(dir, name, 0);
	errno = saved;
}

void io_close(int *fd)
{
	if (*fd < 0)
		return;
	int saved = errno;
	close(*fd);
	errno = saved;
	*fd = -1;
}

int io_above_standard(int fd)
{
	if (fd > STDERR_FILENO || fd < 0)
		return fd;
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	io_close(&fd);
	return moved;
}

void io_close_others(int first, const int *keep, size_t count)
{
	for (int next; first != INT_MAX; first = next == INT_MAX ? next : next + 1) {
		next = INT_MAX;
		for (size_t i = 0; i < count; i++) {
			if (keep[i] >= first && keep[i] < next)
				next = keep[i];
		}
		if (next == first || close_range((unsigned)first, (unsigned)next - 1, 0) == 0)
			continue;
		/* Old kernels and strict sandboxes have no close_range(2). */
		DIR *dir = opendir("/proc/self/fd");
		const struct dirent *entry;
		while (dir && (entry = readdir(dir))) {
			int fd = (int)strtol(entry->d_name, NULL, 10);
			if (entry->d_name[0] != '.' && fd >= first && fd < next && fd != dirfd(dir))
				close(fd);
		}
		if (dir)
			closedir(dir);
	}
}

void io_null(int first, int last)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0) {
		/* Where /dev/null can't be opened (no free descriptor, no such file), closed
		   descriptors are better than those that were open. */
		for (int fd = first; fd <= last; fd++)
			close(fd);
		null = open("/dev/null", O_RDWR);
	}
	if (null < 0)
		return;
	for (int fd = first; fd <= last; fd++) {
		if (fd != null)
			dup2(null, fd);
	}
	if (null < first || null > last)
		close(null);
}

ssize_t io_send(int fd, const void *data, size_t len, int flags)
{
	struct iovec part = {.iov_base = (void *)data, .iov_len = len};
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	return sendmsg(fd, &message, flags);
}
