// terse await ID: waits until a running command ends, asks for input, is quiet, or prints a certain
// line. Then prints the text that the reader has not seen yet, whole if it fits, else as a preview,
// and a last line about the run.

#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/utf8.h"
#include "supervisor/agents/rule.h"
#include "supervisor/artifact/text.h"
#include "supervisor/command/internal.h"
#include "supervisor/reading/matcher.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum outcome {
	OUTCOME_NONE,
	OUTCOME_ENDED,
	OUTCOME_ASKS,
	OUTCOME_FOUND,
	OUTCOME_IDLE,
	OUTCOME_LATE
};

struct waiter {
	struct watched watched;
	const struct await *asked; /* what is waited for */
	int64_t timeout;           /* ms; 0: none */
	bool ended;                /* the run has ended */
	bool wanted;               /* a terse signal from this session has ended it */

	/* The search for a pattern in a text that grows. A line counts as it is now, finished or
	   not, even if it is redrawn later. Final lines are searched once. */
	struct sought sought;
	struct lookout lookout;    /* lookout.at: offset of the first line that is not final */
	int fd;                    /* the file of the text */
	struct buffer found;       /* the line that matched, clean */
	const struct typed *typed; /* input whose echo is still to come; or NULL */
};

/* Keeps the line that matched. */
static int await_on_match(void *ctx, const struct sought *by, const char *line, size_t len,
			  bool cut)
{
	struct waiter *w = ctx;
	(void)by;
	utf8_clean(&w->found, line, len);
	buffer_append_string(&w->found, cut ? "..." : "");
	return 1;
}

/* --- the echo of input, which must not be taken for the answer to it ------------------------ */

static bool echo_is_blank(char c)
{
	return c == ' ' || c == '\n';
}

/* A line of the input. */
struct echo {
	const char *line;
	size_t len;
	bool ends; /* enter follows it */
};

/* Finds the next line from *at on, and moves *at past it. A key that is not printable ends a
   line. */
static bool echo_next_line(const struct buffer *typed, size_t *at, struct echo *e)
{
	size_t to;
	while (*at < typed->len && (unsigned char)typed->data[*at] <= ' ')
		++*at;
	for (to = *at;
	     to < typed->len && (unsigned char)typed->data[to] >= ' ' && typed->data[to] != '\x7f';)
		to++;
	*e = (struct echo){typed->data + *at, to - *at,
			   to < typed->len && strchr("\r\n", typed->data[to])};
	*at = to < typed->len ? to + 1 : to;
	return e->len > 0;
}

/* Whether the text begins with a line of the input. Blanks may differ, and the text may contain
   line breaks that the terminal has added. Returns 1, with *end after the line; 0; or -1 if the
   text is too short, but equal so far. */
static int echo_compare(const struct echo *e, const char *text, size_t len, size_t *end)
{
	size_t i = 0, k = 0;
	while (k < e->len) {
		if (echo_is_blank(e->line[k]))
			k++;
		else if (i == len)
			return -1;
		else if (echo_is_blank(text[i]))
			i++;
		else if (text[i++] != e->line[k++])
			return 0;
	}
	for (*end = i; i < len && text[i] == ' ';)
		i++;
	if (!e->ends)
		return 1;
	*end = i < len ? i + 1 : i;
	return i == len || text[i] == '\n';
}

/* Bytes: a shorter line counts as an echo only at the start of the text. */
#define ECHO_ANYWHERE 3

/* Looks for the echo of a line. Returns what echo_compare() returns, and stores the range of the
   echo in *at and *end. */
static int echo_find(const struct echo *e, const char *text, size_t len, size_t *at, size_t *end)
{
	size_t most = e->len < ECHO_ANYWHERE ? 1 : len;
	for (*at = 0; *at < len && *at < most; ++*at) {
		int result = echo_compare(e, text + *at, len - *at, end);
		if (result != 0) {
			*end += *at;
			return result;
		}
	}
	return 0;
}

/* Searches the new text before the echo, for as long as the echo has not come. Returns as
   lookout_turn(). Once the echo is there, sets *begin to the offset after it. */
