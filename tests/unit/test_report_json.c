// A report as one JSON object, word for word.

#include "supervisor/report/report.h"

#include "supervisor/report/wording.h"
#include <jansson.h>

#include "tests/unit/report.h"
#include "tests/unit/unit.h"

#define NO_TEXT "\"stdout\":\"\",\"stderr\":\"\""
#define START   "{\"version\":1,\"command\":[\"npm\",\"test\"],\"cwd\":\"/work\","
#define TIMES   "\"started\":\"2026-11-23T09:03:34.123Z\",\"duration_ms\":877,"

static void is(struct report *r, const char *want)
{
	report_is(r, want);
}

TEST(ends_of_the_command)
{
	static const struct {
		enum report_state state;
		int exit_code, signal;
		bool timed_out;
		const char *how, *then;
	} cases[] = {
		{REPORT_DONE, 0, 0, false, "\"exit_code\":0,\"success\":true,",
		 "\"state\":\"done\","},
		{REPORT_DONE, 3, 0, false, "\"exit_code\":3,\"success\":false,",
		 "\"state\":\"done\","},
		{REPORT_DONE, -1, 11, false, "\"signal\":\"SIGSEGV\",\"success\":false,",
		 "\"state\":\"done\","},
		/* A real-time signal has no name. */
		{REPORT_DONE, -1, 40, false, "\"signal\":\"40\",\"success\":false,",
		 "\"state\":\"done\","},
		/* At most one of the two is set. */
		{REPORT_DONE, 124, 15, true, "\"exit_code\":124,\"success\":false,",
		 "\"timed_out\":true,\"state\":\"done\","},
		/* The command caught the signal of the timeout and was content. */
		{REPORT_DONE, 0, 0, true, "\"exit_code\":0,\"success\":false,",
		 "\"timed_out\":true,\"state\":\"done\","},
		{REPORT_RUNNING, -1, 0, false, "", "\"state\":\"running\","},
		{REPORT_INTERRUPTED, -1, 1, false, "\"signal\":\"SIGHUP\",\"success\":false,",
		 "\"state\":\"interrupted\","},
		{REPORT_INTERRUPTED, 0, 0, false, "\"exit_code\":0,\"success\":false,",
		 "\"state\":\"interrupted\","},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct report r = report_make();
		char want[2000];
		r.state = cases[i].state;
		r.exit_code = cases[i].exit_code;
		r.signal = cases[i].signal;
		r.timed_out = cases[i].timed_out;
		snprintf(want, sizeof(want), START "%s" TIMES "%s" NO_TEXT "}\n", cases[i].how,
			 cases[i].then);
		is(&r, want);
	}
}

TEST(not_started)
{
	struct report r = report_make();
	r.command = NULL;
	r.cwd = "/a \"b\"\n";
	r.state = REPORT_NOT_STARTED;
	r.exit_code = 125;
	r.error_code = "usage";
	r.error_message = "--bogus: no such option \x1b";
	is(&r,
	   "{\"version\":1,\"cwd\":\"/a \\\"b\\\"\\n\",\"exit_code\":125,\"success\":false," TIMES
	   "\"state\":\"not_started\"," NO_TEXT ",\"error\":{\"code\":\"usage\","
	   "\"message\":\"--bogus: no such option \\u001b\"}}\n");
}

/* Every field of the counts, with something in it. */
TEST(counts)
{
	struct report r = report_make();
	struct report_stream *out = &r.streams[0], *err = &r.streams[1];
	buffer_append_string(&out->text, "a\tb\n\"c\"\nz");
	out->total_lines = 900;
	out->total_bytes = 12345;
	out->limit = (struct limit){.unit = UNIT_MATCHES};
	out->broken = LIMIT_COUNT;
	out->lines_truncated = 1;
	out->last_line_partial = true;
	assert_int_equal(report_add_range(out, 1, 1), 0);
	assert_int_equal(report_add_range(out, 2, 2), 0);
	assert_int_equal(report_add_range(out, 900, 900), 0);
	report_set_text(err, "caf\xC3\xA9 \xEF\xBF\xBD\n", 1);
	r.id = "cmd-1m5zq8k3x7f0";
	r.paths[0] = "/s/cmd-1m5zq8k3x7f0.txt";
	r.paths[2] = "/s/cmd-1m5zq8k3x7f0.raw";
	r.session = "mine";
	report_warn(&r, "%s: %d", "first \"one\"", 1);
	report_warn(&r, "second");
	is(&r, START
	   "\"exit_code\":0,\"success\":true," TIMES
	   "\"state\":\"done\",\"stdout\":\"a\\tb\\n\\\"c\\\"\\nz\","
	   "\"stderr\":\"caf\xC3\xA9 \xEF\xBF\xBD\\n\",\"truncation\":{\"stdout\":{"
	   "\"truncated\":true,\"truncated_by\":\"matches\",\"total_lines\":900,"
	   "\"total_bytes\":12345,\"returned_lines\":3,\"returned_bytes\":9,"
	   "\"ranges\":[{\"from\":1,\"to\":2},{\"from\":900,\"to\":900}],\"lines_truncated\":1,"
	   "\"last_line_partial\":true}},"
	   "\"artifact\":{\"id\":\"cmd-1m5zq8k3x7f0\",\"path\":\"/s/cmd-1m5zq8k3x7f0.txt\","
	   "\"raw_path\":\"/s/cmd-1m5zq8k3x7f0.raw\",\"session\":\"mine\"},"
	   "\"warnings\":[\"first \\\"one\\\": 1\",\"second\"]}\n");
}

