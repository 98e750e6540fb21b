// See json_member.h.

#include "supervisor/base/json_member.h"

#include "supervisor/base/buffer.h"
#include "supervisor/base/json_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
