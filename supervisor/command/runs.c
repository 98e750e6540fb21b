// See internal.h.

#include "supervisor/command/internal.h"

#include "config/value.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/members.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "shim/exec_call.h"
#include "supervisor/artifact/text.h"
#include "supervisor/remote/remote.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void row_add_command(struct buffer *out, const struct meta *m)
{
	/* terse starts a shell string as `/bin/shell -c string`; only the string is shown. */
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
		/* A command of one word may be a shell string, so it is not quoted. Other words get
		   quotes if they need them, unless that would need escapes, which are hard to
		   read. */
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

static int runs_compare_ids(const void *a, const void *b)
{
	return strcmp(a, b);
}

int runs_seen(void **tree, const char *id)
{
	char **node = tfind(id, tree, runs_compare_ids), *met = node ? *node : NULL;
	if (met) {
		tdelete(id, tree, runs_compare_ids);
		free(met);
		return 1;
	}
	met = *id ? strdup(id) : NULL;
	if (!*id || (met && tsearch(met, tree, runs_compare_ids)))
		return 0;
	free(met);
	return -1;
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
	if (m->description)
		json_add_string(out, "description", m->description);
	json_add_string(out, "cwd", m->cwd);
	json_add_string(out, "state", meta_state_name(m->state));
	json_add_known(out, "exit_code", m->exit_code >= 0, (uint64_t)m->exit_code);
	json_add_signal(out, "signal", m->signal);
	json_add_bool(out, "success", m->state == META_DONE && m->exit_code == 0);
	json_add_bool(out, "timed_out", m->timed_out);
	json_add_bool(out, "binary", m->binary);
	if (m->waits.count > 0) {
		json_begin(out, "waits", '{');
		json_add_count(out, "count", m->waits.count);
		json_add_time(out, "started", m->waits.from_ms);
		json_add_time(out, "ended", m->waits.to_ms);
		json_add_number(out, "duration_ms", m->waits.ms);
		json_add_string(out, "question", m->waits.question);
		json_end(out, '}');
	}
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

/* --- which runs ----------------------------------------------------------------------------- */

/* Finds the next label. Other programs may have written the labels, so labels that are not strings
   with plain names are skipped. Returns false at the end. */
static bool label_next(struct members *labels, char name[64], char *value)
{
	while (members_next(labels)) {
		const struct member_value *key = &labels->key;
		snprintf(name, 64, "%.*s", (int)key->len, key->data);
		if (strlen(name) == key->len && !strpbrk(name, "\"\\") &&
		    utf8_all_clean(name, key->len) && member_text(&labels->value, value))
			return true;
	}
	return false;
}

/* Begins with the first label. Returns memory for a label's value, or NULL if there are no
   labels. */
static char *labels_begin(struct members *labels, const struct meta *m)
{
	const char *text = m->labels ? m->labels : "{}";
	members_begin(labels, text, strlen(text));
	return m->labels ? malloc(strlen(text) + 1) : NULL;
}

void runs_add_labels(struct buffer *out, const struct meta *m, bool json)
{
	struct members labels;
	char name[64], *value = labels_begin(&labels, m);
	out->failed |= m->labels && !value;
	while (value && label_next(&labels, name, value)) {
		if (json)
			json_add_string(out, name, value);
		else
			buffer_printf(out, " %s=%s", name, value);
	}
	free(value);
}

static bool has_label(const struct meta *m, const char *wanted)
{
	struct members labels;
	char name[64], *value = labels_begin(&labels, m);
	size_t len = strcspn(wanted, "=");
	bool found = false;
	while (value && !found && label_next(&labels, name, value))
		found = strlen(name) == len && memcmp(name, wanted, len) == 0 &&
			wanted[len] == '=' && strcmp(value, wanted + len + 1) == 0;
	free(value);
	return found;
}

bool runs_filter_is_set(const struct runs_filter *f, bool times)
{
	return f->command || f->label || f->host || f->state >= 0 || f->exit_code >= 0 ||
	       f->failed || (times && (f->since.text || f->until.text));
}

int runs_filter_match(const struct runs_filter *f, const struct meta *m)
{
	int exit_code = m->signal ? 128 + m->signal : m->exit_code;
	bool asks = f->failed || f->exit_code >= 0;
	int64_t ended_ms = m->ended_ms ? m->ended_ms : INT64_MAX;
	if ((f->state >= 0 && (int)m->state != f->state) || ended_ms < f->since.ms ||
	    m->started_ms > f->until.ms || (asks && m->state == META_RUNNING) ||
	    (f->failed && !meta_has_failed(m)) ||
	    (f->exit_code >= 0 && exit_code != f->exit_code) ||
	    (f->label && !has_label(m, f->label)))
		return 0;
	if (!f->command)
		return 1;
	struct buffer words = BUFFER_INIT;
	row_add_command(&words, m);
	int found = buffer_string(&words) ? strstr(words.data, f->command) != NULL : -1;
	buffer_release(&words);
	return found;
}

void runs_filter_add(struct buffer *out, const struct runs_filter *f)
{
	const struct {
		const char *option, *value;
	} given[] = {
		{"--command", f->command},
		{"--state", f->state >= 0 ? meta_state_name((enum meta_state)f->state) : NULL},
		{"--label", f->label},
		{"--since", f->since.text},
		{"--until", f->until.text},
		{"--host", f->host},
	};
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].value)
			continue;
		buffer_printf(out, " %s ", given[i].option);
		quote_append(out, given[i].value);
	}
	buffer_append_string(out, f->failed ? " --failed" : "");
	if (f->exit_code >= 0)
		buffer_printf(out, " --exit %d", f->exit_code);
}

