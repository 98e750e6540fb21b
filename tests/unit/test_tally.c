// Counting lines and units of a text in pieces.

#include "supervisor/preview/head.h"
#include "tests/unit/unit.h"

/* The same for every way to cut the text. */
static void counted(enum unit unit, const char *text, uint64_t lines, uint64_t units,
		    uint64_t longest)
{
	size_t len = strlen(text);
	for (size_t step = 1; step <= len + 1; step++) {
		struct tally t = {.unit = unit, .by_line = true}, fast = {.unit = unit};
		for (size_t at = 0; at < len; at += step)
			tally_feed(&t, text + at, len - at < step ? len - at : step);
		for (size_t at = 0; at < len; at += step)
			tally_feed(&fast, text + at, len - at < step ? len - at : step);
		assert_int_equal(fast.bytes, len);
		assert_int_equal(tally_lines(&fast), lines);
		assert_int_equal(tally_units(&fast), units);
		assert_int_equal(t.bytes, len);
		assert_int_equal(tally_lines(&t), lines);
		assert_int_equal(tally_units(&t), units);
		assert_int_equal(t.longest, longest);
	}
}

TEST(lines)
{
	counted(UNIT_LINES, "", 0, 0, 0);
	counted(UNIT_LINES, "\n", 1, 1, 0);
	counted(UNIT_LINES, "\n\n", 2, 2, 0);
	counted(UNIT_LINES, "a", 1, 1, 1);
	counted(UNIT_LINES, "a\nbcd\n\nef", 4, 4, 3);
}

TEST(matches)
{
	counted(UNIT_MATCHES, "--\n", 1, 0, 2);
	counted(UNIT_MATCHES, "--", 1, 0, 2);
	counted(UNIT_MATCHES, "a\n--\n\nb\n---\n-\n -- \n", 7, 5, 4);
	counted(UNIT_RESULTS, "a\n\nb", 3, 2, 1);
}

/* The bytes that decide whether a line counts are at its start and at its end, however long it
   is. */
TEST(entries)
{
	counted(UNIT_ENTRIES, "total 8\na\ntotal\n", 3, 2, 7);
	counted(UNIT_ENTRIES, "dir:\na\n\n./a name of sixteen and more bytes:\nb", 5, 2, 35);
	counted(UNIT_ENTRIES, "a name of sixteen and more bytes\n", 1, 1, 32);
	counted(UNIT_ENTRIES, "a name of 16 b.:\n", 1, 0, 16);
	counted(UNIT_ENTRIES, "a name of 17 by.:\n", 1, 0, 17);
	counted(UNIT_ENTRIES, "total 12345678901234567890\n", 1, 0, 26);
	counted(UNIT_ENTRIES, "a name of 16 b.:c", 1, 1, 17);
}

TEST_MAIN(NULL, NULL)
