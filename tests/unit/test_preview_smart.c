// Mode smart shows the cause of a failed run and the results of a successful one, whatever the size
// of the text and however it is fed.

#include "lib/buffer.h"
#include "lib/fingerprint.h"
#include "supervisor/preview/preview.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

static size_t marker(void *ctx, const struct preview_piece *piece, char *out, size_t cap)
{
	(void)ctx;
	int n = snprintf(out, cap, "[... lines %" PRIu64 "-%" PRIu64 ", %" PRIu64 " B", piece->from,
			 piece->to, piece->bytes);
	if (piece->spelled)
		n += snprintf(out + n, cap - (size_t)n,
			      ": terse read cmd-1m5zq8k3x7f01 --lines %" PRIu64 "-%" PRIu64,
			      piece->from, piece->to);
	return (size_t)n + (size_t)snprintf(out + n, cap - (size_t)n, "]\n");
}

/* Prints what is chosen; with `middle` only the lines that stand between gaps. */
static void print_chosen(struct preview *p, int status, bool middle, struct buffer *out)
{
	struct preview_ask ask = {.status = status, .marker = marker};
	const struct preview_piece *pieces;
	char mark[512];
	int count = preview_choose(p, &ask, &pieces);
	assert_true(count >= 0);
	int first = 0, last = count;
	while (first < count && pieces[first].kind != PREVIEW_GAP)
		first++;
	while (last > 0 && pieces[last - 1].kind != PREVIEW_GAP)
		last--;
	for (int i = 0; i < count; i++) {
		if (pieces[i].kind != PREVIEW_TEXT) {
			size_t len = marker(NULL, &pieces[i], mark, sizeof(mark));
			if (!middle)
				buffer_append(out, mark, len);
		} else if (!middle || (i > first && i < last)) {
			buffer_append(out, pieces[i].text, pieces[i].len);
		}
	}
}

/* `relevant`, `ignored`: what the user calls so, or NULL. */
static struct preview *smart_for(size_t budget, const struct strings *relevant,
				 const struct strings *ignored)
{
	struct preview_options options = {.limit.mode = MODE_SMART,
					  .limit.fold = FOLD_OVERFLOW,
					  .limit.bytes = budget,
					  .limit.head_share = 10,
					  .limit.max_line = 2000,
					  .limit.patterns = relevant,
					  .limit.ignore = ignored};
	struct preview *p = preview_new(&options);
	assert_non_null(p);
	return p;
}

static struct preview *smart(size_t budget)
{
	return smart_for(budget, NULL, NULL);
}

/* Feeds the text and prints what is chosen of it. */
static void show(struct preview *p, const struct buffer *text, int status, bool middle,
		 struct buffer *out)
{
	preview_feed(p, text->data, text->len);
	print_chosen(p, status, middle, out);
}

static void release(struct preview *p, struct buffer *text, struct buffer *out)
{
	buffer_release(text);
	buffer_release(out);
	preview_free(p);
}

/* Lines as successful steps print them, with words in them that mean failure elsewhere. */
enum noise { COMPILING, TESTING, SERVING, REPORTING, COLLECTING, NOISES };

static void add_noise(struct buffer *b, enum noise noise, int lines)
{
	for (int i = 1; i <= lines; i++) {
		switch (noise) {
		case COMPILING:
			buffer_printf(b,
				      "gcc -Wall -Werror -DNO_ERROR=1 -c -o obj/error_%d.o "
				      "src/error_handler_%d.c\n",
				      i, i);
			break;
		case TESTING:
			buffer_printf(
				b, "test_failing_login_%d (tests.test_errors.FailureTest) ... ok\n",
				i);
			break;
		case SERVING:
			buffer_printf(b,
				      "2024-03-01T10:%02d:07.123Z INFO [worker-%d] handled request "
				      "%d in %d ms, no errors\n",
				      i % 60, i % 4, i, i % 17);
			break;
		case REPORTING:
			buffer_printf(b,
				      "[INFO] Tests run: %d, Failures: 0, Errors: 0, Skipped: 0, "
				      "Time elapsed: 0.%d s - in org.example.ErrorTest%d\n",
				      i % 9 + 1, i % 7, i);
			break;
		default:
			buffer_printf(b,
				      "Collecting exceptions-%d\n  Using cached "
				      "exceptions_%d-1.0-py3-none-any.whl\n",
				      i, i);
			break;
		}
	}
	assert_non_null(buffer_string(b));
}

