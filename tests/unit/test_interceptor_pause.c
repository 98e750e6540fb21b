// A reader who waits: what is held back is printed at pauses. Time is a number here.

#include "lib/buffer.h"
#include "lib/utf8.h"
#include "supervisor/intercept/interceptor.h"
#include "supervisor/intercept/internal.h"

#include "tests/unit/interceptor.h"
#include "tests/unit/unit.h"

/* Gives the reader what is due, as the owner does. Returns whether a heartbeat is. */
static bool give(struct run *r, enum interceptor_moment moment, int64_t now)
{
	if (!interceptor_begin_print(r->text, moment, now))
		return false;
	const struct wording_place place = place_of(r);
	return !interceptor_print_held(r->text, moment, now, &place);
}

/* Feeds text at `now`. */
static void come(struct run *r, int64_t now, const char *text)
{
	feed(r, text);
	interceptor_pause(r->text);
	interceptor_came(r->text, now);
}

/* The next pause comes that prints something. Returns its time. */
static int64_t pass_pause(struct run *r)
{
	size_t before = r->out.len;
	int64_t now = 0;
	while (r->out.len == before) {
		now = interceptor_pause_due(r->text);
		assert_true(now > 0);
		give(r, INTERCEPT_PAUSE, now);
	}
	return now;
}

/* All that is due comes. */
static void pass_all(struct run *r)
{
	int64_t now;
	while ((now = interceptor_pause_due(r->text)))
		give(r, INTERCEPT_PAUSE, now);
}

static void come_lines(struct run *r, int64_t now, int from, int to)
{
	struct buffer lines = BUFFER_INIT;
	number_lines(&lines, from, to);
	come(r, now, buffer_string(&lines));
	buffer_release(&lines);
}

/* Forgets what is printed so far. */
static void start_over(struct run *r)
{
	buffer_clear(&r->out);
}

TEST(a_text_that_fits_is_printed_at_the_first_pause)
{
	struct run r = run_make();
	struct buffer want = BUFFER_INIT;
	run_start(&r);
	come_lines(&r, 1000, 1, 60);
	assert_true(r.out.len < 300);
	assert_int_equal(interceptor_pause_due(r.text), 1000 + PAUSE_MS);
	give(&r, INTERCEPT_PAUSE, 999 + PAUSE_MS);
	assert_true(r.out.len < 300);
	pass_pause(&r);
	number_lines(&want, 1, 60);
	printed(&r, buffer_string(&want));
	assert_false(interceptor_facts(r.text).is_holding);
	assert_int_equal(interceptor_pause_due(r.text), 0);
	/* And at every one that follows. */
	come_lines(&r, 2600, 61, 61);
	assert_int_equal(pass_pause(&r), 2600 + PAUSE_MS);
	number_lines(&want, 61, 61);
	printed(&r, buffer_string(&want));
	come_lines(&r, 5000, 62, 63);
	finish(&r);
	number_lines(&want, 62, 63);
	printed(&r, buffer_string(&want));
	assert_int_equal(r.asked_for_artifact, 0);
	buffer_release(&want);
	run_end(&r);
}

/* What comes after the pause completes it. */
TEST(half_a_character_waits)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, "caf\xC3");
	pass_all(&r);
	assert_null(strstr(buffer_string(&r.out), "\xEF\xBF\xBD"));
	come(&r, 9000, "\xA9 ok\n");
	finish(&r);
	printed(&r, "caf\xC3\xA9 ok\n");
	run_end(&r);
}

TEST(the_start_of_a_notice_waits)
{
	static const struct {
		const char *begin, *end, *want;
		bool early;
	} lines[] = {
		{"[terse: exit 0", " after 1 s]\n", "| [terse: exit 0 after 1 s]\n", false},
		{" [ter", "se: exit 0]\n", "|  [terse: exit 0]\n", false},
		{"[..", ". 3 lines]\n", "| [... 3 lines]\n", false},
		{"[", "sudo] password\n", "[sudo] password\n", false},
		{"[sudo] password: ", "\n", "[sudo] password: \n", true},
		{"Go on? [y/N] ", "y\n", "Go on? [y/N] y\n", true},
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct run r = run_make();
		run_start(&r);
		come(&r, 1000, lines[i].begin);
		pass_all(&r);
		assert_int_equal(r.out.len > 0, lines[i].early);
		come(&r, 9000, lines[i].end);
		finish(&r);
		printed(&r, lines[i].want);
		run_end(&r);
	}
}

