// terse list: the artifacts of a session, what runs now, or what all machines have pushed; terse
// history: all runs of a session that have ended. Newest first, as rows of a table or as JSON
// (internal.h).

#include "config/value.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/members.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"
#include "supervisor/remote/remote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct runs {
	struct verb_call *call;
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
	int want_exit;                         /* of `exit`; -1: any that failed */

	size_t width;  /* columns */
	uint64_t rows; /* that were printed */
	struct buffer out;

	/* Of the remote, which has its runs in no order: those to be printed. */
	struct runs_row {
		uint64_t id; /* packed */
		char *text;
		size_t len;
	} * kept;
	size_t count, room;
	bool more; /* some were left out */
	uint64_t damaged;
};

/* Rows by default: enough for recent runs, and quick however many there are. */
#define ROWS 30

/* Columns of a row where standard output is no terminal. */
#define WIDTH 120

/* The same where a model reads it that can't ask for one of them in another way. */
#define WIDTH_TOOLS 2048

/* Columns of a session, or of a machine and its labels. */
#define PLACE_WIDTH 24

/* Rows for a program that gives no limit, of the remote. */
#define ROWS_REMOTE 10000

/* Output is written when so much is collected. */
#define COLLECTED ((size_t)64 * 1024)

/* Bytes of a command in a list for programs. */
#define COMMAND_MAX 2048

/* Parses the arguments. Returns 0, or the exit status after saying what is wrong. */
static int runs_parse(struct runs *r)
{
	char *end;
	long code = -1;
	struct winsize size;
	r->state = -1;
	r->since.ms = INT64_MIN;
	r->until.ms = INT64_MAX;
	if (verb_parse(r->call, r) < 0)
		return EXIT_TERSE;
	if (r->exit && strcmp(r->exit, "failed") != 0) {
		code = strtol(r->exit, &end, 10);
		if (!*r->exit || *end || code < 0 || code > 255)
			return verb_fail(r->call, ENVELOPE_USAGE,
					 "--exit: %s: must be a number from 0 to 255, or failed",
					 r->exit);
	}
	r->want_exit = (int)code;
	r->sink = reader_of_text(r->call);
	if (!r->limit)
		r->limit = r->sink != SINK_PROGRAM ? ROWS : r->remote ? ROWS_REMOTE : UINT64_MAX;
	if (!r->remote && !verb_has_session(r->call, r->directory))
		return 1;
	r->width = r->call->settings->words == WORDS_TOOLS                           ? WIDTH_TOOLS
		   : ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
										     : WIDTH;
	/* Machines have long names, and labels. */
	r->width += r->remote ? 2 * PLACE_WIDTH : 0;
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
	bool ended_so = r->want_exit < 0 ? meta_has_failed(m) : exit_code == r->want_exit;
	if ((r->state >= 0 && (int)m->state != r->state) ||
	    (r->exit && (m->state == META_RUNNING || !ended_so)))
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

/* --- rows ------------------------------------------------------------------------- */

/* Others may have written them: what is no string under a plain name is left out. */
static void runs_add_labels(struct buffer *out, const struct meta *m, bool json)
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
		snprintf(name, sizeof(name), "%.*s", (int)labels.key.len, labels.key.data);
		if (strlen(name) != labels.key.len || strpbrk(name, "\"\\") ||
		    !utf8_all_clean(name, labels.key.len) || !member_text(&labels.value, value))
			continue;
		if (json)
			json_add_string(out, name, value);
		else
			buffer_printf(out, " %s=%s", name, value);
	}
	free(value);
}

/* Describes how a run ended, or that it lives: "exit 0". */
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

/* Appends a run as a row, or as an object in JSON. `m` NULL: `error` says why the metadata can't be
   read. `state`, unless NULL: the state of one that lives, "?" if it does not answer. */
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
			json_add_string(out, "error", strerror(error));
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
		bool counted = *id && runs_is_counted(m) && !(state && *state == '?');
		runs_describe_state(m, word);
		if (m->started_ms) {
			human_duration(took, excerpts_ending(m).duration_ms);
			human_age(age, clock_real_ms() - m->started_ms);
		}
		snprintf(lines, sizeof(lines), "%s",
			 counted ? HUMAN_COUNT(m->out.lines + m->err.lines) : "-");
		snprintf(size, sizeof(size), "%s",
			 counted ? HUMAN_SIZE(m->out.bytes + m->err.bytes) : "-");
	}
	const char *begin = paint_code(r->call->colour, runs_paint(m)),
		   *end = paint_none(r->call->colour);
	buffer_printf(out, "%-*s  %s%-11s%s  %11s  %10s  %8s  %7s  ", ID_LEN, *id ? id : "-", begin,
		      state ? state : word, end, took, lines, size, age);
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
		buffer_printf(&cell, "(metadata: %s)", strerror(error));
	/* Colours take no column. */
	size_t used = out->len - start - strlen(begin) - strlen(end);
	row_add_cell(out, cell.data, cell.len, r->width > used + 10 ? r->width - used : 10);
	buffer_append_string(out, "\n");
	if (m) {
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->out));
		row_add_gaps(out, ID_LEN + 2, meta_gaps(&m->err));
		row_add_files(out, ID_LEN + 2, m);
	}
	out->failed |= cell.failed;
	buffer_release(&cell);
}

