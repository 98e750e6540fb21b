// A text that is shown by its first lines (mode head).

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

static struct run run_make_head(enum unit unit, uint64_t count)
{
	struct run r = run_make();
	r.options.limit.mode = MODE_HEAD;
	r.options.limit.unit = unit;
	r.options.limit.count = count;
	return r;
}

/* Prints `lines` and the notice, with the artifact's ID for "ID". */
static void printed_head(struct run *r, const char *lines, const char *notice)
{
	struct buffer want = BUFFER_INIT;
	buffer_append_string(&want, lines);
	assert_non_null(r->artifact);
	for (const char *at; (at = strstr(notice, "ID")) != NULL; notice = at + 2)
		buffer_printf(&want, "%.*s%s", (int)(at - notice), notice, r->meta.id);
	buffer_printf(&want, "%s\n", notice);
	assert_string_equal(buffer_string(&r->out), buffer_string(&want));
	buffer_release(&want);
}

/* Whole up to the limit with its slack, then the first lines within the budget. */
TEST(head_by_bytes)
{
	for (size_t len = LIMIT - 1; len <= LIMIT + 1; len++) {
		for (size_t step = 1; step <= len; step = step * 3 + 1) {
			struct run r = run_make_head(UNIT_LINES, 0);
			struct buffer text = BUFFER_INIT;
			run_start(&r);
			make_text(&text, len, 50);
			for (size_t at = 0, n; at < len; at += n) {
				n = len - at < step ? len - at : step;
				interceptor_feed(r.text, text.data + at, n);
			}
			finish(&r);
			buffer_string(&text);
			if (len <= LIMIT) {
				printed(&r, text.data);
				assert_true(interceptor_facts(r.text).fits);
				assert_int_equal(r.asked_for_artifact, 0);
			} else {
				kept_equals(r.artifact, ".txt", text.data);
				text.data[BUDGET] = '\0';
				printed_head(&r, text.data,
					     "[terse: lines 1-20 of 24 shown (limit 1000 bytes): "
					     "terse read ID --offset 21]");
			}
			buffer_release(&text);
			run_end(&r);
		}
	}
}

TEST(head_by_lines)
{
	struct run r = run_make_head(UNIT_LINES, 3);
	run_start(&r);
	feed(&r, "1\n2\n3\n");
	finish(&r);
	printed(&r, "1\n2\n3\n");
	run_end(&r);

	r = run_make_head(UNIT_LINES, 3);
	run_start(&r);
	feed(&r, "1\n2\n3\n4");
	finish(&r);
	printed_head(&r, "1\n2\n3\n",
		     "[terse: lines 1-3 of 4 shown (limit 3 lines): terse read ID --offset 4]");
	kept_equals(r.artifact, ".txt", "1\n2\n3\n4");
	run_end(&r);
}

/* Lines that are no match or entry do not count, and do not stand at the end. */
TEST(head_by_units)
{
	struct run r = run_make_head(UNIT_MATCHES, 2);
	run_start(&r);
	feed(&r, "--\na\n--\n\nb\n--\n");
	finish(&r);
	printed(&r, "--\na\n--\n\nb\n--\n");
	run_end(&r);

	r = run_make_head(UNIT_MATCHES, 2);
	run_start(&r);
	feed(&r, "--\na\n--\n\nb\n--\nc\n\n");
	finish(&r);
	printed_head(
		&r, "--\na\n--\n\nb\n",
		"[terse: 2 matches of 3 shown: terse read ID --offset 6, or narrow the pattern]");
	run_end(&r);

	r = run_make_head(UNIT_ENTRIES, 2);
	run_start(&r);
	feed(&r, ".:\ntotal 8\na\n\n./a:\nb\n\n./b:\nc\nd");
	finish(&r);
	printed_head(&r, ".:\ntotal 8\na\n\n./a:\nb\n",
		     "[terse: 2 entries of 4 shown: terse read ID --offset 7, or list less]");
	run_end(&r);
}