/* A few bytes that may be binary are not judged before more come: nothing is due. */
TEST(what_is_not_judged_is_not_waited_for)
{
	struct run r = run_make();
	run_start(&r);
	interceptor_feed(r.text, "\0\1\2\377\376\5", 6);
	interceptor_pause(r.text);
	interceptor_came(r.text, 1000);
	for (int64_t now = interceptor_pause_due(r.text), due; now; now = due) {
		give(&r, INTERCEPT_PAUSE, now);
		due = interceptor_pause_due(r.text);
		assert_true(due == 0 || due > now);
	}
	run_end(&r);
}

TEST(a_text_that_does_not_fit_shows_its_last_lines)
{
	struct run r = run_make();
	char marker[128];
	int first, last, n = 0;
	run_start(&r);
	come_lines(&r, 1000, 1, 2000);
	size_t head = r.out.len;
	int64_t now = pass_pause(&r);
	assert_non_null(r.artifact);
	snprintf(marker, sizeof(marker),
		 "[... lines %%d-%%d, %%*d.%%*d KB: terse read %s "
		 "--lines %%*d-%%d]\n%%n",
		 r.meta.id);
	assert_int_equal(sscanf(buffer_string(&r.out) + head, marker, &first, &last, &last, &n), 3);
	assert_true(n > 0);
	struct buffer want = BUFFER_INIT;
	number_lines(&want, 1, first - 1);
	assert_int_equal(want.len, head);
	buffer_append(&want, r.out.data + head, (size_t)n);
	number_lines(&want, last + 1, 2000);
	printed(&r, buffer_string(&want));
	/* A quarter of the budget: half of the last lines' share. */
	assert_true(r.out.len - head <= BUDGET / 4 && r.out.len - head > BUDGET / 4 - 20);
	/* The next one comes later, has a shorter marker, and less. */
	start_over(&r);
	come_lines(&r, now, 2001, 3000);
	assert_int_equal(pass_pause(&r), now + PAUSE_DISTANCE_MS);
	assert_int_equal(sscanf(buffer_string(&r.out), "[... lines 2001-%d]\n%n", &last, &n), 1);
	buffer_clear(&want);
	buffer_append(&want, r.out.data, (size_t)n);
	number_lines(&want, last + 1, 3000);
	printed(&r, buffer_string(&want));
	assert_in_range(r.out.len, BUDGET / 8 - 20, BUDGET / 8 + 5);
	finish(&r);
	buffer_release(&want);
	run_end(&r);
}

/* What is new since the last pause needs no marker where there is room for it. */
TEST(new_lines_follow_the_last_ones)
{
	struct run r = run_make();
	run_start(&r);
	come_lines(&r, 1000, 1, 2000);
	int64_t now = pass_pause(&r);
	start_over(&r);
	come(&r, now, "changed\nready\n");
	pass_pause(&r);
	printed(&r, "changed\nready\n");
	start_over(&r);
	finish(&r);
	assert_false(has_printed(&r, "ready"));
	assert_false(has_printed(&r, "[... "));
	assert_true(has_printed(&r, "[terse: exit 0 after 7 ms; 2,002 lines, "));
	run_end(&r);
}

