// From the bytes of a command to its reader and its artifact.

#include "supervisor/base/buffer.h"
#include "supervisor/base/utf8.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/raw.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/kept.h"

#define BUDGET ((size_t)1000)
#define LIMIT  ((size_t)1150) /* with 15 % of slack */

/* A run: the interceptor and what it has told its owner. */
struct run {
	struct interceptor_options options;
	struct interceptor *text;
	struct buffer out; /* printed */
	struct buffer replies;
	struct meta meta;
	struct artifact *artifact;
	bool full; /* no artifact can be made */
	int asked_for_artifact, asked_who_reads;
	enum interceptor_print reader; /* the answer */
	bool unknown;                  /* who reads is not known at the start */
};

static struct artifact *on_artifact(void *ctx)
{
	struct run *r = ctx;
	r->asked_for_artifact++;
	if (r->full)
		return NULL;
	r->artifact = kept_create(&r->meta);
	assert_non_null(r->artifact);
	return r->artifact;
}

static void on_print(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	assert_int_equal(buffer_append(&r->out, data, len), 0);
}

static enum interceptor_print on_resolve(void *ctx)
{
	struct run *r = ctx;
	r->asked_who_reads++;
	return r->reader;
}

static void on_reply(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;
	assert_int_equal(buffer_append(&r->replies, data, len), 0);
}

/* As for an agent; a test changes what it is about before run_start(). */
static struct run run_make(void)
{
	return (struct run){
		.options = {.terminal = {.cols = 160, .rows = 50, .onlcr = true, .collapse = true},
			    .limit = {.mode = MODE_SMART,
				      .bytes = BUDGET,
				      .head_share = 25,
				      .max_line = 500},
			    .print = INTERCEPT_PREVIEW,
			    .raw = INTERCEPT_RAW_AUTO,
			    .part = ARTIFACT_OUT},
	};
}

static void run_start(struct run *r)
{
	const struct interceptor_events events = {.artifact = on_artifact,
						  .print = on_print,
						  .resolve = r->unknown ? on_resolve : NULL,
						  .reply = on_reply,
						  .ctx = r};
	r->text = interceptor_new(&r->options, &events);
	assert_non_null(r->text);
}

static void feed(struct run *r, const char *text)
{
	interceptor_feed(r->text, text, strlen(text));
}

static struct wording_place place_of(const struct run *r)
{
	struct wording_place place = {.error = r->full ? ENOSPC : 0};
	if (r->artifact)
		place.id = artifact_id(r->artifact);
	return place;
}

static struct interceptor_ending ending(const struct run *r, int exit_code)
{
	return (struct interceptor_ending){.ending = {.exit_code = exit_code, .duration_ms = 7},
					   .place = place_of(r)};
}

static void report(struct run *r)
{
	const struct interceptor_ending e = ending(r, 0);
	interceptor_report(r->text, &e);
}

static void finish(struct run *r)
{
	interceptor_finish(r->text);
	report(r);
}

static void printed(struct run *r, const char *want)
{
	assert_string_equal(buffer_string(&r->out), want);
}

static bool has_printed(struct run *r, const char *part)
{
	return strstr(buffer_string(&r->out), part);
}

static void run_end(struct run *r)
{
	interceptor_free(r->text);
	if (r->artifact)
		artifact_close(r->artifact);
	buffer_release(&r->out);
	buffer_release(&r->replies);
}

/* "line 1\n" and so on. */
static void number_lines(struct buffer *b, int from, int to)
{
	for (int i = from; i <= to; i++)
		assert_int_equal(buffer_printf(b, "line %d\n", i), 0);
}

static void feed_lines(struct run *r, int from, int to)
{
	struct buffer lines = BUFFER_INIT;
	number_lines(&lines, from, to);
	interceptor_feed(r->text, lines.data, lines.len);
	buffer_release(&lines);
}

/* --- text within the threshold --- */

static void nothing_comes(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	finish(&r);
	printed(&r, "");
	assert_int_equal(r.asked_for_artifact, 0);
	assert_true(interceptor_fits(r.text) && !interceptor_is_spilled(r.text));
	run_end(&r);
}

static void short_text_is_printed_as_it_is(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "\x1b[32mone\x1b[m\r\n10%\r20%\r30%\ntwo");
	finish(&r);
	printed(&r, "one\n30%\ntwo");
	assert_int_equal(r.asked_for_artifact, 0);
	assert_int_equal(interceptor_bytes(r.text), 11);
	assert_int_equal(interceptor_lines(r.text), 3);
	run_end(&r);
}

/* Text of `len` bytes in lines of `width`. */
static void make_text(struct buffer *b, size_t len, size_t width)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(i % width == width - 1 ? '\n' : 'a' + i % 26);
		assert_int_equal(buffer_append(b, &c, 1), 0);
	}
}

/* Exactly at the limit it is whole, one byte on it is a preview within the budget. */
static void threshold(void **state)
{
	(void)state;
	for (size_t len = LIMIT - 2; len <= LIMIT + 2; len++) {
		for (size_t step = 1; step <= len; step = step * 3 + 1) {
			struct run r = run_make();
			struct buffer text = BUFFER_INIT;
			run_start(&r);
			make_text(&text, len, 50);
			for (size_t at = 0, n; at < len; at += n) {
				n = len - at < step ? len - at : step;
				interceptor_feed(r.text, text.data + at, n);
			}
			finish(&r);
			if (len <= LIMIT) {
				printed(&r, buffer_string(&text));
				assert_true(interceptor_fits(r.text));
				assert_int_equal(r.asked_for_artifact, 0);
			} else {
				assert_false(interceptor_fits(r.text));
				assert_int_equal(r.asked_for_artifact, 1);
				const char *footer = strstr(buffer_string(&r.out), "[terse: ");
				assert_non_null(footer);
				assert_true((size_t)(footer - r.out.data) <= BUDGET);
				kept_equals(r.artifact, ".txt", buffer_string(&text));
			}
			buffer_release(&text);
			run_end(&r);
		}
	}
}

