// Any bytes, in pieces, make a string that a JSON parser takes and that says the same.

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "tests/fuzz/fuzz.h"

#include <jansson.h>

/* Printed as it is, the string has nothing a terminal would obey. */
static void check_clean(const struct buffer *json)
{
	assert(utf8_all_clean(json->data, json->len));
	assert(!memchr(json->data, '\n', json->len) && !memchr(json->data, '\t', json->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buffer json = BUFFER_INIT, want = BUFFER_INIT;
	const char *bytes = (const char *)data;
	char encoded[4];
	uint32_t cp;
	/* Cut where a character ends it is the same string. */
	size_t half = 0;
	for (size_t at = 0; at < size;) {
		if (at <= size / 2)
			half = at;
		at += utf8_decode(bytes + at, size - at, &cp);
		buffer_append(&want, encoded, utf8_put(cp, encoded));
	}
	buffer_append_string(&json, "[\"");
	json_text_piece(&json, bytes, half);
	json_text_piece(&json, bytes + half, size - half);
	buffer_append_string(&json, "\"]");
	check_clean(&json);
	json_t *root = json_loadb(json.data, json.len, JSON_ALLOW_NUL, NULL);
	assert(root != NULL);
	const json_t *string = json_array_get(root, 0);
	assert(json_string_length(string) == want.len);
	assert(want.len == 0 || memcmp(json_string_value(string), want.data, want.len) == 0);
	json_decref(root);
	buffer_release(&json);
	buffer_release(&want);
	return 0;
}
