// What belongs to one failure is shown together: the message, its place, and what says how bad it
// is, among many lines that look alike and tell of nothing.

#include "lib/buffer.h"
#include "supervisor/preview/preview.h"
#include "tests/unit/unit.h"

enum { AROUND = 120, SIZE = 2048 };

static const struct {
	const char *name;
	const char *alike; /* stands AROUND times above the failure and below it, with two numbers
			      and a name */
	const char *failure;
	const char *shown[3];
} cases[] = {
	{"a rare code",
	 "shop/cart_%d.py:%d:0: C0116: Missing function docstring\n",
	 "shop/stock.py:9:15: E1101: Instance of 'Stock' has no 'quantity' member\n",
	 {"stock.py:9:15: E1101"}},
	{"a rare code behind a word, and a place in brackets",
	 "src/%3$s.ts(1,%1$d): error TS2305: Module has no exported member 'Missing%3$s'.\n"
	 "src/%3$s.ts(4,%2$d): error TS2339: Property 'gross' does not exist on type 'Price'.\n",
	 "src/types.ts(1,11): error TS2304: Cannot find name 'Money'.\n",
	 {"src/types.ts(1,11): error TS2304"}},
	{"what a test prints between its name and its end",
	 "%1$d/90 %3$s_error  RUNNING\n%3$s: error %2$d is reported\n%3$s: error 9 is reported\n",
	 "22/90 queue_order  RUNNING\nqueue: 3 items are in it\nqueue: item 3 came before item 2\n"
	 "22/90 queue_order  FAIL  exit status 1\n",
	 {"item 3 came before item 2", "queue_order  FAIL"}},
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
	{"a place alone in its line",
	 "src/import_%d.f90:%d:8:\n\n   10 |     q = a(1)\n      |        1\n"
	 "Warning: Possible change of value\n",
	 "src/tide.f90:10:12:\n\n   10 |     print *, tide(error)\n      |            1\n"
	 "Error: Type mismatch in argument\n",
	 {"src/tide.f90:10:12:", "Error: Type mismatch"}},
	{"a source line with words of failure",
	 "src/pay_%d.js:%d:26 lint/unused \xE2\x94\x81\xE2\x94\x81\n\n  \xE2\x9A\xA0 This "
	 "parameter "
	 "is unused.\n\n  > 4 \xE2\x94\x82 export function pay(error, failed) {\n"
	 "      \xE2\x94\x82   ^^^\n\n",
	 "src/match.js:2:15 lint/equals \xE2\x94\x81\xE2\x94\x81\n\n  \xE2\x9C\x96 Using == may be "
	 "unsafe.\n\n  > 2 \xE2\x94\x82   return a == b;\n",
	 {"src/match.js:2:15", "Using == may be"}},
	{"a high severity among low ones",
	 ">> Issue: [B101:assert_used] Use of assert, error %d\n   Severity: Low   Confidence: "
	 "High\n"
	 "   Location: shop/asset.py:%d\n\n",
	 ">> Issue: [B602:shell] subprocess call with a shell\n   Severity: High   Confidence: "
	 "High\n"
	 "   Location: shop/print.py:6\n\n",
	 {"[B602:shell]", "Severity: High", "shop/print.py:6"}},
	{"the user's own frame in the stack of another thread",
	 "=== RUN   TestError%d\n    cart_test.go:%d: got error as expected: failed\n",
	 "panic: test timed out after 2s\n\ngoroutine 81 [running]:\ntesting.alarm.func1()\n"
	 "\t/usr/lib/go/src/testing/testing.go:2036 +0x8e\ncreated by time.goFunc\n"
	 "\t/usr/lib/go/src/time/sleep.go:176 +0x32\n\ngoroutine 1 [chan receive]:\n"
	 "testing.(*T).Run(0xc000007a00, {0x526f6f?, 0x4b7c65?})\n"
	 "\t/usr/lib/go/src/testing/testing.go:1494 +0x37a\nmain.main()\n"
	 "\t_testmain.go:47 +0x1aa\n\ngoroutine 6 [semacquire]:\n"
	 "sync.(*Mutex).Lock(...)\n\t/usr/lib/go/src/sync/mutex.go:90\n"
	 "example.com/shop/lock.Transfer(0xc000018168)\n\t/home/dev/lock/lock.go:12 +0x73\n\n",
	 {"timed out", "lock.Transfer(", "lock/lock.go:12"}},
	{"the innermost frame of the user's own above the message",
	 "test_%3$s_%1$d (orders.tests.Tests.test_%2$d) ... ok\n",
	 "FAIL: test_rates (orders.tests.Tests)\n-----\nTraceback (most recent call last):\n"
	 "  File \"/usr/lib/python3.12/unittest/case.py\", line 58, in testPartExecutor\n"
	 "    yield\n"
	 "  File \"/home/dev/orders/tests.py\", line 31, in test_rates\n    check(7)\n"
	 "  File \"/home/dev/orders/check.py\", line 9, in check\n    self.assertEqual(a, b)\n"
	 "  File \"/usr/lib/python3.12/unittest/case.py\", line 885, in assertEqual\n"
	 "    assertion_func(first, second, msg=msg)\nAssertionError: 7 != 8\n\n",
	 {"check.py\", line 9", "AssertionError: 7 != 8", "FAIL: test_rates"}},
	{"a thread that waits for a lock, among many that are parked",
	 "\"pool-1-thread-%d\" #%d daemon prio=5 tid=0x7f8c nid=0x555 waiting on condition\n"
	 "   java.lang.Thread.State: WAITING (parking)\n"
	 "\tat java.lang.Thread.run(Thread.java:840)\n\n",
	 "\"transfer\" #9 prio=5 tid=0x7f8d nid=0x38e waiting for monitor entry\n"
	 "   java.lang.Thread.State: BLOCKED (on object monitor)\n"
	 "\tat com.shop.Account.deposit(Account.java:31)\n"
	 "\t- waiting to lock <0x00000000e0c0aa10> (a com.shop.Account)\n\n",
	 {"\"transfer\" #9", "Account.java:31", "- waiting to lock"}},
	{"a goroutine that waits for a lock",
	 "goroutine %d [select]:\nexample.com/shop/pool.worker(0xc0000%d)\n"
	 "\t/home/dev/shop/pool/pool.go:44 +0x5b\n\n",
	 "goroutine 999 [sync.Mutex.Lock, 2 minutes]:\nsync.(*Mutex).Lock(...)\n"
	 "\t/usr/lib/go/src/sync/mutex.go:90\nexample.com/shop/lock.Transfer(0xc000018168)\n"
	 "\t/home/dev/shop/lock/lock.go:12 +0x73\n\n",
	 {"goroutine 999", "lock/lock.go:12"}},
	{"a frame of an assertion above the user's own",
	 "counts seats %d ... ok (%dms)\nversion: error handled\n",
	 "error: Error: Values are not equal\n    at assertEquals "
	 "(file:///home/dev/js/tools.ts:2:54)\n"
	 "    at file:///home/dev/js/seat_test.ts:6:3\n\n",
	 {"seat_test.ts:6:3"}},
	{"the user's own frame below those of a library",
	 "counts seats %d ... ok (%dms)\nversion: error handled\n",
	 "   FAIL  \"fee of a small order\"\n    Expected values to be strictly equal:\n\n"
	 "        ++290    (Expected)\n        --250    (Actual)\n\n"
	 "    at assert (/home/dev/node_modules/uvu/assert/index.js:33:8)\n"
	 "    at Module.is (/home/dev/node_modules/uvu/assert/index.js:41:2)\n"
	 "    at Object.handler (/home/dev/shop/tests/middle_fee.js:6:10)\n"
	 "    at runner (/home/dev/node_modules/uvu/dist/index.js:78:16)\n\n",
	 {"FAIL  \"fee of", "++290", "middle_fee.js:6:10"}},
	{"a warning that fails the run",
	 "[%d of 90] Compiling Shop.%3$s ( src/Error%d.hs )\nerror handler %3$s is registered\n",
	 "src/Fee.hs:12:1: warning: [-Wunused-top-binds]\n    Defined but not used: fee\n\n"
	 "<no location info>: error:\nFailing due to -Werror.\n",
	 {"src/Fee.hs:12:1: warning", "Defined but not used", "Failing due to -Werror"}},
};

