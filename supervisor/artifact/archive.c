// See archive.h.

#include "supervisor/artifact/archive.h"

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/history.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/stream.h"

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
#define ARCHIVE_WINDOW_LOG 21

/* A header line, and a number in it: up to 2^53. */
#define UNPACK_MAGIC "terse-archive 1\n"
#define UNPACK_LINE  64
#define UNPACK_MAX   ((uint64_t)1 << 53)

enum unpack_part {
	UNPACK_JSON,
	UNPACK_TEXT,
	UNPACK_ERR,
	UNPACK_RAW,
	UNPACK_CAST,
	UNPACK_SHOWN,
	UNPACK_PARTS
};

static const char *const unpack_names[UNPACK_PARTS] = {
	[UNPACK_JSON] = "json", [UNPACK_TEXT] = "txt",  [UNPACK_ERR] = "err.txt",
	[UNPACK_RAW] = "raw",   [UNPACK_CAST] = "cast", [UNPACK_SHOWN] = "shown",
};

struct writer {
	ZSTD_CCtx *zstd;
	int fd;
	char *block, *packed;
	size_t packed_size;
	void (*tell)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t done, total; /* bytes of the files, without holes */
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

/* The next bytes of a file that are not in a hole: from *from on, up to *to. Returns false if there
   are none. */
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

/* What the parts have on disk. */
static uint64_t part_sizes(int dir, const char *id)
{
	uint64_t total = 0;
	for (int i = UNPACK_TEXT; i < UNPACK_PARTS; i++) {
		char file[ID_LEN + 16];
		struct stat st;
		snprintf(file, sizeof(file), "%s.%s", id, unpack_names[i]);
		if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
			total += (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size
					 ? (uint64_t)st.st_blocks * 512
					 : (uint64_t)st.st_size;
	}
	return total;
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
		w->done += (uint64_t)n;
		if (w->tell)
			w->tell(w->ctx, w->done, w->total);
	}
	result = put_head(w, name, (uint64_t)st.st_size, 0);
out:
	io_close(&fd);
	return result;
}

static int put_metadata(struct writer *w, int dir, const char *id)
{
	ssize_t n = -1;
	char *text = malloc(META_MAX + 1);
	int fd = text ? id_open_file(dir, id, ".json", O_RDONLY) : -1;
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

int archive_write(int dir, const char *id, int fd,
		  void (*tell)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	struct writer w = {
		.fd = fd, .packed_size = ZSTD_CStreamOutSize(), .tell = tell, .ctx = ctx};
	int result = -1;
	int text = id_open_file(dir, id, ".txt", O_RDONLY);
	if (text < 0)
		return -1;
	/* The lock keeps others from removing it meanwhile. */
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
	w.total = tell ? part_sizes(dir, id) : 0;
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_windowLog, ARCHIVE_WINDOW_LOG);
	ZSTD_CCtx_setParameter(w.zstd, ZSTD_c_checksumFlag, 1);
	result = put_all(&w, dir, id);
out:
	ZSTD_freeCCtx(w.zstd);
	free(w.block);
	free(w.packed);
	io_close(&text);
	return result;
}

/* --- reading: the content as it comes, in pieces of any length and from anywhere ---------- */

struct unpack {
	/* Gets the next bytes of a part, at ascending offsets of its file. The JSON is there before
	   the first bytes of another part. `len` 0: the size of the file is `offset`. Returns 0, or
	   -1 with errno. */
	int (*data)(void *ctx, enum unpack_part part, uint64_t offset, const char *data,
		    size_t len);
	void *ctx;

