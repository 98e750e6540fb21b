// See supervisor_internal.h: what the reader of a run gets.

#include "config/profile.h"
#include "lib/human.h"
#include "lib/json.h"
#include "lib/trace.h"
#include "supervisor/artifact/earlier.h"
#include "supervisor/process/supervisor_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define YIELD_AGAIN_MS 200

/* The interval between heartbeats doubles up to this: Gemini CLI ends a command that is silent for
   5 min. */
#define HEARTBEAT_MOST_MS ((int64_t)2 * 60 * 1000)

/* How many live runs, the newest first, are checked for the port that a failed run wanted. */
#define LISTENERS_MOST 32

static struct interceptor_ending
report_ending(const struct supervisor *s, const struct source *source, enum wording_state state)
{
	const struct meta *m = &s->record.meta;
	bool running = state == WORDING_RUNNING;
	/* `held`: processes that the command has left still hold the output. While the tree is
	   being ended they do not count. */
	bool held =
		s->state != SUPERVISOR_RUNNING && source->fd >= 0 && !s->ending && !source->onward;
	const struct meta_stream *text = source->is_stderr ? &m->err : &m->out;
	struct interceptor_ending e = {
		.ending = {.state = state,
			   .timed_out = s->timed_out && !running,
			   .background = held ? s->who : NULL,
			   .project_ignored = s->job->settings->project_is_wrong,
			   .by_project = s->job->settings->by_project,
			   .exit_code = running ? 0 : m->exit_code,
			   .signal = m->signal,
			   .duration_ms = running ? clock_monotonic_ms() - s->job->begun_ms
						  : m->duration_ms,
			   .lines = text->lines,
			   .bytes = text->bytes,
			   .prompt = running && s->asked ? s->prompt : s->question,
			   .asked = running ? s->asked : WAIT_UNKNOWN,
			   .typing = s->device != 0,
			   .handed_over = s->handed_over,
			   .hung_up = s->hung_up,
			   .since = running ? NULL : &s->since},
		.place = record_place(&s->record, source->is_stderr),
		.status_line = STATUS_LINE_NEVER,
	};
	/* If one agent reads both streams, the last line is printed once. */
	e.is_second =
		source->is_stderr && s->sources[0].sink == SINK_AGENT && !s->sources[0].is_stderr;
	if (!source->is_stderr)
		e.status_line = (enum status_when)s->job->settings->status;
	return e;
}

/* Where the summary goes, or NULL. */
static struct output_queue *report_queue(struct supervisor *s)
{
	struct source *out = &s->sources[0];
	return s->end > out && !out->is_stderr ? &out->queue : NULL;
}

bool supervisor_print_summary(struct supervisor *s)
{
	struct output_queue *o = report_queue(s);
	struct buffer *piece = &s->summary.out;
	if (output_queue_is_full(o))
		return false;
	buffer_clear(piece);
	summary_next(&s->summary, piece);
	output_queue_write(o, piece->data, piece->len);
	shown_add(&s->record.shown, piece->data, piece->len);
	if (o->error)
		s->summary.is_open = false;
	s->left = 0;
	return true;
}

void supervisor_hurry(struct supervisor *s, int64_t now_ms, int instead)
{
	if (s->state == SUPERVISOR_LINGERING)
		return;
	if (!s->stall_at || s->state < SUPERVISOR_FLUSHING)
		s->stall_at = now_ms + STALL_MS;
	if (!s->instead)
		s->instead = instead;
}

/* Prints a line of terse's own on standard error, after the output queued there, and releases it.
   Never blocks, since standard error may be full or stall as well. */
static void report_print_line(struct supervisor *s, struct buffer *line)
{
	struct output_queue own = {.own = -1}, *queue = NULL;
	const struct stat *given = s->job->channels.given;
	for (struct source *source = s->sources; source < s->end; source++) {
		if (!source->queue.error &&
		    (source->is_stderr ||
		     sink_is_same(STDOUT_FILENO, &given[1], STDERR_FILENO, &given[2])))
			queue = &source->queue;
	}
	if (!queue) {
		queue = &own;
		output_queue_init(queue, STDERR_FILENO);
	}
	if (buffer_check(line) == 0)
		output_queue_write(queue, line->data, line->len);
	output_queue_release(&own);
	buffer_release(line);
}

