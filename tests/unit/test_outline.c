// JSON with comments: reading it, and changes that touch nothing else.

#include "supervisor/agents/outline.h"

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "tests/unit/unit.h"

static const char *const path[] = {"a", "b", NULL};

/* The node that the path leads to, or -1. */
static int find(const struct outline *j)
{
	int nodes[2];
	return outline_find(j, path, nodes) == 2 ? nodes[1] : -1;
}

static void parse(struct outline *j, const char *text)
{
	assert_int_equal(outline_parse(j, text, strlen(text)), 0);
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
		int status = outline_parse(&j, rows[i].text, strlen(rows[i].text));
		if (rows[i].reason) {
			assert_int_equal(status, -1);
			assert_int_equal(errno, EINVAL);
			assert_string_equal(j.reason, rows[i].reason);
			assert_int_equal(1 + newline_count(j.text, j.at), rows[i].line);
		} else {
			assert_int_equal(status, 0);
		}
		outline_release(&j);
	}
}

TEST(members_are_found)
{
	struct outline j;
	parse(&j, "{\"a\": {\"x\": 0, \"b\": \"one\", \"b\": \"two\"}, \"c\": [3]}");
	const struct outline_node *n = &j.nodes[find(&j)];
	assert_int_equal(n->kind, OUTLINE_STRING);
	assert_memory_equal(j.text + n->start, "\"two\"", n->end - n->start);
	assert_int_equal(outline_member(&j, 0, "b"), -1);
	assert_int_equal(outline_member(&j, outline_member(&j, 0, "c"), "b"), -1);
	outline_release(&j);
}

TEST(values_are_changed)
{
	enum { MEMBER, ELEMENT, REMOVED };
	static const struct {
		const char *text;
		int change; /* of a.b: 1 is added, it is removed */
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
		/* Nothing becomes part of the comment above. */
		{"{\"a\": {\n// c\n  \"b\": 1, \"d\": 3\n}}", REMOVED,
		 "{\"a\": {\n// c\n   \"d\": 3\n}}", 0},
		{"{\"a\": {\n  \"c\": 2, // c\n  \"b\": 1 }}", REMOVED,
		 "{\"a\": {\n  \"c\": 2 // c\n   }}", 0},
		{"{\"a\": { // c\n  \"b\": 1 }}", REMOVED, "{\"a\": { // c\n   }}", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct buffer text = BUFFER_INIT;
		struct splice s = {.from = 0};
		struct outline j;
		parse(&j, rows[i].text);
		int change = rows[i].change, status = 0;
		if (change == REMOVED)
			outline_remove(&s, &j, find(&j));
		else
			status = outline_add(&s, &j, path, "1", change == ELEMENT);
		assert_int_equal(status, rows[i].error ? -1 : 0);
		if (rows[i].error)
			assert_int_equal(errno, rows[i].error);
		buffer_append_string(&text, rows[i].text);
		assert_non_null(buffer_string(&text));
		assert_int_equal(splice_make(&s, &text), 0);
		assert_string_equal(text.data, rows[i].want ? rows[i].want : rows[i].text);
		buffer_release(&text);
		outline_release(&j);
	}
}

TEST_MAIN(NULL, NULL)
