// See finder.h.

#include "lib/finder.h"

#include <string.h>

/* A string of more than a few bytes carries much less information than the sum over its bytes. */
#define RARITY_MAX 48

/* From the mean shares of bytes in terminal captures, service and system logs, C, Python and
   JavaScript sources, prose and message catalogues of thirty languages. */
static const unsigned char rarity[256] = {
	16, 24, 25, 29, 29, 28, 28, 28, 28, 16, 11, 30, 30, 20, 30, 30, /* 00 */
	30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* 10 */
	5,  21, 15, 20, 24, 20, 19, 16, 14, 14, 17, 18, 14, 12, 11, 13, /* 20 */
	11, 12, 12, 14, 13, 15, 14, 16, 16, 16, 13, 16, 20, 14, 17, 19, /* 30 */
	26, 17, 20, 18, 18, 16, 18, 19, 19, 17, 25, 23, 18, 19, 17, 17, /* 40 */
	17, 28, 17, 17, 15, 19, 23, 21, 23, 22, 19, 16, 20, 16, 26, 14, /* 50 */
	21, 10, 13, 11, 11, 8,  13, 13, 13, 10, 18, 14, 11, 12, 10, 10, /* 60 */
	12, 21, 10, 10, 9,  12, 15, 15, 17, 15, 20, 18, 21, 18, 24, 30, /* 70 */
	27, 30, 28, 30, 30, 30, 27, 30, 18, 30, 30, 30, 30, 30, 30, 30, /* 80 */
	30, 30, 27, 27, 24, 30, 18, 30, 30, 28, 30, 30, 23, 30, 30, 30, /* 90 */
	30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* A0 */
	30, 30, 30, 30, 30, 27, 29, 30, 30, 30, 30, 30, 29, 30, 30, 30, /* B0 */
	30, 30, 27, 27, 26, 26, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* C0 */
	30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* D0 */
	30, 30, 17, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* E0 */
	30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, /* F0 */
};

static bool literal_is_same(const struct literal *a, const struct literal *b)
{
	return a->len == b->len && a->fold == b->fold && memcmp(a->bytes, b->bytes, a->len) == 0;
}

bool literal_set_join(struct literal_set *a, const struct literal_set *b)
{
	unsigned count = a->count;
	for (unsigned j = 0; j < b->count; j++) {
		unsigned i = 0;
		while (i < count && !literal_is_same(&a->items[i], &b->items[j]))
			i++;
		if (i < count)
			continue;
		if (count == LITERALS_MAX)
			return false;
		a->items[count++] = b->items[j];
	}
	a->count = count;
	return true;
}

unsigned literal_byte_rarity(unsigned char byte, bool fold)
{
	if (!fold)
		return rarity[byte];
	unsigned upper = rarity[byte - 0x20];
	return upper < rarity[byte] ? upper : rarity[byte];
}

static unsigned literal_rarity(const struct literal *l)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < l->len; i++)
		sum += literal_byte_rarity((unsigned char)l->bytes[i], l->fold >> i & 1);
	return sum < RARITY_MAX ? sum : RARITY_MAX;
}

unsigned literal_set_rarity(const struct literal_set *s)
{
	unsigned least = s->count ? RARITY_MAX : 0;
	for (unsigned i = 0; i < s->count; i++) {
		unsigned here = literal_rarity(&s->items[i]);
		if (here < least)
			least = here;
	}
	/* Twice as many are half as rare. */
	for (unsigned n = s->count; n > 1 && least > 1; n /= 2)
		least = least > 3 ? least - 2 : 1;
	return least;
}

/* Whether `data`, of at least l->len bytes, begins with it. Out of line, where its loop would take
   5 % of the time of a search. */
static __attribute__((noinline)) bool literal_is_at(const struct literal *l, const char *data)
{
	if (l->fold == 0)
		return memcmp(data, l->bytes, l->len) == 0;
	for (unsigned i = 0; i < l->len; i++) {
		/* Only a letter becomes a lower-case letter this way. */
		char c = l->fold >> i & 1 ? (char)(data[i] | 0x20) : data[i];
		if (c != l->bytes[i])
			return false;
	}
	return true;
}

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define LANES  FINDER_LANES
#define INLINE static inline __attribute__((always_inline))

INLINE finder_lanes finder_load(const char *data)
{
	finder_lanes lanes;
	memcpy(&lanes, data, sizeof(lanes));
	return lanes;
}

static finder_lanes finder_repeat(unsigned char byte)
{
	finder_lanes lanes;
	memset(&lanes, byte, sizeof(lanes));
	return lanes;
}

