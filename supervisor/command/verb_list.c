// terse list: the artifacts of a session; terse history: all its runs that have ended. Newest
// first, as rows of a table or as JSON (runs.h).

#include "config/value.h"
#include "lib/buffer.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/members.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "lib/utf8.h"
#include "supervisor/artifact/id.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/artifact/store.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/excerpts.h"
#include "supervisor/command/person.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/protocol.h"
#include "supervisor/process/sink.h"
#include "supervisor/remote/index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct runs {
	struct verb_call *call;
	bool history; /* all runs, else those with artifacts */
	enum sink sink;

	/* The options. */
	bool all;
	const char *command, *exit;
	int state; /* enum meta_state; -1: any */
	struct verb_when since, until;
	uint64_t limit; /* 0: not given */
	bool live, remote;
	const char *host;

	/* Their meaning. */
	char directory[STORE_SESSION_LEN + 1]; /* of the session */
	int want_exit;                         /* -1: any */
	bool want_failed;

	size_t width; /* columns */
	uint64_t rows;
	struct buffer out;

	/* Of the history of a command: how the runs went. */
	const char **results; /* "ok", "FAIL", the newest first; what does not fit is left out */
	size_t result_count, result_room;
};

/* Rows by default: enough for recent runs, and quick however many there are. */
#define ROWS 30

/* Columns of a row where standard output is no terminal. */
#define WIDTH 120

/* The same where a model reads it that can't ask for one of them in another way. */
#define WIDTH_TOOLS 2048

/* Rows for a program that gives no limit, of the remote. */
#define ROWS_REMOTE 10000

/* Parses the arguments. Returns 0, or the exit status after saying what is wrong. */
static int runs_parse(struct runs *r)
{
	char *end;
	struct winsize size;
	r->state = r->want_exit = -1;
	r->since.ms = INT64_MIN;
	r->until.ms = INT64_MAX;
	if (verb_parse(r->call, r) < 0)
		return EXIT_TERSE;
	r->want_failed = r->exit && strcmp(r->exit, "failed") == 0;
	if (r->exit && !r->want_failed) {
		long code = strtol(r->exit, &end, 10);
		if (!*r->exit || *end || code < 0 || code > 255) {
			verb_fail(r->call, ENVELOPE_USAGE,
				  "--exit: %s: must be a number from 0 to 255, or failed", r->exit);
			return EXIT_TERSE;
		}
		r->want_exit = (int)code;
	}
	r->sink = reader_of_text();
	if (!r->limit)
		r->limit = r->sink != SINK_PROGRAM || r->call->json ? ROWS
			   : r->remote                              ? ROWS_REMOTE
								    : UINT64_MAX;
	if (r->remote)
		return 0;
	if (!verb_has_session(r->call))
		return 1;
	verb_session_name(r->call->settings, r->call->session, r->directory);
	r->width = r->call->settings->words == WORDS_TOOLS                           ? WIDTH_TOOLS
		   : ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
										     : WIDTH;
	return 0;
}

/* Whether the options select runs. Then a run whose metadata can't be read is left out. */
static bool runs_is_choosy(const struct runs *r)
{
	return r->command || r->state >= 0 || r->exit || r->since.text || r->until.text;
}

/* Whether a run is wanted: 1, 0, or -1: no memory to tell. */
static int runs_match(const struct runs *r, const struct meta *m)
{
	/* As a shell reports it. */
	int exit_code = m->signal ? 128 + m->signal : m->exit_code;
	if ((r->state >= 0 && (int)m->state != r->state) ||
	    (r->want_failed && (m->state == META_RUNNING || !meta_has_failed(m))) ||
	    (r->want_exit >= 0 && (m->state == META_RUNNING || exit_code != r->want_exit)))
		return 0;
	if (!r->command)
		return 1;
	struct buffer words = BUFFER_INIT;
	row_add_command(&words, m);
	int found = buffer_string(&words) ? strstr(words.data, r->command) != NULL : -1;
	buffer_release(&words);
	return found;
}

/* The same of runs here, that started when it was asked for. */
static bool runs_is_wanted(const struct runs *r, const struct meta *m)
{
	return m->started_ms >= r->since.ms && m->started_ms <= r->until.ms && runs_match(r, m) > 0;
}

