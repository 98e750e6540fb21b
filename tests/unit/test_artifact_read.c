// The verbs read, list and path, with what they print.

#include "tests/unit/search.h"
#include "tests/unit/unit.h"

#include <regex.h>

static int setup_collected(void **state)
{
	collected = true;
	return setup(state);
}

/* An artifact of the lines first..last as numbers. */
static void make_numbers(int first, int last)
{
	struct buffer b = BUFFER_INIT;
	for (int i = first; i <= last; i++)
		buffer_printf(&b, "%d\n", i);
	make("default", buffer_string(&b));
	buffer_release(&b);
}

static void expect_match(const char *text, const char *pattern)
{
	regex_t re;
	assert_int_equal(regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&re, text, 0, NULL, 0) != 0)
		fail_msg("\"%s\" does not match %s", text, pattern);
	regfree(&re);
}

TEST_IN(test_read_explicit_limit_over_a_page, setup_collected, teardown)
{
	make_numbers(100000, 199999);
	assert_int_equal(call("read @ --offset 11 --limit 50000"), 0);
	expect_match(out.data, "^100010\n");
	expect_match(out.data,
		     "\\[terse: lines 11-[0-9],[0-9]{3} of 100,000 shown \\(limit 30,000 bytes\\); "
		     "continue: terse read cmd-[0-9a-z]+ --offset [0-9]+ --limit [0-9]+\\]\n$");
	unsigned long offset, limit;
	assert_int_equal(
		sscanf(strstr(out.data, "--offset"), "--offset %lu --limit %lu", &offset, &limit),
		2);
	assert_int_equal(offset + limit, 50011);
	/* More than the default number of lines, since it was asked for. */
	make_numbers(1, 5000);
	assert_int_equal(call("read @ --limit 5000"), 0);
	expect_match(out.data, "\n4999\n5000\n$");
}

static void check_cut_line(const char *unit, size_t times, size_t cells)
{
	struct buffer b = BUFFER_INIT;
	buffer_append_string(&b, "before\n");
	for (size_t i = 0; i < times; i++)
		buffer_append_string(&b, unit);
	buffer_append_string(&b, "\nafter\n");
	make("default", buffer_string(&b));
	assert_int_equal(call("read @"), 0);
	expect(&out,
	       "before\n[terse: line 1 of 3 shown (limit 30,000 bytes); continue: terse read @ "
	       "--offset 2]\n");
	assert_int_equal(call("read @ --offset 2"), 0);
	assert_true(out.len <= 30000);
	expect_match(out.data,
		     "\\[\\.\\.\\. bytes [0-9]+-[0-9]+ omitted: terse read cmd-[0-9a-z]+ "
		     "--bytes [0-9]+-[0-9]+\\]\n"
		     "\\[terse: line 2 of 3 shown \\(limit 30,000 bytes\\); continue: terse "
		     "read cmd-[0-9a-z]+ --offset 3\\]\n$");
	/* Kept and omitted bytes are the line with its newline. */
	char *notice = strstr(out.data, "[... bytes "), *end;
	size_t kept = (size_t)(notice - out.data) / cells * strlen(unit);
	size_t first = strtoul(notice + strlen("[... bytes "), &end, 10);
	assert_int_equal(first, strlen("before\n") + kept);
	assert_int_equal((size_t)(notice - out.data) % cells, 0);
	assert_true(notice - out.data > 28000);
	assert_int_equal(kept + strtoul(end + 1, NULL, 10) + 1 - first, times * strlen(unit) + 1);
	assert_int_equal(call("read @ --offset 2 --limit 1"), 0);
	expect_match(out.data, "terse read cmd-[0-9a-z]+ --bytes [0-9]+-[0-9]+\\]\n$");
	assert_int_equal(call("read @ --offset 3"), 0);
	expect(&out, "after\n");
	buffer_release(&b);
}

TEST_IN(test_read_line_over_a_page, setup_collected, teardown)
{
	check_cut_line("x", 31000, 1);
	check_cut_line("x", 5000000, 1);
	check_cut_line("\xF0\x9F\x98\x80", 100000, 4);
	check_cut_line("\xE2\x82\xAC", 100000, 3);
	/* Each of these becomes three bytes. */
	check_cut_line("\x01", 20000, 3);
	check_cut_line("\xFF", 1000000, 3);
}

