// Numbers as people read them.

#include "lib/human.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

#include <inttypes.h>
#include <time.h>

#define KB ((uint64_t)1024)
#define MB (1024 * KB)
#define GB (1024 * MB)

TEST(counts)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = {
		{0, "0"},
		{999, "999"},
		{1000, "1,000"},
		{1000000, "1,000,000"},
		{UINT64_MAX, "18,446,744,073,709,551,615"},
	};
	char out[HUMAN_LEN];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_ptr_equal(human_number(out, cases[i].n, true), out);
		assert_string_equal(out, cases[i].text);
	}
}

/* Rounding never shows 100.0, 1024 or 0.x of a unit. */
TEST(sizes)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},
		{1023, "1023 B"},
		{KB, "1.0 KB"},
		{KB + 51, "1.0 KB"},
		{KB + 52, "1.1 KB"},
		{99 * KB + 972, "99.9 KB"},
		{99 * KB + 973, "100 KB"},
		{1023 * KB, "1023 KB"},
		{1023 * KB + 511, "1023 KB"},
		{1023 * KB + 512, "1.0 MB"},
		{MB - 1, "1.0 MB"},
		{1023 * MB + 512 * KB - 1, "1023 MB"},
		{1023 * MB + 512 * KB, "1.0 GB"},
		{1024 * 1024 * 1024 * GB, "1.0 EB"},
		{UINT64_MAX, "16.0 EB"},
	};
	char out[HUMAN_LEN];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_ptr_equal(human_size(out, cases[i].bytes), out);
		assert_string_equal(out, cases[i].text);
	}
}

/* The same as printf rounds it. */
TEST(sizes_rounded)
{
	static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
	uint64_t random = random_start(1);
	for (int i = 0; i < 200000; i++) {
		char out[HUMAN_LEN], want[HUMAN_LEN];
		random = random * 6364136223846793005u + 1442695040888963407u;
		/* printf is exact up to 53 bits; many are near to a half. */
		uint64_t bytes = (random >> 11) >> (random % 53);
		if (i % 2)
			bytes = (bytes & ~(uint64_t)1023) + 1024 * 5 / 100 + i % 5 - 2;
		double value = (double)bytes;
		unsigned unit = 0;
		for (; value >= 1023.5 && bytes >= 1024; value /= 1024)
			unit++;
		snprintf(want, sizeof(want), value < 99.95 && unit ? "%.1f %s" : "%.0f %s", value,
			 units[unit]);
		assert_string_equal(human_size(out, bytes), want);
		snprintf(want, sizeof(want), "%" PRIu64, random);
		assert_string_equal(human_number(out, random, false), want);
	}
}

TEST(durations)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{0, "0 ms"},
		{999, "999 ms"},
		{1099, "1.0 s"},
		{1100, "1.1 s"},
		{59999, "59.9 s"},
		{60000, "1 min 0 s"},
		{3599999, "59 min 59 s"},
		{3600000, "1 h 0 min"},
		{7380000, "2 h 3 min"},
		{INT64_MAX, "2562047788015 h 12 min"},
	};
	char out[HUMAN_LEN];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_ptr_equal(human_duration(out, cases[i].ms), out);
		assert_string_equal(out, cases[i].text);
	}
}

TEST(times)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	assert_string_equal(HUMAN_TIME(1763630025999), "2025-11-20 09:13:45");
	assert_string_equal(HUMAN_TIME(0), "1970-01-01 00:00:00");
}

TEST_MAIN(NULL, NULL)
