// terse follow ID...: one line for each event of runs, as it comes: a line of the text that
// matches, silence, a question, the end. For monitors of agents, and for scripts.
//
// The text is read from disk at the reader's own pace, so that nothing is lost, however fast it
// grows and however long the reader rests, and the command never waits for it. A line counts once,
// when it is final.

#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/loop.h"
#include "lib/utf8.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A longer line is matched in pieces. */
#define BLOCK ((size_t)256 * 1024)

/* Bytes of a line that are printed at most. */
#define LINE_MOST ((size_t)300)

/* Events are printed when there is nothing more to look at, or so many bytes. */
#define PRINT_AT ((size_t)32 * 1024)

/* A pattern, and where in the block its next line begins. */
struct sought {
	const char *pattern;
	struct matcher *matcher;
	size_t next; /* only where it is not behind what was looked at */
};

/* A run. */
struct followed {
	struct follow *all;
	struct watched watched; /* its `run` -1: it is over */
	uint64_t at, line;      /* the byte that is looked at next, and the number of its line */
	bool told;              /* that line has matched in a piece before */
};

struct follow {
	struct verb_call *call;
	struct sought *sought; /* room for each argument */
	size_t count;
	int64_t idle; /* ms; 0: silence is no event */
	struct followed *runs;
	size_t run_count;
	char *block;
	struct buffer out;
	bool failed; /* one of them could not be followed */
};

/* --- events ----------------------------------------------------------------------------------- */

static void event_begin(const struct followed *f, const char *event)
{
	struct buffer *out = &f->all->out;
	if (f->all->call->json) {
		json_begin_object(out, NULL);
		json_add_string(out, "event", event);
		json_add_string(out, "id", f->watched.id);
	} else {
		buffer_printf(out, "%s ", f->watched.id);
	}
}

static void event_end(const struct followed *f)
{
	if (f->all->call->json)
		json_end_object(&f->all->out);
	buffer_append_string(&f->all->out, "\n");
}

static void event_match(const struct followed *f, const struct sought *by, const char *line,
			size_t len)
{
	struct buffer *out = &f->all->out;
	size_t n = utf8_floor(line, len, len < LINE_MOST ? len : LINE_MOST);
	event_begin(f, "match");
	if (f->all->call->json) {
		json_add_count(out, "line", f->line);
		json_add_text(out, "text", line, n);
		json_add_bool(out, "cut", n < len);
		json_add_string(out, "pattern", by->pattern);
	} else {
		buffer_printf(out, "line %" PRIu64 ": ", f->line);
		utf8_clean(out, line, n);
		buffer_append_string(out, n < len ? "..." : "");
	}
	event_end(f);
}

static void event_gap(const struct followed *f, const struct gap *gap)
{
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
	else if (asks)
		buffer_printf(out, "asks: \"%s\"", now->prompt);
	else
		buffer_printf(out, "quiet for %s", HUMAN_DURATION(now->quiet_ms));
	event_end(f);
}

/* --- the text --------------------------------------------------------------------------------- */

/* Looks at whole lines, or at a piece of one that is longer than the block. Returns 0, or -1 after
   saying what is wrong. */
static int followed_scan(struct followed *f, const char *text, size_t len)
{
	struct follow *a = f->all;
	size_t at = 0;
	for (size_t i = 0; i < a->count; i++)
		a->sought[i].next = 0;
	while (at < len) {
		struct sought *first = NULL;
		for (struct sought *s = a->sought; s < a->sought + a->count; s++) {
			size_t found = 0;
			enum matcher_result r = MATCHER_FOUND;
			if (at == 0 || s->next < at) {
				r = matcher_next(s->matcher, text + at, len - at, &found);
				s->next = r == MATCHER_FOUND ? at + found : len;
			}
			if (r == MATCHER_GAVE_UP) {
				verb_fail(a->call, ENVELOPE_BAD_PATTERN, "%s: %s", s->pattern,
					  matcher_reason(s->matcher));
				return -1;
			}
			if (!first || s->next < first->next)
				first = s;
		}
		size_t to = first ? first->next : len;
		uint64_t passed = newline_count(text + at, to - at);
		f->line += passed;
		f->told &= passed == 0;
		if (to == len)
			break;
		const char *newline = memchr(text + to, '\n', len - to);
		at = newline ? (size_t)(newline - text) + 1 : len;
		if (!f->told)
			event_match(f, first, text + to, at - to - (newline != NULL));
		f->told = !newline;
		f->line += newline != NULL;
	}
	return 0;
}

