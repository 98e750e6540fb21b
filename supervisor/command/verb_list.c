// terse list: the runs of a session, ended ones and live ones, with an artifact or without; with
// --live the live runs of all sessions; with --remote the runs that all machines have pushed.
// Newest first, as rows of a table, as JSON (internal.h), or as lines of the journal
// (artifact/journal.h).

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "supervisor/command/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct runs {
	struct verb_call *call;
	enum sink sink;

	/* Options. */
	struct runs_filter filter;
	bool all, live, remote, journal;
	uint64_t limit; /* 0: not given */

	char directory[STORE_SESSION_LEN + 1]; /* name of the session's directory */
	size_t width;                          /* columns of a row */
	bool narrow;                           /* rows have no sizes */
	uint64_t rows;                         /* printed rows */
	struct buffer out;

	uint64_t damaged;

	struct store stores[STORE_MAX], *others;
	int count, other_count; /* other_count: -1: they are not open */
	void *seen;             /* of runs_seen() */
};

/* The default of --limit. */
#define ROWS 30

/* Columns of a row, if standard output is not a terminal. */
#define WIDTH 120

/* With fewer columns a row has no sizes, which would leave no room for the command. */
#define NARROW 100

/* Columns of a row for a model with tools: it has no other way to see a whole command. */
#define WIDTH_TOOLS 2048

/* Columns of a session's name, or of a machine's name with labels. */
#define PLACE_WIDTH 24

/* The default of --limit for --remote, if a program reads. */
#define ROWS_REMOTE 10000

/* Output is written in pieces of about this size. */
#define COLLECTED ((size_t)64 * 1024)

/* The most bytes of a command in JSON. */
#define COMMAND_MAX 2048

/* --- rows ------------------------------------------------------------------------- */

/* Writes how a run ended, or that it is live: "exit 0", "running". */
static void runs_describe_state(const struct meta *m, char out[24])
{
	if (m->state == META_RUNNING)
		snprintf(out, 24, "running");
	else if (m->state == META_INTERRUPTED)
		snprintf(out, 24, "interrupted");
	else if (m->timed_out)
		snprintf(out, 24, "timed out");
	else if (m->signal && sigabbrev_np(m->signal))
		snprintf(out, 24, "SIG%s", sigabbrev_np(m->signal));
	else if (m->signal)
		snprintf(out, 24, "signal %d", m->signal);
	else
		snprintf(out, 24, "exit %d", m->exit_code);
}

/* Appends a run as a row, or as a JSON object. `m` NULL: the metadata can't be read, with the errno
   `error`. `state`: the state of a live run, "?" if it does not answer; else NULL. */
