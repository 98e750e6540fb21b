// Which tests failed, now and before: right, or nothing, for sequences of what real runners have
// printed, and for texts that try to make it say what is not so.

#include "supervisor/compare/since.h"

#include "tests/unit/cases.h"

#include <time.h>

#define FOLDER "tests/outcomes"

static void compare(struct wording_since *told, const char *before, const char *now, bool succeeded)
{
	const char *const data[] = {now, "", before, ""};
	struct text texts[4];
	for (int i = 0; i < 4; i++)
		texts[i] = (struct text){.fd = -1,
					 .idx = -1,
					 .dir = -1,
					 .json = -1,
					 .memory = {.data = data[i], .len = strlen(data[i])},
					 .size = strlen(data[i])};
	*told = (struct wording_since){.id = ""};
	since_compare_tests(told, texts, succeeded);
}

/* The text of a runner in a state. */
static char *read_state(const char *runner, int state)
{
	char path[128], *line = NULL, *text = NULL;
	size_t cap = 0, size;
	int at = -1;
	snprintf(path, sizeof(path), FOLDER "/%s.runs", runner);
	FILE *file = fopen(path, "re"), *out = open_memstream(&text, &size);
	assert_true(file && out);
	while (getline(&line, &cap, file) > 0) {
		if (sscanf(line, "== state %d", &at) != 1 && at == state)
			fputs(line, out);
	}
	free(line);
	fclose(file);
	fclose(out);
	assert_true(size > 0);
	return text;
}

static void check_sequence(const char *sequence, const char *wanted)
{
	struct wording_since told;
	char runner[32];
	int before, now;
	assert_int_equal(sscanf(sequence, "%31s %d %d", runner, &before, &now), 3);
	char *texts[] = {read_state(runner, before), read_state(runner, now)};
	compare(&told, texts[0], texts[1], now == 3);
	if (strcmp(*told.tests ? told.tests : "silent", wanted) != 0)
		fail_msg("%s: %s", sequence, told.tests);
	free(texts[0]);
	free(texts[1]);
}

TEST(real_runners)
{
	cases_each(FOLDER "/sequences.cases", check_sequence);
}

/* What is told of two texts of a run that failed. */
static void check(const char *before, const char *now, const char *expected)
{
	struct wording_since told;
	compare(&told, before, now, false);
	assert_string_equal(told.tests, expected);
}

#define A    "FAILED t.py::test_a - assert 1\n"
#define B    "FAILED t.py::test_b\n"
#define SUM1 "1 failed, 3 passed in 0.1s\n"
#define SUM2 "=== 2 failed, 2 passed, 1 warning in 61.02s (0:01:01) ===\n"

TEST(the_same)
{
	check(A B SUM2, B A SUM2, "failed: 2 (the same)");
	check("", "", "");
	check("5 passed in 1.00s\n", "5 passed in 1.00s\n", "");
}

TEST(names_as_many_as_counted)
{
	check(A SUM1, B SUM1, "failed: 1 (new: t.py::test_b; no longer: t.py::test_a)");
	check(A SUM1, B SUM2, "");
	check(A SUM2, B SUM1, "");
	check(A SUM1, B, "");
	check(A SUM1, B SUM1 SUM1, "");
	/* A line that a test prints. */
	check(A SUM1, B A SUM1, "");
	check(A SUM1, B SUM1 "3 passed in 0.1s\nt.py::test_a PASSED\n", "");
	check(A SUM1, B "t.py::test_a PASSED\n" SUM1,
	      "failed: 1 (new: t.py::test_b; no longer: t.py::test_a)");
	/* It failed, and then passed. */
	check(A SUM1, B "t.py::test_b PASSED [ 10%]\n" SUM1, "");
	check(A SUM1, B "1 failed, 3 passed, 1 rerun in 0.1s\n", "");
	check(A SUM1, B "1 failed, 3 passed, 1 error in 0.1s\n", "");
}

/* The least processor time, of three tries, for long lines: each `beginning` and many times `unit`.
   In ns. */
