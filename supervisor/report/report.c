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

/* The size of the pieces in which a text is written. */
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

/* For writers: appends the next piece of a stream's text to `out`, whether from memory or from
   elsewhere. Returns 1, or 0 at the end; a text that can't be read on ends with a warning. */
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

// A report as one compact JSON object on one line. Its fields are an interface for programs:
// tests/unit/test_report_json.c holds them word for word. Fields without a value are left out.

/* Fields keep their names and meanings under the same number. */
#define VERSION 1

static const char *const states[] = {
	[REPORT_DONE] = "done",
	[REPORT_RUNNING] = "running",
	[REPORT_INTERRUPTED] = "interrupted",
	[REPORT_NOT_STARTED] = "not_started",
};

/* Whether the text that is returned is not just that of the command. */
static bool report_is_changed(const struct report_stream *s)
{
	return report_is_truncated(s) || s->grouped;
}

static void report_json_add_stream(struct buffer *out, const char *name,
				   const struct report_stream *s)
{
	bool is_truncated = report_is_truncated(s);
	if (!report_is_changed(s))
		return;
	json_begin_object(out, name);
	json_add_bool(out, "truncated", is_truncated);
	if (is_truncated)
		json_add_string(out, "truncated_by",
				s->binary ? "binary" : limit_name(&s->limit, s->broken));
	if (s->grouped)
		json_add_bool(out, "grouped", true);
	json_add_count(out, "total_lines", s->total_lines);
	json_add_count(out, "total_bytes", s->total_bytes);
	json_add_count(out, "returned_lines", s->returned_lines);
	json_add_count(out, "returned_bytes", s->returned_bytes);
	json_begin_array(out, "ranges");
	for (size_t i = 0; i < s->range_count; i++) {
		json_begin_object(out, NULL);
		json_add_count(out, "from", s->ranges[i].from);
		json_add_count(out, "to", s->ranges[i].to);
		json_end_object(out);
	}
	json_end_array(out);
	json_add_count(out, "lines_truncated", s->lines_truncated);
	json_add_bool(out, "last_line_partial", s->last_line_partial);
	gap_append_member(out, &s->gaps);
	json_end_object(out);
}

/* The first warning (`at` NULL), or the one behind `at`; NULL at the end. */
static const char *next_warning(const struct report *r, const char *at)
{
	const char *end = r->warnings.data + r->warnings.len;
	const char *next = at ? at + strlen(at) + 1 : r->warnings.data;
	return r->warnings.len > 0 && next < end ? next : NULL;
}

static void json_write_start(const struct report *r, struct buffer *out)
{
	json_begin_object(out, NULL);
	json_add_count(out, "version", VERSION);
	if (r->command)
		json_add_command(out, "command", r->command, SIZE_MAX, 0);
	json_add_string(out, "cwd", r->cwd);
	/* At most one of the two is set: a run that timed out has the exit code for that. */
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
	json_begin_text(out, "stdout");
}

/* A comma is known to be needed only in the piece of what is in front of it. */
static void json_write_second(struct buffer *out)
{
	json_end_text(out);
	json_begin_text(out, "stderr");
}

static int json_write_text(struct report_writer *w, int which, struct buffer *out)
{
	struct buffer *piece = &w->report->piece;
	buffer_clear(piece);
	int more = report_next_text(w->report, which, piece);
	json_text_piece(out, piece->data, piece->len);
	return buffer_check(piece) < 0 ? -1 : more;
}

