// See passage.h.

#include "supervisor/process/passage.h"

#include "config/limit.h"
#include "config/profile.h"
#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* After this time without output a waiting reader gets the last lines, as with
   interceptor_pause_due(). */
#define QUIET_MS 1500

#define LINE_START ((size_t)64)

static void passage_print(struct passage *p, const char *data, size_t len)
{
	if (len == 0)
		return;
	output_queue_write(p->out, data, len);
	shown_add(&p->record.shown, data, len);
	p->ended_line = data[len - 1] == '\n';
}

/* Prints with CR LF, since the reader's terminal is raw. */
static void passage_on_print(void *ctx, const char *data, size_t len)
{
	struct passage *p = ctx;
	/* The head may have ended within a line. */
	if (!p->ended_line && guard_is_needed(data, len))
		passage_print(p, "\r\n", 2);
	for (const char *end = data + len, *next; data < end; data = next) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		next = newline ? newline + 1 : end;
		passage_print(p, data, (size_t)((newline ? newline : end) - data));
		if (newline)
			passage_print(p, "\r\n", 2);
	}
}

static struct artifact *passage_on_artifact(void *ctx)
{
	struct passage *p = ctx;
	return record_open(&p->record);
}

/* Makes an interceptor: for the head, whose bytes the reader already has, or for the text after it.
   Returns NULL if there is no memory. */
static struct interceptor *passage_text(struct passage *p, const struct settings *s,
					enum interceptor_reader reader, uint64_t lines,
					uint64_t bytes)
{
	struct interceptor_options options = {
		.terminal = {.cols = p->job->cols, .rows = p->job->rows, .picture = true},
		.limit = limit_of(s, false),
		.reader = reader,
		.raw = INTERCEPT_RAW_NO,
		.part = ARTIFACT_OUT,
		.settle_ms = s->settle,
		.lines_before = lines,
		.bytes_before = bytes,
	};
	/* The head and the tail, which the reader gets as they are, come out of the same budget. */
	size_t *const sizes[] = {&options.limit.bytes,           &options.limit.failure_bytes,
				 &options.limit.cut_bytes,       &options.limit.ceiling,
				 &options.limit.failure_ceiling, &options.limit.cut_ceiling};
	for (size_t i = 0; lines > 0 && i < sizeof(sizes) / sizeof(*sizes); i++)
		*sizes[i] -= *sizes[i] / 2 < p->passed + p->tail_most ? *sizes[i] / 2
								      : p->passed + p->tail_most;
	const struct interceptor_events events = {
		.artifact = passage_on_artifact, .print = passage_on_print, .ctx = p};
	return interceptor_new(&options, &events);
}

void passage_begin(struct passage *p)
{
	char folder[32];
	const struct limit limit = limit_of(p->job->settings, false);
	/* Goes to the shell's directory, which is that of the run. */
	snprintf(folder, sizeof(folder), "/proc/%d/cwd", (int)p->shell);
	if (chdir(folder) < 0)
		TRACE(PROCESS, "shell: its directory: %m");
	p->job->started_ms = clock_real_ms();
	p->job->begun_ms = p->came_ms = clock_monotonic_ms();
	p->record = (struct record){.history = -1};
	record_init(&p->record, p->job);
	p->head_most = limit_smallest(&limit) / 4;
	p->tail_most = p->head_most < 1024 ? p->head_most : 1024;
	p->passed = 0;
	p->ended_line = true;
	p->state = PASSAGE_HEAD;
}

/* How many of the next bytes may still pass as part of the head. They reach to the end of a line if
   possible, and have no part of a line that looks like a notice of terse. */
static size_t passage_head_len(struct passage *p, const char *data, size_t len)
{
	size_t at = 0;
	while (at < len) {
		/* A line that has begun may exceed the head's limit. */
		size_t most = p->head_most << (p->line.len > 0), end = at;
		while (end < len && data[end] != '\n' && data[end] != '\r')
			end++;
		bool whole = end < len;
		buffer_append(&p->line, data + at, end - at < LINE_START ? end - at : LINE_START);
		if (buffer_check(&p->line) < 0 || p->passed + end + whole > most ||
		    (whole ? guard_is_needed(p->line.data, p->line.len)
			   : guard_may_be_needed(p->line.data, p->line.len)))
			break;
		at = end + whole;
		if (whole)
			buffer_clear(&p->line);
	}
	return at;
}

/* Begins to hold the text, with the typed command's profile. Returns false if the text can't be
   kept. */
