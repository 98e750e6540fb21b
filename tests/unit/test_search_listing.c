// How search prints long lines, gaps, binary texts, and artifacts that still grow.

#include "supervisor/reading/walk.h"
#include "tests/unit/search.h"
#include "tests/unit/unit.h"

/* Bytes of a long line that are shown. */
#define EXCERPT_MAX 500

static void append(struct buffer *b, const char *text, size_t times)
{
	for (size_t i = 0; i < times; i++)
		buffer_append_string(b, text);
}

/* --- long lines -------------------------------------------------------------- */

/* Writes a file whose first line has `before` units, a match and `behind` units. */
static void write_line(const char *unit, size_t before, const char *match, size_t behind)
{
	struct buffer b = BUFFER_INIT;
	append(&b, unit, before);
	append(&b, match, 1);
	append(&b, unit, behind);
	append(&b, "\nend\n", 1);
	write_file("f", b.data, b.len);
	buffer_release(&b);
}

static void check_cut(const char *line, const char *unit, size_t before, const char *match,
		      size_t behind, const char *size)
{
	struct buffer want = BUFFER_INIT;
	assert_int_equal(call(line), 0);
	append(&want, "1:", 1);
	append(&want, "[truncated]", before != SIZE_MAX);
	append(&want, unit, before != SIZE_MAX ? before : 0);
	append(&want, match, 1);
	append(&want, unit, behind != SIZE_MAX ? behind : 0);
	append(&want, "[truncated]", behind != SIZE_MAX);
	buffer_printf(&want,
		      " [whole line (%s): terse read f --offset 1 --limit "
		      "1]\n",
		      size);
	assert_non_null(buffer_string(&want));
	assert_string_equal(out.data, want.data);
	buffer_release(&want);
}

TEST_IN(test_cut_around_the_match, setup, teardown)
{
	write_line("x", 1000, "here", 1000);
	check_cut("search f here", "x", 248, "here", 248, "2.0 KB");
	write_line("\xE2\x82\xAC", 1000, "here", 1000);
	check_cut("search f here", "\xE2\x82\xAC", 83, "here", 82, "5.9 KB");
	/* Near an end there is more of the other side. */
	write_line("x", 0, "here", 1000);
	check_cut("search f here", "x", SIZE_MAX, "here", 496, "1004 B");
	write_line("x", 1000, "here", 0);
	check_cut("search f here", "x", 496, "here", SIZE_MAX, "1004 B");
	check_cut("search f e$", "x", 496, "here", SIZE_MAX, "1004 B");
	/* A match that is longer than what is shown: its begin, and a little before. */
	write_line("x", 1000, "here", 1000);
	check_cut("search f here.*", "x", 60, "here", 436, "2.0 KB");
	check_cut("search f ^.*x", "x", SIZE_MAX, "", 500, "2.0 KB");
	/* Nothing matches. */
	check_cut("search f -v end", "x", SIZE_MAX, "", 500, "2.0 KB");
}

TEST_IN(test_cut_only_what_is_long, setup, teardown)
{
	struct buffer b = BUFFER_INIT, want = BUFFER_INIT;
	append(&b, "\xE2\x82\xAC", EXCERPT_MAX / 3);
	append(&b, "x\n", 1);
	write_file("f", b.data, b.len);
	append(&want, "1:", 1);
	buffer_append(&want, b.data, b.len);
	assert_non_null(buffer_string(&want));
	assert_int_equal(call("search f x"), 0);
	assert_string_equal(out.data, want.data);
	/* A carriage return at the end is not shown, and does not count. */
	b.data[b.len - 1] = '\r';
	append(&b, "\n", 1);
	write_file("f", b.data, b.len);
	assert_int_equal(call("search f x"), 0);
	assert_string_equal(out.data, want.data);
	buffer_release(&b);
	buffer_release(&want);
}

