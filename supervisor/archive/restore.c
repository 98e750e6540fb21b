// Reading archives. See archive.h.
//
// The parts are written under temporary names (".ID.txt"; gc removes what a crash leaves of them)
// and get their own when all has come, the text last: then the artifact is there.

#include "config/settings.h"
#include "supervisor/archive/archive.h"
#include "supervisor/archive/unpack.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/meta_json.h"
#include "supervisor/artifact/recent.h"
#include "supervisor/artifact/stream.h"
#include "supervisor/base/buffer.h"
#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* 8 MB: archives of others may have been packed harder than ours. */
#define WINDOW_LOG 23

struct part {
	int fd;
	uint64_t bytes, size; /* written; of the file */
	struct index_writer index;
	struct buffer entries;
	bool indexing;
};

struct restore {
	const struct store *store;
	const char *session;
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
	memcpy(r->id, r->meta.id, sizeof(r->id));
	r->there = id_exists(r->store, r->id);
	if (r->there)
		return 1;
	if (id_claim_exact(r->store, r->session, r->id) < 0) {
		/* Somebody has it who has not written anything yet. */
		if (errno != EEXIST ||
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

static int on_json(struct restore *r, const char *data, size_t len)
{
	errno = EBADMSG;
	if (r->json.len + len > META_MAX)
		return -1;
	return buffer_append(&r->json, data, len);
}

static int on_data(void *ctx, enum unpack_part part, uint64_t offset, const char *data, size_t len)
{
	struct restore *r = ctx;
	if (part == UNPACK_JSON)
		return on_json(r, data, len);
	if (!r->parsed && begin(r) < 0)
		return -1;
	/* What is there stays; the rest of the archive is only checked. */
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

/* Only helps to find lines faster: what fails is left out. */
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
	m->keeper = m->command = 0;
	if (m->state == META_RUNNING)
		m->state = META_INTERRUPTED;
	m->raw_bytes = r->parts[UNPACK_RAW].fd < 0 ? 0 : m->raw_bytes;
	if (take_name(r, UNPACK_CAST) < 0 || take_name(r, UNPACK_RAW) < 0 ||
	    take_name(r, UNPACK_ERR) < 0 || meta_write(r->dir, m) < 0)
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

/* Nothing is left of it. */
static void undo(struct restore *r)
{
	int saved = errno;
	char name[32];
	for (int i = 0; r->claimed && i < UNPACK_PARTS; i++) {
		name_part(r, ".", unpack_names[i], name);
		unlinkat(r->dir, name, 0);
	}
	for (size_t i = 0; r->claimed && id_suffixes[i]; i++) {
		snprintf(name, sizeof(name), "%s%s", r->id, id_suffixes[i]);
		unlinkat(r->dir, name, 0);
	}
	if (r->claimed)
		id_release(r->store, r->id);
	errno = saved;
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
			return left == 0 && unpack_is_complete(u) ? 0 : -1;
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
		ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, WINDOW_LOG);
		result = restore_read_frame(fd, zstd, packed, packed_size, plain, plain_size, u);
	}
	int saved = errno;
	ZSTD_freeDCtx(zstd);
	free(packed);
	free(plain);
	errno = saved;
	return result;
}

int archive_restore(const struct store *s, const char *session, int fd,
		    const struct settings *settings, struct archive_restored *restored)
{
	struct restore r = {
		.store = s,
		.session = session,
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
	/* It may have been here before: no line tells of that any more. */
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
