// JSON as the verbs print it: members, strings, what goes around them, every code.

#include "lib/buffer.h"
#include "lib/json.h"
#include "supervisor/command/verb.h"
#include "tests/unit/unit.h"

static void expect(struct buffer *out, const char *want)
{
	assert_non_null(buffer_string(out));
	assert_string_equal(out->data, want);
	buffer_release(out);
}

TEST(success)
{
	struct buffer out = BUFFER_INIT;
	envelope_begin(&out);
	json_add_string(&out, "text", "a \"b\"\n\x01\xFF");
	json_add_string(&out, "none", NULL);
	json_add_count(&out, "count", UINT64_MAX);
	json_add_number(&out, "number", INT64_MIN);
	json_begin_array(&out, "list");
	json_begin_object(&out, NULL);
	json_add_bool(&out, "yes", true);
	json_add_bool(&out, "no", false);
	json_end_object(&out);
	json_add_count(&out, NULL, 1);
	json_end_array(&out);
	json_add_null(&out, "null");
	envelope_end(&out);
	expect(&out,
	       "{\"ok\":true,\"data\":{\"text\":\"a \\\"b\\\"\\n\\u0001\xEF\xBF\xBD\",\"none\":"
	       "null,\"count\":18446744073709551615,\"number\":-9223372036854775808,"
	       "\"list\":[{\"yes\":true,\"no\":false},1],\"null\":null}}\n");
}

TEST(failures)
{
	static const char *const names[] = {"usage",       "unknown_artifact", "unknown_session",
					    "bad_pattern", "bad_range",        "unreadable",
					    "binary"};
	assert_int_equal(sizeof(names) / sizeof(*names), ENVELOPE_CODES);
	for (int code = 0; code < ENVELOPE_CODES; code++) {
		struct buffer out = BUFFER_INIT;
		char want[128];
		envelope_fail(&out, (enum envelope_code)code, "x: \\", 4);
		snprintf(want, sizeof(want),
			 "{\"ok\":false,\"error\":{\"code\":\"%s\",\"message\":\"x: \\\\\"}}\n",
			 names[code]);
		expect(&out, want);
	}
}

TEST_MAIN(NULL, NULL)