/* What grows when it is printed clean is measured as printed. */
static void threshold_of_invalid_bytes(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		run_start(&r);
		make_text(&text, LIMIT - 20 * 2 + (size_t)over, 50);
		for (size_t i = 0; i < 20; i++)
			text.data[i * 40] = (char)0xE9;
		for (size_t i = 0; i < text.len; i++)
			interceptor_feed(r.text, text.data + i, 1);
		finish(&r);
		assert_int_equal(interceptor_fits(r.text), !over);
		assert_true(utf8_all_clean(r.out.data, r.out.len));
		if (!over)
			assert_int_equal(r.out.len, LIMIT);
		else
			kept_equals(r.artifact, ".txt", buffer_string(&text));
		buffer_release(&text);
		run_end(&r);
	}
}

/* Half a character at the very end is one that is invalid. */
static void threshold_of_a_cut_character(void **state)
{
	struct run r = run_make();
	struct buffer text = BUFFER_INIT;
	(void)state;
	run_start(&r);
	make_text(&text, LIMIT, 50);
	memcpy(text.data + LIMIT - 2, "\n\xE2", 2);
	interceptor_feed(r.text, text.data, text.len);
	finish(&r);
	assert_false(interceptor_fits(r.text));
	kept_equals(r.artifact, ".txt", buffer_string(&text));
	buffer_release(&text);
	run_end(&r);
}

static void threshold_of_lines(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		struct run r = run_make();
		r.options.limit.count = 20;
		run_start(&r);
		feed_lines(&r, 1, 20 + over);
		finish(&r);
		assert_int_equal(interceptor_fits(r.text), !over);
		size_t lines = 0;
		for (size_t i = 0; i < r.out.len; i++)
			lines += r.out.data[i] == '\n';
		/* Markers and footer beside them. */
		assert_true(lines <= 20 + 3);
		run_end(&r);
	}
}

/* --- mode head --- */

static struct run run_make_head(enum unit unit, uint64_t count)
{
	struct run r = run_make();
	r.options.limit.mode = MODE_HEAD;
	r.options.limit.unit = unit;
	r.options.limit.count = count;
	return r;
}