/* The output of a tool when something fails, and the part of it that must be shown. */
static const struct {
	const char *name, *text;
	const char *shown[3];
} failures[] = {
	{"gcc",
	 "src/q.c: In function 'q':\n"
	 "src/q.c:2:21: error: 'missing_var' undeclared (first use in this function)\n"
	 "    2 | int q(void){ return missing_var + 1; }\n"
	 "      |                     ^~~~~~~~~~~\n"
	 "make: *** [Makefile:5: q.o] Error 1\n",
	 {"'missing_var' undeclared", "make: *** [Makefile:5: q.o] Error 1"}},
	{"ld",
	 "/usr/bin/ld: obj/q.o: in function `q57':\n"
	 "q.c:(.text+0x9): undefined reference to `not_there'\n"
	 "collect2: error: ld returned 1 exit status\n",
	 {"undefined reference to `not_there'", "in function `q57'"}},
	{"python",
	 "Traceback (most recent call last):\n"
	 "  File \"/srv/app/load.py\", line 11, in <module>\n"
	 "    main()\n"
	 "  File \"/srv/app/load.py\", line 5, in main\n"
	 "    return json.load(f)\n"
	 "json.decoder.JSONDecodeError: Expecting property name: line 1 column 9 (char 8)\n",
	 {"JSONDecodeError: Expecting property name", "load.py\", line 5, in main"}},
	{"unittest",
	 "======================================================================\n"
	 "FAIL: test_total (tests.test_cart.CartTest)\n"
	 "----------------------------------------------------------------------\n"
	 "Traceback (most recent call last):\n"
	 "  File \"/srv/tests/test_cart.py\", line 7, in test_total\n"
	 "    self.assertEqual(total, 99)\n"
	 "AssertionError: 12 != 99\n",
	 {"FAIL: test_total", "AssertionError: 12 != 99"}},
	{"pytest",
	 "=================================== FAILURES ===================================\n"
	 "___________________________________ test_sum ___________________________________\n"
	 "\n"
	 "    def test_sum():\n"
	 ">       assert total([1, 2]) == 4\n"
	 "E       assert 3 == 4\n"
	 "\n"
	 "tests/test_sum.py:4: AssertionError\n",
	 {"_ test_sum _", "E       assert 3 == 4"}},
	{"jest",
	 "FAIL src/cart.test.js\n"
	 "  \xE2\x97\x8F Cart \xE2\x80\xBA adds items\n"
	 "\n"
	 "    expect(received).toBe(expected) // Object.is equality\n"
	 "\n"
	 "    Expected: 3\n"
	 "    Received: 2\n"
	 "\n"
	 "      at Object.<anonymous> (src/cart.test.js:9:22)\n",
	 {"FAIL src/cart.test.js", "Cart \xE2\x80\xBA adds items", "Received: 2"}},
	{"mocha",
	 "  1) Router\n"
	 "       keeps the query:\n"
	 "     AssertionError: expected '/a' to equal '/a?b=1'\n"
	 "      at Context.<anonymous> (test/router.js:31:20)\n",
	 {"1) Router", "expected '/a' to equal '/a?b=1'"}},
	{"cargo",
	 "test tests::panics_on_overflow ... FAILED\n"
	 "\n"
	 "failures:\n"
	 "\n"
	 "---- tests::panics_on_overflow stdout ----\n"
	 "thread 'tests::panics_on_overflow' panicked at src/lib.rs:304:5:\n"
	 "assertion `left == right` failed: wrong sum\n"
	 "  left: 42\n"
	 " right: 43\n",
	 {"panics_on_overflow ... FAILED", "failed: wrong sum", "right: 43"}},
	{"go",
	 "--- FAIL: TestDial (0.02s)\n"
	 "    dial_test.go:41: dial tcp 127.0.0.1:1: connect: connection refused\n"
	 "FAIL\n"
	 "FAIL\texample.org/net/dial\t0.031s\n",
	 {"--- FAIL: TestDial", "connection refused"}},
	{"gradle",
	 "com.example.CartTest > totalIsRounded FAILED\n"
	 "    org.opentest4j.AssertionFailedError: expected: <3> but was: <2>\n"
	 "        at com.example.CartTest.totalIsRounded(CartTest.java:22)\n",
	 {"totalIsRounded FAILED", "expected: <3> but was: <2>"}},
	{"gtest",
	 "[ RUN      ] Ring.Wraps\n"
	 "ring_test.cc:40: Failure\n"
	 "Expected equality of these values:\n"
	 "  ring.size()\n"
	 "    Which is: 7\n"
	 "  8\n"
	 "[  FAILED  ] Ring.Wraps (0 ms)\n",
	 {"ring_test.cc:40: Failure", "Which is: 7", "[  FAILED  ] Ring.Wraps"}},
	{"tap",
	 "not ok 151 - case 151 keeps order\n"
	 "#   Failed test 'case 151 keeps order'\n"
	 "#   at t/order.t line 9.\n"
	 "#          got: '7'\n"
	 "#     expected: '8'\n",
	 {"not ok 151", "expected: '8'"}},
	{"asan",
	 "=================================================================\n"
	 "==26785==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x604000000038\n"
	 "READ of size 4 at 0x604000000038 thread T0\n"
	 "    #0 0x5620e2e49233 in sum /srv/a.c:3\n"
	 "    #1 0x5620e2e49333 in main /srv/a.c:4\n"
	 "SUMMARY: AddressSanitizer: heap-buffer-overflow /srv/a.c:3 in sum\n",
	 {"ERROR: AddressSanitizer: heap-buffer-overflow", "in sum /srv/a.c:3"}},
	{"shell",
	 "+ mkdir -p out\n"
	 "+ cp config.yaml.in out/config.yaml\n"
	 "cp: cannot stat 'config.yaml.in': No such file or directory\n",
	 {"cp: cannot stat 'config.yaml.in'", "+ cp config.yaml.in"}},
	{"npm",
	 "npm error code E404\n"
	 "npm error 404 Not Found - GET https://registry.npmjs.org/nothing-there - Not found\n"
	 "npm error A complete log of this run can be found in: /root/.npm/_logs/1.log\n",
	 {"npm error code E404", "nothing-there - Not found"}},
	{"apt",
	 "Reading package lists...\nBuilding dependency tree...\n"
	 "E: Unable to locate package no-such-package\n",
	 {"E: Unable to locate package no-such-package"}},
	{"git",
	 "Auto-merging src/main.c\n"
	 "CONFLICT (content): Merge conflict in src/main.c\n"
	 "Automatic merge failed; fix conflicts and then commit the result.\n",
	 {"CONFLICT (content): Merge conflict in src/main.c"}},
	{"disk",
	 "tar: build/image.bin: Wrote only 4096 of 10240 bytes: No space left on device\n",
	 {"No space left on device"}},
	{"killed", "build.sh: line 12:  4242 Killed                  ./link --all\n", {"Killed"}},
	{"missing", "build.sh: line 9: protoc: command not found\n", {"protoc: command not found"}},
	{"stamp", "11/29-07:12 src/cart.c:7:3: lease of a pool\n", {"lease of a pool"}},
};

