// terse list: the artifacts of a session; terse history: all its runs that have ended. Newest
// first, as rows of a table or as JSON (runs.h).

#include "config/value.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/excerpts.h"
#include "supervisor/command/person.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/sink.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct runs {
	struct verb_call *call;
	/* Takes the runs, which are not printed then; or NULL. */
	int (*each)(void *ctx, const char *id, const struct meta *m, int error);
	void *ctx;    /* of it */
	bool history; /* all runs, else those with artifacts */
	enum sink sink;
	struct runs_options o;

	/* Their meaning. */
	char directory[STORE_SESSION_LEN + 1]; /* of the session */
	int want_exit;                         /* -1: any */
	bool want_failed;

	size_t width; /* columns */
	uint64_t rows;
	struct buffer out;

	/* Of the history of a command: where the artifacts are, and how the runs went. */
	struct store *stores;
	int store_count;
	const char **results; /* "ok", "FAIL", the newest first; what does not fit is left out */
	size_t result_count, result_room;
};

/* Rows by default: enough for recent runs, and quick however many there are. */
#define ROWS 30

static int runs_parse_exit(struct runs *r)
{
	char *end;
	r->want_exit = -1;
	if (!r->o.exit)
		return 0;
	r->want_failed = strcmp(r->o.exit, "failed") == 0;
	if (r->want_failed)
		return 0;
	long code = strtol(r->o.exit, &end, 10);
	if (!*r->o.exit || *end || code < 0 || code > 255) {
		verb_fail(r->call, ENVELOPE_USAGE,
			  "--exit: %s: must be a number from 0 to 255, or failed", r->o.exit);
		return -1;
	}
	r->want_exit = (int)code;
	return 0;
}

/* Parses the arguments. Returns 0, or the exit status after saying what is wrong. */
static int runs_parse(struct runs *r)
{
	r->o = (struct runs_options){.state = -1, .since.ms = INT64_MIN, .until.ms = INT64_MAX};
	if (verb_parse(r->call, &r->o) < 0 || runs_parse_exit(r) < 0)
		return EXIT_TERSE;
	if (r->o.remote)
		return 0;
	if (!verb_has_session(r->call))
		return 1;
	verb_session_name(r->call->settings, r->call->session, r->directory);
	r->sink = reader_of_text();
	r->width = row_window_width();
	if (!r->o.limit)
		r->o.limit = r->sink == SINK_PROGRAM && !r->call->json ? UINT64_MAX : ROWS;
	return 0;
}

/* Whether the options select runs. Then a run whose metadata can't be read is left out. */
static bool runs_is_choosy(const struct runs *r)
{
	return r->o.command || r->o.state >= 0 || r->o.exit || r->o.since.text || r->o.until.text;
}

int runs_has_command(const struct meta *m, const char *text)
{
	struct buffer words = BUFFER_INIT;
	if (!text)
		return 1;
	row_add_command(&words, m);
	int found = buffer_string(&words) ? strstr(words.data, text) != NULL : -1;
	buffer_release(&words);
	return found;
}

static bool runs_match(const struct runs *r, const struct meta *m)
{
	/* As a shell reports it. */
	int exit_code = m->signal ? 128 + m->signal : m->exit_code;
	if ((r->o.state >= 0 && (int)m->state != r->o.state) ||
	    (r->want_failed && (m->state != META_DONE || m->exit_code == 0)) ||
	    (r->want_exit >= 0 && (m->state == META_RUNNING || exit_code != r->want_exit)) ||
	    m->started_ms < r->o.since.ms || m->started_ms > r->o.until.ms)
		return false;
	return runs_has_command(m, r->o.command) > 0;
}

/* Whether the limit is reached. */
static bool runs_is_full(const struct runs *r)
{
	return r->rows >= r->o.limit;
}

/* Output is written when so much is collected. */
#define COLLECTED ((size_t)64 * 1024)

/* Bytes of a command in a list for programs. */
#define COMMAND_MAX 2048

struct row {
	char state[24], took[HUMAN_LEN], lines[HUMAN_LEN], size[HUMAN_LEN], age[HUMAN_LEN];
};