/* Looks at what there is of the text up to the byte `to`. Returns 0, or -1 after saying what is
   wrong. */
static int followed_look(struct followed *f, uint64_t to)
{
	struct follow *a = f->all;
	struct text text;
	struct text_piece piece = {.kind = TEXT_BYTES};
	size_t held = 0; /* bytes of a line that is not there to its end */
	int result = 0;
	if (to <= f->at || a->count == 0)
		return 0;
	if (verb_open(a->call, ARTIFACT_OUT, f->watched.id, &text) < 0)
		return -1;
	text_seek_byte(&text, f->at);
	while (result == 0 && text.offset < to) {
		size_t room = BLOCK - held;
		if (to - text.offset < room)
			room = (size_t)(to - text.offset);
		if (text_next(&text, a->block + held, room, &piece) < 0) {
			verb_fail(a->call, ENVELOPE_UNREADABLE, "%s: %m", f->watched.id);
			result = -1;
		}
		if (result < 0 || piece.kind == TEXT_END)
			break;
		/* In front of a gap nothing more of a line comes. */
		size_t len = held + (piece.kind == TEXT_BYTES ? piece.len : 0), whole = len;
		const char *newline = memrchr(a->block, '\n', len);
		if (piece.kind == TEXT_BYTES && (newline || len < BLOCK))
			whole = newline ? (size_t)(newline - a->block) + 1 : 0;
		result = followed_scan(f, a->block, whole);
		held = len - whole;
		memmove(a->block, a->block + whole, held);
		if (piece.kind == TEXT_GAP) {
			event_gap(f, &piece.gap);
			f->line = piece.gap.to + !piece.goes_on;
			f->told = false;
		}
		f->at = text.offset - held;
		if (a->out.len >= PRINT_AT)
			verb_write(&a->out);
	}
	if (result == 0 && to == UINT64_MAX)
		result = followed_scan(f, a->block, held);
	text_close(&text);
	return result;
}

/* --- the runs --------------------------------------------------------------------------------- */

/* Looks at the rest of the text of a run that is over, and tells how it ended. Returns 0, or -1
   after saying what is wrong. */
static int followed_end(struct followed *f)
{
	struct buffer *out = &f->all->out;
	struct wording_ending e;
	struct meta m;
	if (followed_look(f, UINT64_MAX) < 0)
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

/* Takes what has come, and tells what is new. */
static void followed_take(struct followed *f)
{
	struct watched *w = &f->watched;
	bool asked = w->now.state == LIVE_WAITING, was_quiet = watched_is_quiet(w);
	enum watched_news news = watched_take(w);
	bool over = news == WATCHED_OVER, fails = news == WATCHED_FAILED;
	if (news == WATCHED_CHANGED) {
		fails = followed_look(f, w->now.settled) < 0;
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

/* Follows them to the end of the last one, or of the reader. Returns the exit status. */
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
	a.block = io_block(BLOCK);
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
		*f = (struct followed){
			.all = &a, .watched = {.call = c, .idle = a.idle}, .line = 1};
		int reached = live_run_find(c, *name, &w->run, w->id, false);
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
	 "print when there was no output and no input for so long"},
	VERB_JSON_ROW,
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_follow = {
	.name = "follow",
	.purpose = "print a line for each event of commands in the background",
	.forms = "ID...",
	.text = "Prints one line for each event of the commands, as it comes: a line of the text "
		"that\n"
		"matches --for, silence, a question, the end. Ends with the last of them.\n",
	.options = follow_options,
	.least = 1,
	.more = -1,
	.live = true,
	.take = follow_take,
	.run = follow_run,
};
