// Every line that terse prints, word for word: agents read and act on them.

#include "lib/buffer.h"
#include "supervisor/preview/preview.h"
#include "supervisor/report/wording.h"
#include "tests/unit/unit.h"

#include <signal.h>

#define ID "cmd-1m5zq8k3x7f"

static const struct wording_place kept = {.id = ID};
static const struct wording_place kept_stderr = {.id = ID, .is_stderr = true};
static const struct wording_place lost = {.error = ENOSPC};
static const struct wording_place lost_stderr = {.error = EACCES, .is_stderr = true};
static const struct wording_place for_tools = {.id = ID, .words = WORDS_TOOLS};
static const struct wording_place for_tools_stderr = {
	.id = ID, .is_stderr = true, .words = WORDS_TOOLS};
static const struct wording_place in_a_file = {.id = NULL};

static void assert_text(struct buffer *out, const char *want)
{
	assert_string_equal(buffer_string(out), want);
	buffer_release(out);
}

static void marker(const struct preview_piece *piece, const struct wording_place *place,
		   const char *want)
{
	struct buffer out = BUFFER_INIT;
	wording_marker(&out, piece, place);
	assert_text(&out, want);
}

TEST(markers)
{
	const struct preview_piece many = {
		.kind = PREVIEW_GAP, .from = 31, .to = 1234, .bytes = 62464};
	const struct preview_piece threads = {
		.kind = PREVIEW_GAP, .from = 31, .to = 1234, .bytes = 62464, .threads = 49};
	const struct preview_piece one = {.kind = PREVIEW_GAP, .from = 7, .to = 7, .bytes = 10239};
	const struct preview_piece large = {
		.kind = PREVIEW_GAP, .from = 7, .to = 7, .bytes = 10240};
	const struct preview_piece huge = {.kind = PREVIEW_GAP,
					   .from = 1,
					   .to = 12345678,
					   .bytes = (uint64_t)10 * 1024 * 1024 * 1024};
	const struct preview_piece fold = {
		.kind = PREVIEW_FOLD, .from = 1012, .to = 1421, .bytes = 4100};
	const struct preview_piece alike = {.kind = PREVIEW_ALIKE,
					    .from = 12,
					    .to = 2421,
					    .bytes = 21504,
					    .text = "part\t\x1b 24\xC3\xBC",
					    .len = 11};
	const struct preview_piece progress = {
		.kind = PREVIEW_ALIKE, .from = 12, .to = 2421, .bytes = 21504};
	const struct preview_piece jump = {.kind = PREVIEW_JUMP, .from = 1012, .to = 1012};
	const struct preview_piece back = {
		.kind = PREVIEW_JUMP, .from = 31, .to = 31, .back = true};
	const struct preview_piece fold_one = {.kind = PREVIEW_FOLD, .from = 2, .to = 2};
	marker(&many, &kept, "[... lines 31-1234, 61.0 KB]\n");
	marker(&one, &kept, "[... line 7]\n");
	marker(&large, &kept, "[... line 7, 10.0 KB]\n");
	marker(&threads, &kept, "[... lines 31-1234, 49 threads, 61.0 KB]\n");
	marker(&huge, &kept, "[... lines 1-12345678, 10.0 GB]\n");
	marker(&many, &lost, "[... lines 31-1234, 61.0 KB]\n");
	marker(&many, &in_a_file, "[... lines 31-1234, 61.0 KB]\n");
	marker(&fold, &kept, "[... lines 1012-1421 repeat the line above]\n");
	marker(&back, &kept, "[... back to line 31]\n");
	marker(&jump, &kept, "[... continues with line 1012]\n");
	marker(&fold_one, &lost, "[... line 2 repeats the line above]\n");
	marker(&alike, &kept,
	       "[... lines 12-2421 like this, 21.0 KB; last: part\t\uFFFD 24\u00FC]\n");
	marker(&progress, &kept, "[... lines 12-2421 alike, 21.0 KB]\n");
}

