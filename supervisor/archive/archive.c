// Writing archives. See archive.h.

#include "supervisor/archive/archive.h"

#include "supervisor/archive/unpack.h"
#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define BLOCK ((size_t)256 * 1024)
#define LEVEL 6
/* 2 MB: what a reader has to have in memory. */
#define WINDOW_LOG 21

struct writer {
	ZSTD_CCtx *zstd;
	int fd;
	char *block, *packed;
	size_t packed_size;
};

static int archive_put(struct writer *w, const char *data, size_t len, ZSTD_EndDirective mode)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {w->packed, w->packed_size, 0};
		left = ZSTD_compressStream2(w->zstd, &out, &in, mode);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return -1;
		}
		if (io_write(w->fd, w->packed, out.pos) < 0)
			return -1;
	} while (mode == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

static int put_head(struct writer *w, const char *name, uint64_t offset, uint64_t len)
{
	char line[UNPACK_LINE];
	int n = snprintf(line, sizeof(line), "%s %llu %llu\n", name, (unsigned long long)offset,
			 (unsigned long long)len);
	return archive_put(w, line, (size_t)n, ZSTD_e_continue);
}

/* The next bytes of a file that are none of a hole: from *from on, up to *to. Returns false if
   there are none. */
static bool next_data(int fd, off_t size, off_t *from, off_t *to)
{
	off_t data = lseek(fd, *from, SEEK_DATA);
	if (data < 0 && errno == ENXIO)
		return false;
	if (data >= 0)
		*from = data;
	off_t hole = data < 0 ? size : lseek(fd, *from, SEEK_HOLE);
	*to = hole < 0 || hole > size ? size : hole;
	return *from < size;
}

static int put_part(struct writer *w, int dir, const char *id, const char *name)
{
	char file[ID_LEN + 16];
	struct stat st;
	int result = -1;
	snprintf(file, sizeof(file), "%s.%s", id, name);
	int fd = store_open_file(dir, file, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	if (fstat(fd, &st) < 0)
		goto out;
	off_t at = 0, end = 0;
	while (next_data(fd, st.st_size, &at, &end)) {
		size_t want = (uint64_t)(end - at) < BLOCK ? (size_t)(end - at) : BLOCK;
		ssize_t n = io_read_at(fd, w->block, want, at);
		if (n < 0 || (n > 0 && (put_head(w, name, (uint64_t)at, (uint64_t)n) < 0 ||
					archive_put(w, w->block, (size_t)n, ZSTD_e_continue) < 0)))
			goto out;
		if (n == 0)
			break;
		at += n;
	}
	result = put_head(w, name, (uint64_t)st.st_size, 0);
out:
	io_close(&fd);
	return result;
}

static int put_metadata(struct writer *w, int dir, const char *id)
{
	char file[ID_LEN + 16];
	snprintf(file, sizeof(file), "%s.%s", id, unpack_names[UNPACK_JSON]);
	ssize_t n = -1;
	char *text = malloc(META_MAX + 1);
	int fd = text ? store_open_file(dir, file, O_RDONLY) : -1;
	if (fd >= 0)
		n = io_read(fd, text, META_MAX + 1);
	int result = -1;
	if (n == 0 || n > META_MAX)
		errno = EBADMSG;
	else if (n > 0 && put_head(w, unpack_names[UNPACK_JSON], 0, (uint64_t)n) == 0)
		result = archive_put(w, text, (size_t)n, ZSTD_e_continue);
	io_close(&fd);
	free(text);
	return result;
}

static int put_all(struct writer *w, int dir, const char *id)
{
	if (archive_put(w, UNPACK_MAGIC, strlen(UNPACK_MAGIC), ZSTD_e_continue) < 0 ||
	    put_metadata(w, dir, id) < 0)
		return -1;
	for (int i = UNPACK_TEXT; i < UNPACK_PARTS; i++) {
		if (put_part(w, dir, id, unpack_names[i]) < 0)
			return -1;
	}
	return archive_put(w, "end\n", 4, ZSTD_e_end);
}

int archive_write(int dir, const char *id, int fd)
{
	char name[ID_LEN + 5];
	struct writer w = {.fd = fd, .packed_size = ZSTD_CStreamOutSize()};
	int result = -1;
	snprintf(name, sizeof(name), "%s.txt", id);
	int text = store_open_file(dir, name, O_RDONLY);
	if (text < 0)
		return -1;
	/* As long as it is read nobody removes it. */
	if (flock(text, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		goto out;
	}
	w.zstd = ZSTD_createCCtx();
	w.block = malloc(BLOCK);
	w.packed = malloc(w.packed_size);
	if (!w.zstd || !w.block || !w.packed) {
		errno = ENOMEM;
		goto out;
	}
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_checksumFlag, 1);
	result = put_all(&w, dir, id);
out:
	ZSTD_freeCCtx(w.zstd);
	free(w.block);
	free(w.packed);
	io_close(&text);
	return result;
}