/* Output is written when so much is collected. */
#define COLLECTED ((size_t)64 * 1024)

/* Bytes of a command in a list for programs. */
#define COMMAND_MAX 2048

struct row {
	char state[24], took[HUMAN_LEN], lines[HUMAN_LEN], size[HUMAN_LEN], age[HUMAN_LEN];
};

/* --- as a table ------------------------------------------------------------------- */

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
	if (r->all) {
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

static void runs_begin_json(struct runs *r)
{
	envelope_begin(&r->out);
	json_add_string(&r->out, "session", r->all ? NULL : r->directory);
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
	if (r->rows == 0 && r->call->json)
		runs_begin_json(r);
	else if (r->rows == 0)
		buffer_printf(&r->out, "%s%-16s  %-11s  %11s  %10s  %8s  %7s  %s%sCOMMAND%s\n",
			      paint_code(r->call->colour, PAINT_SOFT), "ID", "STATE", "TOOK",
			      "LINES", "SIZE", "AGE", r->all ? "SESSION" : "",
			      r->all ? "                   " : "", paint_none(r->call->colour));
	if (r->call->json) {
		/* The element before may have been printed already, so the writer can't know the
		   comma. */
		buffer_append_string(&r->out, r->rows > 0 ? ",{" : "{");
		if (m) {
			runs_append_json(&r->out, m, COMMAND_MAX);
		} else {
			json_add_string(&r->out, "id", id);
			json_add_string(&r->out, "error", strerror(error));
		}
		json_end_object(&r->out);
	} else {
		runs_add_row(r, id, session, m, error);
	}
	r->rows++;
	if (m && r->history && r->command) {
		const char **word =
			array_add(&r->results, &r->result_count, &r->result_room, sizeof(*word));
		if (word)
			*word = m->state != META_DONE ? meta_state_name(m->state)
				: m->exit_code        ? "FAIL"
						      : "ok";
	}
	return r->out.len > COLLECTED || r->out.failed ? runs_flush(r) : 0;
}

/* Appends the command that shows ten times as many. */
static void runs_add_more(struct buffer *out, const struct runs *r)
{
	const struct verb_call *c = r->call;
	const struct {
		const char *option, *value;
	} given[] = {
		{"--session", c->session},
		{"--host", r->host},
		{"--command", r->command},
		{"--state", r->state >= 0 ? meta_state_name((enum meta_state)r->state) : NULL},
		{"--exit", r->exit},
		{"--since", r->since.text},
		{"--until", r->until.text},
	};
	if (c->settings->words == WORDS_TOOLS) {
		buffer_printf(out, TOOL_LIST " limit=%" PRIu64, r->limit * 10);
		return;
	}
	buffer_printf(out, "terse %s%s%s", c->verb->name, r->all ? " --all" : "",
		      r->remote ? " --remote" : "");
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].value)
			continue;
		buffer_printf(out, " %s ", given[i].option);
		quote_append(out, given[i].value);
	}
	buffer_printf(out, "%s --limit %" PRIu64, c->json ? " --json" : "", r->limit * 10);
}

/* Ends a list: the members behind its array, or the line that says that there are more. */
static void runs_add_end(struct buffer *out, const struct runs *r, uint64_t shown, bool more)
{
	struct buffer next = BUFFER_INIT;
	if (r->call->json) {
		json_add_count(out, "shown", shown);
		json_add_bool(out, "truncated", more);
		if (more)
			runs_add_more(&next, r);
		json_add_made(out, "next", &next);
		envelope_end(out);
	} else if (more) {
		buffer_printf(out, "[newest %" PRIu64 " shown; more: ", r->limit);
		runs_add_more(out, r);
		buffer_append_string(out, "]\n");
	}
}

/* Writes the rest and the closing notices. `added`: 1 if there are more, 0, or -1 with errno;
   `damaged`: lines of the history. Returns the exit status. */