static int waiter_skip_echo(struct waiter *w, uint64_t settled, uint64_t *begin)
{
	struct echo e;
	size_t at = 0, next = 0, from, end;
	struct lookout *l = &w->lookout;
	ssize_t n = io_read_at(w->fd, l->block, LOOKOUT_BLOCK, (off_t)l->at);
	if (n < 0)
		return -verb_error(l->call->verb->name, "%s: %m", l->id);
	size_t len = (size_t)n;
	for (bool first = true; echo_next_line(&w->typed->text, &next, &e); first = false) {
		int found = echo_find(&e, l->block + at, len - at, &from, &end);
		/* The text may end with a part of the echo, unless these lines are final. */
		bool begun = found < 0 && l->at + len > settled;
		size_t to = found > 0 || begun ? at + from : len;
		int result = first && found > 0 ? 0 : lookout_lines(l, l->block + at, to - at);
		if (result != 0)
			return result;
		if (found <= 0) {
			/* No echo has come: a password was typed, or the program draws. After a
			   full block the search for the echo stops. */
			if (len == LOOKOUT_BLOCK) {
				w->typed = NULL;
				*begin = l->at;
			}
			return 0;
		}
		at += end;
	}
	*begin = l->at + at;
	if (*begin <= settled) {
		l->at = *begin;
		w->typed = NULL;
	}
	return 0;
}

/* --- waiting -------------------------------------------------------------------------- */

/* Searches new text. Returns whether the line is there, or -1 after printing an error. The first
   `settled` bytes of the text are final. The text exists, since the supervisor has answered. */
static int await_look(struct waiter *w, uint64_t settled)
{
	struct lookout *l = &w->lookout;
	if (l->count == 0)
		return 0;
	if (!l->block) {
		struct text text;
		uint64_t lines;
		if (verb_open(l->call, ARTIFACT_OUT, l->id, &text) < 0)
			return -1;
		int sought = text_seek(&text, w->asked->from, &lines);
		w->typed = w->asked->typed;
		l->at = w->typed ? w->typed->from : sought == 1 ? text.size : text.offset;
		w->fd = sought < 0 ? -1 : dup(text.fd);
		l->block = w->fd < 0 ? NULL : io_block(LOOKOUT_BLOCK);
		if (!l->block)
			verb_error(l->call->verb->name, "%s: %m", l->id);
		text_close(&text);
		if (!l->block)
			return -1;
	}
	uint64_t begin = w->typed ? UINT64_MAX : l->at;
	int found = w->typed ? waiter_skip_echo(w, settled, &begin) : 0;
	if (found == 0 && begin == l->at)
		found = lookout_turn(l, settled);
	if (found != 0 || begin == UINT64_MAX)
		return found;
	/* Searches the rest, which is not final, with a copy: the next call searches it again. */
	struct lookout ahead = *l;
	ahead.at = begin > l->at ? begin : l->at;
	return lookout_turn(&ahead, UINT64_MAX);
}

/* Interval at which the port is checked. */
#define PORT_MS 50

/* Once a person has answered, the command may take this long to end or to ask again. */
#define ANSWERED_MS ((int64_t)1000)