static int64_t look(const char *beginning, char unit)
{
	char text[32 * 4096 + 1] = "";
	int64_t least = INT64_MAX;
	for (char *line = text; line < text + sizeof(text) - 1; line += 4096) {
		memset(line, unit, 4095);
		memcpy(line, beginning, strlen(beginning));
		line[4095] = '\n';
	}
	for (int i = 0; i < 3; i++) {
		struct timespec from, to;
		struct wording_since told;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		compare(&told, text, "", false);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		int64_t ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
		least = ns < least ? ns : least;
	}
	return least;
}

/* The time does not grow by the square of a line's length, which would be over 100 times that
   of a name. */
TEST(long_lines)
{
	const int64_t most = 40 * look("    1) ", 'a');
	assert_in_range(look("Tests: ", '1'), 0, most);
	assert_in_range(look("ok 1 ", ' '), 0, most);
}

TEST(what_did_not_run)
{
	check(A B SUM2, B "!!!!!!!! stopping after 1 failures !!!!!!!!\n1 failed, 3 passed in 1s\n",
	      "");
	check(A SUM1, B "1 failed, 3 passed, 2 deselected in 0.1s\n",
	      "failed: 1 (new: t.py::test_b)");
	check(A "1 failed, 3 passed, 2 deselected in 0.1s\n", B SUM1, "");
	check(A SUM1, B "1 failed, 2 passed in 0.1s\n", "failed: 1 (new: t.py::test_b)");
	check(A SUM1, A B "2 failed, 3 passed in 0.1s\n", "failed: 2 (new: t.py::test_b)");
	check(A "1 failed, 1 passed in 0.1s\n", A B SUM2, "");
	check("run-last-failure: rerun previous 1 failure\n" A "1 failed in 0.1s\n", B SUM1, "");
}

TEST(several_runners)
{
#define CARGO "test result: ok. 1 passed; 0 failed; 0 ignored; finished in 0.1s\n"
	check(A SUM1 "test c ... ok\n" CARGO, B SUM1 "test c ... ok\n" CARGO,
	      "failed: 1 (new: t.py::test_b; no longer: t.py::test_a)");
	check(A SUM1 "test c ... FAILED\n" CARGO, B SUM1 "test c ... ok\n" CARGO, "");
	/* It can't be told of a run of pytest that is missing what did not run. */
	check("1 passed in 0.1s\n" A SUM1, B "1 failed, 4 passed in 0.1s\n", "");
	check(A SUM1, "4 passed in 0.1s\n" B "1 failed in 0.1s\n", "");
	check("4 passed in 0.1s\n" A "1 failed in 0.1s\n",
	      "4 passed in 0.1s\n" B "1 failed in 0.1s\n",
	      "failed: 1 (new: t.py::test_b; no longer: t.py::test_a)");
}

/* A name of one runner makes up for one that another counts and does not name. */
TEST(runner_without_names)
{
#define JEST "Tests:       1 failed, 3 passed, 4 total\n"
#define CTEST(a, b)                                         \
	"1/2 Test #1: a ....." a "\n2/2 Test #2: b ....." b \
	"\n50% tests passed, 1 tests failed out of 2\n"
#define BAD  "***Failed    0.01 sec"
#define GOOD "   Passed    0.01 sec"
	check(CTEST(BAD, GOOD), CTEST(GOOD, BAD), "failed: 1 (new: b; fixed: a)");
	check(JEST CTEST(BAD, GOOD), JEST CTEST(GOOD, BAD), "");
}

/* As many as were run are named, since a line that runs one and a line that fails another are both
   behind what a test printed. */
TEST(unfinished_lines)
{
#define GO "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestC\n"
	check(GO "--- PASS: TestC (0.00s)\n",
	      "=== RUN   TestA\nx=== RUN   TestA/s\n--- PASS: TestA (0.00s)\n"
	      "    --- PASS: TestA/s (0.00s)\n=== RUN   TestB\ny--- FAIL: TestB (0.00s)\n"
	      "=== RUN   TestC\n--- FAIL: TestC (0.00s)\n",
	      "");
}

TEST(suite_of_node)
{
	check("✔ A (1.2ms)\n✔ works (1.2ms)\nℹ suites 0\nℹ pass 2\nℹ fail 0\n",
	      "✖ A (1.2ms)\nℹ suites 3\nℹ pass 0\nℹ fail 2\n✖ works (1ms)\n✖ works (1ms)\n", "");
}

