// Where tests with random data start: TEST_SEED says so, 1 unless it is set, and the log names it.
#ifndef TERSE_TESTS_UNIT_RANDOM_H
#define TERSE_TESTS_UNIT_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The state in which round `n` of a test starts: n itself by default. */
static inline uint32_t random_start(uint32_t n)
{
	return n + (random_seed() - 1) * UINT32_C(2654435761);
}

#endif