static void runs_add_row(const struct runs *r, struct buffer *out, const char *id,
			 const struct meta *m, const char *state, int error)
{
	char word[24] = "?", took[HUMAN_LEN] = "?", lines[HUMAN_LEN] = "?", size[HUMAN_LEN] = "?",
	     age[HUMAN_LEN] = "?";
	struct buffer cell = BUFFER_INIT;
	const size_t start = out->len;
	if (r->call->json) {
		buffer_append_string(out, "{");
		if (m) {
			runs_append_json(out, m, COMMAND_MAX);
		} else {
			json_add_string(out, "id", id);
			json_add_string(out, "error", verb_reason(error));
		}
		if (m && r->remote) {
			json_add_string(out, "host", m->host ? m->host : "");
			json_begin(out, "labels", '{');
			runs_add_labels(out, m, true);
			json_end(out, '}');
			json_add_count(out, "object_bytes", m->object_bytes);
		}
		json_end(out, '}');
		return;
	}
	if (m) {
		/* The age counts from the time that also sorts the rows: the end, or with --remote
		   the start. */
		const int64_t ms = r->remote || !m->ended_ms ? m->started_ms : m->ended_ms;
		bool counted = *id && runs_is_counted(m) && !(state && *state == '?');
		runs_describe_state(m, word);
		if (m->started_ms) {
			human_duration(took, excerpts_ending(m).duration_ms);
			human_age(age, clock_real_ms() - ms);
		}
		snprintf(lines, sizeof(lines), "%s",
			 counted ? HUMAN_COUNT(m->out.lines + m->err.lines) : "-");
		snprintf(size, sizeof(size), "%s",
			 counted ? HUMAN_SIZE(m->out.bytes + m->err.bytes) : "-");
	}
	const char *begin = paint_code(r->call->colour, runs_paint(m)),
		   *end = paint_none(r->call->colour);
	buffer_printf(out, "%-*s  %s%-11s%s  %11s  ", ID_LEN, *id ? id : "-", begin,
		      state ? state : word, end, took);
	if (!r->narrow)
		buffer_printf(out, "%10s  %8s  ", lines, size);
	buffer_printf(out, "%7s  ", age);
	if (r->all || r->remote) {
		size_t before = out->len;
		buffer_append_string(&cell, !m ? "" : r->remote ? m->host : m->session);
		if (m && r->remote)
			runs_add_labels(&cell, m, false);
		row_add_cell(out, cell.data, cell.len, PLACE_WIDTH * (r->remote + 1));
		size_t used = out->len - before;
		buffer_printf(out, "%*s  ", used < PLACE_WIDTH ? (int)(PLACE_WIDTH - used) : 0, "");
		buffer_clear(&cell);
	}
	if (m)
		row_add_command(&cell, m);
	else
		buffer_printf(&cell, "(metadata: %s)", verb_reason(error));
	/* Sequences for colours take no columns. */
	size_t used = out->len - start - strlen(begin) - strlen(end);
	row_add_cell(out, cell.data, cell.len, r->width > used + 10 ? r->width - used : 10);
	buffer_append_string(out, "\n");
	if (m && m->description) {
		buffer_printf(out, "%-*s", ID_LEN + 2, "");
		row_add_cell(out, m->description, strlen(m->description), META_DESCRIPTION);
		buffer_append_string(out, "\n");
	}
	if (m) {
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->out));
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->err));
		row_add_files(out, ID_LEN + 2, m);
	}
	out->failed |= cell.failed;
	buffer_release(&cell);
}

/* Begins a row; before the first one also appends what precedes all rows. */
static void runs_begin_row(struct runs *r)
{
	struct buffer *out = &r->out;
	if (r->rows++ > 0 || r->journal) {
		buffer_append_string(out, r->call->json ? "," : "");
	} else if (r->call->json) {
		envelope_begin(out);
		json_add_string(out, "session", r->all || r->remote ? NULL : r->directory);
		json_begin(out, "runs", '[');
	} else {
		buffer_printf(out, "%s%-16s  %-11s  %11s  %s%7s  ",
			      paint_code(r->call->colour, PAINT_SOFT), "ID", "STATE", "TOOK",
			      r->narrow ? "" : "     LINES      SIZE  ", "AGE");
		if (r->all || r->remote)
			buffer_printf(out, "%-*s  ", PLACE_WIDTH, r->remote ? "HOST" : "SESSION");
		buffer_printf(out, "COMMAND%s\n", paint_none(r->call->colour));
	}
}

/* Adds a run, and writes the output if enough is collected. `m` NULL: its metadata can't be read,
   with errno. Returns 0, or -1 with errno. */
static int runs_add(struct runs *r, const char *id, const struct meta *m, const char *state)
{
	int error = errno;
	runs_begin_row(r);
	runs_add_row(r, &r->out, id, m, state, error);
	return r->out.len > COLLECTED || r->out.failed ? verb_write(&r->out) : 0;
}

/* Appends the command that lists ten times as many runs. */
static void runs_add_more(struct buffer *out, const struct runs *r)
{
	const struct verb_call *c = r->call;
	if (c->settings->words == WORDS_TOOLS) {
		buffer_printf(out, TOOL_LIST " limit=%" PRIu64, r->limit * 10);
		return;
	}
	buffer_printf(out, "terse %s%s%s%s%s", c->verb->name, r->all ? " --all" : "",
		      r->live ? " --live" : "", r->remote ? " --remote" : "",
		      r->journal ? " --journal" : "");
	if (c->session) {
		buffer_append_string(out, " --session ");
		quote_append(out, c->session);
	}
	runs_filter_add(out, &r->filter);
	buffer_printf(out, "%s --limit %" PRIu64, c->json ? " --json" : "", r->limit * 10);
}

