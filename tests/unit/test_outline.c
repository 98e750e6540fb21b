// JSON with comments and TOML: reading them, and changes that touch nothing else.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "tests/unit/unit.h"

static const char *const path[] = {"a", "b", NULL};

static void parse(struct outline *j, const char *text)
{
	assert_int_equal(outline_parse(j, false, text, strlen(text)), 0);
}

TEST(texts_are_read_or_refused)
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
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct outline j;
		int status = outline_parse(&j, false, rows[i].text, strlen(rows[i].text));
		if (rows[i].reason) {
			assert_int_equal(status, -1);
			assert_int_equal(errno, EINVAL);
			assert_string_equal(j.reason, rows[i].reason);
			assert_int_equal(outline_line(j.text, j.at), rows[i].line);
		} else {
			assert_int_equal(status, 0);
		}
		outline_release(&j);
	}
}

TEST(members_are_found)
{
	struct outline j;
	char *text;
	parse(&j, "{\"a\": {\"x\": 0, \"b\": \"one\", \"b\": \"t\\u0077o\"}, \"c\": [3]}");
	text = outline_string(&j, outline_find(&j, path));
	assert_string_equal(text, "two");
	free(text);
	assert_int_equal(outline_member(&j, 0, "b"), -1);
	assert_int_equal(outline_member(&j, outline_member(&j, 0, "c"), "b"), -1);
	assert_null(outline_string(&j, outline_member(&j, 0, "c")));
	outline_release(&j);
}