/* The first marker of a text has the command that prints what is omitted. */
TEST(spelled_markers)
{
	const struct preview_piece many = {
		.kind = PREVIEW_GAP, .from = 31, .to = 1234, .bytes = 62464, .spelled = true};
	const struct preview_piece one = {
		.kind = PREVIEW_GAP, .from = 7, .to = 7, .bytes = 1, .spelled = true};
	const struct preview_piece alike = {.kind = PREVIEW_ALIKE,
					    .from = 12,
					    .to = 2421,
					    .bytes = 21504,
					    .text = "part 24\xC3\xBC\r",
					    .len = 10,
					    .spelled = true};
	marker(&many, &kept, "[... lines 31-1234, 61.0 KB: terse read " ID " --lines 31-1234]\n");
	marker(&one, &kept, "[... line 7: terse read " ID " --lines 7]\n");
	marker(&many, &kept_stderr,
	       "[... lines 31-1234, 61.0 KB: terse read " ID " --stderr --lines 31-1234]\n");
	marker(&many, &lost, "[... lines 31-1234, 61.0 KB: not kept: No space left on device]\n");
	marker(&many, &in_a_file, "[... lines 31-1234, 61.0 KB]\n");
	marker(&alike, &kept,
	       "[... lines 12-2421 like this, 21.0 KB: terse read " ID
	       " --lines 12-2421; last: part 24\u00FC]\n");
	marker(&alike, &lost,
	       "[... lines 12-2421 like this, 21.0 KB: not kept: No space left on device; "
	       "last: part 24\u00FC]\n");
	marker(&alike, &in_a_file, "[... lines 12-2421 like this, 21.0 KB; last: part 24\u00FC]\n");
}

static struct wording_ending ended(int exit_code)
{
	return (struct wording_ending){
		.exit_code = exit_code, .duration_ms = 12345, .lines = 8432, .bytes = 484352};
}

static void footer(const struct wording_ending *e, const struct wording_place *place,
		   const char *want)
{
	struct buffer out = BUFFER_INIT;
	wording_footer(&out, e, place);
	assert_text(&out, want);
}

TEST(footers)
{
	struct wording_ending e = ended(1);
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: terse read " ID
	       " [--lines FROM-TO], terse search ID REGEX]\n");
	footer(&e, &kept_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: terse read " ID
	       " --stderr [--lines FROM-TO], terse search ID --stderr REGEX]\n");
	footer(&e, &lost,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; not kept: No space "
	       "left on device]\n");
	footer(&e, &lost_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; not kept: Permission "
	       "denied]\n");
	footer(&e, &in_a_file, "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB]\n");
	struct wording_place part = kept;
	part.gaps = (struct gaps){{{4001, 8000, 225280, 0}, {8400, 8432, 1024, ENOSPC}}, 2};
	footer(&e, &part,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; lines 4,001-8,000 (4,000, 220 "
	       "KB) not kept: over the disk cap ([spill] max_artifact); lines 8,400-8,432 (33, 1.0 "
	       "KB) not kept: No space left on device; the rest: terse read " ID
	       " [--lines FROM-TO], terse search ID REGEX]\n");
	e.background = "";
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; background processes still "
	       "write; full text: terse read " ID " [--lines FROM-TO], terse search ID"
	       " REGEX]\n");
	e.project_ignored = true;
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; background processes still "
	       "write; "
	       ".terse.ini is ignored: terse config check; full text: terse read " ID
	       " [--lines FROM-TO], terse search ID REGEX]\n");
	footer(&e, &for_tools,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; background processes still "
	       "write; .terse.ini is ignored: run_command command=\"terse config check\"; full "
	       "text: read_command_output artifact_id=" ID
	       " [offset=FROM limit=COUNT | search=REGEX]]\n");
	e.project_ignored = false;
	e.background = NULL;
	e.by_project = "size, mode";
	footer(&e, &kept,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB; .terse.ini sets size, mode; full "
	       "text: terse read " ID " [--lines FROM-TO], terse search ID REGEX]\n");
	e.by_project = "";
	e.omits = e.cuts = true;
	footer(&e, &kept_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: terse read " ID
	       " --stderr [--lines|--bytes FROM-TO], terse search ID"
	       " --stderr REGEX]\n");
	e = (struct wording_ending){.exit_code = 0, .duration_ms = 3, .lines = 1, .bytes = 5000};
	footer(&e, &in_a_file, "[terse: exit 0 after 3 ms; 1 line, 4.9 KB]\n");
}

