// The parts of the preview that are easier to get wrong than to see from outside:
// the fast search, the counting of shapes, and the judgement of single lines.

#include "supervisor/preview/internal.h"
#include "tests/unit/random.h"
#include "tests/unit/unit.h"

static uint32_t random_state;

static uint32_t rnd(uint32_t below)
{
	random_state = random_state * 1664525u + 1013904223u;
	return (random_state >> 8) % below;
}

/* The wide search finds what the plain one finds, at any alignment and length. */
TEST(test_prefilter)
{
	static const char *const planted[] = {"error", "FAIL", "Panic", "cannot ",
					      "ErRoR", "fai",  "rro"};
	struct preview_judge judge;
	char text[700];
	judge_init(&judge, &(struct limit){0});
	const struct literals wide = judge.prefilter;
	struct literals narrow = wide;
	narrow.wide = false;
	for (int round = 0; round < 20000; round++) {
		size_t from = rnd(40), len = rnd(600), lines[2] = {0, 0}, found, count = 0;
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)(rnd(12)  ? 'a' + rnd(26)
					 : rnd(3) ? (uint32_t)'\n'
						  : rnd(256));
		for (uint32_t n = rnd(3); n > 0; n--) {
			const char *word = planted[rnd(sizeof(planted) / sizeof(*planted))];
			memcpy(text + rnd(600), word, strlen(word));
		}
		found = literals_find(&wide, text + from, len, &lines[0]);
		assert_int_equal(found, literals_find(&narrow, text + from, len, &lines[1]));
		assert_int_equal(lines[0], lines[1]);
		for (size_t i = 0; i < found; i++)
			count += text[from + i] == '\n';
		assert_int_equal(count, lines[0]);
	}
	assert_int_equal(literals_find(&wide, "12 ERRORS", 9, &(size_t){0}), 4);
	assert_int_equal(literals_find(&wide, "12 ERRO", 7, &(size_t){0}), 7);
}

TEST(test_more_fragments)
{
	char quota[] = "quotas", other[] = "other";
	char *quotas[] = {quota, NULL}, *others[64];
	const struct strings few = {quotas, 1}, many = {others, 64};
	struct preview_judge j;
	const struct literals *s = &j.prefilter;
	judge_init(&j, &(struct limit){0});
	assert_int_equal(literals_find(s, "the QUOTA", 9, &(size_t){0}), 9);
	judge_init(&j, &(struct limit){.patterns = &few});
	assert_int_equal(literals_find(s, "the QUOTA", 9, &(size_t){0}), 4);
	/* Literals beyond the limit are left out. */
	for (int i = 0; i < 64; i++)
		others[i] = i == 0 ? quota : other;
	judge_init(&j, &(struct limit){.patterns = &many,
				       .about = "other other other other other other other other "
						"other other other other other other other other"});
	assert_int_equal(literals_find(s, "the QUOTA, 12 errors", 20, &(size_t){0}), 4);
}

/* Adds a line of 60 bytes that begins with `text`. Returns how many runs there are. */
static size_t add_run(struct run *runs, size_t count, const char *text, enum run_kind most)
{
	struct run *before = count ? &runs[count - 1] : NULL;
	struct line line = {.number = before ? before->to + 1 : 1,
			    .offset = before ? before->line.offset + before->length : 0,
			    .length = 60,
			    .front = text,
			    .front_len = 60};
	runs[count++] = run_of(&line, (unsigned char)text[0]);
	return count - run_join(runs, count, sizeof(*runs), most);
}

