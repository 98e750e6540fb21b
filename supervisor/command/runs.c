// See internal.h.

#include "supervisor/command/internal.h"

#include "lib/json.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "shim/exec_call.h"
#include "supervisor/artifact/text.h"

#include <string.h>

void row_add_command(struct buffer *out, const struct meta *m)
{
	/* The string of `shell -c string` as terse starts it, with the full path of the shell. */
	char *const *argv = m->argv;
	bool is_string = argv && argv[0] && argv[0][0] == '/' && argv[1] && argv[2] && !argv[3] &&
			 strcmp(argv[1], "-c") == 0 &&
			 shell_call_is_shell(shell_call_name(argv[0]));
	const char *string = is_string ? argv[2] : NULL;
	if (string)
		buffer_append_string(out, string);
	for (char **arg = m->argv; !string && arg && *arg; arg++) {
		if (arg > m->argv)
			buffer_append_string(out, " ");
		/* A command of one word may be a shell string; it reads best as it is. Elsewhere
		   a word is in quotes if it needs some: escapes would be hard to read. */
		bool plain = true;
		for (const char *at = *arg, *end = at + strlen(at); plain && at < end;) {
			uint32_t cp;
			at += utf8_decode(at, (size_t)(end - at), &cp);
			plain = quote_is_plain(cp);
		}
		if (m->argv[1] && plain)
			quote_append(out, *arg);
		else
			buffer_printf(out, m->argv[1] ? "'%s'" : "%s", *arg);
	}
	if (m->cut)
		buffer_append_string(out, " ...");
}

void row_add_cell(struct buffer *out, const char *text, size_t len, size_t width)
{
	size_t used = 0, room = out->len;
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t cp;
		size_t before = out->len;
		n = utf8_decode(text + i, len - i, &cp);
		bool blank = cp == '\n' || cp == '\t';
		quote_text(out, blank ? " " : text + i, n, 0);
		used += out->len - before != n ? out->len - before : utf8_width(cp);
		if (used > width) {
			buffer_truncate(out, room);
			buffer_append_string(out, "...");
			return;
		}
		if (used + 3 <= width)
			room = out->len;
	}
}

enum paint runs_paint(const struct meta *m)
{
	if (m && m->state == META_RUNNING)
		return PAINT_LIVE;
	return m && !meta_has_failed(m) ? PAINT_GOOD : PAINT_BAD;
}

void row_add_files(struct buffer *out, int indent, const struct meta *m)
{
	for (int i = 0; i < 2; i++) {
		if (!m->files[i])
			continue;
		buffer_printf(out, "%-*s%s is in ", indent, "", i ? "stderr" : "stdout");
		quote_text(out, m->files[i], strlen(m->files[i]), 0);
		buffer_append_string(out, "\n");
	}
}

void row_add_gaps(struct buffer *out, int indent, struct gaps gaps)
{
	for (int i = 0; i < gaps.count; i++) {
		char line[GAP_ANNOUNCE_MAX];
		gap_announce(line, &gaps.items[i]);
		buffer_printf(out, "%-*s%s", indent, "", line);
	}
}

bool runs_is_counted(const struct meta *m)
{
	return *m->id && (m->out.bytes + m->err.bytes > 0 || (!m->files[0] && !m->files[1]));
}

void runs_count_lines(int dir, const char *id, enum artifact_part part, struct meta_stream *s)
{
	struct text text;
	if (s->lines > 0 || s->bytes == 0 || text_open(&text, dir, id, part) < 0)
		return;
	text_lines(&text, &s->lines);
	s->bytes = text.size;
	text_close(&text);
}

void runs_append_json(struct buffer *out, const struct meta *m, size_t budget)
{
	const struct gaps gaps[2] = {meta_gaps(&m->out), meta_gaps(&m->err)};
	bool ended = m->state != META_RUNNING;
	json_add_string(out, "id", *m->id ? m->id : NULL);
	json_add_string(out, "session", m->session);
	if (json_add_command(out, "command", m->argv, budget, 0) || m->cut)
		json_add_bool(out, "command_cut", true);
	json_add_string(out, "cwd", m->cwd);
	json_add_string(out, "state", meta_state_name(m->state));
	json_add_known(out, "exit_code", m->exit_code >= 0, (uint64_t)m->exit_code);
	json_add_signal(out, "signal", m->signal);
	json_add_bool(out, "success", m->state == META_DONE && m->exit_code == 0);
	json_add_bool(out, "timed_out", m->timed_out);
	json_add_bool(out, "binary", m->binary);
	json_add_time(out, "started", m->started_ms);
	json_add_time(out, "ended", ended ? m->ended_ms : 0);
	json_add_known(out, "duration_ms", ended, (uint64_t)m->duration_ms);
	bool counted = runs_is_counted(m);
	json_add_known(out, "lines", counted, m->out.lines + m->err.lines);
	json_add_known(out, "bytes", counted, m->out.bytes + m->err.bytes);
	/* "gaps":[{"from":4001,"to":8000,"bytes":225280,"reason":"disk cap","stream":"stdout"}] */
	if (gaps[0].count + gaps[1].count > 0)
		json_begin(out, "gaps", '[');
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < gaps[i].count; k++) {
			gap_begin_json(out, &gaps[i].items[k]);
			json_add_string(out, "stream", i ? "stderr" : "stdout");
			json_end(out, '}');
		}
	}
	if (gaps[0].count + gaps[1].count > 0)
		json_end(out, ']');
	for (int i = 0; i < 2; i++) {
		if (m->files[i])
			json_add_string(out, i ? "stderr_file" : "stdout_file", m->files[i]);
	}
}
