// See report.h.

#include "supervisor/report/report.h"

#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A text is written in pieces of this size. */
#define PIECE ((size_t)64 * 1024)

int report_add_range(struct report_stream *s, uint64_t from, uint64_t to)
{
	s->returned_lines += to - from + 1;
	if (s->range_count > 0 && s->ranges[s->range_count - 1].to + 1 == from) {
		s->ranges[s->range_count - 1].to = to;
		return 0;
	}
	struct report_range *added =
		array_add(&s->ranges, &s->range_count, &s->range_cap, sizeof(*added));
	if (!added)
		return -1;
	*added = (struct report_range){from, to};
	return 0;
}

bool report_is_truncated(const struct report_stream *s)
{
	return s->binary || s->returned_lines < s->total_lines || s->lines_truncated > 0;
}

void report_warn(struct report *r, const char *format, ...)
{
	struct buffer warning = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&warning, format, args);
	va_end(args);
	buffer_append(&warning, "", 1);
	if (buffer_check(&warning) == 0)
		buffer_try_append(&r->warnings, warning.data, warning.len);
	buffer_release(&warning);
}

void report_release(struct report *r)
{
	for (int i = 0; i < 2; i++) {
		buffer_release(&r->streams[i].text);
		free(r->streams[i].ranges);
		r->streams[i].ranges = NULL;
	}
	buffer_release(&r->piece);
	buffer_release(&r->warnings);
}

/* Appends the next piece of a stream's text to `out`, from memory or by its `next`. Returns 1, or 0
   at the end. If reading fails, the text ends there and the report gets a warning. */
static int report_next_text(struct report *r, int which, struct buffer *out)
{
	struct report_stream *s = &r->streams[which];
	size_t before = out->len, left = s->text.len - s->handed_out;
	if (left > 0) {
		const char *text = s->text.data + s->handed_out;
		size_t n = utf8_floor(text, left, left < PIECE ? left : PIECE);
		buffer_append(out, text, n);
		s->handed_out += n;
	} else if (s->next) {
		int more = s->next(s->ctx, out);
		if (more < 0 && errno == ENOMEM)
			return -1;
		if (more < 0)
			report_warn(r, "%s: reading the text back: %s",
				    which == 0 ? "stdout" : "stderr", strerror(errno));
		if (more <= 0)
			s->next = NULL;
	}
	s->returned_bytes += out->len - before;
	return s->handed_out < s->text.len || s->next;
}

/* The fields are an interface for programs: tests/unit/test_report_json.c compares them word for
   word. Fields without a value are left out. */

/* A field whose name or meaning changes needs a new number. */
#define VERSION 1

static const char *const states[] = {
	[REPORT_DONE] = "done",
	[REPORT_RUNNING] = "running",
	[REPORT_INTERRUPTED] = "interrupted",
	[REPORT_NOT_STARTED] = "not_started",
};

static void report_json_add_stream(struct buffer *out, const char *name,
				   const struct report_stream *s)
{
	if (!report_is_truncated(s))
		return;
	json_begin(out, name, '{');
	json_add_bool(out, "truncated", true);
	json_add_string(out, "truncated_by",
			s->binary ? "binary" : limit_name(&s->limit, s->broken));
	json_add_count(out, "total_lines", s->total_lines);
	json_add_count(out, "total_bytes", s->total_bytes);
	json_add_count(out, "returned_lines", s->returned_lines);
	json_add_count(out, "returned_bytes", s->returned_bytes);
	json_begin(out, "ranges", '[');
	for (size_t i = 0; i < s->range_count; i++) {
		json_begin(out, NULL, '{');
		json_add_count(out, "from", s->ranges[i].from);
		json_add_count(out, "to", s->ranges[i].to);
		json_end(out, '}');
	}
	json_end(out, ']');
	json_add_count(out, "lines_truncated", s->lines_truncated);
	json_add_bool(out, "last_line_partial", s->last_line_partial);
	gap_append_member(out, &s->gaps);
	json_end(out, '}');
}

