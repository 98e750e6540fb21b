// The verb search with what it prints, word for word.

#include "tests/unit/search.h"
#include "tests/unit/unit.h"

TEST_IN(test_lines, setup, teardown)
{
	static const char text[] = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";
	static const struct call calls[] = {
		{"search f e$", 0, "1:one\n3:three\n5:five\n9:nine\n", ""},
		{"search f o", 0, "1:one\n2:two\n4:four\n", ""},
		{"search f O", 1, "", "terse search: no match in 10 lines\n"},
		{"search f O -i", 0, "1:one\n2:two\n4:four\n", ""},
		{"search -i f O", 0, "1:one\n2:two\n4:four\n", ""},
		{"search f -v e", 0, "2:two\n4:four\n6:six\n", ""},
		{"search f -v ''", 1, "", "terse search: none that does not match in 10 lines\n"},
		{"search f -w t.", 1, "", "terse search: no match in 10 lines\n"},
		{"search f -w t..", 0, "2:two\n10:ten\n", ""},
		{"search f -F t.", 1, "", "terse search: no match in 10 lines\n"},
		{"search f -c o", 0, "3\n", ""},
		{"search f -c z", 1, "0\n", ""},
		{"search f -vc o", 0, "7\n", ""},
		{"search f -l o", 0, "f\n", ""},
		{"search f -l z", 1, "", ""},
		{"search f -nEP o", 0, "1:one\n2:two\n4:four\n", ""},
		{"search f -e x$", 0, "6:six\n", ""},
		{"search f -- -x", 1, "", "terse search: no match in 10 lines\n"},
		/* Context. */
		{"search f -C1 four", 0, "3-three\n4:four\n5-five\n", ""},
		{"search f -C 1 e$", 0,
		 "1:one\n2-two\n3:three\n4-four\n5:five\n6-six\n--\n8-eight\n9:nine\n10-ten\n", ""},
		{"search f -A1 o", 0, "1:one\n2:two\n3-three\n4:four\n5-five\n", ""},
		{"search f -B1 '^f|ten'", 0, "3-three\n4:four\n5:five\n--\n9-nine\n10:ten\n", ""},
		{"search f -B2 -A1 six", 0, "4-four\n5-five\n6:six\n7-seven\n", ""},
		{"search f -C3 -A0 six", 0, "3-three\n4-four\n5-five\n6:six\n", ""},
		{"search f -ivC1 '[etx]'", 0, "3-three\n4:four\n5-five\n", ""},
		{"search f -C99 six", 0,
		 "1-one\n2-two\n3-three\n4-four\n5-five\n6:six\n7-seven\n8-eight\n9-nine\n10-ten\n",
		 ""},
		/* From a line on. */
		{"search f --offset 3 o", 0, "4:four\n", ""},
		{"search f --offset 4 o", 0, "4:four\n", ""},
		{"search f --offset 5 o", 1, "",
		 "terse search: no match in 6 lines from line 5 on\n"},
		{"search f --offset 11 o", 1, "",
		 "terse search: no match in 0 lines from line 11 on\n"},
		{"search f --offset 4 -C2 four", 0, "4:four\n5-five\n6-six\n", ""},
	};
	write_file("f", text, strlen(text));
	CHECK(calls);
	make("default", text);
	assert_int_equal(call("search @ e$"), 0);
	expect(&out, "1:one\n3:three\n5:five\n9:nine\n");
	assert_int_equal(call("search last -l e$"), 0);
	expect(&out, "@\n");
	assert_int_equal(call("search @.txt -C1 four"), 0);
	expect(&out, "3-three\n4:four\n5-five\n");
}

