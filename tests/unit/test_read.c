// The verb read: artifacts, pages, gaps. tests/frozen/read.txt has what it prints of files.

#include "tests/unit/search.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <sys/mman.h>

/* A file of the lines first..last, as numbers of six digits: seven bytes each. */
static void write_numbers(const char *name, int first, int last)
{
	struct buffer b = BUFFER_INIT;
	for (int i = first; i <= last; i++)
		buffer_printf(&b, "%06d\n", i);
	write_file(name, b.data, b.len);
	buffer_release(&b);
}

/* A file of `before`, `times` times a letter, and `behind`. */
static void write_long(const char *name, const char *before, size_t times, const char *behind)
{
	struct buffer b = BUFFER_INIT;
	buffer_append_string(&b, before);
	for (size_t i = 0; i < times; i++)
		buffer_append(&b, "x", 1);
	buffer_append_string(&b, behind);
	write_file(name, b.data, b.len);
	buffer_release(&b);
}

/* The output begins and ends like this. */
static void expect_ends(const char *begin, const char *end)
{
	size_t len = strlen(end);
	assert_true(out.len <= 30000 && out.len >= len);
	assert_memory_equal(out.data, begin, strlen(begin));
	assert_string_equal(out.data + out.len - len, end);
}

/* A call whose output begins and ends like this. */
struct ends {
	const char *line, *begin, *end;
};

static void check_ends(const struct ends *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(call(cases[i].line), 0);
		expect_ends(cases[i].begin, cases[i].end);
		expect(&err, "");
	}
}

#define CHECK_ENDS(cases) check_ends(cases, sizeof(cases) / sizeof(*(cases)))

TEST_IN(test_lines, setup, teardown)
{
	make("default", "one\ntwo\nthree\n");
	assert_int_equal(call("read @ --tail 1"), 0);
	expect(&out, "three\n");
	assert_int_equal(call("read @.txt --offset -2 --limit 2"), 0);
	expect(&out, "two\nthree\n");
	/* Nothing is looked for in a session that there is not, not even a file. */
	write_file("f", "x\n", 2);
	assert_int_equal(call("read f --session nobody"), 1);
	expect(&out, "");
	expect(&err,
	       "terse read: nobody: no such session (terse list --all shows what there is)\n");
	assert_int_equal(call("read @ --json --tail 1"), 0);
	expect(&out, "{\"ok\":true,\"data\":{\"artifact\":\"@\",\"stream\":\"stdout\",\"running\":"
		     "false,\"from\":3,\"to\":3,\"text\":\"three\\n\",\"total_lines\":3,\"total_"
		     "bytes\":14,"
		     "\"truncated\":false,\"next\":null}}\n");
}

TEST_IN(test_pages, setup, teardown)
{
	static const struct ends cases[] = {
		/* So many lines ... */
		{"read numbers", "000001\n",
		 "\n002000\n[terse: lines 1-2,000 of 9,000 shown (limit 2,000 lines); continue: "
		 "terse "
		 "read "
		 "numbers --offset 2001]\n"},
		{"read numbers --offset 7001", "007001\n", "\n009000\n"},
		{"read numbers --offset 7000", "007000\n",
		 "\n008999\n[terse: lines 7,000-8,999 of 9,000 shown (limit 2,000 lines); "
		 "continue: terse "
		 "read numbers --offset 9000]\n"},
		{"read numbers --offset -3000", "006001\n",
		 "\n008000\n[terse: lines 6,001-8,000 of 9,000 shown (limit 2,000 lines); "
		 "continue: terse "
		 "read numbers --offset 8001]\n"},
		/* ... or bytes, where more lines are asked for. */
		{"read numbers --limit 8000", "000001\n",
		 "\n004131\n[terse: lines 1-4,131 of 9,000 shown (limit 30,000 bytes); continue: "
		 "terse "
		 "read "
		 "numbers --offset 4132 --limit 3869]\n"},
		{"read numbers --limit 4000", "000001\n",
		 "\n004000\n[terse: lines 1-4,000 of 9,000 shown; continue: terse read numbers "
		 "--offset "
		 "4001 --limit 4000]\n"},
		/* The last lines are those that stay. */
		{"read numbers --tail 8000",
		 "[... 3,869 lines: terse read numbers --offset 1001 --limit "
		 "3869]\n004870\n",
		 "\n009000\n"},
		{"read numbers --tail 4000", "005001\n", "\n009000\n"},
	};
	write_numbers("numbers", 1, 9000);
	CHECK_ENDS(cases);
}

