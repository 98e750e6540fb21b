// A report as one compact JSON object on one line. Its fields are an interface for programs:
// tests/unit/test_report_json.c holds them word for word.

#include "supervisor/base/json_text.h"
#include "supervisor/report/report.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

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

static int add_string(struct buffer *out, const char *text)
{
	return text ? json_text_quote(out, text, strlen(text)) : add_raw(out, "null");
}

static int add_bool(struct buffer *out, bool value)
{
	return add_raw(out, value ? "true" : "false");
}

static int add_count(struct buffer *out, const char *name, uint64_t value)
{
	return buffer_printf(out, ",\"%s\":%" PRIu64, name, value);
}

static int add_command(struct buffer *out, char *const *command)
{
	int bad = add_raw(out, command ? "[" : "null");
	for (size_t i = 0; command && command[i] && !bad; i++) {
		bad |= i > 0 ? add_raw(out, ",") : 0;
		bad |= add_string(out, command[i]);
	}
	return bad || (command && add_raw(out, "]")) ? -1 : 0;
}

/* "2026-11-20T09:03:34.123Z" */
static int add_time(struct buffer *out, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char date[32];
	struct tm tm;
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		return add_raw(out, "null");
	return buffer_printf(out, "\"%s.%03dZ\"", date, (int)(ms % 1000));
}

/* "SIGTERM" */
static int add_signal(struct buffer *out, int sig)
{
	const char *name = sig > 0 ? sigabbrev_np(sig) : NULL;
	if (sig <= 0)
		return add_raw(out, "null");
	return name ? buffer_printf(out, "\"SIG%s\"", name) : buffer_printf(out, "\"%d\"", sig);
}

static int write_start(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	bool running = r->state == REPORT_RUNNING;
	bool success = r->state == REPORT_DONE && r->exit_code == 0 && !r->timed_out;
	int bad = add_raw(out, "{\"command\":") || add_command(out, r->command);
	bad |= add_raw(out, ",\"cwd\":") || add_string(out, r->cwd);
	bad |= add_raw(out, ",\"exit_code\":");
	bad |= r->exit_code >= 0 ? buffer_printf(out, "%d", r->exit_code) : add_raw(out, "null");
	bad |= add_raw(out, ",\"signal\":") || add_signal(out, r->signal);
	bad |= add_raw(out, ",\"success\":");
	bad |= running ? add_raw(out, "null") : add_bool(out, success);
	bad |= add_raw(out, ",\"started\":") || add_time(out, r->started_ms);
	bad |= add_raw(out, ",\"ended\":");
	bad |= running ? add_raw(out, "null") : add_time(out, r->ended_ms);
	bad |= buffer_printf(out, ",\"duration_ms\":%" PRId64, r->duration_ms);
	bad |= add_raw(out, ",\"timed_out\":") || add_bool(out, r->timed_out);
	bad |= add_raw(out, ",\"state\":") || add_string(out, states[r->state]);
	return bad || add_raw(out, ",\"stdout\":\"") ? -1 : 0;
}

static int write_text(struct report_writer *w, int which, struct buffer *out)
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
	return write_text(w, 0, out);
}

static int write_between(struct report_writer *w, struct buffer *out)
{
	(void)w;
	return add_raw(out, "\",\"stderr\":\"");
}

static int write_stderr(struct report_writer *w, struct buffer *out)
{
	return write_text(w, 1, out);
}

static int add_truncation(struct buffer *out, const char *name, const struct report_stream *s)
{
	bool truncated = report_is_truncated(s);
	const char *by = s->binary ? "binary" : limit_name(&s->limit, s->broken);
	int bad = buffer_printf(out, "\"%s\":{\"truncated\":", name) || add_bool(out, truncated);
	bad |= add_raw(out, ",\"truncated_by\":") || add_string(out, truncated ? by : NULL);
	bad |= add_count(out, "total_lines", s->total_lines);
	bad |= add_count(out, "total_bytes", s->total_bytes);
	bad |= add_count(out, "returned_lines", s->returned_lines);
	bad |= add_count(out, "returned_bytes", s->returned_bytes);
	bad |= add_raw(out, ",\"ranges\":[");
	for (size_t i = 0; i < s->range_count; i++)
		bad |= buffer_printf(out, "%s{\"from\":%" PRIu64 ",\"to\":%" PRIu64 "}",
				     i > 0 ? "," : "", s->ranges[i].from, s->ranges[i].to);
	bad |= add_raw(out, "]") || add_count(out, "lines_truncated", s->lines_truncated);
	bad |= add_raw(out, ",\"last_line_partial\":") || add_bool(out, s->last_line_partial);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int add_artifact(struct buffer *out, const struct report *r)
{
	if (!r->id)
		return add_raw(out, "null");
	int bad = add_raw(out, "{\"id\":") || add_string(out, r->id);
	bad |= add_raw(out, ",\"path\":") || add_string(out, r->path);
	bad |= add_raw(out, ",\"session\":") || add_string(out, r->session);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int add_warnings(struct buffer *out, const struct buffer *warnings)
{
	int bad = add_raw(out, "[");
	for (size_t at = 0; at < warnings->len; at += strlen(warnings->data + at) + 1)
		bad |= add_raw(out, at > 0 ? "," : "") || add_string(out, warnings->data + at);
	return bad || add_raw(out, "]") ? -1 : 0;
}

static int write_end(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	int bad = add_raw(out, "\",\"truncation\":{");
	bad |= add_truncation(out, "stdout", &r->streams[0]) || add_raw(out, ",");
	bad |= add_truncation(out, "stderr", &r->streams[1]);
	bad |= add_raw(out, "},\"artifact\":") || add_artifact(out, r);
	/* Nothing is: each run is a new one. The field is there for callers that keep reports. */
	bad |= add_raw(out, ",\"cached\":false,\"warnings\":") || add_warnings(out, &r->warnings);
	bad |= add_raw(out, ",\"error\":");
	if (r->error_code) {
		bad |= add_raw(out, "{\"code\":") || add_string(out, r->error_code);
		bad |= add_raw(out, ",\"message\":") || add_string(out, r->error_message);
		bad |= add_raw(out, "}");
	} else {
		bad |= add_raw(out, "null");
	}
	return bad || add_raw(out, "}\n") ? -1 : 0;
}

void report_write_json(struct report_writer *w, struct report *r)
{
	static int (*const steps[])(struct report_writer *, struct buffer *) = {
		write_start, write_stdout, write_between, write_stderr, write_end, NULL};
	*w = (struct report_writer){.report = r, .steps = steps};
}