/* Waits. Returns the outcome, or -1 after printing an error. */
static int await_outcome(struct waiter *waiter)
{
	struct watched *w = &waiter->watched;
	const uint64_t port = waiter->asked->port;
	/* `person`: the caller knows that a person is asked, so the wait continues until that
	   person answers. */
	bool listens = !port, is_first = true, person = false;
	int64_t answered_at = 0;
	struct loop l;
	loop_begin(&l);
	watched_begin(w, false);
	for (;;) {
		int64_t now = clock_monotonic_ms();
		int64_t late_at = answered_at       ? answered_at + ANSWERED_MS
				  : waiter->timeout ? w->begun + waiter->timeout
						    : 0;
		if (w->known && late_at && now >= late_at)
			return waiter->asked->at_once || answered_at ? OUTCOME_IDLE : OUTCOME_LATE;
		if (w->known)
			loop_until(&l, late_at);
		if (w->known && !listens)
			loop_until(&l, now + PORT_MS);
		watched_wait(w, &l);
		loop_turn(&l);
		enum watched_news news = watched_take(w);
		if (news == WATCHED_OVER || news == WATCHED_FAILED)
			return news == WATCHED_OVER ? OUTCOME_ENDED : -1;
		person |= is_first && w->known && w->now.asked;
		is_first = !w->known;
		/* When the person has answered, the command may end at once: waits a moment for
		   that, unless a line or a port is waited for. */
		if (person && !w->now.asked && !waiter->asked->answers &&
		    waiter->lookout.count == 0 && !port)
			answered_at = clock_monotonic_ms();
		person &= w->now.asked != WAIT_UNKNOWN;
		if (w->known && !listens) {
			unsigned ports[PORTS_MOST];
			for (size_t i = ports_of(w->now.pid, ports); i > 0 && !listens; i--)
				listens = ports[i - 1] == port;
		} else if (news == WATCHED_SAME) {
			continue;
		}
		if (!listens && w->now.state != LIVE_ENDED && w->now.state != LIVE_WAITING)
			continue;
		int found = await_look(waiter, w->now.settled);
		if (found != 0)
			return found < 0 ? -1 : OUTCOME_FOUND;
		/* If a line is waited for, processes that outlive the command may still write
		   it. */
		if (w->now.state == LIVE_ENDED && waiter->lookout.count == 0)
			return OUTCOME_ENDED;
		if (waiter->asked->at_once)
			return OUTCOME_IDLE;
		if (w->now.state == LIVE_WAITING && !person &&
		    w->call->settings->prompt != PROMPTING_AWAIT)
			return OUTCOME_ASKS;
		if (watched_is_quiet(w))
			return OUTCOME_IDLE;
	}
}

/* Prints the new text, and fills in *e. Returns 0, or -1 after printing an error. */
static int await_print_changes(struct waiter *waiter, enum outcome outcome,
			       struct wording_ending *e)
{
	struct watched *w = &waiter->watched;
	const char *verb = w->call->verb->name;
	struct text text;
	uint64_t reported = w->now.reported;
	enum wait_kind asked = waiter->ended ? WAIT_UNKNOWN : w->now.asked;
	*e = (struct wording_ending){
		.state = WORDING_RUNNING,
		.duration_ms = w->now.elapsed_ms + clock_monotonic_ms() - w->said,
		.waited_ms = outcome == OUTCOME_LATE ? clock_monotonic_ms() - w->begun : 0,
		.prompt = outcome == OUTCOME_ASKS || asked ? w->now.prompt : NULL,
		.asked = asked,
		.typing = w->now.terminal,
	};
	if (waiter->ended) {
		struct meta m;
		int known = live_run_ended(w->call, w->id, &m, e);
		reported = m.reported;
		waiter->wanted = m.wanted && live_run_is_own(w->call, w->id);
		meta_release(&m);
		if (known < 0)
			return -1;
	}
	if (waiter->asked->whole)
		reported = 0;
	if (verb_open(w->call, ARTIFACT_OUT, w->id, &text) < 0)
		return -1;
	if (outcome == OUTCOME_FOUND)
		e->found = buffer_string(&waiter->found);
	else if (outcome == OUTCOME_LATE || outcome == OUTCOME_ENDED)
		e->missed = waiter->asked->pattern;
	e->brief = waiter->asked->answers;
	const struct settings *settings = w->call->settings;
	const struct interceptor_ending end = {
		.ending = *e,
		.place = {.id = w->id, .words = settings->words},
		.status_line = STATUS_LINE_ALWAYS,
	};
	int result = excerpts_text(settings, &text, &reported, &end, NULL);
	text_close(&text);
	if (result < 0) {
		verb_error(verb, "%s: %m", w->id);
	} else if (!waiter->ended) {
		/* Waits until the supervisor has noted how much was printed, so that the next await
		   prints only later text. */
		int lines = reported < INT_MAX ? (int)reported : INT_MAX;
		struct frame f;
		if (frame_send(w->run, FRAME_REPORTED, lines, 0, NULL, 0, 0) == 0) {
			while (frame_receive(w->run, &f, 0) >= 0 && f.kind != FRAME_DONE)
				;
		}
	}
	return result;
}