/* The cause may be at the end, or long before it. */
TEST(test_failures)
{
	static const int behind[] = {0, 40, 900};
	for (size_t i = 0; i < sizeof(failures) / sizeof(*failures); i++) {
		for (int noise = 0; noise < NOISES; noise++) {
			for (size_t k = 0; k < sizeof(behind) / sizeof(*behind); k++) {
				struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
				struct preview *p = smart(2048);
				add_noise(&text, (enum noise)noise, 700);
				buffer_append_string(&text, failures[i].text);
				add_noise(&text, (enum noise)noise, behind[k]);
				show(p, &text, 1, false, &out);
				buffer_string(&out);
				for (int s = 0; s < 3 && failures[i].shown[s]; s++) {
					if (!strstr(out.data, failures[i].shown[s]))
						fail_msg("%s, noise %d, %d behind: %s is not "
							 "in:\n%s",
							 failures[i].name, noise, behind[k],
							 failures[i].shown[s], out.data);
				}
				release(p, &text, &out);
			}
		}
	}
}

/* Of each failure the lines below its heading are shown, behind the frames of a stack too. */
TEST(test_blocks)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(1500);
	add_noise(&text, TESTING, 300);
	for (int i = 0; i < 40; i++)
		buffer_printf(&text,
			      "ERROR: test_%d (shop.CartTest)\n"
			      "----------------------------------------------\n"
			      "Traceback (most recent call last):\n"
			      "  File \"/srv/tests/test_cart.py\", line %d, in test_%d\n"
			      "    self.fill(cart, %d)\n"
			      "LookUp: shelf %d\n\n",
			      i, i, i, i, i);
	buffer_append_string(&text, "Tests in error:\n  shelf of cart 7\n  shelf of cart 9\n");
	add_noise(&text, TESTING, 300);
	show(p, &text, 1, false, &out);
	assert_non_null(strstr(buffer_string(&out), "ERROR: test_0 (shop.CartTest)"));
	assert_non_null(strstr(out.data, "LookUp: shelf 0\n"));
	assert_non_null(strstr(out.data, "Tests in error:\n  shelf of cart 7\n"));
	release(p, &text, &out);
}

