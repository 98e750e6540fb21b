// What the launcher knows of terse, as text.

#include "shim/target.h"
#include "tests/unit/unit.h"

TEST(there_and_back)
{
	const struct target t = {.program = "/opt/a b/terse",
				 .shell = "/opt/a b/terse-sh",
				 .real = "",
				 .worked = {1, INT64_MAX, 999999999},
				 .failed = {4, 5, 6},
				 .tried = 7,
				 .said = 0};
	char text[TARGET_MAX], again[TARGET_MAX];
	struct target read;
	size_t len = target_write(&t, text);
	assert_int_equal(len, strlen(text));
	memcpy(again, text, len + 1);
	target_read(&read, again);
	assert_string_equal(read.program, t.program);
	assert_string_equal(read.shell, t.shell);
	assert_string_equal(read.real, "");
	assert_true(target_is_same(&read.worked, &t.worked));
	assert_true(target_is_same(&read.failed, &t.failed));
	assert_int_equal(read.tried, 7);
	assert_int_equal(read.said, 0);
	assert_int_equal(target_write(&read, text), len);
}

TEST(what_it_cannot_read)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"program",
		"worked\nfailed x y z\nworked - -\n",
		"tried 99999999999999999999999999999\nnoise\nprogram \n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const struct target_stamp none = {0, 0, 0};
		char text[128];
		struct target t;
		snprintf(text, sizeof(text), "%s", texts[i]);
		target_read(&t, text);
		assert_string_equal(t.program, "");
		assert_true(target_is_same(&t.worked, &none));
		assert_true(target_is_same(&t.failed, &none));
	}
}

TEST(paths_that_do_not_fit)
{
	static char path[PATH_MAX + 1], text[TARGET_MAX];
	struct target t = {.program = path, .shell = path, .real = path};
	memset(path, 'x', PATH_MAX - 1);
	assert_in_range(target_write(&t, text), 3 * (PATH_MAX - 1), TARGET_MAX - 1);
	path[PATH_MAX - 1] = 'x';
	assert_int_equal(target_write(&t, text), 0);
	t.program = t.shell = "/x";
	t.real = "/a\nb";
	assert_int_equal(target_write(&t, text), 0);
}

TEST(every_part_of_a_stamp_counts)
{
	const struct target_stamp a = {1, 2, 3};
	const struct target_stamp others[] = {{9, 2, 3}, {1, 9, 3}, {1, 2, 9}};
	assert_true(target_is_same(&a, &a));
	for (size_t i = 0; i < 3; i++)
		assert_false(target_is_same(&a, &others[i]));
}

TEST_MAIN(NULL, NULL)
