#include "lib/bytes.h"

#include <endian.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#define INLINE      static inline __attribute__((always_inline))
#define TARGET_AVX2 __attribute__((target("avx2,bmi,popcnt")))

/* glibc knows the processor from its start-up. With another C library, __builtin_cpu_supports()
   would execute CPUID 13 times at each start, which takes 4 to 10 µs each in a virtual machine. */
static bool cpu_has_avx2(void)
{
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
	return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI1) && CPU_FEATURE_ACTIVE(POPCNT);
#elif defined(__x86_64__)
	static _Atomic int known; /* 1: it has them, -1: not */
	if (!known) {
		unsigned a, b, c, d, saved = 0;
		__cpuid(1, a, b, c, d);
		const bool counts = c & bit_POPCNT;
		if (c & bit_OSXSAVE)
			__asm__ volatile("xgetbv" : "=a"(saved) : "c"(0) : "edx");
		/* The system saves the lower and the upper halves of AVX registers. */
		const bool has = (saved & 6) == 6 && counts &&
				 __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2 &&
				 b & bit_BMI;
		known = has ? 1 : -1;
	}
	return known > 0;
#else
	return false;
#endif
}

/* Counting newlines. */

enum { LANES = 32, SMALL = LANES * 8, BLOCK = LANES * 128 };

/* Compiles to AVX2, SSE2 or NEON, or to plain code for processors without vectors. */
typedef unsigned char lanes __attribute__((vector_size(LANES)));

/* `len` is a multiple of LANES and at most 255 * LANES, since each lane counts in a byte. */
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

INLINE uint64_t count_newlines(const char *data, size_t len)
{
	uint64_t total = 0;
	for (; len >= BLOCK; data += BLOCK, len -= BLOCK)
		total += count_lanes(data, BLOCK);
	for (; len >= SMALL; data += SMALL, len -= SMALL)
		total += count_lanes(data, SMALL);
	for (; len > 0; data++, len--)
		total += *data == '\n';
	return total;
}

INLINE size_t skip_newlines(const char *data, size_t len, uint64_t *n)
{
	size_t at = 0;
	for (size_t step = BLOCK; step >= LANES; step /= 4) {
		unsigned here;
		while (len - at >= step && (here = count_lanes(data + at, step)) < *n) {
			*n -= here;
			at += step;
		}
	}
	for (; *n > 0; (*n)--) {
		const char *newline = memchr(data + at, '\n', len - at);
		if (!newline)
			return len;
		at = (size_t)(newline - data) + 1;
	}
	return at;
}

#if defined(__x86_64__)

TARGET_AVX2 static uint64_t count_avx2(const char *data, size_t len)
{
	return count_newlines(data, len);
}

TARGET_AVX2 static size_t skip_avx2(const char *data, size_t len, uint64_t *n)
{
	return skip_newlines(data, len, n);
}

#else
#define count_avx2 count_newlines
#define skip_avx2  skip_newlines
#endif

uint64_t newline_count(const char *data, size_t len)
{
	return cpu_has_avx2() ? count_avx2(data, len) : count_newlines(data, len);
}

const char *newline_of(const char *text, size_t len)
{
	const char *first = len ? memchr(text, '\n', len) : NULL;
	return first && first > text && first[-1] == '\r' ? "\r\n" : "\n";
}

size_t newline_skip(const char *data, size_t len, uint64_t *n)
{
	return cpu_has_avx2() ? skip_avx2(data, len, n) : skip_newlines(data, len, n);
}

/* The end of plain text. */

/* The classes of a block's bytes, as masks with one bit for each byte. The lowest bit belongs to
   the first byte; the bits of adjacent bytes are `1 << shift` places apart. */
struct masks {
	uint64_t control; /* control characters except tab and newline, and DEL */
	uint64_t newline;
	uint64_t other; /* everything except printable ASCII */
	uint64_t digit; /* see struct marks */
};

typedef struct masks masks_of(const char *data);