/* Prints `lines` and the notice, with the artifact's ID in place of %s. */
static void printed_head(struct run *r, const char *lines, const char *notice)
{
	struct buffer want = BUFFER_INIT;
	assert_int_equal(buffer_append_string(&want, lines), 0);
	const char *at = strstr(notice, "ID");
	assert_non_null(at);
	assert_non_null(r->artifact);
	assert_int_equal(buffer_printf(&want, "%.*s%s%s\n", (int)(at - notice), notice,
				       artifact_id(r->artifact), at + 2),
			 0);
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

/* What is no match or entry does not count, and does not stand at the end. */
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
	feed(&r, "more\nb\n");
	finish(&r);
	printed_head(&r,
		     "a\n0123456789012345678901234567890123456789\n"
		     "012345678901234567890123456789012345678[... 6 bytes omitted ...]\nb\n",
		     "[terse: 1 long line cut to 40 bytes; whole: terse read ID --offset 3]");
	run_end(&r);

	/* Of a text that is otherwise too long they are cut, too. */
	r = run_make_head(UNIT_LINES, 2);
	r.options.limit.max_line = 10;
	run_start(&r);
	feed(&r, "a long line\nb\nc\n");
	finish(&r);
	printed_head(&r, "a long lin[... 1 bytes omitted ...]\nb\n",
		     "[terse: lines 1-2 of 3 shown (limit 2 lines), 1 long line cut to 10 bytes: "
		     "terse read ID --offset 3]");
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
		assert_int_equal(buffer_append_string(&text, "\xC3\xA9\xC3\xA9x"), 0);
	interceptor_feed(r.text, text.data, text.len);
	feed(&r, "\nend\n");
	finish(&r);
	buffer_string(&text);
	text.data[BUDGET] = '\0';
	assert_int_equal(buffer_append_string(&r.out, ""), 0);
	struct buffer want = BUFFER_INIT;
	assert_int_equal(buffer_printf(&want, "%s\n", text.data), 0);
	printed_head(
		&r, buffer_string(&want),
		"[terse: line 1 is 9.8 KB, its first 1000 B shown, 1 more line: terse path ID]");
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
	interceptor_settle(r.text, true);
	printed(&r, "1\n2\n3\n");
	feed(&r, "4\n5\n6\n");
	interceptor_settle(r.text, true);
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
	feed(&r, "1\n0123456789a\n");
	interceptor_pause(r.text);
	interceptor_settle(r.text, true);
	printed(&r, "1\n0123456789[... 1 bytes omitted ...]\n");
	feed(&r, "3\n");
	assert_true(interceptor_is_unsettled(r.text));
	interceptor_settle(r.text, true);
	printed(&r, "1\n0123456789[... 1 bytes omitted ...]\n3\n");
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

/* Units other than lines are limits in the other modes as well. */
static void preview_by_units(void **state)
{
	(void)state;
	for (int over = 0; over <= 1; over++) {
		struct run r = run_make();
		r.options.limit.count = 2;
		r.options.limit.unit = UNIT_MATCHES;
		run_start(&r);
		feed(&r, over ? "a\n--\nb\n--\nc\n" : "a\n--\nb\n--\n");
		finish(&r);
		assert_int_equal(interceptor_fits(r.text), !over);
		run_end(&r);
		r = run_make();
		r.options.limit.longest_line = 10;
		run_start(&r);
		feed(&r, over ? "a\n01234567890\n" : "a\n0123456789\n");
		finish(&r);
		assert_int_equal(interceptor_fits(r.text), !over);
		run_end(&r);
	}
}

/* --- the live reader --- */

/* Lines come when they are final: scrolled off, or settled. */
static void lines_are_printed_as_they_come(void **state)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	(void)state;
	r.options.terminal.rows = 5;
	run_start(&r);
	feed(&r, "\x1b[m");
	interceptor_pause(r.text);
	for (int i = 1; i <= 20; i++) {
		feed_lines(&r, i, i);
		assert_true(r.out.len <= want.len + 7 * 5);
		number_lines(&want, i, i);
		assert_memory_equal(want.data, r.out.len ? r.out.data : "", r.out.len);
		if (i == 12) {
			assert_true(interceptor_is_unsettled(r.text));
			interceptor_settle(r.text, true);
			assert_false(interceptor_is_unsettled(r.text));
			printed(&r, buffer_string(&want));
		}
	}
	feed(&r, "unfinished");
	finish(&r);
	assert_int_equal(buffer_append_string(&want, "unfinished"), 0);
	printed(&r, buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

/* Without `all`, only what was complete at the call before is settled. */
static void settling_waits_one_turn(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "first\n");
	interceptor_pause(r.text);
	assert_true(interceptor_is_unsettled(r.text));
	interceptor_settle(r.text, false);
	printed(&r, "");
	feed(&r, "second\n");
	interceptor_settle(r.text, false);
	printed(&r, "first\n");
	interceptor_settle(r.text, false);
	printed(&r, "first\nsecond\n");
	assert_false(interceptor_is_unsettled(r.text));
	finish(&r);
	printed(&r, "first\nsecond\n");
	run_end(&r);
}

/* Who redraws would leave stale lines. */
static void redrawing_is_not_settled(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "a 10%\nb 10%\n\x1b[2Aa 20%\nb 20%\n");
	interceptor_pause(r.text);
	assert_false(interceptor_is_unsettled(r.text));
	interceptor_settle(r.text, true);
	printed(&r, "");
	feed(&r, "\x1b[2Aa 30%\nb 30%\n");
	finish(&r);
	printed(&r, "a 30%\nb 30%\n");
	run_end(&r);
}

/* The head is printed live, and at the end the rest of the preview follows it: nothing twice. */
static void head_then_preview(void **state)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT, kept = BUFFER_INIT;
	(void)state;
	run_start(&r);
	for (int i = 1; i <= 2000; i++) {
		feed_lines(&r, i, i);
		if (i == 100) {
			interceptor_pause(r.text);
			interceptor_settle(r.text, true);
			/* A quarter of the budget, whole lines. */
			assert_true(r.out.len > 150 && r.out.len <= BUDGET / 2);
		}
	}
	size_t head = r.out.len;
	number_lines(&want, 1, 2000);
	assert_memory_equal(r.out.data, want.data, head);
	assert_true(interceptor_is_spilled(r.text));
	finish(&r);
	const char *footer =
		strstr(buffer_string(&r.out), "[terse: exit 0 after 7 ms; 2,000 lines, ");
	assert_non_null(footer);
	assert_true((size_t)(footer - r.out.data) <= BUDGET);
	assert_true(has_printed(&r, " more lines like this ("));
	assert_true(has_printed(&r, "\nline 2000\n"));
	for (int i = 1; i <= 2000; i++) {
		char line[32];
		snprintf(line, sizeof(line), "line %d\n", i);
		const char *first = strstr(r.out.data, line);
		assert_true(!first || !strstr(first + 1, line));
	}
	assert_int_equal(kept_read(r.artifact, ".txt", &kept), 0);
	assert_int_equal(kept.len, want.len);
	assert_memory_equal(kept.data, want.data, want.len);
	buffer_release(&want);
	buffer_release(&kept);
	run_end(&r);
}

static void folds_are_printed_once(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed_lines(&r, 1, 500);
	for (int i = 0; i < 40; i++)
		feed(&r, "the very same line, again and again\n");
	feed(&r, "end\n");
	finish(&r);
	assert_true(has_printed(&r, "\nthe very same line, again and again\n"
				    "[... lines 502-540 repeat the line above]\n"
				    "end\n[terse: "));
	run_end(&r);
}

static void heartbeat_stands_on_its_own_line(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "started\nworking");
	interceptor_pause(r.text);
	interceptor_settle(r.text, true);
	interceptor_spill(r.text);
	struct wording_place place = place_of(&r);
	interceptor_heartbeat(r.text, 60000, &place);
	assert_true(has_printed(&r, "started\n[terse: still running after 1 min 0 s; 1 line, "));
	size_t len = r.out.len;
	assert_int_equal(r.out.data[len - 1], '\n');
	feed(&r, " done\n");
	finish(&r);
	assert_string_equal(buffer_string(&r.out) + len, "working done\n");
	kept_equals(r.artifact, ".txt", "started\nworking done\n");
	run_end(&r);
}

