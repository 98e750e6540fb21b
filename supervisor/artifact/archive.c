// See archive.h.

#include "supervisor/artifact/archive.h"

#include "lib/buffer.h"
#include "lib/io.h"
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
#include <zstd.h>
#include <zstd_errors.h>

#define BLOCK ((size_t)256 * 1024)
#define LEVEL 6
/* The memory that reading takes: 2 MB for archives made by terse, up to 8 MB for archives made by
   another program. */
#define PACK_WINDOW_LOG   21
#define UNPACK_WINDOW_LOG 23

/* The part of a text after its gap is a member of its own. */
#define REST ".rest"

/* Enough for the line that announces a gap (lib/gap.h). */
#define NOTICE_MOST ((uint64_t)512)

/* The bytes of a part's file that make one member: those up to the gap, or those after it. */
struct range {
	uint64_t from, to;
};

static void part_ranges(const struct meta *m, enum artifact_part part, uint64_t size,
			struct range ranges[2])
{
	const struct meta_stream *s = part == ARTIFACT_OUT   ? &m->out
				      : part == ARTIFACT_ERR ? &m->err
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

struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8];
	char type, link[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	char prefix[155], unused[12];
};

_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a header is a block");

/* The sum of a header's bytes; the field for the sum itself counts as blanks. */
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

/* Reads a field. Returns whether it is a valid size. */
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
};

static int pack(struct packer *p, const void *data, size_t len, ZSTD_EndDirective mode)
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

/* Writes a range of a file as a member of this name. */
static int pack_member(struct packer *p, const char *name, int fd, struct range range,
		       int64_t mtime_s)
{
	static const char zeros[TAR_BLOCK];
	uint64_t size = range.to - range.from;
	struct tar_header h = {.mode = "0000600",
			       .uid = "0000000",
			       .gid = "0000000",
			       .type = '0',
			       .magic = "ustar",
			       .version = {'0', '0'}};
	snprintf(h.name, sizeof(h.name), "%s", name);
	snprintf(h.mtime, sizeof(h.mtime), "%011" PRIo64, (uint64_t)mtime_s & 077777777777);
	snprintf(h.size, sizeof(h.size), "%011" PRIo64, size & 077777777777);
	/* A size of 8 GiB or more is a binary number, as in GNU tar. */
	if (size > 077777777777) {
		h.size[0] = (char)0x80;
		uint64_t left = size;
		for (int i = 11; i > 0; i--, left >>= 8)
			h.size[i] = (char)(left & 0xff);
	}
	snprintf(h.checksum, sizeof(h.checksum), "%06o", tar_sum(&h));
	h.checksum[7] = ' ';
	if (pack(p, &h, sizeof(h), ZSTD_e_continue) < 0)
		return -1;
	while (range.from < range.to) {
		uint64_t left = range.to - range.from;
		size_t want = left < BLOCK ? (size_t)left : BLOCK;
		if (io_read_whole(fd, p->block, want, (off_t)range.from) < 0 ||
		    pack(p, p->block, want, ZSTD_e_continue) < 0)
			return -1;
		range.from += want;
	}
	return pack(p, zeros, tar_padding(size), ZSTD_e_continue);
}

static int pack_part(struct packer *p, int dir, enum artifact_part part, const struct meta *meta)
{
	struct range ranges[2];
	struct stat st;
	char name[ID_FILE_NAME];
	int fd = id_open_text(dir, meta->id, part);
	if (fd < 0)
		return errno == ENOENT && part != ARTIFACT_JSON ? 0 : -1;
	int result = fstat(fd, &st);
	if (result == 0) {
		part_ranges(meta, part, (uint64_t)st.st_size, ranges);
		id_file_name("", meta->id, part, name);
		result = pack_member(p, name, fd, ranges[0], st.st_mtim.tv_sec);
	}
	if (result == 0 && ranges[1].to > ranges[1].from) {
		snprintf(name, sizeof(name), "%s" REST "%s", meta->id, artifact_suffixes[part]);
		result = pack_member(p, name, fd, ranges[1], st.st_mtim.tv_sec);
	}
	io_close(&fd);
	return result;
}

