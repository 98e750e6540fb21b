// The part of a limit that a text exceeds first, and its name.

#include "config/limit.h"
#include "tests/unit/unit.h"

TEST(first_part)
{
	static const struct {
		enum unit unit;
		uint64_t count;
		size_t longest;
		const char *text;
		enum limit_part want;
	} cases[] = {
		{UNIT_LINES, 2, 0, "a\nb\nc", LIMIT_COUNT},
		{UNIT_LINES, 3, 0, "a\nb\nc", LIMIT_BYTES},
		{UNIT_LINES, 0, 4, "a\n12345", LIMIT_LINE},
		{UNIT_LINES, 0, 5, "a\n12345\n", LIMIT_BYTES},
		{UNIT_LINES, 1, 4, "12345\nb\n", LIMIT_LINE},
		{UNIT_LINES, 1, 4, "a\n12345\n", LIMIT_COUNT},
		{UNIT_MATCHES, 1, 0, "a\n--\n\n", LIMIT_BYTES},
		{UNIT_MATCHES, 1, 0, "a\n--\nb\n", LIMIT_COUNT},
		{UNIT_ENTRIES, 1, 0, "total 3\na\n./x:\n", LIMIT_BYTES},
		{UNIT_LINES, 0, 0, "", LIMIT_BYTES},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct limit l = {.bytes = 100,
					.count = cases[i].count,
					.longest_line = cases[i].longest,
					.unit = cases[i].unit};
		assert_int_equal(limit_broken_first(&l, cases[i].text, strlen(cases[i].text)),
				 cases[i].want);
	}
}

TEST(names)
{
	static const char *const units[] = {"lines", "matches", "results", "entries"};
	struct limit l = {.unit = UNIT_LINES};
	assert_null(limit_name(&l, LIMIT_NONE));
	assert_string_equal(limit_name(&l, LIMIT_BYTES), "bytes");
	assert_string_equal(limit_name(&l, LIMIT_LINE), "line_length");
	for (int i = 0; i < 4; i++) {
		l.unit = (enum unit)i;
		assert_string_equal(limit_name(&l, LIMIT_COUNT), units[i]);
	}
}

TEST_MAIN(NULL, NULL)