/* The value of a field of the object, after all of it was written. */
static json_t *written(struct report *r)
{
	struct buffer out = BUFFER_INIT;
	while (report_next(r, &out) > 0)
		;
	json_t *object = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(object);
	buffer_release(&out);
	report_release(r);
	return object;
}

TEST(since_the_last_run)
{
	struct wording_since since = {.id = "cmd-1m5zq8k3x7f0", .exit_code = 1};
	struct report r = report_make();
	r.since = &since;
	is(&r, START "\"exit_code\":0,\"success\":true," TIMES "\"state\":\"done\"," NO_TEXT
		     ",\"since\":{\"id\":\"cmd-1m5zq8k3x7f0\",\"exit_code\":1,"
		     "\"identical\":false}}\n");
	since = (struct wording_since){
		.id = "cmd-1m5zq8k3x7f0", .exit_code = -1, .signal = 9, .identical = true};
	r = report_make();
	r.since = &since;
	is(&r, START "\"exit_code\":0,\"success\":true," TIMES "\"state\":\"done\"," NO_TEXT
		     ",\"since\":{\"id\":\"cmd-1m5zq8k3x7f0\",\"signal\":\"SIGKILL\","
		     "\"identical\":true}}\n");
	since = (struct wording_since){
		.id = "cmd-1m5zq8k3x7f0", .exit_code = 1, .tests = "failed: 1 (new: \xe2\x80\x9c)"};
	r = report_make();
	r.since = &since;
	is(&r, START "\"exit_code\":0,\"success\":true," TIMES "\"state\":\"done\"," NO_TEXT
		     ",\"since\":{\"id\":\"cmd-1m5zq8k3x7f0\",\"exit_code\":1,"
		     "\"identical\":false,\"tests\":\"failed: 1 (new: \xe2\x80\x9c)\"}}\n");
	since.id[0] = '\0';
	r = report_make();
	r.since = &since;
	is(&r, START "\"exit_code\":0,\"success\":true," TIMES "\"state\":\"done\"," NO_TEXT "}\n");
}

TEST(every_truncated_by)
{
	static const struct {
		enum limit_part broken;
		enum unit unit;
		bool binary;
		const char *want;
	} cases[] = {
		{LIMIT_BYTES, UNIT_LINES, false, "bytes"},
		{LIMIT_COUNT, UNIT_LINES, false, "lines"},
		{LIMIT_COUNT, UNIT_MATCHES, false, "matches"},
		{LIMIT_COUNT, UNIT_RESULTS, false, "results"},
		{LIMIT_COUNT, UNIT_ENTRIES, false, "entries"},
		{LIMIT_NONE, UNIT_LINES, true, "binary"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (int which = 0; which < 2; which++) {
			struct report r = report_make();
			r.streams[which] = (struct report_stream){
				.total_lines = !cases[i].binary,
				.total_bytes = 5,
				.binary = cases[i].binary,
				.limit = {.unit = cases[i].unit},
				.broken = cases[i].broken,
			};
			json_t *object = written(&r), *truncation, *stream;
			truncation = json_object_get(object, "truncation");
			stream = json_object_get(truncation, which == 0 ? "stdout" : "stderr");
			assert_true(json_is_true(json_object_get(stream, "truncated")));
			assert_string_equal(
				json_string_value(json_object_get(stream, "truncated_by")),
				cases[i].want);
			json_decref(object);
		}
	}
}

/* From disk, in pieces; then one that can't be read on. */
TEST(a_text_in_pieces)
{
	static const char *const pieces[] = {"one\n", "", "\"two\"\n", NULL};
	for (int error = 0; error <= EIO; error += EIO) {
		struct report r = report_make();
		struct report_pieces p = {.next = pieces, .error = error, .stream = &r.streams[1]};
		r.streams[1].total_lines = 2;
		r.streams[1].next = report_pieces_next;
		r.streams[1].ctx = &p;
		json_t *object = written(&r), *stream;
		assert_string_equal(json_string_value(json_object_get(object, "stderr")),
				    "one\n\"two\"\n");
		stream = json_object_get(json_object_get(object, "truncation"), "stderr");
		assert_int_equal(json_integer_value(json_object_get(stream, "returned_bytes")),
				 error ? 10 : 0);
		json_t *warnings = json_object_get(object, "warnings");
		assert_int_equal(json_array_size(warnings), error != 0);
		char warning[128];
		/* The words are libc's. */
		snprintf(warning, sizeof(warning), "stderr: reading the text back: %s",
			 strerror(EIO));
		if (error)
			assert_string_equal(json_string_value(json_array_get(warnings, 0)),
					    warning);
		json_decref(object);
	}
}

/* A text of megabytes is written in pieces that are cut between characters. */
TEST(a_long_text)
{
	struct report r = report_make();
	struct buffer *text = &r.streams[0].text, copy = BUFFER_INIT;
	for (int i = 0; i < 100000; i++)
		buffer_append_string(text, "\xC3\xA9\xE2\x82\xAC\"\xF0\x9F\x98\x80\n");
	buffer_append(&copy, text->data, text->len);
	json_t *object = written(&r);
	const json_t *string = json_object_get(object, "stdout");
	assert_int_equal(json_string_length(string), copy.len);
	assert_memory_equal(json_string_value(string), copy.data, copy.len);
	json_decref(object);
	buffer_release(&copy);
}

TEST_MAIN(NULL, NULL)