int archive_write(int dir, const char *id, int fd)
{
	static const char end[2 * TAR_BLOCK];
	struct packer p = {.fd = fd, .packed_size = ZSTD_CStreamOutSize()};
	struct meta meta = {.owned = NULL};
	int result = -1, text = id_open_text(dir, id, ARTIFACT_OUT);
	if (text < 0)
		return -1;
	/* The lock keeps others from removing the artifact meanwhile. */
	if (flock(text, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		errno = EBUSY;
		goto out;
	}
	if (meta_read(dir, id, &meta) < 0)
		goto out;
	p.zstd = ZSTD_createCCtx();
	p.block = io_block(BLOCK);
	p.packed = malloc(p.packed_size);
	if (!p.zstd || !p.block || !p.packed) {
		errno = ENOMEM;
		goto out;
	}
	ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_windowLog, PACK_WINDOW_LOG);
	ZSTD_CCtx_setParameter(p.zstd, ZSTD_c_checksumFlag, 1);
	/* ID.json comes first, since it describes the rest. */
	result = pack_part(&p, dir, ARTIFACT_JSON, &meta);
	for (enum artifact_part part = 0; result == 0 && part < ARTIFACT_JSON; part++)
		result = pack_part(&p, dir, part, &meta);
	if (result == 0)
		result = pack(&p, end, sizeof(end), ZSTD_e_end);
out:
	meta_release(&meta);
	ZSTD_freeCCtx(p.zstd);
	free(p.block);
	free(p.packed);
	io_close(&text);
	return result;
}

/* --- restoring ---------------------------------------------------------------- */

// The parts are written under temporary names (".ID.txt"; gc removes those that a crash leaves).
// When all are written, they get their own names, the text last: the artifact exists as soon as its
// text does.

struct restore {
	const struct store *store;
	const char *session, *wanted; /* wanted: its ID, or NULL */
	uint64_t max_bytes, min_free;
	int dir;
	/* The one frame of the archive, decompressed piece by piece. */
	int from;
	ZSTD_DCtx *zstd;
	ZSTD_inBuffer packed;
	bool ended; /* the frame has ended, and its checksum is right */
	char *block, *input;
	struct buffer json;
	struct meta meta; /* points into its own memory */
	bool claimed, there;
	char id[ID_LEN + 1]; /* the ID in this store; `meta` has the one in the archive */
	struct {
		int fd;
		uint64_t size, stored; /* of the file; without its gap */
	} parts[ARTIFACT_ARCHIVED];
};

static int refuse(void)
{
	errno = EBADMSG;
	return -1;
}

/* Decompresses up to `len` bytes. Returns the number of bytes (0 at the end of the frame), or -1
   with errno. */
static ssize_t unpack_some(struct restore *r, void *data, size_t len)
{
	ZSTD_outBuffer out = {data, len, 0};
	while (out.pos < len && !r->ended) {
		size_t before = r->packed.pos;
		size_t left = ZSTD_decompressStream(r->zstd, &out, &r->packed);
		if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation) {
			errno = ENOMEM;
			return -1;
		}
		if (ZSTD_isError(left))
			return refuse();
		r->ended = left == 0;
		if (r->ended || out.pos == len || r->packed.pos < r->packed.size ||
		    r->packed.pos > before)
			continue;
		ssize_t n = io_read(r->from, r->input, BLOCK);
		if (n <= 0)
			return n < 0 ? -1 : refuse();
		r->packed = (ZSTD_inBuffer){r->input, (size_t)n, 0};
	}
	return (ssize_t)out.pos;
}

static int unpack_all(struct restore *r, void *data, size_t len)
{
	ssize_t n = unpack_some(r, data, len);
	return n < 0 ? -1 : (size_t)n == len ? 0 : refuse();
}

/* Reads ID.json, which describes the other members, and takes the ID. Returns 0, or -1 with
   errno. */