static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	(void)ctx;
	return (size_t)snprintf(out, cap, "[... %zu lines]\n",
				(size_t)(piece->to - piece->from + 1));
}

static void add_alike(struct buffer *text, const char *format)
{
	for (int i = 0; i < AROUND; i++) {
		const char name[] = {(char)('a' + i % 26), (char)('e' + i / 26), 't', 0};
		buffer_printf(text, format, i, i % 7 + 1, name);
	}
}

static void show(const struct buffer *text, struct buffer *out)
{
	struct preview_options options = {.limit.mode = MODE_SMART,
					  .limit.fold = FOLD_OVERFLOW,
					  .limit.bytes = SIZE,
					  .limit.head_share = 10,
					  .limit.max_line = 2000};
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

TEST(test_block_is_whole)
{
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

TEST(test_no_quote_without_its_message)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	char quote[32], message[32];
	int quotes = 0;
	for (int i = 10; i < 50; i++)
		buffer_printf(
			&text,
			"error[E%d]: the type %0*d of this value is not the one that is asked "
			"for\n   | call_%d();\n   |     ^\n%d is compiled\n",
			i, 40 + i % 7 * 40, 0, i, i);
	show(&text, &out);
	for (int i = 10; i < 50; i++) {
		snprintf(quote, sizeof(quote), "| call_%d()", i);
		snprintf(message, sizeof(message), "error[E%d]", i);
		if (!strstr(buffer_string(&out), quote))
			continue;
		quotes++;
		if (!strstr(out.data, message))
			fail_msg("%s stands alone in:\n%s", quote, out.data);
	}
	assert_true(quotes > 0 && quotes < 40);
	buffer_release(&text);
	buffer_release(&out);
}

/* Each thread is shown or counted. */
TEST(test_threads_are_counted)
{
	struct preview_options options = {
		.limit.mode = MODE_SMART, .limit.bytes = SIZE, .limit.max_line = 2000};
	struct preview_ask ask = {.status = 1, .marker = marker};
	const struct preview_piece *pieces;
	struct buffer text = BUFFER_INIT;
	struct preview *p = preview_new(&options);
	uint64_t threads = 0;
	assert_non_null(p);
	buffer_append_string(&text, "fatal error: all goroutines are asleep - deadlock!\n\n");
	for (int i = 1; i <= AROUND; i++)
		buffer_printf(&text,
			      "goroutine %d [%s]:\nexample.com/shop/pool.worker(0xc%06x)\n"
			      "\t/home/dev/shop/pool/pool.go:%d +0x5b\n\n",
			      i, i == 70 ? "semacquire" : "select", i, 40 + i % 3);
	buffer_append_string(&text, "exit status 2\n");
	preview_feed(p, text.data, text.len);
	int count = preview_choose(p, &ask, &pieces);
	for (int i = 0; i < count; i++) {
		const char *at = pieces[i].text, *end = at + pieces[i].len;
		threads += pieces[i].threads;
		while (pieces[i].kind == PREVIEW_TEXT &&
		       (at = memmem(at, (size_t)(end - at), "goroutine ", 10))) {
			threads++;
			at += 10;
		}
	}
	assert_int_equal(threads, AROUND);
	preview_free(p);
	buffer_release(&text);
}

TEST_MAIN(NULL, NULL)