/* Writes the rest of the output and the last notices. `more`: 1 if there are more runs, 0 if not,
   or -1 with errno. Returns the exit status: `status`, unless there was an error. */
static int runs_end(struct runs *r, int more, int status)
{
	const struct verb_call *c = r->call;
	struct buffer notice = BUFFER_INIT, next = BUFFER_INIT, *out = &r->out;
	const uint64_t shown = r->rows;
	if (more > 0)
		runs_add_more(&next, r);
	if (more >= 0 && c->json) {
		if (shown == 0)
			runs_begin_row(r);
		json_end(out, ']');
		json_add_count(out, "shown", shown);
		json_add_bool(out, "truncated", more);
		if (r->remote)
			json_add_count(out, "damaged_lines", r->damaged);
		json_add_made(out, "next", &next);
		envelope_end(out);
	} else if (more > 0) {
		buffer_printf(&notice, "[newest %" PRIu64 " shown; more: ", r->limit);
		buffer_add(&notice, &next);
		buffer_append_string(&notice, "]\n");
	}
	if (more < 0 || verb_write(&r->out) < 0 || reader_notice(r->sink, &notice) < 0) {
		status = verb_fail(c, ENVELOPE_UNREADABLE, "%m");
	} else if (!c->json) {
		const char *what = runs_filter_is_set(&r->filter, true) ? "no such run" : "nothing";
		if (r->damaged > 0)
			verb_error(c->verb->name, "damaged lines skipped: %s",
				   HUMAN_COUNT(r->damaged));
		else if (shown == 0 && r->remote)
			verb_error(c->verb->name, "no such run was pushed (--since %s)",
				   r->filter.since.text ? r->filter.since.text : "1h");
		else if (shown == 0 && r->live)
			verb_error(c->verb->name, "nothing runs");
		else if (shown == 0 && r->all)
			verb_error(c->verb->name, "%s in any session", what);
		else if (shown == 0 && c->settings->words != WORDS_TOOLS)
			verb_error(c->verb->name, "%s in session %s (--all for every session)",
				   what, r->directory);
	}
	buffer_release(&notice);
	buffer_release(&next);
	buffer_release(out);
	return status;
}

/* --- what is on disk ---------------------------------------------------------------------- */

/* Adds an artifact, if the filter lets it through. Its run has no line in the journal, since the
   run lives or was killed. Returns as list_add_line(). */
static int list_add_artifact(struct runs *r, const struct id_found *found)
{
	struct meta m = {0};
	int result = 0;
	int dir = store_open_session(found->store, found->session, false);
	bool known = dir >= 0 && meta_read(dir, found->id, &m) == 0;
	bool wanted = known ? runs_filter_match(&r->filter, &m) > 0
			    : errno != ENOENT && !runs_filter_is_set(&r->filter, true);
	if (wanted && r->rows >= r->limit) {
		result = 1;
	} else if (wanted) {
		int error = errno;
		if (known) {
			runs_count_lines(dir, found->id, ARTIFACT_OUT, &m.out);
			runs_count_lines(dir, found->id, ARTIFACT_ERR, &m.err);
		}
		errno = error;
		result = runs_add(r, found->id, known ? &m : NULL, NULL);
	}
	meta_release(&m);
	io_close(&dir);
	return result;
}

/* Adds the run or artifact of a line, if the filter lets it through. Returns 0; 1 if the limit is
   reached; or -1 with errno. */