TEST_IN(test_ends_of_lines, setup, teardown)
{
	static const struct call calls[] = {
		{"search empty x", 1, "", "terse search: no match in 0 lines\n"},
		{"search empty ''", 1, "", "terse search: no match in 0 lines\n"},
		{"search empty -v x", 1, "", "terse search: none that does not match in 0 lines\n"},
		{"search open ''", 0, "1:a\n2:b\n", ""},
		{"search open b$", 0, "2:b\n", ""},
		{"search open -c ''", 0, "2\n", ""},
		{"search open -vc a", 0, "1\n", ""},
		{"search open x", 1, "", "terse search: no match in 2 lines\n"},
		{"search blank ^$", 0, "1:\n2:\n3:\n", ""},
		{"search blank -c 'x*'", 0, "3\n", ""},
		{"search crlf 'a$'", 0, "1:a\n", ""},
		{"search crlf -F b -C1", 0,
		 "1-a\n2:b\n3-c\xEF\xBF\xBD"
		 "d\n",
		 ""},
		{"search crlf '^$'", 0, "4:\n", ""},
	};
	write_file("empty", "", 0);
	write_file("open", "a\nb", 3);
	write_file("blank", "\n\n\n", 3);
	write_file("crlf", "a\r\nb\r\nc\rd\r\n\r\n", 13);
	CHECK(calls);
}

TEST_IN(test_usage, setup, teardown)
{
	static const struct call calls[] = {
		{"search", 125, "", "terse search: usage: terse search ID|FILE|--all REGEX\n"},
		{"search x", 125, "", "terse search: usage: terse search ID|FILE|--all REGEX\n"},
		{"search -e x", 125, "", "terse search: usage: terse search ID|FILE|--all REGEX\n"},
		{"search f a b", 125, "", "terse search: one argument too many\n"},
		{"search f -e a b", 125, "", "terse search: one argument too many\n"},
		{"search f --all x", 125, "",
		 "terse search: --all searches every artifact: name no text\n"},
		{"search --all x --offset 3", 125, "", "terse search: --offset needs one text\n"},
		{"search f x -Z", 125, "",
		 "terse search: -Z: no such option (see terse help search)\n"},
		{"search f x -iZ", 125, "",
		 "terse search: -iZ: no such option (see terse help search)\n"},
		{"search f x --nothing=1", 125, "",
		 "terse search: --nothing: no such option (see terse help search)\n"},
		{"search f -e a -e b", 125, "", "terse search: -e: given twice\n"},
		{"search f x -C", 125, "", "terse search: -C: needs a value\n"},
		{"search f x -C x", 125, "", "terse search: -C: x: must be a number from 0 on\n"},
		{"search f x --limit 0", 125, "",
		 "terse search: --limit: 0: must be a number from 1 on\n"},
		{"search f 'a(bcd'", 125, "",
		 "terse search: a(bcd: at offset 5: missing closing parenthesis\n"},
		{"search f '[z-a]'", 125, "",
		 "terse search: [z-a]: at offset 3: range out of order in character class\n"},
		{"search nothing x", 1, "",
		 "terse search: nothing: no such artifact (terse list shows what there is)\n"},
		{"search cmd-0123 x", 1, "",
		 "terse search: cmd-0123: no such artifact (terse list shows what there is)\n"},
		{"search x f", 1, "",
		 "terse search: x: no such artifact (terse list shows what there is)\n"
		 "terse search: the text comes first: terse search f REGEX\n"},
		{"search . x", 1, "", "terse search: .: Is a directory\n"},
		{"search f x --stderr", 1, "",
		 "terse search: f: --stderr is for artifacts, this is a file\n"},
		/* Patterns written for grep, or by users who think of the text as one string. */
		{"search f 'a\\|b'", 1, "",
		 "terse search: no match in 1 line; for one or the other write a|b, not a\\|b\n"},
		{"search f 'a\\nb'", 1, "",
		 "terse search: no match in 1 line; lines are matched one by one, so that \\n is "
		 "never there\n"},
		{"search f -F 'a\\|b'", 1, "", "terse search: no match in 1 line\n"},
	};
	write_file("f", "text\n", 5);
	CHECK(calls);
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