static int runs_end(struct runs *r, int added, uint64_t damaged, int status)
{
	const struct verb_call *c = r->call;
	struct buffer notice = BUFFER_INIT, *out = &r->out;
	bool prints = added >= 0;
	if (prints && c->json) {
		if (r->rows == 0)
			runs_begin_json(r);
		json_end_array(out);
		if (r->result_count > 0)
			json_begin_array(out, "results");
		for (size_t i = r->result_count; i-- > 0;)
			json_add_string(out, NULL, r->results[i]);
		if (r->result_count > 0)
			json_end_array(out);
		runs_add_end(out, r, r->rows, added);
	} else if (prints) {
		if (r->result_count > 0)
			buffer_append_string(&notice, "[oldest first:");
		for (size_t i = r->result_count; i-- > 0;)
			buffer_printf(&notice, " %s", r->results[i]);
		if (r->result_count > 0)
			buffer_append_string(&notice, "]\n");
		runs_add_end(&notice, r, r->rows, added);
	}
	if (added < 0 || (prints && (runs_flush(r) < 0 || reader_notice(r->sink, &notice) < 0))) {
		verb_fail(c, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (damaged > 0 && !c->json) {
		verb_error(c->verb->name, "damaged lines skipped: %s", HUMAN_COUNT(damaged));
	} else if (r->rows == 0 && !c->json && c->settings->words != WORDS_TOOLS) {
		const char *what = runs_is_choosy(r) ? "no such run" : "nothing";
		if (r->all)
			verb_error(c->verb->name, "%s in any session", what);
		else
			verb_error(c->verb->name, "%s in session %s (--all for every session)",
				   what, r->directory);
	}
	buffer_release(&notice);
	buffer_release(&r->out);
	free(r->results);
	return status;
}

// terse history: the runs of the caller's session that have ended, those without an artifact, too;
// the newest first.

static int history_run(struct verb_call *c)
{
	struct runs r = {.call = c, .history = true};
	struct store stores[STORE_MAX];
	struct meta m;
	int added = -1;
	int status = runs_parse(&r);
	if (status != 0)
		return status;
	int count = verb_open_stores(c, stores, &status);
	struct journal *j = journal_open(stores, count, r.all ? NULL : r.directory, JOURNAL_RUN);
	while (j && (added = journal_next_run(j, &m)) == 1) {
		/* The rest ended, and so started, earlier. */
		if (r.since.text && m.ended_ms < r.since.ms)
			added = 0;
		else if (!runs_is_wanted(&r, &m))
			continue;
		else if (r.rows < r.limit)
			added = runs_add(&r, m.id, m.session, &m) < 0 ? -1 : 2;
		if (added < 2)
			break;
	}
	status = runs_end(&r, added, j ? journal_damaged(j) : 0, status);
	journal_close(j);
	store_close_all(stores, count);
	return status;
}

#define RUNS_AT(member) offsetof(struct runs, member)

#define RUNS_ROWS                                                                                 \
	{"--all", 0, VERB_FLAG, RUNS_AT(all), NULL, "of all sessions"},                           \
		VERB_SESSION_ROW("of session NAME"),                                              \
		{"--command", 0,                                                                  \
		 VERB_TEXT,   RUNS_AT(command),                                                   \
		 "TEXT",      "with TEXT in the command"}, /* As enum meta_state has them. */     \
		{"--state",      0, VERB_WORD, RUNS_AT(state), "running|done|interrupted",        \
		 "in this state"},                                                                \
		{"--exit",   0,                                                                   \
		 VERB_TEXT,  RUNS_AT(exit),                                                       \
		 "N|failed", "with this exit status; failed: any but 0, or interrupted"},         \
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
	if (r->since.text && started < r->since.ms - 1000)
		return 0;
	int dir = store_open_session(found->store, found->session, false);
	struct meta m;
	int result = 0;
	if (dir >= 0 && meta_read(dir, found->id, &m) == 0) {
		if (!runs_is_wanted(r, &m)) {
			result = 0;
		} else if (r->rows >= r->limit) {
			result = 1;
		} else {
			list_count_lines(dir, found->id, ARTIFACT_OUT, &m.out);
			list_count_lines(dir, found->id, ARTIFACT_ERR, &m.err);
			result = runs_add(r, found->id, found->session, &m);
		}
		meta_release(&m);
	} else if (errno != ENOENT && !runs_is_choosy(r)) {
		result = r->rows >= r->limit ? 1 : runs_add(r, found->id, found->session, NULL);
	}
	io_close(&dir);
	return result;
}

/* Returns the exit status. */
static int list_all(struct runs *r)
{
	struct store stores[STORE_MAX];
	int status = 0, count = verb_open_stores(r->call, stores, &status);
	struct journal *artifacts =
		journal_open(stores, count, r->all ? NULL : r->directory, JOURNAL_MADE);
	struct id_found found;
	int added = 0, got = -1;
	while (artifacts && added == 0 && (got = journal_next_made(artifacts, &found)) == 1)
		added = list_add(r, &found);
	added = added ? added : got;
	status = runs_end(r, added, 0, status);
	journal_close(artifacts);
	store_close_all(stores, count);
	return status;
}

// terse list --live: the live runs of every session.

/* At most so many runs are listed. */
#define ROWS_MOST 200

struct rows {
	char ids[ROWS_MOST][ID_LEN + 1];
	int found;
	bool more;
};

static int live_list_collect(void *ctx, const char *id)
{
	struct rows *r = ctx;
	r->more = r->found == ROWS_MOST;
	if (!r->more)
		memcpy(r->ids[r->found++], id, ID_LEN + 1);
	return r->more;
}

static int live_list_newest_first(const void *a, const void *b)
{
	return strcmp(b, a);
}

/* Adds the rows of a run: its state and command, who holds its output open if the command has
   ended, and its last line, or what it asks. */
static void live_list_add(struct buffer *out, struct store *stores, int count, const char *id,
			  size_t width)
{
	static const char *const states[LIVE_STATES] = {[LIVE_RUNNING] = "running",
							[LIVE_WAITING] = "waiting",
							[LIVE_STOPPED] = "stopped",
							[LIVE_ENDED] = "ended"};
	struct live_status now;
	struct id_found found;
	struct meta m = {0};
	struct buffer command = BUFFER_INIT;
	char elapsed[HUMAN_LEN] = "-", lines[HUMAN_LEN] = "-", size[HUMAN_LEN] = "-";
	int run = client_open(stores, count, id);
	bool opened = run >= 0;
	bool answers = opened && client_status(run, FRAME_STATUS, &now) == 0;
	int error = errno;
	io_close(&run);
	/* It has ended. */
	if (!answers && error == (opened ? EPIPE : ENOENT))
		return;
	bool kept = id_find(stores, count, "default", id, &found) == 0 &&
		    verb_read_meta(&found, &m) == 0;
	if (answers) {
		human_duration(elapsed, now.elapsed_ms);
		human_count(lines, now.lines);
		human_size(size, now.bytes);
	} else if (kept) {
		human_duration(elapsed, clock_real_ms() - m.started_ms);
	}
	size_t start = out->len;
	buffer_printf(out, "%s  %-7s  %10s  %10s  %8s  ", id, answers ? states[now.state] : "?",
		      elapsed, lines, size);
	size_t used = out->len - start;
	if (kept || !answers) {
		row_add_command(&command, &m);
	} else {
		/* As the supervisor reports it. */
		char *argv[LIVE_ARGV / 2 + 1];
		size_t n = 0, i = 0;
		for (; i < now.argv_len && n < sizeof(argv) / sizeof(*argv) - 1;
		     i += strlen(now.argv + i) + 1)
			argv[n++] = now.argv + i;
		argv[n] = NULL;
		const struct meta reported = {.argv = argv,
					      .cut = now.argv_cut || i < now.argv_len};
		row_add_command(&command, &reported);
	}
	row_add_cell(out, command.data, command.len, width > used + 10 ? width - used : 10);
	buffer_append_string(out, "\n");
	for (int i = 0; i < m.holders; i++) {
		const struct meta_holder *h = &m.held_by[i];
		buffer_append_string(out, i == 0 ? "    held by " : ", ");
		row_add_cell(out, h->name, strlen(h->name), sizeof(h->name));
		buffer_printf(out, " (%d)%s", (int)h->pid, i == m.holders - 1 ? "\n" : "");
	}
	const char *line = !answers                                   ? ""
			   : now.state == LIVE_WAITING && *now.prompt ? now.prompt
								      : now.last_line;
	if (*line) {
		buffer_append_string(out, "    ");
		row_add_cell(out, line, strlen(line), width > 14 ? width - 4 : 10);
		buffer_append_string(out, "\n");
	}
	if (!answers)
		buffer_printf(out, "    does not answer%s\n",
			      opened && error == EBUSY             ? ": too many clients"
			      : opened && error == EPROTONOSUPPORT ? ": another version of terse"
								   : "");
	out->failed |= command.failed;
	buffer_release(&command);
	meta_release(&m);
}

static int live_list(const struct runs *r)
{
	struct store stores[STORE_MAX];
	struct buffer out = BUFFER_INIT;
	struct rows *rows = calloc(1, sizeof(*rows));
	if (!rows) {
		verb_error(r->call->verb->name, "%m");
		return 1;
	}
	int count = store_open_all(stores);
	client_each(stores, count, live_list_collect, rows);
	qsort(rows->ids, (size_t)rows->found, sizeof(rows->ids[0]), live_list_newest_first);
	buffer_printf(&out, "%-16s  %-7s  %10s  %10s  %8s  COMMAND\n", "ID", "STATE", "ELAPSED",
		      "LINES", "SIZE");
	size_t empty = out.len;
	for (int i = 0; i < rows->found; i++)
		live_list_add(&out, stores, count, rows->ids[i], r->width);
	if (out.len == empty)
		buffer_clear(&out);
	if (rows->more)
		buffer_printf(&out, "[%d shown, there are more]\n", ROWS_MOST);
	store_close_all(stores, count);
	free(rows);
	if (out.len == 0 && !out.failed)
		verb_error(r->call->verb->name, "nothing runs");
	return verb_print(r->call, &out);
}

// terse list --remote: the runs of all machines that were pushed, newest first, from the index of
// the remote (remote/index.h).

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
	struct runs *r;
	int64_t now_ms;
	struct remote_row *rows;
	size_t count, room;
	bool more; /* rows were left out */
};

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
		if (!again && kept < l->r->limit) {
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
	const struct runs *r = l->r;
	struct buffer out = BUFFER_INIT, command = BUFFER_INIT, place = BUFFER_INIT;
	const char *host = m->host ? m->host : "", *session = r->call->session;
	if ((m->ended_ms ? m->ended_ms : m->started_ms) < r->since.ms ||
	    (session && strcmp(session, m->session) != 0) ||
	    strncmp(host, r->host ? r->host : "", r->host ? strlen(r->host) : 0) != 0)
		return 0;
	int wanted = runs_match(r, m);
	if (wanted <= 0)
		return wanted;
	if (l->count >= 2 * r->limit)
		remote_list_settle(l);
	if (r->call->json) {
		/* No comma before it: rows are put in order later. */
		json_begin_object(&out, NULL);
		runs_append_json(&out, m, META_LINE);
		json_add_string(&out, "host", host);
		json_add_string(&out, "container", m->container);
		json_begin_object(&out, "labels");
		remote_list_add_labels(&out, m, true);
		json_end_object(&out);
		json_add_count(&out, "object_bytes", m->object_bytes);
		json_end_object(&out);
	} else {
		char state[24];
		runs_describe_state(m, state);
		buffer_printf(&out, "%s  %-11s  %10s  %8s  %7s  ", m->id, state,
			      HUMAN_COUNT(m->out.lines + m->err.lines),
			      HUMAN_SIZE(m->out.bytes + m->err.bytes),
			      human_age((char[HUMAN_LEN]){0}, l->now_ms - m->started_ms));
		buffer_append_string(&place, host);
		remote_list_add_labels(&place, m, false);
		row_add_cell(&out, place.data, place.len, PLACE_WIDTH);
		buffer_append_string(&out, ": ");
		row_add_command(&command, m);
		row_add_cell(&out, command.data, command.len, COMMAND_WIDTH);
		buffer_append_string(&out, "\n");
		out.failed |= command.failed || place.failed;
		buffer_release(&command);
		buffer_release(&place);
	}
	struct remote_row *row =
		buffer_check(&out) < 0 ? NULL
				       : array_add(&l->rows, &l->count, &l->room, sizeof(*l->rows));
	if (!row) {
		buffer_release(&out);
		return -1;
	}
	*row = (struct remote_row){id_pack(m->id), out.data, out.len};
	return 0;
}

