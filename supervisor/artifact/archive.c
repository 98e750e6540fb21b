// See archive.h.

#include "supervisor/artifact/archive.h"

#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/artifact/index.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#define BLOCK ((size_t)256 * 1024)
#define LEVEL 6
/* 2 MB: what a reader has to have in memory. Archives of others may have been packed harder. */
#define PACK_WINDOW_LOG   21
#define UNPACK_WINDOW_LOG 23

enum part { PART_JSON, PART_TEXT, PART_ERR, PART_RAW, PART_CAST, PART_SHOWN, PARTS };

static const char *const suffixes[PARTS] = {
	[PART_JSON] = "json", [PART_TEXT] = "txt",  [PART_ERR] = "err.txt",
	[PART_RAW] = "raw",   [PART_CAST] = "cast", [PART_SHOWN] = "shown",
};

/* What follows the gap of a text stands in a member of its own. */
#define REST_PREFIX "rest."

/* The line that announces a gap fits into so many bytes (lib/gap.h). */
#define NOTICE_MOST ((uint64_t)512)

/* Bytes of a part's file that are a member: up to the gap, and behind it. */
struct range {
	uint64_t from, to;
};

static void part_ranges(const struct meta *m, enum part part, uint64_t size, struct range ranges[2])
{
	const struct meta_stream *s = part == PART_TEXT  ? &m->out
				      : part == PART_ERR ? &m->err
							 : NULL;
	ranges[0] = (struct range){0, size};
	ranges[1] = (struct range){size, size};
	if (!s || s->gap_bytes <= NOTICE_MOST || s->gap_offset + s->gap_bytes > size)
		return;
	ranges[0].to = s->gap_offset + NOTICE_MOST;
	ranges[1].from = s->gap_offset + s->gap_bytes - 1;
}

/* --- members: ustar headers (POSIX.1-2008, pax interchange format) ------------- */

#define TAR_BLOCK ((size_t)512)
/* Blocks of zeros behind the last member. */
#define TAR_END (2 * TAR_BLOCK)

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type, link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], unused[12];
};

_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is a block");

/* The sum of a header's bytes, those of the sum itself as blanks. */
static unsigned tar_sum(const struct tar_header *h)
{
	const unsigned char *bytes = (const unsigned char *)h;
	unsigned sum = sizeof(h->checksum) * ' ';
	for (size_t i = 0; i < sizeof(*h); i++)
		sum += bytes[i];
	for (size_t i = 0; i < sizeof(h->checksum); i++)
		sum -= (unsigned char)h->checksum[i];
	return sum;
}

static size_t tar_padding(uint64_t len)
{
	return (size_t)(-len % TAR_BLOCK);
}

static void tar_make(struct tar_header *h, const char *name, uint64_t size, int64_t mtime_s)
{
	*h = (struct tar_header){.mode = "0000600",
				 .uid = "0000000",
				 .gid = "0000000",
				 .type = '0',
				 .magic = "ustar",
				 .version = {'0', '0'}};
	snprintf(h->name, sizeof(h->name), "%s", name);
	snprintf(h->mtime, sizeof(h->mtime), "%011" PRIo64, (uint64_t)mtime_s & 077777777777);
	snprintf(h->size, sizeof(h->size), "%011" PRIo64, size & 077777777777);
	/* From 8 GiB on as a binary number, as GNU's tar has it. */
	if (size > 077777777777) {
		h->size[0] = (char)0x80;
		for (int i = 11; i > 0; i--, size >>= 8)
			h->size[i] = (char)(size & 0xff);
	}
	snprintf(h->checksum, sizeof(h->checksum), "%06o", tar_sum(h));
	h->checksum[7] = ' ';
}

/* Reads a field. Returns whether it is a number that a size may be. */
static bool tar_number(const char *field, size_t len, uint64_t *n)
{
	bool binary = field[0] == (char)0x80;
	size_t i = binary;
	for (*n = 0; i < len && (binary || (field[i] >= '0' && field[i] < '8')); i++) {
		if (*n > (uint64_t)1 << 48)
			return false;
		*n = binary ? *n << 8 | (unsigned char)field[i]
			    : *n << 3 | (uint64_t)(field[i] - '0');
	}
	return i == len || (i > 0 && (field[i] == ' ' || field[i] == '\0'));
}