/* Returns the channel whose reader did not get everything, or NULL. An agent or a person that is
   gone has lost nothing. With the error EBADF there never was a reader. */
static const struct source *report_find_lost(const struct supervisor *s)
{
	for (const struct source *source = s->sources; source < s->end; source++) {
		int error = source->queue.error;
		bool gone = error == EPIPE &&
			    (source->sink == SINK_AGENT || source->sink == SINK_PERSON);
		if (error && error != EBADF && !gone)
			return source;
	}
	return NULL;
}

static size_t report_count_left(const struct supervisor *s)
{
	size_t left = s->summary.is_open;
	for (const struct source *source = s->sources; source < s->end; source++)
		left += source->queue.queue.len - source->queue.sent;
	return left;
}

bool supervisor_deliver(struct supervisor *s, int64_t now_ms)
{
	size_t left = report_count_left(s);
	if (left != s->left && s->stall_at)
		s->stall_at = now_ms + STALL_MS;
	s->left = left;
	bool given_up = s->state >= SUPERVISOR_FLUSHING && s->stall_at && now_ms >= s->stall_at;
	if (left > 0 && given_up)
		TRACE(SINK, "the reader stalls, %zu bytes are given up", left);
	if (left > 0 && !given_up)
		return false;
	for (struct source *source = s->sources; left > 0 && source < s->end; source++)
		output_queue_give_up(&source->queue);
	s->summary.is_open = false;
	const struct source *lost = report_find_lost(s);
	if (!lost || s->loss_told)
		return true;
	s->loss_told = true;
	/* Keeps the text: without terse, the command's own write would have failed, and the command
	   would still have the text. */
	if (!lost->is_stderr && lost->queue.error != EPIPE) {
		struct buffer line = BUFFER_INIT;
		supervisor_each_text(s, interceptor_spill);
		if (s->record.artifact)
			artifact_update(s->record.artifact);
		const struct wording_place place = record_place(&s->record, false);
		wording_not_printed(&line, lost->queue.error, &place);
		report_print_line(s, &line);
	}
	return report_count_left(s) == 0;
}

int supervisor_outcome(const struct supervisor *s, int status)
{
	const struct source *lost = report_find_lost(s);
	int error = lost ? lost->queue.error : 0;
	/* `stopped`: a write failed for a reason other than EPIPE, terse closed the command's pipe,
	   and so the command got SIGPIPE. */
	bool stopped = error != EPIPE && WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE;
	if (!error || (status != 0 && !stopped))
		return status;
	if (error == ETIMEDOUT && s->instead)
		return s->instead;
	/* Uses the signal that the kernel sends for such a write, unless this process ignores the
	   signal: then the command, which inherits that, ignores it, too. */
	struct sigaction action;
	int sig = error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
	bool fatal = sig && (sigaction(sig, NULL, &action) < 0 || action.sa_handler != SIG_IGN);
	return fatal ? sig : W_EXITCODE(1, 0);
}

/* Begins the summary, from which the report is printed in formats other than text. */
static void report_summary(struct supervisor *s, enum wording_state state)
{
	struct summary *summary = &s->summary;
	if (!report_queue(s))
		return;
	summary_init(summary, s->job, &s->record);
	summary->report.since = &s->since;
	if (s->question) {
		struct buffer what = BUFFER_INIT;
		if (s->asked) {
			wording_asked(&what, s->asked, s->question, s->record.meta.id);
		} else {
			buffer_printf(&what, "waiting for input: \"%s\"", s->question);
			buffer_printf(&what, vocabularies[s->record.settings->words].answer,
				      s->record.meta.id);
		}
		report_warn(&summary->report, "%s", buffer_string(&what) ? what.data : "");
		buffer_release(&what);
	}
	if (s->hung_up)
		report_warn(&summary->report,
			    "hung up: it waited for keys that nobody can type; a run with "
			    "yield=5s lets you");
	for (const struct source *source = s->sources; source < s->end; source++) {
		const struct interceptor_ending e = report_ending(s, source, state);
		summary_add(summary, source->text, &e, &s->record);
		if (source->refused)
			report_warn(&summary->report, "%s: %s",
				    source->is_stderr ? "stderr" : "stdout", strerror(ENOMEM));
	}
}