/* Begins the next row: the first one with what is in front of it. */
static void runs_begin_row(struct runs *r)
{
	struct buffer *out = &r->out;
	if (r->rows++ > 0) {
		/* The element before may have been printed already. */
		buffer_append_string(out, r->call->json ? "," : "");
	} else if (r->call->json) {
		envelope_begin(out);
		json_add_string(out, "session", r->all || r->remote ? NULL : r->directory);
		json_begin(out, "runs", '[');
	} else {
		buffer_printf(out, "%s%-16s  %-11s  %11s  %10s  %8s  %7s  ",
			      paint_code(r->call->colour, PAINT_SOFT), "ID", "STATE", "TOOK",
			      "LINES", "SIZE", "AGE");
		if (r->all || r->remote)
			buffer_printf(out, "%-*s  ", PLACE_WIDTH, r->remote ? "HOST" : "SESSION");
		buffer_printf(out, "COMMAND%s\n", paint_none(r->call->colour));
	}
}

/* Adds a run; writes the collected output now and then. `m` NULL: its metadata can't be read, with
   errno. Returns 0, or -1 with errno. */
static int runs_add(struct runs *r, const char *id, const struct meta *m, const char *state)
{
	int error = errno;
	runs_begin_row(r);
	runs_add_row(r, &r->out, id, m, state, error);
	return r->out.len > COLLECTED || r->out.failed ? verb_write(&r->out) : 0;
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
	buffer_printf(out, "terse %s%s%s%s", c->verb->name, r->all ? " --all" : "",
		      r->live ? " --live" : "", r->remote ? " --remote" : "");
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		if (!given[i].value)
			continue;
		buffer_printf(out, " %s ", given[i].option);
		quote_append(out, given[i].value);
	}
	buffer_printf(out, "%s --limit %" PRIu64, c->json ? " --json" : "", r->limit * 10);
}

/* Writes the rest and the closing notices. `more`: 1 if there are more, 0, or -1 with errno.
   Returns the exit status: `status`, unless something is wrong. */
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
		const char *what = runs_is_choosy(r) ? "no such run" : "nothing";
		if (r->damaged > 0)
			verb_error(c->verb->name, "damaged lines skipped: %s",
				   HUMAN_COUNT(r->damaged));
		else if (shown == 0 && r->remote)
			verb_error(c->verb->name, "no such run was pushed (--since %s)",
				   r->since.text ? r->since.text : "1h");
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

/* --- what is on disk: the artifacts of a session, or its history ------------------------- */

/* Adds an artifact if it is wanted and still exists. Returns 0, 1 if it is one too many, or -1 with
   errno. */
