// How much of what is held back a waiting reader is given. When: test_interceptor_pause.c.

#include "supervisor/intercept/internal.h"

#include "tests/unit/random.h"
#include "tests/unit/unit.h"

TEST(the_share_of_the_last_lines_is_halved_each_time)
{
	struct share s = {.budget = 4000, .least = 256, .printed = 600};
	assert_int_equal(share_whole(&s), 4000);
	assert_int_equal(share_tail(&s, true), 2000);
	static const size_t rooms[] = {1000, 500, 500};
	for (size_t i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		assert_int_equal(share_tail(&s, false), rooms[i]);
		share_take(&s, rooms[i], true);
	}
	assert_int_equal(share_tail(&s, true), 0);
	assert_int_equal(share_end(&s, 4000), 6000);
}

TEST(what_was_printed_whole_leaves_less)
{
	struct share s = {.budget = 4000, .least = 256, .printed = 600};
	share_take(&s, 3000, false);
	assert_int_equal(share_tail(&s, true), 400);
	assert_int_equal(share_end(&s, 4000), 6000);
	/* A failure may have more. */
	assert_int_equal(share_end(&s, 6000), 9000);
	share_take(&s, 400, true);
	assert_int_equal(share_tail(&s, true), 0);
	assert_int_equal(share_end(&s, 4000), 6000);
}

TEST(a_ceiling)
{
	assert_int_equal(share_budget(4000, 0), 4000);
	assert_int_equal(share_budget(4000, 6000), 4000);
	assert_int_equal(share_budget(4000, 4500), 3000);
	struct share s = {.budget = 3000, .ceiling = 4500, .least = 256, .printed = 600};
	assert_int_equal(share_whole(&s), 3000);
	assert_int_equal(share_tail(&s, true), 1500);
	share_take(&s, 1500, true);
	assert_int_equal(share_tail(&s, true), 0);
	assert_int_equal(share_end(&s, 4000), 4500);
	/* The outcome may have a higher one. */
	s.ceiling = 5000;
	assert_int_equal(share_end(&s, 4000), 5000);
}

/* Lines of terse's own take what they need of a ceiling, but not the half of a budget at the end.
 */
TEST(notices_below_a_ceiling)
{
	struct share s = {.budget = 3000, .ceiling = 4500, .least = 256};
	s.notices += 500;
	assert_int_equal(share_whole(&s), 2500);
	share_take(&s, 2500, false);
	assert_int_equal(share_end(&s, 4000), 4000);
	s.notices += 4000;
	assert_int_equal(share_end(&s, 4000), 4000);
}

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Whatever is printed at pauses, the preview keeps half of the budget, and all stays within one and
   a half of it and within the ceiling, also if the outcome has a higher one. */
TEST(random_shares)
{
	for (uint32_t round = 0; round < 20000; round++) {
		uint32_t seed = random_start(round);
		size_t full = 64 + rnd(&seed, 20000),
		       ceiling = rnd(&seed, 2) ? full + rnd(&seed, (uint32_t)full) : 0,
		       budget = share_budget(full, ceiling);
		struct share s = {.budget = budget,
				  .ceiling = ceiling,
				  .least = 1 + rnd(&seed, 256),
				  .printed = rnd(&seed, (uint32_t)budget / 4)};
		for (uint32_t prints = rnd(&seed, 20); prints > 0; prints--) {
			bool omits = rnd(&seed, 2);
			size_t whole = share_whole(&s),
			       most = whole > s.printed ? whole - s.printed : 0;
			size_t room = omits ? share_tail(&s, rnd(&seed, 4) == 0) : most;
			share_take(&s, room ? rnd(&seed, (uint32_t)room + 1) : 0, omits);
		}
		assert_true(s.tails <= budget / 2);
		if (rnd(&seed, 2) && ceiling)
			s.ceiling += rnd(&seed, 9000);
		size_t end = share_end(&s, full);
		assert_true(end <= full + full / 2);
		assert_true(s.ceiling == 0 || end <= s.ceiling);
		assert_true(end - s.printed >= budget / 2);
	}
}

TEST_MAIN(NULL, NULL)
