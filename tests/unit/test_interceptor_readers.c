// Programs, files and nobody as readers; binary output and raw bytes.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/internal.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

#define PLAIN "plain \x1b[1mbold\x1b[m\r\n"
#define LOSSY "10%\r20%\x1b[K\r30%\x1b[K\n"

TEST(a_program_gets_the_whole_text)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	r.options.reader = INTERCEPT_PROGRAM;
	run_start(&r);
	feed(&r, "\x1b[31mred\x1b[m latin \xE9\n");
	feed_lines(&r, 1, 3000);
	const struct interceptor_ending e = {
		.ending = {.exit_code = 3, .timed_out = true},
		.status_line = STATUS_LINE_ALWAYS,
	};
	interceptor_finish(r.text);
	interceptor_report(r.text, &e);
	buffer_append_string(&want, "red latin \xE9\n");
	number_lines(&want, 1, 3000);
	printed(&r, buffer_string(&want));
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

TEST(nobody_reads)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	r.options.reader = INTERCEPT_PERSON;
	run_start(&r);
	feed_lines(&r, 1, 1000);
	number_lines(&want, 1, 1000);
	finish(&r);
	printed(&r, "");
	assert_false(interceptor_facts(r.text).fits);
	kept_equals(r.artifact, ".txt", buffer_string(&want));
	buffer_release(&want);
	run_end(&r);
}

#define OVERWRITTEN "reading\r\nerror: no such file\rwriting it is done.\r\n"

/* A line that tells of a failure stays for an agent if it is written over, also in what nobody
   reads along; a program gets what a terminal shows. */
TEST(failures_that_are_written_over)
{
	static const struct {
		enum interceptor_reader reader;
		bool unknown, stays;
	} cases[] = {
		{INTERCEPT_AGENT, false, true},   {INTERCEPT_AGENT, true, true},
		{INTERCEPT_PERSON, false, true},  {INTERCEPT_PROGRAM, false, false},
		{INTERCEPT_PROGRAM, true, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *want = cases[i].stays
					   ? "reading\nerror: no such file\nwriting it is done.\n"
					   : "reading\nwriting it is done.\n";
		struct run r = run_make();
		r.unknown = cases[i].unknown;
		r.reader = cases[i].reader;
		r.options.reader = r.unknown ? INTERCEPT_AGENT : r.reader;
		run_start(&r);
		feed(&r, OVERWRITTEN);
		interceptor_finish(r.text);
		interceptor_spill(r.text);
		report(&r);
		printed(&r, cases[i].reader == INTERCEPT_PERSON ? "" : want);
		kept_equals(r.artifact, ".txt", want);
		run_end(&r);
	}
}

/* What does not tell of a failure does not stay, however often it changes. */
TEST(progress_that_is_written_over)
{
	static const char *const frames[] = {
		"Resolving lib/error.c\r",     "Fetching 12 of 45 parts\r",
		"  45% [====>     ]\r",        "test_failure_of_x ... ok\r",
		"Checking, 0 errors so far\r", "| waiting for 3 tasks\r",
	};
	struct run r = run_make();
	run_start(&r);
	for (size_t i = 0; i < 600; i++)
		feed(&r, frames[i % (sizeof(frames) / sizeof(*frames))]);
	feed(&r, "all of it is done, and well\r\n");
	finish(&r);
	printed(&r, "all of it is done, and well\n");
	run_end(&r);
}

/* Whoever it turns out to be, when and in whatever pieces: a program gets everything once and in
   order. */
TEST(a_program_found_late)
{
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		uint32_t s = random_start(seed);
		r.unknown = true;
		r.reader = INTERCEPT_PROGRAM;
		r.options.terminal.rows = 2 + rnd(&s, 20);
		r.options.limit.count = rnd(&s, 3) ? 0 : rnd(&s, 60);
		r.options.limit.mode = rnd(&s, 2) ? MODE_SMART : MODE_HEAD;
		run_start(&r);
		number_lines(&text, 1, (int)rnd(&s, 400));
		for (uint32_t i = rnd(&s, 4); text.len && i > 0; i--)
			text.data[rnd(&s, (uint32_t)text.len)] = (char)(0xA0 + rnd(&s, 0x60));
		if (rnd(&s, 2))
			buffer_append_string(&text, "no newline");
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&s, rnd(&s, 4) ? 40 : 3000);
			if (n > text.len - at)
				n = text.len - at;
			interceptor_feed(r.text, text.data + at, n);
			if (rnd(&s, 10) == 0)
				interceptor_pause(r.text);
			if (rnd(&s, 10) == 0)
				interceptor_settle(r.text, (int64_t)rnd(&s, 2) * 10000);
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
TEST(not_asked_without_need)
{
	struct run r = run_make();
	r.unknown = true;
	r.reader = INTERCEPT_AGENT;
	run_start(&r);
	feed(&r, "fine\n");
	finish(&r);
	printed(&r, "fine\n");
	assert_int_equal(r.asked_who_reads, 0);
	run_end(&r);

	r = run_make();
	r.unknown = true;
	r.reader = INTERCEPT_AGENT;
	run_start(&r);
	feed(&r, "na\xEFve");
	finish(&r);
	printed(&r, "na\xEF\xBF\xBDve");
	assert_int_equal(r.asked_who_reads, 1);
	assert_int_equal(interceptor_reader(r.text), INTERCEPT_AGENT);
	assert_int_equal(r.asked_who_reads, 1);
	run_end(&r);
}

/* An agent gets one line, the artifact the bytes: whatever `raw` says, there is no other copy. */
TEST(binary_for_an_agent)
{
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
		assert_true(interceptor_facts(r.text).is_binary);
		assert_int_equal(interceptor_facts(r.text).bytes, data.len);
		snprintf(want, sizeof(want),
			 "[terse: exit 0 after 7 ms; 293 KB of binary output (gzip): "
			 "terse path --raw %s]\n",
			 r.meta.id);
		printed(&r, want);
		assert_raw(r.artifact, &data);
		buffer_release(&data);
		run_end(&r);
	}
}

