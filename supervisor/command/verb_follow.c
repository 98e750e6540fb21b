// terse follow ID...: prints a line for each event of runs as soon as it happens: a line of text
// that matches, silence, a question, the end. For scripts, and for agents that monitor runs.
//
// The text is read from disk. So no line is lost, however slowly the reader reads, and the command
// never waits for the reader. Only final lines count, each once.

#include "lib/io.h"
#include "lib/json.h"
#include "lib/loop.h"
#include "lib/utf8.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/matcher.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Events are collected up to this many bytes, or until no more text is there. */
#define PRINT_AT ((size_t)32 * 1024)

/* A followed run. */
struct followed {
	struct follow *all;
	struct watched watched; /* watched.run is -1 once the run is over */
	struct lookout lookout;
};

struct follow {
	struct verb_call *call;
	struct sought *sought; /* room for each argument */
	size_t count;
	int64_t idle; /* this many ms of silence are an event; 0: none */
	struct followed *runs;
	size_t run_count;
	char *block;
	struct buffer out;
	bool failed; /* a run could not be followed */
};

/* --- events ----------------------------------------------------------------------------------- */

static void event_begin(const struct followed *f, const char *event)
{
	struct buffer *out = &f->all->out;
	if (f->all->call->json) {
		json_begin(out, NULL, '{');
		json_add_string(out, "event", event);
		json_add_string(out, "id", f->watched.id);
	} else {
		buffer_printf(out, "%s ", f->watched.id);
	}
}

static void event_end(const struct followed *f)
{
	if (f->all->call->json)
		json_end(&f->all->out, '}');
	buffer_append_string(&f->all->out, "\n");
}

static int event_match(void *ctx, const struct sought *by, const char *line, size_t len, bool cut)
{
	const struct followed *f = ctx;
	struct buffer *out = &f->all->out;
	event_begin(f, "match");
	if (f->all->call->json) {
		json_add_count(out, "line", f->lookout.line);
		json_add_text(out, "text", line, len);
		json_add_bool(out, "cut", cut);
		json_add_string(out, "pattern", by->pattern);
	} else {
		buffer_printf(out, "line %" PRIu64 ": ", f->lookout.line);
		utf8_clean(out, line, len);
		buffer_append_string(out, cut ? "..." : "");
	}
	event_end(f);
	/* Ignores errors: writing fails again when the rest is printed. */
	if (out->len >= PRINT_AT)
		verb_write(out);
	return 0;
}

static void event_gap(void *ctx, const struct gap *gap)
{
	const struct followed *f = ctx;
	char what[GAP_ANNOUNCE_MAX];
	event_begin(f, "lost");
	if (f->all->call->json) {
		gap_append_member(&f->all->out, &(struct gaps){{*gap}, 1});
	} else {
		gap_describe(what, gap);
		buffer_append_string(&f->all->out, what);
	}
	event_end(f);
}

static void event_state(const struct followed *f, bool asks)
{
	const struct live_status *now = &f->watched.now;
	struct buffer *out = &f->all->out;
	event_begin(f, asks ? "asks" : "quiet");
	if (f->all->call->json && asks)
		json_add_string(out, "prompt", now->prompt);
	else if (f->all->call->json)
		json_add_number(out, "quiet_ms", now->quiet_ms);
	else
		watched_add_state(out, now, asks);
	event_end(f);
}

/* --- the runs --------------------------------------------------------------------------------- */

/* For a run that has ended: searches the rest of its text, and prints how it ended. Returns 0, or
   -1 after printing an error. */
static int followed_end(struct followed *f)
{
	struct buffer *out = &f->all->out;
	struct wording_ending e;
	struct meta m;
	if (lookout_turn(&f->lookout, UINT64_MAX) < 0)
		return -1;
	int result = live_run_ended(f->all->call, f->watched.id, &m, &e);
	meta_release(&m);
	if (result < 0)
		return -1;
	event_begin(f, "end");
	if (f->all->call->json) {
		json_add_known(out, "exit_code", e.exit_code >= 0, (uint64_t)e.exit_code);
		json_add_signal(out, "signal", e.signal);
		json_add_bool(out, "timed_out", e.timed_out);
		json_add_number(out, "duration_ms", e.duration_ms);
	} else {
		buffer_append_string(out, "ended: ");
		wording_end(out, &e);
	}
	event_end(f);
	return 0;
}