TEST(test_runs)
{
	static char texts[32][64], other[64];
	struct run runs[64], rest;
	size_t count = 0;
	for (int i = 0; i < 32; i++)
		snprintf(texts[i], sizeof(texts[i]), "part %d %50d\n", i, i % 7);
	snprintf(other, sizeof(other), "other %53d\n", 0);
	/* Equal ones are one at once; few that are alike stay. */
	for (int i = 0; i < 3; i++)
		count = add_run(runs, count, texts[1], RUN_ALIKE);
	assert_int_equal(count, 1);
	assert_int_equal(runs[0].to, 3);
	assert_int_equal(runs[0].kind, RUN_EQUAL);
	/* Many become one from the second on, ... */
	for (int i = 2; i < 20; i++)
		count = add_run(runs, count, texts[i], RUN_ALIKE);
	assert_int_equal(count, 2);
	assert_int_equal(runs[1].line.number, 4);
	assert_int_equal(runs[1].to, 21);
	assert_int_equal(runs[1].kind, RUN_ALIKE);
	assert_int_equal(runs[1].length, 18 * 60);
	assert_ptr_equal(runs[1].last.front, texts[19]);
	assert_int_equal(runs[1].last.offset, 20 * 60);
	/* ... of which a line is the rest, ... */
	rest = run_of(&(struct line){.number = 20, .offset = 19 * 60, .length = 60}, 0);
	run_cut(&rest, &runs[1]);
	assert_int_equal(rest.length, 120);
	assert_int_equal(rest.to, 21);
	/* ... but not those of another shape, behind a gap, or where only equal ones do. */
	count = add_run(runs, count, other, RUN_ALIKE);
	assert_int_equal(count, 3);
	for (int i = 0; i < 20; i++)
		count = add_run(runs, count, texts[i], RUN_EQUAL);
	assert_int_equal(count, 23);
	runs[22].line.number++;
	assert_int_equal(run_join(runs, count, sizeof(*runs), RUN_ALIKE), 0);
}

TEST(test_sketch)
{
	struct sketch *sketch = calloc(1, sizeof(*sketch));
	unsigned exact[500] = {0}, over = 0;
	assert_non_null(sketch);
	for (int i = 0; i < 100000; i++) {
		uint32_t which = rnd(500) * rnd(500) / 500;
		exact[which]++;
		assert_true(sketch_add(sketch, which * 0x9E3779B9u + 7) >= exact[which]);
	}
	for (uint32_t i = 0; i < 500; i++) {
		unsigned count = sketch_count(sketch, i * 0x9E3779B9u + 7);
		assert_true(count >= exact[i]);
		over += count > exact[i];
	}
	assert_true(over < 10);
	free(sketch);
}

static struct score score_of(const char *text)
{
	struct preview_judge judge;
	struct line line = {.front = text, .front_len = strlen(text), .length = strlen(text)};
	struct score score;
	judge_init(&judge, &(struct limit){0});
	score_judge(&judge, &line, &score);
	return score;
}

/* clang-format off */
static const struct {
	const char *text;
	enum score_kind kind;
	unsigned least, most;
} judged[] = {
	/* what failures look like */
	{"src/a.c:3:4: error: 'x' undeclared", SCORE_DETAIL, 60, 100},
	{"error: foo not found", SCORE_FAIL, 60, 100},
	{"fatal: not a git repository", SCORE_FAIL, 60, 100},
	{"2020-10-10T10:10:10Z ERROR could not bind", SCORE_FAIL, 50, 100},
	{"(.text+0x1): undefined reference to `x'", SCORE_FAIL, 30, 100},
	{"java.lang.NullPointerException: x is null", SCORE_FAIL, 40, 100},
	{"Segmentation fault (core dumped)", SCORE_FAIL, 40, 100},
	{"cp: cannot stat 'x': No such file or directory", SCORE_FAIL, 40, 100},
	{"make: *** No rule to make target 'x'.  Stop.", SCORE_FAIL, 30, 100},
	{"com.example.CartTest > totalIsRounded FAILED", SCORE_FAIL, 40, 100},
	{"not ok 6 no errors", SCORE_FAIL, 25, 100},
	{"5 tests completed, 1 failed", SCORE_SUMMARY, 40, 100},
	{"Tests run: 3, Failures: 1, Errors: 0", SCORE_SUMMARY, 40, 100},
	{"____________ test_sum ____________", SCORE_HEADING, 40, 100},
	{"  1) Router keeps the query:", SCORE_HEADING, 30, 100},
	{"E   assert 1 == 2", SCORE_DETAIL, 30, 100},
	{"java.lang.AssertionError: 12 -> 13", SCORE_FAIL, 40, 100},
	{"ERROR: job 'x' failed: no such file", SCORE_FAIL, 60, 100},
	{"  File \"/srv/a.py\", line 9, in sum", SCORE_FRAME, 10, 60},
	{"File \"src/rate.ml\", line 4, characters 10-23:", SCORE_PLACE, 40, 100},
	{"a.f90:10:12:", SCORE_PLACE, 40, 100},
	{"app/a.rb:12:in `load'", SCORE_FRAME, 0, 60},
	{"x.c:9: warning: unused variable 'error'", SCORE_WARNING, 0, 24},
	/* a number of an error, and numbers of errors */
	{"queue: it made its 12 checks: error 98", SCORE_FAIL, 10, 24},
	{"12 checks, errors: 98", SCORE_SUMMARY, 40, 100},
	/* settings */
	{"Password prompt timeout: 15.0 minutes", SCORE_PLAIN, 0, 0},
	{"http: timeout: 15.0 minutes exceeded", SCORE_FAIL, 40, 100},
	/* what does not */
	{"gcc -Werror -DNO_ERROR=1 -c -o error_handler.o fail/error_handler.c", SCORE_PLAIN, 0, 15},
	{"12 | return fail(error);", SCORE_QUOTE, 0, 0},
	{"0 errors", SCORE_PLAIN, 0, 0},
	{"no errors found", SCORE_PLAIN, 0, 10},
	{"Build finished without errors", SCORE_PLAIN, 0, 10},
	{"12 passed, 0 failed in 3s", SCORE_SUMMARY, 0, 14},
	{"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0", SCORE_SUMMARY, 0, 14},
	{"test_failure_is_reported (x.ErrorTest) ... ok", SCORE_PASS, 0, 0},
	{"tests/test_errors.py::test_fail PASSED [ 10%]", SCORE_PASS, 0, 0},
	{"\xE2\x9C\x93 should return 500 error if it fails (12ms)", SCORE_PASS, 0, 0},
	{"---------------------------", SCORE_RULE, 0, 0},
	{"..........................", SCORE_RULE, 0, 0},
	{"\xE2\x8E\xAF\xE2\x8E\xAF\xE2\x8E\xAF\xE2\x8E\xAF", SCORE_RULE, 0, 0},
	{"   ", SCORE_BLANK, 0, 0},
};
/* clang-format on */

