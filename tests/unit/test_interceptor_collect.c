// The part of a stream that a report contains.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

static struct run run_make_for(enum interceptor_reader reader)
{
	struct run r = run_make();
	r.options.reader = reader;
	return r;
}

/* The end: nothing may have been printed. */
static struct report_stream collect(struct run *r, int exit_code)
{
	struct report_stream s = {.total_lines = 0};
	interceptor_finish(r->text);
	const struct interceptor_ending e = ending(r, exit_code);
	assert_int_equal(interceptor_collect(r->text, &e, &s), 0);
	assert_int_equal(r->out.len, 0);
	return s;
}

static void stream_release(struct report_stream *s)
{
	struct report r = {.streams = {*s}};
	report_release(&r);
}

static void ranges_are(const struct report_stream *s, uint64_t from, uint64_t to)
{
	assert_int_equal(s->range_count, 1);
	assert_int_equal(s->ranges[0].from, from);
	assert_int_equal(s->ranges[0].to, to);
}

static void text_is(struct report_stream *s, const char *want)
{
	assert_string_equal(buffer_string(&s->text), want);
}

TEST(what_fits)
{
	static const enum interceptor_reader prints[] = {INTERCEPT_COLLECTED, INTERCEPT_SILENT};
	static const enum mode modes[] = {MODE_SMART, MODE_HEAD};
	for (int i = 0; i < 4; i++) {
		struct run r = run_make_for(prints[i / 2]);
		r.options.limit.mode = modes[i % 2];
		run_start(&r);
		feed(&r, "\x1b[1mone\x1b[m\r\ncaf\xE9\n10%\r20%");
		struct report_stream s = collect(&r, 1);
		text_is(&s, "one\ncaf\xEF\xBF\xBD\n20%");
		ranges_are(&s, 1, 3);
		assert_int_equal(s.total_lines, 3);
		assert_int_equal(s.total_bytes, 12);
		assert_int_equal(s.broken, LIMIT_NONE);
		assert_false(report_is_truncated(&s));
		assert_null(r.artifact);
		stream_release(&s);
		run_end(&r);
	}
}

TEST(nothing)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	run_start(&r);
	struct report_stream s = collect(&r, 0);
	assert_int_equal(s.text.len + s.range_count + s.total_lines + s.total_bytes, 0);
	assert_false(report_is_truncated(&s));
	stream_release(&s);
	run_end(&r);
}

/* There is nothing but lines of the text. */
TEST(what_does_not_fit)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	run_start(&r);
	feed_lines(&r, 1, 1000);
	struct report_stream s = collect(&r, 0);
	buffer_string(&s.text);
	assert_null(strstr(s.text.data, "[... "));
	assert_null(strstr(s.text.data, " like this"));
	assert_null(strstr(s.text.data, "[terse: "));
	assert_int_equal(strncmp(s.text.data, "line 1\nline 2\n", 14), 0);
	assert_string_equal(s.text.data + s.text.len - 10, "line 1000\n");
	assert_true(s.text.len <= BUDGET && s.text.len > BUDGET / 4);
	assert_int_equal(s.total_lines, 1000);
	assert_int_equal(s.broken, LIMIT_BYTES);
	assert_true(report_is_truncated(&s));
	assert_true(s.range_count >= 2 && s.ranges[0].from == 1);
	assert_int_equal(s.ranges[s.range_count - 1].to, 1000);
	stream_release(&s);
	run_end(&r);
}

#define SIXTY "123456789012345678901234567890123456789012345678901234567890"

