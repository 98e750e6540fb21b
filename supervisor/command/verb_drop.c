// terse gc: cleans the stores up; with $TERSE_HOME set this one alone.

#include "config/option.h"
#include "config/value.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/artifact/gc.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/command/cleanup.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/protocol.h"
#include "supervisor/remote/outbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int gc_verb(struct verb_call *c)
{
	bool dry = false;
	if (verb_parse(c, &dry) < 0)
		return EXIT_TERSE;
	struct store stores[STORE_MAX];
	struct cleanup cleanup = {.dry = dry};
	struct gc_result sum = {0};
	int status = 0, count = verb_open_stores(c, stores, &status);
	for (int i = 0; i < count; i++) {
		struct gc gc = cleanup_begin(&cleanup, c->settings, &stores[i], dry);
		if (gc_run(&gc) < 0) {
			gc.result.error = errno;
			gc.result.failed++;
			progress_end(&cleanup.progress);
			verb_error("gc", "%s: %m", stores[i].path);
		}
		gc.result.leftovers += dry ? 0 : client_sweep(&stores[i]);
		cleanup_add(&sum, &gc.result);
		store_close(&stores[i]);
	}
	return cleanup_end(&cleanup, c, &sum) | status;
}

static const struct verb_option gc_options[] = {
	{"--dry-run", 0, VERB_FLAG, 0, NULL, "only print what would be removed"},
	VERB_END_ROW,
};

const struct verb verb_gc = {
	.name = "gc",
	.purpose = "remove old artifacts and those of ended sessions",
	.forms = "",
	.text = "Removes artifacts over the limits of [gc], those of ended sessions, and "
		"leftovers\n"
		"of crashes. Running commands stay. A run does this now and then ([gc] "
		"interval).\n",
	.options = gc_options,
	.settings = "gc",
	.lists_settings = true,
	.run = gc_verb,
};

// terse drop ID...: removes artifacts.

static int drop_print(const char *id, const char *what, const char *size, bool waited)
{
	if (printf("%s: %s%s%s\n", id, what, size, waited ? "; it will not be pushed" : "") < 0 ||
	    fflush(stdout) == EOF)
		return 1;
	return 0;
}

/* The stores, where a run may wait to be pushed, too. */
struct drop {
	const struct verb_call *call;
	struct store stores[STORE_MAX];
	int count;
};

/* Takes a run out of what waits. Returns whether it did. */
static bool drop_from_outboxes(const struct drop *d, const char *id)
{
	bool waited = false;
	for (int i = 0; i < d->count; i++) {
		struct outbox outbox;
		if (outbox_open(&outbox, &d->stores[i], false) < 0)
			continue;
		waited |= outbox_drop(&outbox, id);
		outbox_close(&outbox);
	}
	return waited;
}

static int drop_found(const struct drop *d, const struct id_found *found)
{
	char size[HUMAN_LEN];
	uint64_t freed = 0;
	int dir = store_open_session(found->store, found->session, false);
	enum removal result =
		dir < 0 ? REMOVAL_FAILED
			: removal_of(found->store, found->session, dir, found->id, &freed);
	/* Behind it, so that nobody packs it now. */
	bool gone = result == REMOVAL_DONE || result == REMOVAL_ABSENT;
	bool waited = gone && drop_from_outboxes(d, found->id);
	int status = 1;
	switch (result) {
	case REMOVAL_DONE:
		status = drop_print(found->id, "removed, freed ", human_size(size, freed), waited);
		break;
	case REMOVAL_ABSENT:
		status = drop_print(found->id, "does not exist (any more)", "", waited);
		break;
	case REMOVAL_RUNNING:
		verb_error("drop", "%s: still in use by its run, not removed", found->id);
		break;
	case REMOVAL_FAILED: verb_error("drop", "%s: %m", found->id); break;
	}
	io_close(&dir);
	return status;
}

/* A name on the command line and the artifact it means. */
struct drop_target {
	const char *name;
	struct id_found found;
	int error; /* 0: found */
};

static int drop_one(const struct drop *d, const struct drop_target *t)
{
	if (!t->error)
		return drop_found(d, &t->found);
	if (t->error == ENOENT && id_is_valid(t->name))
		return drop_print(t->name, "does not exist (any more)", "",
				  drop_from_outboxes(d, t->name));
	verb_not_found(d->call, t->name, t->error, &t->found);
	return 1;
}

