// Reading and writing descriptors completely, in spite of EINTR, short counts and descriptors that
// another process made non-blocking.
#ifndef TERSE_LIB_IO_H
#define TERSE_LIB_IO_H

#include "lib/buffer.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory to read into and write from: `size` bytes, aligned to a page. The kernel copies up to 5
   times slower to the place where malloc() puts a large block. NULL with ENOMEM; free() releases
   it. */
char *io_block(size_t size);

/* Writes `len` bytes; waits for room where the descriptor is non-blocking. Returns 0, or -1 with
   errno (EPIPE, ENOSPC, ...) after a part may have been written. */
int io_write(int fd, const void *data, size_t len);

/* Writes `len` bytes at a file offset without moving the file position. With a negative offset,
   does what io_write() does. */
int io_write_at(int fd, const void *data, size_t len, off_t offset);

/* Reads until `len` bytes or end of file. Returns the count, or -1 with errno. */
ssize_t io_read(int fd, void *data, size_t len);
ssize_t io_read_at(int fd, void *data, size_t len, off_t offset);

/* Reads `len` bytes at the offset. Returns 0, or -1 with errno; EIO: the file ends too early. */
int io_read_whole(int fd, void *data, size_t len, off_t offset);

/* Appends the rest of the file to `out`. Returns 0, or -1 with errno; EFBIG: there are more than
   `most` bytes, and `out` has the first of them. */
int io_read_all(int fd, struct buffer *out, size_t most);

/* Reads a file line by line. The caller sets `fd` and `most` (bytes of a line), zeroes the rest,
   and releases `block`. */
struct io_lines {
	int fd;
	size_t most;
	uint64_t offset; /* of the block in the file */
	struct buffer block;
	size_t at; /* in the block: where the next line starts */
};

/* Reads the next line, without its newline; it is valid until the next call. A line longer than
   `most` is returned as empty lines, followed by its last part. A line at the end of the file is
   returned once its newline is there. Returns 1, 0 at the end, or -1 with errno. */
int io_lines_next(struct io_lines *l, const char **line, size_t *len);

/* Begins to list the directory `dir`. closedir() closes `dir`, and so does this function if it
   fails. Returns NULL with errno on failure. If `dir` is -1, returns NULL and leaves errno
   alone. */
DIR *io_list(int dir);

/* Removes a directory and all that is in it, as far as possible. */
void io_remove_tree(const char *path);

/* Whether the directory has an entry of that name; a dangling link is one, too. If it has none,
   sets errno. */
bool io_is_there(int dir, const char *name);

/* unlinkat() that keeps errno. */
void io_unlink(int dir, const char *name);

/* close() that keeps errno, ignores -1, and sets *fd to -1. */
void io_close(int *fd);

/* A new descriptor is 0, 1 or 2 if that standard stream was closed at the start. Duplicates such an
   `fd` above 2 (close-on-exec) and closes it, so that nothing mistakes it for the stream. Returns
   the descriptor to use, or -1 with errno. */
int io_above_standard(int fd);

/* Closes every descriptor from `first` on except the `count` ones in `keep`, which may contain -1.
   Does not loop over all numbers up to the limit. */
void io_close_others(int first, const int *keep, size_t count);

/* Opens /dev/null as the descriptors first..last, so that their numbers stay taken. */
void io_null(int first, int last);

/* Like send(2), but without sendto(2), which libc uses: the sandboxes of some agents (Codex) refuse
   it. */
ssize_t io_send(int fd, const void *data, size_t len, int flags);

#endif