TEST(the_first_part)
{
	static const struct {
		enum unit unit;
		uint64_t count;
		size_t max_line;
		const char *fed, *want;
		uint64_t to, cut;
		enum limit_part broken;
		bool partial;
	} cases[] = {
		{UNIT_LINES, 2, 500, "1\n2\n3\n", "1\n2\n", 2, 0, LIMIT_COUNT, false},
		{UNIT_MATCHES, 1, 500, "a\n--\nb\n", "a\n", 1, 0, LIMIT_COUNT, false},
		{UNIT_LINES, 0, 10, SIXTY "12345678901234567890\nb\n", "123456789\nb\n", 2, 1,
		 LIMIT_CUT, false},
		{UNIT_LINES, 0, 10, "b\n" SIXTY "12345678901234567890", "b\n1234567890", 2, 1,
		 LIMIT_CUT, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make_for(INTERCEPT_COLLECTED);
		r.options.limit.mode = MODE_HEAD;
		r.options.limit.unit = cases[i].unit;
		r.options.limit.count = cases[i].count;
		r.options.limit.max_line = cases[i].max_line;
		r.options.limit.bytes = 64;
		run_start(&r);
		feed(&r, cases[i].fed);
		interceptor_finish(r.text);
		/* The report does not say where it is on disk. */
		const struct interceptor_ending e = {.status_line = STATUS_LINE_ALWAYS};
		struct report_stream s = {.total_lines = 0};
		assert_int_equal(interceptor_collect(r.text, &e, &s), 0);
		text_is(&s, cases[i].want);
		ranges_are(&s, 1, cases[i].to);
		assert_int_equal(s.lines_truncated, cases[i].cut);
		assert_int_equal(s.last_line_partial, cases[i].partial);
		assert_int_equal(s.broken, cases[i].broken);
		stream_release(&s);
		run_end(&r);
	}
}

/* The start of a first line that is over the limit. */
TEST(a_part_of_a_line)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	struct buffer text = BUFFER_INIT;
	r.options.limit.mode = MODE_HEAD;
	r.options.limit.max_line = 100000;
	run_start(&r);
	make_text(&text, 5000, SIZE_MAX);
	interceptor_feed(r.text, text.data, text.len);
	feed(&r, "\nmore\n");
	struct report_stream s = collect(&r, 0);
	assert_int_equal(s.text.len, BUDGET);
	assert_memory_equal(s.text.data, text.data, BUDGET - strlen("\nmore\n"));
	ranges_are(&s, 1, 2);
	assert_int_equal(s.lines_truncated, 1);
	assert_false(s.last_line_partial);
	assert_int_equal(s.broken, LIMIT_BYTES);
	buffer_release(&text);
	stream_release(&s);
	run_end(&r);
}

TEST(binary)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	struct buffer data = BUFFER_INIT;
	run_start(&r);
	make_binary(&data, 5000);
	interceptor_feed(r.text, data.data, data.len);
	struct report_stream s = collect(&r, 0);
	assert_true(s.binary && report_is_truncated(&s));
	assert_string_equal(s.kind, "gzip");
	assert_int_equal(s.total_bytes, 5000);
	assert_int_equal(s.text.len + s.range_count + s.total_lines, 0);
	assert_raw(r.artifact, &data);
	buffer_release(&data);
	stream_release(&s);
	run_end(&r);
}

/* All of it was asked for: on disk it is complete, without a disk there is the start. */
TEST(everything)
{
	for (int full = 0; full <= 1; full++) {
		struct run r = run_make_for(INTERCEPT_SILENT);
		struct buffer want = BUFFER_INIT;
		r.full = full;
		run_start(&r);
		feed_lines(&r, 1, 1000);
		number_lines(&want, 1, 1000);
		struct report_stream s = collect(&r, 0);
		assert_int_equal(s.total_lines, 1000);
		assert_int_equal(s.total_bytes, want.len);
		assert_int_equal(interceptor_facts(r.text).is_on_disk, !full);
		if (!full) {
			assert_int_equal(s.text.len + s.range_count, 0);
			kept_equals(r.artifact, ".txt", buffer_string(&want));
		} else {
			assert_true(s.text.len <= LIMIT && s.text.len > LIMIT - 10);
			assert_memory_equal(s.text.data, want.data, s.text.len);
			assert_int_equal(s.text.data[s.text.len - 1], '\n');
			assert_int_equal(s.ranges[0].from, 1);
			assert_int_equal(s.broken, LIMIT_BYTES);
			assert_false(s.last_line_partial);
		}
		buffer_release(&want);
		stream_release(&s);
		run_end(&r);
	}
}

/* One line that is longer than what is held, and nowhere to keep it. */
TEST(everything_on_one_line)
{
	struct run r = run_make_for(INTERCEPT_SILENT);
	struct buffer text = BUFFER_INIT;
	r.full = true;
	run_start(&r);
	make_text(&text, 5000, SIZE_MAX);
	interceptor_feed(r.text, text.data, text.len);
	struct report_stream s = collect(&r, 0);
	assert_int_equal(s.text.len, LIMIT - 1);
	ranges_are(&s, 1, 1);
	assert_true(s.last_line_partial && s.lines_truncated == 1);
	buffer_release(&text);
	stream_release(&s);
	run_end(&r);
}