/* Finds all artifacts before it removes the first, which changes the meaning of "last-1". */
static int drop_run(struct verb_call *c)
{
	char directory[STORE_SESSION_LEN + 1];
	struct drop d = {.call = c};
	int status = 0;
	if (verb_parse(c, NULL) < 0)
		return EXIT_TERSE;
	size_t count = (size_t)c->operand_count;
	struct drop_target *targets = calloc(count, sizeof(*targets));
	if (!targets) {
		verb_error("drop", "%m");
		return 1;
	}
	d.count = verb_open_stores(c, d.stores, &status);
	verb_session_name(c->settings, c->session, directory);
	for (size_t i = 0; i < count; i++) {
		struct drop_target *t = &targets[i];
		t->name = c->operands[i];
		if (id_find(d.stores, d.count, directory, t->name, &t->found) < 0)
			t->error = errno;
	}
	for (size_t i = 0; i < count; i++)
		status |= drop_one(&d, &targets[i]);
	free(targets);
	store_close_all(d.stores, d.count);
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
	.most = -1,
	.run = drop_run,
};

// terse rewind ID|--to TIME: removes that run's artifact and those of all later runs of the
// session.

/* The first run to remove. */
struct rewind_target {
	char session[STORE_SESSION_LEN + 1];
	uint64_t from;      /* the first ID */
	int64_t started_ms; /* start of the first run, as in the history */
};

/* The start of a run as the history has it. */
static int64_t rewind_start_of(const struct id_found *found)
{
	struct meta m;
	bool known = verb_read_meta(found, &m) == 0;
	int64_t ms = known ? m.started_ms : id_time_ms(id_pack(found->id));
	meta_release(&m);
	return ms;
}

static int rewind_aim(struct rewind_target *t, struct store *stores, int count, const char *name,
		      struct id_found *found)
{
	if (id_find(stores, count, t->session, name, found) == 0) {
		memcpy(t->session, found->session, sizeof(t->session));
		t->from = id_pack(found->id);
		t->started_ms = rewind_start_of(found);
		return 0;
	}
	/* It was removed: rewinding again removes what is left. */
	if (errno != ENOENT || !id_is_valid(name))
		return -1;
	t->from = id_pack(name);
	t->started_ms = id_time_ms(t->from);
	return 0;
}

static int rewind_all(const struct verb_call *c, const struct rewind_target *t,
		      struct store *stores, int count, bool dry)
{
	struct cleanup cleanup = {.dry = dry};
	struct gc_result sum = {0};
	long in_use = 0;
	for (int i = 0; i < count; i++) {
		struct gc gc = cleanup_begin(&cleanup, c->settings, &stores[i], dry);
		/* Spare the runs that start from now on. */
		long left = gc_remove_session_part(&gc, t->session, t->from, id_last_at(gc.now_ms));
		if (left < 0) {
			gc.result.error = errno;
			gc.result.failed++;
		} else {
			in_use += left;
		}
		int dir = dry ? -1 : store_open_session(&stores[i], t->session, false);
		if (dir >= 0)
			journal_clean(dir, t->started_ms, gc.now_ms + 1);
		io_close(&dir);
		cleanup_add(&sum, &gc.result);
	}
	if (in_use)
		buffer_printf(&cleanup.out, "%ld still in use by %s, left as %s (terse list)\n",
			      in_use, in_use == 1 ? "its run" : "their runs",
			      in_use == 1 ? "it is" : "they are");
	return cleanup_end(&cleanup, c, &sum);
}

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
	struct rewind_target t = {.started_ms = o.to.ms};
	verb_session_name(c->settings, c->session, t.session);
	if (o.to.text)
		t.from = id_first_at(t.started_ms);
	struct store stores[STORE_MAX];
	struct id_found found;
	int status = 0, count = verb_open_stores(c, stores, &status);
	if (name && rewind_aim(&t, stores, count, name, &found) < 0) {
		verb_not_found(c, name, errno, &found);
		status = 1;
	} else {
		status |= rewind_all(c, &t, stores, count, o.dry);
	}
	store_close_all(stores, count);
	return status;
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
	.most = 1,
	.run = rewind_run,
};