TEST(test_judgement)
{
	for (size_t i = 0; i < sizeof(judged) / sizeof(*judged); i++) {
		struct score s = score_of(judged[i].text);
		if (s.kind != judged[i].kind || s.score < judged[i].least ||
		    s.score > judged[i].most)
			fail_msg("%s: kind %d, score %u", judged[i].text, (int)s.kind, s.score);
	}
}

/* A line that is the one before it, but for a counter, is no news; a value is. */
TEST(test_counters)
{
	static const struct {
		const char *before, *line;
		bool counts_on;
	} rows[] = {
		{"part 9 of 30\n", "part 10 of 30\n", true},
		{"[ 9/30] pulled\n", "[10/30] pulled\n", false}, /* a blank more */
		{"[9/30] pulled\n", "[10/30] pulled\n", true},
		{"9.5 % done\n", "10.5 % done\n", true},
		{"12:00:01 alive\n", "12:00:02 alive\n", true},
		{"2026-01-31T12:00:01.25Z alive 3\n", "2026-02-01T00:00:00Z alive 4\n", true},
		{"same\n", "same\n", true},
		/* Another thing, a value of it, more than one number, or less than before. */
		{"12 a.c\n", "13 b.c\n", false},
		{"file_9.c 1\n", "file_10.c 1\n", false},
		{"dir/9/x\n", "dir/10/x\n", false},
		{"epoch 1 loss 3\n", "epoch 2 loss 4\n", false},
		{"part 10\n", "part 9\n", false},
		{"1 20\n", "1 21\n", false},
		{"wrote dead\n", "wrote beef\n", false},
		{"part 9\n", "part 10 \n", false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t before = strlen(rows[i].before), len = strlen(rows[i].line);
		const struct line a = {
			.front = rows[i].before, .front_len = before, .length = before};
		const struct line b = {.front = rows[i].line, .front_len = len, .length = len};
		if (run_counts_on(&a, &b) != rows[i].counts_on)
			fail_msg("%s%s", rows[i].before, rows[i].line);
	}
}

TEST(test_shapes)
{
	assert_int_equal(score_of("built /tmp/a/1.o in 12 ms").shape,
			 score_of("  built /tmp/b/2.o in 3 ms").shape);
	assert_int_equal(score_of("12:00:01 commit 3fa9c0e pushed").shape,
			 score_of("12:00:02 commit 7b0d1ce pushed").shape);
	assert_int_not_equal(score_of("Failures: 0").shape, score_of("Failures: 1").shape);
	assert_int_not_equal(score_of("built a").shape, score_of("built b").shape);
	assert_int_equal(score_of("  x").indent, 2);
}

int main(void)
{
	random_state = random_start(1);
	return unit_run(NULL, NULL);
}
