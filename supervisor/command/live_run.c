// See internal.h.

#include "supervisor/command/internal.h"

#include "config/settings.h"
#include "lib/bytes.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/utf8.h"
#include "supervisor/artifact/text.h"
#include "supervisor/reading/matcher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool may_end)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count;
	bool kept = verb_find(c, name, stores, &count, &found) == 0;
	int why = errno;
	const struct service named = {.name = name};
	char service[ID_LEN + 1];
	if (!kept && !id_is_valid(name) && service_find(&named, stores, count, service)) {
		store_close_all(stores, count);
		return live_run_find(c, service, run, id, may_end);
	}
	snprintf(id, ID_LEN + 1, "%s", kept ? found.id : name);
	/* A run that has no artifact yet is found by its ID. */
	*run = kept || (id_is_valid(id) && verb_reaches(c, stores, count, id))
		       ? client_open(stores, count, id)
		       : -1;
	int result = *run < 0 ? -1 : 0;
	if (result < 0 && !kept) {
		verb_not_found(c, name, why);
	} else if (result < 0 && errno == ENOENT && may_end) {
		result = 1;
	} else if (result < 0) {
		live_run_failed(c, id, errno);
	}
	store_close_all(stores, count);
	return result;
}

bool live_run_is_own(const struct verb_call *c, const char *id)
{
	struct store stores[STORE_MAX];
	int count = store_open_everywhere(stores);
	bool own = verb_owns(c, stores, count, id);
	store_close_all(stores, count);
	return own;
}

int live_run_signal(int run, int sig, bool own)
{
	struct frame f;
	if (client_ask(run, FRAME_SIGNAL, sig, own, NULL, 0, NULL) < 0)
		return -1;
	/* Waits until the supervisor, the run's last process, is gone. */
	while (!sig && (frame_receive(run, &f, 0) >= 0 || errno == EAGAIN))
		;
	return 0;
}

void live_run_failed(const struct verb_call *c, const char *id, int error)
{
	const char *why = error == ENOTTY
				  ? "has no terminal to type into (start it with --yield, --detach "
				    "or --tty)"
			  : error == EPROTONOSUPPORT ? "runs under another version of terse"
			  : error == EBUSY           ? "has too many clients"
			  : error == ETIMEDOUT || error == EAGAIN ? "its supervisor does not answer"
								  : strerror(error);
	struct buffer asked = BUFFER_INIT;
	if (error == EACCES)
		wording_asked(&asked, WAIT_SECRET, "", id);
	if (error == ENOENT || error == EPIPE || error == ESRCH)
		verb_error(c->verb->name, "%s: has ended (%s%s)", id,
			   vocabularies[c->settings->words].read, id);
	else if (error == EACCES && buffer_string(&asked))
		verb_error(c->verb->name, "%s: %s", id, asked.data);
	else
		verb_error(c->verb->name, "%s: %s", id, why);
	buffer_release(&asked);
}

/* Prints what is wrong with a pattern of --for. */
static void live_run_bad_pattern(const struct verb_call *c, const char *pattern, const char *why)
{
	verb_fail(c, ENVELOPE_BAD_PATTERN, "%s: %s: %s", vocabularies[c->settings->words].pattern,
		  pattern, why);
}

struct matcher *live_run_pattern(const struct verb_call *c, const char *pattern)
{
	const struct matcher_options options = {.ignore_case = false};
	struct matcher_error error;
	struct matcher *m = matcher_new(pattern, &options, &error);
	char why[sizeof(error.text) + 64];
	if (!m && errno == EINVAL) {
		snprintf(why, sizeof(why), "%s at character %zu", error.text, error.offset + 1);
		live_run_bad_pattern(c, pattern, why);
	} else if (!m) {
		verb_fail(c, ENVELOPE_UNREADABLE, "%m");
	}
	return m;
}

int live_run_ended(const struct verb_call *c, const char *id, struct meta *m,
		   struct wording_ending *e)
{
	struct store stores[STORE_MAX];
	struct id_found found;
	int count, result = verb_find(c, id, stores, &count, &found);
	*m = (struct meta){.exit_code = -1};
	if (result == 0)
		result = meta_read_found(&found, m);
	if (result < 0)
		verb_fail(c, ENVELOPE_UNREADABLE, "%s: %m", id);
	store_close_all(stores, count);
	*e = excerpts_ending(m);
	if (m->state == META_RUNNING) {
		e->state = WORDING_INTERRUPTED;
		e->duration_ms = m->duration_ms;
	}
	return result;
}

/* --- lines of its text ------------------------------------------------------------------------ */

/* The most bytes that are passed on of a line that matches. */
#define LINE_MOST ((size_t)300)

int lookout_lines(struct lookout *l, const char *text, size_t len)
{
	size_t at = 0;
	for (size_t i = 0; i < l->count; i++)
		l->sought[i].next = 0;
	while (at < len) {
		struct sought *first = NULL;
		for (struct sought *by = l->sought; by < l->sought + l->count; by++) {
			size_t found = 0;
			enum matcher_result r = MATCHER_FOUND;
			if (at == 0 || by->next < at) {
				r = matcher_next(by->matcher, text + at, len - at, &found);
				by->next = r == MATCHER_FOUND ? at + found : len;
			}
			if (r == MATCHER_GAVE_UP) {
				live_run_bad_pattern(l->call, by->pattern,
						     matcher_reason(by->matcher));
				return -1;
			}
			if (!first || by->next < first->next)
				first = by;
		}
		size_t to = first ? first->next : len;
		uint64_t passed = newline_count(text + at, to - at);
		l->line += passed;
		l->told &= passed == 0;
		if (to == len)
			break;
		const char *newline = memchr(text + to, '\n', len - to);
		at = newline ? (size_t)(newline - text) + 1 : len;
		size_t whole = at - to - (newline != NULL);
		size_t n = utf8_floor(text + to, whole, whole < LINE_MOST ? whole : LINE_MOST);
		int result = l->told ? 0 : l->match(l->ctx, first, text + to, n, n < whole);
		if (result != 0)
			return result;
		l->told = !newline;
		l->line += newline != NULL;
	}
	return 0;
}

