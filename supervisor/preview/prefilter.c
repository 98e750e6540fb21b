#include "supervisor/preview/prefilter.h"

#include "lib/bytes.h"
#include "supervisor/preview/chars.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { FOLD = 0x20 }; /* set in every byte: makes letters lower case */

/* Fragments that look alike share a group, which keeps false alarms rare. */
static const struct {
	char text[PREFILTER_LEN + 1];
	uint8_t group;
} fragments[] = {
	{"rror", 0},                       /* error */
	{"orru", 0},                       /* corrupt */
	{"efus", 0},                       /* refused */
	{"fail", 1},          {"fata", 1}, /* fatal */
	{"kill", 1},                       /* killed */
	{"xcep", 2},                       /* exception */
	{"xcee", 2},                       /* exceeded */
	{"xpec", 2},                       /* expected */
	{"aceb", 3},                       /* traceback */
	{"anic", 3},                       /* panic */
	{"unab", 3},                       /* unable */
	{"bort", 4},                       /* abort */
	{"sser", 4},                       /* assert */
	{"rash", 4},                       /* crash */
	{"not ", 5},                       /* not found, cannot open, not ok */
	{"n't ", 5},                       /* can't, couldn't */
	{"such", 5},                       /* no such */
	{"ndef", 6},                       /* undefined */
	{"nied", 6},                       /* denied */
	{"nhan", 6},                       /* unhandled */
	{"ncau", 6},                       /* uncaught */
	{"nval", 6},                       /* invalid */
	{"imed", 7},                       /* timed out */
	{"meou", 7},                       /* timeout */
	{"issi", 7},                       /* missing, permission */
	{"smat", 7},                       /* mismatch */
	{"iola", 7},                       /* violation */
	{"egfa", 3},                       /* segfault */
	{"gmen", 3},                       /* segmentation */
	{"onfl", 0},                       /* conflict */
	{"verf", 0},                       /* overflow */
	{"leak", 1},          {"ejec", 0}, /* rejected */
	{"eadl", 3},                       /* deadlock */
	{"xhau", 2},                       /* exhausted */
	{"nres", 6},                       /* unresolved */
	{"nrec", 6},                       /* unrecognized */
	{"nkno", 6},                       /* unknown */
	{"rong", 4},                       /* wrong */
	{"lleg", 7},                       /* illegal */
	{"ncor", 6},                       /* incorrect */
	{"ncom", 6},                       /* incompatible */
	{"upli", 5},                       /* duplicate */
	{"mina", 4},                       /* terminate */
	{"err!", 0},                       /* npm ERR! */
	{"ce l", 7},                       /* no space left */
	{"top.", 5},                       /* No rule to make target. Stop. */
	{"\xE2\x9C\x95 ", 1},              /* multiplication x */
	{"\xE2\x9C\x96 ", 1},              /* heavy multiplication x */
	{"\xE2\x9C\x97 ", 1},              /* ballot x */
};

static uint32_t folded(const char *data)
{
	uint32_t bytes;

	memcpy(&bytes, data, sizeof(bytes));
	return bytes | FOLD * 0x01010101u;
}

static void add_fragment(struct prefilter *s, const char *text, unsigned group)
{
	for (size_t k = 0; k < PREFILTER_LEN; k++) {
		unsigned byte = (unsigned char)text[k] | FOLD;

		s->low[k][byte & 15] |= (uint8_t)(1u << group);
		s->high[k][byte >> 4] |= (uint8_t)(1u << group);
	}
	s->fragments[group][s->counts[group]++] = folded(text);
}

void prefilter_add(struct prefilter *s, const char *text)
{
	unsigned least = 0;

	for (unsigned i = 1; i < PREFILTER_GROUPS; i++) {
		if (s->counts[i] < s->counts[least])
			least = i;
	}
	if (s->counts[least] < PREFILTER_MAX)
		add_fragment(s, text, least);
}

