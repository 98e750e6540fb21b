// From the bytes of a command to its reader and its artifact: what fits, what does not, and the
// words around it.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

TEST(nothing_comes)
{
	struct run r = run_make();
	run_start(&r);
	finish(&r);
	printed(&r, "");
	assert_int_equal(r.asked_for_artifact, 0);
	assert_true(interceptor_facts(r.text).fits && !r.asked_for_artifact);
	run_end(&r);
}

TEST(short_text_is_printed_as_it_is)
{
	struct run r = run_make();
	run_start(&r);
	feed(&r, "\x1b[32mone\x1b[m\r\n10%\r20%\r30%\ntwo");
	finish(&r);
	printed(&r, "one\n30%\ntwo");
	assert_int_equal(r.asked_for_artifact, 0);
	assert_int_equal(interceptor_facts(r.text).bytes, 11);
	assert_int_equal(interceptor_facts(r.text).lines, 3);
	run_end(&r);
}

/* Exactly at the limit it is whole, one byte on it is a preview within the budget. */
TEST(threshold)
{
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
				assert_true(interceptor_facts(r.text).fits);
				assert_int_equal(r.asked_for_artifact, 0);
			} else {
				assert_false(interceptor_facts(r.text).fits);
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

/* Text that grows when it is printed clean is measured as printed, in lines or in one that does not
   end. */
TEST(threshold_of_invalid_bytes)
{
	for (int which = 0; which < 4; which++) {
		const bool over = which & 1;
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		run_start(&r);
		make_text(&text, LIMIT - 20 * 2 + (size_t)over, which < 2 ? 50 : SIZE_MAX);
		for (size_t i = 0; i < 20; i++)
			text.data[i * 40] = (char)0xE9;
		for (size_t i = 0; i < text.len; i++)
			interceptor_feed(r.text, text.data + i, 1);
		finish(&r);
		assert_int_equal(interceptor_facts(r.text).fits, !over);
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
TEST(threshold_of_a_cut_character)
{
	struct run r = run_make();
	struct buffer text = BUFFER_INIT;
	run_start(&r);
	make_text(&text, LIMIT, 50);
	memcpy(text.data + LIMIT - 2, "\n\xE2", 2);
	interceptor_feed(r.text, text.data, text.len);
	finish(&r);
	assert_false(interceptor_facts(r.text).fits);
	kept_equals(r.artifact, ".txt", buffer_string(&text));
	buffer_release(&text);
	run_end(&r);
}

TEST(threshold_of_lines)
{
	for (int over = 0; over <= 1; over++) {
		struct run r = run_make();
		r.options.limit.count = 20;
		run_start(&r);
		feed_lines(&r, 1, 20 + over);
		finish(&r);
		assert_int_equal(interceptor_facts(r.text).fits, !over);
		size_t lines = 0;
		for (size_t i = 0; i < r.out.len; i++)
			lines += r.out.data[i] == '\n';
		/* Markers and footer beside them. */
		assert_true(lines <= 20 + 3);
		run_end(&r);
	}
}

/* Units other than lines are limits in the other modes as well. */
TEST(preview_by_units)
{
	for (int over = 0; over <= 1; over++) {
		struct run r = run_make();
		r.options.limit.count = 2;
		r.options.limit.unit = UNIT_MATCHES;
		run_start(&r);
		feed(&r, over ? "a\n--\nb\n--\nc\n" : "a\n--\nb\n--\n");
		finish(&r);
		assert_int_equal(interceptor_facts(r.text).fits, !over);
		run_end(&r);
	}
}

TEST(folds_are_printed_once)
{
	struct run r = run_make();
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

/* The next line of a live run, which has stood for long enough. */
static void feed_live(struct run *r, int64_t *now_ms, int number)
{
	char line[64];
	snprintf(line, sizeof(line), "test part_%02d of the whole ... ok\n", number);
	feed(r, line);
	*now_ms += 100;
	interceptor_pause(r->text);
	interceptor_came(r->text, *now_ms);
	interceptor_settle(r->text, *now_ms + r->options.settle_ms);
}

/* Of lines that say alike that something went well the first seven come as they come, the others
   are held back. A pause, or the end, prints the last one behind a marker. */
TEST(progress_is_folded_as_it_comes)
{
	struct run r = run_make();
	struct buffer first = BUFFER_INIT;
	int64_t now_ms = 1;
	r.options.limit.fold = FOLD_ALWAYS;
	run_start(&r);
	for (int i = 1; i <= 7; i++) {
		feed_live(&r, &now_ms, i);
		buffer_printf(&first, "test part_%02d of the whole ... ok\n", i);
		printed(&r, buffer_string(&first));
	}
	for (int i = 8; i <= 19; i++)
		feed_live(&r, &now_ms, i);
	printed(&r, buffer_string(&first));
	now_ms += 5000;
	assert_true(interceptor_begin_print(r.text, INTERCEPT_PAUSE, now_ms));
	struct wording_place place = place_of(&r);
	assert_true(interceptor_print_held(r.text, INTERCEPT_PAUSE, now_ms, &place));
	buffer_printf(&first,
		      "[... lines 8-18 alike: terse read %s --lines 8-18]\n"
		      "test part_19 of the whole ... ok\n",
		      place.id);
	printed(&r, buffer_string(&first));
	/* The run goes on. */
	for (int i = 20; i <= 25; i++)
		feed_live(&r, &now_ms, i);
	feed(&r, "test part_26 of the whole ... FAILED\n");
	finish(&r);
	buffer_append_string(&first, "[... lines 20-24 alike]\n"
				     "test part_25 of the whole ... ok\n"
				     "test part_26 of the whole ... FAILED\n[terse: ");
	assert_true(has_printed(&r, buffer_string(&first)));
	assert_false(interceptor_facts(r.text).fits);
	assert_int_equal(r.asked_for_artifact, 1);
	const struct interceptor_facts facts = interceptor_facts(r.text);
	assert_int_equal(facts.shown_count, 3);
	assert_int_equal(facts.shown[1].from, 19);
	buffer_release(&first);
	run_end(&r);
}

/* A run that goes on names how to read what was left out. */
TEST(progress_of_a_run_that_goes_on)
{
	struct run r = run_make();
	r.options.limit.fold = FOLD_ALWAYS;
	run_start(&r);
	for (int i = 1; i <= 20; i++)
		feed(&r, "test part of the whole ... ok\n");
	interceptor_finish(r.text);
	struct interceptor_ending e = ending(&r, 0);
	e.ending.state = WORDING_RUNNING;
	interceptor_report(r.text, &e);
	assert_non_null(
		strstr(buffer_string(&r.out), "; with that ID: terse read ID --lines FROM-TO"));
	run_end(&r);
}

/* Where there is no artifact, where little is saved, and where nobody wants it, nothing is left
   out. */
TEST(progress_that_stays)
{
	for (int i = 0; i < 4; i++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		r.full = i == 0;
		r.options.limit.fold = i == 1 ? FOLD_OVERFLOW : FOLD_ALWAYS;
		run_start(&r);
		for (int k = 0; k < (i == 2 ? 8 : 20); k++)
			buffer_printf(&text,
				      i == 3 ? "part_%d of the whole goes well\n"
					     : "test part_%d of the whole ... ok\n",
				      k);
		feed(&r, buffer_string(&text));
		finish(&r);
		printed(&r, buffer_string(&text));
		buffer_release(&text);
		run_end(&r);
	}
}

/* A few stray bytes do not make a text binary; the decision can't wait for ever. */
TEST(judged_when_nothing_more_comes)
{
	struct run r = run_make();
	run_start(&r);
	interceptor_feed(r.text, "\x1f\x8b\x08", 3);
	assert_false(interceptor_facts(r.text).is_binary);
	interceptor_pause(r.text);
	assert_true(interceptor_facts(r.text).is_binary);
	run_end(&r);
	/* A few bytes of an unknown type prove little, unless they are all there are. */
	r = run_make();
	run_start(&r);
	interceptor_feed(r.text, "\0\1\2", 3);
	interceptor_pause(r.text);
	assert_false(interceptor_facts(r.text).is_binary);
	finish(&r);
	assert_true(interceptor_facts(r.text).is_binary);
	run_end(&r);
	/* A program does not wait for them. */
	r = run_make();
	r.options.reader = INTERCEPT_PROGRAM;
	run_start(&r);
	interceptor_feed(r.text, "\0\1\2", 3);
	interceptor_pause(r.text);
	assert_int_equal(r.out.len, 3);
	run_end(&r);
}

/* A few bytes that are no text, and then text; text, and then none. */
TEST(judged_again)
{
	char bytes[3000];
	struct run r = run_make();
	run_start(&r);
	interceptor_feed(r.text, "\0\0\0ok\n", 6);
	interceptor_pause(r.text);
	feed(&r, "and text behind it\n");
	finish(&r);
	printed(&r, "\u2400\u2400\u2400ok\nand text behind it\n");
	run_end(&r);

	memset(bytes, 1, sizeof(bytes));
	for (int raw = INTERCEPT_RAW_AUTO; raw <= INTERCEPT_RAW_NO; raw++) {
		r = run_make();
		r.options.raw = (enum interceptor_raw)raw;
		run_start(&r);
		feed(&r, "text\n");
		interceptor_pause(r.text);
		interceptor_feed(r.text, bytes, sizeof(bytes));
		finish(&r);
		assert_int_equal(interceptor_facts(r.text).is_binary, raw != INTERCEPT_RAW_NO);
		run_end(&r);
	}
}

#define NUL_CASE(in, want)               \
	{                                \
		in, sizeof(in) - 1, want \
	}

/* A NUL is a newline where there is none of these at first, else a symbol. */
TEST(nul)
{
	static const struct {
		const char *in;
		size_t len;
		const char *want;
	} cases[] = {
		NUL_CASE("one\0two\0", "one\ntwo\n"),
		NUL_CASE("one\0\0two", "one\n\ntwo"),
		NUL_CASE("x\0y\nz\n", "x\u2400y\nz\n"),
		NUL_CASE("bar\r1\0\033[K2\n\0\n", "1\u24002\n\u2400\n"),
		NUL_CASE("ac\r\0b\n\033[A\0\n", "\u2400b\n"),
		NUL_CASE("\033[1\0mred\n", "red\n"),
		NUL_CASE("key\r\0value\0", "key\nvalue\n"),
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make();
		run_start(&r);
		interceptor_feed(r.text, cases[i].in, cases[i].len);
		finish(&r);
		printed(&r, cases[i].want);
		run_end(&r);
	}
}

TEST(status_lines)
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

/* If one reader gets two streams, only one of them reports the end. */
TEST(told_once)
{
	struct run r = run_make();
	const struct interceptor_ending e = {.ending = {.exit_code = 124, .timed_out = true},
					     .is_second = true,
					     .status_line = STATUS_LINE_ALWAYS};
	struct interceptor_ending first = e;
	first.is_second = false;
	assert_false(interceptor_is_worth_telling(&e));
	assert_true(interceptor_is_worth_telling(&first));
	/* Each stream has writers of its own. */
	struct interceptor_ending held = e;
	held.ending.background = "tee still writes";
	assert_true(interceptor_is_worth_telling(&held));
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
TEST(partial)
{
	static const struct {
		enum interceptor_reader reader;
		int lines;
		bool partial;
	} cases[] = {
		{INTERCEPT_AGENT, 10, false},
		{INTERCEPT_AGENT, 1000, true},
		{INTERCEPT_PROGRAM, 1000, false},
		{INTERCEPT_PERSON, 1000, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make();
		r.full = true;
		r.options.reader = cases[i].reader;
		run_start(&r);
		feed_lines(&r, 1, cases[i].lines);
		finish(&r);
		assert_int_equal(interceptor_facts(r.text).is_partial, cases[i].partial);
		run_end(&r);
	}
}

TEST(no_artifact_can_be_made)
{
	struct run r = run_make();
	r.full = true;
	r.options.raw = INTERCEPT_RAW_YES;
	run_start(&r);
	feed_lines(&r, 1, 3000);
	interceptor_update_live(r.text);
	finish(&r);
	assert_int_equal(r.asked_for_artifact, 1);
	assert_true(r.asked_for_artifact);
	assert_true(has_printed(&r, " KB: not kept: No space left on device; last: line "));
	assert_true(has_printed(&r, "; not kept: No space left on device]\n"));
	run_end(&r);
}

TEST(queries_are_answered)
{
	struct run r = run_make();
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

TEST(the_screen_can_be_looked_at)
{
	struct run r = run_make();
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	r.options.terminal.rows = 3;
	run_start(&r);
	feed(&r, "1\n2\n3\n4\033[?1049h\033[2;5Hfull");
	interceptor_pause(r.text);
	struct terminal *t = interceptor_terminal(r.text);
	assert_int_equal(terminal_picture(t, &picture, &row, &col), 0);
	assert_int_equal(picture.len, strlen("\n    full\n\n"));
	assert_memory_equal(picture.data, "\n    full\n\n", picture.len);
	assert_true(terminal_facts(t).is_alternate);
	assert_int_equal(row, 2);
	assert_int_equal(col, 9);
	buffer_release(&picture);
	run_end(&r);
}

TEST(bad_options)
{
	struct run r = run_make();
	const struct interceptor_events events = {
		.artifact = on_artifact, .print = on_print, .ctx = &r};
	r.options.limit.bytes = 1;
	assert_null(interceptor_new(&r.options, &events));
	assert_int_equal(errno, EINVAL);
	r = run_make();
	r.options.terminal.cols = 0;
	assert_null(interceptor_new(&r.options, &events));
	assert_int_equal(errno, EINVAL);
}

/* Where what was printed of the text ends: the footer is not in the budget. */
static size_t without_footer(const struct buffer *out)
{
	const char *footer = memmem(out->data, out->len, "[terse: ", 8);
	return footer ? (size_t)(footer - out->data) : out->len;
}

/* The numbers of printed lines, and of the first line of each gap, only rise, and the first
   omission alone has the command. */
static void check_order(const struct buffer *out, bool by_head)
{
	unsigned long last = 0;
	int omissions = 0;
	for (const char *at = out->data, *next; at; at = next) {
		const char *end = strchr(at, '\n'), *command = strstr(at, ": terse read ");
		const char *cut = strstr(at, "[... byte");
		unsigned long n = last + 1;
		/* The number of a line that is cut can be cut. */
		bool numbered = *at == '<' && at[1 + strspn(at + 1, "0123456789")] == '>';
		bool gap = strncmp(at, "[... line", 9) == 0;
		if (numbered)
			n = strtoul(at + 1, NULL, 10);
		else if (gap)
			n = strtoul(at + strcspn(at, "0123456789"), NULL, 10);
		assert_true(n > last);
		last = numbered ? n : last;
		next = end ? end + 1 : NULL;
		bool fold = gap && memmem(at, (size_t)(end - at), " the line above]", 16);
		if (!by_head && ((gap && !fold) || (cut && cut < end)))
			assert_int_equal(command && command < end, omissions++ == 0);
	}
}

TEST(any_text_stays_within_the_budget)
{
	for (uint32_t seed = 1; seed <= 400; seed++) {
		struct run r = run_make();
		struct buffer text = BUFFER_INIT;
		uint32_t s = random_start(seed);
		size_t budget = 64 + rnd(&s, 4000);
		r.options.limit.bytes = budget;
		r.options.limit.mode = (enum mode)rnd(&s, 4);
		r.options.limit.head_share = rnd(&s, 101);
		r.options.limit.max_line = 64 + rnd(&s, 600);
		r.options.limit.grow = rnd(&s, 2);
		r.options.limit.count = rnd(&s, 3) ? 0 : rnd(&s, 200);
		r.options.limit.unit = (enum unit)rnd(&s, 4);
		run_start(&r);
		random_text(&text, &s);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&s, rnd(&s, 3) ? 100 : 9000);
			if (n > text.len - at)
				n = text.len - at;
			interceptor_feed(r.text, text.data + at, n);
			if (rnd(&s, 5) == 0)
				interceptor_settle(r.text, (int64_t)rnd(&s, 2) * 10000);
			if (rnd(&s, 40) == 0)
				interceptor_update_live(r.text);
		}
		finish(&r);
		assert_true(utf8_all_clean(r.out.data, r.out.len));
		buffer_string(&r.out);
		if (interceptor_facts(r.text).is_binary) {
			assert_false(interceptor_facts(r.text).fits);
		} else if (interceptor_facts(r.text).fits) {
			assert_true(r.out.len <= budget + budget * 15 / 100);
			assert_int_equal(utf8_clean(NULL, text.data, text.len), r.out.len);
		} else {
			/* One marker for all of it is printed even where it is over the budget. */
			bool just_a_gap = strncmp(r.out.data, "[... ", 5) == 0;
			size_t len = without_footer(&r.out);
			assert_true(len <= budget + 1 || (just_a_gap && len <= 100));
			check_order(&r.out, r.options.limit.mode == MODE_HEAD);
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

/* A text between both sizes is held until the outcome decides; while the command runs, the smaller
   one counts. */
TEST(the_outcome_chooses_the_size)
{
	static const struct {
		size_t success, failure;
		enum wording_state state;
		int exit_code;
		bool is_whole;
	} rows[] = {
		{1000, 3000, WORDING_ENDED, 1, true},
		{1000, 3000, WORDING_ENDED, 0, false},
		{3000, 1000, WORDING_ENDED, 0, true},
		{3000, 1000, WORDING_ENDED, 1, false},
		{1000, 3000, WORDING_RUNNING, 0, false},
		{3000, 1000, WORDING_RUNNING, 0, false},
		{1000, 3000, WORDING_INTERRUPTED, -1, true},
		{1000, 1000, WORDING_ENDED, 1, false},
		{1000, 0, WORDING_ENDED, 1, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (enum mode mode = MODE_SMART; mode <= MODE_ENDS; mode++) {
			struct run r = run_make();
			struct buffer text = BUFFER_INIT;
			r.options.limit.mode = mode;
			r.options.limit.bytes = rows[i].success;
			r.options.limit.failure_bytes = rows[i].failure;
			run_start(&r);
			make_text(&text, 2000, 40);
			interceptor_feed(r.text, text.data, text.len);
			bool is_over = rows[i].failure <= 1000 && rows[i].success <= 1000;
			assert_true(is_over || !r.asked_for_artifact);
			assert_true(r.out.len <= 1000);
			interceptor_finish(r.text);
			struct interceptor_ending e = ending(&r, rows[i].exit_code);
			e.ending.state = rows[i].state;
			interceptor_report(r.text, &e);
			assert_int_equal(interceptor_facts(r.text).fits, rows[i].is_whole);
			assert_int_equal(r.asked_for_artifact, !rows[i].is_whole);
			if (rows[i].is_whole)
				assert_memory_equal(buffer_string(&r.out), text.data, text.len);
			else
				assert_in_range(r.out.len, 700, 1000 + 300);
			buffer_release(&text);
			run_end(&r);
		}
	}
}

/* A preview has the room of the outcome, too. */
TEST(a_preview_has_the_size_of_the_outcome)
{
	for (enum mode mode = MODE_SMART; mode <= MODE_ENDS; mode++) {
		for (int code = 0; code <= 1; code++) {
			struct run r = run_make();
			r.options.limit.mode = mode;
			r.options.limit.failure_bytes = 3 * BUDGET;
			run_start(&r);
			feed_lines(&r, 1, 5000);
			assert_true(r.out.len <= BUDGET);
			interceptor_finish(r.text);
			const struct interceptor_ending e = ending(&r, code);
			interceptor_report(r.text, &e);
			size_t budget = code ? 3 * BUDGET : BUDGET;
			assert_in_range(r.out.len, mode == MODE_SMART ? 0 : budget * 9 / 10,
					budget + 300);
			run_end(&r);
		}
	}
}

TEST_MAIN(home_setup, home_teardown)
