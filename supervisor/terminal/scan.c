// See scan.h.

#include "supervisor/terminal/scan.h"

#include "lib/bytes.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define TARGET_AVX2 __attribute__((target("avx2,bmi,popcnt")))
#define INLINE      static inline __attribute__((always_inline))

INLINE bool is_text(unsigned char c)
{
	return (c >= 0x20 && c != 0x7F) || c == '\t' || c == '\n';
}

INLINE size_t rest_text(const char *data, size_t i, size_t len, bool line, size_t *newlines)
{
	for (; i < len && is_text((unsigned char)data[i]); i++) {
		if (data[i] != '\n')
			continue;
		if (line)
			break;
		++*newlines;
	}
	return i;
}

INLINE size_t rest_ascii(const char *data, size_t i, size_t len)
{
	while (i < len && data[i] >= 0x20 && data[i] < 0x7F)
		i++;
	return i;
}

/* Eight bytes at a time, for processors without a variant below. */

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

INLINE uint64_t load_word(const char *data)
{
	uint64_t word;

	memcpy(&word, data, sizeof(word));
	return word;
}

/* Not zero if a byte of the word is below 0x20, is 0x7F or is above: what has
   to be looked at singly. */
INLINE uint64_t word_special(uint64_t word)
{
	uint64_t del = word ^ (ONES * 0x7F);

	return ((word - ONES * 0x20) | (del - ONES) | word) & HIGHS;
}

static size_t word_text(const char *data, size_t len, bool line, size_t *newlines)
{
	size_t i = 0;

	while (i + 8 <= len) {
		size_t end = i + 8;

		if (word_special(load_word(data + i))) {
			i = rest_text(data, i, end, line, newlines);
			if (i < end)
				return i;
		}
		i = end;
	}
	return rest_text(data, i, len, line, newlines);
}

static size_t word_copy(char *to, const char *data, size_t len, bool line, size_t *newlines)
{
	size_t n = word_text(data, len, line, newlines);

	memcpy(to, data, n);
	return n;
}

static size_t word_ascii(const char *data, size_t len)
{
	size_t i = 0;

	while (i + 8 <= len && !word_special(load_word(data + i)))
		i += 8;
	return rest_ascii(data, i, len);
}

static const struct scan scan_word = {"word", word_text, word_copy, word_ascii};

#if defined(__x86_64__) || defined(__aarch64__)

INLINE size_t rest_copy(char *to, const char *data, size_t i, size_t len, bool line,
			size_t *newlines)
{
	size_t n = rest_text(data, i, len, line, newlines);

	memcpy(to + i, data + i, n - i);
	return n;
}

#endif

#if defined(__x86_64__)

INLINE void sse2_masks(const char *data, unsigned *stop, unsigned *newline)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)data);
	__m128i c0 = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1F)), v);
	__m128i tab = _mm_cmpeq_epi8(v, _mm_set1_epi8('\t'));
	__m128i nl = _mm_cmpeq_epi8(v, _mm_set1_epi8('\n'));
	__m128i del = _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F));

	c0 = _mm_andnot_si128(_mm_or_si128(tab, nl), c0);
	*stop = (unsigned)_mm_movemask_epi8(_mm_or_si128(c0, del));
	*newline = (unsigned)_mm_movemask_epi8(nl);
}

static size_t sse2_text(const char *data, size_t len, bool line, size_t *newlines)
{
	unsigned also = line ? ~0u : 0;
	unsigned stop, newline;
	size_t i;

	for (i = 0; i + 16 <= len; i += 16) {
		sse2_masks(data + i, &stop, &newline);
		stop |= newline & also;
		if (stop) {
			newline &= (stop & -stop) - 1;
			*newlines += (unsigned)__builtin_popcount(newline);
			return i + (unsigned)__builtin_ctz(stop);
		}
		*newlines += (unsigned)__builtin_popcount(newline);
	}
	return rest_text(data, i, len, line, newlines);
}

static size_t sse2_copy(char *to, const char *data, size_t len, bool line, size_t *newlines)
{
	unsigned also = line ? ~0u : 0;
	unsigned stop, newline;
	size_t i;

	for (i = 0; i + 16 <= len; i += 16) {
		memcpy(to + i, data + i, 16);
		sse2_masks(data + i, &stop, &newline);
		stop |= newline & also;
		if (stop) {
			newline &= (stop & -stop) - 1;
			*newlines += (unsigned)__builtin_popcount(newline);
			return i + (unsigned)__builtin_ctz(stop);
		}
		*newlines += (unsigned)__builtin_popcount(newline);
	}
	return rest_copy(to, data, i, len, line, newlines);
}