/* --- other readers --- */

static void a_program_gets_the_whole_text(void **state)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	(void)state;
	r.options.print = INTERCEPT_WHOLE;
	run_start(&r);
	feed(&r, "\x1b[31mred\x1b[m latin \xE9\n");
	feed_lines(&r, 1, 3000);
	const struct interceptor_ending e = {
		.ending = {.exit_code = 3, .timed_out = true},
		.status_line = STATUS_LINE_ALWAYS,
	};
	interceptor_finish(r.text);
	interceptor_report(r.text, &e);
	assert_int_equal(buffer_append_string(&want, "red latin \xE9\n"), 0);
	number_lines(&want, 1, 3000);
	printed(&r, buffer_string(&want));
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

static void nobody_reads(void **state)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	(void)state;
	r.options.print = INTERCEPT_SILENT;
	run_start(&r);
	feed_lines(&r, 1, 1000);
	number_lines(&want, 1, 1000);
	finish(&r);
	printed(&r, "");
	assert_false(interceptor_fits(r.text));
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

static uint32_t rnd(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Whoever it turns out to be, when and in whatever pieces: a program gets everything once and in
   order. */
static void a_program_found_late(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		uint32_t s = seed;
		r.unknown = true;
		r.reader = INTERCEPT_WHOLE;
		r.options.terminal.rows = 2 + rnd(&s, 20);
		r.options.limit.count = rnd(&s, 3) ? 0 : rnd(&s, 60);
		r.options.limit.longest_line = rnd(&s, 3) ? 0 : rnd(&s, 60);
		r.options.limit.mode = rnd(&s, 2) ? MODE_SMART : MODE_HEAD;
		run_start(&r);
		number_lines(&text, 1, (int)rnd(&s, 400));
		for (uint32_t i = rnd(&s, 4); text.len && i > 0; i--)
			text.data[rnd(&s, (uint32_t)text.len)] = (char)(0xA0 + rnd(&s, 0x60));
		if (rnd(&s, 2))
			assert_int_equal(buffer_append_string(&text, "no newline"), 0);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&s, rnd(&s, 4) ? 40 : 3000);
			if (n > text.len - at)
				n = text.len - at;
			interceptor_feed(r.text, text.data + at, n);
			if (rnd(&s, 10) == 0)
				interceptor_pause(r.text);
			if (rnd(&s, 10) == 0)
				interceptor_settle(r.text, rnd(&s, 2));
			if (rnd(&s, 50) == 0)
				interceptor_spill(r.text);
			assert_true(r.out.len <= text.len);
			assert_memory_equal(r.out.data ? r.out.data : "", text.data, r.out.len);
		}
		interceptor_finish(r.text);
		struct interceptor_ending e = ending(&r, 1);
		e.status_line = (enum status_when)rnd(&s, 3);
		interceptor_report(r.text, &e);
		assert_int_equal(r.out.len, text.len);
		if (text.len)
			assert_memory_equal(r.out.data, text.data, text.len);
		assert_true(r.asked_who_reads <= 1);
		if (r.artifact)
			kept_equals(r.artifact, ".txt", text.len ? buffer_string(&text) : "");
		buffer_release(&text);
		run_end(&r);
	}
}

/* A short clean text needs no look at who reads it. */
static void not_asked_without_need(void **state)
{
	struct run r = run_make();
	(void)state;
	r.unknown = true;
	r.reader = INTERCEPT_PREVIEW;
	run_start(&r);
	feed(&r, "fine\n");
	finish(&r);
	printed(&r, "fine\n");
	assert_int_equal(r.asked_who_reads, 0);
	run_end(&r);

	r = run_make();
	r.unknown = true;
	r.reader = INTERCEPT_PREVIEW;
	run_start(&r);
	feed(&r, "na\xEFve");
	finish(&r);
	printed(&r, "na\xEF\xBF\xBDve");
	assert_int_equal(r.asked_who_reads, 1);
	assert_int_equal(interceptor_reader(r.text), INTERCEPT_PREVIEW);
	assert_int_equal(r.asked_who_reads, 1);
	run_end(&r);
}

/* --- binary output --- */

static void make_binary(struct buffer *b, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = (char)(i * 2654435761u >> 11);
		assert_int_equal(buffer_append(b, &c, 1), 0);
	}
	memcpy(b->data, "\x1f\x8b\x08\0", 4);
}

static void assert_raw(struct artifact *a, const struct buffer *want)
{
	struct buffer raw = BUFFER_INIT;
	assert_int_equal(kept_read(a, ".raw", &raw), 0);
	assert_int_equal(raw.len, want->len);
	assert_memory_equal(raw.data, want->data, want->len);
	buffer_release(&raw);
}

/* An agent gets one line, the artifact the bytes: whatever `raw` says, there is no other copy. */
static void binary_for_an_agent(void **state)
{
	(void)state;
	for (int raw = INTERCEPT_RAW_AUTO; raw <= INTERCEPT_RAW_NO; raw++) {
		struct run r = run_make();
		struct buffer data = BUFFER_INIT;
		char want[200];
		r.options.raw = (enum interceptor_raw)raw;
		run_start(&r);
		make_binary(&data, 300000);
		interceptor_feed(r.text, data.data, 100);
		interceptor_feed(r.text, data.data + 100, data.len - 100);
		finish(&r);
		assert_true(interceptor_is_binary(r.text));
		assert_int_equal(interceptor_bytes(r.text), data.len);
		snprintf(want, sizeof(want),
			 "[terse: exit 0 after 7 ms; 293 KB of binary output (gzip): "
			 "terse path --raw %s]\n",
			 artifact_id(r.artifact));
		printed(&r, want);
		assert_raw(r.artifact, &data);
		buffer_release(&data);
		run_end(&r);
	}
}