/* The cause that was left out at a pause comes at the end, in front of what is new. */
TEST(the_preview_goes_back_to_what_was_left_out)
{
	struct run r = run_make();
	run_start(&r);
	come_lines(&r, 1000, 1, 900);
	come(&r, 1000, "main.c:7: error: no such member\n");
	come_lines(&r, 1000, 902, 2000);
	pass_pause(&r);
	assert_false(has_printed(&r, "error"));
	start_over(&r);
	come(&r, 9000, "stopped\n");
	interceptor_finish(r.text);
	const struct interceptor_ending e = ending(&r, 1);
	interceptor_report(r.text, &e);
	assert_memory_equal(r.out.data, "[... back to line ", 18);
	assert_true(has_printed(&r, "\nmain.c:7: error: no such member\n"));
	assert_true(has_printed(
		&r, "\n[... continues with line 2001]\nstopped\n[terse: exit 1 after "));
	assert_false(has_printed(&r, "[... lines "));
	run_end(&r);
}

TEST(a_line_that_is_redrawn_does_not_put_it_off)
{
	struct run r = run_make();
	run_start(&r);
	come_lines(&r, 1000, 1, 60);
	for (int64_t now = 1100; now < 1000 + PAUSE_MS; now += 100) {
		assert_int_equal(interceptor_pause_due(r.text), 1000 + PAUSE_MS);
		come(&r, now, "\rworking");
	}
	give(&r, INTERCEPT_PAUSE, 1000 + PAUSE_MS);
	assert_true(has_printed(&r, "line 60\n"));
	/* It may change at any time, so it is not shown. */
	assert_false(has_printed(&r, "working"));
	come(&r, 9000, "\rfinished\n");
	finish(&r);
	assert_true(has_printed(&r, "line 60\nfinished\n"));
	run_end(&r);
}

/* Lines of a program that draws are printed when they have stood for long. */
TEST(what_a_program_draws)
{
	struct run r = run_make();
	r.options.limit.head_share = 0;
	run_start(&r);
	come(&r, 1000, "a 0%\nb 0%\n\x1b[2Aa 10%\nb 10%\n");
	assert_int_equal(interceptor_pause_due(r.text), 1000 + PAUSE_MS);
	pass_pause(&r);
	printed(&r, "a 10%\nb 10%\n");
	finish(&r);
	printed(&r, "a 10%\nb 10%\n");
	run_end(&r);
}

TEST(a_question_is_shown_once)
{
	static const struct {
		const char *next, *printed;
	} cases[] = {
		{"secret\n", "login\nPassword: secret\n"},
		{"\n", "login\nPassword: \n"},
		{"\r\x1b[KName: \n", "login\nPassword: \nName: \n"},
		{"", "login\nPassword: "},
		{"\r\x1b[K", "login\nPassword: \n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run r = run_make();
		run_start(&r);
		come(&r, 1000, "login\nPassword: ");
		pass_pause(&r);
		printed(&r, "login\nPassword: ");
		assert_int_equal(interceptor_pause_due(r.text), 0);
		come(&r, 3000, cases[i].next);
		pass_all(&r);
		finish(&r);
		printed(&r, cases[i].printed);
		run_end(&r);
	}
}

/* It comes behind the last lines, too, and goes on at the end. */
TEST(a_question_behind_a_long_text)
{
	struct run r = run_make();
	run_start(&r);
	come_lines(&r, 1000, 1, 2000);
	come(&r, 1000, "Overwrite? [y/N] ");
	pass_pause(&r);
	assert_true(has_printed(&r, "\nline 2000\nOverwrite? [y/N] "));
	start_over(&r);
	come(&r, 9000, "y\ndone\n");
	finish(&r);
	assert_memory_equal(r.out.data, "y\ndone\n[terse: exit 0 after", 27);
	run_end(&r);
}

/* A notice in between breaks the line, so it is printed whole again. */
TEST(a_question_before_a_heartbeat)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, "login\nPassword: ");
	pass_pause(&r);
	interceptor_spill(r.text);
	const struct wording_place place = place_of(&r);
	interceptor_heartbeat(r.text, 60000, WAIT_UNKNOWN, "", &place);
	size_t len = r.out.len;
	assert_true(has_printed(&r, "login\nPassword: \n[terse: still running"));
	come(&r, 70000, "secret\n");
	finish(&r);
	assert_string_equal(buffer_string(&r.out) + len, "Password: secret\n");
	run_end(&r);
}

