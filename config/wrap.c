// See wrap.h.

#include "config/wrap.h"

#include "supervisor/base/buffer.h"

#include <string.h>

/* How much of `text` goes on one line. */
static size_t line_length(const char *text, size_t width)
{
	size_t len = strcspn(text, " "), next;

	while (text[len] != '\0') {
		next = len + 1 + strcspn(text + len + 1, " ");
		if (next > width)
			break;
		len = next;
	}
	return len;
}

int wrap_text(struct buffer *out, const char *text, size_t width, const char *prefix)
{
	for (;;) {
		size_t len = line_length(text, width);

		if (buffer_printf(out, "%.*s\n", (int)len, text) < 0)
			return -1;
		if (text[len] == '\0')
			return 0;
		text += len + 1;
		if (buffer_append_string(out, prefix) < 0)
			return -1;
	}
}
