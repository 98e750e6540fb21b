// How much time a store has seen pass.

#include "supervisor/artifact/gc.h"
#include "tests/unit/unit.h"

#define DAY ((int64_t)86400000)
#define NOW (20000 * DAY)

static int make_file(const char *text, int64_t written_ms)
{
	char name[] = "/tmp/terse-seen-XXXXXX";
	int fd = mkstemp(name);
	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	const struct timespec t = {.tv_sec = written_ms / 1000}, times[2] = {t, t};
	assert_int_equal(futimens(fd, times), 0);
	return fd;
}

TEST(test_looks)
{
	struct seen s;
	int fd = make_file("", NOW);
	/* Often enough: all of it counts. */
	for (int64_t at = NOW; at < NOW + 30 * DAY; at += SEEN_STEP_MS)
		seen_look(&s, fd, at, true);
	assert_int_equal(s.count, 0);
	assert_int_equal(seen_age(&s, NOW, 14 * DAY), 14 * DAY);
	close(fd);
	/* A jump is not kept unless that is asked for, and is there once. */
	fd = make_file("", NOW);
	for (int i = 0; i < 4; i++) {
		seen_look(&s, fd, NOW + 14 * DAY, i > 0);
		assert_int_equal(s.count, 1);
		assert_int_equal(s.gaps[0].unseen_ms, 14 * DAY - SEEN_STEP_MS);
	}
	/* Artifacts from before it have to be that much older; later ones do not. */
	assert_int_equal(seen_age(&s, NOW + 14 * DAY, DAY), 15 * DAY - SEEN_STEP_MS);
	assert_int_equal(seen_age(&s, NOW + 30 * DAY, 14 * DAY), 14 * DAY);
	/* Set back, it is no time at all. */
	seen_look(&s, fd, NOW, true);
	assert_int_equal(s.count, 1);
	close(fd);
	seen_look(&s, -1, NOW, true);
	assert_int_equal(s.count, 0);
}

TEST(test_many_and_damaged)
{
	struct seen s;
	int fd = make_file("", NOW);
	int64_t unseen = 0;
	for (int i = 1; i <= 3 * SEEN_GAPS; i++)
		seen_look(&s, fd, NOW + i * 2 * DAY, true);
	assert_int_equal(s.count, SEEN_GAPS);
	for (int i = 0; i < s.count; i++)
		unseen += s.gaps[i].unseen_ms;
	assert_int_equal(unseen, 3 * SEEN_GAPS * (2 * DAY - SEEN_STEP_MS));
	close(fd);
	fd = make_file("x\n-1 5\n5\n\n9223372036854775807 9223372036854775807\n7 8\n", NOW);
	seen_look(&s, fd, NOW, true);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.gaps[0].unseen_ms, 8);
	close(fd);
}

TEST_MAIN(NULL, NULL)