static int restore_metadata(struct restore *r, uint64_t size)
{
	if (size == 0 || size > META_MAX)
		return refuse();
	if (buffer_reserve(&r->json, (size_t)size) < 0 ||
	    unpack_all(r, r->json.data, (size_t)size) < 0 ||
	    meta_parse(r->json.data, (size_t)size, &r->meta) < 0)
		return -1;
	if (!id_is_valid(r->meta.id))
		return refuse();
	if (r->wanted && strcmp(r->wanted, r->meta.id) != 0) {
		errno = EXDEV;
		return -1;
	}
	memcpy(r->id, r->meta.id, sizeof(r->id));
	r->there = id_exists(r->store, r->id);
	if (r->there)
		return 0;
	int claimed = id_claim(r->store, r->session, r->meta.started_ms, r->id);
	/* A run that has written nothing yet may have the ID. Then the artifact gets another ID. */
	if (claimed < 0 && errno == EEXIST && !r->wanted) {
		*r->id = '\0';
		claimed = id_claim(r->store, r->session, r->meta.started_ms, r->id);
	}
	r->claimed = claimed == 0;
	return claimed;
}

/* Writes the bytes of a part, those up to its gap or those after it. Returns 0, or -1 with
   errno. */
static int restore_part(struct restore *r, enum artifact_part part, bool rest, uint64_t size)
{
	struct range ranges[2];
	char name[ID_FILE_NAME];
	int fd = r->parts[part].fd;
	part_ranges(&r->meta, part, INT64_MAX, ranges);
	/* The bytes after the gap go where the metadata say, after all bytes before the gap. */
	if (rest ? fd < 0 || ranges[1].from == INT64_MAX || r->parts[part].size != ranges[0].to
		 : fd >= 0)
		return refuse();
	if (r->parts[part].stored + size > r->max_bytes) {
		errno = EFBIG;
		return -1;
	}
	uint64_t at = rest ? ranges[1].from : 0, end = at + size;
	r->parts[part].stored += size;
	r->parts[part].size = end;
	if (!rest) {
		id_file_name(".", r->id, part, name);
		fd = r->parts[part].fd = store_open_file(r->dir, name, O_RDWR | O_CREAT | O_EXCL);
	}
	while (fd >= 0 && at < end) {
		size_t want = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
		if (unpack_all(r, r->block, want) < 0 || !store_has_room(fd, r->min_free) ||
		    io_write_at(fd, r->block, want, (off_t)at) < 0)
			return -1;
		at += want;
	}
	return fd < 0 ? -1 : 0;
}

/* Reads the next member. Returns 1, 0 if there is none, or -1 with errno. */
static int restore_member(struct restore *r)
{
	static const struct tar_header zeros;
	struct tar_header h = {0};
	char text[sizeof(h.name) + 1], id[ID_LEN + 1];
	uint64_t size, sum;
	if (unpack_all(r, &h, sizeof(h)) < 0)
		return -1;
	if (memcmp(&h, &zeros, sizeof(h)) == 0)
		return 0;
	if (!tar_number(h.checksum, sizeof(h.checksum), &sum) || sum != tar_sum(&h) ||
	    !tar_number(h.size, sizeof(h.size), &size) || h.type != '0')
		return refuse();
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(h.name), h.name);
	char *name = strncmp(text, "./", 2) == 0 ? text + 2 : text;
	bool rest =
		strlen(name) > ID_LEN && strncmp(name + ID_LEN, REST ".", strlen(REST ".")) == 0;
	if (rest)
		memmove(name + ID_LEN, name + ID_LEN + strlen(REST),
			strlen(name + ID_LEN + strlen(REST)) + 1);
	enum artifact_part part = id_of_file(name, id);
	bool parsed = r->meta.owned;
	if (part >= ARTIFACT_ARCHIVED || (part == ARTIFACT_JSON) == parsed ||
	    (parsed && strcmp(id, r->meta.id) != 0))
		return refuse();
	int result = part == ARTIFACT_JSON ? restore_metadata(r, size)
					   : restore_part(r, part, rest, size);
	if (result < 0 || unpack_all(r, r->block, tar_padding(size)) < 0)
		return -1;
	return 1;
}

