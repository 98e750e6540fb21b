// Runs of lines that the reader was shown before, in a text that is shown by its first lines.

#include "lib/buffer.h"
#include "lib/recall.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/parts.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/interceptor.h"

/* Lines of a page or of a text at most. */
enum { MOST = 1024 };

/* The page that was shown before, and what is told to be shown now. */
struct page {
	struct buffer text;
	const char *lines[MOST];
	size_t lengths[MOST], count;
	bool is_gone; /* it can't be read any more */
	uint64_t told[MOST];
	size_t told_count;
};

#define EARLIER "cmd-1m0000000000"

static bool is_line(const struct page *p, size_t i, const char *line, size_t len)
{
	return i < p->count && p->lengths[i] == len && memcmp(p->lines[i], line, len) == 0;
}

static enum recall_found find(void *ctx, const char *line, size_t len, struct recall_place *where)
{
	const struct page *p = ctx;
	for (size_t i = 0; i < p->count; i++) {
		if (!is_line(p, i, line, len))
			continue;
		*where = (struct recall_place){p->is_gone ? NULL : EARLIER, i + 1, i};
		return RECALL_SAME;
	}
	return RECALL_NEW;
}

static bool follows(void *ctx, struct recall_place *where, const char *line, size_t len)
{
	if (!is_line(ctx, where->mark + 1, line, len))
		return false;
	where->mark++;
	where->line++;
	return true;
}

static void shown(void *ctx, const char *line, size_t len, uint64_t number)
{
	struct page *p = ctx;
	(void)line, (void)len;
	p->told[p->told_count++] = number;
}

static void until(void *ctx, uint64_t last)
{
	struct page *p = ctx;
	while (p->told_count > 0 && p->told[p->told_count - 1] > last)
		p->told_count--;
}

static struct recall recall_of(struct page *p)
{
	return (struct recall){
		.find = find, .follows = follows, .shown = shown, .until = until, .ctx = p};
}

/* The page is the text in p->text. */
static void page_split(struct page *p)
{
	const char *line = buffer_string(&p->text);
	for (const char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		p->lines[p->count] = line;
		p->lengths[p->count++] = (size_t)(end - line);
	}
}

static struct page *page_of_numbers(int from, int to)
{
	struct page *p = calloc(1, sizeof(*p));
	assert_non_null(p);
	number_lines(&p->text, from, to);
	page_split(p);
	return p;
}

static void page_free(struct page *p)
{
	buffer_release(&p->text);
	free(p);
}

static struct run run_make_head(const struct recall *recall)
{
	struct run r = run_make();
	r.options.limit.mode = MODE_HEAD;
	r.recall = recall;
	return r;
}

/* "ID" in `want` is the run's own. */
static void printed_with_id(struct run *r, const char *want)
{
	struct buffer all = BUFFER_INIT;
	assert_non_null(r->artifact);
	for (const char *at; (at = strstr(want, "ID")) != NULL; want = at + 2)
		buffer_printf(&all, "%.*s%s", (int)(at - want), want, artifact_id(r->artifact));
	buffer_append_string(&all, want);
	assert_string_equal(buffer_string(&r->out), buffer_string(&all));
	buffer_release(&all);
}

/* A marker stands for the run, and there is room for what is new. */
static void a_run_is_told(void **state)
{
	struct page *p = page_of_numbers(1, 300);
	const struct recall recall = recall_of(p);
	struct run r = run_make_head(&recall);
	struct buffer want = BUFFER_INIT;
	(void)state;
	run_start(&r);
	feed(&r, "new\n");
	feed_lines(&r, 101, 300);
	feed(&r, "other\n");
	assert_int_equal(r.asked_for_memory, 1);
	feed_lines(&r, 1, 49);
	feed(&r, "end\n");
	finish(&r);
	buffer_append_string(&want, "new\n[... lines 2-201 omitted, 1.8 KB, as in " EARLIER
				    " 101-300: terse read ID --lines 2-201]\nother\n");
	number_lines(&want, 1, 49);
	buffer_append_string(&want,
			     "end\n[terse: all 252 lines shown, 200 of them before; as they came: "
			     "terse read ID]\n");
	printed_with_id(&r, buffer_string(&want));
	/* Lines that a marker stands for are not shown again. */
	assert_int_equal(p->told_count, 52);
	assert_int_equal(p->told[0], 1);
	assert_int_equal(p->told[1], 202);
	size_t count;
	const struct report_range *ranges = interceptor_shown(r.text, &count);
	assert_int_equal(count, 2);
	assert_int_equal(ranges[0].to, 1);
	assert_int_equal(ranges[1].from, 202);
	assert_int_equal(ranges[1].to, 252);
	buffer_release(&want);
	run_end(&r);
	page_free(p);
}

