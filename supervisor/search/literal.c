// See literal.h.

#include "supervisor/search/literal.h"

#include <string.h>

/* What a string of more than a few bytes has to tell is much less than the sum over them. */
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

void literal_set_empty(struct literal_set *s)
{
	s->count = 1;
	s->items[0] = (struct literal){.len = 0};
}

bool literal_set_append(struct literal_set *a, const struct literal_set *b)
{
	if (a->count * b->count > LITERALS_MAX)
		return false;
	for (unsigned i = 0; i < a->count; i++) {
		for (unsigned j = 0; j < b->count; j++) {
			if (a->items[i].len + b->items[j].len > LITERAL_LEN)
				return false;
		}
	}
	/* From the last on, so that what is read is not overwritten before. */
	for (unsigned k = a->count * b->count; k-- > 0;) {
		struct literal l = a->items[k / b->count];
		const struct literal *tail = &b->items[k % b->count];
		memcpy(l.bytes + l.len, tail->bytes, tail->len);
		l.fold |= tail->fold << l.len;
		l.len = (unsigned char)(l.len + tail->len);
		a->items[k] = l;
	}
	a->count *= b->count;
	return true;
}

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

bool literal_is_at(const struct literal *l, const char *data)
{
	if (l->fold == 0)
		return memcmp(data, l->bytes, l->len) == 0;
	for (unsigned i = 0; i < l->len; i++) {
		/* No byte but a letter becomes a lower-case letter so. */
		char c = l->fold >> i & 1 ? (char)(data[i] | 0x20) : data[i];
		if (c != l->bytes[i])
			return false;
	}
	return true;
}