/* The message of a section is shown before the values and the source above it. */
TEST(test_sections)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(1500);
	add_noise(&text, TESTING, 300);
	for (int i = 0; i < 40; i++)
		buffer_printf(&text,
			      "______________________ TestCart.test_%d ______________________\n\n"
			      "self = <test_cart.TestCart object at 0x%d>\nitems = [1, 2, 3]\n\n"
			      "    def test_%d(self, items):\n"
			      ">       assert self.total(items) == %d\n"
			      "E       AttributeError: 'TestCart' has no attribute 'total%d'\n\n",
			      i, i, i, i, i % 3);
	for (int i = 0; i < 40; i++)
		buffer_printf(&text, "FAILED test_cart.py::TestCart::test_%d\n", i);
	buffer_append_string(&text, "40 failed in 1.2s\n");
	show(p, &text, 1, false, &out);
	assert_non_null(strstr(buffer_string(&out), " TestCart.test_0 "));
	assert_non_null(strstr(out.data, "E       AttributeError: 'TestCart' has no attribute"));
	assert_non_null(strstr(out.data, "40 failed in 1.2s"));
	release(p, &text, &out);
}

/* A title of a test that fails is shown among those of tests that pass, whatever words are in them.
 */
TEST(test_titles)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(2048);
	add_noise(&text, COMPILING, 100);
	for (int i = 0; i < 60; i++)
		buffer_printf(&text,
			      "  Fatal Error %d\n    Crash of panic() %d\n"
			      "      \xE2\x9C\x93 aborts when invalid (%d ms)\n",
			      i, i, i);
	buffer_append_string(&text, "  Parser\n    1) keeps names\n");
	add_noise(&text, COMPILING, 100);
	show(p, &text, 1, false, &out);
	assert_non_null(strstr(buffer_string(&out), "1) keeps names"));
	release(p, &text, &out);
}

