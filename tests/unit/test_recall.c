// What the reader was shown before gives way, and nothing else is lost by it.

#include "lib/buffer.h"
#include "lib/recall.h"
#include "supervisor/preview/layout.h"
#include "tests/unit/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* More than the lines of a text. */
enum { LINES = 512 };

static uint64_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* A marker of `ctx` bytes more than the least, with its command longer. */
static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	const size_t *more = ctx;
	int n = snprintf(
		out, cap, "[... %" PRIu64 "-%" PRIu64 "%*s%s]\n", piece->from, piece->to,
		(int)*more, "",
		piece->spelled
			? ": the command that prints them, with the ID of the run and the lines"
			: "");
	return (size_t)n;
}

/* Which lines were shown: those that begin so. */
static enum recall_found find(void *ctx, const char *line, size_t len, struct recall_place *where)
{
	(void)ctx;
	*where = (struct recall_place){.id = NULL};
	return len > 4 && memcmp(line, "seen", 4) == 0 ? RECALL_SAME : RECALL_NEW;
}

static void note_shown(void *ctx, const char *line, size_t len, uint64_t number)
{
	(void)ctx, (void)line, (void)len, (void)number;
}

static const struct recall recall = {.find = find, .shown = note_shown};

/* Lines of which none tells of a failure; about one in `share` was shown. */
static void random_text(struct buffer *text, uint32_t share, uint32_t lines)
{
	buffer_clear(text);
	for (uint32_t i = 0; i < lines; i++) {
		buffer_append_string(text, rnd(share) ? "new " : "seen ");
		for (uint32_t n = 1 + rnd(6); n > 0; n--) {
			for (uint32_t k = 2 + rnd(8); k > 0; k--)
				buffer_printf(text, "%c", "abdgijklmnopsuvyz"[rnd(17)]);
			buffer_append_string(text, n > 1 ? " " : "");
		}
		buffer_append_string(text, "\n");
	}
	assert_int_equal(buffer_check(text), 0);
}

/* Fills a layout with the lines of a text, and takes some of them until the budget is used. */
static void fill(struct layout *l, const struct buffer *text)
{
	const struct trait plain = {.value = 1};
	struct line line = {.number = 0};
	for (size_t at = 0; at < text->len; at += (size_t)line.length) {
		const char *newline = memchr(text->data + at, '\n', text->len - at);
		assert_non_null(newline);
		line = (struct line){.number = line.number + 1,
				     .offset = at,
				     .length = (size_t)(newline - text->data) - at + 1,
				     .ended = true,
				     .front = text->data + at};
		line.front_len = (size_t)line.length;
		assert_int_equal(layout_add(l, &line, &plain), 0);
	}
	recall_mark(l, l->ask->recall);
	layout_price(l, false);
	for (size_t i = rnd(9); i < l->count; i += rnd(8) ? 1 : rnd(20))
		layout_take(l, i);
}

static bool may_go(const struct unit *u)
{
	return u->seen && !u->stays;
}

/* Runs of shown lines go as a whole or stay as a whole, however near to the budget it is. */
static void test_whole_runs(void **state)
{
	struct buffer text = BUFFER_INIT;
	struct layout l = {.count = 0};
	size_t more = 60;
	int left = 0, stayed = 0;
	(void)state;
	for (uint32_t round = 0; round < 1000; round++) {
		static bool chosen[LINES];
		random_state = random_start(round);
		random_text(&text, 2 + rnd(5), 20 + rnd(300));
		struct preview_options options = {.budget = 1000 + rnd(6000), .max_line = 500};
		struct preview_ask ask = {.marker = marker, .ctx = &more, .recall = &recall};
		uint64_t lines = 0;
		for (size_t i = 0; i < text.len; i++)
			lines += text.data[i] == '\n';
		layout_begin(&l, &options, &ask, 0, lines, text.len);
		fill(&l, &text);
		assert_true(l.count < LINES);
		for (size_t i = 0; i < l.count; i++)
			chosen[i] = l.units[i].chosen;
		size_t used = l.used;
		if (!recall_leave_out(&l))
			assert_int_equal(l.used, used);
		for (size_t i = 0; i < l.count; i++) {
			bool is_run = i > 0 && chosen[i] && chosen[i - 1] && may_go(&l.units[i]) &&
				      may_go(&l.units[i - 1]);
			left += chosen[i] && !l.units[i].chosen;
			stayed += chosen[i] && may_go(&l.units[i]) && l.units[i].chosen;
			assert_true(chosen[i] || !l.units[i].chosen);
			assert_true(l.units[i].chosen || !chosen[i] || may_go(&l.units[i]));
			assert_true(!is_run || l.units[i].chosen == l.units[i - 1].chosen);
		}
	}
	assert_true(left > 100 && stayed > 100);
	buffer_release(&text);
	layout_release(&l);
}

/* What is printed: lines, and bytes with all markers. */
struct print {
	uint64_t lines;
	size_t len;
};

static struct print print(struct preview *p, struct preview_ask *ask, const struct recall *with)
{
	const struct preview_piece *pieces;
	char text[512];
	struct print out = {.len = 0};
	ask->recall = with;
	int count = preview_choose(p, ask, &pieces);
	for (int i = 0; i < count; i++) {
		bool is_text = pieces[i].kind == PREVIEW_TEXT;
		out.len +=
			is_text ? pieces[i].len : marker(ask->ctx, &pieces[i], text, sizeof(text));
		out.lines += is_text ? pieces[i].to - pieces[i].from + 1 : 0;
	}
	return out;
}

/* Where all lines fit because some are folded, nobody has counted on a marker: what is left out
   pays for it, too. */
static void test_within_budget(void **state)
{
	struct buffer text = BUFFER_INIT;
	size_t more = 0;
	int left = 0;
	(void)state;
	for (uint32_t round = 0; round < 600; round++) {
		random_state = random_start(round);
		random_text(&text, 1 + rnd(8), 15 + rnd(30));
		size_t budget = text.len + 30 + rnd(20);
		for (uint32_t n = 200 + rnd(100); n > 0; n--)
			buffer_append_string(&text, "again and again\n");
		struct preview_options options = {
			.budget = budget, .least_budget = 64, .max_line = 500};
		struct preview_ask ask = {.marker = marker, .ctx = &more};
		struct preview *p = preview_new(&options);
		assert_non_null(p);
		preview_feed(p, text.data, text.len);
		struct print without = print(p, &ask, NULL), with = print(p, &ask, &recall);
		assert_true(without.len <= budget && with.len <= budget);
		left += with.lines < without.lines;
		preview_free(p);
	}
	assert_true(left > 20);
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_runs),
		cmocka_unit_test(test_within_budget),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
