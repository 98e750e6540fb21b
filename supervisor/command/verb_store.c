// terse session, drop, rewind and gc: list and remove what the store holds.

#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/short.h"
#include "supervisor/command/internal.h"
#include "supervisor/remote/outbox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- what was removed, listed ------------------------------------------------------------ */

/* The most lines about single artifacts. */
#define CLEANUP_LINES 30

struct cleanup {
	struct gc gc; /* cleans one store at a time; has the sums */
	struct buffer out;
	uint64_t listed; /* number of removed artifacts, with or without a line */
	long in_use;     /* number of artifacts that stay since their runs are still live */
};

static const char *const reasons[RETENTION_REASONS] = {
	[RETENTION_STAYS] = "",
	[RETENTION_LEFTOVER] = "",
	[RETENTION_ENDED] = "its session has ended",
	[RETENTION_AGE] = "[gc] max_age",
	[RETENTION_COUNT] = "[gc] max_count",
	[RETENTION_SIZE] = "[gc] max_size",
	[RETENTION_ASKED] = "",
};

static void on_removed(void *ctx, const struct inventory_session *session,
		       const struct inventory_item *item)
{
	struct cleanup *c = ctx;
	char id[ID_LEN + 1], size[HUMAN_LEN], age[HUMAN_LEN];
	if (++c->listed > CLEANUP_LINES)
		return;
	id_unpack(item->id, id);
	buffer_printf(&c->out, "%s  %8s  %7s  session %s%s%s\n", id, human_size(size, item->bytes),
		      human_age(age, c->gc.now_ms - item->last_ms), session->name,
		      *reasons[item->why] ? ": " : "", reasons[item->why]);
}

static void cleanup_begin(struct cleanup *c, const struct settings *settings, bool dry)
{
	*c = (struct cleanup){
		.gc = {.limits = gc_limits(settings),
		       .now_ms = clock_real_ms(),
		       .dry = dry,
		       .removed = on_removed,
		       .ctx = c},
	};
}

/* Removes the artifacts of a session whose IDs are in from..to. */
static void cleanup_session(struct cleanup *c, const struct store *store, const char *session,
			    uint64_t from, uint64_t to)
{
	c->gc.store = store;
	long left = gc_remove_session_part(&c->gc, session, from, to);
	if (left < 0)
		gc_note_failure(&c->gc);
	else
		c->in_use += left;
}

/* Prints the lines and the sum on standard output. Returns the exit status. */
static int cleanup_end(struct cleanup *c, const struct verb_call *call)
{
	const struct gc_result *sum = &c->gc.result;
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {{sum->artifacts, "artifact"},
		     {sum->sessions, "session"},
		     {sum->leftovers, "leftover"}};
	const char *joint = c->gc.dry ? "would remove " : "removed ";
	if (c->listed > CLEANUP_LINES)
		buffer_printf(&c->out, "[... and %s more]\n",
			      HUMAN_COUNT(c->listed - CLEANUP_LINES));
	if (c->in_use)
		buffer_printf(&c->out, "%ld still in use by %s, left as %s (terse list)\n",
			      c->in_use, c->in_use == 1 ? "its run" : "their runs",
			      c->in_use == 1 ? "it is" : "they are");
	/* "removed 12 artifacts, 1 leftover; freed 3.2 MB" */
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].count == 0)
			continue;
		buffer_printf(&c->out, "%s%s %s%s", joint, HUMAN_COUNT(parts[i].count),
			      parts[i].what, parts[i].count == 1 ? "" : "s");
		joint = ", ";
	}
	if (sum->artifacts + sum->sessions + sum->leftovers == 0)
		buffer_append_string(&c->out, "nothing to remove\n");
	else
		buffer_printf(&c->out, "; %s %s\n", c->gc.dry ? "would free" : "freed",
			      HUMAN_SIZE(sum->bytes));
	int status = verb_print(call, &c->out);
	if (sum->failed)
		verb_error(call->verb->name, "%s could not be removed: %s",
			   HUMAN_COUNT(sum->failed), strerror(sum->error));
	return status || sum->failed;
}

// terse gc: cleans up the stores; with $TERSE_HOME only that one.

static int gc_verb(struct verb_call *c)
{
	bool dry = false;
	if (verb_parse(c, &dry) < 0)
		return EXIT_TERSE;
	struct store stores[STORE_MAX];
	struct cleanup cleanup;
	cleanup_begin(&cleanup, c->settings, dry);
	int status = 0, count = verb_open_stores(c, stores, &status);
	for (int i = 0; i < count; i++) {
		cleanup.gc.store = &stores[i];
		if (gc_run(&cleanup.gc) < 0) {
			gc_note_failure(&cleanup.gc);
			verb_error("gc", "%s: %m", stores[i].path);
		}
		cleanup.gc.result.leftovers += dry ? 0 : client_sweep(&stores[i]);
		store_close(&stores[i]);
	}
	return cleanup_end(&cleanup, c) | status;
}