/* Of many lines with words of failure and no mark of one, few are shown. */
TEST(test_crowds)
{
	static const char *const crowds[] = {
		"  * Fix crash when %s fails with fatal error #%d\n",
		"-- Looking for %s errors - not found, exception %d disabled\n",
		"TASK [check %s for errors] **** %d\n",
		"# Subtest: error handling of %s fails gracefully %d\n",
		"12:00:01 [main] ERROR shop.Cart - could not load %s: expected failure %d\n",
	};
	static const char *const names[] = {"parser", "socket", "cache", "invoice",
					    "login",  "upload", "queue"};
	for (size_t c = 0; c < sizeof(crowds) / sizeof(*crowds); c++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		struct preview *p = smart(4096);
		for (int i = 0; i < 200; i++) {
			buffer_printf(&text, crowds[c], names[i % 7], i);
			if (i == 100)
				buffer_append_string(&text, "ring.c:40:9: error: too few rings\n");
		}
		show(p, &text, 1, true, &out);
		assert_non_null(strstr(buffer_string(&out), "error: too few rings"));
		if (out.len > 2048)
			fail_msg("%s: %s", crowds[c], out.data);
		release(p, &text, &out);
	}
}

/* A successful run shows its results and puts nothing forward as an error. */
TEST(test_successes)
{
	static const char *const traps[] = {
		"no errors",     "Failures: 0, Errors: 0, Skipped: 0, Time",
		"error_handler", "test_failing",
		"FailureTest",   "exceptions"};
	static const char results[] =
		"Ran 700 tests in 3.2s\n\nOK: 690 passed, 10 skipped, 0 failed\n"
		"src/old.c:12:3: warning: 'gets' is deprecated\n"
		"Successfully built demo-1.0.tar.gz\n";
	for (int noise = 0; noise < NOISES; noise++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT, middle = BUFFER_INIT;
		struct preview *p = smart(4096);
		add_noise(&text, (enum noise)noise, 700);
		buffer_append_string(&text, results);
		add_noise(&text, (enum noise)noise, 300);
		show(p, &text, 0, false, &out);
		print_chosen(p, 0, true, &middle);
		assert_non_null(strstr(buffer_string(&out), "690 passed"));
		assert_non_null(strstr(out.data, "warning: 'gets' is deprecated"));
		assert_non_null(strstr(out.data, "Successfully built demo-1.0.tar.gz"));
		for (size_t i = 0; i < sizeof(traps) / sizeof(*traps); i++) {
			if (strstr(buffer_string(&middle), traps[i]))
				fail_msg("noise %d: %s is in:\n%s", noise, traps[i], middle.data);
		}
		buffer_release(&middle);
		release(p, &text, &out);
	}
}

/* The end of a success goes up to what looks like a failure and is none, but for its last lines. */
TEST(test_success_ends)
{
	static const struct {
		const char *alarm, *last;
		bool shown;
	} ends[] = {
		{"  \xE2\x9C\x94 reports a failure of disk sda%d", "\n  90 passing (2s)\n", false},
		{"test net::error_%d_is_fatal_on_sda%d ... ok", "\n90 passed\n", false},
		{"cc -o error_%d.o -DDISK=sda%d error.c", "linked\n", false},
		{"ERROR: disk sda%d is full, and nothing is kept of what is written to it until "
		 "there is "
		 "room on it again",
		 "compiling src/b.c, 5 of 300\nended\n", false},
		{"ERROR: disk sda%d is full", "make: *** [all] Error 2\n", true},
	};
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		struct preview *p = smart(4096);
		for (int line = 0; line < 300; line++)
			buffer_printf(&text,
				      i == 2 ? "cc -o part_%d.o part_%d.c\n"
					     : "compiling src/part_%d.c, %d of 300\n",
				      line, line);
		for (int line = 0; line < 6; line++) {
			buffer_printf(&text, ends[i].alarm, line, line);
			buffer_append_string(&text, "\n");
		}
		buffer_append_string(&text, ends[i].last);
		show(p, &text, 0, false, &out);
		if (!strstr(buffer_string(&out), "sda5") == ends[i].shown)
			fail_msg("end %zu: %s", i, out.data);
		if (!strstr(out.data, ends[i].last))
			fail_msg("end %zu without its last lines: %s", i, out.data);
		release(p, &text, &out);
	}
}