/* Passes the lines of the command's last success to the interceptors. */
static void report_on_success(void *ctx, bool is_stderr, const struct fingerprints *lines)
{
	const struct supervisor *s = ctx;
	for (const struct source *source = s->sources; source < s->end; source++) {
		if (source->text && source->is_stderr == is_stderr)
			interceptor_compare(source->text, lines);
	}
}

void supervisor_keep_both(struct supervisor *s)
{
	struct artifact *a = s->record.artifact;
	if (!a || s->end - s->sources < 2)
		return;
	supervisor_each_text(s, interceptor_spill);
	artifact_use(a, ARTIFACT_ERR);
}

static void report_note_shown(struct supervisor *s)
{
	bool is_summary = !s->is_text && report_queue(s);
	struct shown *w = &s->record.shown;
	for (const struct source *source = s->sources; source < s->end; source++) {
		const struct interceptor *text = source->text;
		bool agent = source->sink == SINK_AGENT || source->sink == SINK_PIPE;
		if (!text || (!agent && !is_summary))
			continue;
		const struct interceptor_facts facts = interceptor_facts(text);
		w->text += facts.bytes;
		w->lines += facts.is_binary ? 0 : facts.lines;
		/* The ranges are noted once: if a run yields, nobody is shown its later output. */
		if (w->ranges.len == 0)
			json_begin(&w->ranges, NULL, '{');
		json_begin(&w->ranges, source->is_stderr ? "stderr" : "stdout", '[');
		for (size_t k = 0; k < facts.shown_count; k++) {
			json_begin(&w->ranges, NULL, '[');
			json_add_count(&w->ranges, NULL, facts.shown[k].from);
			json_add_count(&w->ranges, NULL, facts.shown[k].to);
			json_end(&w->ranges, ']');
		}
		json_end(&w->ranges, ']');
	}
}

/* Finds another live run of the same command in the same directory that listens on a port. Fills in
   its ID and returns the port; 0: no such run with an artifact was found. */
static unsigned report_find_listener(const struct meta *m, char id[ID_LEN + 1])
{
	struct store stores[STORE_MAX];
	char(*ids)[ID_LEN + 1];
	unsigned ports[PORTS_MOST] = {0};
	size_t found;
	int count = store_open_all(stores);
	client_list(stores, count, &ids, &found);
	for (size_t i = 0; i < found && i < LISTENERS_MOST && !ports[0]; i++) {
		struct id_found artifact;
		struct meta other = {0};
		struct process command;
		memcpy(id, ids[i], sizeof(*ids));
		/* Reads /proc instead of asking the run, since equal runs that end at the same time
		   would wait for each other. */
		if (strcmp(id, m->id) != 0 &&
		    id_find(stores, count, "default", id, &artifact) == 0 &&
		    meta_read_found(&artifact, &other) == 0 && earlier_is_same(&other, m) &&
		    process_read(other.command, &command) == 0 &&
		    command.session == other.supervisor)
			ports_of(other.command, ports);
		meta_release(&other);
	}
	free(ids);
	store_close_all(stores, count);
	return ports[0];
}

