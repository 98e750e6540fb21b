// The difference between two texts.

#include "supervisor/agents/document.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

static void expect(const char *before, const char *after, const char *want)
{
	const struct diff_text a = {"a", before, strlen(before)}, b = {"b", after, strlen(after)};
	struct buffer out = BUFFER_INIT;
	assert_int_equal(diff_append(&out, &a, &b), 0);
	assert_non_null(buffer_string(&out));
	assert_string_equal(out.data, want);
	buffer_release(&out);
}

TEST(texts_that_are_the_same)
{
	expect("", "", "");
	expect("a\nb", "a\nb", "");
}

TEST(one_place)
{
	expect("", "a\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+a\n");
	expect("a\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-a\n");
	expect("a", "a\n", "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n");
	expect("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n6\n7\n8\n",
	       "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

TEST(places_apart_and_together)
{
	expect("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\nx\n",
	       "--- a\n+++ b\n@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -7,3 +8,4 @@\n 7\n 8\n 9\n+x\n");
	expect("1\n2\n3\n", "0\n1\n2\n3\nx\n",
	       "--- a\n+++ b\n@@ -1,3 +1,5 @@\n+0\n 1\n 2\n 3\n+x\n");
}

/* However many lines there are, no more is replaced than has to be. */
TEST(large_texts)
{
	struct buffer before = BUFFER_INIT, after = BUFFER_INIT, out = BUFFER_INIT;
	int marks[2] = {0, 0};
	for (int i = 0; i < 5000; i++) {
		buffer_printf(&before, "%d\n", i);
		buffer_printf(&after, "%d\n", i + (i % 2));
	}
	const struct diff_text a = {"a", before.data, before.len}, b = {"b", after.data, after.len};
	assert_int_equal(diff_append(&out, &a, &b), 0);
	assert_non_null(buffer_string(&out));
	for (const char *at = out.data; (at = strchr(at, '\n')); at++) {
		marks[0] += at[1] == '-';
		marks[1] += at[1] == '+';
	}
	/* With the second of the two titles. */
	assert_int_equal(marks[0], 2500);
	assert_int_equal(marks[1], 2501);
	buffer_release(&before);
	buffer_release(&after);
	buffer_release(&out);
}

TEST_MAIN(NULL, NULL)