/* A text that fits is printed whole, one line fewer is no run, and a page that is gone is none. */
static void no_run(void **state)
{
	struct page *p = page_of_numbers(1, 300);
	const struct recall recall = recall_of(p);
	struct buffer want = BUFFER_INIT;
	(void)state;
	struct run r = run_make_head(&recall);
	run_start(&r);
	feed_lines(&r, 1, 100);
	finish(&r);
	number_lines(&want, 1, 100);
	printed(&r, buffer_string(&want));
	assert_int_equal(r.asked_for_memory, 0);
	run_end(&r);

	for (int gone = 0; gone < 2; gone++) {
		p->is_gone = gone;
		r = run_make_head(&recall);
		r.options.limit.bytes = 600;
		run_start(&r);
		feed_lines(&r, 1, gone ? 300 : 49);
		for (int i = 0; i < 10; i++)
			feed(&r, "a line that nobody knows ..............\n");
		finish(&r);
		assert_false(has_printed(&r, "omitted"));
		assert_int_equal(r.asked_for_memory, 1);
		run_end(&r);
	}
	buffer_release(&want);
	page_free(p);
}

/* Lines that came slowly are printed, and told; without a place for the text all are. */
static void slow_and_lost(void **state)
{
	struct page *p = page_of_numbers(1, 300);
	const struct recall recall = recall_of(p);
	struct run r = run_make_head(&recall);
	(void)state;
	run_start(&r);
	feed_lines(&r, 1, 60);
	interceptor_pause(r.text);
	interceptor_settle_all(r.text);
	interceptor_settle(r.text, 10000);
	printed(&r, "");
	interceptor_settle(r.text, 11000);
	assert_true(has_printed(&r, "line 1\nline 2\n"));
	feed_lines(&r, 61, 300);
	finish(&r);
	assert_false(has_printed(&r, "omitted"));
	size_t count;
	const struct report_range *ranges = interceptor_shown(r.text, &count);
	assert_int_equal(count, 1);
	assert_in_range(ranges[0].to, 61, 200);
	assert_int_equal(p->told_count, ranges[0].to);
	run_end(&r);

	r = run_make_head(&recall);
	r.full = true;
	run_start(&r);
	feed_lines(&r, 1, 300);
	finish(&r);
	assert_int_equal(r.asked_for_memory, 0);
	assert_false(has_printed(&r, "omitted"));
	run_end(&r);
	page_free(p);
}

/* Lines that may not stay on disk are printed, and not told; and so are many that are as short as
   their marker. */
static void lines_that_may_go(void **state)
{
	struct page *p = page_of_numbers(1, 300);
	const struct recall recall = recall_of(p);
	struct run r = run_make_head(&recall);
	(void)state;
	/* The bytes of the first 70 lines. */
	r.kept = 9 * 7 + 61 * 8;
	run_start(&r);
	feed_lines(&r, 1, 300);
	finish(&r);
	assert_true(has_printed(&r, "[... lines 1-70 omitted, 551 B, as in " EARLIER " 1-70: "));
	assert_true(has_printed(&r, "]\nline 71\nline 72\n"));
	assert_int_equal(p->told_count, 0);
	run_end(&r);
	page_free(p);

	p = calloc(1, sizeof(*p));
	assert_non_null(p);
	for (int i = 0; i < 400; i++)
		buffer_append_string(&p->text, "\n");
	page_split(p);
	for (int lines = 60; lines < 400; lines += 300) {
		const struct recall blank = recall_of(p);
		r = run_make_head(&blank);
		run_start(&r);
		for (int i = 0; i < lines; i++)
			feed(&r, "\n");
		for (int i = 0; i < 40; i++)
			feed(&r, "a line that nobody knows ..............\n");
		finish(&r);
		assert_int_equal(has_printed(&r, "[... lines 1-360 omitted, 360 B, "),
				 lines == 360);
		assert_int_equal(has_printed(&r, "omitted"), lines == 360);
		run_end(&r);
	}
	page_free(p);
}

/* The outcome chooses how much is printed; no more than that counts as shown. */
static void the_outcome_chooses(void **state)
{
	struct page *p = page_of_numbers(1, 100);
	const struct recall recall = recall_of(p);
	(void)state;
	for (int failed = 0; failed < 2; failed++) {
		struct run r = run_make_head(&recall);
		r.options.limit.failure_bytes = 2 * BUDGET;
		p->told_count = 0;
		run_start(&r);
		feed_lines(&r, 1, 100);
		feed_lines(&r, 1001, 2000);
		interceptor_finish(r.text);
		interceptor_conclude(r.text, failed ? INTERCEPT_FAILURE : INTERCEPT_SUCCESS);
		const struct interceptor_ending e = ending(&r, failed);
		interceptor_report(r.text, &e);
		assert_true(has_printed(&r, "[... lines 1-100 omitted, "));
		assert_in_range(r.out.len, failed ? 2 * BUDGET - 20 : BUDGET - 20,
				(failed ? 2 * BUDGET : BUDGET) + 120);
		size_t count;
		const struct report_range *ranges = interceptor_shown(r.text, &count);
		assert_int_equal(count, 1);
		assert_int_equal(ranges[0].from, 101);
		assert_int_equal(p->told[p->told_count - 1], ranges[0].to);
		assert_int_equal(p->told_count, ranges[0].to - 100);
		run_end(&r);
	}
	page_free(p);
}

