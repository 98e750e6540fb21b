// See json_member.h.

#include "supervisor/base/json_member.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/json_text.h"

#include <inttypes.h>
#include <string.h>

int json_comma(struct buffer *out)
{
	char last = out->len ? out->data[out->len - 1] : '{';
	return last == '{' || last == '[' || last == ':' ? 0 : buffer_append(out, ",", 1);
}

int json_member_key(struct buffer *out, const char *key)
{
	return json_comma(out) < 0 ? -1 : buffer_printf(out, "\"%s\":", key);
}

int json_member_string(struct buffer *out, const char *key, const char *text)
{
	if (!text)
		return json_member_null(out, key);
	return json_member_key(out, key) < 0 ? -1 : json_text_quote(out, text, strlen(text));
}

int json_member_count(struct buffer *out, const char *key, uint64_t n)
{
	return json_member_key(out, key) < 0 ? -1 : buffer_printf(out, "%" PRIu64, n);
}

int json_member_number(struct buffer *out, const char *key, int64_t n)
{
	return json_member_key(out, key) < 0 ? -1 : buffer_printf(out, "%" PRId64, n);
}

int json_member_bool(struct buffer *out, const char *key, bool value)
{
	return json_member_key(out, key) < 0 ? -1
					     : buffer_append_string(out, value ? "true" : "false");
}

int json_member_null(struct buffer *out, const char *key)
{
	return json_member_key(out, key) < 0 ? -1 : buffer_append_string(out, "null");
}