	enum { UNPACK_BEGIN, UNPACK_HEAD, UNPACK_BODY, UNPACK_END } state;
	char line[UNPACK_LINE];
	size_t line_len;
	enum unpack_part part;
	uint64_t offset, left;
	uint64_t ends[UNPACK_PARTS]; /* of the bytes so far */
	bool begun[UNPACK_PARTS];
};

static int unpack_refuse(void)
{
	errno = EBADMSG;
	return -1;
}

/* A blank and a number up to UNPACK_MAX, without needless zeros. Moves *at behind them. */
static bool unpack_take_number(const char **at, uint64_t *n)
{
	const char *c = *at;
	if (*c++ != ' ' || *c < '0' || *c > '9' || (*c == '0' && c[1] >= '0' && c[1] <= '9'))
		return false;
	for (*n = 0; *c >= '0' && *c <= '9'; c++) {
		*n = *n * 10 + (uint64_t)(*c - '0');
		if (*n > UNPACK_MAX)
			return false;
	}
	*at = c;
	return true;
}

static int begin_part(struct unpack *u)
{
	uint64_t len;
	size_t i = 0, n = strcspn(u->line, " ");
	if (strcmp(u->line, "end") == 0 && u->begun[UNPACK_TEXT]) {
		u->state = UNPACK_END;
		return 0;
	}
	while (i < UNPACK_PARTS &&
	       (strlen(unpack_names[i]) != n || memcmp(u->line, unpack_names[i], n) != 0))
		i++;
	const char *at = u->line + n;
	if (i == UNPACK_PARTS || !unpack_take_number(&at, &u->offset) ||
	    !unpack_take_number(&at, &len) || *at || u->offset + len > UNPACK_MAX ||
	    u->offset < u->ends[i])
		return unpack_refuse();
	bool json = i == UNPACK_JSON;
	if (json ? u->begun[UNPACK_JSON] || u->offset > 0 || len == 0 : !u->begun[UNPACK_JSON])
		return unpack_refuse();
	u->begun[i] = true;
	u->part = (enum unpack_part)i;
	u->ends[i] = u->offset + len;
	u->left = len;
	if (len == 0)
		return u->data(u->ctx, u->part, u->offset, NULL, 0);
	u->state = UNPACK_BODY;
	return 0;
}

/* Collects a line; returns how many bytes of it there were, or -1. */
static long unpack_take_line(struct unpack *u, const char *data, size_t len)
{
	size_t n = 0;
	while (n < len && data[n] != '\n') {
		if (u->line_len == UNPACK_LINE - 1 || data[n] == '\0')
			return unpack_refuse();
		u->line[u->line_len++] = data[n++];
	}
	if (n == len)
		return (long)n;
	u->line[u->line_len] = '\0';
	u->line_len = 0;
	if (u->state == UNPACK_HEAD)
		return begin_part(u) < 0 ? -1 : (long)n + 1;
	if (strncmp(u->line, UNPACK_MAGIC, strlen(UNPACK_MAGIC) - 1) != 0 ||
	    strlen(u->line) != strlen(UNPACK_MAGIC) - 1)
		return unpack_refuse();
	u->state = UNPACK_HEAD;
	return (long)n + 1;
}

/* A zeroed one with the first two members set is a new one. Returns 0, or -1 with errno EBADMSG
   or that of data(); then it must not be fed any more. */
static int unpack_feed(struct unpack *u, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = len;
		if (u->state == UNPACK_END)
			return unpack_refuse();
		if (u->state == UNPACK_BODY) {
			if (n > u->left)
				n = (size_t)u->left;
			if (u->data(u->ctx, u->part, u->offset, data, n) < 0)
				return -1;
			u->offset += n;
			u->left -= n;
			if (u->left == 0)
				u->state = UNPACK_HEAD;
		} else {
			long taken = unpack_take_line(u, data, len);
			if (taken < 0)
				return -1;
			n = (size_t)taken;
		}
		data += n;
		len -= n;
	}
	return 0;
}

// Restoring an artifact.
//
// The parts are written under temporary names (".ID.txt"; gc removes what a crash leaves of them)
// and get their own when all has come, the text last: then the artifact is there.

/* 8 MB: archives of others may have been packed harder than ours. */
#define RESTORE_WINDOW_LOG 23

struct part {
	int fd;
	uint64_t bytes, size; /* written; of the file */
	struct index_writer index;
	struct buffer entries;
	bool indexing;
};

struct restore {
	const struct store *store;
	const char *session, *wanted; /* wanted: its ID, or NULL */
	uint64_t max_bytes, min_free;
	int dir;
	struct buffer json;
	struct meta meta; /* points into its own memory */
	bool parsed, claimed, there;
	char id[ID_LEN + 1];
	struct part parts[UNPACK_PARTS];
};