/* Whether the newest ones are there, and one that is left out. */
static bool remote_list_has_enough(void *ctx, int64_t before_ms)
{
	struct remote_list *l = ctx;
	remote_list_settle(l);
	return l->more && l->rows[l->count - 1].id >= id_first_at(before_ms);
}

static int remote_list_print(const struct remote_list *l, uint64_t damaged)
{
	const struct verb_call *c = l->r->call;
	struct buffer out = BUFFER_INIT, notice = BUFFER_INIT;
	if (c->json) {
		envelope_begin(&out);
		json_begin_array(&out, "runs");
		for (size_t i = 0; i < l->count; i++)
			json_add_raw(&out, NULL, l->rows[i].text, l->rows[i].len);
		json_end_array(&out);
		json_add_count(&out, "damaged_lines", damaged);
		runs_add_end(&out, l->r, l->count, l->more);
		return verb_print(c, &out);
	}
	if (damaged > 0)
		verb_error(c->verb->name, "damaged lines skipped: %s", HUMAN_COUNT(damaged));
	if (l->count == 0) {
		verb_error("list", "no such run was pushed (--since %s)",
			   l->r->since.text ? l->r->since.text : "1h");
		return 0;
	}
	buffer_printf(&out, "%-16s  %-11s  %10s  %8s  %7s  HOST: COMMAND\n", "ID", "STATE", "LINES",
		      "SIZE", "AGE");
	for (size_t i = 0; i < l->count; i++)
		buffer_append(&out, l->rows[i].text, l->rows[i].len);
	int status = verb_print(c, &out);
	runs_add_end(&notice, l->r, l->count, l->more);
	if (status == 0 && reader_notice(l->r->sink, &notice) < 0)
		status = 1;
	buffer_release(&notice);
	return status;
}

