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
		      "1\n2\n3\n[... lines 4-7: terse read %s --lines 4-7]\n"
		      "Error: no such table\n9\n10\n"
		      "[terse: exit 1 after 7 ms; 10 lines, 40 B (limit 6 lines): terse "
		      "read %s [--lines FROM-TO], terse search ID REGEX]\n",
		      id, id);
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
		      "[terse: exit 1 after 7 ms; 5,001 lines, 44.0 KB: terse read %s "
		      "[--lines FROM-TO], terse search ID REGEX]\n",
		      first + 1, r.meta.id);
	printed(&r, buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

TEST_MAIN(home_setup, home_teardown)