/* Pieces of the page in any order, lines of its kind, long and empty lines. */
static void random_lines(struct buffer *b, const struct page *p, uint32_t *s, uint32_t most)
{
	uint32_t lines = 0;
	while (lines < most) {
		uint32_t n = 1 + rnd(s, rnd(s, 3) ? 150 : 5);
		n = n < most - lines ? n : most - lines;
		if (p && p->count > 0 && rnd(s, 3)) {
			size_t from = rnd(s, (uint32_t)p->count);
			n = n < p->count - from ? n : (uint32_t)(p->count - from);
			for (size_t i = from; i < from + n; i++)
				buffer_printf(b, "%.*s\n", (int)p->lengths[i], p->lines[i]);
		} else {
			n = 1 + rnd(s, 20);
			for (uint32_t i = 0; i < n; i++)
				buffer_printf(b, "%s%u%.*s\n", rnd(s, 4) ? "a: " : "", rnd(s, 90),
					      rnd(s, 30) ? 0 : (int)rnd(s, 90),
					      "............................................."
					      ".............................................");
			for (uint32_t i = rnd(s, 4); i == 0; i = 1)
				buffer_append_string(b, "\n");
		}
		lines += n;
	}
}

/* Checks a line of the output that stands for lines from *at on. */
static bool is_marker(const struct page *p, const char *line, size_t *at, const char **text)
{
	size_t from, to, as_from, as_to;
	char size[8], unit[8];
	if (sscanf(line, "[... lines %zu-%zu omitted, %7s %7[A-Z], as in " EARLIER " %zu-%zu",
		   &from, &to, size, unit, &as_from, &as_to) != 6)
		return false;
	assert_int_equal(from, *at);
	assert_true(to >= from + REPEAT_LEAST - 1);
	assert_int_equal(to - from, as_to - as_from);
	for (size_t i = as_from; i <= as_to; i++) {
		assert_memory_equal(*text, p->lines[i - 1], p->lengths[i - 1] + 1);
		*text += p->lengths[i - 1] + 1;
	}
	*at = to + 1;
	return true;
}

/* "1,234" */
static size_t read_number(const char *text)
{
	size_t number = 0;
	for (; *text == ',' || (*text >= '0' && *text <= '9'); text++)
		number = *text == ',' ? number : 10 * number + (size_t)(*text - '0');
	return number;
}

/* Every line is printed, or stands in a marker whose earlier lines are the same. */
static void nothing_is_lost(void **state)
{
	uint32_t s = random_seed();
	int markers = 0;
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct page *p = calloc(1, sizeof(*p));
		assert_non_null(p);
		random_lines(&p->text, NULL, &s, 100 + rnd(&s, 200));
		page_split(p);
		const struct recall recall = recall_of(p);
		struct run r = run_make_head(&recall);
		r.options.limit.bytes = 300 + rnd(&s, 4000);
		r.options.limit.max_line = 50 + rnd(&s, 100);
		r.options.limit.grow = rnd(&s, 2);
		struct buffer text = BUFFER_INIT;
		random_lines(&text, p, &s, 30 + rnd(&s, 500));
		run_start(&r);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&s, 2000);
			n = n < text.len - at ? n : text.len - at;
			interceptor_feed(r.text, text.data + at, n);
		}
		finish(&r);
		const char *line = buffer_string(&r.out), *rest = buffer_string(&text), *end;
		size_t number = 1, told = 0;
		for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
			size_t len = (size_t)(end - line);
			const char *cut = memmem(line, len, "[... bytes ", 11);
			bool marked = is_marker(p, line, &number, &rest);
			markers += marked;
			if (strncmp(line, "[terse: lines 1-", 16) == 0)
				assert_int_equal(read_number(line + 16), number - 1);
			if (marked || strncmp(line, "[terse: ", 8) == 0)
				continue;
			assert_memory_equal(line, rest, cut ? (size_t)(cut - line) : len + 1);
			rest = strchr(rest, '\n') + 1;
			if (told < p->told_count && p->told[told] == number) {
				assert_null(cut);
				told++;
			}
			number++;
		}
		if (!interceptor_fits(r.text))
			assert_int_equal(told, p->told_count);
		assert_true(r.out.len <= r.options.limit.bytes * 115 / 100 + 200);
		buffer_release(&text);
		run_end(&r);
		page_free(p);
	}
	assert_true(markers > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_told),   cmocka_unit_test(no_run),
		cmocka_unit_test(slow_and_lost),   cmocka_unit_test(the_outcome_chooses),
		cmocka_unit_test(nothing_is_lost), cmocka_unit_test(lines_that_may_go),
	};
	return cmocka_run_group_tests(tests, home_setup, home_teardown);
}
