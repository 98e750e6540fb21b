// terse history: the runs of the caller's session that have ended, those without an artifact, too;
// the newest first.

#include "supervisor/artifact/history.h"
#include "supervisor/base/human.h"
#include "supervisor/command/command.h"
#include "supervisor/command/runs.h"

/* Returns 1 if there are more, 0, or -1 with errno. */
static int verb_history_add_all(struct runs *r, struct history *h)
{
	struct meta m;
	int got;
	while ((got = history_next(h, &m)) == 1) {
		/* All that follow ended, so began, before. */
		if (r->since && m.ended_ms < r->from_ms)
			return 0;
		if (!runs_match(r, &m))
			continue;
		if (runs_is_full(r))
			return 1;
		if (runs_add(r, m.id, m.session, &m) < 0)
			return -1;
	}
	return got;
}

int command_history(struct command_context *c, int argc, char **argv)
{
	struct runs r = {.history = true};
	struct store stores[STORE_MAX];
	char lines[HUMAN_LEN];
	int status = runs_parse(&r, c->settings, argc, argv);
	if (status != 0)
		return status;
	int count = verb_open_stores(r.verb.name, stores, &status), more = -1;
	struct history *h = history_open(stores, count, r.all ? NULL : r.directory);
	if (h)
		more = verb_history_add_all(&r, h);
	if (more < 0 || runs_finish(&r, more) < 0) {
		verb_fail(&r.verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (history_damaged(h) > 0 && !r.verb.json) {
		verb_error(r.verb.name, "damaged lines passed over: %s",
			   human_count(lines, history_damaged(h)));
	} else if (r.rows == 0 && !r.verb.json) {
		verb_error(r.verb.name, "%s in session %s (--all for every session)",
			   runs_is_choosy(&r) ? "nothing like that" : "nothing", r.directory);
	}
	if (h)
		history_close(h);
	runs_release(&r);
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
