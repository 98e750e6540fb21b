// See memory.h.

#include "supervisor/artifact/memory.h"

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "terseme1"

/* In front of the lines of a run, in the byte order of the machine: the store is of one machine. */
struct memory_head {
	char magic[8];
	char id[ID_LEN];
	uint64_t count;
	uint64_t check; /* of the ID and the lines */
};

static size_t block_size(const struct memory_head *h)
{
	return sizeof(*h) + (size_t)h->count * sizeof(struct memory_line);
}

static uint64_t block_check(const struct memory_head *h, const char *lines)
{
	return fingerprint_exact(lines, (size_t)h->count * sizeof(struct memory_line)) ^
	       fingerprint_exact(h->id, ID_LEN) << 1;
}

/* The block at the start of `data`: its size, or 0 if that is none. */
static size_t block_at(const char *data, size_t len, struct memory_head *h)
{
	char id[ID_LEN + 1] = "";
	if (len < sizeof(*h))
		return 0;
	memcpy(h, data, sizeof(*h));
	memcpy(id, h->id, ID_LEN);
	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0 || !id_is_valid(id) ||
	    h->count > (len - sizeof(*h)) / sizeof(struct memory_line) ||
	    h->check != block_check(h, data + sizeof(*h)))
		return 0;
	return block_size(h);
}

/* Reads the file. One that is too long, or not whole, is as empty. Returns 0, or -1 with errno. */
static int read_blocks(int fd, struct buffer *out)
{
	struct memory_head h;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -1;
	if (st.st_size <= 0 || (uint64_t)st.st_size > MEMORY_MOST)
		return 0;
	if (buffer_reserve(out, (size_t)st.st_size) < 0)
		return -1;
	if (io_read_whole(fd, out->data, (size_t)st.st_size, 0) < 0)
		return errno == EIO ? 0 : -1;
	out->len = (size_t)st.st_size;
	for (size_t at = 0, size; at < out->len; at += size) {
		size = block_at(out->data + at, out->len - at, &h);
		if (size == 0) {
			buffer_clear(out);
			return 0;
		}
	}
	return 0;
}

/* The slot of the tables `newest` (by the print alone: `exact` is NULL) and `same`: that of the
   entry, or a free one. */
static uint32_t *memory_slot(const struct memory *m, uint64_t print, const uint32_t *exact)
{
	uint32_t *table = exact ? m->same : m->newest;
	uint64_t hash = (print ^ (exact ? *exact : 0)) * 0x9e3779b97f4a7c15u;
	for (size_t i = hash >> (64 - m->bits);; i = (i + 1) & (((size_t)1 << m->bits) - 1)) {
		const struct memory_line *line = &m->entries[table[i] - (table[i] > 0)].line;
		if (!table[i] || (line->print == print && (!exact || line->exact == *exact)))
			return &table[i];
	}
}

/* Takes over the lines of one block. */
static int memory_take(struct memory *m, const struct memory_head *h, const char *lines,
		       size_t *id_room)
{
	char(*id)[ID_LEN + 1] = array_add(&m->ids, &m->runs, id_room, sizeof(*id));
	if (!id)
		return -1;
	memcpy(*id, h->id, ID_LEN);
	(*id)[ID_LEN] = '\0';
	/* The first of equal lines comes last, and so is found. */
	for (uint64_t i = h->count; i-- > 0;) {
		struct memory_entry *e = &m->entries[m->count];
		memcpy(&e->line, lines + i * sizeof(e->line), sizeof(e->line));
		e->run = (uint32_t)(m->runs - 1);
		m->count++;
		*memory_slot(m, e->line.print, NULL) = (uint32_t)m->count;
		*memory_slot(m, e->line.print, &e->line.exact) = (uint32_t)m->count;
	}
	return 0;
}

/* Room for the lines of blocks of `len` bytes. */
static int memory_make_room(struct memory *m, size_t len)
{
	size_t most = len / sizeof(struct memory_line);
	for (m->bits = 4; (size_t)1 << m->bits < 2 * most + 1;)
		m->bits++;
	m->entries = malloc((most + 1) * sizeof(*m->entries));
	m->newest = calloc((size_t)1 << m->bits, sizeof(*m->newest));
	m->same = calloc((size_t)1 << m->bits, sizeof(*m->same));
	return m->entries && m->newest && m->same ? 0 : -1;
}

int memory_read(struct memory *m, int dir)
{
	struct buffer blocks = BUFFER_INIT;
	size_t id_room = 0;
	*m = (struct memory){0};
	int fd = store_open_file(dir, MEMORY_FILE, O_RDONLY);
	int result = 0;
	if (fd >= 0 && store_lock(fd, LOCK_SH) == 0)
		result = read_blocks(fd, &blocks);
	io_close(&fd);
	if (result == 0 && blocks.len > 0)
		result = memory_make_room(m, blocks.len);
	for (size_t at = 0; result == 0 && at < blocks.len;) {
		struct memory_head h;
		memcpy(&h, blocks.data + at, sizeof(h));
		result = memory_take(m, &h, blocks.data + at + sizeof(h), &id_room);
		at += block_size(&h);
	}
	m->size = blocks.len;
	buffer_release(&blocks);
	return result < 0 && errno == ENOMEM ? -1 : 0;
}