/* Takes what has come from a run, and prints its events. */
static void followed_take(struct followed *f)
{
	struct watched *w = &f->watched;
	bool asked = w->now.state == LIVE_WAITING, was_quiet = watched_is_quiet(w);
	enum watched_news news = watched_take(w);
	bool over = news == WATCHED_OVER, fails = news == WATCHED_FAILED;
	if (news == WATCHED_CHANGED) {
		fails = lookout_turn(&f->lookout, w->now.settled) < 0;
		over = w->now.state == LIVE_ENDED && !fails;
		if (w->now.state == LIVE_WAITING && !asked)
			event_state(f, true);
		else if (watched_is_quiet(w) && !was_quiet)
			event_state(f, false);
	}
	if (over || fails)
		io_close(&w->run);
	f->all->failed |= fails || (over && followed_end(f) < 0);
}

/* Follows the runs until all have ended, or the reader is gone. Returns the exit status. */
static int follow_all(struct follow *a)
{
	struct loop l;
	bool gone = false;
	loop_begin(&l);
	for (;;) {
		bool lives = false;
		for (struct followed *f = a->runs; f < a->runs + a->run_count; f++) {
			if (f->watched.run >= 0)
				watched_wait(&f->watched, &l);
			lives |= f->watched.run >= 0;
		}
		int error = verb_write(&a->out) < 0 ? errno : 0;
		if (error && error != EPIPE)
			verb_error(a->call->verb->name, "%s", strerror(error));
		if (!lives || gone || error)
			return a->failed || (error && error != EPIPE);
		loop_watch(&l, STDOUT_FILENO, 0, loop_note, &gone);
		loop_turn(&l);
		for (struct followed *f = a->runs; f < a->runs + a->run_count; f++) {
			if (f->watched.run >= 0)
				followed_take(f);
		}
	}
}

static const char *follow_take(void *into, const struct verb_option *o, const char *value)
{
	struct follow *a = into;
	(void)o;
	a->sought[a->count++].pattern = value;
	return NULL;
}

static int follow_run(struct verb_call *c)
{
	struct follow a = {.call = c};
	int status = EXIT_TERSE;
	a.sought = calloc((size_t)c->argc, sizeof(*a.sought));
	a.runs = calloc((size_t)c->argc, sizeof(*a.runs));
	a.block = io_block(LOOKOUT_BLOCK);
	if (!a.sought || !a.runs || !a.block) {
		verb_error(c->verb->name, "%m");
		goto out;
	}
	if (verb_parse(c, &a) < 0)
		goto out;
	for (struct sought *s = a.sought; s < a.sought + a.count; s++) {
		s->matcher = live_run_pattern(c, s->pattern);
		if (!s->matcher)
			goto out;
	}
	for (char **name = c->operands; *name; name++) {
		struct followed *f = &a.runs[a.run_count++];
		struct watched *w = &f->watched;
		*f = (struct followed){.all = &a,
				       .watched = {.call = c, .idle = a.idle},
				       .lookout = {.call = c,
						   .id = w->id,
						   .sought = a.sought,
						   .count = a.count,
						   .line = 1,
						   .block = a.block,
						   .match = event_match,
						   .gap = event_gap,
						   .ctx = f}};
		int reached = live_run_find(c, *name, &w->run, w->id, true);
		if (reached == 0)
			watched_begin(w, true);
		a.failed |= reached < 0 || (reached == 1 && followed_end(f) < 0);
	}
	status = follow_all(&a);
out:
	for (size_t i = 0; i < a.run_count; i++)
		io_close(&a.runs[i].watched.run);
	for (size_t i = 0; i < a.count; i++)
		matcher_free(a.sought[i].matcher);
	buffer_release(&a.out);
	free(a.block);
	free(a.runs);
	free(a.sought);
	return status;
}

static const struct verb_option follow_options[] = {
	{"--for", 0, VERB_TAKE, 0, "REGEX",
	 "print each line that matches, with its number; may be given several times"},
	{"--idle", 0, VERB_TIME, offsetof(struct follow, idle), "TIME",
	 "print when there was no output and no input for this long"},
	VERB_JSON_ROW,
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_follow = {
	.name = "follow",
	.purpose = "print a line for each event of commands in the background",
	.forms = "ID...",
	.text = "Prints a line for each event of the commands, as it comes: a line of the text\n"
		"that matches --for, silence, a question, the end. Ends when all commands have.\n",
	.options = follow_options,
	.least = 1,
	.more = -1,
	.live = true,
	.take = follow_take,
	.run = follow_run,
};