TEST(head_with_long_lines)
{
	struct run r = run_make_head(UNIT_MATCHES, 100);
	r.options.limit.bytes = 300;
	r.options.limit.max_line = 64;
	run_start(&r);
	feed(&r, "a\n0123456789012345678901234567890123456789012345678901234567890123\n");
	feed(&r, "012345678901234567890123456789012345678\xC3\xA9\xC3\xA9\xC3\xA9");
	interceptor_pause(r.text);
	for (int i = 0; i < 20; i++)
		feed(&r, "more than a mark takes ");
	feed(&r, "\nb\n");
	finish(&r);
	printed_head(
		&r,
		"a\n0123456789012345678901234567890123456789012345678901234567890123\n"
		"012345678901234567890123456789012345678\xC3\xA9\xC3\xA9[... bytes 110-571]\nb\n",
		"[terse: 1 long line cut to 64 bytes: terse read ID --bytes FROM-TO]");
	run_end(&r);

	/* They are cut, too, if the text is too long in another way. */
	r = run_make_head(UNIT_LINES, 2);
	r.options.limit.max_line = 64;
	run_start(&r);
	feed(&r, "a long line ");
	for (int i = 0; i < 10; i++)
		feed(&r, "of words... ");
	feed(&r, "\nb\nc\n");
	finish(&r);
	printed_head(&r, "a long line of words... of words... of words[... bytes 44-131]\nb\n",
		     "[terse: lines 1-2 of 3 shown (limit 2 lines), 1 long line cut to 64 bytes: "
		     "terse read ID --offset 3; cut bytes: terse read ID --bytes FROM-TO]");
	run_end(&r);

	r = run_make_head(UNIT_LINES, 2);
	r.options.limit.max_line = 10;
	run_start(&r);
	feed(&r, "a long line\nb\n");
	finish(&r);
	printed(&r, "a long line\nb\n");
	run_end(&r);
}

TEST(head_of_one_long_line)
{
	struct run r = run_make_head(UNIT_LINES, 0);
	struct buffer text = BUFFER_INIT;
	r.options.limit.max_line = BUDGET;
	run_start(&r);
	for (int i = 0; i < 2000; i++)
		buffer_append_string(&text, "\xC3\xA9\xC3\xA9x");
	interceptor_feed(r.text, text.data, text.len);
	feed(&r, "\nend\n");
	finish(&r);
	struct buffer want = BUFFER_INIT;
	buffer_printf(&want, "%.*s[... bytes 972-9999]\nend\n", 972, buffer_string(&text));
	printed_head(&r, buffer_string(&want),
		     "[terse: 1 long line cut: terse read ID --bytes FROM-TO]");
	buffer_release(&want);
	buffer_release(&text);
	run_end(&r);
}

#define CUT "01234567890123456789012345678901234567890123[... bytes 46-401]\n"

/* Lines are printed as they come, up to the limit and behind it, and none is taken back. */
TEST(head_is_live)
{
	struct run r = run_make_head(UNIT_LINES, 5);
	r.options.terminal.rows = 2;
	run_start(&r);
	feed(&r, "1\n2\n");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	printed(&r, "1\n2\n");
	/* The rest is for the end, should the command fail. */
	feed(&r, "3\n4\n5\n6\n");
	interceptor_settle_all(r.text);
	printed(&r, "1\n2\n3\n");
	assert_false(is_unsettled(&r));
	feed(&r, "7\n");
	finish(&r);
	printed_head(&r, "1\n2\n3\n4\n5\n",
		     "[terse: lines 1-5 of 7 shown (limit 5 lines): terse read ID --offset 6]");
	run_end(&r);

	/* Over the limit by a long line, it goes on with the next ones. */
	for (int failed = 0; failed <= 1; failed++) {
		r = run_make_head(UNIT_LINES, 0);
		r.options.limit.bytes = 300;
		r.options.limit.max_line = 64;
		run_start(&r);
		feed(&r, "1\n");
		for (int i = 0; i < 40; i++)
			feed(&r, "0123456789");
		feed(&r, "\n");
		interceptor_pause(r.text);
		interceptor_settle_all(r.text);
		/* It may be the last one, of which the end is shown. */
		printed(&r, "1\n");
		feed(&r, "3\n");
		assert_true(is_unsettled(&r));
		interceptor_settle_all(r.text);
		printed(&r, "1\n" CUT "3\n");
		feed(&r, "4\n");
		interceptor_settle_all(r.text);
		printed(&r, "1\n" CUT "3\n4\n");
		for (int i = 0; i < 40; i++)
			feed(&r, "error: 56");
		feed(&r, "9\n");
		interceptor_finish(r.text);
		const struct interceptor_ending e = ending(&r, failed);
		interceptor_report(r.text, &e);
		assert_true(has_printed(&r, "1\n" CUT "3\n4\n"));
		assert_int_equal(has_printed(&r, "569\n"), failed);
		run_end(&r);
	}
}