void memory_release(struct memory *m)
{
	free(m->entries);
	free(m->newest);
	free(m->same);
	free(m->ids);
	*m = (struct memory){0};
}

const struct memory_entry *memory_find(const struct memory *m, uint64_t print, uint32_t exact)
{
	uint32_t at = m->count ? *memory_slot(m, print, &exact) : 0;
	if (m->count && !at)
		at = *memory_slot(m, print, NULL);
	return at ? &m->entries[at - 1] : NULL;
}

/* Opens and locks the file for a change. */
static int open_to_change(int dir, bool make)
{
	int fd = store_open_file(dir, MEMORY_FILE, O_RDWR | (make ? O_CREAT : 0));
	if (fd >= 0 && store_lock(fd, LOCK_EX) < 0)
		io_close(&fd);
	return fd;
}

static int rewrite(int fd, const char *data, size_t len)
{
	int result = ftruncate(fd, 0);
	return result < 0 ? result : io_write_at(fd, data, len, 0);
}

/* The offset behind so many bytes of the oldest blocks, or more. */
static size_t skip_oldest(const struct buffer *blocks, size_t least)
{
	size_t at = 0;
	while (at < least && at < blocks->len) {
		struct memory_head h;
		memcpy(&h, blocks->data + at, sizeof(h));
		at += block_size(&h);
	}
	return at;
}

/* Puts a block behind those of the file, of which the oldest may have to go. */
static int add_behind(int fd, const struct buffer *block)
{
	struct buffer blocks = BUFFER_INIT;
	size_t skip = 0;
	int result = read_blocks(fd, &blocks);
	size_t before = blocks.len;
	if (before + block->len > MEMORY_MOST)
		skip = skip_oldest(&blocks, before + block->len - MEMORY_MOST / 2);
	buffer_add(&blocks, block);
	if (result == 0)
		result = buffer_check(&blocks);
	/* A file that is whole loses nothing if this is cut short. */
	if (result == 0 && before > 0 && skip == 0)
		result = io_write_at(fd, block->data, block->len, (off_t)before);
	else if (result == 0)
		result = rewrite(fd, blocks.data + skip, blocks.len - skip);
	buffer_release(&blocks);
	return result;
}

int memory_add(int dir, const char *id, const struct memory_line *lines, size_t count, size_t known)
{
	struct buffer block = BUFFER_INIT;
	struct stat st;
	size_t most = (MEMORY_MOST / 2 - sizeof(struct memory_head)) / sizeof(*lines);
	struct memory_head h = {.count = count < most ? count : most};
	memcpy(h.magic, MAGIC, sizeof(h.magic));
	memcpy(h.id, id, ID_LEN);
	h.check = block_check(&h, (const char *)lines);
	buffer_append(&block, &h, sizeof(h));
	buffer_append(&block, lines, (size_t)h.count * sizeof(*lines));
	int fd = open_to_change(dir, true);
	int result = fd < 0 || fstat(fd, &st) < 0 ? -1 : buffer_check(&block);
	/* Nobody has written since it was read. */
	if (result == 0 && (uint64_t)st.st_size == known && known + block.len <= MEMORY_MOST)
		result = io_write_at(fd, block.data, block.len, st.st_size);
	else if (result == 0)
		result = add_behind(fd, &block);
	io_close(&fd);
	buffer_release(&block);
	return result;
}

int memory_forget(int dir, uint64_t from, uint64_t to)
{
	struct buffer blocks = BUFFER_INIT, kept = BUFFER_INIT;
	int fd = open_to_change(dir, false);
	int result = fd < 0 ? (errno == ENOENT ? 0 : -1) : read_blocks(fd, &blocks);
	for (size_t at = 0; result == 0 && at < blocks.len;) {
		struct memory_head h;
		char id[ID_LEN + 1] = "";
		memcpy(&h, blocks.data + at, sizeof(h));
		memcpy(id, h.id, ID_LEN);
		uint64_t packed = id_pack(id);
		if (packed < from || packed > to)
			buffer_append(&kept, blocks.data + at, block_size(&h));
		at += block_size(&h);
	}
	if (result == 0)
		result = buffer_check(&kept);
	if (result == 0 && fd >= 0 && kept.len < blocks.len)
		result = rewrite(fd, kept.data, kept.len);
	io_close(&fd);
	buffer_release(&blocks);
	buffer_release(&kept);
	return result;
}
