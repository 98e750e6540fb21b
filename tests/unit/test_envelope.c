// The code of every failure, as the verbs print it in JSON.

#include "lib/buffer.h"
#include "supervisor/command/verb.h"
#include "tests/unit/unit.h"

static void expect(struct buffer *out, const char *want)
{
	assert_non_null(buffer_string(out));
	assert_string_equal(out->data, want);
	buffer_release(out);
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
