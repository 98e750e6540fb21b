// Members of JSON objects without a tree.

#include "lib/members.h"
#include "tests/unit/unit.h"

/* The members as "key=value;", those of a list as "value;", and "!" if it is damaged. */
static const char *all(const char *text, char out[256])
{
	struct members m;
	size_t len = 0;
	out[0] = '\0';
	members_begin(&m, text, strlen(text));
	while (members_next(&m))
		len += (size_t)snprintf(out + len, 256 - len, "%.*s%s%.*s;", (int)m.key.len,
					m.key.data, m.is_list ? "" : "=", (int)m.value.len,
					m.value.data);
	snprintf(out + len, 256 - len, "%s", m.bad ? "!" : "");
	return out;
}

TEST(objects_and_lists)
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
		{"{\"a\":1", "!"},
		{"{\"a\"}", "!"},
		{"{\"a\":\"x}", "!"},
		{"{\"a\":1,\"b\":[}", "a=1;!"},
		{"{\"a\":1 \"b\":2", "!"},
		{"{a:1}", "!"},
		/* Lists. */
		{"[]", ""},
		{"[1]", "1;"},
		{"[\"a,]\",[2,3],{\"b\":4}]", "\"a,]\";[2,3];{\"b\":4};"},
		{"[1,]", "1;!"},
		{"[,1]", "!"},
		{"[1}", "!"},
		{"[1]]", "!"},
		{"[", "!"},
	};
	char out[256];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(all(cases[i].text, out), cases[i].members);
}

/* No prefix of an object is read beyond its end (the sanitizer watches), or taken for whole. */
TEST(cut)
{
	static const char text[] = "{\"a\":[1,\"\\\"]\"],\"b\":{\"c\":\"d\"}}";
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char copy[sizeof(text)], out[256];
		memcpy(copy, text, len);
		copy[len] = '\0';
		assert_non_null(strchr(all(copy, out), '!'));
	}
}

TEST(numbers)
{
	static const struct {
		const char *text;
		uint64_t most, n;
		bool good;
	} cases[] = {
		{"0", 9, 0, true},
		{"1234", 1234, 1234, true},
		{"1235", 1234, 0, false},
		{"", 9, 0, false},
		{"-1", 9, 0, false},
		{"1.0", 99, 0, false},
		{"\"1\"", 9, 0, false},
		{"01", 9, 0, false},
		{"1e3", 9999, 0, false},
		{"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
		{"18446744073709551616", UINT64_MAX, 0, false},
		{"99999999999999999999", UINT64_MAX, 0, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct member_value v = {cases[i].text, strlen(cases[i].text)};
		uint64_t n = 0;
		assert_int_equal(member_number(&v, cases[i].most, &n), cases[i].good);
		assert_true(!cases[i].good || n == cases[i].n);
	}
}

TEST(strings)
{
	static const struct {
		const char *json, *text; /* NULL: none */
	} cases[] = {
		{"\"\"", ""},
		{"\"abc\"", "abc"},
		{"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
		{"\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC"},
		{"\"\\ud83d\\ude00\"", "\xF0\x9F\x98\x80"},
		{"\"\\ud83d\"", "\xEF\xBF\xBD"},
		{"\"\\ude00x\\ud83d\\u0041\"", "\xEF\xBF\xBDx\xEF\xBF\xBD"
					       "A"},
		{"\"\xC3\xA9\"", "\xC3\xA9"},
		{"12", NULL},
		{"\"\xFF\"", NULL},
		{"\"\xC3\"", NULL},
		{"\"a\nb\"", NULL},
		{"\"\\u0000\"", NULL},
		{"\"\\u12\"", NULL},
		{"\"\\x\"", NULL},
		{"\"", NULL},
	};
	char out[64];
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct member_value v = {cases[i].json, strlen(cases[i].json)};
		const char *end = member_text(&v, out);
		assert_int_equal(end != NULL, cases[i].text != NULL);
		if (end)
			assert_string_equal(out, cases[i].text);
		assert_true(!end || end == out + strlen(out) + 1);
		assert_true(!end || (size_t)(end - out) <= v.len);
	}
}

TEST_MAIN(NULL, NULL)
