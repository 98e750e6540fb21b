// The verb search: artifacts, pages. tests/frozen/search.txt has what it prints of files.

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

/* The command that the last line says goes on, in `line`. */
static bool get_next(char line[4096])
{
	static const char *const marks[] = {" shown: ", " shown, as many as fit: "};
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = strstr(out.data, marks[i]);
		if (!at)
			continue;
		at = strstr(at, ": terse ") + strlen(": terse ");
		const char *end = strstr(at, ", or narrow the pattern]\n");
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
