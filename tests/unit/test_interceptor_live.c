// A reader who reads along, and processes that outlive the command.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

/* Lines come when they are final: scrolled off, or settled. */
TEST(lines_are_printed_as_they_come)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
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
			assert_true(is_unsettled(&r));
			interceptor_settle_all(r.text);
			assert_false(is_unsettled(&r));
			printed(&r, buffer_string(&want));
		}
	}
	feed(&r, "unfinished");
	finish(&r);
	buffer_append_string(&want, "unfinished");
	printed(&r, buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

/* Feeds text at `now`. */
static void come(struct run *r, int64_t now, const char *text)
{
	feed(r, text);
	interceptor_pause(r->text);
	interceptor_came(r->text, now);
}

/* All that is due up to `until` comes. */
static void pass(struct run *r, int64_t until)
{
	int64_t due, last = 0;
	while ((due = interceptor_facts(r->text).settle_due) && due <= until) {
		assert_true(due > last);
		interceptor_settle(r->text, due);
		last = due;
	}
}

/* A plain line is printed at most twice its time after its newline. */
TEST(plain_lines_come_at_once)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, "first\n");
	pass(&r, 1049);
	printed(&r, "");
	pass(&r, 1050);
	printed(&r, "first\n");
	assert_int_equal(interceptor_facts(r.text).settle_due, 0);
	come(&r, 2000, "\x1b[32msecond\x1b[m\x1b[K\n");
	come(&r, 2030, "third\nunfinished");
	pass(&r, 2050);
	printed(&r, "first\nsecond\n");
	pass(&r, 2100);
	printed(&r, "first\nsecond\nthird\n");
	assert_int_equal(interceptor_facts(r.text).settle_due, 0);
	feed(&r, " line\n");
	interceptor_finish(r.text);
	interceptor_came(r.text, 3000);
	assert_int_equal(interceptor_facts(r.text).settle_due, 0);
	report(&r);
	printed(&r, "first\nsecond\nthird\nunfinished line\n");
	run_end(&r);
}

/* So are longer ones than a preview shows whole, up to half of the room before the outcome, unless
   the settings say how long a line may be. */
TEST(long_lines_come_at_once)
{
	for (int grows = 0; grows < 2; grows++) {
		struct run r = run_make();
		r.options.limit.max_line = 50;
		r.options.limit.grow = grows;
		run_start(&r);
		char line[102];
		memset(line, 'x', 100);
		memcpy(line + 100, "\n", 2);
		come(&r, 1000, line);
		come(&r, 1000, "next\n");
		pass(&r, 1100);
		assert_int_equal(r.out.len, grows ? strlen(line) + strlen("next\n") : 0);
		interceptor_finish(r.text);
		report(&r);
		assert_int_equal(r.out.len, strlen(line) + strlen("next\n"));
		run_end(&r);
	}
}

/* So they do where all is printed, and at their newline where it was asked for. */
TEST(plain_lines_for_a_program)
{
	for (int at_once = 0; at_once < 2; at_once++) {
		struct run r = run_make();
		r.options.reader = INTERCEPT_PROGRAM;
		r.options.settle_ms = at_once ? 0 : 50;
		run_start(&r);
		come(&r, 1000, "first\n");
		printed(&r, at_once ? "first\n" : "");
		pass(&r, 1050);
		printed(&r, "first\n");
		run_end(&r);
	}
}

/* A line that was written over takes longer, unless a plain one stands below it. */
TEST(a_line_that_was_written_over)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, " 10 %\r100 %\n");
	pass(&r, 2499);
	printed(&r, "");
	pass(&r, 2600);
	printed(&r, "100 %\n");
	come(&r, 3000, " 10 %\r100 %\nlistening\n");
	pass(&r, 3050);
	printed(&r, "100 %\n100 %\nlistening\n");
	run_end(&r);
}

/* The first redraw comes late: what was there before it is not printed by a longer setting. */
TEST(a_late_redraw)
{
	struct run r = run_make();
	r.options.settle_ms = 400;
	run_start(&r);
	come(&r, 0, "a 0%\nb 0%\n");
	pass(&r, 390);
	come(&r, 390, "\x1b[2Aa 100%\nb 100%\n");
	pass(&r, 600);
	finish(&r);
	printed(&r, "a 100%\nb 100%\n");
	run_end(&r);
}

