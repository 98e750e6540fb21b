// A text that is shown by its first lines (mode head).

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/interceptor.h"

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
		buffer_printf(&want, "%.*s%s", (int)(at - notice), notice,
			      artifact_id(r->artifact));
	buffer_printf(&want, "%s\n", notice);
	assert_string_equal(buffer_string(&r->out), buffer_string(&want));
	buffer_release(&want);
}

/* Whole up to the limit with its slack, then the first lines within the budget. */
static void head_by_bytes(void **state)
{
	(void)state;
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
				assert_true(interceptor_fits(r.text));
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

static void head_by_lines(void **state)
{
	struct run r = run_make_head(UNIT_LINES, 3);
	(void)state;
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
static void head_by_units(void **state)
{
	struct run r = run_make_head(UNIT_MATCHES, 2);
	(void)state;
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

static void head_with_long_lines(void **state)
{
	struct run r = run_make_head(UNIT_MATCHES, 100);
	(void)state;
	r.options.limit.longest_line = 40;
	r.options.limit.max_line = 40;
	run_start(&r);
	feed(&r, "a\n0123456789012345678901234567890123456789\n");
	feed(&r, "012345678901234567890123456789012345678\xC3\xA9");
	interceptor_pause(r.text);
	feed(&r, "more than a mark takes\nb\n");
	finish(&r);
	printed_head(&r,
		     "a\n0123456789012345678901234567890123456789\n"
		     "012345678901234567890123456789012345678[... bytes 82-105]\nb\n",
		     "[terse: 1 long line cut to 40 bytes: terse read ID --bytes FROM-TO]");
	run_end(&r);

	/* They are cut, too, if the text is too long in another way. */
	r = run_make_head(UNIT_LINES, 2);
	r.options.limit.max_line = 10;
	run_start(&r);
	feed(&r, "a long line of 31 characters...\nb\nc\n");
	finish(&r);
	printed_head(&r, "a long lin[... bytes 10-30]\nb\n",
		     "[terse: lines 1-2 of 3 shown (limit 2 lines), 1 long line cut to 10 bytes: "
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

static void head_of_one_long_line(void **state)
{
	struct run r = run_make_head(UNIT_LINES, 0);
	struct buffer text = BUFFER_INIT;
	(void)state;
	r.options.limit.max_line = BUDGET;
	run_start(&r);
	for (int i = 0; i < 2000; i++)
		buffer_append_string(&text, "\xC3\xA9\xC3\xA9x");
	interceptor_feed(r.text, text.data, text.len);
	feed(&r, "\nend\n");
	finish(&r);
	buffer_string(&text);
	text.data[BUDGET] = '\0';
	buffer_append_string(&r.out, "");
	struct buffer want = BUFFER_INIT;
	buffer_printf(&want, "%s\n", text.data);
	printed_head(&r, buffer_string(&want),
		     "[terse: line 1 is 9.8 KB, its first 1000 B shown, 1 more line: "
		     "terse read ID --bytes 1000-9999]");
	buffer_release(&want);
	buffer_release(&text);
	run_end(&r);
}

/* Lines are printed as they come, up to the limit and behind it, and none is taken back. */
static void head_is_live(void **state)
{
	struct run r = run_make_head(UNIT_LINES, 5);
	(void)state;
	r.options.terminal.rows = 2;
	run_start(&r);
	feed(&r, "1\n2\n3\n");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	printed(&r, "1\n2\n3\n");
	feed(&r, "4\n5\n6\n");
	interceptor_settle_all(r.text);
	printed(&r, "1\n2\n3\n4\n5\n");
	assert_false(interceptor_is_unsettled(r.text));
	feed(&r, "7\n");
	finish(&r);
	printed_head(&r, "1\n2\n3\n4\n5\n",
		     "[terse: lines 1-5 of 7 shown (limit 5 lines): terse read ID --offset 6]");
	run_end(&r);

	/* Over the limit by a long line, it goes on with the next ones. */
	r = run_make_head(UNIT_LINES, 0);
	r.options.limit.longest_line = r.options.limit.max_line = 10;
	run_start(&r);
	feed(&r, "1\n0123456789abcdefghijklmnopqrs\n");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	printed(&r, "1\n0123456789[... bytes 12-30]\n");
	feed(&r, "3\n");
	assert_true(interceptor_is_unsettled(r.text));
	interceptor_settle_all(r.text);
	printed(&r, "1\n0123456789[... bytes 12-30]\n3\n");
	finish(&r);
	run_end(&r);
}

/* Lines and bytes that have to be cleaned count as they are printed. */
static void head_of_invalid_bytes(void **state)
{
	struct run r = run_make_head(UNIT_LINES, 0);
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_by_bytes),         cmocka_unit_test(head_by_lines),
		cmocka_unit_test(head_by_units),         cmocka_unit_test(head_with_long_lines),
		cmocka_unit_test(head_of_one_long_line), cmocka_unit_test(head_is_live),
		cmocka_unit_test(head_of_invalid_bytes),
	};
	return cmocka_run_group_tests(tests, home_setup, home_teardown);
}
