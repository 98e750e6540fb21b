// See bytes.h.

#include "lib/bytes.h"

#include <string.h>

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)

#include <sys/platform/x86.h>

bool cpu_has_avx2(void)
{
	return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(POPCNT);
}

#elif defined(__x86_64__)

bool cpu_has_avx2(void)
{
	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("popcnt");
}

#else

bool cpu_has_avx2(void)
{
	return false;
}

#endif

#define LANES 32
#define SMALL ((size_t)LANES * 8)
#define BLOCK ((size_t)LANES * 128)

/* Compiles to AVX2, SSE2, NEON ... or, without any, to plain code. */
typedef unsigned char lanes __attribute__((vector_size(LANES)));

#define INLINE static inline __attribute__((always_inline))

/* Counts in `len` bytes, a multiple of LANES and at most 255 * LANES, since each lane
   counts in a byte. */
INLINE unsigned count_lanes(const char *data, size_t len)
{
	lanes sum = {0};
	for (size_t i = 0; i < len; i += LANES) {
		lanes now;
		memcpy(&now, data + i, sizeof(now));
		/* Equal lanes are all ones, which is -1. */
		sum -= (lanes)(now == '\n');
	}
	unsigned total = 0;
	for (size_t i = 0; i < LANES; i++)
		total += sum[i];
	return total;
}

static unsigned count_bytes(const char *data, size_t len)
{
	unsigned total = 0;
	for (size_t i = 0; i < len; i++)
		total += data[i] == '\n';
	return total;
}

INLINE uint64_t count(const char *data, size_t len)
{
	uint64_t total = 0;
	for (; len >= BLOCK; data += BLOCK, len -= BLOCK)
		total += count_lanes(data, BLOCK);
	for (; len >= SMALL; data += SMALL, len -= SMALL)
		total += count_lanes(data, SMALL);
	return total + count_bytes(data, len);
}

INLINE size_t command_newline_skip(const char *data, size_t len, uint64_t *n)
{
	const char *at = data, *end = data + len;
	unsigned here;
	while ((size_t)(end - at) >= BLOCK && (here = count_lanes(at, BLOCK)) < *n) {
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

#if defined(__x86_64__)

__attribute__((target("avx2"))) static uint64_t count_avx2(const char *data, size_t len)
{
	return count(data, len);
}

__attribute__((target("avx2"))) static size_t skip_avx2(const char *data, size_t len, uint64_t *n)
{
	return command_newline_skip(data, len, n);
}

#endif

uint64_t newline_count(const char *data, size_t len)
{
#if defined(__x86_64__)
	if (cpu_has_avx2())
		return count_avx2(data, len);
#endif
	return count(data, len);
}

size_t newline_skip(const char *data, size_t len, uint64_t *n)
{
#if defined(__x86_64__)
	if (cpu_has_avx2())
		return skip_avx2(data, len, n);
#endif
	return command_newline_skip(data, len, n);
}