/* Many warnings that begin alike do not fill a success. */
TEST(test_many_warnings)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(4096);
	for (int i = 0; i < 200; i++)
		buffer_printf(&text, "npm WARN deprecated %c%c@%d.0.0: use %c instead\n",
			      'a' + i % 26, 'a' + i % 7, i, 'a' + i % 11);
	buffer_append_string(&text, "added 12 packages\n");
	show(p, &text, 0, false, &out);
	assert_non_null(strstr(buffer_string(&out), "added 12 packages"));
	assert_in_range(out.len, 1, 2048);
	release(p, &text, &out);
}

/* Lines that the user calls relevant are preferred, lines that the user ignores are not; in the
   middle of a large text, too, and whatever the exit status. */
TEST(test_patterns)
{
	char *phrases[] = {(char *)"Quota*USED up", (char *)"z*spare parts", NULL};
	char *ignored[] = {(char *)"error 17", NULL};
	const struct strings patterns = {phrases, 2}, ignore = {ignored, 1};
	for (int status = 0; status < 2; status++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		struct preview *p = smart_for(2048, &patterns, &ignore);
		add_noise(&text, COMPILING, 20000);
		buffer_append_string(&text, "host a: error 17: known for long\n"
					    "host a: the QUOTA of disk 3 is used UP again\n");
		add_noise(&text, COMPILING, 40000);
		buffer_append_string(&text, "host b: error 17: known for long\n"
					    "host b: the quota of disk 4 is used up again\n");
		add_noise(&text, COMPILING, 20000);
		buffer_append_string(&text, "host c: zone 5 has few spare parts\n");
		add_noise(&text, COMPILING, 20000);
		assert_true(text.len > 4u << 20);
		show(p, &text, status, false, &out);
		assert_non_null(strstr(buffer_string(&out), "QUOTA of disk 3"));
		assert_non_null(strstr(out.data, "quota of disk 4"));
		assert_non_null(strstr(out.data, "zone 5 has few"));
		release(p, &text, &out);
	}
}

/* A question raises the lines that have its words, and none without it. */
TEST(test_about)
{
	for (int asked = 0; asked < 2; asked++) {
		struct preview_options options = {.limit.mode = MODE_SMART,
						  .limit.fold = FOLD_OVERFLOW,
						  .limit.bytes = 2048,
						  .limit.max_line = 2000,
						  .limit.about =
							  asked ? " of POOL  workers " : NULL};
		for (int status = 0; status < 2; status++) {
			struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
			struct preview *p = preview_new(&options);
			add_noise(&text, COMPILING, 60000);
			buffer_append_string(&text, "the pool is of 12 Workers\n");
			add_noise(&text, COMPILING, 20000);
			show(p, &text, status, false, &out);
			assert_true(!strstr(buffer_string(&out), "12 Workers") == !asked);
			release(p, &text, &out);
		}
	}
}

/* Lines that have nothing in common. */
static void add_words(struct buffer *b, int lines)
{
	for (int i = 0; i < lines; i++)
		buffer_printf(b, "%c%c%c went by\n", 'a' + i % 26, 'a' + i / 26, 'a' + i % 7);
}