static int list_add_line(struct runs *r, struct journal *j, const struct journal_line *line)
{
	const struct runs_filter *f = &r->filter;
	const bool is_run = line->kind == JOURNAL_RUN;
	int64_t ms = journal_line_ms(line);
	struct meta m;
	int wanted =
		is_run ? journal_parse_run(j, line, &m)
		       : !runs_filter_is_set(f, false) && ms >= f->since.ms && ms <= f->until.ms;
	int seen = r->journal || (is_run && wanted == 0) ? 0 : runs_seen(&r->seen, line->of.id);
	if (seen != 0)
		return seen < 0 ? -1 : 0;
	if (!is_run && !r->journal)
		return list_add_artifact(r, &line->of);
	if (is_run && wanted > 0)
		wanted = runs_filter_match(f, &m);
	if (wanted <= 0 || r->rows >= r->limit)
		return wanted;
	if (!r->journal) {
		/* The artifact is usually in the store that has the run's line, but may be in
		   another, even in one that TERSE_HOME excludes. */
		bool is_kept = line->is_there;
		if (*line->of.id && !is_kept && r->other_count < 0)
			r->other_count = store_open_everywhere(r->others);
		for (int i = 0; *line->of.id && !is_kept && i < r->other_count; i++)
			is_kept = id_exists(&r->others[i], line->of.id);
		if (!is_kept)
			m.id[0] = '\0';
		return runs_add(r, m.id, &m, NULL);
	}
	runs_begin_row(r);
	buffer_append(&r->out, line->text, line->len);
	buffer_append_string(&r->out, "\n");
	return r->out.len > COLLECTED ? verb_write(&r->out) : 0;
}

/* A killed run has no line about its end. If it was killed after --since, it is found only if it
   began at most this many ms before --since. Live runs are found by their sockets. */
#define LIST_EARLY_MS ((int64_t)24 * 60 * 60 * 1000)

/* Adds the live runs that have no line. Returns as list_add_line(). */
static int list_add_living(struct runs *r)
{
	char(*ids)[ID_LEN + 1];
	size_t found;
	struct id_found of;
	int result = client_list(r->stores, r->count, &ids, &found);
	for (size_t i = 0; i < found && result == 0; i++) {
		if (id_find(r->stores, r->count, "", ids[i], &of) < 0 ||
		    (!r->all && strcmp(of.session, r->directory) != 0))
			continue;
		int seen = runs_seen(&r->seen, ids[i]);
		result = seen ? -(seen < 0) : list_add_artifact(r, &of);
	}
	free(ids);
	return result;
}

static int list_kept(struct runs *r)
{
	struct store others[STORE_MAX];
	struct journal_line line;
	int added = 0, got = -1, status = 0;
	bool is_early = false;
	unsigned kinds =
		JOURNAL_RUN | JOURNAL_MADE | (r->journal ? JOURNAL_READ | JOURNAL_ENDED : 0u);
	r->count = verb_open_stores(r->call, r->stores, &status);
	r->others = others;
	r->other_count = -1;
	struct journal *j = journal_open(r->stores, r->count, r->all ? NULL : r->directory, kinds);
	while (j && added == 0 && !is_early && (got = journal_next(j, &line)) == 1) {
		const int64_t ms = journal_line_ms(&line), since_ms = r->filter.since.ms;
		is_early = line.kind == JOURNAL_RUN && ms + LIST_EARLY_MS < since_ms;
		/* Live runs were added before, so lines of runs that began earlier are only noted
		   as seen. */
		if (line.kind == JOURNAL_RUN && ms < since_ms)
			added = runs_seen(&r->seen, line.of.id) < 0 ? -1 : 0;
		else
			added = list_add_line(r, j, &line);
	}
	if (is_early && added == 0)
		added = got = r->journal ? 0 : list_add_living(r);
	r->damaged = j ? journal_damaged(j) : 0;
	status = runs_end(r, added ? added : got, status);
	tdestroy(r->seen, free);
	journal_close(j);
	store_close_all(others, r->other_count);
	store_close_all(r->stores, r->count);
	return status;
}

/* --- terse list --live: the live runs of every session ---------------------------------- */

/* Adds the rows of a live run: its state and command; who holds its output open, if the command has
   ended; its last line, or its question. `first`: adds only a run that waits for a person, or
   doesn't answer (to ask it again would take seconds). Returns 0, 1 if the run was not added, or -1
   with errno. */