static const struct verb_option gc_options[] = {
	{"--dry-run", 0, VERB_FLAG, 0, NULL, "only print what would be removed"},
	VERB_END_ROW,
};

const struct verb verb_gc = {
	.name = "gc",
	.purpose = "remove old artifacts and those of ended sessions",
	.forms = "",
	.text = "Removes artifacts over the limits of [gc], those of ended sessions, and\n"
		"leftovers of crashes. Running commands stay. A run does this now and then\n"
		"([gc] interval).\n",
	.options = gc_options,
	.settings = "gc",
	.lists_settings = true,
	.run = gc_verb,
};

// terse drop ID...: removes artifacts.

/* Removes an artifact, and the note that its run is to be pushed. `found` NULL: there is no
   artifact with this ID. Returns the exit status. */
static int drop_one(const char *id, const struct id_found *found, const struct store *stores,
		    int count)
{
	enum removal result = REMOVAL_ABSENT;
	uint64_t freed = 0;
	if (found) {
		int dir = store_open_session(found->store, found->session, false);
		result = dir < 0 ? REMOVAL_FAILED
				 : removal_of(found->store, found->session, dir, id, &freed);
		if (result == REMOVAL_DONE && short_sweep(dir, found->session) < 0)
			result = REMOVAL_FAILED;
		io_close(&dir);
	}
	if (result == REMOVAL_RUNNING || result == REMOVAL_FAILED)
		return verb_error("drop", "%s: %s", id,
				  result == REMOVAL_FAILED
					  ? strerror(errno)
					  : "still in use by its run, not removed");
	/* The note is removed after the artifact, so that nobody archives the artifact in
	   between. */
	bool waited = false;
	for (int i = 0; i < count; i++) {
		struct outbox outbox;
		if (outbox_open(&outbox, &stores[i], false) < 0)
			continue;
		waited |= outbox_drop(&outbox, id);
		outbox_close(&outbox);
	}
	bool done = result == REMOVAL_DONE;
	return printf("%s: %s%s%s\n", id, done ? "removed, freed " : "does not exist (any more)",
		      done ? HUMAN_SIZE(freed) : "", waited ? "; it will not be pushed" : "") < 0 ||
	       fflush(stdout) == EOF;
}

/* Finds all artifacts before it removes the first, since a removal changes the meaning of
   "last-1". */