/* --- writing ------------------------------------------------------------------ */

struct packer {
	ZSTD_CCtx *zstd;
	int fd;
	char *block, *packed;
	size_t packed_size;
	void (*tell)(void *ctx, uint64_t done, uint64_t total);
	void *ctx;
	uint64_t done, total; /* bytes of the files, without holes */
};

static int pack(struct packer *p, const char *data, size_t len, ZSTD_EndDirective mode)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;
	do {
		ZSTD_outBuffer out = {p->packed, p->packed_size, 0};
		left = ZSTD_compressStream2(p->zstd, &out, &in, mode);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			return -1;
		}
		if (io_write(p->fd, p->packed, out.pos) < 0)
			return -1;
	} while (mode == ZSTD_e_end ? left > 0 : in.pos < in.size);
	return 0;
}

static int pack_zeros(struct packer *p, size_t len, ZSTD_EndDirective mode)
{
	static const char zeros[TAR_END];
	return pack(p, zeros, len, mode);
}

static int pack_part(struct packer *p, int dir, const char *id, enum part part,
		     const struct meta *meta)
{
	struct range ranges[2];
	struct stat st;
	char name[ID_LEN + 24];
	int result = -1;
	snprintf(name, sizeof(name), "%s.%s", id, suffixes[part]);
	int fd = store_open_file(dir, name, O_RDONLY);
	if (fd < 0)
		return errno == ENOENT && part != PART_JSON ? 0 : -1;
	if (fstat(fd, &st) < 0)
		goto out;
	part_ranges(meta, part, (uint64_t)st.st_size, ranges);
	for (int i = 0; i < 2 && (i == 0 || ranges[i].to > ranges[i].from); i++) {
		struct tar_header h;
		snprintf(name, sizeof(name), "%s.%s%s", id, i == 0 ? "" : REST_PREFIX,
			 suffixes[part]);
		tar_make(&h, name, ranges[i].to - ranges[i].from, st.st_mtim.tv_sec);
		if (pack(p, (const char *)&h, sizeof(h), ZSTD_e_continue) < 0)
			goto out;
		for (uint64_t at = ranges[i].from; at < ranges[i].to;) {
			uint64_t left = ranges[i].to - at;
			size_t want = left < BLOCK ? (size_t)left : BLOCK;
			if (io_read_whole(fd, p->block, want, (off_t)at) < 0 ||
			    pack(p, p->block, want, ZSTD_e_continue) < 0)
				goto out;
			at += want;
			p->done += want;
			if (p->tell)
				p->tell(p->ctx, p->done, p->total);
		}
		if (pack_zeros(p, tar_padding(ranges[i].to - ranges[i].from), ZSTD_e_continue) < 0)
			goto out;
	}
	result = 0;
out:
	io_close(&fd);
	return result;
}

/* What the parts have on disk. */
static uint64_t part_sizes(int dir, const char *id)
{
	uint64_t total = 0;
	for (int i = 0; i < PARTS; i++) {
		char file[ID_LEN + 16];
		struct stat st;
		snprintf(file, sizeof(file), "%s.%s", id, suffixes[i]);
		if (fstatat(dir, file, &st, AT_SYMLINK_NOFOLLOW) == 0)
			total += (uint64_t)st.st_blocks * 512 < (uint64_t)st.st_size
					 ? (uint64_t)st.st_blocks * 512
					 : (uint64_t)st.st_size;
	}
	return total;
}

