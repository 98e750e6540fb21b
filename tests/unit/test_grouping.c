// Which texts are lists of matches in files, and the names in them.

#include "lib/buffer.h"
#include "supervisor/preview/head.h"
#include "tests/unit/unit.h"

TEST(names_of_files)
{
	static const struct {
		enum grouping_form form;
		const char *line;
		size_t name;
	} rows[] = {
		{GROUPING_NUMBERED, "src/a.c:12:int x;", 7},
		{GROUPING_NUMBERED, "Makefile:1:", 8},
		{GROUPING_NUMBERED, "a.c:12:5: error", 3},
		{GROUPING_NUMBERED, "a:b.c:12:x", 5},
		{GROUPING_NUMBERED, "h\xC3\xA9.txt:1:x", 7},
		{GROUPING_NUMBERED, "src/a.c:int x;", 0},
		{GROUPING_NUMBERED, "src/a.c-12-int x;", 0},
		{GROUPING_NUMBERED, "12:int x;", 0},
		{GROUPING_NUMBERED, "12:13:int x;", 0},
		{GROUPING_NUMBERED, ":12:x", 0},
		{GROUPING_NUMBERED, "--", 0},
		{GROUPING_NUMBERED, "", 0},
		{GROUPING_NUMBERED, "2026-11-22 05:12:33 an error", 0},
		{GROUPING_NUMBERED, "2026-11-22T05:12:33 an error", 0},
		{GROUPING_NUMBERED, "[05:12:33] an error", 0},
		{GROUPING_NUMBERED, "10.0.0.1:8080: refused", 0},
		{GROUPING_NUMBERED, "a file.c:12:x", 0},
		{GROUPING_NUMBERED, "f(x):12:x", 0},
		{GROUPING_PLAIN, "src/a.c:int x;", 7},
		{GROUPING_PLAIN, "a.c:x", 3},
		{GROUPING_PLAIN, "a.c:", 0},
		{GROUPING_PLAIN, "src/a.cc::x", 0},
		{GROUPING_PLAIN, "std::string x;", 0},
		{GROUPING_PLAIN, "grep: a.c: No such file or directory", 0},
		{GROUPING_PLAIN, "http://a.example/b", 0},
		{GROUPING_PLAIN, "case 1: return a.c;", 0},
		{GROUPING_PLAIN, "no colon", 0},
		{GROUPING_NONE, "src/a.c:12:int x;", 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t name = grouping_name(rows[i].form, rows[i].line, strlen(rows[i].line));
		if (name != rows[i].name)
			fail_msg("%s: %zu", rows[i].line, name);
	}
}

static enum grouping_form form_of(const char *text)
{
	return grouping_find_form(text, strlen(text));
}

TEST(forms_of_texts)
{
	assert_int_equal(form_of("src/a.c:1:x\nsrc/a.c:2:x\nsrc/b.c:3:x\nsrc/b.c:4:x\n"),
			 GROUPING_NUMBERED);
	assert_int_equal(form_of("src/a.c:1:x\nsrc/a.c:2:x\nsrc/a.c:3:x\n"), GROUPING_NUMBERED);
	assert_int_equal(form_of("src/a.c:x\nsrc/a.c:x\nsrc/b.c:x\nsrc/b.c:x\n"), GROUPING_PLAIN);
	/* Without numbers one name may be anything. */
	assert_int_equal(form_of("host.a:x\nhost.a:y\nhost.a:z\n"), GROUPING_NONE);
	/* Nothing is saved. */
	assert_int_equal(form_of("src/a.c:1:x\nsrc/b.c:2:x\nsrc/c.c:3:x\n"), GROUPING_NONE);
	assert_int_equal(form_of("a.c:1:this line is much longer than the name of its file\n"
				 "a.c:2:this line is much longer than the name of its file\n"),
			 GROUPING_NONE);
	/* Other lines between the matches. */
	assert_int_equal(form_of("a/b/c:1:x\nfoo\na/b/c:2:x\nbar\na/b/c:3:x\n"), GROUPING_NONE);
	assert_int_equal(form_of(""), GROUPING_NONE);
	assert_int_equal(form_of("no line"), GROUPING_NONE);
}

TEST_MAIN(NULL, NULL)
