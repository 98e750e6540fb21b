// Configuration files of agents, JSON and TOML: whatever is in one, it is refused with a line, or
// changed so that it can still be read, the change is made once, and it can be taken back. jansson
// reads the same values afterwards, but for what was empty. The first byte chooses the file.

#include "supervisor/agents/outline.h"
#include "supervisor/agents/wiring.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

static const struct place place = {.program = "/usr/bin/terse",
				   .shell = "/usr/bin/terse-sh",
				   .library = "/usr/lib/terse/libterse-shim.so",
				   .bash_env = "/usr/lib/terse/bash-env",
				   .launcher = "/usr/lib/terse/terse-launcher"};

static bool is_same(const struct buffer *a, const struct buffer *b)
{
	return a->len == b->len && (!a->len || memcmp(a->data, b->data, a->len) == 0);
}

/* Takes out what has nothing in it, which --undo takes out as well. */
static bool is_empty(json_t *value)
{
	const char *key;
	json_t *item;
	void *next;
	json_object_foreach_safe(value, next, key, item)
	{
		if (is_empty(item))
			json_object_del(value, key);
	}
	for (size_t i = json_array_size(value); i-- > 0;) {
		if (is_empty(json_array_get(value, i)))
			json_array_remove(value, i);
	}
	return (json_is_object(value) && json_object_size(value) == 0) ||
	       (json_is_array(value) && json_array_size(value) == 0);
}

/* The values that jansson reads before and after. */
static void compare(const struct buffer *before, const struct buffer *after)
{
	json_t *a = before->len
			    ? json_loadb(before->data, before->len, JSON_REJECT_DUPLICATES, NULL)
			    : NULL;
	json_t *b = after->len ? json_loadb(after->data, after->len, 0, NULL) : NULL;
	if (a) {
		assert(b);
		/* The version that a file of hooks has to have may go with the last of them, or
		   stay where something else is left. */
		if (!json_object_get(a, "version"))
			json_object_del(b, "version");
		if (!is_empty(b))
			assert((is_empty(a), json_equal(a, b)));
	}
	json_decref(a);
	json_decref(b);
}

/* Puts the items into the text, or takes them out (`undo`). */
static int edit(struct wiring_edit *e, const struct wiring_file *file, const struct buffer *text,
		bool undo)
{
	*e = (struct wiring_edit){.file = file, .place = undo ? NULL : &place};
	buffer_add(&e->text, text);
	return wiring_edit(e);
}

/* A text may have something of terse's before the change, which is renewed then. */
static void try(const struct wiring_file *file, const struct buffer *text)
{
	struct wiring_edit once, twice, back, none;
	struct toml t;
	int status = edit(&once, file, text, false);
	if (status < 0) {
		assert((errno == EINVAL || errno == EEXIST) && *once.reason);
	} else {
		bool fresh = once.own == 0, toml = wiring_is_toml(file);
		assert(edit(&twice, file, &once.text, false) == 0 && twice.own > 0);
		assert(is_same(&once.text, &twice.text));
		status = edit(&back, file, &once.text, true);
		/* What was put in by hand is taken out by hand. */
		assert(status == 0 || (!fresh && toml && errno == EEXIST));
		if (fresh) {
			assert(edit(&none, file, &back.text, false) == 0 && none.own == 0);
			buffer_release(&none.text);
		}
		if (fresh && !toml)
			compare(text, &back.text);
		/* TOML comes back byte for byte, but for the end of its last line and what was
		   there of terse's table: its header alone, or the arguments. */
		bool bare = toml &&
			    toml_find(&t, text->data, text->len, file->items[0].path) == 0 &&
			    t.table_end > 0 && (t.keys == 0 || t.end > 0);
		if (fresh && toml && !bare) {
			size_t more = back.text.len - text->len;
			assert(back.text.len >= text->len && more <= 2);
			assert(!more || back.text.data[back.text.len - 1] == '\n');
			assert(!text->len || memcmp(back.text.data, text->data, text->len) == 0);
		}
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