int archive_write(int dir, const char *id, int fd,
		  void (*tell)(void *ctx, uint64_t done, uint64_t total), void *ctx)
{
	struct packer p = {
		.fd = fd, .packed_size = ZSTD_CStreamOutSize(), .tell = tell, .ctx = ctx};
	struct meta meta;
	int result = -1;
	int text = id_open_file(dir, id, ".txt", O_RDONLY);
	if (text < 0)
		return -1;
	/* The lock keeps others from removing it meanwhile. */
	if (flock(text, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		goto out;
	}
	if (meta_read(dir, id, &meta) < 0)
		goto out;
	p.zstd = ZSTD_createCCtx();
	p.block = malloc(BLOCK);
	p.packed = malloc(p.packed_size);
	errno = ENOMEM;
	result = p.zstd && p.block && p.packed ? 0 : -1;
	if (result == 0) {
		p.total = tell ? part_sizes(dir, id) : 0;
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_windowLog, PACK_WINDOW_LOG);
		ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
	}
	for (int i = 0; result == 0 && i < PARTS; i++)
		result = pack_part(&p, dir, id, (enum part)i, &meta);
	if (result == 0)
		result = pack_zeros(&p, TAR_END, ZSTD_e_end);
	meta_release(&meta);
out:
	ZSTD_freeCCtx(p.zstd);
	free(p.block);
	free(p.packed);
	io_close(&text);
	return result;
}

/* --- restoring ---------------------------------------------------------------- */

/* Decompresses one frame, as it is asked for. */
struct unpacker {
	int fd;
	ZSTD_DCtx *zstd;
	char *packed;
	size_t packed_size;
	ZSTD_inBuffer in;
	bool ended; /* the frame, and its checksum is right */
};

static int unpack_begin(struct unpacker *u)
{
	u->zstd = ZSTD_createDCtx();
	u->packed_size = ZSTD_DStreamInSize();
	u->packed = malloc(u->packed_size);
	errno = ENOMEM;
	if (!u->zstd || !u->packed)
		return -1;
	ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, UNPACK_WINDOW_LOG);
	return 0;
}

static void unpack_end(struct unpacker *u)
{
	ZSTD_freeDCtx(u->zstd);
	free(u->packed);
}

static int refuse(void)
{
	errno = EBADMSG;
	return -1;
}

/* Takes up to `len` bytes, 0 at the end of the frame. Returns how many, or -1 with errno. */
static ssize_t unpack_some(struct unpacker *u, void *data, size_t len)
{
	ZSTD_outBuffer out = {data, len, 0};
	while (out.pos < len && !u->ended) {
		size_t before = u->in.pos;
		size_t left = ZSTD_decompressStream(u->zstd, &out, &u->in);
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) {
			errno = ENOMEM;
			return -1;
		}
		if (ZSTD_isError(left))
			return refuse();
		u->ended = left == 0;
		if (u->ended || out.pos == len || u->in.pos < u->in.size || u->in.pos > before)
			continue;
		ssize_t n = io_read(u->fd, u->packed, u->packed_size);
		if (n <= 0)
			return n < 0 ? -1 : refuse();
		u->in = (ZSTD_inBuffer){u->packed, (size_t)n, 0};
	}
	return (ssize_t)out.pos;
}

static int unpack_all(struct unpacker *u, void *data, size_t len)
{
	ssize_t n = unpack_some(u, data, len);
	return n < 0 ? -1 : (size_t)n == len ? 0 : refuse();
}

// The parts are written under temporary names (".ID.txt"; gc removes what a crash leaves of them)
// and get their own when all has come, the text last: then the artifact is there.

struct restored_part {
	int fd;
	uint64_t size, stored; /* of the file; without its gap */
	struct index_writer index;
	struct buffer entries;
	bool indexing;
};

struct restore {
	const struct store *store;
	const char *session, *wanted; /* wanted: its ID, or NULL */
	uint64_t max_bytes, min_free;
	int dir;
	struct unpacker from;
	char *block;
	struct buffer json;
	struct meta meta; /* points into its own memory */
	bool parsed, claimed, there;
	char packed_id[ID_LEN + 1]; /* in the archive */
	char id[ID_LEN + 1];        /* here */
	struct restored_part parts[PARTS];
};

static void name_part(const struct restore *r, const char *prefix, const char *part, char out[32])
{
	snprintf(out, 32, "%s%s.%s", prefix, r->id, part);
}

