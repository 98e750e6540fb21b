// See finder.h.

#include "supervisor/search/finder.h"

#include <string.h>

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
INLINE size_t command_finder_find(const struct finder *f, unsigned count, const char *data,
				  size_t from, size_t len, unsigned *which)
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
		return command_finder_find(f, 1, data, from, len, which);
	return command_finder_find(f, f->literals.count, data, from, len, which);
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