static void name_part(const struct restore *r, const char *prefix, const char *part, char out[32])
{
	snprintf(out, 32, "%s%s.%s", prefix, r->id, part);
}

/* All of the metadata is there: takes the ID. Returns 0; 1 if the artifact is there already. */
static int begin(struct restore *r)
{
	if (meta_parse(r->json.data, r->json.len, &r->meta) < 0)
		return -1;
	r->parsed = true;
	errno = EBADMSG;
	if (!id_is_valid(r->meta.id))
		return -1;
	errno = EXDEV;
	if (r->wanted && strcmp(r->wanted, r->meta.id) != 0)
		return -1;
	memcpy(r->id, r->meta.id, sizeof(r->id));
	r->there = id_exists(r->store, r->id);
	if (r->there)
		return 1;
	if (id_claim_exact(r->store, r->session, r->id) < 0) {
		/* A run that has written nothing yet has claimed the ID. */
		if (errno != EEXIST || r->wanted ||
		    id_claim(r->store, r->session, r->meta.started_ms, r->id) < 0)
			return -1;
	}
	r->claimed = true;
	return 0;
}

static int restore_open_part(struct restore *r, enum unpack_part part)
{
	struct part *p = &r->parts[part];
	char name[32];
	if (p->fd >= 0)
		return 0;
	name_part(r, ".", unpack_names[part], name);
	p->fd = store_open_file(r->dir, name, O_RDWR | O_CREAT | O_EXCL);
	p->indexing = (part == UNPACK_TEXT || part == UNPACK_ERR) &&
		      index_init(&p->index, &p->entries) == 0;
	return p->fd < 0 ? -1 : 0;
}

static int on_data(void *ctx, enum unpack_part part, uint64_t offset, const char *data, size_t len)
{
	struct restore *r = ctx;
	if (part == UNPACK_JSON)
		return r->json.len + len > META_MAX ? unpack_refuse()
						    : buffer_try_append(&r->json, data, len);
	if (!r->parsed && begin(r) < 0)
		return -1;
	/* An artifact that exists stays as it is; the rest of the archive is only checked. */
	if (r->there)
		return 0;
	struct part *p = &r->parts[part];
	if (restore_open_part(r, part) < 0)
		return -1;
	if (len == 0) {
		p->size = offset;
		return ftruncate(p->fd, (off_t)offset);
	}
	p->bytes += len;
	p->size = offset + len;
	if (p->bytes > r->max_bytes) {
		errno = EFBIG;
		return -1;
	}
	if (!stream_has_room(p->fd, r->min_free))
		return -1;
	/* Lines behind a hole have numbers that the file does not tell. */
	if (p->indexing && (p->index.bytes != offset || index_feed(&p->index, data, len) < 0))
		p->indexing = false;
	return io_write_at(p->fd, data, len, (off_t)offset);
}

/* Best effort: the index only speeds up finding lines. */
static void write_index(struct restore *r, enum unpack_part part)
{
	const struct part *p = &r->parts[part];
	char name[32];
	if (!p->indexing || p->index.lines < INDEX_STRIDE)
		return;
	name_part(r, "", part == UNPACK_TEXT ? "idx" : "err.idx", name);
	int fd = store_open_file(r->dir, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd >= 0 && io_write(fd, p->entries.data, p->entries.len) < 0)
		unlinkat(r->dir, name, 0);
	io_close(&fd);
}

static int take_name(const struct restore *r, enum unpack_part part)
{
	char temporary[32], name[32];
	if (r->parts[part].fd < 0)
		return 0;
	name_part(r, ".", unpack_names[part], temporary);
	name_part(r, "", unpack_names[part], name);
	return renameat(r->dir, temporary, r->dir, name);
}

