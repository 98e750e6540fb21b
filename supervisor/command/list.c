// terse list: the artifacts of the caller's session, newest first.

#include "supervisor/artifact/recent.h"
#include "supervisor/artifact/text.h"
#include "supervisor/base/io.h"
#include "supervisor/command/command.h"
#include "supervisor/command/live_list.h"
#include "supervisor/command/runs.h"

#include <errno.h>

/* What the metadata of a run that has not ended can't tell. */
static void list_count_lines(int dir, const char *id, enum artifact_part part,
			     struct meta_stream *s)
{
	struct text text;
	if (s->lines > 0 || s->bytes == 0 || text_open(&text, dir, id, part) < 0)
		return;
	uint64_t lines;
	if (text_lines(&text, &lines) == 0)
		s->lines = lines;
	s->bytes = text.size;
	text_close(&text);
}

/* Adds one artifact if it is wanted; one that is gone by now is not. Returns 0, 1 if it is one too
   many, or -1 with errno. */
static int list_add(struct runs *r, const struct id_found *found)
{
	/* An ID tells when its run began, some milliseconds more or less. */
	int64_t started = id_time_ms(id_pack(found->id));
	if (r->since && started < r->from_ms - 1000)
		return 0;
	int dir = store_open_session(found->store, found->session, false);
	struct meta m;
	int result = 0;
	if (dir >= 0 && meta_read(dir, found->id, &m) == 0) {
		if (runs_match(r, &m) && runs_is_full(r)) {
			result = 1;
		} else if (runs_match(r, &m)) {
			list_count_lines(dir, found->id, ARTIFACT_OUT, &m.out);
			list_count_lines(dir, found->id, ARTIFACT_ERR, &m.err);
			result = runs_add(r, found->id, found->session, &m);
		}
		meta_release(&m);
	} else if (errno != ENOENT && !runs_is_choosy(r)) {
		result = runs_is_full(r) ? 1 : runs_add(r, found->id, found->session, NULL);
	}
	io_close(&dir);
	return result;
}

/* Returns 1 if there are more, 0, or -1 with errno. */
static int list_add_all(struct runs *r, struct recent *artifacts)
{
	struct id_found found;
	int got, added = 0;
	while (added == 0 && (got = recent_next(artifacts, &found)) == 1)
		added = list_add(r, &found);
	return added ? added : got;
}

int command_list(struct command_context *c, int argc, char **argv)
{
	struct runs r = {.history = false};
	struct store stores[STORE_MAX];
	int status = runs_parse(&r, c->settings, argc, argv);
	if (status != 0)
		return status;
	if ((r.live || r.watch) && r.verb.json) {
		verb_fail(&r.verb, ENVELOPE_USAGE, "--live is for people: --state running --json");
		return EXIT_TERSE;
	}
	if (r.live || r.watch)
		return live_list(r.verb.name, r.watch);
	int count = verb_open_stores(r.verb.name, stores, &status), more = -1;
	struct recent *artifacts = recent_open(stores, count, r.all ? NULL : r.directory);
	if (artifacts)
		more = list_add_all(&r, artifacts);
	if (more < 0 || runs_finish(&r, more) < 0) {
		verb_fail(&r.verb, ENVELOPE_UNREADABLE, "%m");
		status = 1;
	} else if (r.rows == 0 && !r.verb.json) {
		verb_error(r.verb.name, "%s in session %s (--all for every session)",
			   runs_is_choosy(&r) ? "nothing like that" : "nothing", r.directory);
	}
	if (artifacts)
		recent_close(artifacts);
	runs_release(&r);
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