INLINE size_t scan_text(masks_of *masks, size_t width, unsigned shift, const char *data, size_t len,
			bool line, size_t *newlines)
{
	uint64_t also = line ? ~UINT64_C(0) : 0;
	size_t i = 0;
	for (; i + width <= len; i += width) {
		struct masks m = masks(data + i);
		uint64_t stop = m.control | (m.newline & also);
		if (stop) {
			m.newline &= (stop & -stop) - 1;
			*newlines += (unsigned)__builtin_popcountll(m.newline);
			return i + ((unsigned)__builtin_ctzll(stop) >> shift);
		}
		*newlines += (unsigned)__builtin_popcountll(m.newline);
	}
	for (; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7F || (line && c == '\n'))
			break;
		*newlines += c == '\n';
	}
	return i;
}

/* Packs a mask of struct masks: in the result the bits of adjacent bytes are adjacent. */
INLINE uint64_t mask_pack(uint64_t mask, unsigned shift)
{
	if (shift == 3)
		return ((mask >> 7) * UINT64_C(0x0102040810204080)) >> 56;
	if (shift == 2) {
		mask = (mask | mask >> 3) & UINT64_C(0x0303030303030303);
		mask = (mask | mask >> 6) & UINT64_C(0x000F000F000F000F);
		mask = (mask | mask >> 12) & UINT64_C(0x000000FF000000FF);
		mask = (mask | mask >> 24) & 0xFFFF;
	}
	return mask;
}

INLINE struct marks scan_marks(masks_of *masks, size_t width, unsigned shift, const char *data)
{
	struct marks all = {0, 0, 0};
	UNROLL
	for (size_t i = 0; i < MARKS; i += width) {
		struct masks m = masks(data + i);
		all.control |= mask_pack(m.control, shift) << i;
		all.newline |= mask_pack(m.newline, shift) << i;
		all.digit |= mask_pack(m.digit, shift) << i;
	}
	return all;
}

INLINE size_t scan_ascii(masks_of *masks, size_t width, unsigned shift, const char *data,
			 size_t len)
{
	size_t i = 0;
	for (; i + width <= len; i += width) {
		uint64_t stop = masks(data + i).other;
		if (stop)
			return i + ((unsigned)__builtin_ctzll(stop) >> shift);
	}
	while (i < len && data[i] >= 0x20 && data[i] < 0x7F)
		i++;
	return i;
}

