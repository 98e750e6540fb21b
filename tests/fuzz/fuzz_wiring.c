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

/* Puts the items into the text, or takes them out (`undo`). */
static int edit(struct wiring_edit *e, const struct wiring_file *file, const struct buffer *text,
		const struct buffer *original, bool undo)
{
	*e = (struct wiring_edit){
		.file = file, .place = undo ? NULL : &place, .original = original};
	buffer_add(&e->text, text);
	return wiring_edit(e);
}

/* A text may have something of terse's before the change, which is renewed then. */
static void try(const struct wiring_file *file, const struct buffer *text)
{
	struct wiring_edit once, twice, back, none;
	int status = edit(&once, file, text, NULL, false);
	if (status < 0) {
		assert((errno == EINVAL || errno == EEXIST) && *once.reason);
	} else {
		bool fresh = once.own == 0, toml = wiring_is_toml(file);
		assert(edit(&twice, file, &once.text, NULL, false) == 0 && twice.own > 0);
		assert(is_same(&once.text, &twice.text));
		status = edit(&back, file, &once.text, text, true);
		/* What was put in by hand is taken out by hand. */
		assert(status == 0 || (!fresh && toml && errno == EEXIST));
		if (fresh) {
			edit(&none, file, &back.text, NULL, false);
			assert(none.own == 0);
			buffer_release(&none.text);
		}
		if (fresh && !toml)
			compare(text->data, text->len, &back.text);
		/* TOML comes back byte for byte, but for the end of its last line. */
		if (fresh && toml && back.text.len != text->len) {
			assert(back.text.len > text->len && back.text.len <= text->len + 2);
			assert(back.text.data[back.text.len - 1] == '\n');
		}
		assert(!fresh || !toml || text->len == 0 ||
		       memcmp(back.text.data, text->data, text->len) == 0);
		buffer_release(&twice.text);
		buffer_release(&back.text);
	}
	buffer_release(&once.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t count = 0;
	if (size == 0)
		return 0;
	/* The same for those that get terse as a server of tools. */
	const struct wiring *table = *data & 128 ? wirings_mcp : wirings;
	while (table[count].agent)
		count++;
	struct buffer text = BUFFER_INIT;
	buffer_append(&text, data + 1, size - 1);
	/* Some agents have no file: they are only started by terse. */
	const struct wiring_file *file = &table[(*data & 127) % count].files[0];
	if (file->items[0].path[0] || file->items[0].value)
		try(file, &text);
	buffer_release(&text);
	return 0;
}
