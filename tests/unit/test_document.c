// Somebody else's file, replaced as a whole or not at all; and the difference between two texts.

#include "supervisor/agents/document.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

#include <dirent.h>

static char folder[] = "/tmp/terse-document-XXXXXX";
static char path[PATH_MAX];

static int set_up(void **state)
{
	(void)state;
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void put(const char *text)
{
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(fclose(file), 0);
}

static void expect(const char *text)
{
	struct document d;
	assert_int_equal(document_read(&d, path, NULL), 0);
	assert_int_equal(d.exists, text != NULL);
	assert_int_equal(d.text.len, text ? strlen(text) : 0);
	if (text)
		assert_memory_equal(d.text.data, text, d.text.len);
	document_release(&d);
}

static size_t count_files(void)
{
	DIR *d = opendir(folder);
	size_t count = 0;
	assert_non_null(d);
	for (struct dirent *e = readdir(d); e; e = readdir(d))
		count += e->d_name[0] != '.';
	closedir(d);
	return count;
}

TEST_IN(a_new_file_is_private, set_up, tear_down)
{
	struct document d;
	struct stat st;
	assert_int_equal(document_read(&d, path, NULL), 0);
	assert_false(d.exists);
	assert_int_equal(document_write(&d, "new", 3), 0);
	expect("new");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	document_release(&d);
}

TEST_IN(a_change_by_somebody_else_is_kept, set_up, tear_down)
{
	struct document missing, there;
	assert_int_equal(document_read(&missing, path, NULL), 0);
	put("theirs");
	assert_int_equal(document_write(&missing, "ours", 4), -1);
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(document_read(&there, path, NULL), 0);
	put("theirs, longer");
	assert_int_equal(document_write(&there, "ours", 4), -1);
	assert_int_equal(errno, EAGAIN);
	expect("theirs, longer");
	assert_int_equal(count_files(), 1);
	document_release(&missing);
	document_release(&there);
}

TEST_IN(what_is_too_large_is_refused, set_up, tear_down)
{
	struct document d;
	put("");
	assert_int_equal(truncate(path, DOCUMENT_MAX + 1), 0);
	assert_int_equal(document_read(&d, path, NULL), -1);
	assert_int_equal(errno, EFBIG);
	document_release(&d);
}

/* --- the difference between two texts --- */

TEST(places_apart_and_together)
{
	static const struct {
		const char *before, *after, *want;
	} rows[] = {
		{"", "", ""},
		{"a\nb", "a\nb", ""},
		{"", "a\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+a\n"},
		{"a\n", "", "--- a\n+++ b\n@@ -1,1 +0,0 @@\n-a\n"},
		{"a", "a\n",
		 "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n6\n7\n8\n",
		 "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"1\n2\n3\n4\n5\n6\n7\n", "0\n1\n2\n3\n5\n6\n7\nx\n",
		 "--- a\n+++ b\n@@ -1,7 +1,8 @@\n+0\n 1\n 2\n 3\n-4\n 5\n 6\n 7\n+x\n"},
		{"1\n2\n3\n", "0\n1\n2\n3\nx\n",
		 "--- a\n+++ b\n@@ -1,3 +1,5 @@\n+0\n 1\n 2\n 3\n+x\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer a = BUFFER_INIT, b = BUFFER_INIT, out = BUFFER_INIT;
		buffer_append_string(&a, rows[i].before);
		buffer_append_string(&b, rows[i].after);
		assert_int_equal(diff_append(&out, "a", &a, "b", &b), 0);
		assert_string_equal(buffer_string(&out), rows[i].want);
		buffer_release(&a);
		buffer_release(&b);
		buffer_release(&out);
	}
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
	assert_int_equal(diff_append(&out, "a", &before, "b", &after), 0);
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