/* A program that redraws would leave stale lines: only lines that stay are printed. */
TEST(what_is_redrawn_settles_later)
{
	struct run r = run_make();
	run_start(&r);
	feed(&r, "done\na 10%\nb 10%\n\x1b[2Aa 20%\nb 20%\n");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	printed(&r, "");
	for (int64_t now = 0; now < 5000; now += 200) {
		interceptor_settle(r.text, now);
		feed(&r, now % 400 ? "\x1b[2Aa 30%\nb 30%\n" : "\x1b[2Aa 40%\nb 40%\n");
		printed(&r, "");
	}
	interceptor_settle(r.text, 5000);
	printed(&r, "done\n");
	feed(&r, "\x1b[2Aready\nb 50%\n");
	interceptor_settle(r.text, 5200);
	interceptor_settle(r.text, 10199);
	printed(&r, "done\n");
	interceptor_settle(r.text, 10200);
	printed(&r, "done\nready\nb 50%\n");
	/* A line that is only redrawn is not printed again. */
	come(&r, 10300, "\x1b[3A\x1b[Jdone\nready\nb 60%\n");
	interceptor_settle(r.text, 10400);
	interceptor_settle(r.text, 15299);
	printed(&r, "done\nready\nb 50%\n");
	interceptor_settle(r.text, 15300);
	printed(&r, "done\nready\nb 50%\nb 60%\n");
	/* It has not redrawn for long, so new lines are plain again. */
	come(&r, 20000, "listening\n");
	pass(&r, 20050);
	printed(&r, "done\nready\nb 50%\nb 60%\nlistening\n");
	finish(&r);
	printed(&r, "done\nready\nb 50%\nb 60%\nlistening\n");
	run_end(&r);
}

/* The same holds after the cursor was hidden, until it is shown again. */
TEST(a_hidden_cursor)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, "\x1b[?25lready\n");
	pass(&r, 5999);
	printed(&r, "");
	pass(&r, 6000);
	printed(&r, "ready\n");
	come(&r, 7000, "next\n");
	pass(&r, 7050);
	printed(&r, "ready\nnext\n");
	run_end(&r);

	r = run_make();
	run_start(&r);
	come(&r, 1000, "\x1b[?25lready\n\x1b[?25h");
	pass(&r, 1050);
	printed(&r, "ready\n");
	run_end(&r);
}

/* The head is printed live, and at the end the rest of the preview follows it: nothing twice. */
TEST(head_then_preview)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT, kept = BUFFER_INIT;
	run_start(&r);
	for (int i = 1; i <= 2000; i++) {
		feed_lines(&r, i, i);
		if (i == 100) {
			interceptor_pause(r.text);
			interceptor_settle_all(r.text);
			/* A quarter of the budget, whole lines. */
			assert_true(r.out.len > 150 && r.out.len <= BUDGET / 2);
		}
	}
	size_t head = r.out.len;
	number_lines(&want, 1, 2000);
	assert_memory_equal(r.out.data, want.data, head);
	assert_true(r.asked_for_artifact);
	finish(&r);
	const char *footer =
		strstr(buffer_string(&r.out), "[terse: exit 0 after 7 ms; 2,000 lines, ");
	assert_non_null(footer);
	assert_true((size_t)(footer - r.out.data) <= BUDGET);
	assert_true(has_printed(&r, " like this"));
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

TEST(heartbeat_stands_on_its_own_line)
{
	struct run r = run_make();
	run_start(&r);
	feed(&r, "started\nworking");
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	interceptor_spill(r.text);
	struct wording_place place = place_of(&r);
	interceptor_heartbeat(r.text, 60000, WAIT_UNKNOWN, "", &place);
	assert_true(has_printed(&r, "started\n[terse: still running after 1 min 0 s; 1 line, "));
	size_t len = r.out.len;
	assert_int_equal(r.out.data[len - 1], '\n');
	feed(&r, " done\n");
	finish(&r);
	assert_string_equal(buffer_string(&r.out) + len, "working done\n");
	kept_equals(r.artifact, ".txt", "started\nworking done\n");
	run_end(&r);
}

/* The rest of a line that a background process may still write is shown as it is, and not again. */
TEST(pending_of_a_background_process)
{
	struct run r = run_make();
	run_start(&r);
	feed(&r, "server starts\nlistening");
	interceptor_pause(r.text);
	interceptor_spill(r.text);
	report(&r);
	printed(&r, "server starts\nlistening");
	feed(&r, " on 8080\n");
	feed_lines(&r, 1, 300);
	interceptor_settle_all(r.text);
	interceptor_finish(r.text);
	interceptor_finish(r.text);
	printed(&r, "server starts\nlistening");
	struct buffer want = BUFFER_INIT;
	buffer_append_string(&want, "server starts\nlistening on 8080\n");
	number_lines(&want, 1, 300);
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

/* A screenful that is pending can be more than fits. */
TEST(pending_over_the_limit)
{
	for (int program = 0; program <= 1; program++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		r.unknown = true;
		r.reader = program ? INTERCEPT_PROGRAM : INTERCEPT_AGENT;
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
TEST(live_end_of_the_artifact)
{
	struct run r = run_make();
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

/* What was printed whole is held, until it is spilled. */
TEST(what_was_printed_whole)
{
	struct run r = run_make();
	run_start(&r);
	feed(&r, "hi\n");
	assert_null(interceptor_held(r.text));
	finish(&r);
	assert_true(buffer_is(interceptor_held(r.text), "hi\n", 3));
	interceptor_spill(r.text);
	assert_null(interceptor_held(r.text));
	kept_equals(r.artifact, ".txt", "hi\n");
	run_end(&r);
}

TEST_MAIN(home_setup, home_teardown)