static size_t sse2_ascii(const char *data, size_t len)
{
	size_t i;

	/* Signed: all bytes from 0x80 on are below 0x20 too. */
	for (i = 0; i + 16 <= len; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
		__m128i bad = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
					   _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7F)));
		unsigned stop = (unsigned)_mm_movemask_epi8(bad);

		if (stop)
			return i + (unsigned)__builtin_ctz(stop);
	}
	return rest_ascii(data, i, len);
}

static const struct scan scan_sse2 = {"sse2", sse2_text, sse2_copy, sse2_ascii};

INLINE TARGET_AVX2 void avx2_masks(const char *data, unsigned *stop, unsigned *newline)
{
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)data);
	__m256i c0 = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(0x1F)), v);
	__m256i tab = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\t'));
	__m256i nl = _mm256_cmpeq_epi8(v, _mm256_set1_epi8('\n'));
	__m256i del = _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7F));

	c0 = _mm256_andnot_si256(_mm256_or_si256(tab, nl), c0);
	*stop = (unsigned)_mm256_movemask_epi8(_mm256_or_si256(c0, del));
	*newline = (unsigned)_mm256_movemask_epi8(nl);
}

TARGET_AVX2 static size_t avx2_text(const char *data, size_t len, bool line, size_t *newlines)
{
	unsigned also = line ? ~0u : 0;
	unsigned stop, newline;
	size_t i;

	for (i = 0; i + 32 <= len; i += 32) {
		avx2_masks(data + i, &stop, &newline);
		stop |= newline & also;
		if (stop) {
			newline &= (stop & -stop) - 1;
			*newlines += (unsigned)__builtin_popcount(newline);
			return i + (unsigned)__builtin_ctz(stop);
		}
		*newlines += (unsigned)__builtin_popcount(newline);
	}
	return rest_text(data, i, len, line, newlines);
}

TARGET_AVX2 static size_t avx2_copy(char *to, const char *data, size_t len, bool line,
				    size_t *newlines)
{
	unsigned also = line ? ~0u : 0;
	unsigned stop, newline;
	size_t i;

	for (i = 0; i + 32 <= len; i += 32) {
		memcpy(to + i, data + i, 32);
		avx2_masks(data + i, &stop, &newline);
		stop |= newline & also;
		if (stop) {
			newline &= (stop & -stop) - 1;
			*newlines += (unsigned)__builtin_popcount(newline);
			return i + (unsigned)__builtin_ctz(stop);
		}
		*newlines += (unsigned)__builtin_popcount(newline);
	}
	return rest_copy(to, data, i, len, line, newlines);
}

TARGET_AVX2 static size_t avx2_ascii(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i + 32 <= len; i += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(data + i));
		__m256i bad = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), v),
					      _mm256_cmpeq_epi8(v, _mm256_set1_epi8(0x7F)));
		unsigned stop = (unsigned)_mm256_movemask_epi8(bad);

		if (stop)
			return i + (unsigned)__builtin_ctz(stop);
	}
	return rest_ascii(data, i, len);
}

static const struct scan scan_avx2 = {"avx2", avx2_text, avx2_copy, avx2_ascii};

#elif defined(__aarch64__)

INLINE uint8x16_t neon_stop(uint8x16_t v, uint8x16_t nl)
{
	uint8x16_t tab = vceqq_u8(v, vdupq_n_u8('\t'));
	uint8x16_t c0 = vbicq_u8(vcltq_u8(v, vdupq_n_u8(0x20)), vorrq_u8(tab, nl));

	return vorrq_u8(c0, vceqq_u8(v, vdupq_n_u8(0x7F)));
}

/* Four bits of the answer for each byte of the vector. */
INLINE uint64_t neon_mask(uint8x16_t v)
{
	return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(v), 4)), 0);
}