int lookout_turn(struct lookout *l, uint64_t to)
{
	struct text text;
	struct text_piece piece = {.kind = TEXT_BYTES};
	size_t held = 0; /* bytes of an incomplete line in the block */
	int result = 0;
	if (to <= l->at || l->count == 0)
		return 0;
	if (verb_open(l->call, ARTIFACT_OUT, l->id, &text) < 0)
		return -1;
	text_seek_byte(&text, l->at);
	while (result == 0 && text.offset < to) {
		size_t room = LOOKOUT_BLOCK - held;
		if (to - text.offset < room)
			room = (size_t)(to - text.offset);
		if (text_next(&text, l->block + held, room, &piece) < 0) {
			verb_fail(l->call, ENVELOPE_UNREADABLE, "%s: %m", l->id);
			result = -1;
		}
		if (result < 0 || piece.kind == TEXT_END)
			break;
		/* A line before a gap is complete: no more bytes of it will come. */
		size_t len = held + (piece.kind == TEXT_BYTES ? piece.len : 0), whole = len;
		const char *newline = memrchr(l->block, '\n', len);
		if (piece.kind == TEXT_BYTES && (newline || len < LOOKOUT_BLOCK))
			whole = newline ? (size_t)(newline - l->block) + 1 : 0;
		result = lookout_lines(l, l->block, whole);
		held = len - whole;
		memmove(l->block, l->block + whole, held);
		if (piece.kind == TEXT_GAP) {
			if (l->gap)
				l->gap(l->ctx, &piece.gap);
			l->line = piece.gap.to + !piece.goes_on;
			l->told = false;
		}
		l->at = text.offset - held;
	}
	if (result == 0 && to == UINT64_MAX)
		result = lookout_lines(l, l->block, held);
	text_close(&text);
	return result;
}

/* --- one that is watched ---------------------------------------------------------------------- */

/* A supervisor answers at once unless it is stopped (SIGSTOP). */
#define ANSWER_MS ((int64_t)5000)

void watched_begin(struct watched *w, bool grows)
{
	w->begun = clock_monotonic_ms();
	w->answer_by = grows ? 0 : w->begun + ANSWER_MS;
	w->asker = w->call->asker;
	/* If sending fails, the supervisor has refused the client or is gone. watched_take() reads
	   that. */
	frame_send(w->run, FRAME_WATCH, grows, 0, NULL, 0, 0);
}

bool watched_is_quiet(const struct watched *w)
{
	return w->idle && w->now.quiet_ms >= w->idle;
}

void watched_add_state(struct buffer *out, const struct live_status *now, bool asks)
{
	if (asks && now->asked)
		wording_asked(out, now->asked, now->prompt, now->id);
	else if (asks)
		buffer_printf(out, "asks: \"%s\"", now->prompt);
	else
		buffer_printf(out, "quiet for %s", HUMAN_DURATION(now->quiet_ms));
}

/* Answers the call's asker with the run's state. */
static void watched_tell(void *ctx, short events)
{
	struct watched *w = ctx;
	struct live_status now = w->now;
	int64_t since = clock_monotonic_ms() - w->said;
	struct frame f;
	(void)events;
	now.elapsed_ms += since;
	now.quiet_ms += since;
	if (frame_receive(w->asker, &f, MSG_DONTWAIT) < 0)
		w->asker = errno == EAGAIN ? w->asker : 0;
	else
		frame_send(w->asker, FRAME_STATUS, 0, 0, &now, sizeof(now), MSG_DONTWAIT);
}

void watched_wait(struct watched *w, struct loop *l)
{
	loop_watch(l, w->run, POLLIN, loop_note, &w->ready);
	if (w->known && w->asker)
		loop_watch(l, w->asker, POLLIN, watched_tell, w);
	if (!w->known) {
		loop_until(l, w->answer_by);
	} else if (w->idle && !w->due && !watched_is_quiet(w)) {
		int64_t quiet_at = w->said + w->idle - w->now.quiet_ms;
		/* According to its last status the run is quiet, but that status may be old:
		   requests a new one. */
		w->due = clock_monotonic_ms() >= quiet_at;
		if (w->due)
			frame_send(w->run, FRAME_STATUS, 0, 0, NULL, 0, 0);
		else
			loop_until(l, quiet_at);
	}
}

enum watched_news watched_take(struct watched *w)
{
	int refused = 0, got = w->ready ? client_take_status(w->run, &w->now, &refused) : 0;
	w->ready = false;
	if (!w->known && w->answer_by && got == 0 && !refused &&
	    clock_monotonic_ms() >= w->answer_by)
		refused = ETIMEDOUT;
	if (refused)
		live_run_failed(w->call, w->id, refused);
	if (refused || got <= 0)
		return refused ? WATCHED_FAILED : got < 0 ? WATCHED_OVER : WATCHED_SAME;
	w->known = true;
	w->due = false;
	w->said = clock_monotonic_ms();
	return WATCHED_CHANGED;
}
