// See quote.h.

#include "supervisor/report/quote.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

#include <string.h>

static const char plain[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-";

static int append_ansi(struct buffer *out, const char *word)
{
	if (buffer_append_string(out, "$'") < 0)
		return -1;
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;
		bool special = c == '\'' || c == '\\' || c < 0x20 || c >= 0x7F;
		/* Three octal digits end by themselves, whatever follows. */
		if (buffer_printf(out, special ? "\\%03o" : "%c", c) < 0)
			return -1;
	}
	return buffer_append(out, "'", 1);
}

int quote_append(struct buffer *out, const char *word)
{
	size_t len = strlen(word);
	if (len > 0 && strspn(word, plain) == len)
		return buffer_append(out, word, len);
	if (!utf8_all_clean(word, len) || strpbrk(word, "\n\t"))
		return append_ansi(out, word);
	if (buffer_append(out, "'", 1) < 0)
		return -1;
	for (; *word; word++) {
		if (*word == '\'' ? buffer_append_string(out, "'\\''") < 0
				  : buffer_append(out, word, 1) < 0)
			return -1;
	}
	return buffer_append(out, "'", 1);
}