static size_t neon_text(const char *data, size_t len, bool line, size_t *newlines)
{
	uint8x16_t also = vdupq_n_u8(line ? 0xFF : 0);
	size_t i;

	for (i = 0; i + 16 <= len; i += 16) {
		uint8x16_t v = vld1q_u8((const uint8_t *)data + i);
		uint8x16_t nl = vceqq_u8(v, vdupq_n_u8('\n'));

		if (neon_mask(vorrq_u8(neon_stop(v, nl), vandq_u8(nl, also))))
			return rest_text(data, i, i + 16, line, newlines);
		*newlines += vaddvq_u8(vandq_u8(nl, vdupq_n_u8(1)));
	}
	return rest_text(data, i, len, line, newlines);
}

static size_t neon_copy(char *to, const char *data, size_t len, bool line, size_t *newlines)
{
	uint8x16_t also = vdupq_n_u8(line ? 0xFF : 0);
	size_t i;

	for (i = 0; i + 16 <= len; i += 16) {
		uint8x16_t v = vld1q_u8((const uint8_t *)data + i);
		uint8x16_t nl = vceqq_u8(v, vdupq_n_u8('\n'));

		vst1q_u8((uint8_t *)to + i, v);
		if (neon_mask(vorrq_u8(neon_stop(v, nl), vandq_u8(nl, also))))
			return rest_text(data, i, i + 16, line, newlines);
		*newlines += vaddvq_u8(vandq_u8(nl, vdupq_n_u8(1)));
	}
	return rest_copy(to, data, i, len, line, newlines);
}

static size_t neon_ascii(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i + 16 <= len; i += 16) {
		int8x16_t v = vld1q_s8((const int8_t *)data + i);
		uint8x16_t bad =
			vorrq_u8(vcltq_s8(v, vdupq_n_s8(0x20)), vceqq_s8(v, vdupq_n_s8(0x7F)));
		uint64_t mask = neon_mask(bad);

		if (mask)
			return i + (size_t)__builtin_ctzll(mask) / 4;
	}
	return rest_ascii(data, i, len);
}

static const struct scan scan_neon = {"neon", neon_text, neon_copy, neon_ascii};

#endif

const struct scan *const *scan_variants(void)
{
#if defined(__x86_64__)
	static const struct scan *const with_avx2[] = {&scan_avx2, &scan_sse2, &scan_word, NULL};
	static const struct scan *const without[] = {&scan_sse2, &scan_word, NULL};

	if (cpu_has_avx2())
		return with_avx2;
	return without;
#elif defined(__aarch64__)
	static const struct scan *const variants[] = {&scan_neon, &scan_word, NULL};

	return variants;
#else
	static const struct scan *const variants[] = {&scan_word, NULL};

	return variants;
#endif
}

void scan_widen(uint32_t *cells, const char *data, size_t len)
{
	size_t i = 0;

#if defined(__x86_64__)
	const __m128i zero = _mm_setzero_si128();

	for (; i + 16 <= len; i += 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
		__m128i low = _mm_unpacklo_epi8(v, zero);
		__m128i high = _mm_unpackhi_epi8(v, zero);
		__m128i *to = (__m128i *)(void *)(cells + i);

		_mm_storeu_si128(to, _mm_unpacklo_epi16(low, zero));
		_mm_storeu_si128(to + 1, _mm_unpackhi_epi16(low, zero));
		_mm_storeu_si128(to + 2, _mm_unpacklo_epi16(high, zero));
		_mm_storeu_si128(to + 3, _mm_unpackhi_epi16(high, zero));
	}
#elif defined(__aarch64__)
	for (; i + 16 <= len; i += 16) {
		uint8x16_t v = vld1q_u8((const uint8_t *)data + i);
		uint16x8_t low = vmovl_u8(vget_low_u8(v));
		uint16x8_t high = vmovl_u8(vget_high_u8(v));

		vst1q_u32(cells + i, vmovl_u16(vget_low_u16(low)));
		vst1q_u32(cells + i + 4, vmovl_u16(vget_high_u16(low)));
		vst1q_u32(cells + i + 8, vmovl_u16(vget_low_u16(high)));
		vst1q_u32(cells + i + 12, vmovl_u16(vget_high_u16(high)));
	}
#endif
	for (; i < len; i++)
		cells[i] = (unsigned char)data[i];
}

size_t scan_narrow(char *data, const uint32_t *cells, size_t len)
{
	size_t n = 0;

	while (n < len && cells[n] >= 0x20 && cells[n] < 0x7F) {
		data[n] = (char)cells[n];
		n++;
	}
	while (n > 0 && data[n - 1] == ' ')
		n--;
	return n;
}
