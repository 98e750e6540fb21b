// A report in blocks, word for word.

#include "supervisor/report/report.h"

#include "tests/unit/report.h"
#include "tests/unit/unit.h"

#define ID "cmd-1m5zq8k3x7f0"

static void is(struct report *r, const char *want)
{
	report_is(r, true, want);
}

TEST(headers)
{
	static const struct {
		struct report report;
		const char *want;
	} cases[] = {
		{{.exit_code = 3}, "Command executed in '/w'. Exit code: 3\n\nNo output.\n"},
		{{.exit_code = -1, .signal = 9},
		 "Command executed in '/w'. Killed by SIGKILL\n\nNo output.\n"},
		{{.exit_code = -1, .signal = 40},
		 "Command executed in '/w'. Killed by signal 40\n\nNo output.\n"},
		{{.exit_code = 124, .timed_out = true},
		 "Command executed in '/w'. Timed out. Exit code: 124\n\nNo output.\n"},
		{{.exit_code = -1, .signal = 1, .state = REPORT_INTERRUPTED},
		 "Command executed in '/w'. Interrupted\n\nNo output.\n"},
		{{.exit_code = 127,
		  .state = REPORT_NOT_STARTED,
		  .error_code = "not_found",
		  .error_message = "x\x1b: command not found"},
		 "Command not executed in '/w'. Exit code: 127\n\n"
		 "Error: x\\x1b: command not found\n"},
		{{.exit_code = -1,
		  .state = REPORT_INTERRUPTED,
		  .error_code = "supervisor_killed",
		  .error_message = "gone"},
		 "Command executed in '/w'. Interrupted\n\nError: gone\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report r = cases[i].report;
		r.cwd = "/w";
		is(&r, cases[i].want);
	}
}

TEST(short_output)
{
	struct report r = report_make();
	report_set_text(&r.streams[0], "out\n", 1);
	is(&r, "Command executed in '/work'. Exit code: 0\n\nOutput:\nout\n");
	r = report_make();
	report_set_text(&r.streams[0], "no newline", 1);
	report_set_text(&r.streams[1], "err\n", 1);
	report_warn(&r, "one");
	report_warn(&r, "two\x1b");
	is(&r, "Command executed in '/work'. Exit code: 0\n\nOutput:\nno newline\n\n"
	       "Error output:\nerr\n\nWarning: one\n\nWarning: two\\x1b\n");
	r = report_make();
	report_set_text(&r.streams[1], "err\n", 1);
	is(&r, "Command executed in '/work'. Exit code: 0\n\nError output:\nerr\n");
}

static void cut(struct report_stream *s, uint64_t bytes)
{
	buffer_append_string(&s->text, "first\n[... marker]\nlast\n");
	s->total_lines = 8432;
	s->total_bytes = bytes;
	s->broken = LIMIT_BYTES;
	assert_int_equal(report_add_range(s, 1, 1), 0);
	assert_int_equal(report_add_range(s, 8432, 8432), 0);
}

TEST(long_output)
{
	struct report r = report_make();
	r.exit_code = 1;
	r.id = ID;
	cut(&r.streams[0], 48435);
	is(&r, "Command executed in '/work'. Exit code: 1\n\n"
	       "Output (47.3KB) persisted. Artifact ID: " ID "\n\n"
	       "Preview:\nfirst\n[... marker]\nlast\n\n"
	       "Use terse read " ID " [--lines FROM-TO] to view the full output if needed.\n");
	r = report_make();
	r.id = ID;
	report_set_text(&r.streams[0], "short\n", 1);
	cut(&r.streams[1], 812);
	r.streams[1].broken = LIMIT_COUNT;
	r.streams[1].limit = (struct limit){.count = 2000};
	is(&r, "Command executed in '/work'. Exit code: 0\n\n"
	       "Output:\nshort\n\n"
	       "Error output (812B) persisted. Artifact ID: " ID "\n\n"
	       "Preview (limit 2,000 lines):\nfirst\n[... marker]\nlast\n\n"
	       "Use terse read " ID
	       " --stderr [--lines FROM-TO] to view the full error output if needed.\n");
}

TEST(not_kept)
{
	struct report r = report_make();
	cut(&r.streams[0], 1258291);
	report_warn(&r, "stdout: output not kept: No space left on device");
	is(&r, "Command executed in '/work'. Exit code: 0\n\n"
	       "Output (1.2MB) not persisted.\n\n"
	       "Preview:\nfirst\n[... marker]\nlast\n\n"
	       "Warning: stdout: output not kept: No space left on device\n");
}

TEST(binary)
{
	struct report r = report_make();
	r.id = ID;
	r.streams[0] =
		(struct report_stream){.binary = true, .kind = "gzip", .total_bytes = 25 * 1024};
	is(&r, "Command executed in '/work'. Exit code: 0\n\n"
	       "Output (25.0KB, binary: gzip) persisted. Artifact ID: " ID "\n\n"
	       "Use terse path --raw " ID " to get at the bytes.\n");
	r = report_make();
	r.streams[0] = (struct report_stream){.binary = true, .total_bytes = 5};
	is(&r, "Command executed in '/work'. Exit code: 0\n\nOutput (5B, binary) not persisted.\n");
}

/* Asked for in full, and too long for memory. */
TEST(from_disk)
{
	static const char *const pieces[] = {"one\n", "", "two", NULL};
	struct report r = report_make();
	struct report_pieces p = {.next = pieces, .stream = &r.streams[0]};
	r.id = ID;
	r.streams[0].total_lines = 2;
	r.streams[0].total_bytes = 7;
	r.streams[0].next = report_pieces_next;
	r.streams[0].ctx = &p;
	is(&r, "Command executed in '/work'. Exit code: 0\n\nOutput:\none\ntwo\n");
}

TEST_MAIN(NULL, NULL)
