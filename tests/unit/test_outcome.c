// Which tests failed, now and before: right, or nothing, for sequences of what real runners have
// printed, and for texts that try to make it say what is not so.

#include "supervisor/compare/outcome.h"

#include "tests/unit/cases.h"

#include <time.h>

#define FOLDER "tests/outcomes"

static void add_state(struct outcome *o, bool before, const char *runner, int state)
{
	char path[128], *line = NULL;
	size_t cap = 0;
	ssize_t len;
	int at = -1;
	bool found = false;
	snprintf(path, sizeof(path), FOLDER "/%s.runs", runner);
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	while ((len = getline(&line, &cap, file)) > 0) {
		len -= line[len - 1] == '\n';
		if (sscanf(line, "== state %d", &at) == 1)
			continue;
		found |= at == state;
		if (at == state)
			outcome_add_line(o, before, line, (size_t)len);
	}
	free(line);
	fclose(file);
	assert_true(found);
}

static void check_sequence(const char *sequence, const char *wanted)
{
	char told[OUTCOME_LEN], runner[32];
	int before, now;
	struct outcome *o = outcome_new();
	assert_non_null(o);
	assert_int_equal(sscanf(sequence, "%31s %d %d", runner, &before, &now), 3);
	add_state(o, true, runner, before);
	add_state(o, false, runner, now);
	outcome_compare(told, o, now == 3);
	if (strcmp(*told ? told : "silent", wanted) != 0)
		fail_msg("%s: %s", sequence, told);
	outcome_free(o);
}

TEST(real_runners)
{
	cases_each(FOLDER "/sequences.cases", check_sequence);
}

static void add_text(struct outcome *o, bool before, const char *text)
{
	for (const char *end; (end = strchr(text, '\n')); text = end + 1)
		outcome_add_line(o, before, text, (size_t)(end - text));
}

/* What is told of two texts of a run that failed. */
static void check(const char *before, const char *now, const char *expected)
{
	char told[OUTCOME_LEN];
	struct outcome *o = outcome_new();
	assert_non_null(o);
	add_text(o, true, before);
	add_text(o, false, now);
	outcome_compare(told, o, false);
	assert_string_equal(told, expected);
	outcome_free(o);
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
	/* It failed, and then passed. */
	check(A SUM1, B "t.py::test_b PASSED [ 10%]\n" SUM1, "");
	check(A SUM1, B "1 failed, 3 passed, 1 rerun in 0.1s\n", "");
	check(A SUM1, B "1 failed, 3 passed, 1 error in 0.1s\n", "");
}

/* The least processor time, of three tries, for a long line: `beginning` and many times `unit`. In
   ns. */
static int64_t look(const char *beginning, char unit)
{
	char line[4096];
	int64_t least = INT64_MAX;
	memset(line, unit, sizeof(line));
	memcpy(line, beginning, strlen(beginning));
	for (int i = 0; i < 3; i++) {
		struct timespec from, to;
		struct outcome *o = outcome_new();
		assert_non_null(o);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
		for (int n = 0; n < 4; n++)
			outcome_add_line(o, false, line, sizeof(line));
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		int64_t ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
		least = ns < least ? ns : least;
		outcome_free(o);
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
				"FAILED tests/test_module.py::test_%02d\n", i);
	end += snprintf(end, (size_t)(now + sizeof(now) - end), "40 failed in 0.1s\n");
	check("40 passed in 0.1s\n", now,
	      "failed: 40 (new: tests/test_module.py::test_00, tests/test_module.py::test_01, "
	      "tests/test_module.py::test_02 and 37 more)");
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
