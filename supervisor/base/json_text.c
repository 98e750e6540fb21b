// See json_text.h.

#include "supervisor/base/json_text.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"

#include <stdint.h>

/* How many bytes can stand in a string as they are. */
static size_t plain_run(const char *data, size_t len)
{
	size_t n = 0;
	while (n < len && data[n] >= 0x20 && data[n] < 0x7F && data[n] != '"' && data[n] != '\\')
		n++;
	return n;
}

static int json_text_append_escape(struct buffer *out, uint32_t cp)
{
	if (cp < 0x10000)
		return buffer_printf(out, "\\u%04x", (unsigned)cp);
	cp -= 0x10000;
	return buffer_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD800 + (cp >> 10)),
			     (unsigned)(0xDC00 + (cp & 0x3FF)));
}

static int append_character(struct buffer *out, uint32_t cp)
{
	char encoded[4];
	switch (cp) {
	case '"': return buffer_append(out, "\\\"", 2);
	case '\\': return buffer_append(out, "\\\\", 2);
	case '\n': return buffer_append(out, "\\n", 2);
	case '\t': return buffer_append(out, "\\t", 2);
	case '\r': return buffer_append(out, "\\r", 2);
	default: break;
	}
	/* For JavaScript these two end a line. */
	if (utf8_is_clean(cp) && cp != 0x2028 && cp != 0x2029)
		return buffer_append(out, encoded, utf8_put(cp, encoded));
	return json_text_append_escape(out, cp);
}

int json_text_append(struct buffer *out, const char *data, size_t len)
{
	while (len > 0) {
		size_t n = plain_run(data, len);
		if (buffer_append(out, data, n) < 0)
			return -1;
		data += n;
		len -= n;
		if (len == 0)
			break;
		uint32_t cp;
		n = utf8_decode(data, len, &cp);
		if (append_character(out, cp) < 0)
			return -1;
		data += n;
		len -= n;
	}
	return 0;
}

int json_text_quote(struct buffer *out, const char *data, size_t len)
{
	if (buffer_append(out, "\"", 1) < 0 || json_text_append(out, data, len) < 0)
		return -1;
	return buffer_append(out, "\"", 1);
}