/* --- as a table ------------------------------------------------------------------- */

static void runs_add_head(struct runs *r)
{
	buffer_printf(&r->out, "%s%-16s  %-11s  %11s  %10s  %8s  %7s  %s%sCOMMAND%s\n",
		      paint_code(r->call->colour, PAINT_SOFT), "ID", "STATE", "TOOK", "LINES",
		      "SIZE", "AGE", r->o.all ? "SESSION" : "",
		      r->o.all ? "                   " : "", paint_none(r->call->colour));
}

/* `m` NULL: `error` says why the metadata can't be read. */
static void runs_add_row(struct runs *r, const char *id, const char *session, const struct meta *m,
			 int error)
{
	struct row row = {.state = "?", .took = "?", .lines = "?", .size = "?", .age = "?"};
	struct buffer command = BUFFER_INIT, *out = &r->out;
	size_t start = out->len;
	if (m) {
		runs_describe_state(m, row.state);
		human_duration(row.took, excerpts_ending(m).duration_ms);
		human_age(row.age, clock_real_ms() - m->started_ms);
		snprintf(row.lines, sizeof(row.lines), "-");
		snprintf(row.size, sizeof(row.size), "-");
		row_add_command(&command, m);
	} else {
		buffer_printf(&command, "(metadata: %s)", strerror(error));
	}
	if (m && *id && runs_is_counted(m)) {
		human_count(row.lines, m->out.lines + m->err.lines);
		human_size(row.size, m->out.bytes + m->err.bytes);
	}
	buffer_printf(out, "%-*s  ", ID_LEN, *id ? id : "-");
	/* Colours take no column. */
	const char *begin = paint_code(r->call->colour, runs_paint(m)),
		   *end = paint_none(r->call->colour);
	buffer_printf(out, "%s%-11s%s", begin, row.state, end);
	start += strlen(begin) + strlen(end);
	buffer_printf(out, "  %11s  %10s  %8s  %7s  ", row.took, row.lines, row.size, row.age);
	if (r->o.all) {
		size_t before = out->len;
		row_add_cell(out, session, strlen(session), 24);
		buffer_printf(out, "%*s  ", (int)(24 - (out->len - before)), "");
	}
	size_t left = r->width > out->len - start + 10 ? r->width - (out->len - start) : 10;
	row_add_cell(out, command.data, command.len, left);
	buffer_append_string(out, "\n");
	if (m) {
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->out));
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->err));
		row_add_files(out, ID_LEN + 2, m);
	}
	out->failed |= command.failed;
	buffer_release(&command);
}

/* --- as JSON ---------------------------------------------------------------------- */

static void runs_add_element(struct runs *r, const char *id, const struct meta *m, int error)
{
	struct buffer *out = &r->out;
	/* The element before may have been printed already, so the writer can't know the comma. */
	buffer_append_string(out, r->rows > 0 ? ",{" : "{");
	if (m) {
		runs_append_json(out, m, COMMAND_MAX);
	} else {
		json_add_string(out, "id", id);
		json_add_string(out, "error", strerror(error));
	}
	json_end_object(out);
}

static void runs_begin_json(struct runs *r)
{
	envelope_begin(&r->out);
	json_add_string(&r->out, "session", r->o.all ? NULL : r->directory);
	json_begin_array(&r->out, "runs");
}

/* --- all of it -------------------------------------------------------------------- */

static int runs_flush(struct runs *r)
{
	int result = verb_write(&r->out);
	buffer_clear(&r->out);
	return result;
}

/* Adds a run; writes the collected output now and then. `m` NULL: its metadata can't be read, with
   errno. Returns 0, or -1 with errno. */