/* --- of the remote -------------------------------------------------------------------------- */

/* Another machine's clock may be ahead by this much. */
#define AHEAD_MS ((int64_t)10 * 60 * 1000)

static int compare_found(const void *a, const void *b)
{
	/* Newest first. */
	return id_compare(b, a);
}

/* Sorts the runs, drops duplicates, and keeps the newest ones. */
static void remote_settle(struct runs_remote *r)
{
	size_t kept = 0;
	if (r->count > 0)
		qsort(r->runs, r->count, sizeof(*r->runs), compare_found);
	for (size_t i = 0; i < r->count; i++) {
		bool again = kept > 0 && r->runs[kept - 1].id == r->runs[i].id;
		if (!again && kept < r->most) {
			r->runs[kept++] = r->runs[i];
			continue;
		}
		r->more |= !again;
		free(r->runs[i].text);
	}
	r->count = kept;
}

static int remote_on_run(void *ctx, const struct meta *m)
{
	struct runs_remote *r = ctx;
	const struct runs_filter *f = r->filter;
	struct buffer out = BUFFER_INIT;
	const char *session = r->call->session;
	struct meta run = *m;
	run.host = m->host ? m->host : "";
	int wanted = (session && strcmp(session, m->session) != 0) ||
				     (f->host && strncmp(run.host, f->host, strlen(f->host)) != 0)
			     ? 0
			     : runs_filter_match(f, &run);
	if (wanted <= 0)
		return wanted;
	if (r->count / 2 >= r->most)
		remote_settle(r);
	if (r->describe)
		r->describe(r->ctx, &out, &run);
	struct runs_found *found =
		buffer_check(&out) < 0 ? NULL
				       : array_add(&r->runs, &r->count, &r->room, sizeof(*found));
	if (!found) {
		buffer_release(&out);
		return -1;
	}
	*found = (struct runs_found){id_pack(m->id), out.data, out.len};
	return 0;
}

/* Whether no older run is needed, since enough newer ones were found. */
static bool remote_has_enough(void *ctx, int64_t before_ms)
{
	struct runs_remote *r = ctx;
	remote_settle(r);
	return r->more && r->runs[r->count - 1].id >= id_first_at(before_ms);
}

int runs_remote_find(struct runs_remote *r)
{
	const struct settings *settings = r->call->settings;
	int64_t now_ms = clock_real_ms();
	if (!settings->remote)
		return verb_fail(r->call, ENVELOPE_USAGE,
				 "there is no remote: [remote] of your terse.ini names one");
	if (!r->filter->since.text)
		value_parse_time("1h", now_ms, &r->filter->since.ms);
	struct remote_index_reader reader = {.from_ms = r->filter->since.ms,
					     .to_ms = now_ms + AHEAD_MS,
					     .host = r->filter->host ? r->filter->host : "",
					     .each = remote_on_run,
					     .enough = remote_has_enough,
					     .ctx = r};
	if (remote_index_read(settings, &reader) < 0)
		return verb_fail(r->call, ENVELOPE_UNREADABLE, "%s: %s", settings->remote,
				 *reader.why ? reader.why : strerror(ENOMEM));
	remote_settle(r);
	r->damaged = reader.damaged;
	return 0;
}

void runs_remote_release(struct runs_remote *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->runs[i].text);
	free(r->runs);
}