TEST(values_are_changed)
{
	enum { MEMBER, ELEMENT, REMOVED, REPLACED };
	static const struct {
		const char *text;
		int change; /* of a.b: 1 is added, it is removed, "x" is in its place */
		const char *want;
		int error;
	} rows[] = {
		{"", MEMBER, "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", 0},
		{"// c", MEMBER, "// c\n{\n  \"a\": {\n    \"b\": 1\n  }\n}\n", 0},
		{"{}", ELEMENT, "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}", 0},
		{"{\"x\":0}", MEMBER, "{\"x\":0, \"a\": {\"b\": 1}}", 0},
		{"{\"a\": { }}", MEMBER, "{\"a\": {\"b\": 1}}", 0},
		{"{\"a\": {\"b\": []}}", ELEMENT, "{\"a\": {\"b\": [1]}}", 0},
		{"{\"a\": {\"b\": [0,]}}", ELEMENT, "{\"a\": {\"b\": [0, 1,]}}", 0},
		{"{\n\t\"x\": 0 /* c */ // d\n}", MEMBER,
		 "{\n\t\"x\": 0, /* c */ // d\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}", 0},
		{"{\n    \"a\": {\n        // c\n    }\n}", MEMBER,
		 "{\n    \"a\": {\n        \"b\": 1\n        // c\n    }\n}", 0},
		{"{\r\n \"x\": 0\r\n}", MEMBER,
		 "{\r\n \"x\": 0,\r\n \"a\": {\r\n  \"b\": 1\r\n }\r\n}", 0},
		/* Something is in the way. */
		{"{\"a\": 1}", MEMBER, NULL, ENOTDIR},
		{"{\"a\": []}", MEMBER, NULL, ENOTDIR},
		{"{\"a\": {\"b\": {}}}", ELEMENT, NULL, ENOTDIR},
		{"{\"a\": {\"b\": {}}}", MEMBER, NULL, EEXIST},
		{"{\"a\": {\"b\": 1}}", REMOVED, "{\"a\": {}}", 0},
		{"{\"a\": {\"b\": 1, \"c\": 2}}", REMOVED, "{\"a\": {\"c\": 2}}", 0},
		{"{\"a\": {\"c\": 2, \"b\": 1}}", REMOVED, "{\"a\": {\"c\": 2}}", 0},
		{"{\"a\": {\"c\": 2, \"b\": 1,}}", REMOVED, "{\"a\": {\"c\": 2,}}", 0},
		{"{\"a\": {\"c\": 2, \"b\": 1, \"d\": 3}}", REMOVED,
		 "{\"a\": {\"c\": 2, \"d\": 3}}", 0},
		{"{\"a\": {\n  \"b\": 1\n}}", REMOVED, "{\"a\": {}}", 0},
		{"{\"a\": {\n  // for b\n  \"b\": 1\n}}", REMOVED, "{\"a\": {\n  // for b\n}}", 0},
		{"{\"a\": {\n  \"c\": 2, // c\n  \"b\": 1\n}}", REMOVED,
		 "{\"a\": {\n  \"c\": 2 // c\n}}", 0},
		{"{\"a\": {\n  \"b\": 1,\n  \"c\": 2\n}}", REMOVED, "{\"a\": {\n  \"c\": 2\n}}", 0},
		{"{\"a\" : {\"b\" :[1] /* c */ } }", REPLACED, "{\"a\" : {\"b\" :\"x\" /* c */ } }",
		 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT;
		struct outline j;
		parse(&j, rows[i].text);
		int node = outline_find(&j, path), change = rows[i].change;
		int status = change == REMOVED ? outline_remove(&out, &j, node)
			     : change == REPLACED
				     ? outline_replace(&out, &j, node, "\"x\"")
				     : outline_add(&out, &j, path, "1", change == ELEMENT);
		assert_int_equal(status, rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_int_equal(errno, rows[i].error);
		assert_string_equal(buffer_string(&out), rows[i].want ? rows[i].want : "");
		buffer_release(&out);
		outline_release(&j);
	}
}

/* TOML: adds a value, and takes it away again. */
TEST(tables_are_changed)
{
	static const char object[] = "{\"c\":\"x:{,\",\"d\":[1,{\"e\":2}]}";
	static const struct {
		const char *text, *value, *want;
		bool back; /* the first text comes back */
	} rows[] = {
		{"", "1", "[a]\nb = 1\n", false},
		{"x = 0", "1", "x = 0\n\n[a]\nb = 1\n", false},
		{"[a.c]\nd = [\n 1, # ]\n]\n", "1", "[a.c]\nd = [\n 1, # ]\n]\n\n[a]\nb = 1\n",
		 false},
		{"[a.c]\n[a] # e\n", "1", "[a.c]\n[a] # e\nb = 1\n", true},
		{"[a]\n  x.y = \"\"\"\n[\"\"\" # e\n[c]", "1",
		 "[a]\n  x.y = \"\"\"\n[\"\"\" # e\nb = 1\n[c]", true},
		{"a = {}\n", "1", "a = { b = 1 }\n", true},
		{"a = { c = 1979-05-27 07:32:00 } # d", "1",
		 "a = { c = 1979-05-27 07:32:00, b = 1 } # d", true},
		{"'a'.\"c\" = 0\r\n", "1", "'a'.\"c\" = 0\r\n'a'.b = 1\r\n", true},
		{"[[a]]\nb = 0\n[[a]]\n", "1", "[[a]]\nb = 0\n[[a]]\nb = 1\n", true},
		{"", object, "[a.b]\nc = \"x:{,\"\nd = [1, { e = 2 }]\n", true},
		{"f = 0\n", object, "f = 0\n\n[a.b]\nc = \"x:{,\"\nd = [1, { e = 2 }]\n", true},
		{"a = { f = 0 }\n", object,
		 "a = { f = 0, b = { c = \"x:{,\", d = [1, { e = 2 }] } }\n", true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer out = BUFFER_INIT, back = BUFFER_INIT;
		struct outline o;
		assert_int_equal(outline_parse(&o, true, rows[i].text, strlen(rows[i].text)), 0);
		assert_int_equal(outline_add(&out, &o, path, rows[i].value, false), 0);
		outline_release(&o);
		assert_string_equal(buffer_string(&out), rows[i].want);
		assert_int_equal(outline_parse(&o, true, out.data, out.len), 0);
		assert_int_equal(outline_remove(&back, &o, outline_find(&o, path)), 0);
		outline_release(&o);
		assert_non_null(buffer_string(&back));
		if (rows[i].back)
			assert_string_equal(back.data, rows[i].text);
		assert_int_equal(outline_parse(&o, true, back.data, back.len), 0);
		outline_release(&o);
		buffer_release(&out);
		buffer_release(&back);
	}
}

TEST(too_many_tables_are_refused)
{
	struct buffer text = BUFFER_INIT;
	struct outline o;
	for (int i = 0; i < OUTLINE_TOML_MAX; i++)
		buffer_append_string(&text, "[[a]]\n");
	assert_int_equal(outline_parse(&o, true, text.data, text.len), -1);
	assert_int_equal(outline_line(o.text, o.at), OUTLINE_TOML_MAX);
	outline_release(&o);
	buffer_release(&text);
}

TEST(strings_of_toml_are_read)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"a.b = 'c\\'", "c\\"},         {"[a]\nb = \"c\\t\"", "c\t"},
		{"a = { \"b\" = \"c\" }", "c"}, {"a.b = \"\"\"c\"\"\"", NULL},
		{"a.b = '''c'''", NULL},        {"a.b = 1", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct outline o;
		assert_int_equal(outline_parse(&o, true, rows[i].text, strlen(rows[i].text)), 0);
		int node = outline_find(&o, path);
		assert_true(node >= 0);
		char *got = outline_string(&o, node);
		assert_int_equal(got != NULL, rows[i].want != NULL);
		if (got)
			assert_string_equal(got, rows[i].want);
		free(got);
		outline_release(&o);
	}
}

TEST_MAIN(NULL, NULL)