static void binary_that_can_not_be_kept(void **state)
{
	struct run r = run_make();
	struct buffer data = BUFFER_INIT;
	(void)state;
	r.full = true;
	run_start(&r);
	make_binary(&data, 3000);
	interceptor_feed(r.text, data.data, data.len);
	finish(&r);
	printed(&r, "[terse: exit 0 after 7 ms; 2.9 KB of binary output (gzip): not kept: No space "
		    "left on device]\n");
	buffer_release(&data);
	run_end(&r);
}

static void binary_for_a_program(void **state)
{
	(void)state;
	for (int unknown = 0; unknown <= 1; unknown++) {
		struct run r = run_make();
		struct buffer data = BUFFER_INIT;
		r.unknown = unknown;
		r.reader = INTERCEPT_WHOLE;
		r.options.print = unknown ? INTERCEPT_PREVIEW : INTERCEPT_WHOLE;
		run_start(&r);
		make_binary(&data, 5000);
		for (size_t at = 0; at < data.len; at += 500)
			interceptor_feed(r.text, data.data + at, 500);
		finish(&r);
		assert_int_equal(r.out.len, data.len);
		assert_memory_equal(r.out.data, data.data, data.len);
		assert_int_equal(r.asked_who_reads, unknown);
		buffer_release(&data);
		run_end(&r);
	}
}

/* `find -print0 | xargs -0` with a long first name: the NUL comes late. */
static void exact_text_with_a_late_nul(void **state)
{
	(void)state;
	for (int unknown = 0; unknown <= 1; unknown++) {
		struct run r = run_make();
		struct buffer data = BUFFER_INIT;
		r.unknown = unknown;
		r.reader = INTERCEPT_WHOLE;
		r.options.print = unknown ? INTERCEPT_PREVIEW : INTERCEPT_WHOLE;
		r.options.exact = true;
		r.options.limit.bytes = 64 * 1024;
		run_start(&r);
		make_text(&data, 3000, 100);
		interceptor_feed(r.text, data.data, data.len);
		interceptor_feed(r.text, "name\0\x1b[1mraw\r\n\0", 14);
		assert_int_equal(buffer_append(&data, "name\0\x1b[1mraw\r\n\0", 14), 0);
		interceptor_feed(r.text, "\x1b[2J", 4);
		assert_int_equal(buffer_append(&data, "\x1b[2J", 4), 0);
		finish(&r);
		assert_int_equal(r.out.len, data.len);
		assert_memory_equal(r.out.data, data.data, data.len);
		buffer_release(&data);
		run_end(&r);
	}
}

/* What redraws nothing reaches a program byte for byte. */
static void plain_bytes_for_a_program(void **state)
{
	static const char *const texts[] = {
		"",    "a",           "a\n", "a\r\nb\r\n", "a\fb\a\v\n\r\n", "lat\xE9n \xFF\n",
		"a\r", "\r\n\r\n\t ",
	};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (size_t step = 1; step < 4; step++) {
			struct run r = run_make();
			r.options.print = INTERCEPT_WHOLE;
			r.options.exact = true;
			run_start(&r);
			size_t len = strlen(texts[i]);
			for (size_t at = 0, n; at < len; at += n) {
				n = len - at < step ? len - at : step;
				interceptor_feed(r.text, texts[i] + at, n);
				interceptor_pause(r.text);
			}
			finish(&r);
			printed(&r, texts[i]);
			run_end(&r);
		}
	}
}

/* A long line in the midst of which the first escape comes: no byte of it twice, none lost. */
static void long_line_for_a_program(void **state)
{
	static const size_t lengths[] = {0,     1,     159,   160,   161,    8000,   30000,
					 65535, 65536, 65537, 70000, 140000, 1000000};
	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		for (size_t step = 1000; step < 200000; step *= 9) {
			struct run r = run_make();
			struct buffer line = BUFFER_INIT;
			r.options.print = INTERCEPT_WHOLE;
			r.options.exact = true;
			run_start(&r);
			feed(&r, "first\n");
			make_text(&line, lengths[i], SIZE_MAX);
			for (size_t at = 0, n; at < line.len; at += n) {
				n = line.len - at < step ? line.len - at : step;
				interceptor_feed(r.text, line.data + at, n);
				interceptor_settle(r.text, true);
			}
			feed(&r, "\x1b[1mbold\x1b[m end\r\nlast\r\n");
			finish(&r);
			assert_int_equal(r.out.len, 6 + lengths[i] + 9 + 5);
			if (lengths[i])
				assert_memory_equal(r.out.data + 6, line.data, lengths[i]);
			assert_memory_equal(r.out.data + 6 + lengths[i], "bold end\nlast\n", 14);
			buffer_release(&line);
			run_end(&r);
		}
	}
}

/* A few stray bytes do not make a text binary; the decision can't wait for ever. */
static void judged_when_nothing_more_comes(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	interceptor_feed(r.text, "\0\1\2", 3);
	assert_false(interceptor_is_binary(r.text));
	interceptor_pause(r.text);
	assert_true(interceptor_is_binary(r.text));
	run_end(&r);
}

