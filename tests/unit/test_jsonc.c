// JSON with comments: reading it, and changes that touch nothing else.

#include "supervisor/agents/jsonc.h"

#include "lib/buffer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const path[] = {"a", "b", NULL};

static void parse(struct jsonc *j, const char *text)
{
	assert_int_equal(jsonc_parse(j, text, strlen(text)), 0);
}

static void expect(struct buffer *got, const char *want)
{
	assert_non_null(buffer_string(got));
	assert_string_equal(got->data, want);
	buffer_release(got);
}

static void texts_are_read_or_refused(void **state)
{
	static const struct {
		const char *text, *reason;
		size_t line;
	} rows[] = {
		{"", NULL, 0},
		{"// nothing\n/* at all */", NULL, 0},
		{"{}", NULL, 0},
		{"\xef\xbb\xbf{ } // end", NULL, 0},
		{"{\"a\": [1, -2.5e3, true, null, \"\\u00e4\",],}", NULL, 0},
		/* Others read these as U+FFFD; here they stay. */
		{"{\"\xff\": \"\\ud83d\", \"n\": 99999999999999999999}", NULL, 0},
		{"{,}", "a key in double quotes is expected", 1},
		{"{\"a\": [,]}", "a value is expected", 1},
		{"{\"a\" 1}", "a colon is expected behind a key", 1},
		{"{\n\"a\": 'x'}", "a value is expected", 2},
		{"{\"a\": nan}", "a value is expected", 1},
		{"{\"a\":", "the text ends too early", 1},
		{"{\"\\x\": 1}", "a string with an invalid escape or character", 1},
		{"\"a\"", "not an object", 1},
		{"{}\n\n]", "something follows the end of the object", 3},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct jsonc j;
		int status = jsonc_parse(&j, rows[i].text, strlen(rows[i].text));
		if (rows[i].reason) {
			assert_int_equal(status, -1);
			assert_int_equal(errno, EINVAL);
			assert_string_equal(j.reason, rows[i].reason);
			assert_int_equal(jsonc_line(j.text, j.at), rows[i].line);
		} else {
			assert_int_equal(status, 0);
		}
		jsonc_release(&j);
	}
}

static void members_are_found(void **state)
{
	struct jsonc j;
	char *text;
	(void)state;
	parse(&j, "{\"a\": {\"x\": 0, \"b\": \"one\", \"b\": \"t\\u0077o\"}, \"c\": [3]}");
	text = jsonc_string(&j, jsonc_find(&j, path));
	assert_string_equal(text, "two");
	free(text);
	assert_int_equal(jsonc_member(&j, 0, "b"), -1);
	assert_int_equal(jsonc_member(&j, jsonc_member(&j, 0, "c"), "b"), -1);
	assert_null(jsonc_string(&j, jsonc_member(&j, 0, "c")));
	jsonc_release(&j);
}

static void values_are_added(void **state)
{
	static const struct {
		const char *text;
		bool element;
		const char *want;
	} rows[] = {
		{"", false, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
		{"// c", false, "// c\n{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"},
		{"{}", true, "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}"},
		{"{\"x\":0}", false, "{\"x\":0, \"a\": {\"b\": 1}}"},
		{"{\"a\": { }}", false, "{\"a\": {\"b\": 1}}"},
		{"{\"a\": {\"b\": []}}", true, "{\"a\": {\"b\": [1]}}"},
		{"{\"a\": {\"b\": [0,]}}", true, "{\"a\": {\"b\": [0, 1,]}}"},
		{"{\n\t\"x\": 0 /* c */ // d\n}", false,
		 "{\n\t\"x\": 0, /* c */ // d\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}"},
		{"{\n    \"a\": {\n        // c\n    }\n}", false,
		 "{\n    \"a\": {\n        \"b\": 1\n        // c\n    }\n}"},
		{"{\r\n \"x\": 0\r\n}", false,
		 "{\r\n \"x\": 0,\r\n \"a\": {\r\n  \"b\": 1\r\n }\r\n}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT;
		struct jsonc j;
		parse(&j, rows[i].text);
		assert_int_equal(jsonc_add(&out, &j, path, "1", rows[i].element), 0);
		expect(&out, rows[i].want);
		jsonc_release(&j);
	}
}

static void values_in_the_way_are_refused(void **state)
{
	static const struct {
		const char *text;
		bool element;
		int error;
	} rows[] = {
		{"{\"a\": 1}", false, ENOTDIR},
		{"{\"a\": []}", false, ENOTDIR},
		{"{\"a\": {\"b\": {}}}", true, ENOTDIR},
		{"{\"a\": {\"b\": {}}}", false, EEXIST},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT;
		struct jsonc j;
		parse(&j, rows[i].text);
		assert_int_equal(jsonc_add(&out, &j, path, "1", rows[i].element), -1);
		assert_int_equal(errno, rows[i].error);
		assert_int_equal(out.len, 0);
		jsonc_release(&j);
	}
}

static void values_are_removed(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"{\"a\": {\"b\": 1}}", "{\"a\": {}}"},
		{"{\"a\": {\"b\": 1, \"c\": 2}}", "{\"a\": {\"c\": 2}}"},
		{"{\"a\": {\"c\": 2, \"b\": 1}}", "{\"a\": {\"c\": 2}}"},
		{"{\"a\": {\"c\": 2, \"b\": 1,}}", "{\"a\": {\"c\": 2,}}"},
		{"{\"a\": {\"c\": 2, \"b\": 1, \"d\": 3}}", "{\"a\": {\"c\": 2, \"d\": 3}}"},
		{"{\"a\": {\n  \"b\": 1\n}}", "{\"a\": {}}"},
		{"{\"a\": {\n  // for b\n  \"b\": 1\n}}", "{\"a\": {\n  // for b\n}}"},
		{"{\"a\": {\n  \"c\": 2, // c\n  \"b\": 1\n}}", "{\"a\": {\n  \"c\": 2 // c\n}}"},
		{"{\"a\": {\n  \"b\": 1,\n  \"c\": 2\n}}", "{\"a\": {\n  \"c\": 2\n}}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT;
		struct jsonc j;
		parse(&j, rows[i].text);
		assert_int_equal(jsonc_remove(&out, &j, jsonc_find(&j, path)), 0);
		expect(&out, rows[i].want);
		jsonc_release(&j);
	}
}

static void values_are_replaced(void **state)
{
	struct buffer out = BUFFER_INIT;
	struct jsonc j;
	(void)state;
	parse(&j, "{\"a\" : {\"b\" :[1] /* c */ } }");
	assert_int_equal(jsonc_replace(&out, &j, jsonc_find(&j, path), "\"x\""), 0);
	expect(&out, "{\"a\" : {\"b\" :\"x\" /* c */ } }");
	jsonc_release(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_read_or_refused),
		cmocka_unit_test(members_are_found),
		cmocka_unit_test(values_are_added),
		cmocka_unit_test(values_in_the_way_are_refused),
		cmocka_unit_test(values_are_removed),
		cmocka_unit_test(values_are_replaced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