TEST(names)
{
	check("FAILED t.py::test_v[a - b] - x\n" SUM1, "FAILED t.py::test_v[a - c]\n" SUM1,
	      "failed: 1 (new: \"t.py::test_v[a - c]\"; no longer: \"t.py::test_v[a - b]\")");
	/* Not masked: a number makes another test. */
	check("FAILED t.py::test_1\n" SUM1, "FAILED t.py::test_2\n" SUM1,
	      "failed: 1 (new: t.py::test_2; no longer: t.py::test_1)");
	check(A SUM1, "FAILED t.py::test_v[a] - b] - x\n" SUM1, "");
	/* Two values may have been redacted to one. */
	check("FAILED t.py::test_v[[redacted]]\n" SUM1, "FAILED t.py::test_v[[redacted]]\n" SUM1,
	      "");
	/* Nothing that would break out of the line. */
	check(A SUM1, "FAILED t.py::test_\"x]\n" SUM1, "");
	check(A SUM1, "FAILED t.py::test_\xe2\x80\xae\n" SUM1, "");
	check(A SUM1, "FAILED t.py::test_\x1b[2J\n" SUM1, "");
	/* The same name in two packages, or crates, is no name. */
	check("=== RUN   TestA\n--- FAIL: TestA (0.00s)\n",
	      "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestA\n--- FAIL: TestA "
	      "(0.00s)\n",
	      "");
	check("=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB "
	      "(0.00s)\n",
	      "=== RUN   TestB\n--- FAIL: TestB (0.00s)\n=== RUN   TestA\n--- PASS: TestA (0.00s)\n"
	      "=== RUN   TestC\npanic: x\n",
	      "");
}

TEST(many_names)
{
	char now[40 * 64] = "", *end = now;
	for (int i = 0; i < 40; i++)
		end += snprintf(end, (size_t)(now + sizeof(now) - end),
				"FAILED tests/modules/test_module.py::test_%02d\n", i);
	/* The last name is counted, too, though it would fit. */
	snprintf(end, (size_t)(now + sizeof(now) - end), "FAILED a::b\n41 failed in 0.1s\n");
	check("41 passed in 0.1s\n", now,
	      "failed: 41 (new: tests/modules/test_module.py::test_00, "
	      "tests/modules/test_module.py::test_01 and 39 more)");
}

TEST(tap)
{
	check("1..2\nnot ok 1 - a b # time=1ms\nok 2 c\n",
	      "1..2\nok 1 - a b # time=3ms\nnot ok 2 c\n", "failed: 1 (new: c; fixed: \"a b\")");
	check("1..2\nnot ok 1 - a\nok 2 - b # SKIP why\n", "1..2\nok 1 - a\nok 2 - b # SKIP why\n",
	      "");
	check("1..2\nnot ok 1 - a\nok 2 - b # SKIP why\n", "1..2\nok 1 - b # skip\nnot ok 2 - a\n",
	      "failed: 1 (the same)");
	check("1..2\nnot ok 1 - a\nok 2 - b # SKIP why\n", "1..2\nok 1 - a\nnot ok 2 - b\n", "");
	check("1..3\nnot ok 1 - a\nok 2 c\nok 3 - d\n", "1..3\nok 1 - a\nnot ok 2 c\n", "");
	check("1..2\nnot ok 1 - a\nok 2 c\n", "1..2\nok 1 - a\nBail out!\n", "");
}

/* A test that is left out, or gone, is not told from its namesake elsewhere. */
TEST(namesakes)
{
	check("    1) works\n    ✔ b\n  1 passing (1ms)\n  1 failing\n",
	      "    - works\n    1) b\n    ✔ works\n  1 passing (1ms)\n  1 failing\n  1 pending\n",
	      "");
	check("test works ... FAILED\ntest more ... ok\n"
	      "test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 0.00s\n",
	      "test more ... FAILED\ntest other ... ok\ntest works ... ok\n"
	      "test result: FAILED. 2 passed; 1 failed; 0 ignored; finished in 0.00s\n",
	      "");
}

TEST_MAIN(NULL, NULL)
