// Configuration files of agents, JSON and TOML: whatever is in one, it is refused with a line, or
// changed so that it can still be read, the change is made once, and it can be taken back. jansson
// reads the same values afterwards. The first byte chooses the file.

#include "supervisor/agents/wiring.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static const struct place place = {"/usr/bin/terse", "/usr/bin/terse-sh",
				   "/usr/lib/terse/libterse-shim.so", "/usr/lib/terse/bash-env",
				   "/usr/lib/terse/terse-launcher"};

static bool is_same(const struct buffer *a, const struct buffer *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

static json_t *read_json(const char *text, size_t len)
{
	return len ? json_loadb(text, len, 0, NULL) : NULL;
}

/* The values that jansson reads before and after. */
static void compare(const char *before, size_t before_len, const struct buffer *after)
{
	json_t *a = read_json(before, before_len), *b = read_json(after->data, after->len);
	if (a)
		assert(b && json_equal(a, b));
	json_decref(a);
	json_decref(b);
}

/* Whether a text has something of terse's before the change, which is renewed then. */
static void try(const struct wiring_file *file, const char *text, size_t len)
{
	struct buffer once = BUFFER_INIT, twice = BUFFER_INIT, back = BUFFER_INIT;
	struct wiring_error error;
	bool fresh = wiring_check(file, &place, text, len) == WIRING_NONE;
	bool json = !wiring_is_toml(file);
	int status = wiring_apply(file, &place, text, len, &once, &error);
	if (status < 0) {
		assert((errno == EINVAL || errno == EEXIST) && *error.text);
	} else {
		assert(wiring_apply(file, &place, once.data, once.len, &twice, &error) == 0);
		assert(is_same(&once, &twice));
		assert(wiring_check(file, &place, once.data, once.len) == WIRING_SAME);
		assert(wiring_revoke(file, text, len, once.data, once.len, &back, &error) == 0);
		assert(wiring_check(file, &place, back.data, back.len) == WIRING_NONE || !fresh);
		if (fresh && json)
			compare(text, len, &back);
	}
	buffer_release(&once);
	buffer_release(&twice);
	buffer_release(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = 0;
	char *text;
	if (size == 0)
		return 0;
	/* The same for those that get terse as a server of tools. */
	const struct wiring *table = *data & 128 ? wirings_mcp : wirings;
	while (table[count].agent)
		count++;
	/* Not NUL-terminated, of exactly this size. */
	text = malloc(size);
	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	/* Some agents have no file: they are only started by terse. */
	const struct wiring_file *file = &table[(*data & 127) % count].files[0];
	if (file->items[0].path[0] || file->items[0].value)
		try(file, text, size - 1);
	free(text);
	return 0;
}