TEST_IN(test_read_running, setup_collected, teardown)
{
	struct artifact *a = create("default", 0);
	assert_int_equal(call("read last"), 0);
	expect(&out, "[terse: the run goes on: terse read @ --offset 1]\n");
	artifact_append(a, ARTIFACT_OUT, "one\n", 4);
	artifact_update(a);
	assert_int_equal(call("read last"), 0);
	expect(&out, "one\n[terse: the run goes on: terse read @ --offset 2]\n");
	artifact_set_live(a, ARTIFACT_OUT, "Password: ", 10);
	assert_int_equal(call("read last"), 0);
	expect(&out, "one\nPassword: \n[terse: the run goes on: terse read @ --offset 2]\n");
	assert_int_equal(call("read last --limit 1"), 0);
	expect(&out, "one\n");
	/* The reader may get the text before the next line comes. */
	assert_int_equal(call("read last --offset 3"), 0);
	expect(&out, "[terse: the run goes on: terse read @ --offset 3]\n");
	assert_int_equal(call("read last --offset 4"), 1);
	artifact_close(a);
	assert_int_equal(call("read last"), 0);
	expect(&out, "one\nPassword: ");
}

TEST_IN(test_read_gap, setup_collected, teardown)
{
	struct artifact *a = create("default", 64 * 1024);
	for (int i = 1; i <= 100000; i++) {
		char line[16];
		snprintf(line, sizeof(line), "%d\n", i);
		artifact_append(a, ARTIFACT_OUT, line, strlen(line));
	}
	finish(a);
	assert_true(meta.out.gap_from > 1 && meta.out.gap_to < 100000);
	char line[200], expected[500];
	unsigned long from = meta.out.gap_from, to = meta.out.gap_to;
	snprintf(line, sizeof(line), "read @ --offset %lu --limit %lu", from - 1, to - from + 3);
	assert_int_equal(call(line), 0);
	snprintf(expected, sizeof(expected),
		 "^%lu\n\\[\\.\\.\\. lines [0-9],[0-9]{3}-[0-9]{2},[0-9]{3} \\([0-9,]+, [0-9.]+ "
		 "KB\\) not kept: over "
		 "the disk cap \\(\\[spill\\] max_artifact\\)\\]\n%lu\n$",
		 from - 1, to + 1);
	expect_match(out.data, expected);
	/* From inside the gap, and only inside: all of the gap is announced. */
	snprintf(line, sizeof(line), "read @ --offset %lu --limit 5", to - 10);
	assert_int_equal(call(line), 0);
	expect_match(out.data, "^\\[\\.\\.\\. lines [0-9],[0-9]{3}-[0-9]{2},[0-9]{3} [^\n]*\n$");
	snprintf(line, sizeof(line), "read @ --offset %lu --limit 2", to);
	assert_int_equal(call(line), 0);
	snprintf(expected, sizeof(expected), "^\\[\\.\\.\\. lines [0-9],[0-9]{3}-[^\n]*\n%lu\n$",
		 to + 1);
	expect_match(out.data, expected);
	assert_int_equal(call("read @ --offset 100000"), 0);
	expect(&out, "100000\n");
	assert_int_equal(call("read @ --offset 100001"), 1);
}

TEST_IN(test_read_gap_inside_a_line, setup_collected, teardown)
{
	struct artifact *a = create("default", 8192);
	artifact_append(a, ARTIFACT_OUT, "first\n", 6);
	for (int i = 0; i < 100000; i++)
		artifact_append(a, ARTIFACT_OUT, "x", 1);
	artifact_append(a, ARTIFACT_OUT, "\nlast\n", 6);
	finish(a);
	assert_int_equal(call("read @"), 0);
	expect_match(out.data,
		     "^first\nx+\n\\[\\.\\.\\. [0-9.]+ KB of line 2 not kept: [^\n]*\nx+\nlast\n$");
	assert_int_equal(call("read @ --offset 3"), 0);
	expect(&out, "last\n");
	assert_int_equal(call("read @ --offset 2 --limit 1"), 0);
	expect_match(out.data, "^x+\n\\[\\.\\.\\. [0-9.]+ KB of line 2 not kept: [^\n]*\nx+\n$");
}

TEST_IN(test_read_file, setup_collected, teardown)
{
	struct buffer b = BUFFER_INIT;
	for (int i = 1; i <= 3000; i++)
		buffer_printf(&b, "%d\n", i);
	write_file("it's", b.data, b.len);
	buffer_release(&b);
	assert_int_equal(call("read it\\'s --offset 2999"), 0);
	expect(&out, "2999\n3000\n");
	assert_int_equal(call("read it\\'s"), 0);
	expect_match(out.data, "of 3,000 shown \\(limit 2,000 lines\\); continue: terse read "
			       "'it'\\\\''s' --offset 2001\\]\n$");
	assert_int_equal(call("read it\\'s --stderr"), 1);
	assert_int_equal(call("read /dev/null"), 1);
	expect_match(err.data, "not a regular file\n$");
}