static int live_list_add(struct runs *r, struct store *stores, int count, const char *id,
			 bool first)
{
	static const char *const states[LIVE_STATES] = {[LIVE_RUNNING] = "running",
							[LIVE_WAITING] = "waiting",
							[LIVE_STOPPED] = "stopped",
							[LIVE_ENDED] = "ended"};
	struct live_status now;
	struct id_found found;
	struct meta m = {0};
	struct buffer *out = &r->out;
	int run = client_open(stores, count, id);
	bool opened = run >= 0;
	bool answers = opened && client_status(run, FRAME_STATUS, &now) == 0;
	int error = errno;
	io_close(&run);
	/* The run has ended in the meantime. */
	if (!answers && error == (opened ? EPIPE : ENOENT))
		return 0;
	if (first && answers && !now.asked)
		return 1;
	bool kept = id_find(stores, count, "default", id, &found) == 0 &&
		    meta_read_found(&found, &m) == 0;
	char *argv[LIVE_ARGV / 2 + 1];
	if (answers && !kept) {
		/* Takes the command from the supervisor's status. */
		size_t n = 0, i = 0;
		for (; i < now.argv_len && n < sizeof(argv) / sizeof(*argv) - 1;
		     i += strlen(now.argv + i) + 1)
			argv[n++] = now.argv + i;
		argv[n] = NULL;
		m = (struct meta){.argv = argv,
				  .cut = now.argv_cut || i < now.argv_len,
				  .state = META_RUNNING,
				  .started_ms = clock_real_ms() - now.elapsed_ms};
	}
	if (answers) {
		m.out = (struct meta_stream){.lines = now.lines, .bytes = now.bytes};
		m.err = (struct meta_stream){0};
	}
	memcpy(m.id, id, sizeof(m.id));
	int result = runs_add(r, id, &m, answers ? states[now.state] : "?");
	for (int i = 0; i < m.holders; i++) {
		const struct meta_holder *h = &m.held_by[i];
		buffer_append_string(out, i == 0 ? "    held by " : ", ");
		row_add_cell(out, h->name, strlen(h->name), sizeof(h->name));
		buffer_printf(out, " (%d)%s", (int)h->pid, i == m.holders - 1 ? "\n" : "");
	}
	unsigned ports[PORTS_MOST];
	size_t open = answers ? ports_of(now.pid, ports) : 0;
	if (m.service) {
		buffer_append_string(out, "    service ");
		row_add_cell(out, m.service, strlen(m.service), NAME_MAX);
	}
	for (size_t i = 0; i < open; i++)
		buffer_printf(out, "%s%u",
			      i > 0       ? ", "
			      : m.service ? ", port "
					  : "    port ",
			      ports[i]);
	if (m.service || open > 0)
		buffer_append_string(out, "\n");
	const char *line = !answers                                   ? ""
			   : now.state == LIVE_WAITING && *now.prompt ? now.prompt
								      : now.last_line;
	if (*line) {
		buffer_append_string(out, "    ");
		row_add_cell(out, line, strlen(line), r->width > 14 ? r->width - 4 : 10);
		buffer_append_string(out, "\n");
	}
	if (answers && now.asked) {
		buffer_append_string(out, "    ");
		wording_asked(out, now.asked, now.prompt, id);
		buffer_append_string(out, "\n");
	}
	if (!answers)
		buffer_printf(out, "    does not answer%s\n",
			      opened && error == EBUSY             ? ": too many clients"
			      : opened && error == EPROTONOSUPPORT ? ": another version of terse"
								   : "");
	meta_release(&m);
	return result;
}

static int list_live(struct runs *r)
{
	struct store stores[STORE_MAX];
	char(*ids)[ID_LEN + 1];
	size_t found;
	bool more = false;
	int count = store_open_all(stores), result = client_list(stores, count, &ids, &found);
	/* Goes through the runs twice, since those that wait for a person come first. */
	for (size_t i = 0; i < 2 * found && result >= 0 && !more; i++) {
		char *id = ids[i % found];
		if (!*id)
			continue;
		more = r->rows >= r->limit;
		result = more ? 1 : live_list_add(r, stores, count, id, i < found);
		if (result == 0)
			*id = '\0';
	}
	int status = runs_end(r, result < 0 ? -1 : more, 0);
	store_close_all(stores, count);
	free(ids);
	return status;
}

