// See report.h.

#include "supervisor/report/report.h"

#include "lib/human.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* What is written of a text at a time. */
#define PIECE ((size_t)64 * 1024)

int report_add_range(struct report_stream *s, uint64_t from, uint64_t to)
{
	s->returned_lines += to - from + 1;
	if (s->range_count > 0 && s->ranges[s->range_count - 1].to + 1 == from) {
		s->ranges[s->range_count - 1].to = to;
		return 0;
	}
	if (s->range_count == s->range_cap) {
		size_t cap = s->range_cap ? 2 * s->range_cap : 8;
		struct report_range *more = realloc(s->ranges, cap * sizeof(*more));
		if (!more)
			return -1;
		s->ranges = more;
		s->range_cap = cap;
	}
	s->ranges[s->range_count++] = (struct report_range){from, to};
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
	if (buffer_append(&warning, "", 1) == 0)
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

int report_next(struct report_writer *w, struct buffer *out)
{
	if (!w->steps[w->step])
		return 0;
	int more = w->steps[w->step](w, out);
	if (more == 0)
		w->step++;
	return more < 0 ? -1 : w->steps[w->step] != NULL;
}

/* For writers: appends the next piece of a stream's text to `out`, whether from memory or from
   elsewhere. Returns 1, or 0 at the end; a text that can't be read on ends with a warning. */
static int report_next_text(struct report *r, int which, struct buffer *out)
{
	struct report_stream *s = &r->streams[which];
	size_t before = out->len, left = s->text.len - s->handed_out;
	if (left > 0) {
		const char *text = s->text.data + s->handed_out;
		size_t n = utf8_floor(text, left, left < PIECE ? left : PIECE);
		if (buffer_append(out, text, n) < 0)
			return -1;
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

// A report as one compact JSON object on one line. Its fields are an interface for programs:
// tests/unit/test_report_json.c holds them word for word. What has nothing to tell is left out.

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
	int bad = json_begin_array(out, "command");
	for (size_t i = 0; command[i] && !bad; i++)
		bad = json_add_text(out, NULL, command[i], strlen(command[i]));
	return bad || add_raw(out, "]") ? -1 : 0;
}

/* One of them at most: a run that timed out has the exit code of that. */
static int add_end(struct buffer *out, const struct report *r)
{
	if (r->exit_code >= 0)
		return json_add_number(out, "exit_code", r->exit_code);
	return r->signal > 0 ? json_add_signal(out, "signal", r->signal) : 0;
}

static int write_start(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	bool success = r->state == REPORT_DONE && r->exit_code == 0 && !r->timed_out;
	int bad = add_raw(out, "{") || json_add_count(out, "version", VERSION);
	bad |= report_json_add_command(out, r->command) || json_add_string(out, "cwd", r->cwd);
	bad |= add_end(out, r);
	bad |= r->state != REPORT_RUNNING && json_add_bool(out, "success", success);
	bad |= json_add_time(out, "started", r->started_ms);
	bad |= json_add_number(out, "duration_ms", r->duration_ms);
	bad |= r->timed_out && json_add_bool(out, "timed_out", true);
	bad |= json_add_string(out, "state", states[r->state]);
	return bad || json_begin_text(out, "stdout") ? -1 : 0;
}

static int report_json_write_text(struct report_writer *w, int which, struct buffer *out)
{
	struct buffer *piece = &w->report->piece;
	buffer_clear(piece);
	int more = report_next_text(w->report, which, piece);
	if (json_text_piece(out, piece->data, piece->len) < 0)
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
	int bad = json_begin_array(out, "ranges");
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
	int bad = json_begin_object(out, name);
	bad |= json_add_bool(out, "truncated", true);
	bad |= json_add_string(out, "truncated_by", by);
	bad |= json_add_count(out, "total_lines", s->total_lines);
	bad |= json_add_count(out, "total_bytes", s->total_bytes);
	bad |= json_add_count(out, "returned_lines", s->returned_lines);
	bad |= json_add_count(out, "returned_bytes", s->returned_bytes);
	bad |= add_ranges(out, s) || json_add_count(out, "lines_truncated", s->lines_truncated);
	bad |= json_add_bool(out, "last_line_partial", s->last_line_partial);
	bad |= gap_append_member(out, &s->gaps);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int report_json_add_truncation(struct buffer *out, const struct report_stream streams[2])
{
	if (!report_is_truncated(&streams[0]) && !report_is_truncated(&streams[1]))
		return 0;
	int bad = json_begin_object(out, "truncation");
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
	int bad = json_begin_object(out, "artifact");
	bad |= json_add_string(out, "id", r->id);
	for (int i = 0; i < REPORT_FILES; i++)
		bad |= r->paths[i] && json_add_string(out, keys[i], r->paths[i]);
	bad |= json_add_string(out, "session", r->session);
	return bad || add_raw(out, "}") ? -1 : 0;
}

static int add_warnings(struct buffer *out, const struct buffer *warnings)
{
	if (warnings->len == 0)
		return 0;
	int bad = json_begin_array(out, "warnings");
	for (size_t at = 0, len; at < warnings->len; at += len + 1) {
		len = strlen(warnings->data + at);
		bad |= json_add_text(out, NULL, warnings->data + at, len);
	}
	return bad || add_raw(out, "]") ? -1 : 0;
}

static int add_error(struct buffer *out, const struct report *r)
{
	if (!r->error_code)
		return 0;
	int bad = json_begin_object(out, "error");
	bad |= json_add_string(out, "code", r->error_code);
	bad |= json_add_string(out, "message", r->error_message);
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

// A report as blocks of text, in the form that agents with stored command output know:
//
//   Command executed in '/work'. Exit code: 1
//
//   Output (473KB) persisted. Artifact ID: cmd-1m5zq8k3x7f
//
//   Preview:
//   ...
//
//   Use terse read cmd-1m5zq8k3x7f to view the full output if needed.
//
// It is an interface: tests/unit/test_report_blocks.c holds it word for word.

/* "47.3KB" */
static int add_size(struct buffer *out, uint64_t bytes)
{
	char size[HUMAN_LEN];
	human_size(size, bytes);
	size_t number = strcspn(size, " ");
	if (buffer_append(out, size, number) < 0)
		return -1;
	return buffer_append_string(out, size + number + strspn(size + number, " "));
}

static int add_outcome(struct buffer *out, const struct report *r)
{
	if (r->timed_out)
		return buffer_append_string(out, "Timed out. Exit code: 124");
	if (r->state == REPORT_RUNNING)
		return buffer_append_string(out, "Still running");
	if (r->state == REPORT_INTERRUPTED)
		return buffer_append_string(out, "Interrupted");
	if (r->exit_code >= 0)
		return buffer_printf(out, "Exit code: %d", r->exit_code);
	const char *name = sigabbrev_np(r->signal);
	return name ? buffer_printf(out, "Killed by SIG%s", name)
		    : buffer_printf(out, "Killed by signal %d", r->signal);
}

static int blocks_write_header(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	const char *what = r->state == REPORT_NOT_STARTED ? "not executed" : "executed";
	int bad = buffer_printf(out, "Command %s in ", what);
	bad |= quote_text(out, r->cwd, strlen(r->cwd), '\'') || buffer_append_string(out, ". ");
	bad |= add_outcome(out, r) || buffer_append_string(out, "\n");
	if (r->error_code) {
		bad |= buffer_append_string(out, "\nError: ");
		bad |= quote_text(out, r->error_message, strlen(r->error_message), 0);
		bad |= buffer_append_string(out, "\n");
	} else if (r->streams[0].total_bytes == 0 && r->streams[1].total_bytes == 0) {
		bad |= buffer_append_string(out, "\nNo output.\n");
	}
	return bad ? -1 : 0;
}

/* "Output (473KB) persisted. Artifact ID: ...", or what else there is to say of it. */
static int blocks_add_place(struct buffer *out, const struct report *r, const char *title,
			    const struct report_stream *s)
{
	int bad = buffer_printf(out, "\n%s (", title) || add_size(out, s->total_bytes);
	if (s->binary)
		bad |= buffer_printf(out, ", binary%s%s", s->kind ? ": " : "",
				     s->kind ? s->kind : "");
	if (r->id)
		bad |= buffer_printf(out, ") persisted. Artifact ID: %s\n", r->id);
	else
		bad |= buffer_append_string(out, ") not persisted.\n");
	if (s->binary)
		return bad ? -1 : 0;
	bad |= buffer_append_string(out, "\nPreview");
	if (s->broken != LIMIT_NONE && s->broken != LIMIT_BYTES)
		bad |= buffer_append_string(out, " (") ||
		       wording_limit(out, &s->limit, s->broken) || buffer_append_string(out, ")");
	return bad || buffer_append_string(out, ":\n") ? -1 : 0;
}

static int write_title(struct report_writer *w, int which, struct buffer *out)
{
	const struct report *r = w->report;
	const struct report_stream *s = &r->streams[which];
	const char *title = which == 0 ? "Output" : "Error output";
	if (s->total_bytes == 0)
		return 0;
	/* A text that is read from disk was asked for in full. */
	if (report_is_truncated(s) && !s->next)
		return blocks_add_place(out, r, title, s);
	return buffer_printf(out, "\n%s:\n", title);
}

static int write_output_title(struct report_writer *w, struct buffer *out)
{
	return write_title(w, 0, out);
}

static int write_error_title(struct report_writer *w, struct buffer *out)
{
	return write_title(w, 1, out);
}

/* The text, with a newline behind it where it has none. */
static int blocks_write_text(struct report_writer *w, int which, struct buffer *out)
{
	size_t before = out->len;
	int more = report_next_text(w->report, which, out);
	if (out->len > before)
		w->in_line = out->data[out->len - 1] != '\n';
	if (more == 0 && w->in_line) {
		w->in_line = false;
		return buffer_append_string(out, "\n");
	}
	return more;
}

static int write_output(struct report_writer *w, struct buffer *out)
{
	return blocks_write_text(w, 0, out);
}

static int write_error(struct report_writer *w, struct buffer *out)
{
	return blocks_write_text(w, 1, out);
}

/* "Use terse read ID [--stderr] to view the full output if needed.", and what shows the first part
   of a line that is left out. */
static int blocks_add_hint(struct buffer *out, const struct report *r, int which)
{
	const struct report_stream *s = &r->streams[which];
	if (s->binary)
		return buffer_printf(out, "\nUse terse path --raw %s to get at the bytes.\n",
				     r->id);
	const char *what = which == 1 ? "error " : "", *option = which == 1 ? " --stderr" : "";
	if (buffer_printf(out, "\nUse terse read %s%s to view ", r->id, option) < 0 ||
	    (s->gaps.count ? buffer_printf(out, "what was kept of the %soutput.\n", what)
			   : buffer_printf(out, "the full %soutput if needed.\n", what)) < 0)
		return -1;
	if (!s->cut.bytes)
		return 0;
	return buffer_printf(out, "First cut: terse read %s%s --bytes %" PRIu64 ":%" PRIu64 "\n",
			     r->id, option, s->cut.from, s->cut.bytes);
}

static int write_footer(struct report_writer *w, struct buffer *out)
{
	const struct report *r = w->report;
	const struct buffer *warnings = &r->warnings;
	int bad = 0;
	for (int i = 0; r->id && i < 2; i++) {
		if (report_is_truncated(&r->streams[i]))
			bad |= blocks_add_hint(out, r, i);
	}
	for (size_t at = 0; at < warnings->len; at += strlen(warnings->data + at) + 1) {
		const char *warning = warnings->data + at;
		bad |= buffer_append_string(out, "\nWarning: ");
		bad |= quote_text(out, warning, strlen(warning), 0) ||
		       buffer_append_string(out, "\n");
	}
	return bad ? -1 : 0;
}

void report_write_blocks(struct report_writer *w, struct report *r)
{
	static int (*const steps[])(struct report_writer *, struct buffer *) = {
		blocks_write_header, write_output_title, write_output, write_error_title,
		write_error,         write_footer,       NULL};
	*w = (struct report_writer){.report = r, .steps = steps};
}