TEST_IN(test_lines_over_the_limit, setup, teardown)
{
	static const struct ends cases[] = {
		{"read first", "xxx",
		 "xxx[... bytes 28936-100000: terse read first --bytes 28936-100000]\n"
		 "[terse: line 1 of 3 shown (limit 30,000 bytes); continue: terse read first "
		 "--offset "
		 "2]\n"},
		{"read first --limit 1", "xxx",
		 "xxx[... bytes 28936-100000: terse read first --bytes 28936-100000]\n"
		 "[terse: line 1 of 3 shown; continue: terse read first --offset 2 --limit 1]\n"},
		{"read first --offset 2", "b\nc\n", "b\nc\n"},
		{"read second", "a\n[terse: line 1 of 3 shown (limit 30,000 bytes)",
		 "; continue: terse read second --offset 2]\n"},
		{"read second --offset 2", "xxx",
		 "xxx[... bytes 28930-100002: terse read second --bytes 28930-100002]\n"
		 "[terse: line 2 of 3 shown (limit 30,000 bytes); continue: terse read second "
		 "--offset "
		 "3]\n"},
		{"read second --tail 2", "[... 1 line: terse read second --offset 2 --limit 1]\n",
		 "\nc\n"},
		{"read ./last --offset 3", "xxx",
		 "xxx[... bytes 28932-100006: terse read ./last --bytes 28932-100006]\n"},
		/* The end of the last line. */
		{"read ./last --tail 1",
		 "[... bytes 4-71078 of line 3: terse read ./last --bytes 4-71078]\nxxx", "xxxend"},
		{"read ./last --tail 3",
		 "[... 2 lines: terse read ./last --offset 1 --limit 2]\n[... bytes "
		 "4-71078 "
		 "of line 3: terse read ./last --bytes 4-71078]\nxxx",
		 "xxxend"},
	};
	write_long("first", "", 100000, "\nb\nc\n");
	write_long("second", "a\n", 100000, "\nc\n");
	write_long("./last", "a\nb\n", 100000, "end");
	CHECK_ENDS(cases);
}

TEST_IN(test_bytes, setup, teardown)
{
	static const struct ends cases[] = {
		{"read numbers --bytes 0", "000001\n",
		 "\n004\n[terse: bytes 0-28,919 of 63,000 shown; continue: terse read numbers "
		 "--bytes "
		 "28920]\n"},
		{"read numbers --bytes 28920 ", "132\n",
		 "; continue: terse read numbers --bytes 57840]\n"},
		{"read numbers --bytes 57840 ", "\n008264\n", "\n009000\n"},
	};
	write_numbers("numbers", 1, 9000);
	CHECK_ENDS(cases);
}

/* The member `data` of what was printed. */
static json_t *parse_data(const char *line)
{
	assert_int_equal(call(line), 0);
	json_t *root = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(root);
	assert_true(json_is_true(json_object_get(root, "ok")));
	json_t *data = json_incref(json_object_get(root, "data"));
	json_decref(root);
	return data;
}

static int64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static const char *string(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	return json_is_string(value) ? json_string_value(value) : NULL;
}

TEST_IN(test_json_truncated, setup, teardown)
{
	static const struct {
		const char *line;
		int from, to;
		const char *next;
		bool truncated;
	} pages[] = {
		{"read numbers --json", 1, 2000, "terse read numbers --json --offset 2001", true},
		{"read numbers --json --offset 1000 --limit 500", 1000, 1499,
		 "terse read numbers --json --offset 1500 --limit 500", true},
		{"read numbers --json --offset 8501 --limit 500", 8501, 9000, NULL, false},
		{"read numbers --json --limit 9000", 1, 2065,
		 "terse read numbers --json --offset 2066 --limit 6935", true},
		{"read numbers --json --tail 9000", 6936, 9000, NULL, true},
		{"read first --json", 1, 1, "terse read first --json --offset 2", true},
		{"read numbers --json --bytes 0", 0, 14459,
		 "terse read numbers --json --bytes 14460", true},
	};
	write_numbers("numbers", 1, 9000);
	write_long("first", "", 100000, "\nb\n");
	for (size_t i = 0; i < sizeof(pages) / sizeof(*pages); i++) {
		json_t *d = parse_data(pages[i].line);
		assert_int_equal(number(d, "from"), pages[i].from);
		assert_int_equal(number(d, "to"), pages[i].to);
		assert_int_equal(json_is_true(json_object_get(d, "truncated")), pages[i].truncated);
		if (pages[i].next)
			assert_string_equal(string(d, "next"), pages[i].next);
		else
			assert_null(string(d, "next"));
		json_decref(d);
	}
	json_t *d = parse_data("read first --json");
	assert_non_null(strstr(string(d, "text"), ": terse read first --json --bytes "));
	json_decref(d);
	d = parse_data("read numbers --json --tail 9000");
	assert_memory_equal(string(d, "text"), "[... 6,935 lines: ", 18);
	json_decref(d);
}

