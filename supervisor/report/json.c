// A report as one compact JSON object on one line. Its fields are an interface for programs:
// tests/unit/test_report_json.c holds them word for word. What has nothing to tell is left out.

#include "supervisor/base/json_member.h"
#include "supervisor/base/json_text.h"
#include "supervisor/report/report.h"

#include <inttypes.h>
#include <string.h>

/* Of the fields: those that are there keep their names and meanings under the same number. */
#define VERSION 1

static const char *const states[] = {
	[REPORT_DONE] = "done",
	[REPORT_RUNNING] = "running",
	[REPORT_INTERRUPTED] = "interrupted",
	[REPORT_NOT_STARTED] = "not_started",
};

static int add_raw(struct buffer *out, const char *json)
{
	return buffer_append_string(out, json);
}

static int report_json_add_command(struct buffer *out, char *const *command)
{
	if (!command)
		return 0;
	int bad = json_member_key(out, "command") || add_raw(out, "[");
	for (size_t i = 0; command[i] && !bad; i++)
		bad = json_comma(out) || json_text_quote(out, command[i], strlen(command[i]));
	return bad || add_raw(out, "]") ? -1 : 0;
}

/* One of them at most: a run that timed out has the exit code of that. */
static int add_end(struct buffer *out, const struct report *r)
{
	if (r->exit_code >= 0)
		return json_member_number(out, "exit_code", r->exit_code);
	return r->signal > 0 ? json_member_signal(out, "signal", r->signal) : 0;
}

static int write_start(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	bool success = r->state == REPORT_DONE && r->exit_code == 0 && !r->timed_out;
	int bad = add_raw(out, "{") || json_member_count(out, "version", VERSION);
	bad |= report_json_add_command(out, r->command) || json_member_string(out, "cwd", r->cwd);
	bad |= add_end(out, r);
	bad |= r->state != REPORT_RUNNING && json_member_bool(out, "success", success);
	bad |= json_member_time(out, "started", r->started_ms);
	bad |= json_member_number(out, "duration_ms", r->duration_ms);
	bad |= r->timed_out && json_member_bool(out, "timed_out", true);
	bad |= json_member_string(out, "state", states[r->state]);
	return bad || json_member_key(out, "stdout") || add_raw(out, "\"") ? -1 : 0;
}

static int report_json_write_text(struct report_writer *w, int which, struct buffer *out)
{
	struct buffer *piece = &w->report->piece;
	buffer_clear(piece);
	int more = report_next_text(w->report, which, piece);
	if (json_text_append(out, piece->data, piece->len) < 0)
		more = -1;
	return more;
}

static int write_stdout(struct report_writer *w, struct buffer *out)
{
	return report_json_write_text(w, 0, out);
}

static int write_between(struct report_writer *w, struct buffer *out)
{
	(void)w;
	return add_raw(out, "\",\"stderr\":\"");
}

static int write_stderr(struct report_writer *w, struct buffer *out)
{
	return report_json_write_text(w, 1, out);
}

static int add_ranges(struct buffer *out, const struct report_stream *s)
{
	int bad = json_member_key(out, "ranges") || add_raw(out, "[");
	for (size_t i = 0; i < s->range_count; i++)
		bad |= buffer_printf(out, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}",
				     i > 0 ? "," : "", s->ranges[i].from, s->ranges[i].to);
	return bad || add_raw(out, "]") ? -1 : 0;
}

static int report_json_add_stream(struct buffer *out, const char *name,
				  const struct report_stream *s)
{
	const char *by = s->binary ? "binary" : limit_name(&s->limit, s->broken);
	if (!report_is_truncated(s))
		return 0;
	int bad = json_member_key(out, name) || add_raw(out, "{");
	bad |= json_member_bool(out, "truncated", true);
	bad |= json_member_string(out, "truncated_by", by);
	bad |= json_member_count(out, "total_lines", s->total_lines);
	bad |= json_member_count(out, "total_bytes", s->total_bytes);
	bad |= json_member_count(out, "returned_lines", s->returned_lines);
	bad |= json_member_count(out, "returned_bytes", s->returned_bytes);
	bad |= add_ranges(out, s) || json_member_count(out, "lines_truncated", s->lines_truncated);
	bad |= json_member_bool(out, "last_line_partial", s->last_line_partial);
	bad |= gap_append_member(out, &s->gaps);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int report_json_add_truncation(struct buffer *out, const struct report_stream streams[2])
{
	if (!report_is_truncated(&streams[0]) && !report_is_truncated(&streams[1]))
		return 0;
	int bad = json_member_key(out, "truncation") || add_raw(out, "{");
	bad |= report_json_add_stream(out, "stdout", &streams[0]) ||
	       report_json_add_stream(out, "stderr", &streams[1]);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int report_json_add_artifact(struct buffer *out, const struct report *r)
{
	static const char *const keys[REPORT_FILES] = {"path", "stderr_path", "raw_path",
						       "cast_path"};
	if (!r->id)
		return 0;
	int bad = json_member_key(out, "artifact") || add_raw(out, "{");
	bad |= json_member_string(out, "id", r->id);
	for (int i = 0; i < REPORT_FILES; i++)
		bad |= r->paths[i] && json_member_string(out, keys[i], r->paths[i]);
	bad |= json_member_string(out, "session", r->session);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int add_warnings(struct buffer *out, const struct buffer *warnings)
{
	if (warnings->len == 0)
		return 0;
	int bad = json_member_key(out, "warnings") || add_raw(out, "[");
	for (size_t at = 0, len; at < warnings->len; at += len + 1) {
		len = strlen(warnings->data + at);
		bad |= json_comma(out) || json_text_quote(out, warnings->data + at, len);
	}
	return bad || add_raw(out, "]") ? -1 : 0;
}

static int add_error(struct buffer *out, const struct report *r)
{
	if (!r->error_code)
		return 0;
	int bad = json_member_key(out, "error") || add_raw(out, "{");
	bad |= json_member_string(out, "code", r->error_code);
	bad |= json_member_string(out, "message", r->error_message);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int write_end(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	int bad = add_raw(out, "\"") || report_json_add_truncation(out, r->streams) ||
		  report_json_add_artifact(out, r);
	bad |= add_warnings(out, &r->warnings) || add_error(out, r);
	return bad || add_raw(out, "}\n") ? -1 : 0;
}

void report_write_json(struct report_writer *w, struct report *r)
{
	static int (*const steps[])(struct report_writer *, struct buffer *) = {
		write_start, write_stdout, write_between, write_stderr, write_end, NULL};
	*w = (struct report_writer){.report = r, .steps = steps};
}
