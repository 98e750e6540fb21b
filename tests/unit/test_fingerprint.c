// Which lines count as the same.

#include "lib/fingerprint.h"
#include "tests/unit/unit.h"

static uint64_t masked(const char *line)
{
	return fingerprint_masked(line, strlen(line));
}

static void assert_masked(const char *a, const char *b, bool same)
{
	if ((masked(a) == masked(b)) != same)
		fail_msg("\"%s\" and \"%s\" are %s", a, b, same ? "not the same" : "the same");
}

TEST(masks_what_differs_from_run_to_run)
{
	static const char *const same[][2] = {
		{"took 12 ms", "took 3.1 s"},
		{"took 12ms", "took 870ms"},
		{"a.c:12:5: error: x", "a.c:140:33: error: x"},
		{"2026-11-20T09:03:34.123Z start", "2027-01-02T10:00:00.000Z start"},
		{"[12:30:01] start", "[09:03:34] start"},
		{"at 0x7f12ab34", "at 0x55aa00"},
		{"commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
		 "commit a3b02d00ae598e95dc970b74767f19372d61af81"},
		{"object deadbe1", "object cafe123"},
		{"in /tmp/build.x81k/src/a.c", "in /tmp/tmp_q/src/a.c"},
		{"'/var/tmp/abc'", "'/var/tmp/xyzzy'"},
		{"3 failed, 1,204 passed", "4 failed, 7 passed"},
		{"process 4711 ended", "process 99 ended"},
		{"12.0 KB of 14 MB", "900 KB of 1.5 MB"},
	};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		assert_masked(same[i][0], same[i][1], true);
}

TEST(keeps_what_tells_lines_apart)
{
	static const char *const apart[][2] = {
		{"", " "},
		{"0 failed", "3 failed"},
		{"test_12 failed", "test_13 failed"},
		{"utf8", "utf16"},
		{"src/a.c: error", "src/b.c: error"},
		{"in /tmp/x/src/a.c", "in /tmp/x/src/b.c"},
		{"in /tmp/x/a", "in /home/x/a"},
		{"FAIL a", "PASS a"},
		{"  x", "x"},
		{"feedback", "defaced"},
		{"3 ms", "3 mugs"},
		{"naïve", "naive"},
		{"took 12 apples", "took 12 pears"},
	};
	for (size_t i = 0; i < sizeof(apart) / sizeof(*apart); i++)
		assert_masked(apart[i][0], apart[i][1], false);
}

/* Whatever the place in memory, and what is behind the line. */
TEST(looks_at_the_line_alone)
{
	static const char line[] =
		"src/main.c:12: 0x12 /tmp/a/b 9fceb02d test_3 3.5 ms, more words";
	char room[3 * sizeof(line)];
	uint64_t expected = masked(line);
	for (size_t at = 0; at < 16; at++) {
		for (int fill = 0; fill < 256; fill += 51) {
			memset(room, fill, sizeof(room));
			memcpy(room + at, line, sizeof(line) - 1);
			assert_true(fingerprint_masked(room + at, sizeof(line) - 1) == expected);
		}
	}
}

TEST(exact_bytes_all_count)
{
	char line[40];
	for (size_t i = 0; i < sizeof(line); i++) {
		memset(line, '7', sizeof(line));
		uint64_t before = fingerprint_exact(line, sizeof(line));
		line[i] = '8';
		assert_true(fingerprint_exact(line, sizeof(line)) != before);
		assert_true(fingerprint_exact(line, i) != before);
		line[i] = '7';
		assert_true(fingerprint_masked(line, sizeof(line)) == masked("3"));
	}
}

TEST_MAIN(NULL, NULL)