TEST(test_ignored)
{
	char *known[] = {(char *)"known for long", NULL};
	const struct strings ignore = {known, 1};
	for (int ignored = 0; ignored < 2; ignored++) {
		struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
		struct preview *p = smart_for(2048, NULL, ignored ? &ignore : NULL);
		add_words(&text, 300);
		buffer_append_string(&text, "fatal: disk 3 is broken (known for long)\n");
		add_words(&text, 300);
		show(p, &text, 1, true, &out);
		assert_int_equal(strstr(buffer_string(&out), "disk 3 is broken") == NULL, ignored);
		release(p, &text, &out);
	}
}

/* The relevant part of a very long line is shown with its surroundings. */
TEST(test_long_line)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(2048);
	add_noise(&text, TESTING, 100);
	buffer_append_string(&text, "fatal: [host]: FAILED! => {");
	for (int i = 0; i < 300; i++)
		buffer_printf(&text, "\"step %d\": \"changed\", ", i);
	buffer_append_string(&text, "\"msg\": \"rm failed: Read-only file system: /var\"");
	for (int i = 0; i < 300; i++)
		buffer_printf(&text, ", \"later %d\": \"skipped\"", i);
	buffer_append_string(&text, "}\n");
	add_noise(&text, TESTING, 100);
	show(p, &text, 2, false, &out);
	assert_non_null(strstr(buffer_string(&out), "fatal: [host]: FAILED!"));
	assert_non_null(strstr(out.data, "rm failed: Read-only file system: /var"));
	release(p, &text, &out);
}

/* The first error of a cascade is shown, and the summary at its end. */
TEST(test_cascade)
{
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct preview *p = smart(2048);
	add_noise(&text, COMPILING, 50);
	buffer_append_string(&text, "parse.c:10:1: error: expected ';' before 'int'\n");
	for (int i = 11; i < 900; i++)
		buffer_printf(&text, "parse.c:%d:5: error: 'x' undeclared\n", i);
	buffer_append_string(&text, "make: *** [Makefile:9: parse.o] Error 1\n");
	show(p, &text, 2, false, &out);
	assert_non_null(strstr(buffer_string(&out), "parse.c:10:1: error: expected ';'"));
	assert_non_null(strstr(out.data, "parse.c:11:5: error: 'x' undeclared"));
	assert_non_null(strstr(out.data, "make: *** [Makefile:9: parse.o] Error 1"));
	release(p, &text, &out);
}

/* With more room no fewer of many failures are shown. */
TEST(test_room)
{
	static const size_t sizes[] = {8192, 12288, 16384, 32768, 65536};
	struct buffer text = BUFFER_INIT;
	size_t before = 0, first = 0;
	for (int i = 0; i < 200; i++) {
		add_noise(&text, (enum noise)(i % NOISES), 60);
		buffer_printf(&text, "error: the %c%c%c table is wrong at %c%c\n", 'a' + i % 26,
			      'a' + i % 7, 'a' + i % 11, 'a' + i % 5, 'a' + i % 23);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct preview *p = smart(sizes[i]);
		struct buffer out = BUFFER_INIT;
		size_t shown = 0;
		show(p, &text, 1, false, &out);
		for (const char *at = buffer_string(&out);
		     (at = strstr(at, "\nerror: the ")) != NULL; at++)
			shown++;
		assert_true(shown >= before);
		before = shown;
		first = first ? first : shown;
		buffer_release(&out);
		preview_free(p);
	}
	assert_true(before > first);
	buffer_release(&text);
}

/* Several megabytes: the search takes over, lines are dropped, blocks are slid. */
static void large_text(struct buffer *b)
{
	for (int i = 0; i < 60; i++) {
		add_noise(b, (enum noise)(i % NOISES), 900);
		if (i % 7 == 3) {
			for (int k = 0; k < 3000 * (i % 11); k++)
				buffer_printf(b, "%d fail ", k);
			buffer_append_string(b, "\n");
		}
		if (i % 5 == 4)
			buffer_append_string(b, failures[i % 20].text);
		if (i == 41)
			buffer_append_string(b, "kernel: panic: the one line that tells why\n");
	}
	buffer_append_string(b, "unfinished");
}

