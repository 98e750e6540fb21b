// An ID.shown of any bytes, as the page of terse report has it: what is added is JSON, its texts
// are clean and within their limits, and its ranges are lines.
//
// Input: a limit, the file.

#include "lib/io.h"
#include "lib/utf8.h"
#include "supervisor/artifact/artifact.h"
#include "supervisor/command/html.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

#define ID "cmd-1m5zq8k3x7f0"

static int dir = -1;

static void put(const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert(fd >= 0 && io_write(fd, data, len) == 0);
	close(fd);
}

static void check_ranges(const json_t *ranges)
{
	const json_t *range;
	size_t i;
	json_array_foreach(ranges, i, range)
	{
		const json_t *from = json_array_get(range, 0), *to = json_array_get(range, 1);
		assert(json_array_size(range) == 2 && json_is_integer(from) && json_is_integer(to));
		assert(json_integer_value(from) >= 1 &&
		       json_integer_value(from) <= json_integer_value(to));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	if (dir < 0) {
		dir = open(fuzz_home(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert(dir >= 0 && id_is_valid(ID));
		put(ID ".txt", "1\n2\n3\n4\n5\n", 10);
		put(ID ".err.txt", "a\nb\n", 4);
	}
	const size_t most = (size_t)data[0] * 8;
	put(ID ".shown", data + 1, size - 1);
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
	assert(json_is_object(ranges) == json_is_string(shown));
	check_ranges(json_object_get(ranges, "stdout"));
	check_ranges(json_object_get(ranges, "stderr"));
	json_decref(root);
	buffer_release(&out);
	return 0;
}
