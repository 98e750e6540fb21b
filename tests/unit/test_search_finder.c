// Finding strings that a matching line must have.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/buffer.h"
#include "lib/finder.h"
#include "tests/unit/random.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed;

/* xorshift64* */
static uint32_t next_random(uint32_t below)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

/* --- finding them ------------------------------------------------------------ */

static char fold_byte(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 0x20) : c;
}

static size_t find_slowly(const struct literal_set *s, const char *data, size_t from, size_t len)
{
	for (size_t at = from; at < len; at++) {
		for (unsigned i = 0; i < s->count; i++) {
			const struct literal *l = &s->items[i];
			size_t n = 0;
			while (n < l->len && at + n < len &&
			       l->bytes[n] ==
				       (l->fold >> n & 1 ? fold_byte(data[at + n]) : data[at + n]))
				n++;
			if (n == l->len)
				return at;
		}
	}
	return len;
}

static void test_find(void **state)
{
	(void)state;
	static const char alphabet[] = "abAB{[@\x01\xC3\xA9\n!";
	char data[600];
	for (int round = 0; round < 20000; round++) {
		size_t len = next_random(sizeof(data));
		/* Few different bytes, for many near misses. */
		uint32_t kinds = 2 + next_random(sizeof(alphabet) - 3);
		for (size_t i = 0; i < len; i++)
			data[i] = alphabet[next_random(kinds)];
		struct literal_set s = {.count = 1 + next_random(4)};
		for (unsigned i = 0; i < s.count; i++) {
			struct literal *l = &s.items[i];
			l->len = (unsigned char)(1 + next_random(round % 10 ? 4 : LITERAL_LEN));
			for (unsigned n = 0; n < l->len; n++) {
				l->bytes[n] = alphabet[next_random(kinds)];
				if (l->bytes[n] >= 'a' && l->bytes[n] <= 'z' && next_random(2))
					l->fold |= UINT64_C(1) << n;
			}
		}
		struct finder f;
		finder_init(&f, &s);
		/* In memory that ends with the data. */
		char *copy = malloc(len + 1);
		assert_non_null(copy);
		memmove(copy + 1, data, len);
		size_t from = 0;
		while (from <= len) {
			unsigned which = 99;
			size_t want = find_slowly(&s, data, from, len);
			size_t got = finder_find(&f, copy + 1, from, len, &which);
			assert_int_equal(got, want);
			assert_true(got == len || which < s.count);
			from = got + 1;
		}
		free(copy);
	}
}

static void test_find_high(void **state)
{
	(void)state;
	char high[100], other[100];
	for (size_t at = 0; at < sizeof(high); at++) {
		memset(high, 'a', sizeof(high));
		memset(other, 'a', sizeof(other));
		high[at] = (char)0x80;
		other[at] = '\r';
		for (size_t from = 0; from <= at; from++) {
			assert_int_equal(finder_find_high(high, from, sizeof(high), 0x80), at);
			assert_int_equal(finder_find_high(high, from, sizeof(high), '\r'), at);
			assert_int_equal(finder_find_high(other, from, sizeof(other), '\r'), at);
			assert_int_equal(finder_find_high(other, from, sizeof(other), 0x80),
					 sizeof(other));
			assert_int_equal(finder_find_high(other, from, at, '\r'), at);
		}
	}
}

/* --- sets -------------------------------------------------------------------- */

static struct literal_set make_set(const char *const *words)
{
	struct literal_set s = {.count = 0};
	for (; *words; words++) {
		struct literal *l = &s.items[s.count++];
		l->len = (unsigned char)strlen(*words);
		memcpy(l->bytes, *words, l->len);
	}
	return s;
}

#define SET(...) make_set((const char *const[]){__VA_ARGS__, NULL})

static void test_sets(void **state)
{
	(void)state;
	struct literal_set a = SET("a", "b"), b = SET("", "x", "b");
	assert_true(literal_set_join(&a, &b));
	assert_int_equal(a.count, 4);
	assert_true(literal_set_join(&a, &b));
	assert_int_equal(a.count, 4);
	/* Too many: as it was. */
	struct literal_set full =
		SET("0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "c", "d", "e");
	assert_false(literal_set_join(&full, &a));
	assert_int_equal(full.count, 13);

	struct literal_set none = {.count = 0};
	assert_int_equal(literal_set_rarity(&none), 0);
	assert_int_equal(literal_set_rarity(&b), 0);
	struct literal_set common = SET("e"), rare = SET("@"), rarer = SET("@@"),
			   two = SET("@", "!");
	assert_true(literal_set_rarity(&common) < literal_set_rarity(&rare));
	assert_true(literal_set_rarity(&rare) < literal_set_rarity(&rarer));
	assert_true(literal_set_rarity(&two) < literal_set_rarity(&rare));
	assert_true(literal_set_rarity(&two) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_find_high),
		cmocka_unit_test(test_sets),
	};
	seed = random_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
