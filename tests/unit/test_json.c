// JSON as it is written, and what is read of it.

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "tests/unit/unit.h"

static void check(const char *data, size_t len, const char *want)
{
	struct buffer out = BUFFER_INIT;
	json_add_text(&out, NULL, data, len);
	assert_string_equal(buffer_string(&out), want);
	buffer_release(&out);
}

TEST(every_kind_of_byte)
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
		/* Characters that must not be printed: C1, bidi, a byte order mark, a tag. */
		{"\xC2\x9B \xE2\x80\xAE \xEF\xBB\xBF \xF3\xA0\x81\x81",
		 "\"\\u009b \\u202e \\ufeff \\udb40\\udc41\""},
		/* Not UTF-8: Latin-1, a surrogate, too long a form, cut at the end. */
		{"caf\xE9!", "\"caf\xEF\xBF\xBD!\""},
		{"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\""},
		{"x\xE2\x82", "\"x\xEF\xBF\xBD\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(cases[i].data, strlen(cases[i].data), cases[i].want);
	check("a\0b", 3, "\"a\\u0000b\"");
}

TEST(lists_get_their_commas)
{
	struct buffer out = BUFFER_INIT;
	json_begin(&out, NULL, '{');
	json_begin(&out, "empty", '[');
	json_end(&out, ']');
	json_begin(&out, "list", '[');
	json_add_count(&out, NULL, 1);
	json_add_text(&out, NULL, "{[:,", 4);
	json_begin(&out, NULL, '{');
	json_add_null(&out, "none");
	json_add_bool(&out, "yes", true);
	json_end(&out, '}');
	json_begin(&out, NULL, '{');
	json_end(&out, '}');
	json_end(&out, ']');
	json_add_string(&out, "nothing", NULL);
	json_add_raw(&out, "made", "[2, 3]", 6);
	json_begin(&out, "text", '"');
	json_text_piece(&out, "a", 1);
	json_text_piece(&out, "\n", 1);
	json_end(&out, '"');
	json_end(&out, '}');
	buffer_append(&out, "\n", 1);
	json_begin(&out, NULL, '{');
	json_end(&out, '}');
	assert_string_equal(buffer_string(&out),
			    "{\"empty\":[],\"list\":[1,\"{[:,\",{\"none\":null,\"yes\":true},{}],"
			    "\"nothing\":null,\"made\":[2, 3],\"text\":\"a\\n\"}\n{}");
	buffer_release(&out);
}

TEST(every_kind_of_value)
{
	struct buffer out = BUFFER_INIT;
	json_add_count(&out, "count", UINT64_MAX);
	json_add_number(&out, "number", INT64_MIN);
	json_add_known(&out, "known", true, 7);
	json_add_known(&out, "unknown", false, 7);
	json_add_bool(&out, "no", false);
	json_add_time(&out, "time", 1763629414123);
	json_add_time(&out, "never", 0);
	json_add_signal(&out, "signal", 15);
	json_add_signal(&out, "real time", 63);
	json_add_signal(&out, "none", 0);
	assert_string_equal(buffer_string(&out),
			    "\"count\":18446744073709551615,\"number\":-9223372036854775808,"
			    "\"known\":7,\"unknown\":null,\"no\":false,"
			    "\"time\":\"2025-11-20T09:03:34.123Z\",\"never\":null,"
			    "\"signal\":\"SIGTERM\",\"real time\":\"63\",\"none\":null");
	buffer_release(&out);
}

TEST(a_long_command_is_cut)
{
	static char *const words[] = {(char *)"ab", (char *)"c\xC3\xA9", (char *)"d", NULL};
	static const struct {
		size_t budget, extra;
		bool cut;
		const char *want;
	} cases[] = {
		{SIZE_MAX, 0, false, "[\"ab\",\"c\xC3\xA9\",\"d\"]"},
		{6, 0, false, "[\"ab\",\"c\xC3\xA9\",\"d\"]"},
		{5, 0, true, "[\"ab\",\"c\xC3\xA9\"]"},
		{4, 0, true, "[\"ab\",\"c\"]"},
		{2, 0, true, "[\"ab\"]"},
		{0, 0, true, "[\"\"]"},
		{15, 3, false, "[\"ab\",\"c\xC3\xA9\",\"d\"]"},
		{11, 3, true, "[\"ab\",\"c\xC3\xA9\"]"},
		{5, 3, true, "[\"ab\"]"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer out = BUFFER_INIT;
		assert_int_equal(
			json_add_command(&out, NULL, words, cases[i].budget, cases[i].extra),
			cases[i].cut);
		assert_string_equal(buffer_string(&out), cases[i].want);
		buffer_release(&out);
	}
	struct buffer out = BUFFER_INIT;
	assert_false(json_add_command(&out, "command", NULL, 9, 0));
	assert_string_equal(buffer_string(&out), "\"command\":[]");
	buffer_release(&out);
}

/* What jansson refuses and others write. */
TEST(limits_are_mended)
{
	static const char *const cases[][2] = {
		{"[\"cut \\ud83d\"]", "[\"cut \xEF\xBF\xBD\"]"},
		{"[\"\\uDE00 \\ud83d\\ud83d\\uDE00x\"]",
		 "[\"\xEF\xBF\xBD \xEF\xBF\xBD\xF0\x9F\x98\x80x\"]"},
		{"[\"\\\\ud83d \\\"\\ud83d\"]", "[\"\\\\ud83d \\\"\xEF\xBF\xBD\"]"},
		{"[\"a\xE2\x82\", \"\xFF\xC3\xA9\"]",
		 "[\"a\xEF\xBF\xBD\",\"\xEF\xBF\xBD\xC3\xA9\"]"},
		{"[99999999999999999999]", NULL},
		{"[1e999]", NULL},
		{"[\"\\x\"]", NULL},
		{"[\"\\ud83", NULL},
		{"[\"\\ud83d\"", NULL},
		{"\xff", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_error_t error;
		json_t *value = json_read(cases[i][0], strlen(cases[i][0]), 0, &error);
		char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
		if (cases[i][1])
			assert_string_equal(text, cases[i][1]);
		else
			assert_true(!value && *error.text);
		free(text);
		json_decref(value);
	}
}

TEST_MAIN(NULL, NULL)