/* Lines and bytes that have to be cleaned count as they are printed. */
TEST(head_of_invalid_bytes)
{
	struct run r = run_make_head(UNIT_LINES, 0);
	r.options.limit.bytes = 64;
	run_start(&r);
	for (int i = 0; i < 30; i++)
		feed(&r, "caf\xE9 opened\n");
	finish(&r);
	printed_head(&r,
		     "caf\xEF\xBF\xBD opened\ncaf\xEF\xBF\xBD opened\n"
		     "caf\xEF\xBF\xBD opened\ncaf\xEF\xBF\xBD opened\n",
		     "[terse: lines 1-4 of 30 shown (limit 64 bytes): terse read ID --offset 5]");
	run_end(&r);
}

static struct run run_make_search(size_t bytes, uint64_t count)
{
	struct run r = run_make_head(UNIT_MATCHES, count);
	r.options.limit.bytes = bytes;
	r.options.limit.group = true;
	r.options.limit.grow = true;
	return r;
}

#define MATCHES                                                           \
	"src/one.c:1:a\nsrc/one.c:20:b\nsrc/one.c:300:c\nsrc/two.c:4:d\n" \
	"src/two.c:50:e\n"

/* Over a limit, matches go below the names of their files. */
TEST(matches_are_grouped)
{
	struct run r = run_make_search(64, 0);
	run_start(&r);
	feed(&r, MATCHES);
	finish(&r);
	printed_head(&r, "src/one.c\n1:a\n20:b\n300:c\n\nsrc/two.c\n4:d\n50:e\n",
		     "[terse: all 5 matches shown, grouped by file; as they came: terse read ID]");
	kept_equals(r.artifact, ".txt", MATCHES);
	run_end(&r);

	r = run_make_search(BUDGET, 4);
	run_start(&r);
	feed(&r, MATCHES);
	finish(&r);
	printed_head(&r, "src/one.c\n1:a\n20:b\n300:c\n\nsrc/two.c\n4:d\n",
		     "[terse: 4 matches of 5 shown, grouped by file: terse read ID --offset 5, or "
		     "narrow the pattern]");
	run_end(&r);

	r = run_make_search(64, 0);
	run_start(&r);
	feed(&r, MATCHES MATCHES);
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	/* As many at once as there will be, should the command fail. */
	printed(&r, "src/one.c\n1:a\n20:b\n300:c\n");
	finish(&r);
	printed_head(&r, "src/one.c\n1:a\n20:b\n300:c\n\nsrc/two.c\n4:d\n50:e\n\nsrc/one.c\n1:a\n",
		     "[terse: 6 matches of 10 shown, grouped by file (limit 64 bytes): terse read "
		     "ID --offset 7, or narrow the pattern]");
	run_end(&r);
}

/* A text within the limit is as it was. */
TEST(few_matches_are_not_grouped)
{
	struct run r = run_make_search(BUDGET, 0);
	run_start(&r);
	feed(&r, MATCHES);
	finish(&r);
	printed(&r, MATCHES);
	assert_true(interceptor_facts(r.text).fits);
	run_end(&r);
}

/* What was printed in the text's own form is not followed by groups. */
TEST(slow_matches_are_not_grouped)
{
	struct run r = run_make_search(100, 0);
	run_start(&r);
	feed(&r, "src/one.c:1:a\nsrc/one.c:20:b\n");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	interceptor_settle(r.text, 10000);
	assert_int_equal(interceptor_facts(r.text).settle_due, 10200);
	interceptor_settle(r.text, 10999);
	printed(&r, "");
	interceptor_settle(r.text, 11000);
	printed(&r, "src/one.c:1:a\nsrc/one.c:20:b\n");
	feed(&r, MATCHES MATCHES);
	finish(&r);
	assert_true(has_printed(&r, "20:b\nsrc/one.c:1:a\n"));
	assert_true(has_printed(&r, " matches of 12 shown (limit 100 bytes): "));
	run_end(&r);
}

/* Makes a list of matches: names of some files, numbers, lines of all lengths. */
static void random_matches(struct buffer *b, uint32_t *s)
{
	uint32_t files = 1 + rnd(s, 50), longest = rnd(s, 3) ? 60 : 3000;
	for (uint32_t f = 0; f < files; f++) {
		uint32_t count = 1 + rnd(s, 9), number = 0;
		for (uint32_t i = 0; i < count; i++) {
			number += 1 + rnd(s, 100);
			buffer_printf(b, "the/directory/of/file%u.c:%u:", f, number);
			for (uint32_t k = rnd(s, rnd(s, 50) ? 40 : longest); k > 0; k--)
				buffer_append(b, "x", 1);
			buffer_append(b, "\n", 1);
		}
	}
}

