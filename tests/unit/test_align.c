// Which elements of two sequences belong together: always so that one becomes the other, and as
// many as can be where that is affordable.

#include "lib/align.h"

#include "tests/unit/random.h"
#include "tests/unit/unit.h"

/* Aligns them and checks that what is left is the same on both sides. Returns how many that are. */
static uint32_t align(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count)
{
	struct align_side sides[2] = {{a, a_count, calloc(a_count + 1, 1)},
				      {b, b_count, calloc(b_count + 1, 1)}};
	uint32_t x = 0, y = 0, same = 0;
	assert_int_equal(align_mark(&sides[0], &sides[1]), 0);
	for (;;) {
		while (x < a_count && sides[0].alone[x])
			x++;
		while (y < b_count && sides[1].alone[y])
			y++;
		if (x == a_count || y == b_count)
			break;
		assert_int_equal(a[x++], b[y++]);
		same++;
	}
	assert_int_equal(x, a_count);
	assert_int_equal(y, b_count);
	free(sides[0].alone);
	free(sides[1].alone);
	return same;
}

/* By the table of all beginnings. */
static uint32_t longest(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count)
{
	uint32_t *table = calloc((size_t)(a_count + 1) * (b_count + 1), sizeof(*table));
	uint32_t row = b_count + 1;
	for (uint32_t x = 1; x <= a_count; x++) {
		for (uint32_t y = 1; y <= b_count; y++) {
			uint32_t up = table[(x - 1) * row + y], left = table[x * row + y - 1];
			table[x * row + y] = a[x - 1] == b[y - 1] ? table[(x - 1) * row + y - 1] + 1
					     : up > left          ? up
								  : left;
		}
	}
	uint32_t result = table[a_count * row + b_count];
	free(table);
	return result;
}

static void fill(uint64_t *to, uint32_t count, uint32_t kinds, uint32_t *r)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = 1 + random_next(r) % kinds;
}

TEST(shortest_where_it_is_affordable)
{
	static uint64_t a[120], b[120];
	for (uint32_t round = 0; round < 3000; round += RANDOM_STEP) {
		uint32_t r = random_start(round);
		uint32_t a_count = random_next(&r) % 120, b_count = random_next(&r) % 120;
		uint32_t kinds = 1 + random_next(&r) % 40;
		fill(a, a_count, kinds, &r);
		fill(b, b_count, kinds, &r);
		assert_int_equal(align(a, a_count, b, b_count), longest(a, a_count, b, b_count));
	}
}

/* Nothing is in its order: searches end early, what is marked is right all the same. */
TEST(valid_where_it_is_not)
{
	enum { COUNT = 50000 };
	uint64_t *a = malloc(COUNT * sizeof(*a)), *b = malloc(COUNT * sizeof(*b));
	for (uint32_t kinds = 2; kinds < 100000; kinds *= 30) {
		uint32_t r = random_start(kinds);
		fill(a, COUNT, kinds, &r);
		fill(b, COUNT, kinds, &r);
		assert_true(align(a, COUNT, b, COUNT) > 0);
		assert_true(align(a, COUNT, b, 7) > 0 || kinds > 1000);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		a[i] = i + 1;
		b[i] = COUNT - i;
	}
	assert_true(align(a, COUNT, b, COUNT) >= 1);
	free(a);
	free(b);
}

TEST(ends)
{
	static const uint64_t some[] = {1, 2, 3, 4, 5};
	assert_int_equal(align(some, 0, some, 0), 0);
	assert_int_equal(align(some, 5, some, 0), 0);
	assert_int_equal(align(some, 0, some, 5), 0);
	assert_int_equal(align(some, 5, some, 5), 5);
	assert_int_equal(align(some, 5, some + 2, 3), 3);
	assert_int_equal(align(some, 2, some + 2, 3), 0);
}

TEST_MAIN(NULL, NULL)