/* ID.json, all about the rest: takes the ID. Returns 0, or -1 with errno. */
static int restore_metadata(struct restore *r, uint64_t size)
{
	if (r->parsed || size == 0 || size > META_MAX)
		return refuse();
	if (buffer_reserve(&r->json, (size_t)size) < 0 ||
	    unpack_all(&r->from, r->json.data, (size_t)size) < 0)
		return -1;
	r->json.len = (size_t)size;
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
	memcpy(r->packed_id, r->id, sizeof(r->id));
	r->there = id_exists(r->store, r->id);
	if (r->there)
		return 0;
	if (id_claim_exact(r->store, r->session, r->id) < 0) {
		/* A run that has written nothing yet has claimed the ID. */
		if (errno != EEXIST || r->wanted ||
		    id_claim(r->store, r->session, r->meta.started_ms, r->id) < 0)
			return -1;
	}
	r->claimed = true;
	return 0;
}

/* Opens the file of a part. Returns where the next `size` bytes of it belong, or -1 with errno. */
static int64_t restore_open(struct restore *r, enum part part, bool rest, uint64_t size)
{
	struct restored_part *p = &r->parts[part];
	struct range ranges[2];
	char name[32];
	part_ranges(&r->meta, part, INT64_MAX, ranges);
	/* The rest stands where the metadata say, behind all that came before the gap. */
	if (rest ? p->fd < 0 || ranges[1].from == INT64_MAX || p->size != ranges[0].to : p->fd >= 0)
		return refuse();
	if (p->stored + size > r->max_bytes) {
		errno = EFBIG;
		return -1;
	}
	p->stored += size;
	p->size = (rest ? ranges[1].from : 0) + size;
	if (rest)
		return (int64_t)ranges[1].from;
	name_part(r, ".", suffixes[part], name);
	p->fd = store_open_file(r->dir, name, O_RDWR | O_CREAT | O_EXCL);
	p->indexing =
		(part == PART_TEXT || part == PART_ERR) && index_init(&p->index, &p->entries) == 0;
	return p->fd < 0 ? -1 : 0;
}

/* An artifact that exists stays as it is; its archive is only checked. */
static int restore_part(struct restore *r, enum part part, bool rest, uint64_t size)
{
	int64_t at = r->there ? 0 : restore_open(r, part, rest, size);
	if (at < 0)
		return -1;
	for (uint64_t done = 0; done < size;) {
		size_t want = size - done < BLOCK ? (size_t)(size - done) : BLOCK;
		uint64_t offset = (uint64_t)at + done;
		struct restored_part *p = &r->parts[part];
		done += want;
		if (unpack_all(&r->from, r->block, want) < 0)
			return -1;
		if (r->there)
			continue;
		if (!store_has_room(p->fd, r->min_free))
			return -1;
		/* Lines behind a gap have numbers that the file does not tell. */
		if (p->indexing &&
		    (p->index.bytes != offset || index_feed(&p->index, r->block, want) < 0))
			p->indexing = false;
		if (io_write_at(p->fd, r->block, want, (off_t)offset) < 0)
			return -1;
	}
	return 0;
}

/* The part that a member's name means, and whether it is the rest of it. */
static enum part part_of(const struct restore *r, const char *name, bool *rest)
{
	int part = PART_JSON;
	if (strncmp(name, "./", 2) == 0)
		name += 2;
	size_t id = strcspn(name, ".");
	if (id != ID_LEN || !name[id] || (r->parsed && memcmp(name, r->packed_id, id) != 0))
		return PARTS;
	name += id + 1;
	*rest = strncmp(name, REST_PREFIX, strlen(REST_PREFIX)) == 0;
	name += *rest ? strlen(REST_PREFIX) : 0;
	while (part < PARTS && strcmp(name, suffixes[part]) != 0)
		part++;
	return (enum part)part;
}

/* Reads the next member. Returns 1; 0: there is none; -1 with errno. */
static int restore_member(struct restore *r)
{
	static const struct tar_header zeros;
	struct tar_header h;
	char name[sizeof(h.name) + 1];
	uint64_t size, sum;
	bool rest;
	if (unpack_all(&r->from, &h, sizeof(h)) < 0)
		return -1;
	if (memcmp(&h, &zeros, sizeof(h)) == 0)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)sizeof(h.name), h.name);
	if (!tar_number(h.checksum, sizeof(h.checksum), &sum) || sum != tar_sum(&h) ||
	    !tar_number(h.size, sizeof(h.size), &size) || h.type != '0')
		return refuse();
	enum part part = part_of(r, name, &rest);
	if (part == PARTS || (part == PART_JSON) == r->parsed)
		return refuse();
	if ((part == PART_JSON ? restore_metadata(r, size) : restore_part(r, part, rest, size)) <
		    0 ||
	    unpack_all(&r->from, r->block, tar_padding(size)) < 0)
		return -1;
	return 1;
}