static int runs_add(struct runs *r, const char *id, const char *session, const struct meta *m)
{
	int error = errno;
	if (r->each) {
		r->rows++;
		return r->each(r->ctx, id, m, error);
	}
	if (r->rows == 0 && r->call->json)
		runs_begin_json(r);
	else if (r->rows == 0)
		runs_add_head(r);
	if (r->call->json)
		runs_add_element(r, id, m, error);
	else
		runs_add_row(r, id, session, m, error);
	r->rows++;
	if (m && r->history && r->o.command) {
		const char **word =
			array_add(&r->results, &r->result_count, &r->result_room, sizeof(*word));
		if (word)
			*word = m->state != META_DONE ? meta_state_name(m->state)
				: m->exit_code        ? "FAIL"
						      : "ok";
	}
	return r->out.len > COLLECTED || r->out.failed ? runs_flush(r) : 0;
}

/* The command that shows ten times as many. */
static void runs_add_more(struct buffer *out, const struct verb_call *c,
			  const struct runs_options *o)
{
	const struct {
		const char *option, *value;
	} given[] = {
		{"--session", c->session},
		{"--host", o->host},
		{"--command", o->command},
		{"--state", o->state >= 0 ? meta_state_name((enum meta_state)o->state) : NULL},
		{"--exit", o->exit},
		{"--since", o->since.text},
		{"--until", o->until.text},
	};
	if (c->settings->words == WORDS_TOOLS) {
		buffer_printf(out, TOOL_LIST " limit=%" PRIu64, o->limit * 10);
		return;
	}
	buffer_printf(out, "terse %s%s%s", c->verb->name, o->all ? " --all" : "",
		      o->remote ? " --remote" : "");
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].value)
			continue;
		buffer_printf(out, " %s ", given[i].option);
		quote_append(out, given[i].value);
	}
	buffer_printf(out, "%s%s --limit %" PRIu64, o->failed ? " --failed" : "",
		      c->json ? " --json" : "", o->limit * 10);
}

void runs_end_json(struct buffer *out, const struct verb_call *c, const struct runs_options *o,
		   uint64_t shown, bool more)
{
	struct buffer next = BUFFER_INIT;
	json_add_count(out, "shown", shown);
	json_add_bool(out, "truncated", more);
	if (more)
		runs_add_more(&next, c, o);
	json_add_made(out, "next", &next);
	envelope_end(out);
}

void runs_add_notice(struct buffer *out, const struct verb_call *c, const struct runs_options *o)
{
	buffer_printf(out, "[newest %" PRIu64 " shown; more: ", o->limit);
	runs_add_more(out, c, o);
	buffer_append_string(out, "]\n");
}

/* Writes the rest and, if there are `more` runs, the command that lists them. Returns 0, or -1 with
   errno. */
static int runs_finish(struct runs *r, bool more)
{
	struct buffer notice = BUFFER_INIT, *out = &r->out;
	if (r->call->json) {
		if (r->rows == 0)
			runs_begin_json(r);
		json_end_array(out);
		if (r->result_count > 0)
			json_begin_array(out, "results");
		for (size_t i = r->result_count; i-- > 0;)
			json_add_string(out, NULL, r->results[i]);
		if (r->result_count > 0)
			json_end_array(out);
		runs_end_json(out, r->call, &r->o, r->rows, more);
		return runs_flush(r);
	}
	if (r->result_count > 0)
		buffer_append_string(&notice, "[oldest first:");
	for (size_t i = r->result_count; i-- > 0;)
		buffer_printf(&notice, " %s", r->results[i]);
	if (r->result_count > 0)
		buffer_append_string(&notice, "]\n");
	if (more)
		runs_add_notice(&notice, r->call, &r->o);
	int result = runs_flush(r);
	if (result == 0)
		result = reader_notice(r->sink, &notice);
	buffer_release(&notice);
	return result;
}

// terse history: the runs of the caller's session that have ended, those without an artifact, too;
// the newest first.

/* Returns 1 if there are more, 0, or -1 with errno. */
static int history_add_all(struct runs *r, struct journal *j)
{
	struct meta m;
	int got;
	while ((got = journal_next_run(j, &m)) == 1) {
		/* The rest ended, and so started, earlier. */
		if (r->o.since.text && m.ended_ms < r->o.since.ms)
			return 0;
		if (!runs_match(r, &m))
			continue;
		if (runs_is_full(r))
			return 1;
		if (runs_add(r, m.id, m.session, &m) < 0)
			return -1;
	}
	return got;
}