static bool passage_hold(struct passage *p)
{
	struct option_error error;
	struct profile_choice choice;
	char *typed = p->job->shown[2];
	const struct meta_stream *head = &p->record.meta.out;
	interceptor_spill(p->text);
	interceptor_finish(p->text);
	if (!p->record.artifact || settings_load(&p->settings, SETTINGS_SYSTEM_FILE, &error) < 0)
		return false;
	artifact_update(p->record.artifact);
	if (p->job->settings->agent)
		rule_apply(&p->settings, p->job->settings->agent);
	profile_choose(&p->settings, NULL, typed, &choice, &error);
	profile_apply(&p->settings, &choice);
	struct interceptor *rest = passage_text(p, &p->settings, INTERCEPT_AGENT,
						head->lines - !p->ended_line, head->bytes);
	if (!rest)
		return false;
	interceptor_free(p->text);
	p->text = rest;
	interceptor_spill(rest);
	p->state = PASSAGE_HELD;
	p->heartbeat_ms = p->settings.heartbeat;
	p->heartbeat_at = p->heartbeat_ms ? p->job->begun_ms + p->heartbeat_ms : 0;
	return true;
}

/* Passes on the text, except for its last lines or, if the last line is long, its last bytes. */
static void passage_keep_tail(struct passage *p, const char *data, size_t len)
{
	struct buffer *tail = &p->tail;
	if (buffer_try_append(tail, data, len) < 0) {
		interceptor_feed(p->text, tail->data, tail->len);
		interceptor_feed(p->text, data, len);
		buffer_clear(tail);
	}
	size_t over = tail->len > p->tail_most ? tail->len - p->tail_most : 0;
	const char *newline = over ? memchr(tail->data + over - 1, '\n', tail->len - over) : NULL;
	size_t cut = newline ? (size_t)(newline - tail->data) + 1 : over;
	if (cut > 0) {
		interceptor_feed(p->text, tail->data, cut);
		interceptor_came(p->text, p->came_ms);
		buffer_consume(tail, cut);
	}
}

static void passage_spill_tail(struct passage *p)
{
	if (p->tail.len > 0)
		interceptor_feed(p->text, p->tail.data, p->tail.len);
	buffer_clear(&p->tail);
}

/* Ends the text: prints the report of the held text, and then the last lines. */
static void passage_report(struct passage *p, enum wording_state state)
{
	const struct meta *m = &p->record.meta;
	struct buffer *tail = &p->tail;
	/* If one of the last lines looks like a notice, they become part of the text, which is
	   printed with guards. */
	if (tail->len > 0 && guard_text(NULL, tail->data, tail->len, GUARD_LINE) !=
				     guard_text(NULL, tail->data, tail->len, GUARD_NONE))
		passage_spill_tail(p);
	if (state == WORDING_RUNNING)
		interceptor_update_live(p->text);
	const struct interceptor_ending e = {
		.ending = {.state = state,
			   .exit_code = state == WORDING_ENDED ? m->exit_code : 0,
			   .duration_ms = clock_monotonic_ms() - p->job->begun_ms},
		.place = record_place(&p->record, false),
		.status_line = STATUS_LINE_NEVER,
		.lines_behind = newline_count(tail->data, tail->len),
		.bytes_behind = tail->len,
	};
	interceptor_report(p->text, &e);
	const struct interceptor_facts facts = interceptor_facts(p->text);
	p->record.shown.text = facts.bytes + p->passed;
	p->record.shown.lines = facts.lines;
	passage_print(p, tail->data, tail->len);
	passage_spill_tail(p);
	interceptor_finish(p->text);
}

bool passage_reads_keys(const struct passage *p, bool shell)
{
	return pty_is_raw(p->master) && (tcgetpgrp(p->master) == p->shell) == shell;
}

void passage_let_go(struct passage *p)
{
	if (p->state == PASSAGE_HELD)
		passage_report(p, WORDING_RUNNING);
	p->state = PASSAGE_AS_IT_IS;
}

void passage_feed(struct passage *p, const char *data, size_t len)
{
	p->came_ms = p->state == PASSAGE_CLOSED ? 0 : clock_monotonic_ms();
	/* A command that prints nothing needs no interceptor. */
	if (p->state == PASSAGE_HEAD && !p->text && len > 0 &&
	    !(p->text = passage_text(p, p->job->settings, INTERCEPT_PERSON, 0, 0)))
		p->state = PASSAGE_AS_IT_IS;
	if (p->state == PASSAGE_HEAD && len > 0) {
		size_t head = passage_head_len(p, data, len);
		passage_print(p, data, head);
		interceptor_feed(p->text, data, head);
		p->passed += head;
		data += head;
		len -= head;
		if (len > 0 && (passage_reads_keys(p, false) || !passage_hold(p)))
			p->state = PASSAGE_AS_IT_IS;
		if (len > 0)
			TRACE(PROCESS, "shell: what it prints %s",
			      p->state == PASSAGE_HELD ? "is held" : "passes as it is");
	}
	if (p->state == PASSAGE_HELD &&
	    (passage_reads_keys(p, false) ||
	     terminal_facts(interceptor_terminal(p->text)).is_alternate))
		passage_let_go(p);
	if (len == 0)
		return;
	if (p->state == PASSAGE_HELD)
		passage_keep_tail(p, data, len);
	else
		output_queue_write(p->out, data, len);
}

