// See newline.h.

#include "supervisor/artifact/newline.h"

#include <string.h>

#define LANES 16
#define SMALL ((size_t)LANES * 16)
#define BLOCK ((size_t)LANES * 256)

/* Compiles to SSE2, NEON ... or, without any, to plain code. */
typedef unsigned char lanes __attribute__((vector_size(LANES)));

/* Counts in `len` bytes, a multiple of LANES and at most 255 * LANES, since each lane
   counts in a byte. */
static unsigned count_lanes(const char *data, size_t len)
{
	lanes sum = {0};
	const lanes newline = {'\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n',
			       '\n', '\n', '\n', '\n', '\n', '\n', '\n', '\n'};
	for (size_t i = 0; i < len; i += LANES) {
		lanes now;
		memcpy(&now, data + i, sizeof(now));
		/* Equal lanes are all ones, which is -1. */
		sum -= (lanes)(now == newline);
	}
	unsigned total = 0;
	for (size_t i = 0; i < LANES; i++)
		total += sum[i];
	return total;
}

static unsigned count_block(const char *data)
{
	return count_lanes(data, BLOCK / 2) + count_lanes(data + BLOCK / 2, BLOCK / 2);
}

static unsigned count_bytes(const char *data, size_t len)
{
	unsigned total = 0;
	for (size_t i = 0; i < len; i++)
		total += data[i] == '\n';
	return total;
}

uint64_t newline_count(const char *data, size_t len)
{
	uint64_t total = 0;
	for (; len >= BLOCK; data += BLOCK, len -= BLOCK)
		total += count_block(data);
	for (; len >= SMALL; data += SMALL, len -= SMALL)
		total += count_lanes(data, SMALL);
	return total + count_bytes(data, len);
}

size_t newline_skip(const char *data, size_t len, uint64_t *n)
{
	const char *at = data, *end = data + len;
	unsigned here;
	while ((size_t)(end - at) >= BLOCK && (here = count_block(at)) < *n) {
		*n -= here;
		at += BLOCK;
	}
	while ((size_t)(end - at) >= SMALL && (here = count_lanes(at, SMALL)) < *n) {
		*n -= here;
		at += SMALL;
	}
	while ((size_t)(end - at) >= LANES && (here = count_lanes(at, LANES)) < *n) {
		*n -= here;
		at += LANES;
	}
	while (*n > 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			return len;
		at = newline + 1;
		(*n)--;
	}
	return (size_t)(at - data);
}