/* --- raw bytes beside the text --- */

#define PLAIN "plain \x1b[1mbold\x1b[m\r\n"
#define LOSSY "10%\r20%\x1b[K\r30%\x1b[K\n"

static void raw_case(enum interceptor_raw raw, const char *line, int count, bool want)
{
	struct run r = run_make();
	struct buffer all = BUFFER_INIT;
	r.options.raw = raw;
	run_start(&r);
	for (int i = 0; i < count; i++) {
		feed(&r, line);
		assert_int_equal(buffer_append_string(&all, line), 0);
	}
	finish(&r);
	if (want)
		assert_raw(r.artifact, &all);
	else if (r.artifact)
		kept_equals(r.artifact, ".raw", NULL);
	buffer_release(&all);
	run_end(&r);
}

static void raw_bytes(void **state)
{
	(void)state;
	raw_case(INTERCEPT_RAW_AUTO, PLAIN, 2000, false);
	raw_case(INTERCEPT_RAW_AUTO, LOSSY, 2000, true);
	raw_case(INTERCEPT_RAW_AUTO, LOSSY, 2, false);
	raw_case(INTERCEPT_RAW_YES, PLAIN, 2, true);
	raw_case(INTERCEPT_RAW_YES, PLAIN, 2000, true);
	raw_case(INTERCEPT_RAW_YES, LOSSY, 30000, true);
	raw_case(INTERCEPT_RAW_NO, LOSSY, 2000, false);
}

/* --- what lives on behind the command --- */

/* The rest of a line that a background process may still write is shown as it is, and not again. */
static void pending_of_a_background_process(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "server starts\nlistening");
	interceptor_pause(r.text);
	interceptor_spill(r.text);
	report(&r);
	printed(&r, "server starts\nlistening");
	feed(&r, " on 8080\n");
	feed_lines(&r, 1, 300);
	interceptor_settle(r.text, true);
	interceptor_finish(r.text);
	interceptor_finish(r.text);
	printed(&r, "server starts\nlistening");
	struct buffer want = BUFFER_INIT;
	assert_int_equal(buffer_append_string(&want, "server starts\nlistening on 8080\n"), 0);
	number_lines(&want, 1, 300);
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

/* A screenful that is pending can be more than fits. */
static void pending_over_the_limit(void **state)
{
	(void)state;
	for (int program = 0; program <= 1; program++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		r.unknown = true;
		r.reader = program ? INTERCEPT_WHOLE : INTERCEPT_PREVIEW;
		run_start(&r);
		feed(&r, "head\n");
		make_text(&text, 3000, 5000);
		interceptor_feed(r.text, text.data, text.len);
		interceptor_pause(r.text);
		interceptor_spill(r.text);
		report(&r);
		if (program) {
			assert_int_equal(r.out.len, 5 + text.len);
			assert_memory_equal(r.out.data + 5, text.data, text.len);
		} else {
			const char *footer = strstr(buffer_string(&r.out), "[terse: ");
			assert_non_null(footer);
			assert_true((size_t)(footer - r.out.data) <= BUDGET + 1);
		}
		size_t len = r.out.len;
		feed(&r, "\n");
		interceptor_finish(r.text);
		assert_int_equal(r.out.len, len);
		struct buffer kept = BUFFER_INIT;
		assert_int_equal(kept_read(r.artifact, ".txt", &kept), 0);
		assert_int_equal(kept.len, 5 + text.len + 1);
		assert_memory_equal(kept.data + 5, text.data, text.len);
		buffer_release(&kept);
		buffer_release(&text);
		run_end(&r);
	}
}

/* A reader of the file sees what is on the screen, and later what became of it. */
static void live_end_of_the_artifact(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "begun\n40%");
	interceptor_pause(r.text);
	interceptor_update_live(r.text);
	assert_null(r.artifact);
	interceptor_spill(r.text);
	interceptor_update_live(r.text);
	kept_equals(r.artifact, ".txt", "begun\n40%");
	feed(&r, "\r100%");
	interceptor_update_live(r.text);
	kept_equals(r.artifact, ".txt", "begun\n100%");
	feed(&r, "\nbye");
	finish(&r);
	interceptor_update_live(r.text);
	kept_equals(r.artifact, ".txt", "begun\n100%\nbye");
	run_end(&r);
}

/* --- the last line, and nowhere to keep it --- */

