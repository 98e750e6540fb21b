// Members of JSON objects without a tree.

#include "lib/members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* The members as "key=value;", and "!" if it is damaged. */
static const char *all(const char *text, char out[256])
{
	struct members m;
	size_t len = 0;
	out[0] = '\0';
	members_begin(&m, text, strlen(text));
	while (members_next(&m))
		len += (size_t)snprintf(out + len, 256 - len, "%.*s=%.*s;", (int)m.key_len, m.key,
					(int)m.value.len, m.value.data);
	snprintf(out + len, 256 - len, "%s", m.bad ? "!" : "");
	return out;
}

static void objects(void **state)
{
	static const struct {
		const char *text, *members;
	} cases[] = {
		{"{}", ""},
		{"{\"a\":1}", "a=1;"},
		{"{\"a\":null,\"b\":true}", "a=null;b=true;"},
		{"{\"a\":[1,{\"x\":\"]}\"},[]],\"b\":{\"c\":[]}}",
		 "a=[1,{\"x\":\"]}\"},[]];b={\"c\":[]};"},
		{"{\"a\":\"\\\"}\\\\\",\"b\":\"\"}", "a=\"\\\"}\\\\\";b=\"\";"},
		{"{\"a\":\"\\\\\\\"\",\"b\":2}", "a=\"\\\\\\\"\";b=2;"},
		/* Damaged. */
		{"", "!"},
		{"[1]", "!"},
		{"{\"a\":1", "!"},
		{"{\"a\"}", "!"},
		{"{\"a\":\"x}", "!"},
		{"{\"a\":1,\"b\":[}", "a=1;!"},
		{"{\"a\":1 \"b\":2", "!"},
		{"{a:1}", "!"},
	};
	char out[256];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(all(cases[i].text, out), cases[i].members);
}

/* No prefix of an object is read beyond its end (the sanitizer watches), or taken for whole. */
static void cut(void **state)
{
	static const char text[] = "{\"a\":[1,\"\\\"]\"],\"b\":{\"c\":\"d\"}}";
	(void)state;
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char copy[sizeof(text)], out[256];
		memcpy(copy, text, len);
		copy[len] = '\0';
		assert_non_null(strchr(all(copy, out), '!'));
	}
}

static void numbers(void **state)
{
	const struct member_value one = {"1234,5", 4}, list = {"[1,20,300]", 10},
				  none = {"\"x\"", 3};
	(void)state;
	assert_int_equal(member_number(&one, 0), 1234);
	assert_int_equal(member_number(&list, 0), 1);
	assert_int_equal(member_number(&list, 2), 300);
	assert_int_equal(member_number(&list, 3), 0);
	assert_int_equal(member_number(&none, 0), 0);
}

static void strings(void **state)
{
	const struct member_value text = {"\"abc\"", 5}, number = {"12", 2};
	(void)state;
	assert_int_equal(member_plain(&text).len, 3);
	assert_memory_equal(member_plain(&text).data, "abc", 3);
	assert_int_equal(member_plain(&number).len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),
		cmocka_unit_test(cut),
		cmocka_unit_test(numbers),
		cmocka_unit_test(strings),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
