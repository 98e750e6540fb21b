// See json_read.h.

#include "lib/json_read.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* jansson passes nothing to the function that it takes memory from. */
static _Thread_local bool json_found_no_memory;

static void *json_allocate(size_t size)
{
	void *memory = malloc(size);
	json_found_no_memory |= !memory;
	return memory;
}

json_t *json_read(const char *data, size_t len, size_t flags, json_error_t *error)
{
	json_error_t own = {.line = 0};
	error = error ? error : &own;
	json_set_alloc_funcs(json_allocate, free);
	json_found_no_memory = false;
	json_t *value = json_loadb(data ? data : "", len, flags, error);
	errno = json_found_no_memory ? ENOMEM : EINVAL;
	if (!json_found_no_memory)
		return value;
	json_decref(value);
	errno = ENOMEM;
	*error->text = '\0';
	return NULL;
}
