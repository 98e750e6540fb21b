// terse list --remote: the runs of all machines that were pushed, newest first, from the index of
// the remote (remote/index.h).

#include "config/value.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/members.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/remote/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_DEFAULT 30

/* Rows for a program that gives no limit. */
#define ROWS_PROGRAM 10000

#define COMMAND_WIDTH 80
#define PLACE_WIDTH   40

/* A clock elsewhere may be ahead of ours. */
#define AHEAD_MS ((int64_t)10 * 60 * 1000)

/* A row, already written. */
struct remote_row {
	uint64_t id; /* packed */
	char *text;
	size_t len;
};

struct remote_list {
	struct verb_call *call;
	struct runs_options o;
	int64_t now_ms;
	struct remote_row *rows;
	size_t count, room;
	bool more; /* rows were left out */
	uint64_t damaged;
};

/* Returns 1 or 0, or -1: no memory to tell. */
static int remote_list_wants(const struct remote_list *l, const struct meta *m)
{
	int64_t last = m->ended_ms ? m->ended_ms : m->started_ms;
	const char *host = l->o.host ? l->o.host : "", *session = l->call->session;
	if (last < l->o.since.ms || (l->o.failed && !meta_has_failed(m)) ||
	    (session && strcmp(session, m->session) != 0) ||
	    strncmp(m->host ? m->host : "", host, strlen(host)) != 0)
		return 0;
	return runs_has_command(m, l->o.command);
}

/* Others may have written them: what is no string under a plain name is left out. */
static void remote_list_add_labels(struct buffer *out, const struct meta *m, bool json)
{
	struct members labels;
	char *value = m->labels ? malloc(strlen(m->labels) + 1) : NULL;
	if (!value) {
		out->failed |= m->labels != NULL;
		return;
	}
	members_begin(&labels, m->labels, strlen(m->labels));
	while (members_next(&labels)) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)labels.key_len, labels.key);
		if (strlen(name) != labels.key_len || strpbrk(name, "\"\\") ||
		    !utf8_all_clean(name, labels.key_len) || !member_text(&labels.value, value))
			continue;
		if (json)
			json_add_string(out, name, value);
		else
			buffer_printf(out, " %s=%s", name, value);
	}
	free(value);
}

static void remote_list_add_text(struct buffer *out, const struct remote_list *l,
				 const struct meta *m)
{
	struct buffer command = BUFFER_INIT, place = BUFFER_INIT;
	char state[24];
	runs_describe_state(m, state);
	buffer_printf(out, "%s  %-11s  %10s  %8s  %7s  ", m->id, state,
		      HUMAN_COUNT(m->out.lines + m->err.lines),
		      HUMAN_SIZE(m->out.bytes + m->err.bytes),
		      human_age((char[HUMAN_LEN]){0}, l->now_ms - m->started_ms));
	buffer_append_string(&place, m->host ? m->host : "");
	remote_list_add_labels(&place, m, false);
	row_add_cell(out, place.data, place.len, PLACE_WIDTH);
	buffer_append_string(out, ": ");
	row_add_command(&command, m);
	row_add_cell(out, command.data, command.len, COMMAND_WIDTH);
	buffer_append_string(out, "\n");
	out->failed |= command.failed || place.failed;
	buffer_release(&command);
	buffer_release(&place);
}

static void remote_list_add_json(struct buffer *out, const struct meta *m)
{
	/* No comma before it: rows are put in order later. */
	json_begin_object(out, NULL);
	runs_append_json(out, m, META_LINE);
	json_add_string(out, "host", m->host ? m->host : "");
	json_add_string(out, "container", m->container);
	json_begin_object(out, "labels");
	remote_list_add_labels(out, m, true);
	json_end_object(out);
	json_add_count(out, "object_bytes", m->object_bytes);
	json_end_object(out);
}

static int remote_list_compare(const void *a, const void *b)
{
	/* Newest first. */
	return id_compare(b, a);
}

/* Sorts the rows, and keeps the newest ones, each once. */
static void remote_list_settle(struct remote_list *l)
{
	size_t kept = 0;
	if (l->count > 0)
		qsort(l->rows, l->count, sizeof(*l->rows), remote_list_compare);
	for (size_t i = 0; i < l->count; i++) {
		bool again = kept > 0 && l->rows[kept - 1].id == l->rows[i].id;
		if (!again && kept < l->o.limit) {
			l->rows[kept++] = l->rows[i];
			continue;
		}
		l->more |= !again;
		free(l->rows[i].text);
	}
	l->count = kept;
}