void supervisor_report(struct supervisor *s)
{
	const bool failed = s->interrupted || s->timed_out || s->status != 0;
	bool is_previewed = false, lost = false;
	s->record.over = true;
	for (struct source *source = s->sources; source < s->end; source++) {
		if (source->fd < 0)
			source_close(source);
		source->onward = s->caller == CALLER_WAITS && source->fd >= 0 && !s->ending &&
				 source_text(source) &&
				 interceptor_reader(source->text) == INTERCEPT_PROGRAM &&
				 source->sink == SINK_PROGRAM;
		/* A program may get more output later. */
		if (source->onward) {
			interceptor_settle_all(source->text);
			s->timer[TIMER_TICK] = clock_monotonic_ms();
		}
		if (source->text)
			interceptor_conclude(source->text,
					     failed ? INTERCEPT_FAILURE : INTERCEPT_SUCCESS);
		/* If the run lives on in the background, its later output needs an interceptor. */
		if (source->fd >= 0 && !s->ending)
			source_text(source);
		/* Keeps the text, since its reader may be gone. */
		if (source->text && (source->fd >= 0 || s->interrupted)) {
			interceptor_spill(source->text);
			interceptor_update_live(source->text);
		}
		s->record.meta.binary |= source->text && interceptor_facts(source->text).is_binary;
		is_previewed |= source->text && interceptor_facts(source->text).is_previewed;
	}
	/* A run that writes to a file is kept, too, for the file's name. */
	if (s->record.writes_file && !profile_is_own(s->job->shown) && record_open(&s->record))
		supervisor_each_text(s, interceptor_spill);
	supervisor_keep_both(s);
	int64_t duration = s->ended_ms - s->job->begun_ms;
	s->record.meta.reported = s->live.reported;
	if (s->looks.waits.count > 0) {
		/* Converts the monotonic times of the looks to real time. */
		const int64_t apart = s->job->started_ms - s->job->begun_ms;
		s->record.meta.waits = s->looks.waits;
		s->record.meta.waits.from_ms += apart;
		s->record.meta.waits.to_ms += apart;
		s->record.meta.waits.question = s->prompt;
	}
	/* Notes whether the command ended by the signal that the run's own session has sent. */
	int sig = WIFSIGNALED(s->status) ? WTERMSIG(s->status) : WEXITSTATUS(s->status) - 128;
	s->record.meta.wanted =
		!s->timed_out && s->wanted && (s->wanted == WANTED_END || s->wanted == sig);
	record_end(&s->record, s->status, s->timed_out, s->interrupted, duration);
	if (s->caller == CALLER_WAITS) {
		/* Compares a run that has a preview with the last run of its command. Other runs do
		   not pay for that. */
		if (is_previewed && s->record.artifact)
			since_look(&s->since, &s->record.meta,
				   artifact_directory(s->record.artifact), report_on_success, s);
		const enum wording_state state =
			s->interrupted ? WORDING_INTERRUPTED : WORDING_ENDED;
		if (!s->is_text)
			report_summary(s, state);
		for (struct source *source = s->sources; source < s->end && s->is_text; source++) {
			const struct interceptor_ending e = report_ending(s, source, state);
			if (!source->onward)
				source_report(source, &e);
			lost |= source->text &&
				(source->fd >= 0 || interceptor_facts(source->text).is_partial);
		}
		/* Tells the reader if text was lost that could not be kept. */
		const struct record *r = &s->record;
		int error = r->artifact ? artifact_error(r->artifact) : r->error;
		if (lost && error) {
			struct buffer line = BUFFER_INIT;
			buffer_printf(&line, "terse: output not kept: %s\n", gap_reason(error));
			report_print_line(s, &line);
		}
		/* If an earlier server still has the port, a second one fails, and reports that the
		   port is in use. */
		char id[ID_LEN + 1];
		bool may_tell = s->is_text && WIFEXITED(s->status) && s->status != 0 &&
				!s->interrupted && !s->timed_out &&
				s->sources->sink == SINK_AGENT &&
				buffer_string(&s->record.shown.printed) &&
				strcasestr(s->record.shown.printed.data, "in use");
		unsigned port = may_tell ? report_find_listener(&r->meta, id) : 0;
		if (port) {
			struct buffer line = BUFFER_INIT;
			wording_listens(&line, id, port, (enum next_words)s->job->settings->words);
			report_print_line(s, &line);
		}
		report_note_shown(s);
	}
	TRACE(PROCESS, "supervisor: report: status 0x%x%s%s, %s", (unsigned)s->status,
	      s->timed_out ? ", timed out" : "", s->interrupted ? ", interrupted" : "",
	      s->record.artifact ? s->record.meta.id : "no artifact");
	s->state = SUPERVISOR_FLUSHING;
	live_tell_now(s, clock_monotonic_ms());
	/* If the request to end the run is older than the grace time, the command did not end
	   because of it. */
	if (s->stall_at) {
		int64_t now = clock_monotonic_ms();
		if (!s->tree.step && now - s->stall_at > s->job->settings->grace)
			s->stall_at = s->instead = 0;
		else
			s->stall_at = now + STALL_MS;
	}
}