static int drop_run(struct verb_call *c)
{
	struct drop_target {
		struct id_found found;
		int error; /* 0: found */
	};
	char directory[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	int status = 0;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	size_t names = (size_t)c->operand_count;
	struct drop_target *targets = calloc(names, sizeof(*targets));
	if (!targets)
		return verb_error("drop", "%m");
	int count = verb_open_stores(c, stores, &status);
	verb_session_name(c->settings, c->session, directory);
	for (size_t i = 0; i < names; i++) {
		if (id_find(stores, count, directory, c->operands[i], &targets[i].found) < 0)
			targets[i].error = errno;
	}
	for (size_t i = 0; i < names; i++) {
		const struct drop_target *t = &targets[i];
		const char *name = c->operands[i];
		if (!t->error) {
			status |= drop_one(t->found.id, &t->found, stores, count);
		} else if (t->error == ENOENT && id_is_valid(name)) {
			status |= drop_one(name, NULL, stores, count);
		} else {
			verb_not_found(c, name, t->error);
			status = 1;
		}
	}
	free(targets);
	store_close_all(stores, count);
	return status;
}

static const struct verb_option drop_options[] = {
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_drop = {
	.name = "drop",
	.purpose = "remove artifacts",
	.forms = "ID...",
	.text = "Removes artifacts. Running commands stay.\n",
	.options = drop_options,
	.least = 1,
	.more = -1,
	.run = drop_run,
};

// terse rewind ID|--to TIME: removes the artifact of this run, and those of all later runs of the
// session.

struct rewind_options {
	struct verb_when to;
	bool dry;
};

static int rewind_run(struct verb_call *c)
{
	struct rewind_options o = {.dry = false};
	if (verb_parse(c, &o) < 0)
		return EXIT_TERSE;
	const char *name = c->operands[0];
	if ((name != NULL) == (o.to.text != NULL))
		return verb_tell_usage(c);
	/* The ID of the first run to be removed, and its start in the journal. */
	char session[STORE_SESSION_LEN + 1];
	uint64_t from = o.to.text ? id_first_at(o.to.ms) : 0;
	int64_t started_ms = o.to.ms;
	verb_session_name(c->settings, c->session, session);
	struct store stores[STORE_MAX];
	struct id_found found;
	int status = 0, count = verb_open_stores(c, stores, &status);
	if (name && id_find(stores, count, session, name, &found) == 0) {
		memcpy(session, found.session, sizeof(session));
		from = id_pack(found.id);
		struct meta m;
		started_ms = meta_read_found(&found, &m) == 0 ? m.started_ms : id_time_ms(from);
		meta_release(&m);
	} else if (name && errno == ENOENT && id_is_valid(name)) {
		/* The artifact is gone already: removes what it has left. */
		from = id_pack(name);
		started_ms = id_time_ms(from);
	} else if (name) {
		verb_not_found(c, name, errno);
		store_close_all(stores, count);
		return 1;
	}
	struct cleanup cleanup;
	cleanup_begin(&cleanup, c->settings, o.dry);
	for (int i = 0; i < count; i++) {
		int64_t now_ms = cleanup.gc.now_ms;
		/* Runs that start from now on are not removed. */
		cleanup_session(&cleanup, &stores[i], session, from, id_first_at(now_ms + 1) - 1);
		int dir = o.dry ? -1 : store_open_session(&stores[i], session, false);
		if (dir >= 0)
			journal_clean(dir, started_ms, now_ms + 1);
		io_close(&dir);
	}
	store_close_all(stores, count);
	return cleanup_end(&cleanup, c) | status;
}

static const struct verb_option rewind_options[] = {
	{"--to", 0, VERB_WHEN, offsetof(struct rewind_options, to), "WHEN",
	 "runs since then: 30m (ago), 14:05, \"2026-11-20 14:05\", @SECONDS"},
	{"--dry-run", 0, VERB_FLAG, offsetof(struct rewind_options, dry), NULL,
	 "only print what would be removed"},
	VERB_LAST_ROW,
	VERB_END_ROW,
};

const struct verb verb_rewind = {
	.name = "rewind",
	.purpose = "remove a run and all later ones of its session",
	.forms = "ID\n--to WHEN",
	.text = "Removes the artifact of this run and those of all later runs of its session, and\n"
		"takes these runs out of its history. Running commands stay.\n",
	.options = rewind_options,
	.more = 1,
	.run = rewind_run,
};

// terse session list|end.

struct session_call {
	struct verb_call *call;
	const char *verb; /* "session list" */
	const char *name; /* as given, or NULL */
	bool now;         /* --now */
	uint64_t limit;   /* 0: not given */
	struct buffer out;
	char own[STORE_SESSION_LEN + 1], session[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	int count;
};

/* --- list ------------------------------------------------------------ */

/* The default of --limit. */
#define ROWS 30

/* Describes a session of a store. Returns the exit status. */
static int session_describe(struct session_call *c, const struct journal_session *session)
{
	const struct store *store = session->store;
	const int64_t now = clock_real_ms();
	const bool own = strcmp(session->name, c->own) == 0;
	struct buffer *out = &c->out;
	struct inventory v;
	char state[48], age[HUMAN_LEN];
	if (inventory_read(&v, store, session->name) < 0)
		return verb_error(c->verb, "%s: %m", store->path);
	const struct inventory_session *s = v.sessions;
	if (v.session_count == 0)
		goto out;
	if (s->running)
		snprintf(state, sizeof(state), "%" PRIu64 " running", s->running);
	else if (s->ended_ms && !s->in_use)
		snprintf(state, sizeof(state), "ended %s ago", human_age(age, now - s->ended_ms));
	else
		snprintf(state, sizeof(state), "%s",
			 s->in_use       ? "running"
			 : s->agent_gone ? "agent gone"
					 : "open");
	human_age(age, now - s->active_ms);
	if (out->len == 0)
		buffer_printf(out, "  %-36s  %-15s  %9s  %8s  %8s\n", "SESSION", "STATE",
			      "ARTIFACTS", "SIZE", "LAST RUN");
	buffer_printf(out, "%c %-36s  %-15s  %9s  %8s  %8s\n", own ? '*' : ' ', s->name, state,
		      HUMAN_COUNT(s->count), HUMAN_SIZE(s->bytes), age);
out:
	inventory_release(&v);
	return 0;
}

static int session_list(struct session_call *c)
{
	struct journal_session *sessions;
	struct buffer notice = BUFFER_INIT;
	enum sink sink = reader_of_text(c->call);
	size_t found;
	int status = 0;
	if (journal_sessions(c->stores, c->count, NULL, &sessions, &found) < 0)
		return verb_error(c->verb, "%m");
	if (!c->limit)
		c->limit = sink == SINK_PROGRAM ? UINT64_MAX : ROWS;
	for (size_t i = 0; i < found && i < c->limit; i++)
		status |= session_describe(c, &sessions[i]);
	free(sessions);
	if (found > c->limit)
		buffer_printf(&notice,
			      "[newest %" PRIu64
			      " of %s shown; more: terse session --limit %" PRIu64 "]\n",
			      c->limit, HUMAN_COUNT(found), c->limit * 10);
	if (c->out.len == 0 && isatty(STDERR_FILENO))
		verb_error(c->verb, "there are no sessions yet");
	status |= verb_print(c->call, &c->out) || reader_notice(sink, &notice) < 0;
	buffer_release(&notice);
	return status;
}

/* --- end ------------------------------------------------------------------- */

static int session_end(struct session_call *c)
{
	struct cleanup cleanup;
	const struct gc_result *sum = &cleanup.gc.result;
	int64_t keep = c->call->settings->keep;
	bool now = c->now || keep == 0, found = false;
	cleanup_begin(&cleanup, c->call->settings, false);
	for (int i = 0; i < c->count; i++) {
		/* A full disk may have no room for the note that a session has ended. A session
		   that is removed at once does not need that note. */
		if (gc_end_session(&c->stores[i], c->session) < 0 && (!now || errno == ENOENT)) {
			if (errno != ENOENT)
				gc_note_failure(&cleanup.gc);
			continue;
		}
		found = true;
		if (!now)
			continue;
		cleanup_session(&cleanup, &c->stores[i], c->session, 0, UINT64_MAX);
		gc_remove_session(&c->stores[i], c->session);
	}
	struct buffer *out = &cleanup.out;
	if (!found && sum->failed)
		return verb_error(c->verb, "%s/" JOURNAL_FILE ": %s", c->session,
				  strerror(sum->error));
	if (!found)
		buffer_printf(out, "session %s does not exist (any more)\n", c->session);
	else if (now)
		buffer_printf(out, "session %s ended\n", c->session);
	else
		buffer_printf(out,
			      "session %s ended; its artifacts are kept for %s (terse session end "
			      "%s --now removes them)\n",
			      c->session, human_age((char[HUMAN_LEN]){0}, keep), c->session);
	if ((found && now) || sum->failed)
		return cleanup_end(&cleanup, c->call);
	return verb_print(c->call, out);
}

static int session_run(struct verb_call *context)
{
	struct session_call c = {.call = context};
	if (verb_parse(context, &c) < 0)
		return EXIT_TERSE;
	const char *action = context->operand_count ? context->operands[0] : "list";
	c.name = context->operand_count ? context->operands[1] : NULL;
	const bool ends = strcmp(action, "end") == 0;
	c.verb = ends ? "session end" : "session list";
	if (!ends && strcmp(action, "list") != 0)
		return verb_fail(context, ENVELOPE_USAGE,
				 "%s: must be list or end (see terse help session)", action);
	const char *wrong = !ends && c.now    ? "--now"
			    : ends && c.limit ? "--limit"
			    : !ends           ? c.name
					      : NULL;
	if (wrong) {
		verb_error(c.verb, "%s: not valid here (see terse help session)", wrong);
		return EXIT_TERSE;
	}
	verb_session_name(context->settings, NULL, c.own);
	verb_session_name(context->settings, c.name, c.session);
	int status = 0;
	c.count = verb_open_stores(context, c.stores, &status);
	status |= ends ? session_end(&c) : session_list(&c);
	store_close_all(c.stores, c.count);
	return status;
}

static const struct verb_option session_options[] = {
	{"--now", 0, VERB_FLAG, offsetof(struct session_call, now), NULL,
	 "end: remove its artifacts at once"},
	{"--limit", 0, VERB_COUNT, offsetof(struct session_call, limit), "N",
	 "list: at most N (30)"},
	VERB_END_ROW,
};

const struct verb verb_session = {
	.name = "session",
	.purpose = "list and end sessions",
	.forms = "[list]\nend [NAME]",
	.text = "Lists the sessions, those used last first, or ends one. NAME\n"
		"defaults to the caller's session; the first run in a session makes it\n"
		"(export TERSE_SESSION=NAME). Artifacts of an ended session are removed after\n"
		"[session] keep.\n",
	.options = session_options,
	.more = 2,
	.run = session_run,
};