/* Puts names and lines together again. */
static void ungroup(struct buffer *out, const char *text, size_t len)
{
	const char *name = NULL;
	size_t name_len = 0;
	for (const char *newline; len > 0 && (newline = memchr(text, '\n', len));) {
		size_t line = (size_t)(newline - text);
		if (line == 0) {
			name = NULL;
		} else if (!name) {
			name = text;
			name_len = line;
		} else {
			buffer_printf(out, "%.*s:%.*s\n", (int)name_len, name, (int)line, text);
		}
		len -= line + 1;
		text = newline + 1;
	}
}

/* However the text comes, the groups are its first lines, within the budget, and the ranges of a
   report count them. */
TEST(groups_are_the_lines_of_the_text)
{
	uint32_t s = random_start(5);
	int grouped = 0, cut = 0;
	for (int round = 0; round < 300; round++) {
		struct run r =
			run_make_search(500 + rnd(&s, 4000), rnd(&s, 2) ? 0 : 20 + rnd(&s, 50));
		struct buffer text = BUFFER_INIT, lines = BUFFER_INIT;
		struct report report = {.command = NULL};
		struct report_stream *out = &report.streams[0];
		size_t step = 1 + rnd(&s, 5000);
		r.options.reader = INTERCEPT_COLLECTED;
		run_start(&r);
		random_matches(&text, &s);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = text.len - at < step ? text.len - at : step;
			interceptor_feed(r.text, text.data + at, n);
		}
		interceptor_finish(r.text);
		const struct interceptor_ending e = ending(&r, 0);
		assert_int_equal(interceptor_collect(r.text, &e, out), 0);
		assert_true(out->text.len <= limit_most(r.options.limit.bytes));
		if (out->grouped) {
			grouped++;
			ungroup(&lines, out->text.data, out->text.len);
			size_t count = newline_count(lines.data, lines.len);
			assert_int_equal(count, out->returned_lines);
			cut += out->lines_truncated > 0;
			const char *at = text.data;
			for (size_t i = 0; i < lines.len;) {
				size_t len = strcspn(lines.data + i, "\n");
				assert_memory_equal(at, lines.data + i, len);
				assert_true(at[len] == '\n' || out->lines_truncated > 0);
				at = strchr(at, '\n') + 1;
				i += len + 1;
			}
		}
		report_release(&report);
		buffer_release(&lines);
		buffer_release(&text);
		run_end(&r);
	}
	assert_true(grouped > 100 && cut > 10);
}

/* While the command runs the smallest of the limits holds; the rest of what the outcome allows
   comes at the end. */
TEST(the_outcome_chooses_the_first_part)
{
	static const struct {
		size_t len, want;
		int exit_code;
	} rows[] = {
		{1100, 1100, 0}, {1500, 1500, 1}, {2000, 750, 1}, {2200, 2200, 0}, {3000, 2000, 0},
		{3000, 750, 1},  {5000, 2000, 0}, {5100, 500, 0}, {5100, 750, 1},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (int longest = 0; longest <= 1; longest++) {
			struct run r = run_make_head(UNIT_LINES, 0);
			struct buffer text = BUFFER_INIT;
			struct limit *l = &r.options.limit;
			l->bytes = 2000;
			l->failure_bytes = 1500;
			l->cut_bytes = 500;
			l->cut_over = 5000;
			l->grow = longest;
			run_start(&r);
			make_text(&text, rows[i].len, 50);
			interceptor_feed(r.text, text.data, text.len);
			assert_true(r.out.len <= 500);
			interceptor_finish(r.text);
			const struct interceptor_ending e = ending(&r, rows[i].exit_code);
			interceptor_report(r.text, &e);
			assert_true(r.out.len >= rows[i].want);
			assert_memory_equal(r.out.data, text.data, rows[i].want);
			assert_int_equal(interceptor_facts(r.text).fits,
					 rows[i].want == rows[i].len);
			if (rows[i].want < rows[i].len)
				assert_memory_equal(r.out.data + rows[i].want,
						    rows[i].exit_code ? "[... lines "
								      : "[terse: lines 1-",
						    rows[i].exit_code ? 11 : 16);
			buffer_release(&text);
			run_end(&r);
		}
	}
}