static int restore_members(struct restore *r)
{
	int got = 1;
	/* An artifact that exists already is not changed. */
	while (got == 1 && !r->there)
		got = restore_member(r);
	if (got < 0 || r->there)
		return got < 0 ? -1 : 0;
	if (r->parts[ARTIFACT_OUT].fd < 0)
		return refuse();
	/* After the last member only zeros may follow, to the end of the frame, and nothing after
	   the frame. */
	ssize_t n;
	while ((n = unpack_some(r, r->block, BLOCK)) > 0) {
		if (r->block[0] || memcmp(r->block, r->block + 1, (size_t)n - 1) != 0)
			return refuse();
	}
	if (n == 0)
		n = r->packed.pos < r->packed.size ? 1 : io_read(r->from, r->block, 1);
	return n == 0 ? 0 : n < 0 ? -1 : refuse();
}

static int take_name(const struct restore *r, enum artifact_part part)
{
	char temporary[ID_FILE_NAME], name[ID_FILE_NAME];
	if (r->parts[part].fd < 0)
		return 0;
	id_file_name(".", r->id, part, temporary);
	id_file_name("", r->id, part, name);
	return renameat(r->dir, temporary, r->dir, name);
}

/* Finishes the artifact once all members have come. */
static int restore_finish(struct restore *r)
{
	struct meta *m = &r->meta;
	memcpy(m->id, r->id, sizeof(m->id));
	m->session = r->session;
	m->supervisor = m->command = 0;
	if (m->state == META_RUNNING)
		m->state = META_INTERRUPTED;
	m->raw_bytes = r->parts[ARTIFACT_RAW].fd < 0 ? 0 : m->raw_bytes;
	for (enum artifact_part part = ARTIFACT_ERR; part < ARTIFACT_JSON; part++) {
		if (take_name(r, part) < 0)
			return -1;
	}
	/* A gc may have given the ID back, if this took long. */
	if (meta_write(r->dir, m) < 0 ||
	    (id_claim(r->store, r->session, m->started_ms, r->id) < 0 && errno != EEXIST) ||
	    journal_add_made(r->dir, r->id) < 0)
		return -1;
	return take_name(r, ARTIFACT_OUT);
}

int archive_restore(const struct store *s, const char *session, const char *id, int fd,
		    uint64_t max_bytes, uint64_t min_free, struct archive_restored *restored)
{
	struct restore r = {
		.store = s,
		.session = session,
		.wanted = id,
		.max_bytes = max_bytes,
		.min_free = min_free,
		.dir = store_open_session(s, session, true),
		.from = fd,
	};
	int result = -1;
	for (int i = 0; i < ARTIFACT_ARCHIVED; i++)
		r.parts[i].fd = -1;
	if (r.dir < 0)
		return -1;
	/* Drops the old journal line if the artifact was in this session before. */
	if (journal_clean(r.dir, 0, 0) < 0 && errno != ENOENT)
		goto out;
	r.zstd = ZSTD_createDCtx();
	r.block = io_block(BLOCK);
	r.input = io_block(BLOCK);
	if (!r.zstd || !r.block || !r.input) {
		errno = ENOMEM;
		goto out;
	}
	ZSTD_DCtx_setParameter(r.zstd, ZSTD_d_windowLogMax, UNPACK_WINDOW_LOG);
	result = restore_members(&r);
	if (result == 0 && !r.there)
		result = restore_finish(&r);
out:;
	int saved = errno;
	if (result < 0 && r.claimed) {
		uint64_t freed = 0;
		id_remove_files(r.dir, r.id, &freed);
		id_release(s, r.id);
	}
	*restored = (struct archive_restored){
		.there = r.there, .lines = r.meta.out.lines, .bytes = r.parts[ARTIFACT_OUT].size};
	memcpy(restored->id, r.id, sizeof(r.id));
	ZSTD_freeDCtx(r.zstd);
	free(r.block);
	free(r.input);
	for (int i = 0; i < ARTIFACT_ARCHIVED; i++)
		io_close(&r.parts[i].fd);
	meta_release(&r.meta);
	buffer_release(&r.json);
	io_close(&r.dir);
	errno = saved;
	return result;
}