TEST_IN(test_bad_usage, setup_collected, teardown)
{
	static const char *const lines[] = {
		"read",
		"read x y",
		"read x --foo",
		"read x --offset",
		"read x --offset 0",
		"read x --offset -0",
		"read x --offset -",
		"read x --bytes",
		"read x --bytes x",
		"read x --bytes 1-0",
		"read x --bytes :5",
		"read x --tail 0",
		"read x --tail 3 --offset 2",
		"read x --tail 3 --limit 2",
		"read x --bytes 3 --preview",
		"read x --stderr --raw",
		"read x --raw --preview",
		"read x --limit 1k",
		"read x --stderr=1",
		"read x --offset 99999999999999999999999",
		"list x",
		"path",
		"path x y",
		"list --limit 0",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		assert_int_equal(call(lines[i]), EXIT_TERSE);
		assert_string_equal(out.data, "");
		expect_match(err.data, "^terse (read|list|path): [^\n]*\n$");
	}
	assert_int_equal(call("read x --xyzzy=3"), EXIT_TERSE);
	assert_string_equal(err.data,
			    "terse read: --xyzzy: no such option (see terse help read)\n");
}

TEST_IN(test_not_found, setup_collected, teardown)
{
	static const char *const names[] = {"cmd-000000000000", "cmd-xyz", "last", "last-3",
					    "nothing"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char line[64], expected[128];
		snprintf(line, sizeof(line), "read %s", names[i]);
		snprintf(expected, sizeof(expected),
			 "terse read: %s: no such artifact (terse list shows what there is)\n",
			 names[i]);
		assert_int_equal(call(line), 1);
		assert_string_equal(err.data, expected);
	}
	make("default", "a");
	make("default", "b");
	assert_int_equal(call("path cmd-1"), 1);
	expect_match(err.data, "several artifacts begin like this");
	/* Typed text is printed clean. */
	assert_int_equal(call("path \x1b[m"), 1);
	assert_null(strchr(err.data, '\x1b'));
}

TEST_IN(test_list, setup_collected, teardown)
{
	assert_int_equal(call("list"), 0);
	expect_match(out.data, "^terse list: nothing in session [^\n]*\n$");
	assert_int_equal(call("list --all --state running"), 0);
	expect(&out, "terse list: no such run in any session\n");

	make_numbers(1, 1234);
	char *words[] = {(char *)"npm", (char *)"test", (char *)"a b", NULL};
	struct artifact *a = create("default", 0);
	artifact_append(a, ARTIFACT_OUT, "x\n", 2);
	meta.argv = words;
	meta.state = META_DONE;
	meta.signal = 11;
	artifact_update(a);
	artifact_close(a);
	struct artifact *running = create("default", 0);
	artifact_append(running, ARTIFACT_OUT, "1\n2\n3\n", 6);
	artifact_update(running);
	a = create("default", 0);
	artifact_append(a, ARTIFACT_OUT, "1\n2\n", 4);
	artifact_update(a);
	artifact_close(a);
	assert_int_equal(call("list"), 0);
	expect_match(out.data, "^ID +STATE +TOOK +LINES +SIZE +AGE +COMMAND\n");
	expect_match(out.data,
		     "\ncmd-[0-9a-z]{12}  interrupted +[0-9]+ ms +2 +4 B +[0-9]+ s  make\n"
		     "cmd-[0-9a-z]{12}  running +[0-9]+ ms +3 +6 B +[0-9]+ s  make\n"
		     "cmd-[0-9a-z]{12}  SIGSEGV +[0-9.]+ m?s +1 +2 B +[0-9]+ s  npm test 'a b'\n"
		     "cmd-[0-9a-z]{12}  exit 0 +[0-9.]+ m?s +1,234 +[0-9.]+ KB +[0-9]+ s  make\n$");
	assert_int_equal(call("list --limit 2"), 0);
	expect_match(out.data, "\\[newest 2 shown; more: terse list --limit 20\\]\n$");
	artifact_close(running);
}

TEST_IN(test_list_is_clean_and_narrow, setup_collected, teardown)
{
	char *argv[] = {(char *)"sh", (char *)"-c",
			(char *)"echo \x1b[31m\n\xE6\xBC\xA2\xE6\xBC\xA2 \xFF"
				"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				"aaaaaaaaa"
				"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				"aaaaaaaaa",
			NULL};
	struct artifact *a = create("default", 0);
	meta.argv = argv;
	finish(a);
	assert_int_equal(call("list"), 0);
	char *row = strchr(out.data, '\n') + 1;
	assert_null(strchr(row, '\x1b'));
	assert_int_equal(strcspn(row, "\n"), strlen(row) - 1);
	expect_match(row, "sh -c 'echo \\\\x1b\\[31m \xE6\xBC\xA2\xE6\xBC\xA2 \xEF\xBF\xBD"
			  "a+\\.\\.\\.\n$");
	size_t columns = 0;
	for (const char *c = row; *c != '\n'; c++)
		columns += (*c & 0xC0) != 0x80;
	/* Two of the characters are two columns wide. */
	assert_int_equal(columns + 2, 120);
}

TEST_MAIN(NULL, NULL)
