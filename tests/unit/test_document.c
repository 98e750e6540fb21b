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

TEST_MAIN(NULL, NULL)