int await_answer(const struct verb_call *c, const struct await *a)
{
	const struct settings *s = c->settings;
	struct wording_ending ending;
	struct waiter w = {.watched = {.call = c, .run = -1, .idle = a->idle},
			   .asked = a,
			   .timeout = a->timeout ? a->timeout : s->yield,
			   .sought = {.pattern = a->pattern},
			   .lookout = {.call = c,
				       .id = w.watched.id,
				       .sought = &w.sought,
				       .count = a->pattern != NULL,
				       .match = await_on_match,
				       .ctx = &w},
			   .fd = -1};
	const struct hand_over h = rule_hand_over(s, rule_agent(s));
	const bool limited = h.after && (!w.timeout || h.after < w.timeout);
	if (limited)
		w.timeout = h.after;
	if (a->pattern && !(w.sought.matcher = live_run_pattern(c, a->pattern)))
		return EXIT_TERSE;
	int reached = live_run_find(c, a->name, &w.watched.run, w.watched.id, true);
	int status = 1;
	if (reached < 0)
		goto out;
	int outcome = reached == 1 ? OUTCOME_ENDED : await_outcome(&w);
	w.ended = outcome == OUTCOME_ENDED || w.watched.now.state == LIVE_ENDED;
	/* The line may be in the last text. */
	if (outcome == OUTCOME_ENDED && a->pattern) {
		int found = await_look(&w, UINT64_MAX);
		outcome = found < 0 ? -1 : found > 0 ? OUTCOME_FOUND : OUTCOME_ENDED;
	}
	if (outcome < 0 || await_print_changes(&w, (enum outcome)outcome, &ending) < 0)
		goto out;
	status = 0;
	if (outcome == OUTCOME_LATE && limited)
		status = h.status;
	else if (outcome == OUTCOME_LATE && a->timeout)
		status = EXIT_TIMEOUT;
	else if (outcome == OUTCOME_ASKS || outcome == OUTCOME_LATE)
		status = (int)s->yield_status;
	if (outcome != OUTCOME_ENDED)
		goto out;
	if (ending.state == WORDING_INTERRUPTED)
		status = EXIT_TERSE;
	else if (!w.wanted)
		status = ending.exit_code >= 0 ? ending.exit_code : 128 + ending.signal;
	if (a->pattern && status == 0)
		status = 1;
out:
	io_close(&w.watched.run);
	io_close(&w.fd);
	free(w.lookout.block);
	buffer_release(&w.found);
	matcher_free(w.sought.matcher);
	return status;
}

static int await_run(struct verb_call *c)
{
	struct await a = {.from = 1};
	if (verb_parse(c, &a) < 0)
		return EXIT_TERSE;
	a.name = c->operands[0];
	return await_answer(c, &a);
}

static const struct verb_option await_options[] = {
	{"--timeout", 0, VERB_TIME, offsetof(struct await, timeout), "TIME",
	 "wait at most this long, and exit with 124"},
	{"--for", 0, VERB_TEXT, offsetof(struct await, pattern), "REGEX",
	 "until a line matches, even one that may be redrawn; exits with 0, or with 1 if the "
	 "command succeeds without it"},
	{"--offset", 0, VERB_COUNT, offsetof(struct await, from), "N",
	 "search from line N on (default 1)"},
	{"--idle", 0, VERB_TIME, offsetof(struct await, idle), "TIME",
	 "until there was no output and no input for this long"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_await = {
	.name = "await",
	.purpose = "wait until a command in the background ends or prints a line",
	.forms = "ID",
	.text = "Waits until a command in the background (run --yield, --detach) ends or asks\n"
		"for input, and prints its new output. Exits with the command's status (128\n"
		"plus the signal; 0 if terse signal of this session ended it), or with [run]\n"
		"yield_status if it asks.\n",
	.options = await_options,
	.least = 1,
	.live = true,
	.run = await_run,
};
