// An ID.shown of any bytes, as the page of terse report has it: what is added is JSON, and its
// texts are clean and within their limits.
//
// Input: a limit, the file.

#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/command/html.h"

#include <assert.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ID "cmd-1m5zq8k3x7f0"

static char path[] = "/tmp/terse-fuzz-XXXXXX";
static int dir = -1;

static void put(const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && io_write(fd, data, len) == 0);
	close(fd);
}

static void make_directory(void)
{
	assert(mkdtemp(path));
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(dir >= 0 && id_is_valid(ID));
	put(ID ".txt", "1\n2\n3\n4\n5\n", 10);
	put(ID ".err.txt", "a\nb\n", 4);
}

static void remove_directory(void)
{
	unlinkat(dir, ID ".txt", 0);
	unlinkat(dir, ID ".err.txt", 0);
	unlinkat(dir, ID ARTIFACT_SHOWN, 0);
	rmdir(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (dir < 0) {
		make_directory();
		atexit(remove_directory);
	}
	const size_t most = (size_t)data[0] * 8;
	put(ID ARTIFACT_SHOWN, data + 1, size - 1);
	struct buffer out = BUFFER_INIT;
	buffer_append_string(&out, "{");
	html_add_shown(&out, dir, ID, most);
	html_add_texts(&out, dir, ID, most);
	buffer_append_string(&out, "}");
	assert(buffer_check(&out) == 0);
	json_t *root = json_loadb(out.data, out.len, JSON_ALLOW_NUL, NULL);
	assert(root);
	const json_t *shown = json_object_get(root, "shown");
	assert(json_is_null(shown) || json_is_string(shown));
	if (json_is_string(shown)) {
		assert(utf8_all_clean(json_string_value(shown), json_string_length(shown)));
		/* A byte may become a replacement of three. */
		assert(json_string_length(shown) <= 3 * most);
	}
	const json_t *texts = json_object_get(root, "texts");
	assert(json_array_size(texts) == 2);
	const json_t *ranges = json_object_get(root, "ranges");
	assert(!ranges || (json_is_object(ranges) && json_is_string(shown)));
	json_decref(root);
	buffer_release(&out);
	return 0;
}