TEST(the_last_words_take_the_whole_share)
{
	struct run r = run_make();
	run_start(&r);
	come_lines(&r, 1000, 1, 2000);
	size_t head = r.out.len;
	come(&r, 1000, "half a li");
	assert_false(give(&r, INTERCEPT_LAST_WORDS, 1001));
	assert_true(r.out.len - head > BUDGET / 2 - 20 && r.out.len - head <= BUDGET / 2);
	assert_true(has_printed(&r, "\nline 2000\n"));
	/* The share is used up: what comes then is announced by a heartbeat. */
	come_lines(&r, 1002, 2001, 2100);
	assert_true(give(&r, INTERCEPT_LAST_WORDS, 1003));
	assert_false(has_printed(&r, "line 2100"));
	finish(&r);
	assert_true(has_printed(&r, "line 2100"));
	run_end(&r);
}

/* What shows text prints its first part as it comes; behind it the ID is all. */
TEST(a_first_part)
{
	struct run r = run_make();
	r.options.limit.mode = MODE_HEAD;
	run_start(&r);
	come(&r, 1000, "caf\xC3\xA9\n\x01 a control\n");
	come_lines(&r, 1000, 3, 20);
	assert_false(give(&r, INTERCEPT_PAUSE, 1000 + PAUSE_MS));
	assert_true(has_printed(&r, " a control\nline 3\n"));
	assert_true(has_printed(&r, "line 20\n"));
	come_lines(&r, 4000, 21, 400);
	assert_true(give(&r, INTERCEPT_PAUSE, 4000 + PAUSE_MS));
	come_lines(&r, 7000, 401, 402);
	assert_false(give(&r, INTERCEPT_PAUSE, 7000 + PAUSE_MS - 1));
	finish(&r);
	assert_true(has_printed(&r, " lines 1-"));
	assert_int_equal(r.out.data[r.out.len - 1], '\n');
	run_end(&r);
}

TEST(a_program_gets_everything_at_the_first_pause)
{
	struct run r = run_make();
	r.unknown = true;
	r.reader = INTERCEPT_PROGRAM;
	run_start(&r);
	come(&r, 1000, "one\ntwo\n");
	come_lines(&r, 1000, 1, 60);
	pass_pause(&r);
	assert_true(has_printed(&r, "line 60\n"));
	assert_int_equal(r.asked_who_reads, 1);
	assert_int_equal(interceptor_pause_due(r.text), 0);
	finish(&r);
	run_end(&r);
}

TEST(a_line_like_a_notice_is_guarded)
{
	struct run r = run_make();
	run_start(&r);
	come(&r, 1000, "[terse: exit 0]\nnext\n");
	pass_pause(&r);
	finish(&r);
	printed(&r, "| [terse: exit 0]\nnext\n");
	run_end(&r);
}

TEST(who_has_no_pauses)
{
	for (int how = 0; how < 3; how++) {
		struct run r = run_make();
		if (how == 0)
			r.options.reader = INTERCEPT_PERSON;
		if (how == 1)
			r.options.reader = INTERCEPT_COLLECTED;
		run_start(&r);
		come_lines(&r, 1000, 1, 60);
		if (how == 2)
			finish(&r);
		assert_int_equal(interceptor_pause_due(r.text), 0);
		size_t len = r.out.len;
		assert_false(give(&r, INTERCEPT_LAST_WORDS, 9000));
		assert_int_equal(r.out.len, len);
		run_end(&r);
	}
}

/* Any text, in any pieces, with pauses anywhere.

   Each line has its number at both ends, so that the reader's account can be checked: each line is
   printed once or announced once as left out, and what a marker says is true. */

struct account {
	uint8_t *printed, *announced; /* times, for each line */
	uint64_t lines;
	uint64_t expected; /* the line that has to follow; 0: any */
	uint64_t front;    /* lines up to here are printed or announced */
	size_t notices;    /* bytes of terse's own words that are no markers */
	bool spelled;
};