/* Every way of cutting leaves whole characters, and the match in them. */
TEST_IN(test_characters_are_whole, setup, teardown)
{
	static const char *const units[] = {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
	for (size_t u = 0; u < sizeof(units) / sizeof(*units); u++) {
		for (size_t before = 0; before <= 1200; before += 97) {
			write_line(units[u], before, "here", 1200 - before);
			assert_int_equal(call("search f here"), 0);
			assert_non_null(strstr(out.data, "here"));
			assert_null(strstr(out.data, "\xEF\xBF\xBD"));
			assert_in_range(out.len, EXCERPT_MAX - 4, EXCERPT_MAX + 90);
		}
	}
}

TEST_IN(test_line_of_5_mb, setup, teardown)
{
	struct buffer b = BUFFER_INIT;
	append(&b, "first\n", 1);
	append(&b, "0123456789", 512 * 1024);
	memcpy(b.data + 3000000, "needle", 6);
	append(&b, "\nlast needle\n", 1);
	write_file("f", b.data, b.len);
	assert_int_equal(call("search f '^0.*needle.*9$' -C1"), 0);
	assert_memory_equal(out.data, "1-first\n2:0123", 14);
	assert_non_null(strstr(out.data,
			       "[truncated] [whole line (5.0 MB): terse read f --offset 2 "
			       "--limit 1]\n3-last needle\n"));
	assert_string_equal(err.data, "");
	assert_int_equal(call("search f needle -c"), 0);
	assert_string_equal(out.data, "2\n");
	buffer_release(&b);
}

/* More lines before a match than are kept: the missing ones are announced. */
TEST_IN(test_context_that_is_not_kept, setup, teardown)
{
	struct buffer b = BUFFER_INIT;
	for (int i = 0; i < 100; i++) {
		append(&b, "0123456789abcdef", 512);
		append(&b, "\n", 1);
	}
	append(&b, "needle\n", 1);
	write_file("f", b.data, b.len);
	assert_int_equal(call("search f needle -B 40"), 0);
	unsigned omitted, from, limit, first;
	assert_int_equal(sscanf(out.data,
				"[... %u lines: terse read f --offset %u --limit %u]\n%u-0123",
				&omitted, &from, &limit, &first),
			 4);
	assert_int_equal(from, 61);
	assert_int_equal(omitted, limit);
	assert_int_equal(first, from + limit);
	assert_true(first > 61 && first < 99);
	assert_non_null(strstr(out.data, "\n101:needle\n"));
	buffer_release(&b);
}

TEST_IN(test_line_that_is_not_held, setup, teardown)
{
	struct buffer b = BUFFER_INIT;
	const char *pieces =
		"; line 2 was searched in pieces: a match of over 64.0 KB in it is missed\n";
	append(&b, "first\n", 1);
	append(&b, "0123456789", 2 * 1024 * 1024);
	/* At the very places where windows end and begin. */
	for (size_t at = WALK_LINE_MAX - 4; at < b.len - 8; at += WALK_LINE_MAX - 2 * WALK_EDGE)
		memcpy(b.data + at, "needle", 6);
	append(&b, "\nlast needle\n", 1);
	write_file("f", b.data, b.len);
	assert_int_equal(call("search f needle"), 0);
	assert_memory_equal(out.data, "2:[truncated]", 13);
	assert_non_null(strstr(out.data, "needle"));
	assert_non_null(strstr(out.data, "[truncated] [whole line: terse read f --offset 2 --limit "
					 "1]\n3:last needle\n"));
	assert_string_equal(err.data,
			    "terse search: line 2 was searched in pieces: a match of over "
			    "64.0 KB in it is missed\n");
	assert_int_equal(call("search f -c needle"), 0);
	assert_string_equal(out.data, "2\n");
	assert_int_equal(call("search f -c ^0"), 0);
	assert_string_equal(out.data, "1\n");
	assert_int_equal(call("search f -c 9$"), 0);
	assert_string_equal(out.data, "1\n");
	assert_int_equal(call("search f -vc needle"), 0);
	assert_string_equal(out.data, "1\n");
	assert_int_equal(call("search f -v 'first|0'"), 0);
	assert_string_equal(out.data, "3:last needle\n");
	assert_int_equal(call("search f '7$|needles'"), 1);
	assert_string_equal(out.data, "");
	assert_memory_equal(err.data, "terse search: no match in 3 lines", 33);
	assert_string_equal(err.data + 33, pieces);
	buffer_release(&b);
}

/* --- gaps -------------------------------------------------------------------- */

/* Keeps the first and the last part of 200,000 numbered lines. */
static void make_gap(void)
{
	struct artifact *a = create("default", 256 * 1024);
	struct buffer b = BUFFER_INIT;
	for (int i = 1; i <= 200000; i++) {
		buffer_printf(&b, "%d word\n", i);
		if (b.len > 100000 || i == 200000) {
			assert_int_equal(artifact_append(a, ARTIFACT_OUT, b.data, b.len), 0);
			buffer_clear(&b);
		}
	}
	finish(a);
	buffer_release(&b);
}

TEST_IN(test_gap, setup, teardown)
{
	unsigned long first, last;
	char line[200];
	make_gap();
	assert_int_equal(call("search @ '^(9|199999) '"), 0);
	/* Line numbers are those of the whole text. */
	assert_int_equal(sscanf(out.data, "9:9 word\n[... lines %lu,", &first), 1);
	char *gap = strstr(out.data, "\n[... lines ");
	assert_non_null(gap);
	assert_non_null(strstr(gap, ") not kept: over the disk cap ([spill] max_artifact)]\n"
				    "199999:199999 word\n"));
	/* No match in the text that is there: there may be one in the gap. */
	assert_int_equal(call("search @ nothing"), 2);
	assert_string_equal(out.data, "");
	assert_memory_equal(err.data, "terse search: no match in 200,000 lines [... lines ", 51);
	assert_int_equal(err.data[err.len - 1], '\n');
	assert_ptr_equal(strchr(err.data, '\n'), err.data + err.len - 1);
	/* Behind what is shown. */
	assert_int_equal(call("search @ word --limit 1"), 0);
	gap = strstr(out.data, "[... lines ");
	assert_non_null(gap);
	assert_non_null(strstr(gap, "]\n[1 of "));
	/* No context from beyond it. */
	char *digits = gap + strlen("[... lines ");
	first = last = 0;
	unsigned long *number = &first;
	for (; *digits != ' '; digits++) {
		if (*digits == '-')
			number = &last;
		else if (*digits != ',')
			*number = *number * 10 + (unsigned long)(*digits - '0');
	}
	snprintf(line, sizeof(line), "search @ '^(%lu|%lu) ' -C 2", first - 1, last + 1);
	assert_int_equal(call(line), 0);
	char want[400];
	snprintf(want, sizeof(want), "%lu-%lu word\n%lu-%lu word\n%lu:%lu word\n[... lines ",
		 first - 3, first - 3, first - 2, first - 2, first - 1, first - 1);
	assert_memory_equal(out.data, want, strlen(want));
	snprintf(want, sizeof(want), "]\n%lu:%lu word\n%lu-%lu word\n%lu-%lu word\n", last + 1,
		 last + 1, last + 2, last + 2, last + 3, last + 3);
	assert_non_null(strstr(out.data, want));
}

/* A gap inside of one line: what is behind it is the rest of that. */
TEST_IN(test_gap_in_a_line, setup, teardown)
{
	struct artifact *a = create("default", 64 * 1024);
	struct buffer b = BUFFER_INIT;
	append(&b, "first\nbegin ", 1);
	append(&b, "x", 500000);
	append(&b, " end\nlast\n", 1);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, b.data, b.len), 0);
	finish(a);
	assert_int_equal(call("search @ 'begin|end$' -C 2"), 0);
	assert_memory_equal(out.data, "1-first\n2:begin xxx", 19);
	const char *gap = strstr(out.data, "[... ");
	assert_non_null(gap);
	assert_non_null(strstr(gap, " of line 2 not kept: over the disk cap ([spill] "
				    "max_artifact)]\n2:[truncated]xxx"));
	assert_non_null(strstr(gap, "x end [whole line ("));
	assert_string_equal(strchr(strstr(gap, "x end"), '\n'), "\n3-last\n");
	buffer_release(&b);
}

