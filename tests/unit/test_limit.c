// The names of the parts of a limit.

#include "config/limit.h"
#include "tests/unit/unit.h"

TEST(names)
{
	static const char *const units[] = {"lines", "matches", "results", "entries"};
	struct limit l = {.unit = UNIT_LINES};
	assert_null(limit_name(&l, LIMIT_NONE));
	assert_string_equal(limit_name(&l, LIMIT_BYTES), "bytes");
	assert_string_equal(limit_name(&l, LIMIT_CUT), "line_length");
	for (int i = 0; i < 4; i++) {
		l.unit = (enum unit)i;
		assert_string_equal(limit_name(&l, LIMIT_COUNT), units[i]);
	}
}

TEST_MAIN(NULL, NULL)
