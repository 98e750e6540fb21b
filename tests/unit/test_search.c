// The verb search: artifacts, limits, pages. tests/frozen/search.txt has what it prints of files.

#include "tests/unit/search.h"
#include "tests/unit/unit.h"

TEST_IN(test_lines, setup, teardown)
{
	make("default", "one\ntwo\nthree\nfour\nfive\n");
	assert_int_equal(call("search @ e$"), 0);
	expect(&out, "1:one\n3:three\n5:five\n");
	assert_int_equal(call("search last -l e$"), 0);
	expect(&out, "@\n");
	assert_int_equal(call("search @.txt -C1 four"), 0);
	expect(&out, "3-three\n4:four\n5-five\n");
}

/* Numbers in lines, so that a line's number and its text are the same. */
static void write_numbers(const char *name, int last)
{
	struct buffer b = BUFFER_INIT;
	for (int i = 1; i <= last; i++)
		buffer_printf(&b, "%d\n", i);
	write_file(name, b.data, b.len);
	buffer_release(&b);
}

/* The notices behind the matches. */
static const char *notices(void)
{
	const char *at = strstr(out.data, "\n[");
	assert_non_null(at);
	return at + 1;
}

TEST_IN(test_limit, setup, teardown)
{
	static const struct {
		const char *line;
		unsigned shown;
		const char *notice;
	} cases[] = {
		{"search n 0", 100,
		 "[100 of 23,254 matches shown: terse search n 0 --limit 23254, or narrow the "
		 "pattern]\n[next match: line 560: terse search n 0 --offset 560]\n"},
		{"search n 0 --limit 3", 3,
		 "[3 of 23,254 matches shown: terse search n 0 --limit 23254, or narrow the "
		 "pattern]\n[next match: line 40: terse search n 0 --offset 40]\n"},
		{"search n 0 -m1", 1,
		 "[1 of 23,254 matches shown: terse search n 0 --limit 23254, or narrow the "
		 "pattern]\n[next match: line 20: terse search n 0 --offset 20]\n"},
		{"search n 0 --limit 1 --offset 50000", 1,
		 "[1 of 6,879 matches from line 50,000 on shown: terse search n 0 --offset 50000 "
		 "--limit 6879, or narrow the pattern]\n"
		 "[next match: line 50,001: terse search n 0 --offset 50001]\n"},
		{"search n -ivwF 0 -a --limit 2 -A1", 2,
		 "[2 of 70,000 matches shown: terse search n 0 -i -w -v -F -a -A 1 --limit "
		 "70000, or narrow the pattern]\n"
		 "[next match: line 3: terse search n 0 -i -w -v -F -a -A 1 --offset 3]\n"},
		{"search n '7 ?0|it'\\''s' --limit 1 -C 2", 1,
		 "[1 of 2,094 matches shown: terse search n '7 ?0|it'\\''s' -C 2 --limit 2094, or "
		 "narrow the pattern]\n"
		 "[next match: line 170: terse search n '7 ?0|it'\\''s' -C 2 --offset 170]\n"},
		{"search ./-n -e -0 --limit 1", 1,
		 "[1 of 2 matches shown: terse search ./-n -e -0 --limit 2, or narrow the "
		 "pattern]\n[next match: line 2: terse search ./-n -e -0 --offset 2]\n"},
		{"search 'a b' '\t' --limit 1", 1,
		 "[1 of 2 matches shown: terse search 'a b' $'\\011' --limit 2, or narrow the "
		 "pattern]\n[next match: line 2: terse search 'a b' $'\\011' --offset 2]\n"},
	};
	write_numbers("n", 70000);
	write_file("-n", "-0\n-0\n", 6);
	write_file("a b", "\t\n\t\n", 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned shown = 0;
		assert_int_equal(call(cases[i].line), 0);
		if (strcmp(notices(), cases[i].notice) != 0)
			fail_msg("%s:\n%s", cases[i].line, notices());
		for (const char *at = out.data; at < notices(); at = strchr(at, '\n') + 1)
			shown += at[strspn(at, "0123456789")] == ':';
		assert_int_equal(shown, cases[i].shown);
		assert_string_equal(err.data, "");
	}
	/* All of them: nothing to be said. */
	assert_int_equal(call("search n ^1.$ --limit 10"), 0);
	expect(&out, "10:10\n11:11\n12:12\n13:13\n14:14\n15:15\n16:16\n17:17\n18:18\n19:19\n");
	/* Lines behind the last one that is shown, but not the next match. */
	assert_int_equal(call("search n ^1.$ --limit 1 -A1"), 0);
	assert_memory_equal(out.data, "10:10\n[1 of 10", 14);
	assert_int_equal(call("search n ^69999 --limit 1 -A1"), 0);
	expect(&out, "69999:69999\n70000-70000\n");
}

/* The command that the last line says goes on, in `line`. */
static bool get_next(char line[4096])
{
	static const char *const marks[] = {"\n[next match: line ", " shown, as many as fit: "};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(out.data, marks[i]);
		if (!at)
			continue;
		at = strstr(at, ": terse ") + strlen(": terse ");
		const char *end = strstr(at, i == 0 ? "]\n" : ", or narrow the pattern]\n");
		assert_non_null(end);
		snprintf(line, 4096, "%.*s", (int)(end - at), at);
		return true;
	}
	return false;
}

/* Every page's last command, run literally, until there is none: every match once. */
static void check_pages(const char *first, uint64_t total, int least)
{
	char line[4096];
	uint64_t matches = 0, last = 0;
	int pages = 0;
	snprintf(line, sizeof(line), "%s", first);
	do {
		assert_int_equal(call(line), 0);
		assert_string_equal(err.data, "");
		assert_true(out.len <= 30000);
		for (const char *at = out.data; *at; at = strchr(at, '\n') + 1) {
			size_t digits = strspn(at, "0123456789");
			if (digits == 0 || at[digits] != ':')
				continue;
			uint64_t number = strtoull(at, NULL, 10);
			assert_true(number > last);
			last = number;
			matches++;
		}
		assert_true(++pages < 1000);
	} while (get_next(line));
	assert_int_equal(matches, total);
	assert_true(pages >= least);
}

TEST_IN(test_pages, setup, teardown)
{
	struct buffer b = BUFFER_INIT;
	write_numbers("n", 3000);
	check_pages("search n 7", 813, 9);
	check_pages("search n 7 -C 1", 813, 9);
	check_pages("search n 7 --limit 1000", 813, 1);
	check_pages("search n -v 7 --limit 2999", 3000 - 813, 1);
	/* Over the bytes that fit. */
	for (int i = 0; i < 1000; i++) {
		buffer_printf(&b, "%d \"x\" ", i);
		for (int n = i % 9 * 20; n > 0; n--)
			buffer_append_string(&b, "\xE2\x82\xAC");
		buffer_append_string(&b, "\n");
	}
	write_file("w", b.data, b.len);
	check_pages("search w '\"x\"'", 1000, 10);
	check_pages("search w x --limit 1000", 1000, 7);
	check_pages("search w '[05] \"' --limit 1000 -C2", 200, 5);
	check_pages("search w '[05] \"' -B 200", 200, 5);
	buffer_release(&b);
}

TEST_MAIN(NULL, NULL)
