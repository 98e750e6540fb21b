// See json_read.h.

#include "lib/json_read.h"

#include "lib/buffer.h"
#include "lib/members.h"
#include "lib/utf8.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct json_blocks {
	jmp_buf out;
	void **items;
	size_t count, room;
};

/* The blocks of the json_read() in progress, or NULL. This is a variable because jansson passes no
   context to its allocators. */
static _Thread_local struct json_blocks *json_blocks;

static void *json_allocate(size_t size)
{
	struct json_blocks *b = json_blocks;
	void *memory = malloc(size);
	if (!b)
		return memory;
	void **item = memory ? array_add(&b->items, &b->count, &b->room, sizeof(*item)) : NULL;
	if (!item) {
		free(memory);
		longjmp(b->out, 1);
	}
	*item = memory;
	return memory;
}

static void json_free(void *memory)
{
	struct json_blocks *b = json_blocks;
	/* jansson mostly frees one of its latest blocks. */
	for (size_t i = b && memory ? b->count : 0; i > 0; i--) {
		if (b->items[i - 1] == memory) {
			b->items[i - 1] = b->items[--b->count];
			break;
		}
	}
	free(memory);
}

static json_t *json_read_strictly(const char *data, size_t len, size_t flags, json_error_t *error)
{
	struct json_blocks blocks = {.items = NULL};
	json_set_alloc_funcs(json_allocate, json_free);
	json_blocks = &blocks;
	json_t *value = NULL;
	/* If there is no memory, json_allocate() jumps back here. */
	if (setjmp(blocks.out) == 0) {
		value = json_loadb(data ? data : "", len, flags, error);
		errno = EINVAL;
	} else {
		for (size_t i = 0; i < blocks.count; i++)
			free(blocks.items[i]);
		*error->text = '\0';
		errno = ENOMEM;
	}
	json_blocks = NULL;
	free(blocks.items);
	return value;
}

/* The surrogate that is escaped at `at`; 0: none is. */
static uint32_t json_surrogate(const char *at, size_t len)
{
	uint32_t value;
	if (len < 6 || at[0] != '\\' || at[1] != 'u' || !member_hex(at + 2, at + len, &value))
		return 0;
	return value >= 0xD800 && value <= 0xDFFF ? value : 0;
}

/* Copies the text; in strings, half a character becomes U+FFFD. */
static void json_mend(struct buffer *out, const char *data, size_t len)
{
	bool quoted = false;
	for (size_t at = 0, taken; at < len; at += taken) {
		const char *here = data + at;
		size_t left = len - at;
		uint32_t first = quoted ? json_surrogate(here, left) : 0;
		uint32_t second = first ? json_surrogate(here + 6, left - 6) : 0;
		uint32_t cp;
		bool is_half = first;
		if (*here == '"' || !quoted) {
			quoted ^= *here == '"';
			taken = 1;
		} else if (first) {
			is_half = first >= 0xDC00 || second < 0xDC00;
			taken = is_half ? 6 : 12;
		} else if (*here == '\\') {
			taken = left < 2 ? left : 2;
		} else {
			is_half = !utf8_next(here, left, &cp, &taken);
		}
		if (is_half)
			buffer_append_string(out, "\xEF\xBF\xBD");
		else
			buffer_append(out, here, taken);
	}
}

json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error)
{
	struct buffer mended = BUFFER_INIT;
	json_error_t own = {.line = 0};
	error = error ? error : &own;
	json_t *value = json_read_strictly(data, len, flags, error);
	if (value || errno == ENOMEM)
		return value;
	json_mend(&mended, data, len);
	if (buffer_check(&mended) == 0)
		value = json_read_strictly(mended.data, mended.len, flags, error);
	else
		*error->text = '\0';
	buffer_release(&mended);
	return value;
}
