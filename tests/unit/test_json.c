// Bytes as JSON strings.

#include "lib/buffer.h"
#include "lib/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *data, size_t len, const char *want)
{
	struct buffer out = BUFFER_INIT;
	assert_int_equal(json_add_text(&out, NULL, data, len), 0);
	assert_string_equal(buffer_string(&out), want);
	buffer_release(&out);
}

static void every_kind_of_byte(void **state)
{
	static const struct {
		const char *data, *want;
	} cases[] = {
		{"", "\"\""},
		{"plain ~ text", "\"plain ~ text\""},
		{"a \"b\" c\\d/e", "\"a \\\"b\\\" c\\\\d/e\""},
		{"a\tb\r\nc\n", "\"a\\tb\\r\\nc\\n\""},
		{"\x1b[31m\x01\x7f", "\"\\u001b[31m\\u0001\\u007f\""},
		{"caf\xC3\xA9 \xF0\x9F\x98\x80", "\"caf\xC3\xA9 \xF0\x9F\x98\x80\""},
		/* What must not be printed: C1, bidi, a byte order mark, a tag. */
		{"\xC2\x9B \xE2\x80\xAE \xEF\xBB\xBF \xF3\xA0\x81\x81",
		 "\"\\u009b \\u202e \\ufeff \\udb40\\udc41\""},
		/* Not UTF-8: Latin-1, a surrogate, too long a form, cut at the end. */
		{"caf\xE9!", "\"caf\xEF\xBF\xBD!\""},
		{"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
		{"x\xE2\x82", "\"x\xEF\xBF\xBD\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(cases[i].data, strlen(cases[i].data), cases[i].want);
	check("a\0b", 3, "\"a\\u0000b\"");
}

static void pieces_are_put_together(void **state)
{
	struct buffer out = BUFFER_INIT;
	(void)state;
	assert_int_equal(json_text_piece(&out, "a\n", 2), 0);
	assert_int_equal(json_text_piece(&out, NULL, 0), 0);
	assert_int_equal(json_text_piece(&out, "\"b", 2), 0);
	assert_string_equal(buffer_string(&out), "a\\n\\\"b");
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_byte),
		cmocka_unit_test(pieces_are_put_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
