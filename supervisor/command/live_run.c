// See internal.h.

#include "supervisor/command/internal.h"

#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "supervisor/reading/matcher.h"
#include "supervisor/report/wording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Connects to a run that has no artifact yet. Returns a descriptor, or -1 with errno. */
static int live_run_open(const struct verb_call *c, const struct store *stores, int count,
			 const char *id)
{
	errno = ENOENT;
	return id_is_valid(id) && verb_reaches(c, stores, count, id)
		       ? client_open(stores, count, id)
		       : -1;
}

int live_run_find(const struct verb_call *c, const char *name, int *run, char id[ID_LEN + 1],
		  bool needed)
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
		return live_run_find(c, service, run, id, needed);
	}
	snprintf(id, ID_LEN + 1, "%s", kept ? found.id : name);
	*run = kept ? client_open(stores, count, id) : live_run_open(c, stores, count, name);
	int result = *run < 0 ? -1 : 0;
	if (result < 0 && !kept) {
		/* An older run is meant only while it lives. */
		int older = *found.id ? client_open(stores, count, found.id) : -1;
		if (older < 0)
			found.id[0] = '\0';
		io_close(&older);
		if (!needed && verb_tell_last(c, name, why, &found, true))
			result = 2;
		else
			verb_not_found(c, name, why, &found);
	} else if (result < 0 && errno == ENOENT && !needed) {
		result = 1;
	} else if (result < 0) {
		live_run_failed(c, id, errno);
	}
	store_close_all(stores, count);
	return result;
}

bool live_run_is_own(const struct verb_call *c, const char *id)
{
	char directory[STORE_SESSION_LEN + 1], owner[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	int count = store_open_everywhere(stores);
	verb_session_name(c->settings, c->session, directory);
	bool own = id_session(stores, count, id, owner) == 0 && strcmp(owner, directory) == 0;
	store_close_all(stores, count);
	return own;
}

int live_run_text(const struct verb_call *c, const struct store *stores, int count,
		  const char *name)
{
	struct live_status now;
	int run = live_run_open(c, stores, count, name);
	int result = run < 0 ? -1 : client_status(run, FRAME_WATCH, &now);
	io_close(&run);
	return result;
}

int live_run_signal(int run, int sig, bool own)
{
	struct frame f;
	if (client_ask(run, FRAME_SIGNAL, sig, own, NULL, 0, NULL) < 0)
		return -1;
	/* Until the supervisor has gone, the last process of the run. */
	while (!sig && (frame_receive(run, &f, 0) >= 0 || errno == EAGAIN))
		;
	return 0;
}

void live_run_failed(const struct verb_call *c, const char *id, int error)
{
	const char *verb = c->verb->name;
	switch (error) {
	case ENOENT:
	case EPIPE:
	case ESRCH:
		verb_error(verb, "%s: has ended (%s%s)", id, vocabularies[c->settings->words].read,
			   id);
		break;
	case ENOTTY:
		verb_error(verb,
			   "%s: has no terminal to type into (start it with --yield, --detach or "
			   "--tty)",
			   id);
		break;
	case EPROTONOSUPPORT:
		verb_error(verb, "%s: runs under another version of terse", id);
		break;
	case EBUSY: verb_error(verb, "%s: has too many clients", id); break;
	case ETIMEDOUT:
	case EAGAIN: verb_error(verb, "%s: its supervisor does not answer", id); break;
	default: verb_error(verb, "%s: %s", id, strerror(error)); break;
	}
}

struct matcher *live_run_pattern(const struct verb_call *c, const char *pattern)
{
	const struct matcher_options options = {.ignore_case = false};
	struct matcher_error error;
	struct matcher *m = matcher_new(pattern, &options, &error);
	if (!m && errno == EINVAL)
		verb_fail(c, ENVELOPE_BAD_PATTERN, "%s: %s: %s at character %zu",
			  vocabularies[c->settings->words].pattern, pattern, error.text,
			  error.offset + 1);
	else if (!m)
		verb_fail(c, ENVELOPE_UNREADABLE, "%m");
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

/* --- one that is watched ---------------------------------------------------------------------- */

/* A supervisor answers at once unless it is stopped (SIGSTOP). */
#define ANSWER_MS ((int64_t)5000)

void watched_begin(struct watched *w, bool grows)
{
	w->begun = clock_monotonic_ms();
	/* Where it refuses the client, its answer waits to be read; where it has gone, its end. */
	frame_send(w->run, FRAME_WATCH, grows, 0, NULL, 0, 0);
}

bool watched_is_quiet(const struct watched *w)
{
	return w->idle && w->now.quiet_ms >= w->idle;
}

void watched_wait(struct watched *w, struct loop *l)
{
	loop_watch(l, w->run, POLLIN, loop_note, &w->ready);
	if (!w->known) {
		loop_until(l, w->begun + ANSWER_MS);
	} else if (w->idle && !w->due && !watched_is_quiet(w)) {
		int64_t quiet_at = w->said + w->idle - w->now.quiet_ms;
		/* It seems quiet. Ask again: a newer status may be on its way. */
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
	if (!w->known && got == 0 && !refused && clock_monotonic_ms() >= w->begun + ANSWER_MS)
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