static int list_add(struct runs *r, const struct id_found *found)
{
	/* An ID holds the start of its run, within some milliseconds. */
	int64_t started = id_time_ms(id_pack(found->id));
	struct meta m = {0};
	int result = 0;
	if (r->since.text && started < r->since.ms - 1000)
		return 0;
	int dir = store_open_session(found->store, found->session, false);
	bool known = dir >= 0 && meta_read(dir, found->id, &m) == 0;
	bool wanted = known ? runs_is_wanted(r, &m) : errno != ENOENT && !runs_is_choosy(r);
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

/* Lists the artifacts, or the runs that have ended (`history`). */
static int list_kept(struct runs *r, bool history)
{
	struct store stores[STORE_MAX];
	struct journal_line made;
	struct meta m;
	int added = 0, got = -1, status = 0, count = verb_open_stores(r->call, stores, &status);
	struct journal *j = journal_open(stores, count, r->all ? NULL : r->directory,
					 history ? JOURNAL_RUN : JOURNAL_MADE);
	while (j && added == 0 &&
	       (got = history ? journal_next_run(j, &m) : journal_next(j, &made)) == 1) {
		/* The rest ended, and so started, earlier. */
		if (history && r->since.text && m.ended_ms < r->since.ms) {
			got = 0;
			break;
		}
		if (!history)
			added = list_add(r, &made.of);
		else if (runs_is_wanted(r, &m))
			added = r->rows < r->limit ? runs_add(r, m.id, &m, NULL) : 1;
	}
	r->damaged = j && history ? journal_damaged(j) : 0;
	status = runs_end(r, added ? added : got, status);
	journal_close(j);
	store_close_all(stores, count);
	return status;
}

/* --- terse list --live: the live runs of every session ---------------------------------- */

/* Adds the rows of a run: its state and command, who holds its output open if the command has
   ended, and its last line, or what it asks. `first`: only if it waits for a person, or does not
   answer, which takes seconds to find out. Returns 0, 1 if its turn comes later, or -1 with
   errno. */
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
	/* It has ended. */
	if (!answers && error == (opened ? EPIPE : ENOENT))
		return 0;
	if (first && answers && !now.asked)
		return 1;
	bool kept = id_find(stores, count, "default", id, &found) == 0 &&
		    meta_read_found(&found, &m) == 0;
	char *argv[LIVE_ARGV / 2 + 1];
	if (answers && !kept) {
		/* As the supervisor reports it. */
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
	/* Twice: those that a person has to answer come first. */
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

/* A clock elsewhere may be ahead of ours. */
#define AHEAD_MS ((int64_t)10 * 60 * 1000)

static int remote_list_compare(const void *a, const void *b)
{
	/* Newest first. */
	return id_compare(b, a);
}

/* Sorts the rows, and keeps the newest ones, each once. */
static void remote_list_settle(struct runs *r)
{
	size_t kept = 0;
	if (r->count > 0)
		qsort(r->kept, r->count, sizeof(*r->kept), remote_list_compare);
	for (size_t i = 0; i < r->count; i++) {
		bool again = kept > 0 && r->kept[kept - 1].id == r->kept[i].id;
		if (!again && kept < r->limit) {
			r->kept[kept++] = r->kept[i];
			continue;
		}
		r->more |= !again;
		free(r->kept[i].text);
	}
	r->count = kept;
}

static int remote_list_on_run(void *ctx, const struct meta *m)
{
	struct runs *r = ctx;
	struct buffer out = BUFFER_INIT;
	struct meta run = *m;
	const char *session = r->call->session;
	run.host = m->host ? m->host : "";
	if ((m->ended_ms ? m->ended_ms : m->started_ms) < r->since.ms ||
	    (session && strcmp(session, m->session) != 0) ||
	    (r->host && strncmp(run.host, r->host, strlen(r->host)) != 0))
		return 0;
	int wanted = runs_match(r, m);
	if (wanted <= 0)
		return wanted;
	if (r->count >= 2 * r->limit)
		remote_list_settle(r);
	runs_add_row(r, &out, m->id, &run, NULL, 0);
	struct runs_row *row = buffer_check(&out) < 0
				       ? NULL
				       : array_add(&r->kept, &r->count, &r->room, sizeof(*row));
	if (!row) {
		buffer_release(&out);
		return -1;
	}
	*row = (struct runs_row){id_pack(m->id), out.data, out.len};
	return 0;
}

/* Whether the newest ones are there, and one that is left out. */
static bool remote_list_has_enough(void *ctx, int64_t before_ms)
{
	struct runs *r = ctx;
	remote_list_settle(r);
	return r->more && r->kept[r->count - 1].id >= id_first_at(before_ms);
}

static int list_remote(struct runs *r)
{
	const struct verb_call *c = r->call;
	int64_t now_ms = clock_real_ms();
	int status = 1;
	if (!c->settings->remote)
		return verb_fail(c, ENVELOPE_USAGE,
				 "there is no remote: [remote] of your terse.ini names one");
	if (!r->since.text)
		value_parse_time("1h", now_ms, &r->since.ms);
	struct index_reader reader = {.from_ms = r->since.ms,
				      .to_ms = now_ms + AHEAD_MS,
				      .host = r->host ? r->host : "",
				      .each = remote_list_on_run,
				      .enough = remote_list_has_enough,
				      .ctx = r};
	if (index_read(c->settings, &reader) < 0) {
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %s", c->settings->remote,
			  *reader.why ? reader.why : strerror(ENOMEM));
	} else {
		remote_list_settle(r);
		for (size_t i = 0; i < r->count; i++) {
			runs_begin_row(r);
			buffer_append(&r->out, r->kept[i].text, r->kept[i].len);
		}
		r->damaged = reader.damaged;
		status = runs_end(r, r->more, 0);
	}
	for (size_t i = 0; i < r->count; i++)
		free(r->kept[i].text);
	free(r->kept);
	return status;
}

/* --- the verbs ---------------------------------------------------------------------------- */

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

static int history_run(struct verb_call *c)
{
	struct runs r = {.call = c};
	int status = runs_parse(&r);
	return status ? status : list_kept(&r, true);
}

static const struct verb_option history_options[] = {RUNS_ROWS, VERB_END_ROW};

const struct verb verb_history = {
	.name = "history",
	.purpose = "list all runs of this session",
	.forms = "",
	.text = "Lists all runs of this session that have ended, newest first.\n",
	.options = history_options,
	.run = history_run,
};

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
	if (wrong)
		return verb_fail(c, ENVELOPE_USAGE, "%s", wrong);
	return r.remote ? list_remote(&r) : r.live ? list_live(&r) : list_kept(&r, false);
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