/* --- terse list --remote: the runs of all machines that were pushed ----------------------- */

static void list_describe(void *ctx, struct buffer *out, const struct meta *m)
{
	const struct runs *r = ctx;
	if (!r->journal) {
		runs_add_row(r, out, m->id, m, NULL, 0);
	} else {
		meta_encode(out, m, COMMAND_MAX);
		buffer_append_string(out, "\n");
	}
}

static int list_remote(struct runs *r)
{
	struct runs_remote remote = {.call = r->call,
				     .filter = &r->filter,
				     .most = r->limit,
				     .describe = list_describe,
				     .ctx = r};
	int status = runs_remote_find(&remote);
	for (size_t i = 0; i < remote.count && status == 0; i++) {
		runs_begin_row(r);
		buffer_append(&r->out, remote.runs[i].text, remote.runs[i].len);
	}
	r->damaged = remote.damaged;
	if (status == 0)
		status = runs_end(r, remote.more, 0);
	runs_remote_release(&remote);
	return status;
}

static int list_run(struct verb_call *c)
{
	struct runs made = {.call = c, .filter = RUNS_FILTER_NONE}, *r = &made;
	struct winsize size;
	if (verb_parse(c, r) < 0)
		return EXIT_TERSE;
	const char *wrong = r->live && c->json ? "--live has no JSON: use --state running --json"
			    : r->journal && c->json ? "--journal is JSON: without --json"
			    : r->live && (r->remote || r->journal)
				    ? "--live goes with neither --remote nor --journal"
			    : r->remote && r->all ? "--remote is of all sessions: without --all"
			    : !r->remote && r->filter.host ? "--host goes with --remote"
							   : NULL;
	if (wrong)
		return verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
	r->sink = reader_of_text(c);
	if (!r->limit)
		r->limit = r->sink != SINK_PROGRAM ? ROWS : r->remote ? ROWS_REMOTE : UINT64_MAX;
	if (!r->remote && !verb_has_session(c, r->directory))
		return 1;
	r->width = c->settings->words == WORDS_TOOLS                                 ? WIDTH_TOOLS
		   : ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
										     : WIDTH;
	r->narrow = r->width < NARROW;
	/* Names of machines, with their labels, are long. */
	r->width += r->remote ? 2 * PLACE_WIDTH : 0;
	return r->remote ? list_remote(r) : r->live ? list_live(r) : list_kept(r);
}

#define RUNS_AT(member)   offsetof(struct runs, member)
#define FILTER_AT(member) RUNS_AT(filter.member)

static const struct verb_option list_options[] = {
	{"--all", 0, VERB_FLAG, RUNS_AT(all), NULL, "of all sessions"},
	VERB_SESSION_ROW("of session NAME"),
	RUNS_FILTER_ROWS(FILTER_AT),
	/* In the order of enum meta_state. */
	{"--state", 0, VERB_WORD, FILTER_AT(state), "running|done|interrupted", "in this state"},
	{"--limit", 0, VERB_COUNT, RUNS_AT(limit), "N", "at most N (30)"},
	{"--live", 0, VERB_FLAG, RUNS_AT(live), NULL,
	 "what runs now in all sessions, with its last line"},
	{"--remote", 0, VERB_FLAG, RUNS_AT(remote), NULL,
	 "what all machines pushed to the remote (--since 1h)"},
	{"--journal", 0, VERB_FLAG, RUNS_AT(journal), NULL,
	 "the lines of the journal, of reads as well, for other programs"},
	VERB_JSON_ROW,
	VERB_COLOR_ROW,
	VERB_END_ROW,
};

const struct verb verb_list = {
	.name = "list",
	.purpose = "list the runs of this session; --live: what runs now",
	.forms = "",
	.text = "Lists the runs of this session, newest first: those that have ended, kept or\n"
		"not, and live ones that have printed a lot.\n",
	.options = list_options,
	.run = list_run,
};