static int remote_list(struct runs *r)
{
	const struct verb_call *c = r->call;
	struct remote_list l = {.r = r, .now_ms = clock_real_ms()};
	int status = 1;
	if (!remote_is_set(c->settings)) {
		verb_fail(c, ENVELOPE_USAGE,
			  "there is no remote: [remote] of your terse.ini names one");
		return EXIT_TERSE;
	}
	if (!r->since.text)
		value_parse_time("1h", l.now_ms, &r->since.ms);
	struct index_reader reader = {.from_ms = r->since.ms,
				      .to_ms = l.now_ms + AHEAD_MS,
				      .host = r->host ? r->host : "",
				      .each = remote_list_on_run,
				      .enough = remote_list_has_enough,
				      .ctx = &l};
	if (index_read(c->settings, &reader) < 0) {
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", c->settings->remote,
			  *reader.why ? reader.why : strerror(ENOMEM));
	} else {
		remote_list_settle(&l);
		status = remote_list_print(&l, reader.damaged);
	}
	for (size_t i = 0; i < l.count; i++)
		free(l.rows[i].text);
	free(l.rows);
	return status;
}

static int list_run(struct verb_call *c)
{
	struct runs r = {.call = c};
	int status = runs_parse(&r);
	const char *wrong = NULL;
	if (status != 0)
		return status;
	if (r.live && c->json)
		wrong = "--live has no JSON: use --state running --json";
	else if (r.remote && (r.all || r.state >= 0 || r.until.text))
		wrong = "--remote goes with --session, --command, --exit, --since, --limit and "
			"--host";
	else if (!r.remote && r.host)
		wrong = "--host goes with --remote";
	if (wrong) {
		verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
		return EXIT_TERSE;
	}
	if (r.remote)
		return remote_list(&r);
	if (r.live)
		return live_list(&r);
	return list_all(&r);
}

static const struct verb_option list_options[] = {
	RUNS_ROWS,
	{"--live", 0, VERB_FLAG, RUNS_AT(live), NULL,
	 "what runs now in all sessions, with its last line"},
	{"--remote", 0, VERB_FLAG, RUNS_AT(remote), NULL,
	 "what all machines pushed to the remote (--since 1h), with --session, --command, --exit, "
	 "--since, --limit, --json"},
	{"--host", 0, VERB_TEXT, RUNS_AT(host), "HOST",
	 "--remote: by machines whose name begins so"},
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
