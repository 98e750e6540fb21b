// See index.h.

#include "supervisor/artifact/index.h"

#include "lib/bytes.h"
#include "lib/io.h"

#include <endian.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC       "terseix1"
#define MAGIC_LEN   8
#define OFFSET_BITS 48
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)

static uint64_t check_bits(uint64_t k, uint64_t offset)
{
	/* Multiplying by two odd constants (of splitmix64 and xxHash64) makes the top bits depend
	   on every bit. */
	uint64_t mixed = offset * UINT64_C(0x9E3779B97F4A7C15) ^ k * UINT64_C(0xC2B2AE3D27D4EB4F);
	return mixed & ~OFFSET_MASK;
}

static void index_add_entry(struct buffer *entries, uint64_t k, uint64_t offset)
{
	uint64_t entry = htole64((offset & OFFSET_MASK) | check_bits(k, offset & OFFSET_MASK));
	buffer_append(entries, &entry, sizeof(entry));
}

int index_init(struct index_writer *w)
{
	*w = (struct index_writer){.indexing = true};
	buffer_append(&w->entries, MAGIC, MAGIC_LEN);
	index_add_entry(&w->entries, 0, 0);
	return buffer_check(&w->entries);
}

int index_feed(struct index_writer *w, const char *data, size_t len)
{
	while (len > 0) {
		uint64_t wanted = INDEX_STRIDE - w->lines % INDEX_STRIDE;
		uint64_t left = wanted;
		size_t n = newline_skip(data, len, &left);
		w->lines += wanted - left;
		w->bytes += n;
		data += n;
		len -= n;
		if (left == 0 && w->indexing)
			index_add_entry(&w->entries, w->lines / INDEX_STRIDE, w->bytes);
	}
	return w->indexing ? buffer_check(&w->entries) : 0;
}

uint64_t index_offset(uint64_t k)
{
	return MAGIC_LEN + k * sizeof(uint64_t);
}

/* Moves *start, and *at (the number of the line there), to the nearest entry before `line`, if that
   entry is good. */
static void use_index(int fd, int idx, const struct index_range *range, uint64_t line,
		      uint64_t *start, uint64_t *at)
{
	struct stat st;
	char magic[MAGIC_LEN], before = '\n';
	if (idx < 0 || fstat(idx, &st) < 0 || st.st_size < MAGIC_LEN ||
	    io_read_at(idx, magic, MAGIC_LEN, 0) != MAGIC_LEN ||
	    memcmp(magic, MAGIC, MAGIC_LEN) != 0)
		return;
	/* The entries below `low` belong to lines before the range. */
	uint64_t low = (range->line + INDEX_STRIDE - 2) / INDEX_STRIDE;
	uint64_t high = (uint64_t)(st.st_size - MAGIC_LEN) / sizeof(uint64_t);
	if (high > (line - 1) / INDEX_STRIDE + 1)
		high = (line - 1) / INDEX_STRIDE + 1;
	/* The best entry is the last one whose offset is not after the range's end. Usually that is
	   the last entry of all; a search is needed only if the index is ahead of the range. */
	uint64_t found = UINT64_MAX, offset = 0, probe = high - 1;
	while (low < high) {
		uint64_t entry, here;
		if (io_read_at(idx, &entry, sizeof(entry), (off_t)index_offset(probe)) !=
		    (ssize_t)sizeof(entry))
			return;
		entry = le64toh(entry);
		here = entry & OFFSET_MASK;
		if ((entry & ~OFFSET_MASK) != check_bits(probe, here))
			return;
		if (here <= range->end) {
			found = probe;
			offset = here;
			low = probe + 1;
		} else {
			high = probe;
		}
		probe = low + (high - low) / 2;
	}
	if (found == UINT64_MAX || offset < range->start)
		return;
	/* The entry has to be the start of a line in the range. */
	if (offset > 0 && io_read_at(fd, &before, 1, (off_t)offset - 1) != 1)
		return;
	if (before == '\n') {
		*start = offset;
		*at = found * INDEX_STRIDE + 1;
	}
}

int index_find(int fd, int idx, const struct index_range *range, uint64_t line, uint64_t *offset,
	       uint64_t *last)
{
	uint64_t start = range->start, at = range->line;
	/* If the line is less than a stride after the range's start, no entry is nearer than that
	   start. */
	if (line - at >= INDEX_STRIDE)
		use_index(fd, idx, range, line, &start, &at);

	char block[65536];
	uint64_t skip = line - at;
	bool open = false; /* the bytes so far end inside a line */
	while (skip > 0 && start < range->end) {
		size_t len = sizeof(block);
		if (range->end - start < len)
			len = (size_t)(range->end - start);
		ssize_t n = io_read_at(fd, block, len, (off_t)start);
		if (n < 0)
			return -1;
		if (n == 0)
			break; /* the file shrank */
		size_t used = newline_skip(block, (size_t)n, &skip);
		open = block[used - 1] != '\n';
		start += used;
	}
	if (skip == 0 && start < range->end) {
		*offset = start;
		return 0;
	}
	*last = line - skip - !open;
	return 1;
}