static void status_lines(void **state)
{
	static const struct {
		enum status_when when;
		struct wording_ending ending;
		const char *want;
	} cases[] = {
		{STATUS_LINE_NEVER, {.exit_code = 4}, "text"},
		{STATUS_LINE_FAILURE, {.exit_code = 0}, "text"},
		{STATUS_LINE_FAILURE, {.exit_code = 4}, "text\n[terse: exit 4]\n"},
		{STATUS_LINE_ALWAYS, {.exit_code = 0}, "text\n[terse: exit 0]\n"},
		{STATUS_LINE_FAILURE,
		 {.exit_code = -1, .signal = 9},
		 "text\n[terse: killed by SIGKILL]\n"},
		{STATUS_LINE_NEVER,
		 {.exit_code = 124, .timed_out = true},
		 "text\n[terse: timed out (exit 124)]\n"},
		{STATUS_LINE_NEVER,
		 {.state = WORDING_INTERRUPTED},
		 "text\n[terse: interrupted after 0 ms; 1 line, 4 B]\n"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make();
		const struct interceptor_ending e = {.ending = cases[i].ending,
						     .status_line = cases[i].when};
		run_start(&r);
		feed(&r, "text");
		interceptor_finish(r.text);
		interceptor_report(r.text, &e);
		printed(&r, cases[i].want);
		run_end(&r);
	}
}

/* Of two streams that one reader gets, one tells. */
static void told_once(void **state)
{
	struct run r = run_make();
	const struct interceptor_ending e = {.ending = {.exit_code = 124, .timed_out = true},
					     .is_second = true,
					     .status_line = STATUS_LINE_ALWAYS};
	struct interceptor_ending first = e;
	(void)state;
	first.is_second = false;
	assert_false(interceptor_is_worth_telling(&e));
	assert_true(interceptor_is_worth_telling(&first));
	first = (struct interceptor_ending){.status_line = STATUS_LINE_FAILURE};
	assert_false(interceptor_is_worth_telling(&first));
	first.ending.exit_code = 1;
	assert_true(interceptor_is_worth_telling(&first));
	run_start(&r);
	feed(&r, "text");
	interceptor_finish(r.text);
	interceptor_report(r.text, &e);
	printed(&r, "text");
	run_end(&r);
}

/* Only who got less than everything has lost what could not be kept. */
static void partial(void **state)
{
	static const struct {
		enum interceptor_print print;
		int lines;
		bool partial;
	} cases[] = {
		{INTERCEPT_PREVIEW, 10, false},
		{INTERCEPT_PREVIEW, 1000, true},
		{INTERCEPT_WHOLE, 1000, false},
		{INTERCEPT_SILENT, 1000, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make();
		r.full = true;
		r.options.print = cases[i].print;
		run_start(&r);
		feed_lines(&r, 1, cases[i].lines);
		finish(&r);
		assert_int_equal(interceptor_is_partial(r.text), cases[i].partial);
		run_end(&r);
	}
}

static void no_artifact_can_be_made(void **state)
{
	struct run r = run_make();
	(void)state;
	r.full = true;
	r.options.raw = INTERCEPT_RAW_YES;
	run_start(&r);
	feed_lines(&r, 1, 3000);
	interceptor_update_live(r.text);
	finish(&r);
	assert_int_equal(r.asked_for_artifact, 1);
	assert_true(interceptor_is_spilled(r.text));
	assert_true(has_printed(&r, "): not kept: No space left on device; last: line "));
	assert_true(has_printed(&r, "; full text: not kept: No space left on device]\n"));
	run_end(&r);
}

static void queries_are_answered(void **state)
{
	struct run r = run_make();
	(void)state;
	run_start(&r);
	feed(&r, "\x1b[");
	interceptor_pause(r.text);
	feed(&r, "6n");
	interceptor_pause(r.text);
	assert_string_equal(buffer_string(&r.replies), "\x1b[1;1R");
	finish(&r);
	printed(&r, "");
	run_end(&r);
}

static void the_screen_can_be_looked_at(void **state)
{
	(void)state;
	struct run r = run_make();
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	r.options.terminal.rows = 3;
	run_start(&r);
	feed(&r, "1\n2\n3\n4\033[?1049h\033[2;5Hfull");
	interceptor_pause(r.text);
	const struct terminal *t = interceptor_terminal(r.text);
	assert_int_equal(terminal_picture(t, &picture, &row, &col), 0);
	assert_int_equal(picture.len, strlen("\n    full\n\n"));
	assert_memory_equal(picture.data, "\n    full\n\n", picture.len);
	assert_true(terminal_is_alternate(t));
	assert_int_equal(row, 2);
	assert_int_equal(col, 9);
	buffer_release(&picture);
	run_end(&r);
}

static void bad_options(void **state)
{
	struct run r = run_make();
	const struct interceptor_events events = {
		.artifact = on_artifact, .print = on_print, .ctx = &r};
	(void)state;
	r.options.limit.bytes = 1;
	assert_null(interceptor_new(&r.options, &events));
	assert_int_equal(errno, EINVAL);
	r = run_make();
	r.options.terminal.cols = 0;
	assert_null(interceptor_new(&r.options, &events));
	assert_int_equal(errno, EINVAL);
}

/* --- any text --- */

/* Lines that tell their number, with invalid bytes in some (none of which can make a C1 control).
 */
static void random_text(struct buffer *b, uint32_t *s)
{
	uint32_t lines = rnd(s, 300), dirt = rnd(s, 3) ? 0 : rnd(s, 40);
	for (uint32_t i = 1; i <= lines; i++) {
		assert_int_equal(buffer_printf(b, "<%u> ", i), 0);
		uint32_t len = rnd(s, 12) ? rnd(s, 60) : rnd(s, 2500);
		bool same = rnd(s, 5) == 0;
		for (uint32_t k = 0; k < len; k++) {
			char c = (char)(same ? 'x' : 'a' + rnd(s, 26));
			if (dirt && rnd(s, dirt) == 0)
				c = (char)(0xA0 + rnd(s, 0x60));
			assert_int_equal(buffer_append(b, &c, 1), 0);
		}
		if (i < lines || rnd(s, 2))
			assert_int_equal(buffer_append(b, "\n", 1), 0);
	}
}

/* Where what was printed of the text ends: the footer is not in the budget. */
static size_t without_footer(const struct buffer *out)
{
	const char *footer = memmem(out->data, out->len, "[terse: ", 8);
	return footer ? (size_t)(footer - out->data) : out->len;
}

/* The numbers of printed lines, and of the first line of each gap, only rise. */
static void check_order(const struct buffer *out)
{
	unsigned long last = 0;
	for (const char *at = out->data, *next; at; at = next) {
		const char *end = strchr(at, '\n'), *number = at + strspn(at, "0123456789: ");
		const char *offset = strstr(at, "--offset ");
		unsigned long n = last + 1;
		bool numbered = *number == '<' && strspn(number + 1, "0123456789");
		if (numbered)
			n = strtoul(number + 1, NULL, 10);
		else if (strncmp(at, "[... ", 5) == 0 && offset && offset < end)
			n = strtoul(offset + strlen("--offset "), NULL, 10);
		assert_true(n > last);
		last = numbered ? n : last;
		next = end ? end + 1 : NULL;
	}
}

static void any_text_stays_within_the_budget(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 400; seed++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		uint32_t s = seed;
		size_t budget = 64 + rnd(&s, 4000);
		r.options.limit.bytes = budget;
		r.options.limit.mode = (enum mode)rnd(&s, 4);
		r.options.limit.head_share = rnd(&s, 101);
		r.options.limit.max_line = 40 + rnd(&s, 600);
		r.options.limit.count = rnd(&s, 3) ? 0 : rnd(&s, 200);
		r.options.limit.longest_line = rnd(&s, 3) ? 0 : rnd(&s, 600);
		r.options.limit.unit = (enum unit)rnd(&s, 4);
		r.options.terminal.collapse = rnd(&s, 4);
		run_start(&r);
		random_text(&text, &s);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&s, rnd(&s, 3) ? 100 : 9000);
			if (n > text.len - at)
				n = text.len - at;
			interceptor_feed(r.text, text.data + at, n);
			if (rnd(&s, 5) == 0)
				interceptor_settle(r.text, rnd(&s, 2));
			if (rnd(&s, 40) == 0)
				interceptor_update_live(r.text);
		}
		finish(&r);
		assert_true(utf8_all_clean(r.out.data, r.out.len));
		buffer_string(&r.out);
		if (interceptor_is_binary(r.text)) {
			assert_false(interceptor_fits(r.text));
		} else if (interceptor_fits(r.text)) {
			assert_true(r.out.len <= budget + budget * 15 / 100);
			assert_int_equal(utf8_clean_len(text.data, text.len), r.out.len);
		} else {
			/* One marker for all of it is printed even where it is over the budget. */
			bool just_a_gap = strncmp(r.out.data, "[... ", 5) == 0;
			size_t len = without_footer(&r.out);
			assert_true(len <= budget + 1 || (just_a_gap && len <= 100));
			check_order(&r.out);
			struct buffer kept = BUFFER_INIT;
			assert_int_equal(kept_read(r.artifact, ".txt", &kept), 0);
			assert_int_equal(kept.len, text.len);
			assert_memory_equal(kept.data, text.data, text.len);
			buffer_release(&kept);
		}
		buffer_release(&text);
		run_end(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_comes),
		cmocka_unit_test(short_text_is_printed_as_it_is),
		cmocka_unit_test(threshold),
		cmocka_unit_test(threshold_of_invalid_bytes),
		cmocka_unit_test(threshold_of_a_cut_character),
		cmocka_unit_test(threshold_of_lines),
		cmocka_unit_test(head_by_bytes),
		cmocka_unit_test(head_by_lines),
		cmocka_unit_test(head_by_units),
		cmocka_unit_test(head_with_long_lines),
		cmocka_unit_test(head_of_one_long_line),
		cmocka_unit_test(head_is_live),
		cmocka_unit_test(head_of_invalid_bytes),
		cmocka_unit_test(preview_by_units),
		cmocka_unit_test(lines_are_printed_as_they_come),
		cmocka_unit_test(settling_waits_one_turn),
		cmocka_unit_test(redrawing_is_not_settled),
		cmocka_unit_test(head_then_preview),
		cmocka_unit_test(folds_are_printed_once),
		cmocka_unit_test(heartbeat_stands_on_its_own_line),
		cmocka_unit_test(a_program_gets_the_whole_text),
		cmocka_unit_test(nobody_reads),
		cmocka_unit_test(a_program_found_late),
		cmocka_unit_test(not_asked_without_need),
		cmocka_unit_test(binary_for_an_agent),
		cmocka_unit_test(binary_that_can_not_be_kept),
		cmocka_unit_test(binary_for_a_program),
		cmocka_unit_test(exact_text_with_a_late_nul),
		cmocka_unit_test(plain_bytes_for_a_program),
		cmocka_unit_test(long_line_for_a_program),
		cmocka_unit_test(judged_when_nothing_more_comes),
		cmocka_unit_test(raw_bytes),
		cmocka_unit_test(pending_of_a_background_process),
		cmocka_unit_test(pending_over_the_limit),
		cmocka_unit_test(live_end_of_the_artifact),
		cmocka_unit_test(status_lines),
		cmocka_unit_test(told_once),
		cmocka_unit_test(partial),
		cmocka_unit_test(no_artifact_can_be_made),
		cmocka_unit_test(queries_are_answered),
		cmocka_unit_test(the_screen_can_be_looked_at),
		cmocka_unit_test(bad_options),
		cmocka_unit_test(any_text_stays_within_the_budget),
	};
	return cmocka_run_group_tests(tests, home_setup, home_teardown);
}
