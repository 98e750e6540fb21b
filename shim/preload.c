// See preload.h.

#include "shim/preload.h"

#include <stddef.h>
#include <string.h>

/* Whether the `len` bytes at `path` end in the component `name`. */
static bool preload_has_name(const char *path, size_t len, const char *name)
{
	size_t name_len = strlen(name);
	return len >= name_len && strncmp(path + len - name_len, name, name_len) == 0 &&
	       (len == name_len || path[len - name_len - 1] == '/');
}

bool preload_remove(char *out, const char *list, const char *name)
{
	bool removed = false, is_first = true;
	for (const char *entry = list;; entry++) {
		size_t len = strcspn(entry, ": ");
		if (preload_has_name(entry, len, name)) {
			removed = true;
		} else {
			/* With the separator before it, unless nothing is before it now. */
			size_t lead = is_first ? 0 : 1;
			memcpy(out, entry - lead, len + lead);
			out += len + lead;
			is_first = false;
		}
		entry += len;
		if (!*entry)
			break;
	}
	*out = '\0';
	return removed;
}
