// What belongs to one failure is shown together: the message, its place, and what says how bad it
// is, among many lines that look alike and tell of nothing.

#include "lib/buffer.h"
#include "supervisor/preview/preview.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { AROUND = 120, SIZE = 2048 };

static const struct {
	const char *name;
	const char
		*alike; /* stands AROUND times above the failure and below it, with two numbers */
	const char *failure;
	const char *shown[3];
} cases[] = {
	{"a rare code",
	 "shop/cart_%d.py:%d:0: C0116: Missing function docstring\n",
	 "shop/stock.py:9:15: E1101: Instance of 'Stock' has no 'quantity' member\n",
	 {"stock.py:9:15: E1101"}},
	{"a diagnostic without a word of failure",
	 "TERM='dumb' /usr/lib/tool/vet $WORK/b%d/vet.cfg %d\n",
	 "# example.com/shop/print\nprint/print.go:6:2: format %d has argument of a string\n",
	 {"print.go:6:2: format"}},
	{"the text of a test above its name",
	 "=== RUN   TestError%d\n    cart_test.go:%d: got error as expected: failed\n--- PASS: "
	 "TestError (0.00s)\n",
	 "=== RUN   TestRate\n    tariff_test.go:15: Rate(18) = 1870, want 1780\n"
	 "--- FAIL: TestRate (0.00s)\n",
	 {"tariff_test.go:15: Rate(18)", "--- FAIL: TestRate"}},
};

static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	(void)ctx;
	return (size_t)snprintf(out, cap, "[... %zu lines]\n",
				(size_t)(piece->to - piece->from + 1));
}

static void add_alike(struct buffer *text, const char *format)
{
	for (int i = 0; i < AROUND; i++)
		buffer_printf(text, format, i, i % 7 + 1);
}

static void show(const struct buffer *text, struct buffer *out)
{
	struct preview_options options = {
		.mode = PREVIEW_SMART, .budget = SIZE, .head_share = 10, .max_line = 2000};
	struct preview_ask ask = {.status = 1, .marker = marker};
	const struct preview_piece *pieces;
	struct preview *p = preview_new(&options);
	assert_non_null(p);
	preview_feed(p, text->data, text->len);
	int count = preview_choose(p, &ask, &pieces);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		if (pieces[i].kind == PREVIEW_TEXT)
			buffer_append(out, pieces[i].text, pieces[i].len);
	}
	preview_free(p);
}

static void test_block_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		add_alike(&text, cases[i].alike);
		buffer_append_string(&text, cases[i].failure);
		add_alike(&text, cases[i].alike);
		show(&text, &out);
		for (size_t k = 0; k < 3 && cases[i].shown[k]; k++) {
			if (!strstr(buffer_string(&out), cases[i].shown[k]))
				fail_msg("%s: %s is not in:\n%s", cases[i].name, cases[i].shown[k],
					 out.data);
		}
		buffer_release(&text);
		buffer_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_block_is_whole)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