/* Feeds 5,000 lines, one of which tells why the run fails. */
static void feed_with_cause(struct run *r, int at)
{
	feed_lines(r, 1, at - 1);
	feed(r, "show: nofile: No such file or directory\n");
	feed_lines(r, at + 1, 5000);
}

/* A run that has failed shows why in every mode, however much of the start is asked for, and the
   last lines; all within the budget. */
TEST(a_failure_is_told_in_every_mode)
{
	static const int places[] = {3, 700, 4990, 5000};
	for (enum mode mode = MODE_SMART; mode <= MODE_ENDS; mode++) {
		for (size_t i = 0; i < 2 * sizeof(places) / sizeof(*places); i++) {
			struct run r = run_make();
			bool by_lines = i % 2;
			r.options.limit.mode = mode;
			r.options.limit.head_share = 100;
			r.options.limit.end_share = 10;
			r.options.limit.bytes = by_lines ? 100000 : BUDGET;
			r.options.limit.count = by_lines ? 100 : 0;
			run_start(&r);
			feed_with_cause(&r, places[i / 2]);
			interceptor_pause(r.text);
			interceptor_settle_all(r.text);
			if (mode == MODE_HEAD)
				assert_true(has_printed(&r, "line 1\nline 2\n"));
			interceptor_finish(r.text);
			const struct interceptor_ending e = ending(&r, 1);
			interceptor_report(r.text, &e);
			assert_true(has_printed(&r, "No such file"));
			assert_true(places[i / 2] == 5000 || has_printed(&r, "line 5000\n"));
			assert_true(has_printed(&r, "[terse: exit 1 after "));
			assert_true(r.out.len <= (by_lines ? 2000 : BUDGET) + 300);
			run_end(&r);
		}
	}
}

/* What comes behind the first part of a failure: the next lines that tell of it, and the last. */
TEST(behind_the_first_part)
{
	struct run r = run_make_head(UNIT_LINES, 6);
	struct buffer want = BUFFER_INIT;
	r.options.limit.bytes = 4096;
	run_start(&r);
	feed(&r, "1\n2\n3\n4\n5\n6\n7\nError: no such table\n9\n10\n");
	interceptor_finish(r.text);
	const struct interceptor_ending e = ending(&r, 1);
	interceptor_report(r.text, &e);
	const char *id = r.meta.id;
	buffer_printf(&want,
		      "1\n2\n3\n[... lines 4-7 omitted, 8 B: terse read %s --lines 4-7]\n"
		      "Error: no such table\n9\n10\n"
		      "[terse: exit 1 after 7 ms; 10 lines, 40 B (limit 6 lines); full text: terse "
		      "read %s [--lines FROM-TO], terse search %s REGEX]\n",
		      id, id, id);
	printed(&r, buffer_string(&want));
	const struct interceptor_facts facts = interceptor_facts(r.text);
	assert_int_equal(facts.shown_count, 2);
	assert_int_equal(facts.shown[0].to, 3);
	assert_int_equal(facts.shown[1].from, 8);
	buffer_release(&want);
	run_end(&r);
}

/* Equal lines behind the first part of a failure are folded, and the last line says where all are.
 */
TEST(equal_lines_behind_the_first_part)
{
	struct run r = run_make_head(UNIT_LINES, 0);
	struct buffer want = BUFFER_INIT;
	run_start(&r);
	for (int i = 0; i < 5000; i++)
		feed(&r, "the same\n");
	feed(&r, "Error: no such table\n");
	interceptor_finish(r.text);
	const struct interceptor_ending e = ending(&r, 1);
	interceptor_report(r.text, &e);
	const char *fold = strchr(buffer_string(&r.out), '[');
	size_t first = fold ? (size_t)(fold - r.out.data) / strlen("the same\n") : 0;
	assert_in_range(first, 10, 60);
	for (size_t i = 0; i < first; i++)
		buffer_append_string(&want, "the same\n");
	buffer_printf(&want,
		      "[... lines %zu-5000 repeat the line above]\nError: no such table\n"
		      "[terse: exit 1 after 7 ms; 5,001 lines, 44.0 KB; full text: terse read %s "
		      "[--lines FROM-TO], terse search %s REGEX]\n",
		      first + 1, r.meta.id, r.meta.id);
	printed(&r, buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

TEST_MAIN(home_setup, home_teardown)