/* --- artifacts that are not done --------------------------------------------- */

TEST_IN(test_live, setup, teardown)
{
	struct artifact *a = create("default", 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "one\ntwo\n", 8), 0);
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, "three\npart", 10), 0);
	assert_int_equal(call("search @ ''"), 0);
	expect(&out, "1:one\n2:two\n3:three\n4:part\n");
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "three\npartial\n", 14), 0);
	assert_int_equal(artifact_set_live(a, ARTIFACT_OUT, "", 0), 0);
	assert_int_equal(call("search last part"), 0);
	expect(&out, "4:partial\n");
	finish(a);
}

TEST_IN(test_standard_error, setup, teardown)
{
	struct artifact *a = create("default", 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "out\nmore\n", 9), 0);
	finish(a);
	static const struct call merged[] = {
		{"search @ o --stderr", 1, "",
		 "terse search: @: standard error was not kept apart: it is in the text\n"},
		{"search @ x", 1, "", "terse search: no match in 2 lines\n"},
	};
	CHECK(merged);
	a = create("default", 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "out\n", 4), 0);
	assert_int_equal(artifact_append(a, ARTIFACT_ERR, "err o\n2 o\n", 10), 0);
	finish(a);
	static const struct call apart[] = {
		{"search @ o", 0, "1:out\n", ""},
		{"search @ o --stderr", 0, "1:err o\n2:2 o\n", ""},
		{"search @ x", 1, "",
		 "terse search: no match in 1 line; standard error was kept apart, see --stderr\n"},
		{"search @ o --stderr --limit 1", 0,
		 "1:err o\n[1 of 2 matches shown: terse search @ o --stderr --offset 2 --limit 1, "
		 "or narrow the pattern]\n",
		 ""},
	};
	CHECK(apart);
}