/* Prints the rest and the closing notices. `added`: as history_add_all() and list_add_all() return;
   `damaged`: lines of the history. Returns the exit status. */
static int runs_end(struct runs *r, int added, uint64_t damaged, int status)
{
	char lines[HUMAN_LEN];
	if (added < 0 || (!r->each && runs_finish(r, added) < 0)) {
		verb_fail(r->call, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (damaged > 0 && !r->call->json) {
		verb_error(r->call->verb->name, "damaged lines skipped: %s",
			   human_count(lines, damaged));
	} else if (r->rows == 0 && !r->call->json && !r->each) {
		const char *what = runs_is_choosy(r) ? "no such run" : "nothing";
		if (r->o.all)
			verb_error(r->call->verb->name, "%s in any session", what);
		else
			verb_error(r->call->verb->name,
				   "%s in session %s (--all for every session)", what,
				   r->directory);
	}
	buffer_release(&r->out);
	free(r->results);
	return status;
}

static int history_run(struct verb_call *c)
{
	struct runs r = {.call = c, .history = true};
	struct store stores[STORE_MAX];
	int status = runs_parse(&r);
	if (status != 0)
		return status;
	int count = verb_open_stores(c, stores, &status);
	r.stores = stores;
	r.store_count = count;
	struct journal *j = journal_open(stores, count, r.o.all ? NULL : r.directory, JOURNAL_RUN);
	int added = j ? history_add_all(&r, j) : -1;
	status = runs_end(&r, added, j ? journal_damaged(j) : 0, status);
	journal_close(j);
	store_close_all(stores, count);
	return status;
}

#define RUNS_AT(member) offsetof(struct runs_options, member)

#define RUNS_ROWS                                                                                 \
	{"--all", 0, VERB_FLAG, RUNS_AT(all), NULL, "of all sessions"},                           \
		VERB_SESSION_ROW("of session NAME"),                                              \
		{"--command", 0,                                                                  \
		 VERB_TEXT,   RUNS_AT(command),                                                   \
		 "TEXT",      "with TEXT in the command"}, /* As enum meta_state has them. */     \
		{"--state",      0, VERB_WORD, RUNS_AT(state), "running|done|interrupted",        \
		 "in this state"},                                                                \
		{"--exit",      0,          VERB_TEXT,                                            \
		 RUNS_AT(exit), "N|failed", "with this exit status, or any but 0"},               \
		{"--since",      0,      VERB_WHEN,                                               \
		 RUNS_AT(since), "WHEN", "started since: 2h (ago), 14:05, 2026-11-20"},           \
		{"--until", 0, VERB_WHEN, RUNS_AT(until), "WHEN", "started until"},               \
		{"--limit", 0, VERB_COUNT, RUNS_AT(limit), "N", "at most N (30)"}, VERB_JSON_ROW, \
		VERB_COLOR_ROW

static const struct verb_option history_options[] = {RUNS_ROWS, VERB_END_ROW};

const struct verb verb_history = {
	.name = "history",
	.purpose = "list all runs of this session",
	.forms = "",
	.text = "Lists all runs of this session that have ended, newest first. With --command the\n"
		"last line says how these runs went.\n",
	.options = history_options,
	.run = history_run,
};

// terse list: the artifacts of the caller's session, newest first.

/* Counts the lines of a run that has not ended, whose metadata lack them. */
static void list_count_lines(int dir, const char *id, enum artifact_part part,
			     struct meta_stream *s)
{
	struct text text;
	if (s->lines > 0 || s->bytes == 0 || text_open(&text, dir, id, part) < 0)
		return;
	uint64_t lines;
	if (text_lines(&text, &lines) == 0)
		s->lines = lines;
	s->bytes = text.size;
	text_close(&text);
}

/* Adds an artifact if it is wanted and still exists. Returns 0, 1 if it is one too many, or -1 with
   errno. */
static int list_add(struct runs *r, const struct id_found *found)
{
	/* An ID holds the start of its run, within some milliseconds. */
	int64_t started = id_time_ms(id_pack(found->id));
	if (r->o.since.text && started < r->o.since.ms - 1000)
		return 0;
	int dir = store_open_session(found->store, found->session, false);
	struct meta m;
	int result = 0;
	if (dir >= 0 && meta_read(dir, found->id, &m) == 0) {
		if (runs_match(r, &m) && runs_is_full(r)) {
			result = 1;
		} else if (runs_match(r, &m)) {
			list_count_lines(dir, found->id, ARTIFACT_OUT, &m.out);
			list_count_lines(dir, found->id, ARTIFACT_ERR, &m.err);
			result = runs_add(r, found->id, found->session, &m);
		}
		meta_release(&m);
	} else if (errno != ENOENT && !runs_is_choosy(r)) {
		result = runs_is_full(r) ? 1 : runs_add(r, found->id, found->session, NULL);
	}
	io_close(&dir);
	return result;
}

/* Returns the exit status; *more: there are more than the limit. */
static int list_all(struct runs *r, bool *more)
{
	struct store stores[STORE_MAX];
	int status = 0, count = verb_open_stores(r->call, stores, &status);
	struct journal *artifacts =
		journal_open(stores, count, r->o.all ? NULL : r->directory, JOURNAL_MADE);
	struct id_found found;
	int added = 0, got = -1;
	while (artifacts && added == 0 && (got = journal_next_made(artifacts, &found)) == 1)
		added = list_add(r, &found);
	added = added ? added : got;
	*more = added > 0;
	status = runs_end(r, added, 0, status);
	journal_close(artifacts);
	store_close_all(stores, count);
	return status;
}

int list_answer(struct verb_call *c, bool all, uint64_t limit,
		int (*each)(void *ctx, const char *id, const struct meta *m, int error), void *ctx,
		bool *more)
{
	struct runs r = {.call = c,
			 .each = each,
			 .ctx = ctx,
			 .o = {.all = all,
			       .limit = limit,
			       .state = -1,
			       .since.ms = INT64_MIN,
			       .until.ms = INT64_MAX},
			 .want_exit = -1};
	verb_session_name(c->settings, NULL, r.directory);
	return list_all(&r, more);
}

static int list_run(struct verb_call *c)
{
	struct runs r = {.call = c};
	bool more;
	int status = runs_parse(&r);
	const char *wrong = NULL;
	if (status != 0)
		return status;
	if (r.o.live && c->json)
		wrong = "--live has no JSON: use --state running --json";
	else if (r.o.remote && (r.o.all || r.o.exit || r.o.state >= 0 || r.o.until.text))
		wrong = "--remote goes with --session, --command, --since, --limit, --host and "
			"--failed";
	else if (!r.o.remote && (r.o.host || r.o.failed))
		wrong = "--host and --failed go with --remote";
	if (wrong) {
		verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
		return EXIT_TERSE;
	}
	if (r.o.remote)
		return remote_list(c, &r.o);
	if (r.o.live)
		return live_list(c);
	return list_all(&r, &more);
}

static const struct verb_option list_options[] = {
	RUNS_ROWS,
	{"--live", 0, VERB_FLAG, RUNS_AT(live), NULL,
	 "what runs now in all sessions, with its last line"},
	{"--remote", 0, VERB_FLAG, RUNS_AT(remote), NULL,
	 "what all machines pushed to the remote (--since 1h), with --session, --command, --since, "
	 "--limit, --json"},
	{"--host", 0, VERB_TEXT, RUNS_AT(host), "HOST",
	 "--remote: by machines whose name begins so"},
	{"--failed", 0, VERB_FLAG, RUNS_AT(failed), NULL,
	 "--remote: only failed or interrupted runs"},
	VERB_END_ROW,
};

const struct verb verb_list = {
	.name = "list",
	.purpose = "list the artifacts of this session; --live: what runs now",
	.forms = "",
	.text = "Lists the artifacts of this session, newest first.\n",
	.options = list_options,
	.run = list_run,
};
