// See json.h.

#include "lib/json.h"

#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void json_text_piece(struct buffer *out, const char *data, size_t len)
{
	static const char special[] = "\"\\\n\t\r", letters[] = "\"\\ntr";
	for (size_t n; len > 0; data += n, len -= n) {
		for (n = 0; n < len && data[n] >= 0x20 && data[n] < 0x7F && data[n] != '"' &&
			    data[n] != '\\';)
			n++;
		if (n > 0) {
			buffer_append(out, data, n);
			continue;
		}
		uint32_t cp;
		char encoded[4];
		n = utf8_decode(data, len, &cp);
		const char *at = cp > 0 && cp < 0x80 ? strchr(special, (int)cp) : NULL;
		if (at) {
			buffer_append(out, (char[]){'\\', letters[at - special]}, 2);
		} else if (utf8_is_clean(cp)) {
			buffer_append(out, encoded, utf8_put(cp, encoded));
		} else if (cp < 0x10000) {
			buffer_printf(out, "\\u%04x", (unsigned)cp);
		} else {
			cp -= 0x10000;
			buffer_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD800 + (cp >> 10)),
				      (unsigned)(0xDC00 + (cp & 0x3FF)));
		}
	}
}

static void json_add_key(struct buffer *out, const char *key)
{
	if (out->len > 0 && !strchr("{[:, \n", out->data[out->len - 1]))
		buffer_append(out, ",", 1);
	if (!key)
		return;
	buffer_append(out, "\"", 1);
	buffer_append_string(out, key);
	buffer_append(out, "\":", 2);
}

void json_add_raw(struct buffer *out, const char *key, const char *json, size_t len)
{
	json_add_key(out, key);
	buffer_append(out, json, len);
}

void json_begin(struct buffer *out, const char *key, char open)
{
	json_add_raw(out, key, &open, 1);
}

void json_end(struct buffer *out, char close)
{
	buffer_append(out, &close, 1);
}

void json_add_text(struct buffer *out, const char *key, const char *data, size_t len)
{
	json_begin(out, key, '"');
	json_text_piece(out, data, len);
	json_end(out, '"');
}

void json_add_string(struct buffer *out, const char *key, const char *string)
{
	if (string)
		json_add_text(out, key, string, strlen(string));
	else
		json_add_null(out, key);
}

void json_add_made(struct buffer *out, const char *key, struct buffer *made)
{
	if (made->len)
		json_add_text(out, key, made->data, made->len);
	else
		json_add_null(out, key);
	out->failed |= made->failed;
	buffer_release(made);
}

void json_add_count(struct buffer *out, const char *key, uint64_t n)
{
	json_add_key(out, key);
	buffer_printf(out, "%" PRIu64, n);
}

void json_add_number(struct buffer *out, const char *key, int64_t n)
{
	json_add_key(out, key);
	buffer_printf(out, "%" PRId64, n);
}

void json_add_known(struct buffer *out, const char *key, bool known, uint64_t n)
{
	if (known)
		json_add_count(out, key, n);
	else
		json_add_null(out, key);
}

void json_add_bool(struct buffer *out, const char *key, bool value)
{
	json_add_raw(out, key, value ? "true" : "false", value ? 4 : 5);
}

void json_add_null(struct buffer *out, const char *key)
{
	json_add_raw(out, key, "null", 4);
}

void json_add_time(struct buffer *out, const char *key, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char date[32];
	struct tm tm;
	if (ms <= 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm)) {
		json_add_null(out, key);
		return;
	}
	json_add_key(out, key);
	buffer_printf(out, "\"%s.%03dZ\"", date, (int)(ms % 1000));
}

void json_add_signal(struct buffer *out, const char *key, int sig)
{
	json_add_string(out, key, sig > 0 ? HUMAN_SIGNAL(sig) : NULL);
}

bool json_add_command(struct buffer *out, const char *key, char *const *words, size_t budget,
		      size_t extra)
{
	bool cut = false;
	json_begin(out, key, '[');
	for (; words && *words && !cut; words++) {
		size_t len = strlen(*words), used = len + extra;
		json_add_text(out, NULL, *words,
			      len > budget ? utf8_floor(*words, len, budget) : len);
		cut = len > budget || (used >= budget && words[1]);
		budget -= used < budget ? used : budget;
	}
	json_end(out, ']');
	return cut;
}