TEST(test_large)
{
	static const size_t steps[] = {SIZE_MAX, 65536, 4096, 1000, 37};
	struct buffer text = BUFFER_INIT, first = BUFFER_INIT;
	large_text(&text);
	assert_true(text.len > 4u << 20);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct buffer out = BUFFER_INIT, unused = BUFFER_INIT;
		struct preview *p = smart(4096);
		size_t n, calls = 0;
		for (size_t at = 0; at < text.len; at += n) {
			n = text.len - at < steps[i] ? text.len - at : steps[i];
			preview_feed(p, text.data + at, n);
			/* Asking in between changes nothing. */
			if (++calls % 1000 == 0) {
				buffer_clear(&unused);
				print_chosen(p, -1, false, &unused);
			}
		}
		assert_int_equal(preview_facts(p).bytes, text.len);
		print_chosen(p, 1, false, &out);
		assert_true(out.len <= 4096 + 400);
		assert_non_null(strstr(buffer_string(&out), "the one line that tells why"));
		if (i == 0)
			buffer_append(&first, out.data, out.len + 1);
		else
			assert_string_equal(out.data, first.data);
		buffer_release(&out);
		buffer_release(&unused);
		preview_free(p);
	}
	buffer_release(&text);
	buffer_release(&first);
}

static int no_fingerprint(void *ctx, uint64_t *print)
{
	(void)ctx;
	(void)print;
	return 0;
}

/* Expected and received values are shown with their message, however many lines they are. */
TEST(values_are_shown_with_their_message)
{
	struct buffer text = {0}, out = {0};
	struct preview *p = smart(2048);
	add_noise(&text, COMPILING, 200);
	buffer_printf(&text, "FAIL test/order.test.js\nAssertionError: values differ\n");
	for (int i = 0; i < 12; i++)
		buffer_printf(&text, "%c \"field%c\": %d,\n", "+-"[i % 2], 'a' + i, i);
	buffer_printf(&text, "  10| expect(order).toEqual(wanted)\n");
	add_noise(&text, SERVING, 200);
	show(p, &text, 1, false, &out);
	assert_non_null(strstr(out.data, "+ \"fielda\": 0,\n- \"fieldb\": 1,"));
	assert_non_null(strstr(out.data, "- \"fieldl\": 11,\n  10| expect(order)"));
	release(p, &text, &out);
}

/* What a step has said last is above the line with its status, however plain it is. */
TEST(what_is_above_a_status_is_shown)
{
	struct buffer text = {0}, out = {0};
	struct preview *p = smart(2048);
	add_noise(&text, COMPILING, 200);
	buffer_printf(&text, "man/summary.md is required for bin/summary\n"
			     "The command \"./check.sh\" exited with 1.\n");
	add_noise(&text, SERVING, 200);
	show(p, &text, 1, false, &out);
	assert_non_null(strstr(out.data, "man/summary.md is required"));
	assert_non_null(strstr(out.data, "exited with 1."));
	release(p, &text, &out);
}

/* What only the failing run says weighs more, the worst line of all and what stands behind it, too.
 */
TEST(test_news)
{
	const struct fingerprints none = {.next = no_fingerprint};
	struct preview *p = smart(2048);
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	for (int i = 0; i < 400; i++)
		buffer_printf(&text, "the quiet line %d of a text in which nothing goes wrong\n",
			      i);
	buffer_append_string(&text, "Caused by: panic: segmentation fault:\n  details of it\n");
	preview_feed(p, text.data, text.len);
	preview_compare(p, &none);
	print_chosen(p, 1, false, &out);
	assert_non_null(strstr(buffer_string(&out), "segmentation fault:\n  details of it\n"));
	release(p, &text, &out);
}

TEST_MAIN(NULL, NULL)