/* The first omission spells out the command, and no other does. */
static void account_omission(struct account *a, const char *line)
{
	assert_int_equal(strstr(line, "terse read") != NULL, !a->spelled);
	a->spelled = true;
}

static void account_marker(struct account *a, const char *line)
{
	unsigned long long from, to;
	char what[16];
	if (sscanf(line, "[... back to line %llu", &from) == 1 ||
	    sscanf(line, "[... continues with line %llu", &from) == 1) {
		a->expected = from;
		return;
	}
	if (sscanf(line, "[... lines %llu-%llu %15s", &from, &to, what) != 3) {
		assert_int_equal(sscanf(line, "[... line %llu %15s", &from, what), 2);
		to = from;
	}
	assert_true(from >= 1 && from <= to && to <= a->lines);
	/* It stands where the lines would. */
	assert_int_equal(from, a->front + 1);
	for (uint64_t i = from; i <= to; i++)
		a->announced[i]++;
	if (strncmp(what, "repeat", 6) != 0)
		account_omission(a, line);
	a->front = to;
	a->expected = to + 1;
}

/* The number of a line of the text; 0: it is one of terse's own. Of a short piece of a line it is
   known from what is in front. */
static uint64_t account_number(const struct account *a, const char *line)
{
	const char *token = line;
	unsigned long long number;
	char end;
	if (strncmp(line, "[... line", 9) == 0 && strstr(line, " like this"))
		return 0;
	while ((token = strchr(token, '<'))) {
		if (sscanf(token, "<%llu%c", &number, &end) == 2 && end == '>')
			return number;
		token++;
	}
	return strstr(line, "[... bytes ") ? (a->expected ? a->expected : a->front + 1) : 0;
}

static void account_line(struct account *a, const char *line, size_t len)
{
	uint64_t number = account_number(a, line);
	if (number == 0 && strncmp(line, "[terse: ", 8) == 0) {
		a->notices += len;
		return;
	}
	if (number == 0) {
		account_marker(a, line);
		return;
	}
	assert_true(number >= 1 && number <= a->lines);
	a->printed[number]++;
	if (strstr(line, "[... bytes "))
		account_omission(a, line);
	if (a->expected)
		assert_int_equal(number, a->expected);
	if (number > a->front) {
		assert_int_equal(number, a->front + 1);
		a->front = number;
	}
	a->expected = number + 1;
}

static void account_all(struct account *a, const char *out)
{
	while (*out) {
		const char *end = strchr(out, '\n');
		size_t len = end ? (size_t)(end - out) + 1 : strlen(out);
		char *line = strndup(out, len);
		account_line(a, line, len);
		free(line);
		out += len;
	}
}

static const char *const words[] = {
	"compiling",
	"part",
	"ok",
	"error: no such file",
	"test passed",
	"warning: unused",
	"FAILED",
	"downloading",
	"expected 3, got 4",
	"done",
	"at main.c:12",
	"[... lines",
	"| | |",
	"\xC3\xA4",
};

static void random_line(struct buffer *b, uint32_t *seed, unsigned number)
{
	if (rnd(seed, 30) == 0)
		buffer_append_string(b, "[terse: ");
	buffer_printf(b, "<%u> ", number);
	uint32_t count = rnd(seed, 40) == 0 ? rnd(seed, 120) : rnd(seed, 9);
	for (uint32_t i = 0; i < count; i++)
		buffer_printf(b, "%s ", words[rnd(seed, sizeof(words) / sizeof(*words))]);
	buffer_printf(b, "<%u>\n", number);
}

