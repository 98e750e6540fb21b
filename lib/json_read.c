// See json_read.h.

#include "lib/json_read.h"

#include "lib/buffer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>

/* What jansson holds while it reads. */
struct json_blocks {
	jmp_buf out;
	void **items;
	size_t count, room;
	bool failed;
};

/* jansson passes nothing to the functions that it takes memory from. NULL: it does not read. */
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
	/* It is mostly one of the last. */
	for (size_t i = b && memory ? b->count : 0; i > 0; i--) {
		if (b->items[i - 1] == memory) {
			b->items[i - 1] = b->items[--b->count];
			break;
		}
	}
	free(memory);
}

/* Reads, or comes back from where there is no memory and frees all of it. */
static json_t *json_load(struct json_blocks *b, const char *data, size_t len, size_t flags,
			 json_error_t *error)
{
	if (setjmp(b->out) == 0)
		return json_loadb(data, len, flags, error);
	for (size_t i = 0; i < b->count; i++)
		free(b->items[i]);
	b->failed = true;
	return NULL;
}

json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error)
{
	json_error_t own = {.line = 0};
	struct json_blocks blocks = {.items = NULL};
	error = error ? error : &own;
	json_set_alloc_funcs(json_allocate, json_free);
	json_blocks = &blocks;
	json_t *value = json_load(&blocks, data ? data : "", len, flags, error);
	json_blocks = NULL;
	free(blocks.items);
	if (blocks.failed)
		*error->text = '\0';
	errno = blocks.failed ? ENOMEM : EINVAL;
	return value;
}