/* Returns 0, or -1 with errno. */
static int restore_members(struct restore *r)
{
	char next;
	int got;
	ssize_t n;
	while ((got = restore_member(r)) == 1)
		;
	if (got < 0)
		return -1;
	if (!r->parsed || (!r->there && r->parts[PART_TEXT].fd < 0))
		return refuse();
	/* Behind the last member: zeros to the end of the frame, and nothing behind that. */
	while ((n = unpack_some(&r->from, r->block, BLOCK)) > 0) {
		if (r->block[0] || memcmp(r->block, r->block + 1, (size_t)n - 1) != 0)
			return refuse();
	}
	if (n < 0)
		return -1;
	if (r->from.in.pos < r->from.in.size)
		return refuse();
	n = io_read(r->from.fd, &next, 1);
	return n == 0 ? 0 : n < 0 ? -1 : refuse();
}

/* Best effort: the index only speeds up finding lines. */
static void write_index(struct restore *r, enum part part)
{
	const struct restored_part *p = &r->parts[part];
	char name[32];
	if (!p->indexing || p->index.lines < INDEX_STRIDE)
		return;
	name_part(r, "", part == PART_TEXT ? "idx" : "err.idx", name);
	int fd = store_open_file(r->dir, name, O_WRONLY | O_CREAT | O_EXCL);
	if (fd >= 0 && io_write(fd, p->entries.data, p->entries.len) < 0)
		unlinkat(r->dir, name, 0);
	io_close(&fd);
}

static int take_name(const struct restore *r, enum part part)
{
	char temporary[32], name[32];
	if (r->parts[part].fd < 0)
		return 0;
	name_part(r, ".", suffixes[part], temporary);
	name_part(r, "", suffixes[part], name);
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
	m->raw_bytes = r->parts[PART_RAW].fd < 0 ? 0 : m->raw_bytes;
	if (take_name(r, PART_SHOWN) < 0 || take_name(r, PART_CAST) < 0 ||
	    take_name(r, PART_RAW) < 0 || take_name(r, PART_ERR) < 0 || meta_write(r->dir, m) < 0)
		return -1;
	write_index(r, PART_TEXT);
	write_index(r, PART_ERR);
	/* A gc may have given the ID back, if this took long. */
	if (id_claim_exact(r->store, r->session, r->id) < 0 && errno != EEXIST)
		return -1;
	if (journal_add_made(r->dir, r->id) < 0)
		return -1;
	return take_name(r, PART_TEXT);
}

/* Removes everything that was restored so far. */
static void undo(struct restore *r)
{
	int saved = errno;
	if (!r->claimed)
		return;
	for (int i = 0; i < PARTS; i++) {
		char name[32];
		name_part(r, ".", suffixes[i], name);
		unlinkat(r->dir, name, 0);
	}
	errno = saved;
	id_remove_files(r->dir, r->id);
	id_release(r->store, r->id);
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
		.from = {.fd = fd},
	};
	int result = -1;
	for (int i = 0; i < PARTS; i++)
		r.parts[i].fd = -1;
	if (r.dir < 0)
		return -1;
	/* Drop the old line if the artifact was in this session before. */
	if (journal_clean(r.dir, 0, 0) >= 0 || errno == ENOENT) {
		r.block = malloc(BLOCK);
		result = unpack_begin(&r.from) == 0 && r.block ? restore_members(&r) : -1;
	}
	if (result == 0 && !r.there)
		result = restore_finish(&r);
	if (result < 0)
		undo(&r);
	*restored = (struct archive_restored){
		.there = r.there, .lines = r.meta.out.lines, .bytes = r.parts[PART_TEXT].size};
	memcpy(restored->id, r.id, sizeof(r.id));
	int saved = errno;
	unpack_end(&r.from);
	free(r.block);
	for (int i = 0; i < PARTS; i++) {
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