TEST(binary_that_can_not_be_kept)
{
	struct run r = run_make();
	struct buffer data = BUFFER_INIT;
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

TEST(binary_for_a_program)
{
	for (int unknown = 0; unknown <= 1; unknown++) {
		struct run r = run_make();
		struct buffer data = BUFFER_INIT;
		r.unknown = unknown;
		r.reader = INTERCEPT_PROGRAM;
		r.options.reader = unknown ? INTERCEPT_AGENT : INTERCEPT_PROGRAM;
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
TEST(exact_text_with_a_late_nul)
{
	for (int unknown = 0; unknown <= 1; unknown++) {
		struct run r = run_make();
		struct buffer data = BUFFER_INIT;
		r.unknown = unknown;
		r.reader = INTERCEPT_PROGRAM;
		r.options.reader = unknown ? INTERCEPT_AGENT : INTERCEPT_PROGRAM;
		r.options.exact = true;
		r.options.limit.bytes = 64 * 1024;
		run_start(&r);
		make_text(&data, 3000, 100);
		interceptor_feed(r.text, data.data, data.len);
		interceptor_feed(r.text, "name\0\x1b[1mraw\r\n\0", 14);
		buffer_append(&data, "name\0\x1b[1mraw\r\n\0", 14);
		interceptor_feed(r.text, "\x1b[2J", 4);
		buffer_append(&data, "\x1b[2J", 4);
		finish(&r);
		assert_int_equal(r.out.len, data.len);
		assert_memory_equal(r.out.data, data.data, data.len);
		buffer_release(&data);
		run_end(&r);
	}
}

/* Behind a pipe a program gets what was written, byte for byte. */
TEST(bytes_for_a_program)
{
	static const char *const texts[] = {
		"",
		"a",
		"a\n",
		"a\r\nb\r\n",
		"a\fb\a\v\n\r\n",
		"lat\xE9n \xFF\n",
		"a\r",
		"\r\n\r\n\t ",
		"9%\r10%\b\b\x1b[1mbold\x1b[m end\r\n",
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (size_t step = 1; step < 4; step++) {
			struct run r = run_make();
			r.options.reader = INTERCEPT_PROGRAM;
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

static void raw_case(enum interceptor_raw raw, const char *line, int count, const char *last,
		     bool want)
{
	struct run r = run_make();
	struct buffer all = BUFFER_INIT;
	r.options.raw = raw;
	run_start(&r);
	for (int i = 0; i <= count; i++) {
		feed(&r, i < count ? line : last);
		buffer_append_string(&all, i < count ? line : last);
	}
	finish(&r);
	if (want)
		assert_raw(r.artifact, &all);
	else if (r.artifact)
		kept_equals(r.artifact, ".raw", NULL);
	buffer_release(&all);
	run_end(&r);
}

TEST(raw_bytes)
{
	static const char line[] =
		"what waits in memory until it is known whether somebody wants it\n";
	raw_case(INTERCEPT_RAW_AUTO, PLAIN, 2000, PLAIN, false);
	raw_case(INTERCEPT_RAW_AUTO, LOSSY, 2000, LOSSY, true);
	raw_case(INTERCEPT_RAW_AUTO, LOSSY, 2, LOSSY, false);
	raw_case(INTERCEPT_RAW_YES, PLAIN, 2, PLAIN, true);
	raw_case(INTERCEPT_RAW_YES, PLAIN, 2000, PLAIN, true);
	raw_case(INTERCEPT_RAW_YES, LOSSY, 30000, LOSSY, true);
	raw_case(INTERCEPT_RAW_NO, LOSSY, 2000, LOSSY, false);
	/* What shows that they are wanted may be what does not fit any more, but no later. */
	int most = (int)(RAW_HOLD / (sizeof(line) - 1));
	raw_case(INTERCEPT_RAW_AUTO, line, most, LOSSY, true);
	raw_case(INTERCEPT_RAW_AUTO, line, most + 1, LOSSY, false);
}

/* The first byte of a character that never came whole overwrites one at the end. */
TEST(raw_bytes_of_an_unfinished_character)
{
	struct run r = run_make();
	struct buffer all = BUFFER_INIT;
	run_start(&r);
	number_lines(&all, 1, 300);
	buffer_append_string(&all, "\xE4\r\xC2");
	interceptor_feed(r.text, all.data, all.len);
	finish(&r);
	assert_raw(r.artifact, &all);
	buffer_release(&all);
	run_end(&r);
}

/* Text that a control string has swallowed for good: nothing is left that could spill. */
TEST(raw_bytes_of_an_endless_picture)
{
	for (size_t len = 100000; len <= 600000; len += 500000) {
		struct run r = run_make();
		struct buffer all = BUFFER_INIT;
		run_start(&r);
		buffer_append_string(&all, "a\033Pq");
		make_text(&all, len, 80);
		for (size_t at = 0; at < all.len; at += 5000)
			interceptor_feed(r.text, all.data + at,
					 all.len - at < 5000 ? all.len - at : 5000);
		finish(&r);
		assert_raw(r.artifact, &all);
		assert_true(has_printed(&r, "aPq"));
		buffer_release(&all);
		run_end(&r);
	}
}

TEST_MAIN(home_setup, home_teardown)
