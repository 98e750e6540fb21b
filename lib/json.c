// See json.h.

#include "lib/json.h"

#include "lib/buffer.h"
#include "lib/utf8.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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

int json_member_time(struct buffer *out, const char *key, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char date[32];
	struct tm tm;
	if (ms <= 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return json_member_null(out, key);
	if (json_member_key(out, key) < 0)
		return -1;
	return buffer_printf(out, "\"%s.%03dZ\"", date, (int)(ms % 1000));
}

int json_member_signal(struct buffer *out, const char *key, int sig)
{
	char text[24];
	const char *name = sig > 0 ? sigabbrev_np(sig) : NULL;
	snprintf(text, sizeof(text), name ? "SIG%s" : "%s%d", name ? name : "", sig);
	return json_member_string(out, key, sig > 0 ? text : NULL);
}