void prefilter_init(struct prefilter *s)
{
	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < sizeof(fragments) / sizeof(*fragments); i++)
		add_fragment(s, fragments[i].text, fragments[i].group);
#if defined(__x86_64__)
	s->wide = cpu_has_avx2();
#endif
}

/* Whether a fragment of one of the groups starts at `data`. */
static bool is_fragment(const struct prefilter *s, const char *data, unsigned groups)
{
	uint32_t here = folded(data);

	for (; groups; groups &= groups - 1) {
		unsigned group = (unsigned)__builtin_ctz(groups);

		for (size_t i = 0; i < s->counts[group]; i++) {
			if (here == s->fragments[group][i])
				return true;
		}
	}
	return false;
}

static unsigned groups_at(const struct prefilter *s, const char *data)
{
	unsigned groups = 0xFF;

	for (size_t k = 0; k < PREFILTER_LEN; k++) {
		unsigned byte = (unsigned char)data[k] | FOLD;

		groups &= s->low[k][byte & 15] & s->high[k][byte >> 4];
	}
	return groups;
}

static size_t find_narrow(const struct prefilter *s, const char *data, size_t len, size_t at,
			  size_t *newlines)
{
	for (; at < len; at++) {
		if (len - at >= PREFILTER_LEN) {
			unsigned groups = groups_at(s, data + at);

			if (groups && is_fragment(s, data + at, groups))
				return at;
		}
		*newlines += data[at] == '\n';
	}
	return len;
}

#if defined(__x86_64__)

__attribute__((target("avx2,popcnt"))) static size_t
find_wide(const struct prefilter *s, const char *data, size_t len, size_t *newlines)
{
	enum { WIDTH = sizeof(__m256i) };
	const __m256i nibble = _mm256_set1_epi8(15), newline = _mm256_set1_epi8('\n');
	const __m256i fold = _mm256_set1_epi8(FOLD), zero = _mm256_setzero_si256();
	__m256i low[PREFILTER_LEN], high[PREFILTER_LEN];
	size_t at = 0, count = 0;

	UNROLL
	for (size_t k = 0; k < PREFILTER_LEN; k++) {
		low[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)s->low[k]));
		high[k] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)s->high[k]));
	}
	for (; len - at >= WIDTH + PREFILTER_LEN - 1; at += WIDTH) {
		__m256i groups = _mm256_set1_epi8(-1), first = zero;
		uint8_t each[WIDTH];
		uint32_t hits, lines;

		UNROLL
		for (size_t k = 0; k < PREFILTER_LEN; k++) {
			__m256i v = _mm256_loadu_si256((const __m256i *)(data + at + k));

			if (k == 0)
				first = v;
			v = _mm256_or_si256(v, fold);
			groups = _mm256_and_si256(
				groups,
				_mm256_and_si256(
					_mm256_shuffle_epi8(low[k], _mm256_and_si256(v, nibble)),
					_mm256_shuffle_epi8(
						high[k], _mm256_and_si256(_mm256_srli_epi16(v, 4),
									  nibble))));
		}
		lines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(first, newline));
		hits = ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(groups, zero));
		if (hits)
			_mm256_storeu_si256((__m256i *)each, groups);
		for (; hits; hits &= hits - 1) {
			unsigned bit = (unsigned)__builtin_ctz(hits);

			if (is_fragment(s, data + at + bit, each[bit])) {
				lines &= (1u << bit) - 1;
				*newlines += count + (size_t)__builtin_popcount(lines);
				return at + bit;
			}
		}
		count += (size_t)__builtin_popcount(lines);
	}
	*newlines += count;
	return find_narrow(s, data, len, at, newlines);
}

#endif

size_t prefilter_find(const struct prefilter *s, const char *data, size_t len, size_t *newlines)
{
#if defined(__x86_64__)
	if (s->wide)
		return find_wide(s, data, len, newlines);
#endif
	return find_narrow(s, data, len, 0, newlines);
}