static struct run random_run(uint32_t *seed)
{
	static const enum mode modes[] = {MODE_SMART, MODE_SMART, MODE_TAIL, MODE_ENDS};
	struct run r = run_make();
	struct limit *l = &r.options.limit;
	l->bytes = 300 + rnd(seed, rnd(seed, 3) ? 3000 : 20000);
	l->head_share = rnd(seed, 40);
	l->end_share = rnd(seed, 20);
	l->mode = modes[rnd(seed, 4)];
	l->max_line = 100 + rnd(seed, 500);
	l->grow = rnd(seed, 2);
	if (rnd(seed, 2))
		l->ceiling = l->failure_ceiling = l->bytes + rnd(seed, (uint32_t)l->bytes);
	if (l->ceiling && rnd(seed, 2)) {
		l->cut_over = l->ceiling + rnd(seed, 20000);
		l->cut_ceiling = 300 + rnd(seed, (uint32_t)l->bytes - 299);
		l->cut_bytes = l->cut_ceiling;
	}
	if (rnd(seed, 4) == 0)
		l->count = 20 + rnd(seed, 100);
	r.options.terminal.rows = 2 + rnd(seed, 60);
	return r;
}

/* Random moments until then. */
static int64_t random_moments(struct run *r, uint32_t *seed, int64_t now)
{
	int64_t until = now + (rnd(seed, 4) ? rnd(seed, 100) : rnd(seed, 30000));
	int64_t due;
	while ((due = interceptor_pause_due(r->text)) && due <= until)
		give(r, INTERCEPT_PAUSE, due);
	if (rnd(seed, 60) == 0)
		give(r, INTERCEPT_HEARTBEAT, until);
	if (rnd(seed, 200) == 0)
		give(r, INTERCEPT_LAST_WORDS, until);
	return until;
}

/* The most that is printed of a text that does not fit. */
static size_t most_of(const struct limit *l, size_t bytes, bool failed)
{
	bool cut = !failed && l->cut_bytes && bytes > l->cut_over;
	size_t budget = cut ? l->cut_bytes : l->bytes, most = budget + budget / 2;
	size_t ceiling = cut ? l->cut_ceiling : l->ceiling;
	return ceiling && ceiling < most ? ceiling : most;
}

static void check_account(struct run *r, uint64_t lines, size_t most)
{
	struct account a = {
		.lines = lines, .printed = calloc(lines + 2, 1), .announced = calloc(lines + 2, 1)};
	bool fits = interceptor_facts(r->text).fits;
	account_all(&a, buffer_string(&r->out));
	assert_int_equal(a.front, lines);
	for (uint64_t i = 1; i <= lines; i++) {
		assert_true(a.printed[i] <= 1);
		assert_true(a.announced[i] <= 1);
		assert_true(a.printed[i] + a.announced[i] >= 1);
	}
	if (!fits)
		assert_true(r->out.len - a.notices <= most);
	free(a.printed);
	free(a.announced);
}

TEST(random_pauses)
{
	for (uint32_t round = 0; round < 3000; round += RANDOM_STEP) {
		uint32_t seed = random_start(round);
		struct run r = random_run(&seed);
		struct buffer text = BUFFER_INIT;
		unsigned lines = 1 + rnd(&seed, rnd(&seed, 2) ? 60 : 1500);
		int64_t now = 1000;
		run_start(&r);
		for (unsigned i = 1; i <= lines; i++)
			random_line(&text, &seed, i);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + rnd(&seed, rnd(&seed, 3) ? 200 : 20000);
			if (n > text.len - at)
				n = text.len - at;
			/* Questions have a test of their own. */
			const char *end =
				memchr(text.data + at + n - 1, '\n', text.len - at - n + 1);
			n = (size_t)(end - text.data) + 1 - at;
			interceptor_feed(r.text, text.data + at, n);
			interceptor_pause(r.text);
			interceptor_came(r.text, now);
			now = random_moments(&r, &seed, now);
		}
		interceptor_finish(r.text);
		bool failed = rnd(&seed, 2);
		const struct interceptor_ending e = ending(&r, failed);
		interceptor_report(r.text, &e);
		check_account(&r, lines, most_of(&r.options.limit, text.len, failed));
		buffer_release(&text);
		run_end(&r);
	}
}

TEST_MAIN(home_setup, home_teardown)