static int remote_list_on_run(void *ctx, const struct meta *m)
{
	struct remote_list *l = ctx;
	struct buffer text = BUFFER_INIT;
	int wanted = remote_list_wants(l, m);
	if (wanted <= 0)
		return wanted;
	if (l->count >= 2 * l->o.limit)
		remote_list_settle(l);
	if (l->call->json)
		remote_list_add_json(&text, m);
	else
		remote_list_add_text(&text, l, m);
	struct remote_row *row = buffer_check(&text) < 0 ? NULL
							 : array_add(&l->rows, &l->count, &l->room,
								     sizeof(*l->rows));
	if (!row) {
		buffer_release(&text);
		return -1;
	}
	*row = (struct remote_row){id_pack(m->id), text.data, text.len};
	return 0;
}

static int remote_list_print(const struct remote_list *l)
{
	struct buffer out = BUFFER_INIT, notice = BUFFER_INIT;
	if (l->call->json) {
		envelope_begin(&out);
		json_begin_array(&out, "runs");
		for (size_t i = 0; i < l->count; i++)
			json_add_raw(&out, NULL, l->rows[i].text, l->rows[i].len);
		json_end_array(&out);
		json_add_count(&out, "damaged_lines", l->damaged);
		runs_end_json(&out, l->call, &l->o, l->count, l->more);
		return verb_print(l->call, &out);
	}
	if (l->count == 0) {
		verb_error("list", "no such run was pushed (--since %s)",
			   l->o.since.text ? l->o.since.text : "1h");
		return 0;
	}
	buffer_printf(&out, "%-16s  %-11s  %10s  %8s  %7s  HOST: COMMAND\n", "ID", "STATE", "LINES",
		      "SIZE", "AGE");
	for (size_t i = 0; i < l->count; i++)
		buffer_append(&out, l->rows[i].text, l->rows[i].len);
	int status = verb_print(l->call, &out);
	if (l->more)
		runs_add_notice(&notice, l->call, &l->o);
	if (status == 0 && reader_notice(reader_of_text(), &notice) < 0)
		status = 1;
	buffer_release(&notice);
	return status;
}

/* Whether the newest ones are there, and one that is left out. */
static bool remote_list_has_enough(void *ctx, int64_t before_ms)
{
	struct remote_list *l = ctx;
	remote_list_settle(l);
	return l->more && l->rows[l->count - 1].id >= id_first_at(before_ms);
}

static int remote_list_read(struct remote_list *l, const struct settings *settings)
{
	struct index_reader reader = {.from_ms = l->o.since.ms,
				      .to_ms = l->now_ms + AHEAD_MS,
				      .host = l->o.host ? l->o.host : "",
				      .each = remote_list_on_run,
				      .enough = remote_list_has_enough,
				      .ctx = l};
	int result = index_read(settings, &reader);
	l->damaged = reader.damaged;
	if (result < 0)
		verb_fail(l->call, ENVELOPE_UNREADABLE, "%s: %s", settings->remote,
			  *reader.why ? reader.why : strerror(ENOMEM));
	else if (l->damaged > 0 && !l->call->json)
		verb_error(l->call->verb->name, "damaged lines skipped: %s",
			   HUMAN_COUNT(l->damaged));
	return result;
}

int remote_list(struct verb_call *c, const struct runs_options *o)
{
	struct remote_list l = {.call = c, .o = *o, .now_ms = clock_real_ms()};
	if (!remote_is_set(c->settings)) {
		verb_fail(c, ENVELOPE_USAGE,
			  "there is no remote: [remote] of your terse.ini names one");
		return EXIT_TERSE;
	}
	if (!o->limit)
		l.o.limit =
			reader_of_text() == SINK_PROGRAM && !c->json ? ROWS_PROGRAM : ROWS_DEFAULT;
	if (!o->since.text)
		value_parse_time("1h", l.now_ms, &l.o.since.ms);
	int status = 1;
	if (remote_list_read(&l, c->settings) == 0) {
		remote_list_settle(&l);
		status = remote_list_print(&l);
	}
	for (size_t i = 0; i < l.count; i++)
		free(l.rows[i].text);
	free(l.rows);
	return status;
}
