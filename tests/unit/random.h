// Where tests with random data start: TEST_SEED says so, 1 unless it is set, and the log names it.
#ifndef TERSE_TESTS_UNIT_RANDOM_H
#define TERSE_TESTS_UNIT_RANDOM_H

#include "tests/unit/unit.h"

static inline uint32_t random_seed(void)
{
	static uint32_t seed;
	const char *set = getenv("TEST_SEED");
	if (seed == 0) {
		seed = set ? (uint32_t)strtoul(set, NULL, 10) : 1;
		seed += seed == 0;
		fprintf(stderr, "random data: TEST_SEED=%u\n", (unsigned)seed);
	}
	return seed;
}

/* Which rounds of a test that takes long: all, but few with a sanitizer. That takes ten times as
   long, and the fuzzers look for what it finds. */
#define RANDOM_STEP 1
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#undef RANDOM_STEP
#define RANDOM_STEP 10
#endif
#endif

/* The state in which round `n` of a test starts: n itself by default. */
static inline uint32_t random_start(uint32_t n)
{
	return n + (random_seed() - 1) * UINT32_C(2654435761);
}

/* The next number of a state: 24 bits. */
static inline uint32_t random_next(uint32_t *state)
{
	*state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
	return *state >> 8;
}

/* A number below `n`; random_begin() starts them anew, in the state of round `round`. */
static uint64_t random_place;
static inline void random_begin(uint32_t round)
{
	random_place = random_start(round);
}

static inline uint64_t random_below(uint64_t n)
{
	if (random_place == 0)
		random_begin(1);
	random_place = random_place * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_place >> 33) % n;
}

#endif