/* Defines one variant. `width`: the bytes that it reads at a time; `shift`: see struct masks;
   `target`: the attribute of its functions, which can't be parenthesized. bits_NAME() makes a mask
   from lanes that are all ones or all zeros. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define SCAN(name, width, shift, target)                                                      \
	typedef unsigned char bytes_##name __attribute__((vector_size(width)));               \
	typedef signed char signs_##name __attribute__((vector_size(width)));                 \
	INLINE target struct masks masks_##name(const char *data)                             \
	{                                                                                     \
		bytes_##name v;                                                               \
		memcpy(&v, data, sizeof(v));                                                  \
		bytes_##name newline = (bytes_##name)(v == '\n');                             \
		bytes_##name del = (bytes_##name)(v == 0x7F);                                 \
		bytes_##name tab = (bytes_##name)(v == '\t'), low = (bytes_##name)(v < 0x20); \
		/* As signed numbers, the bytes from 0x80 on are below 0x20, too. */          \
		bytes_##name other = (bytes_##name)((signs_##name)v < 0x20) | del;            \
		bytes_##name digit = (bytes_##name)(v - '0' <= ';' - '0');                    \
		return (struct masks){bits_##name((low & ~(tab | newline)) | del),            \
				      bits_##name(newline), bits_##name(other),               \
				      bits_##name(digit)};                                    \
	}                                                                                     \
	target static size_t text_##name(const char *data, size_t len, bool line,             \
					 size_t *newlines)                                    \
	{                                                                                     \
		return scan_text(masks_##name, width, shift, data, len, line, newlines);      \
	}                                                                                     \
	target static struct marks marks_##name(const char *data)                             \
	{                                                                                     \
		return scan_marks(masks_##name, width, shift, data);                          \
	}                                                                                     \
	target static size_t ascii_##name(const char *data, size_t len)                       \
	{                                                                                     \
		return scan_ascii(masks_##name, width, shift, data, len);                     \
	}                                                                                     \
	static const struct scan scan_##name = {#name, text_##name, marks_##name, ascii_##name};
/* NOLINTEND(bugprone-macro-parentheses) */

/* For processors without a variant below. The mask has the highest bit of each byte. */
typedef unsigned char word_lanes __attribute__((vector_size(8)));

INLINE uint64_t bits_word(word_lanes v)
{
	uint64_t word;
	memcpy(&word, &v, sizeof(word));
	return le64toh(word) & UINT64_C(0x8080808080808080);
}

SCAN(word, 8, 3, )

#if defined(__x86_64__)

#define bits_sse2(v) ((unsigned)_mm_movemask_epi8((__m128i)(v)))
#define bits_avx2(v) ((unsigned)_mm256_movemask_epi8((__m256i)(v)))

SCAN(sse2, 16, 0, )
SCAN(avx2, 32, 0, TARGET_AVX2)

#elif defined(__aarch64__)

/* Narrowing leaves four bits for each byte of the vector; the mask keeps one of the four. */
INLINE uint64_t neon_mask(uint8x16_t v)
{
	uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(v), 4);
	return vget_lane_u64(vreinterpret_u64_u8(narrow), 0) & UINT64_C(0x1111111111111111);
}

#define bits_neon(v) neon_mask((uint8x16_t)(v))

SCAN(neon, 16, 2, )

#endif

const struct scan *const *scan_variants(void)
{
	static const struct scan *const variants[] = {
#if defined(__x86_64__)
		&scan_avx2,
		&scan_sse2,
#elif defined(__aarch64__)
		&scan_neon,
#endif
		&scan_word,
		NULL,
	};
#if defined(__x86_64__)
	return variants + !cpu_has_avx2();
#else
	return variants;
#endif
}

void scan_widen(uint32_t *restrict cells, const char *restrict data, size_t len)
{
	size_t i = 0;
	/* A loop of a constant length becomes vector instructions. */
	for (; i + 16 <= len; i += 16) {
		for (size_t k = 0; k < 16; k++)
			cells[i + k] = (unsigned char)data[i + k];
	}
	for (; i < len; i++)
		cells[i] = (unsigned char)data[i];
}

size_t scan_narrow(char *restrict data, const uint32_t *restrict cells, size_t len)
{
	size_t n = 0;
	for (uint32_t high = 0; n + 16 <= len; n += 16) {
		/* For 0x20 to 0x7E both sums stay below 0x80. */
		for (size_t k = 0; k < 16; k++)
			high |= (cells[n + k] - 0x20) | (cells[n + k] + 1);
		if (high > 0x7F)
			break;
		for (size_t k = 0; k < 16; k++)
			data[n + k] = (char)cells[n + k];
	}
	for (; n < len && cells[n] >= 0x20 && cells[n] < 0x7F; n++)
		data[n] = (char)cells[n];
	while (n > 0 && data[n - 1] == ' ')
		n--;
	return n;
}

/* Literals. */

enum { FOLD = 0x20 }; /* OR'ed into every byte: makes letters lower case */

static uint32_t literal_fold(const char *data)
{
	uint32_t bytes;
	memcpy(&bytes, data, sizeof(bytes));
	return bytes | FOLD * 0x01010101u;
}

void literals_init(struct literals *s)
{
	memset(s, 0, sizeof(*s));
	s->wide = cpu_has_avx2();
}

void literals_add(struct literals *s, const char *text, unsigned group)
{
	for (size_t k = 0; k < FRAGMENT_LEN; k++) {
		unsigned byte = (unsigned char)text[k] | FOLD;
		s->low[k][byte & 15] |= (uint8_t)(1u << group);
		s->high[k][byte >> 4] |= (uint8_t)(1u << group);
	}
	s->folded[group][s->counts[group]++] = literal_fold(text);
}

/* Whether a literal of one of the groups starts at `data`. */
static bool literal_is_at(const struct literals *s, const char *data, unsigned groups)
{
	uint32_t here = literal_fold(data);
	for (; groups; groups &= groups - 1) {
		unsigned group = (unsigned)__builtin_ctz(groups);
		for (size_t i = 0; i < s->counts[group]; i++) {
			if (here == s->folded[group][i])
				return true;
		}
	}
	return false;
}

static size_t literals_find_from(const struct literals *s, const char *data, size_t len, size_t at,
				 size_t *newlines)
{
	for (; at < len; at++) {
		if (len - at >= FRAGMENT_LEN) {
			unsigned groups = 0xFF;
			for (size_t k = 0; k < FRAGMENT_LEN; k++) {
				unsigned byte = (unsigned char)data[at + k] | FOLD;
				groups &= s->low[k][byte & 15] & s->high[k][byte >> 4];
			}
			if (groups && literal_is_at(s, data + at, groups))
				return at;
		}
		*newlines += data[at] == '\n';
	}
	return len;
}

#if defined(__x86_64__)

/* Returns, for each of 32 bytes, the groups that may have this byte at the position that the tables
   `low` and `high` describe. */
INLINE TARGET_AVX2 __m256i literal_groups_avx2(__m256i low, __m256i high, __m256i v)
{
	const __m256i nibble = _mm256_set1_epi8(15);
	v = _mm256_or_si256(v, _mm256_set1_epi8(FOLD));
	low = _mm256_shuffle_epi8(low, _mm256_and_si256(v, nibble));
	high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
	return _mm256_and_si256(low, high);
}

TARGET_AVX2 static size_t literals_find_avx2(const struct literals *s, const char *data, size_t len,
					     size_t *newlines)
{
	enum { WIDTH = sizeof(__m256i) };
	__m256i low[FRAGMENT_LEN], high[FRAGMENT_LEN], v[FRAGMENT_LEN];
	size_t at = 0, count = 0;
	UNROLL
	for (size_t k = 0; k < FRAGMENT_LEN; k++) {
		low[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)s->low[k]));
		high[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)s->high[k]));
	}
	for (; len - at >= WIDTH + FRAGMENT_LEN - 1; at += WIDTH) {
		__m256i groups = _mm256_set1_epi8(-1);
		UNROLL
		for (size_t k = 0; k < FRAGMENT_LEN; k++) {
			v[k] = _mm256_loadu_si256((const __m256i *)(data + at + k));
			groups = _mm256_and_si256(groups,
						  literal_groups_avx2(low[k], high[k], v[k]));
		}
		__m256i newline = _mm256_cmpeq_epi8(v[0], _mm256_set1_epi8('\n'));
		__m256i none = _mm256_cmpeq_epi8(groups, _mm256_setzero_si256());
		uint32_t lines = (uint32_t)_mm256_movemask_epi8(newline);
		uint32_t hits = ~(uint32_t)_mm256_movemask_epi8(none);
		uint8_t each[WIDTH];
		if (hits)
			_mm256_storeu_si256((__m256i *)each, groups);
		for (; hits; hits &= hits - 1) {
			unsigned bit = (unsigned)__builtin_ctz(hits);
			if (literal_is_at(s, data + at + bit, each[bit])) {
				lines &= (1u << bit) - 1;
				*newlines += count + (size_t)__builtin_popcount(lines);
				return at + bit;
			}
		}
		count += (size_t)__builtin_popcount(lines);
	}
	*newlines += count;
	return literals_find_from(s, data, len, at, newlines);
}

#endif

size_t literals_find(const struct literals *s, const char *data, size_t len, size_t *newlines)
{
#if defined(__x86_64__)
	if (s->wide)
		return literals_find_avx2(s, data, len, newlines);
#endif
	return literals_find_from(s, data, len, 0, newlines);
}
