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

#include "supervisor/base/human.h"
#include "supervisor/report/quote.h"
#include "supervisor/report/report.h"
#include "supervisor/report/wording.h"

#include <inttypes.h>
#include <string.h>

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