void passage_end(struct passage *p, int status)
{
	if (p->state == PASSAGE_CLOSED)
		return;
	TRACE(PROCESS, "shell: a command has ended: %d", status);
	/* The history gets one line for a passage, so it is opened only now. */
	record_prepare(&p->record, p->job->settings->gc_interval);
	if (p->state == PASSAGE_HEAD && p->text)
		interceptor_finish(p->text);
	p->record.meta.binary = p->text && interceptor_facts(p->text).is_binary;
	record_end(&p->record, status > 0 ? W_EXITCODE(status, 0) : 0, false, status < 0,
		   clock_monotonic_ms() - p->job->begun_ms);
	if (p->state == PASSAGE_HELD)
		passage_report(p, status < 0 ? WORDING_INTERRUPTED : WORDING_ENDED);
	else
		p->record.shown.text = p->record.shown.bytes;
	/* For a command that succeeded and printed nothing there is only a line in the journal. */
	const struct buffer *texts[2] = {p->text ? interceptor_held(p->text) : NULL, NULL};
	bool told = p->record.shown.bytes > 0 || status != 0;
	if (told && record_keep(&p->record, texts) < 0 && p->text)
		interceptor_spill(p->text);
	shown_keep(&p->record.shown, p->record.artifact);
	record_close(&p->record, true);
	/* A child cleans up and pushes, so that the shell's reader need not wait. */
	if ((p->record.gc_due || p->record.push_due) && fork() == 0) {
		const int keep[] = {trace_fd, p->record.outbox.dir};
		setsid();
		io_null(STDIN_FILENO, STDERR_FILENO);
		io_close_others(STDERR_FILENO + 1, keep, 2);
		chdir("/");
		if (p->record.gc_due)
			record_clean_up(&p->record);
		if (p->record.push_due)
			outbox_stay(&p->record.outbox, p->record.pushing);
		_exit(0);
	}
	outbox_close(&p->record.outbox);
	interceptor_free(p->text);
	settings_release(&p->settings);
	p->settings = (struct settings){0};
	p->text = NULL;
	p->state = PASSAGE_CLOSED;
	buffer_clear(&p->line);
	buffer_clear(&p->tail);
}

int64_t passage_due(const struct passage *p)
{
	if (p->state != PASSAGE_HELD)
		return 0;
	const int64_t times[] = {interceptor_pause_due(p->text),
				 interceptor_facts(p->text).settle_due,
				 p->tail.len > 0 ? p->came_ms + QUIET_MS : 0, p->heartbeat_at};
	int64_t due = 0;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		if (times[i] && (!due || times[i] < due))
			due = times[i];
	}
	return due;
}

/* Prints what is held back. At a heartbeat, or if the reader could not be given what is held,
   prints that the command is running. */
static void passage_show(struct passage *p, enum interceptor_moment moment, int64_t now_ms)
{
	bool says_all = moment != INTERCEPT_HEARTBEAT;
	passage_spill_tail(p);
	interceptor_came(p->text, p->came_ms);
	if (interceptor_begin_print(p->text, moment, now_ms)) {
		interceptor_update_live(p->text);
		const struct wording_place place = record_place(&p->record, false);
		says_all &= interceptor_print_held(p->text, moment, now_ms, &place);
	}
	const struct wording_place place = record_place(&p->record, false);
	if (!says_all)
		interceptor_heartbeat(p->text, now_ms - p->job->begun_ms, WAIT_UNKNOWN, NULL,
				      &place);
}

void passage_on_time(struct passage *p, int64_t now_ms)
{
	if (p->state != PASSAGE_HELD)
		return;
	bool beats = p->heartbeat_at && now_ms >= p->heartbeat_at;
	if (beats || now_ms >= p->came_ms + QUIET_MS)
		passage_show(p, beats ? INTERCEPT_HEARTBEAT : INTERCEPT_PAUSE, now_ms);
	else
		interceptor_settle(p->text, now_ms);
	if (beats)
		p->heartbeat_at = now_ms + (p->heartbeat_ms *= 2);
}