/* A screen that is not final when the command ends while its children live. */
TEST(what_is_pending)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	struct report_stream s = {.total_lines = 0};
	run_start(&r);
	feed(&r, "started\nlistening");
	interceptor_pause(r.text);
	interceptor_spill(r.text);
	const struct interceptor_ending e = ending(&r, 0);
	assert_int_equal(interceptor_collect(r.text, &e, &s), 0);
	text_is(&s, "started\nlistening");
	ranges_are(&s, 1, 2);
	feed(&r, " on 80\n");
	interceptor_finish(r.text);
	kept_equals(r.artifact, ".txt", "started\nlistening on 80\n");
	stream_release(&s);
	run_end(&r);
}

/* Nobody reads along, so nothing has to be settled. */
TEST(not_live)
{
	struct run r = run_make_for(INTERCEPT_COLLECTED);
	run_start(&r);
	feed(&r, "one\ntwo\n");
	interceptor_pause(r.text);
	assert_false(is_unsettled(&r));
	interceptor_settle_all(r.text);
	feed(&r, "\x1b[2Athree\n");
	struct report_stream s = collect(&r, 0);
	text_is(&s, "three\ntwo\n");
	stream_release(&s);
	run_end(&r);
}

/* Which lines of the text were returned, one after the other. */
struct walk {
	const struct report_stream *s;
	const char *text, *end; /* the whole text, from line `number` on */
	uint64_t number, cut;
	size_t shown; /* bytes of what was returned that are dealt with */
};

static void next_line(struct walk *w, bool shown)
{
	const char *newline = memchr(w->text, '\n', (size_t)(w->end - w->text));
	size_t len = newline ? (size_t)(newline - w->text) + 1 : (size_t)(w->end - w->text);
	struct buffer clean = BUFFER_INIT;
	assert_true(len > 0);
	utf8_clean(&clean, w->text, len);
	const char *at = w->s->text.data + w->shown;
	size_t left = w->s->text.len - w->shown;
	if (shown && left >= clean.len && memcmp(at, clean.data, clean.len) == 0) {
		w->shown += clean.len;
	} else if (shown) {
		newline = memchr(at, '\n', left);
		w->shown += newline ? (size_t)(newline - at) + 1 : left;
		w->cut++;
	}
	w->text += len;
	w->number++;
	buffer_release(&clean);
}

/* Any text: what is returned are the lines of the ranges, within the budget. */
TEST(any_text)
{
	for (uint32_t seed = 1; seed <= 400; seed++) {
		struct run r = run_make_for(INTERCEPT_COLLECTED);
		struct buffer text = BUFFER_INIT;
		uint32_t at = random_start(seed);
		size_t budget = 64 + rnd(&at, 4000);
		r.options.limit.bytes = budget;
		r.options.limit.mode = (enum mode)rnd(&at, 4);
		r.options.limit.head_share = rnd(&at, 101);
		r.options.limit.max_line = 40 + rnd(&at, 600);
		r.options.limit.count = rnd(&at, 3) ? 0 : rnd(&at, 200);
		r.options.limit.unit = (enum unit)rnd(&at, 4);
		run_start(&r);
		random_text(&text, &at);
		for (size_t k = 0, n; k < text.len; k += n) {
			n = 1 + rnd(&at, rnd(&at, 3) ? 100 : 9000);
			if (n > text.len - k)
				n = text.len - k;
			interceptor_feed(r.text, text.data + k, n);
		}
		struct report_stream s = collect(&r, (int)rnd(&at, 2));
		struct walk w = {
			.s = &s, .text = text.data, .end = text.data + text.len, .number = 1};
		for (size_t i = 0; i < s.range_count; i++) {
			/* Something is left out between two of them. */
			assert_true(s.ranges[i].from > w.number || i == 0);
			assert_true(s.ranges[i].to >= s.ranges[i].from);
			while (w.number < s.ranges[i].from)
				next_line(&w, false);
			while (w.number <= s.ranges[i].to)
				next_line(&w, true);
		}
		assert_int_equal(w.shown, s.text.len);
		assert_int_equal(w.cut, s.lines_truncated);
		assert_true(w.number <= s.total_lines + 1);
		assert_true(utf8_all_clean(s.text.data ? s.text.data : "", s.text.len));
		if (!interceptor_facts(r.text).is_binary) {
			bool fits = interceptor_facts(r.text).fits;
			assert_true(s.text.len <= (fits ? budget + budget * 15 / 100 : budget));
			assert_int_equal(s.broken == LIMIT_NONE, fits);
			assert_int_equal(s.total_bytes, text.len);
		}
		buffer_release(&text);
		stream_release(&s);
		run_end(&r);
	}
}

TEST_MAIN(home_setup, home_teardown)