/* Bit i: the high bit of lane i. */
INLINE unsigned high_bits(finder_lanes lanes)
{
#if defined(__SSE2__)
	return (unsigned)_mm_movemask_epi8((__m128i)lanes);
#else
	uint64_t halves[2];
	memcpy(halves, &lanes, sizeof(halves));
	if (!((halves[0] | halves[1]) & UINT64_C(0x8080808080808080)))
		return 0;
	unsigned bits = 0;
	for (unsigned i = 0; i < LANES; i++)
		bits |= (unsigned)(lanes[i] >> 7) << i;
	return bits;
#endif
}

static void set_probe(struct finder_probe *p, unsigned n, const struct literal *l, unsigned place)
{
	p->place[n] = place;
	p->byte[n] = finder_repeat((unsigned char)l->bytes[place]);
	p->fold[n] = finder_repeat(l->fold >> place & 1 ? 0x20 : 0);
}

static unsigned byte_rarity(const struct literal *l, unsigned place)
{
	return literal_byte_rarity((unsigned char)l->bytes[place], l->fold >> place & 1);
}

/* The two rarest bytes of it; of equal ones the first and the last. */
static void choose_places(struct finder_probe *p, const struct literal *l)
{
	unsigned best = 0, second = 0;
	for (unsigned i = 1; i < l->len; i++) {
		if (byte_rarity(l, i) > byte_rarity(l, best)) {
			second = best;
			best = i;
		} else if (second == best || byte_rarity(l, i) >= byte_rarity(l, second)) {
			second = i;
		}
	}
	set_probe(p, 0, l, best);
	set_probe(p, 1, l, second);
}

void finder_init(struct finder *f, const struct literal_set *literals)
{
	f->literals = *literals;
	f->shortest = LITERAL_LEN;
	for (unsigned i = 0; i < literals->count; i++) {
		choose_places(&f->probes[i], &literals->items[i]);
		if (literals->items[i].len < f->shortest)
			f->shortest = literals->items[i].len;
	}
}

/* Whether one of the literals begins at `at`. */
static bool is_at(const struct finder *f, const char *data, size_t at, size_t len, unsigned *which)
{
	for (unsigned i = 0; i < f->literals.count; i++) {
		const struct literal *l = &f->literals.items[i];
		if (l->len <= len - at && literal_is_at(l, data + at)) {
			*which = i;
			return true;
		}
	}
	return false;
}

INLINE finder_lanes probe(const struct finder_probe *p, const char *at)
{
	return (finder_lanes)((finder_load(at + p->place[0]) | p->fold[0]) == p->byte[0]) &
	       (finder_lanes)((finder_load(at + p->place[1]) | p->fold[1]) == p->byte[1]);
}

/* `count` is a constant where it is 1, for the compiler to keep all in registers. */
INLINE size_t finder_search(const struct finder *f, unsigned count, const char *data, size_t from,
			    size_t len, unsigned *which)
{
	/* Behind the last place where every byte looked at is in the text. */
	size_t end = len > LITERAL_LEN + LANES ? len - LITERAL_LEN - LANES : 0;
	size_t at = from;
	for (; at < end; at += LANES) {
		finder_lanes found = probe(&f->probes[0], data + at);
		for (unsigned i = 1; i < count; i++)
			found |= probe(&f->probes[i], data + at);
		for (unsigned bits = high_bits(found); bits; bits &= bits - 1) {
			size_t place = at + (unsigned)__builtin_ctz(bits);
			if (is_at(f, data, place, len, which))
				return place;
		}
	}
	for (; at < len && len - at >= f->shortest; at++) {
		if (is_at(f, data, at, len, which))
			return at;
	}
	return len;
}

size_t finder_find(const struct finder *f, const char *data, size_t from, size_t len,
		   unsigned *which)
{
	if (f->literals.count == 1)
		return finder_search(f, 1, data, from, len, which);
	return finder_search(f, f->literals.count, data, from, len, which);
}

size_t finder_find_high(const char *data, size_t from, size_t len, unsigned char also)
{
	const finder_lanes other = finder_repeat(also);
	size_t at = from;
	for (; len - at >= LANES; at += LANES) {
		finder_lanes now = finder_load(data + at);
		unsigned bits = high_bits(now | (finder_lanes)(now == other));
		if (bits)
			return at + (unsigned)__builtin_ctz(bits);
	}
	while (at < len && (unsigned char)data[at] < 0x80 && (unsigned char)data[at] != also)
		at++;
	return at;
}