/* How the run compares with the last one of its command. */
TEST(footers_since)
{
	static const struct {
		int exit_code;
		struct wording_since since;
		const char *words;
	} cases[] = {
		{1, {.exit_code = 1}, ", as " ID " 3 min ago"},
		{0, {.exit_code = 1}, "; " ID " 3 min ago: exit 1"},
		{2, {.exit_code = 0}, "; " ID " 3 min ago: exit 0"},
		{2, {.exit_code = -1, .signal = 11}, "; " ID " 3 min ago: killed by SIGSEGV"},
		{1, {.exit_code = 1, .identical = true}, "; same text as " ID " 3 min ago"},
		{0, {.exit_code = 0, .identical = true}, "; same text as " ID " 3 min ago"},
		{0, {.exit_code = 2, .identical = true}, "; same text as " ID " 3 min ago: exit 2"},
		{1,
		 {.exit_code = 1, .tests = "failed: 2 (new: a; fixed: c)"},
		 ", as " ID " 3 min ago; failed: 2 (new: a; fixed: c)"},
		{0,
		 {.exit_code = 1, .tests = "failed: 0 (fixed: c)"},
		 "; " ID " 3 min ago: exit 1; failed: 0 (fixed: c)"},
		/* There is nothing to say. */
		{0, {.exit_code = 0}, ""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wording_ending e = ended(cases[i].exit_code);
		struct wording_since since = cases[i].since;
		char want[400];
		snprintf(since.id, sizeof(since.id), "%s", ID);
		since.age_ms = 3 * 60 * 1000;
		e.since = &since;
		snprintf(want, sizeof(want),
			 "[terse: exit %d after 12.3 s%s; 8,432 lines, 473 KB: terse "
			 "read " ID " [--lines FROM-TO], terse search ID REGEX]\n",
			 cases[i].exit_code, cases[i].words);
		footer(&e, &kept, want);
		since.id[0] = '\0';
		snprintf(want, sizeof(want), "[terse: exit %d after 12.3 s; 8,432 lines, 473 KB]\n",
			 cases[i].exit_code);
		footer(&e, &in_a_file, want);
	}
}

/* Every preview has the limit of bytes; any other limit is named. */
TEST(footers_name_the_limit)
{
	static const struct {
		enum limit_part broken;
		enum unit unit;
		uint64_t count;
		const char *want;
	} cases[] = {
		{LIMIT_BYTES, UNIT_LINES, 20, ""},
		{LIMIT_COUNT, UNIT_LINES, 2000, " (limit 2,000 lines)"},
		{LIMIT_COUNT, UNIT_LINES, 1, " (limit 1 line)"},
		{LIMIT_COUNT, UNIT_MATCHES, 100, " (limit 100 matches)"},
		{LIMIT_COUNT, UNIT_RESULTS, 5, " (limit 5 results)"},
		{LIMIT_COUNT, UNIT_ENTRIES, 1, " (limit 1 entry)"},
		{LIMIT_CUT, UNIT_LINES, 0, " (limit 500 bytes a line)"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wording_ending e = ended(0);
		char want[200];
		e.broken = cases[i].broken;
		e.limit = (struct limit){.bytes = 4096,
					 .count = cases[i].count,
					 .max_line = 500,
					 .unit = cases[i].unit};
		snprintf(want, sizeof(want),
			 "[terse: exit 0 after 12.3 s; 8,432 lines, 473 KB%s]\n", cases[i].want);
		footer(&e, &in_a_file, want);
	}
}

/* Who has typed knows the ID and the verbs. */
TEST(brief_footers)
{
	static const char question[] = "Do you want to overwrite the file that is there? [y/N] ";
	struct wording_ending e = {
		.state = WORDING_RUNNING, .duration_ms = 10000, .lines = 12, .bytes = 340};
	e.brief = true;
	footer(&e, &kept, "[terse: running; 12 lines, 340 B]\n");
	e.waited_ms = 2000;
	footer(&e, &kept, "[terse: waited 2.0 s; running; 12 lines, 340 B]\n");
	e.missed = "ready";
	footer(&e, &kept, "[terse: not found in 2.0 s; running; 12 lines, 340 B]\n");
	e.prompt = "";
	footer(&e, &kept, "[terse: waiting for input]\n");
	e.prompt = "(gdb) ";
	footer(&e, &kept, "[terse: waiting for input: \"(gdb) \"]\n");
	e.prompt = question;
	footer(&e, &kept, "[terse: waiting for input: \"he file that is there? [y/N] \"]\n");
	e.prompt = NULL;
	e.found = "listening on http://localhost:8080/and/some/more";
	footer(&e, &kept, "[terse: found \"listening on http://localhost\"; running]\n");
	e = ended(1);
	e.brief = true;
	footer(&e, &kept, "[terse: exit 1; 8,432 lines, 473 KB]\n");
}

/* A run that goes on: what can be done with it now. */
TEST(footers_of_running)
{
	struct wording_ending e = {
		.state = WORDING_RUNNING, .duration_ms = 10000, .lines = 12, .bytes = 340};
	footer(&e, &kept,
	       "[terse: running after 10.0 s; 12 lines, 340 B; wait: terse await " ID
	       "; with that ID: terse signal (ends it)]\n");
	e.handed_over = true;
	footer(&e, &kept, "[terse: handed over after 10.0 s, it goes on: terse await " ID "]\n");
	e.omits = true;
	footer(&e, &kept,
	       "[terse: handed over after 10.0 s, it goes on: terse await " ID
	       "; with that ID: terse read ID --lines FROM-TO, terse signal (ends it)]\n");
	e.handed_over = e.omits = false;
	e.typing = true;
#define AFTER                                                                     \
	"running after 10.0 s; 12 lines, 340 B; wait: terse await " ID            \
	"; with that ID: terse send ID TEXT, terse snapshot, terse signal (ends " \
	"it)]\n"
	footer(&e, &kept, "[terse: " AFTER);
	e.waited_ms = 2000;
	footer(&e, &kept, "[terse: waited 2.0 s; " AFTER);
	e.missed = "ready\033";
	footer(&e, &kept, "[terse: not found in 2.0 s: \"ready\uFFFD\"; " AFTER);
	e.found = "\"GET /\" \xe2\x80\xae";
	footer(&e, &kept, "[terse: found \"\\\"GET /\\\" \\u202e\"; " AFTER);
	e.found = "listening on 80";
	footer(&e, &kept, "[terse: found \"listening on 80\"; " AFTER);
	e.omits = true;
	footer(&e, &kept,
	       "[terse: found \"listening on 80\"; running after 10.0 s; 12 lines, 340 B; wait: "
	       "terse "
	       "await " ID
	       "; with that ID: terse read ID --lines FROM-TO, terse send ID TEXT, terse "
	       "snapshot, terse signal (ends it)]\n");
	e.prompt = "Password: ";
	e.cuts = true;
	footer(&e, &kept_stderr,
	       "[terse: waiting for input: \"Password: \"; answer: terse send " ID
	       " TEXT --key enter --await; with that ID: terse read ID --stderr --lines FROM-TO | "
	       "--bytes FROM-TO, terse snapshot, terse signal (ends it)]\n");
	e.omits = e.cuts = false;
	footer(&e, &kept,
	       "[terse: waiting for input: \"Password: \"; answer: terse send " ID
	       " TEXT --key enter --await; with that ID: terse snapshot, terse signal (ends "
	       "it)]\n");
	e.prompt = "";
	footer(&e, &kept,
	       "[terse: waiting for input; screen: terse snapshot " ID
	       "; with that ID: terse send ID TEXT --key enter --await, terse signal (ends "
	       "it)]\n");
}

/* For a person, whoever reads it. */
TEST(footers_for_a_person)
{
	static const char secret[] =
		"[terse: a secret is asked for; a person has to run: terse attach " ID "]\n";
	struct wording_ending e = {
		.state = WORDING_RUNNING, .prompt = "Password: ", .asked = WAIT_SECRET};
	for (int i = 0; i < 2; i++, e.brief = true) {
		footer(&e, &kept, secret);
		footer(&e, &for_tools, secret);
	}
	e.asked = WAIT_PERSON;
	e.prompt = "Go \"on\"? ";
	footer(&e, &kept,
	       "[terse: a person is asked: \"Go \\\"on\\\"? \"; a person has to run: terse "
	       "attach " ID "]\n");
	e.prompt = "";
	footer(&e, &kept, "[terse: a person is asked; a person has to run: terse attach " ID "]\n");
	struct buffer out = BUFFER_INIT;
	wording_heartbeat(&out, 5500, 1, 10, WAIT_SECRET, "Password: ", &kept);
	assert_text(&out, secret);
}

static void status(const struct wording_ending *e, const char *want)
{
	struct buffer out = BUFFER_INIT;
	wording_status(&out, e, &kept);
	assert_text(&out, want);
}

/* A first part that ends by a limit, or (LIMIT_NONE) has all lines. */
struct first {
	enum limit_part broken;
	enum unit unit;
	uint64_t units, total, cut;
	const struct wording_place *place;
	const char *want;
	bool grow;
	size_t bytes, max_line; /* 0: 30 KB, 500 */
	uint64_t lines;         /* 0: as many as units */
};

static void head(const struct first *f, struct wording_ending e, bool with_status)
{
	struct buffer out = BUFFER_INIT;
	const struct wording_head h = {.lines = f->lines ? f->lines : f->units,
				       .units = f->units,
				       .total_units = f->total,
				       .cut = f->cut,
				       .with_status = with_status};
	e.omits = f->broken != LIMIT_NONE;
	e.broken = f->broken;
	e.limit = (struct limit){.bytes = f->bytes ? f->bytes : 30 * 1024,
				 .count = f->units,
				 .unit = f->unit,
				 .max_line = f->max_line ? f->max_line : 500,
				 .grow = f->grow};
	wording_head(&out, &h, &e, f->place);
	assert_text(&out, f->want);
}

/* The line behind the first part of a text. */
TEST(heads)
{
	static const struct first rows[] = {
		{LIMIT_COUNT, UNIT_LINES, 2000, 3000, 0, &kept,
		 .want = "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines): terse read " ID
			 " --offset 2001]\n"},
		{LIMIT_COUNT, UNIT_LINES, 2000, 3000, 0, &kept_stderr,
		 .want = "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines): terse read " ID
			 " --stderr --offset 2001]\n"},
		{LIMIT_COUNT, UNIT_LINES, 2000, 3000, 0, &lost,
		 .want = "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines): not kept: No "
			 "space "
			 "left on device]\n"},
		{LIMIT_COUNT, UNIT_LINES, 2000, 3000, 0, &in_a_file,
		 .want = "[terse: lines 1-2,000 of 3,000 shown (limit 2,000 lines)]\n"},
		{LIMIT_COUNT, UNIT_LINES, 1, 2, 0, &kept,
		 .want = "[terse: line 1 of 2 shown (limit 1 line): terse read " ID
			 " --offset 2]\n"},
		{LIMIT_BYTES, UNIT_LINES, 571, 8432, 0, &kept,
		 .want = "[terse: lines 1-571 of 8,432 shown (limit 30 KB): terse read " ID
			 " --offset 572]\n"},
		{LIMIT_BYTES, UNIT_LINES, 0, 8432, 0, &kept,
		 .want = "[terse: no line of 8,432 shown (limit 30 KB): terse read " ID
			 " --offset 1]\n"},
		{LIMIT_BYTES, UNIT_LINES, 571, 8432, 0, &kept,
		 .want = "[terse: lines 1-571 of 8,432 shown (limit 16 MB): terse read " ID
			 " --offset 572]\n",
		 .bytes = 16 * 1024 * 1024},
		{LIMIT_BYTES, UNIT_LINES, 571, 8432, 0, &kept,
		 .want = "[terse: lines 1-571 of 8,432 shown (limit 4.9 KB): terse read " ID
			 " --offset 572]\n",
		 .bytes = 5000},
		{LIMIT_BYTES, UNIT_LINES, 571, 8432, 0, &kept,
		 .want = "[terse: lines 1-571 of 8,432 shown (limit 900 bytes): terse read " ID
			 " --offset 572]\n",
		 .bytes = 900},
		{LIMIT_COUNT, UNIT_MATCHES, 100, 2431, 0, &kept,
		 .want = "[terse: 100 matches of 2,431 shown: terse read " ID
			 " --offset 101, or narrow the pattern]\n"},
		{LIMIT_COUNT, UNIT_MATCHES, 100, 2431, 0, &lost,
		 .want = "[terse: 100 matches of 2,431 shown: not kept: No space left on "
			 "device]\n"},
		{LIMIT_BYTES, UNIT_MATCHES, 87, 2431, 0, &kept,
		 .want = "[terse: 87 matches of 2,431 shown (limit 30 KB): terse read " ID
			 " --offset 88, or narrow the pattern]\n"},
		{LIMIT_BYTES, UNIT_MATCHES, 1, 2431, 0, &kept,
		 .want = "[terse: 1 match of 2,431 shown (limit 30 KB): terse read " ID
			 " --offset 2, or narrow the pattern]\n"},
		{LIMIT_COUNT, UNIT_RESULTS, 1000, 156635, 0, &kept,
		 .want = "[terse: 1,000 results of 156,635 shown: terse read " ID
			 " --offset 1001, or narrow the search]\n"},
		/* The offset is that of a line, whatever is counted. */
		{LIMIT_COUNT, UNIT_ENTRIES, 500, 9999, 0, &kept,
		 .want = "[terse: 500 entries of 9,999 shown: terse read " ID
			 " --offset 588, or list less]\n",
		 .lines = 587},
		{LIMIT_NONE, UNIT_MATCHES, 50, 50, 3, &kept,
		 .want = "[terse: 3 long lines cut to 500 bytes: terse read " ID
			 " --bytes FROM-TO]\n"},
		{LIMIT_NONE, UNIT_MATCHES, 50, 50, 3, &in_a_file,
		 .want = "[terse: 3 long lines cut to 500 bytes]\n"},
		{LIMIT_NONE, UNIT_MATCHES, 50, 50, 3, &lost,
		 .want = "[terse: 3 long lines cut to 500 bytes: not kept: No space left on "
			 "device]\n"},
		{LIMIT_NONE, UNIT_MATCHES, 50, 50, 1, &kept,
		 .want = "[terse: 1 long line cut to 2 KB: terse read " ID " --bytes FROM-TO]\n",
		 .max_line = 2048},
		{LIMIT_NONE, UNIT_MATCHES, 50, 50, 1, &kept_stderr,
		 .want = "[terse: 1 long line cut: terse read " ID " --stderr --bytes FROM-TO]\n",
		 .grow = true},
		{LIMIT_COUNT, UNIT_MATCHES, 100, 2431, 3, &kept,
		 .want = "[terse: 100 matches of 2,431 shown, 3 long lines cut to 500 bytes: terse "
			 "read " ID
			 " --offset 101, or narrow the pattern; cut bytes: terse read " ID
			 " --bytes FROM-TO]\n"},
		{LIMIT_BYTES, UNIT_LINES, 571, 8432, 1, &kept,
		 .want = "[terse: lines 1-571 of 8,432 shown (limit 30 KB), 1 long line cut to 500 "
			 "bytes: "
			 "terse read " ID " --offset 572; cut bytes: terse read " ID
			 " --bytes FROM-TO]\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		head(&rows[i], ended(0), false);
	struct wording_ending e = ended(0);
	e.background = "tee still writes";
	head(
		&(struct first){
			LIMIT_BYTES, UNIT_LINES, 571, 8432, 0, &kept,
			.want = "[terse: lines 1-571 of 8,432 shown (limit 30 KB): terse read " ID
				" --offset 572; tee still writes]\n"},
		e, false);
}

/* The line begins with how the command ended, unless it succeeded. */
TEST(heads_of_failures)
{
	struct first f = {LIMIT_COUNT,
			  UNIT_MATCHES,
			  100,
			  2431,
			  0,
			  &in_a_file,
			  .want = "[terse: exit 2; 100 matches of 2,431 shown]\n"};
	head(&f, ended(2), false);
	struct wording_ending e = ended(-1);
	e.signal = SIGTERM;
	f.want = "[terse: killed by SIGTERM; 100 matches of 2,431 shown]\n";
	head(&f, e, false);
	e = ended(124);
	e.timed_out = true;
	f.want = "[terse: timed out (exit 124); 100 matches of 2,431 shown]\n";
	head(&f, e, false);
	e = ended(0);
	e.state = WORDING_INTERRUPTED;
	f.want = "[terse: interrupted; 100 matches of 2,431 shown]\n";
	head(&f, e, false);
	f.want = "[terse: exit 0; 100 matches of 2,431 shown]\n";
	head(&f, ended(0), true);
}

/* How a command can end. */
TEST(endings)
{
	struct wording_ending e = ended(0);
	status(&e, "[terse: exit 0]\n");
	e = ended(255);
	status(&e, "[terse: exit 255]\n");
	e = ended(-1);
	e.signal = SIGKILL;
	status(&e, "[terse: killed by SIGKILL]\n");
	e.signal = SIGSEGV;
	status(&e, "[terse: killed by SIGSEGV]\n");
	e.signal = SIGHUP;
	status(&e, "[terse: killed by SIGHUP]\n");
	e.signal = 40;
	status(&e, "[terse: killed by signal 40]\n");
	/* The supervisor reports 124 for it, as terse exits. */
	e = ended(124);
	e.timed_out = true;
	status(&e, "[terse: timed out (exit 124)]\n");
	e = ended(-1);
	e.signal = SIGTERM;
	e.timed_out = true;
	status(&e, "[terse: timed out (exit 124)]\n");
	e = ended(-1);
	e.signal = SIGHUP;
	e.state = WORDING_INTERRUPTED;
	status(&e, "[terse: interrupted]\n");
	footer(&e, &kept,
	       "[terse: interrupted after 12.3 s; 8,432 lines, 473 KB: terse read " ID
	       " [--lines FROM-TO], terse search ID REGEX]\n");
}

TEST(a_port_that_is_taken)
{
	struct buffer out = BUFFER_INIT;
	wording_listens(&out, "cmd-1", 3000, WORDS_COMMANDS);
	wording_listens(&out, "cmd-1", 3000, WORDS_TOOLS);
	assert_string_equal(buffer_string(&out),
			    "[terse: cmd-1 still listens on port 3000: terse read cmd-1, or terse "
			    "signal to end it]\n"
			    "[terse: cmd-1 still listens on port 3000: read_command_output "
			    "artifact_id=cmd-1, or signal_command to end it]\n");
	buffer_release(&out);
}

static void heartbeat(int64_t ms, uint64_t lines, uint64_t bytes, const struct wording_place *place,
		      const char *want)
{
	struct buffer out = BUFFER_INIT;
	wording_heartbeat(&out, ms, lines, bytes, WAIT_UNKNOWN, "", place);
	assert_text(&out, want);
}

TEST(heartbeats)
{
	heartbeat(60000, 812, 48128, &kept,
		  "[terse: still running after 1 min 0 s; 812 lines, 47.0 KB so far: terse "
		  "read " ID "]\n");
	heartbeat(60000, 0, 0, &kept,
		  "[terse: still running after 1 min 0 s; 0 lines, 0 B so far: terse read " ID
		  "]\n");
	heartbeat(5500, 1, 10, &lost,
		  "[terse: still running after 5.5 s; 1 line, 10 B so far: not kept: No space "
		  "left on device]\n");
	heartbeat(5500, 1, 10, &in_a_file,
		  "[terse: still running after 5.5 s; 1 line, 10 B so far]\n");
}

TEST(what_it_waits_for)
{
	static const struct {
		enum wait_kind wait;
		const char *want;
	} cases[] = {
		{WAIT_SLEEP, "; a\uFFFDb sleeps]\n"},
		{WAIT_SOCKET, "; a\uFFFDb waits for data on a socket]\n"},
		{WAIT_LOCK, "; a\uFFFDb waits for a lock]\n"},
		{WAIT_STDIN, "; a\uFFFDb waits for its standard input]\n"},
		{WAIT_KEYS,
		 "; a\uFFFDb waits for keys that nobody can type (a run with yield=5s lets "
		 "you)]\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer out = BUFFER_INIT;
		char want[256];
		snprintf(want, sizeof(want),
			 "[terse: still running after 5.5 s; 1 line, 10 B so far: terse read " ID
			 "%s",
			 cases[i].want);
		wording_heartbeat(&out, 5500, 1, 10, cases[i].wait, "a\033b", &kept);
		assert_text(&out, want);
	}
}

TEST(notes_on_an_end)
{
	struct wording_ending e = ended(1);
	e.picture = true;
	status(&e, "[terse: exit 1 (above: its screen, as it was last)]\n");
	e.hung_up = true;
	status(&e, "[terse: exit 1 (hung up: it waited for keys that nobody can type; a run "
		   "with yield=5s lets you; above: its screen, as it was last)]\n");
	e.hung_up = false;
	e.timed_out = true;
	status(&e, "[terse: timed out (exit 124; above: its screen, as it was last)]\n");
	struct buffer out = BUFFER_INIT;
	e = ended(3);
	e.background = "tee still writes";
	wording_status(&out, &e, &kept_stderr);
	assert_text(&out, "[terse: exit 3; tee still writes: terse read " ID " --stderr]\n");
	out = (struct buffer)BUFFER_INIT;
	wording_binary(&out, &e, "gzip", &kept);
	assert_text(
		&out,
		"[terse: exit 3 after 12.3 s; 473 KB of binary output (gzip); tee still writes: "
		"terse path --raw " ID "]\n");
	out = (struct buffer)BUFFER_INIT;
	wording_person(&out, &e, &kept);
	assert_text(&out, "[terse: 8,432 lines, 473 KB; tee still writes: terse read " ID "]\n");
}

static void binary(const char *kind, const struct wording_place *place, const char *want)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = {.exit_code = 0, .duration_ms = 3, .bytes = 12897485};
	wording_binary(&out, &e, kind, place);
	assert_text(&out, want);
}

TEST(binaries)
{
	binary("gzip", &kept,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output (gzip): terse path --raw " ID
	       "]\n");
	binary(NULL, &kept,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output: terse path --raw " ID "]\n");
	binary(NULL, &kept_stderr,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output: terse path --raw " ID "]\n");
	binary("ELF", &lost,
	       "[terse: exit 0 after 3 ms; 12.3 MB of binary output (ELF): not kept: No space left "
	       "on device]\n");
	binary("ELF", &in_a_file, "[terse: exit 0 after 3 ms; 12.3 MB of binary output (ELF)]\n");
}

TEST(no_end)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = ended(-1);
	e.state = WORDING_RUNNING;
	wording_end(&out, &e);
	assert_text(&out, "running after 12.3 s");
	e.state = WORDING_FILE;
	const struct wording_place place = {.id = "'a b'"};
	wording_footer(&out, &e, &place);
	assert_text(&out, "[terse: 8,432 lines, 473 KB: terse read 'a b' [--lines "
			  "FROM-TO], terse search "
			  "'a b' REGEX]\n");
}

TEST(person)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = ended(0);
	wording_person(&out, &e, &kept);
	assert_text(&out, "[terse: 8,432 lines, 473 KB: terse read " ID "]\n");
	wording_person(&out, &e, &lost);
	assert_text(&out, "[terse: 8,432 lines, 473 KB: not kept: No space left on device]\n");
}

/* Lines are appended to what is there. */
TEST(appends)
{
	struct buffer out = BUFFER_INIT;
	struct wording_ending e = ended(2);
	buffer_append_string(&out, "before\n");
	wording_status(&out, &e, &kept);
	assert_text(&out, "before\n[terse: exit 2]\n");
}

#define READ "read_command_output artifact_id=" ID

/* Where a model has tools and no command line, the calls stand where the commands do. */
TEST(tools)
{
	struct wording_ending e = ended(1);
	const struct preview_piece gap = {
		.kind = PREVIEW_GAP, .from = 31, .to = 1234, .bytes = 62464, .spelled = true};
	marker(&gap, &for_tools, "[... lines 31-1234, 61.0 KB: " READ " offset=31 limit=1204]\n");
	marker(&gap, &for_tools_stderr,
	       "[... lines 31-1234, 61.0 KB: " READ " stream=stderr offset=31 limit=1204]\n");
	footer(&e, &for_tools,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: " READ
	       " [offset=FROM limit=COUNT | search=REGEX]]\n");
	e.cuts = true;
	footer(&e, &for_tools_stderr,
	       "[terse: exit 1 after 12.3 s; 8,432 lines, 473 KB: " READ
	       " stream=stderr [offset=FROM limit=COUNT | bytes=FROM-TO | search=REGEX]]\n");
	struct buffer out = BUFFER_INIT;
	wording_binary(&out, &e, "gzip", &for_tools_stderr);
	assert_text(&out, "[terse: exit 1 after 12.3 s; 473 KB of binary output (gzip): " READ
			  " stream=raw]\n");
	wording_read_some_bytes(&out, &for_tools);
	assert_text(&out, READ " bytes=");
}

TEST(tools_of_running)
{
	struct wording_ending e = {
		.state = WORDING_RUNNING, .duration_ms = 10000, .lines = 12, .bytes = 340};
	footer(&e, &for_tools,
	       "[terse: running after 10.0 s; 12 lines, 340 B; wait: await_command artifact_id=" ID
	       "; with that ID: signal_command (ends it)]\n");
	e.typing = e.omits = true;
	footer(&e, &for_tools,
	       "[terse: running after 10.0 s; 12 lines, 340 B; wait: await_command artifact_id=" ID
	       "; with that ID: read_command_output offset=FROM limit=COUNT, send_input, screen, "
	       "signal_command (ends it)]\n");
	e.prompt = "Password: ";
	e.omits = false;
	footer(&e, &for_tools,
	       "[terse: waiting for input: \"Password: \"; answer: send_input artifact_id=" ID
	       " text=TEXT keys=[\"enter\"]; with that ID: screen, signal_command (ends it)]\n");
	e.prompt = "";
	footer(&e, &for_tools,
	       "[terse: waiting for input; screen: screen artifact_id=" ID
	       "; with that ID: send_input text=TEXT keys=[\"enter\"], signal_command (ends "
	       "it)]\n");
}

TEST_MAIN(NULL, NULL)