void supervisor_yield(struct supervisor *s, int64_t now_ms)
{
	/* A front end that is stopped with the command reads nothing, so it can leave only
	   later. */
	s->timer[TIMER_YIELD] = s->stopped ? now_ms + YIELD_AGAIN_MS : 0;
	if (s->state != SUPERVISOR_RUNNING || s->stopped || s->front.fd < 0 || s->ending ||
	    live_open(s) < 0)
		return;
	for (struct source *source = s->sources + 1; source < s->end; source++) {
		if (source_text(source))
			interceptor_pause(source->text);
	}
	struct live_status now = {.lines = 0};
	live_describe_text(s, &now);
	s->live.reported = now.lines;
	for (struct source *source = s->sources; source < s->end; source++) {
		struct interceptor_ending e = report_ending(s, source, WORDING_RUNNING);
		e.ending.lines = s->live.reported;
		e.ending.bytes = now.bytes;
		if (source->text)
			interceptor_spill(source->text);
		if (s->is_text)
			source_report(source, &e);
	}
	if (!s->is_text)
		report_summary(s, WORDING_RUNNING);
	report_note_shown(s);
	TRACE(PROCESS, "supervisor: yields as %s", s->record.meta.id);
	s->caller = CALLER_YIELDING;
	s->timer[TIMER_HEARTBEAT] = 0;
}

void supervisor_hand_over(struct supervisor *s, int64_t now_ms)
{
	const struct settings *set = s->job->settings;
	struct interceptor *text = source_text(&s->sources[0]);
	s->timer[TIMER_HAND_OVER] = 0;
	/* A verb of terse that waits ends in time by itself. */
	s->handed_over =
		s->caller == CALLER_WAITS && text && interceptor_reader(text) == INTERCEPT_AGENT &&
		!profile_is_own(s->job->shown) && rule_lets_go(set, set->agent, s->job->front);
	TRACE(PROCESS, "supervisor: the run is%s handed over", s->handed_over ? "" : " not");
	if (s->handed_over)
		supervisor_yield(s, now_ms);
}

/* Prints what is held back. At a heartbeat, or if the reader could not be given what is held,
   prints that the command is running. */
static void report_print(struct supervisor *s, struct source *source,
			 enum interceptor_moment moment, const struct wait *wait, int64_t now_ms)
{
	struct interceptor *text = source->text;
	bool says_all = moment != INTERCEPT_HEARTBEAT;
	if (interceptor_begin_print(text, moment, now_ms)) {
		supervisor_keep_both(s);
		interceptor_update_live(text);
		const struct wording_place place = record_place(&s->record, source->is_stderr);
		says_all &= interceptor_print_held(text, moment, now_ms, &place);
	}
	if (says_all)
		return;
	interceptor_spill(text);
	interceptor_update_live(text);
	const struct wording_place place = record_place(&s->record, source->is_stderr);
	interceptor_heartbeat(text, now_ms - s->job->begun_ms, s->asked ? s->asked : wait->kind,
			      s->asked ? s->prompt : wait->name, &place);
}

void supervisor_print_held(struct supervisor *s, enum interceptor_moment moment, int64_t now_ms)
{
	const struct wait unknown = {.kind = WAIT_UNKNOWN};
	for (struct source *source = s->sources; source < s->end && supervisor_has_reader(s);
	     source++) {
		int64_t due = source->text ? interceptor_pause_due(source->text) : 0;
		if (source->text && (moment != INTERCEPT_PAUSE || (due && now_ms >= due)))
			report_print(s, source, moment, &unknown, now_ms);
	}
}

void supervisor_heartbeat(struct supervisor *s, int64_t now_ms)
{
	struct source *source = &s->sources[0];
	struct interceptor *text = source_text(source);
	if (text && s->state == SUPERVISOR_RUNNING) {
		interceptor_settle_all(text);
		bool has_all = source->printed && !interceptor_facts(text).is_holding;
		if (!has_all && interceptor_reader(text) == INTERCEPT_AGENT) {
			struct wait wait;
			wait_look(&wait, s->drawn ? s->looks.device : 0, 0);
			report_print(s, source, INTERCEPT_HEARTBEAT, &wait, now_ms);
			/* Heartbeats become less frequent, so that all of them together are shorter
			   than a preview. */
			if (s->heartbeat_ms < HEARTBEAT_MOST_MS)
				s->heartbeat_ms *= 2;
		}
	}
	source->printed = false;
	s->timer[TIMER_HEARTBEAT] = now_ms + s->heartbeat_ms;
}

void supervisor_tell_wait(struct supervisor *s, struct source *source, int64_t now_ms)
{
	if (!source_text(source) || !s->is_text ||
	    interceptor_reader(source->text) != INTERCEPT_AGENT)
		return;
	interceptor_settle_all(source->text);
	report_print(s, source, INTERCEPT_HEARTBEAT, &s->looks.wait, now_ms);
}