/* --- what is no text, or not clean ------------------------------------------- */

/* --- many artifacts ---------------------------------------------------------- */

TEST_IN(test_all, setup, teardown)
{
	char ids[3][ID_LEN + 1], want[1000];
	make("default", "a 1\nb\na 2\n");
	snprintf(ids[0], sizeof(ids[0]), "%s", meta.id);
	make("other", "a other\n");
	snprintf(ids[1], sizeof(ids[1]), "%s", meta.id);
	make("default", "nothing\na 3\n");
	snprintf(ids[2], sizeof(ids[2]), "%s", meta.id);

	/* The newest first. */
	assert_int_equal(call("search --all ^a"), 0);
	snprintf(want, sizeof(want), "%s:2:a 3\n%s:1:a 1\n%s:3:a 2\n", ids[2], ids[0], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --all b -C1"), 0);
	snprintf(want, sizeof(want), "%s-1-a 1\n%s:2:b\n%s-3-a 2\n", ids[0], ids[0], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --all '3|2' -B1"), 0);
	snprintf(want, sizeof(want), "%s-1-nothing\n%s:2:a 3\n--\n%s-2-b\n%s:3:a 2\n", ids[2],
		 ids[2], ids[0], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --session other a"), 0);
	snprintf(want, sizeof(want), "%s:1:a other\n", ids[1]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --session other last o --limit 9"), 0);
	assert_string_equal(out.data, "1:a other\n");
	assert_int_equal(call("search --all -l ^a"), 0);
	snprintf(want, sizeof(want), "%s\n%s\n", ids[2], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --all -c ^a"), 0);
	snprintf(want, sizeof(want), "%s:1\n%s:2\n", ids[2], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --all -c b"), 0);
	snprintf(want, sizeof(want), "%s:1\n", ids[0]);
	assert_string_equal(out.data, want);

	assert_int_equal(call("search --all x"), 1);
	assert_string_equal(out.data, "");
	assert_string_equal(err.data, "terse search: no match in 2 artifacts of session default\n");
	assert_int_equal(call("search --session none x"), 1);
	assert_string_equal(
		err.data,
		"terse search: none: no such session (terse list --all shows what there is)\n");

	assert_int_equal(call("search --all ^a --limit 1"), 0);
	snprintf(
		want, sizeof(want),
		"%s:2:a 3\n[1 of 3 matches shown: terse search --all '^a' --limit 3, or narrow the "
		"pattern]\n",
		ids[2]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --session default --all ^a --limit 2"), 0);
	snprintf(want, sizeof(want),
		 "%s:2:a 3\n%s:1:a 1\n[2 of 3 matches shown: terse search --all --session default "
		 "'^a' --limit 3, or narrow the pattern]\n",
		 ids[2], ids[0]);
	assert_string_equal(out.data, want);
	assert_int_equal(call("search --all -l ^a --limit 1"), 0);
	snprintf(want, sizeof(want),
		 "%s\n[1 of 2 artifacts shown: terse search --all '^a' -l --limit 2, or narrow the "
		 "pattern]\n",
		 ids[2]);
	assert_string_equal(out.data, want);

	/* A binary text is announced. */
	struct artifact *a = create("default", 0);
	assert_int_equal(artifact_append(a, ARTIFACT_OUT, "b\1\nb\1\n", 6), 0);
	finish(a);
	assert_int_equal(call("search --all b"), 0);
	snprintf(want, sizeof(want),
		 "%s: [2 lines match in binary data, not shown: terse search %s b -a]\n%s:2:b\n",
		 meta.id, meta.id, ids[0]);
	assert_string_equal(out.data, want);
	/* One that was removed is passed over. */
	char path[200];
	snprintf(path, sizeof(path), "%s/store/sessions/default/%s.txt", home, ids[2]);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(call("search --all -c ^a"), 0);
	snprintf(want, sizeof(want), "%s:2\n", ids[0]);
	assert_string_equal(out.data, want);
}

TEST_MAIN(NULL, NULL)