/* A gap of the disk cap, and the end that a failed write lost. */
TEST_IN(test_gap, setup, teardown)
{
	struct artifact *a = create("default", 8192);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "first\n", 6), 0);
	for (int i = 0; i < 100000; i++)
		artifact_append(a, ARTIFACT_OUT, "x", 1);
	artifact_append(a, ARTIFACT_OUT, "\nlast\n", 6);
	finish(a);
	assert_int_equal(meta.out.gap_from, 2);
	assert_int_equal(meta.out.gap_to, 2);
	assert_int_equal(call("read @ --tail 1"), 0);
	expect(&out, "last\n");
	assert_int_equal(call("read @ --tail 2"), 0);
	assert_non_null(strstr(out.data, " of line 2 not kept: over the disk cap"));
	json_t *d = parse_data("read last --json --offset 2");
	assert_int_equal(number(d, "to"), 3);
	assert_non_null(strstr(string(d, "text"), " of line 2 not kept: over the disk cap"));
	json_decref(d);
	/* By bytes it is passed, too. */
	char line[100], want[100];
	snprintf(line, sizeof(line), "read @ --bytes %d-%d", (int)meta.out.gap_offset + 100,
		 (int)meta.out.gap_offset + 109);
	assert_int_equal(call(line), 0);
	assert_memory_equal(out.data, "[... ", 5);
	snprintf(want, sizeof(want), "terse read %s --bytes %d-%d]\n", meta.id,
		 (int)(meta.out.gap_offset + meta.out.gap_bytes),
		 (int)(meta.out.gap_offset + meta.out.gap_bytes) + 9);
	assert_non_null(strstr(out.data, want));
}

/* The first part of a line with a gap in it is longer than a page. */
TEST_IN(test_gap_inside_a_long_line, setup, teardown)
{
	struct artifact *a = create("default", 256 * 1024);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "first\n", 6), 0);
	for (int i = 0; i < 10000; i++)
		artifact_append(a, ARTIFACT_OUT,
				"0123456789012345678901234567890123456789"
				"0123456789012345678901234567890123456789"
				"01234567890123456789",
				100);
	artifact_append(a, ARTIFACT_OUT, "\nlast\n", 6);
	finish(a);
	assert_int_equal(meta.out.gap_from, 2);
	assert_int_equal(call("read @ --offset 2"), 0);
	assert_memory_equal(out.data, "0123456789", 10);
	char *cut = strstr(out.data, "[... "), *gap = strstr(cut + 1, "\n[... ");
	assert_non_null(gap);
	assert_non_null(strstr(cut, ": terse read "));
	assert_non_null(strstr(gap, " of line 2 not kept: over the disk cap "));
	/* The text behind the gap is the rest of that line: no line number leads to it. */
	char want[100];
	snprintf(want, sizeof(want), "continue: terse read %s --bytes %d]\n", meta.id,
		 (int)(meta.out.gap_offset + meta.out.gap_bytes));
	assert_non_null(strstr(gap, want));
	assert_int_equal(call("read @ --tail 2"), 0);
	assert_true(out.len <= 30000);
	assert_non_null(strstr(out.data, "\nlast\n"));
}

/* The last line has a gap, and its rest is longer than a page: its beginning is omitted, too. */
TEST_IN(test_gap_inside_the_last_line, setup, teardown)
{
	struct artifact *a = create("default", 256 * 1024);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "first\n", 6), 0);
	for (int i = 0; i < 100000; i++)
		artifact_append(a, ARTIFACT_OUT, "0123456789", 10);
	finish(a);
	assert_int_equal(meta.out.gap_from, 2);
	assert_int_equal(meta.out.gap_to, 2);
	assert_int_equal(call("read @ --tail 5"), 0);
	assert_true(out.len <= 30000);
	char want[200];
	int len = snprintf(want, sizeof(want),
			   "[... 2 lines: terse read %s --offset 1 --limit 2]\n[... ", meta.id);
	assert_memory_equal(out.data, want, len);
	const char *gap = strstr(out.data, " of line 2 not kept: over the disk cap ");
	assert_non_null(gap);
	snprintf(want, sizeof(want), "\n[... bytes %d-",
		 (int)(meta.out.gap_offset + meta.out.gap_bytes));
	assert_ptr_equal(strstr(gap, "\n["), strstr(gap, want));
	assert_non_null(strstr(gap, " of line 2: terse read "));
}

TEST_MAIN(NULL, NULL)