/* All has come. */
static int restore_finish(struct restore *r)
{
	struct meta *m = &r->meta;
	memcpy(m->id, r->id, sizeof(m->id));
	m->session = r->session;
	m->supervisor = m->command = 0;
	if (m->state == META_RUNNING)
		m->state = META_INTERRUPTED;
	m->raw_bytes = r->parts[UNPACK_RAW].fd < 0 ? 0 : m->raw_bytes;
	if (take_name(r, UNPACK_SHOWN) < 0 || take_name(r, UNPACK_CAST) < 0 ||
	    take_name(r, UNPACK_RAW) < 0 || take_name(r, UNPACK_ERR) < 0 ||
	    meta_write(r->dir, m) < 0)
		return -1;
	write_index(r, UNPACK_TEXT);
	write_index(r, UNPACK_ERR);
	/* A gc may have given the ID back, if this took long. */
	if (id_claim_exact(r->store, r->session, r->id) < 0 && errno != EEXIST)
		return -1;
	if (recent_append(r->dir, r->id) < 0)
		return -1;
	return take_name(r, UNPACK_TEXT);
}

/* Removes everything that was restored so far. */
static void undo(struct restore *r)
{
	int saved = errno;
	if (!r->claimed)
		return;
	for (int i = 0; i < UNPACK_PARTS; i++) {
		char name[32];
		name_part(r, ".", unpack_names[i], name);
		unlinkat(r->dir, name, 0);
	}
	errno = saved;
	id_remove_files(r->dir, r->id);
	id_release(r->store, r->id);
}

/* Decompresses `fd` and feeds it. One frame, and nothing behind it. */
static int restore_read_frame(int fd, ZSTD_DCtx *zstd, char *packed, size_t packed_size,
			      char *plain, size_t plain_size, struct unpack *u)
{
	size_t left = 1;
	for (;;) {
		ssize_t n = io_read(fd, packed, packed_size);
		if (n < 0)
			return -1;
		ZSTD_inBuffer in = {packed, (size_t)n, 0};
		errno = EBADMSG;
		if (n == 0)
			return left == 0 && u->state == UNPACK_END ? 0 : -1;
		bool more = true;
		while (in.pos < in.size || more) {
			ZSTD_outBuffer out = {plain, plain_size, 0};
			errno = EBADMSG;
			if (left == 0)
				return -1;
			left = ZSTD_decompressStream(zstd, &out, &in);
			errno = EBADMSG;
			if (ZSTD_isError(left) || unpack_feed(u, plain, out.pos) < 0)
				return -1;
			more = left > 0 && out.pos == out.size;
		}
	}
}

static int read_archive(int fd, struct unpack *u)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	size_t packed_size = ZSTD_DStreamInSize(), plain_size = ZSTD_DStreamOutSize();
	char *packed = malloc(packed_size), *plain = malloc(plain_size);
	int result = -1;
	errno = ENOMEM;
	if (zstd && packed && plain) {
		ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, RESTORE_WINDOW_LOG);
		result = restore_read_frame(fd, zstd, packed, packed_size, plain, plain_size, u);
	}
	int saved = errno;
	ZSTD_freeDCtx(zstd);
	free(packed);
	free(plain);
	errno = saved;
	return result;
}

int archive_restore(const struct store *s, const char *session, const char *id, int fd,
		    const struct settings *settings, struct archive_restored *restored)
{
	struct restore r = {
		.store = s,
		.session = session,
		.wanted = id,
		.max_bytes = (uint64_t)settings->max_artifact,
		.min_free = (uint64_t)settings->min_free,
		.dir = store_open_session(s, session, true),
	};
	struct unpack u = {.data = on_data, .ctx = &r};
	int result = -1;
	for (int i = 0; i < UNPACK_PARTS; i++)
		r.parts[i].fd = -1;
	if (r.dir < 0)
		return -1;
	/* Drop the old line if the artifact was in this session before. */
	recent_compact(r.dir);
	result = read_archive(fd, &u);
	if (result == 0 && !r.there)
		result = restore_finish(&r);
	if (result < 0)
		undo(&r);
	*restored = (struct archive_restored){
		.there = r.there, .lines = r.meta.out.lines, .bytes = r.parts[UNPACK_TEXT].size};
	memcpy(restored->id, r.id, sizeof(r.id));
	int saved = errno;
	for (int i = 0; i < UNPACK_PARTS; i++) {
		io_close(&r.parts[i].fd);
		buffer_release(&r.parts[i].entries);
	}
	if (r.parsed)
		meta_release(&r.meta);
	buffer_release(&r.json);
	io_close(&r.dir);
	errno = saved;
	return result;
}