static void json_write_end(const struct report *r, struct buffer *out)
{
	static const char *const keys[REPORT_FILES] = {"path", "stderr_path", "raw_path",
						       "cast_path"};
	const struct wording_since *s = r->since;
	json_end_text(out);
	if (report_is_changed(&r->streams[0]) || report_is_changed(&r->streams[1])) {
		json_begin_object(out, "truncation");
		report_json_add_stream(out, "stdout", &r->streams[0]);
		report_json_add_stream(out, "stderr", &r->streams[1]);
		json_end_object(out);
	}
	if (r->id) {
		json_begin_object(out, "artifact");
		json_add_string(out, "id", r->id);
		for (int i = 0; i < REPORT_FILES; i++) {
			if (r->paths[i])
				json_add_string(out, keys[i], r->paths[i]);
		}
		json_add_string(out, "session", r->session);
		json_end_object(out);
	}
	/* "since":{"id":"cmd-...","exit_code":1,"identical":false} */
	if (s && s->id[0]) {
		json_begin_object(out, "since");
		json_add_string(out, "id", s->id);
		if (s->exit_code >= 0)
			json_add_number(out, "exit_code", s->exit_code);
		else
			json_add_signal(out, "signal", s->signal);
		json_add_bool(out, "identical", s->identical);
		json_end_object(out);
	}
	if (r->warnings.len > 0) {
		json_begin_array(out, "warnings");
		for (const char *text = NULL; (text = next_warning(r, text));)
			json_add_string(out, NULL, text);
		json_end_array(out);
	}
	if (r->error_code) {
		json_begin_object(out, "error");
		json_add_string(out, "code", r->error_code);
		json_add_string(out, "message", r->error_message);
		json_end_object(out);
	}
	json_end_object(out);
	buffer_append(out, "\n", 1);
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

static void blocks_add_paragraph(struct buffer *out, const char *title, const char *text)
{
	buffer_printf(out, "\n%s: ", title);
	quote_text(out, text, strlen(text), 0);
	buffer_append_string(out, "\n");
}

static void blocks_write_start(const struct report *r, struct buffer *out)
{
	const char *name = sigabbrev_np(r->signal);
	buffer_printf(out, "Command %s in ",
		      r->state == REPORT_NOT_STARTED ? "not executed" : "executed");
	quote_text(out, r->cwd, strlen(r->cwd), '\'');
	buffer_append_string(out, ". ");
	if (r->timed_out)
		buffer_append_string(out, "Timed out. Exit code: 124");
	else if (r->state == REPORT_RUNNING)
		buffer_append_string(out, "Still running");
	else if (r->state == REPORT_INTERRUPTED)
		buffer_append_string(out, "Interrupted");
	else if (r->exit_code >= 0)
		buffer_printf(out, "Exit code: %d", r->exit_code);
	else if (name)
		buffer_printf(out, "Killed by SIG%s", name);
	else
		buffer_printf(out, "Killed by signal %d", r->signal);
	buffer_append_string(out, "\n");
	if (r->error_code)
		blocks_add_paragraph(out, "Error", r->error_message);
	else if (r->streams[0].total_bytes == 0 && r->streams[1].total_bytes == 0)
		buffer_append_string(out, "\nNo output.\n");
}

/* "Output (473KB) persisted. Artifact ID: ..." */
static void blocks_write_title(const struct report *r, int which, struct buffer *out)
{
	const struct report_stream *s = &r->streams[which];
	const char *title = which == 0 ? "Output" : "Error output";
	const char *size = HUMAN_SIZE(s->total_bytes), *blank = strchr(size, ' ');
	if (s->total_bytes == 0)
		return;
	/* A text is read from disk only if it was asked for in full. */
	if (!report_is_truncated(s) || s->next) {
		buffer_printf(out, "\n%s:\n", title);
		return;
	}
	buffer_printf(out, "\n%s (%.*s%s", title, (int)(blank - size), size, blank + 1);
	if (s->binary)
		buffer_printf(out, ", binary%s%s", s->kind ? ": " : "", s->kind ? s->kind : "");
	if (r->id)
		buffer_printf(out, ") persisted. Artifact ID: %s\n", r->id);
	else
		buffer_append_string(out, ") not persisted.\n");
	if (s->binary)
		return;
	buffer_append_string(out, "\nPreview");
	if (s->broken != LIMIT_NONE && s->broken != LIMIT_BYTES)
		wording_limit(out, &s->limit, s->broken);
	buffer_append_string(out, ":\n");
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
		buffer_append_string(out, "\n");
	}
	return more;
}

/* "Use terse read ID [--lines FROM-TO] to view the full output if needed." */
static void blocks_write_end(const struct report *r, struct buffer *out)
{
	for (int i = 0; r->id && i < 2; i++) {
		const struct report_stream *s = &r->streams[i];
		if (report_is_truncated(s) && s->binary) {
			buffer_printf(out, "\nUse terse path --raw %s to get at the bytes.\n",
				      r->id);
		} else if (report_is_truncated(s)) {
			buffer_printf(out, "\nUse terse read %s%s [--lines FROM-TO%s] to view %s",
				      r->id, i ? " --stderr" : "",
				      s->cuts ? " | --bytes FROM-TO" : "",
				      s->gaps.count ? "what was kept of the " : "the full ");
			buffer_printf(out, "%soutput%s.\n", i ? "error " : "",
				      s->gaps.count ? "" : " if needed");
		}
	}
	for (const char *text = NULL; (text = next_warning(r, text));)
		blocks_add_paragraph(out, "Warning", text);
}

int report_next(struct report_writer *w, struct buffer *out)
{
	enum { START, TITLE, TEXT, SECOND_TITLE, SECOND_TEXT, END, DONE };
	const int which = w->part >= SECOND_TITLE;
	int more = 0;
	switch (w->part) {
	case START: (w->blocks ? blocks_write_start : json_write_start)(w->report, out); break;
	case END: (w->blocks ? blocks_write_end : json_write_end)(w->report, out); break;
	case TEXT:
	case SECOND_TEXT:
		more = (w->blocks ? blocks_write_text : json_write_text)(w, which, out);
		break;
	case DONE: return 0;
	default:
		if (w->blocks)
			blocks_write_title(w->report, which, out);
		else if (which == 1)
			json_write_second(out);
	}
	if (more < 0 || buffer_check(out) < 0)
		return -1;
	w->part += more == 0;
	return w->part < DONE;
}