static void json_write_start(const struct report *r, struct buffer *out)
{
	json_begin(out, NULL, '{');
	json_add_count(out, "version", VERSION);
	if (r->command)
		json_add_command(out, "command", r->command, SIZE_MAX, 0);
	json_add_string(out, "cwd", r->cwd);
	/* At most one of the two is set. A run that timed out has an exit code, 124. */
	if (r->exit_code >= 0)
		json_add_number(out, "exit_code", r->exit_code);
	else if (r->signal > 0)
		json_add_signal(out, "signal", r->signal);
	if (r->state != REPORT_RUNNING)
		json_add_bool(out, "success",
			      r->state == REPORT_DONE && r->exit_code == 0 && !r->timed_out);
	json_add_time(out, "started", r->started_ms);
	json_add_number(out, "duration_ms", r->duration_ms);
	if (r->timed_out)
		json_add_bool(out, "timed_out", true);
	json_add_string(out, "state", states[r->state]);
	json_begin(out, "stdout", '"');
}

static void json_write_end(const struct report *r, struct buffer *out)
{
	static const char *const keys[REPORT_FILES] = {"path", "stderr_path", "raw_path",
						       "cast_path"};
	const struct wording_since *s = r->since;
	if (report_is_truncated(&r->streams[0]) || report_is_truncated(&r->streams[1])) {
		json_begin(out, "truncation", '{');
		report_json_add_stream(out, "stdout", &r->streams[0]);
		report_json_add_stream(out, "stderr", &r->streams[1]);
		json_end(out, '}');
	}
	if (r->id) {
		json_begin(out, "artifact", '{');
		json_add_string(out, "id", r->id);
		for (int i = 0; i < REPORT_FILES; i++) {
			if (r->paths[i])
				json_add_string(out, keys[i], r->paths[i]);
		}
		json_add_string(out, "session", r->session);
		json_end(out, '}');
	}
	/* "since":{"id":"cmd-...","exit_code":1,"identical":false} */
	if (s && s->id[0]) {
		json_begin(out, "since", '{');
		json_add_string(out, "id", s->id);
		if (s->exit_code >= 0)
			json_add_number(out, "exit_code", s->exit_code);
		else
			json_add_signal(out, "signal", s->signal);
		json_add_bool(out, "identical", s->identical);
		if (*s->tests)
			json_add_string(out, "tests", s->tests);
		json_end(out, '}');
	}
	if (r->is_cached) {
		json_add_bool(out, "cached", true);
		json_add_string(out, "cache_strategy", "age");
	}
	if (r->warnings.len > 0) {
		json_begin(out, "warnings", '[');
		const char *end = r->warnings.data + r->warnings.len;
		for (const char *at = r->warnings.data; at < end; at += strlen(at) + 1)
			json_add_string(out, NULL, at);
		json_end(out, ']');
	}
	if (r->error_code) {
		json_begin(out, "error", '{');
		json_add_string(out, "code", r->error_code);
		json_add_string(out, "message", r->error_message);
		json_end(out, '}');
	}
	json_end(out, '}');
	buffer_append(out, "\n", 1);
}

int report_next(struct report *r, struct buffer *out)
{
	if (r->part == REPORT_ALL)
		return 0;
	if (r->part == REPORT_START) {
		json_write_start(r, out);
		r->part++;
	} else {
		bool is_stderr = r->part == REPORT_STDERR;
		buffer_clear(&r->piece);
		int more = report_next_text(r, is_stderr, &r->piece);
		json_text_piece(out, r->piece.data, r->piece.len);
		if (more < 0 || buffer_check(&r->piece) < 0)
			return -1;
		r->part += more == 0;
		if (more == 0)
			json_end(out, '"');
		if (more == 0 && is_stderr)
			json_write_end(r, out);
		else if (more == 0)
			json_begin(out, "stderr", '"');
	}
	return buffer_check(out) < 0 ? -1 : r->part < REPORT_ALL;
}
