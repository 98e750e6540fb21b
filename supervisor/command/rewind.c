// terse rewind ID|--to TIME: removes that run's artifact and those of all later runs of the
// session.

#include "supervisor/artifact/meta.h"
#include "supervisor/base/clock.h"
#include "supervisor/base/io.h"
#include "supervisor/command/cleanup.h"
#include "supervisor/command/command.h"
#include "supervisor/command/moment.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* From where on. */
struct target {
	char session[STORE_SESSION_LEN + 1];
	uint64_t from;      /* the first ID */
	int64_t started_ms; /* of the first run in the history */
};

/* The moment a run started at, as the history tells it. */
static int64_t start_of(const struct id_found *found)
{
	struct meta m;
	int64_t ms = id_time_ms(id_pack(found->id));
	int dir = store_open_session(found->store, found->session, false);
	if (dir >= 0 && meta_read(dir, found->id, &m) == 0) {
		ms = m.started_ms;
		meta_release(&m);
	}
	io_close(&dir);
	return ms;
}

static int aim_at_run(struct target *t, struct store *stores, int count, const char *name,
		      struct id_found *found)
{
	if (id_find(stores, count, t->session, name, found) == 0) {
		memcpy(t->session, found->session, sizeof(t->session));
		t->from = id_pack(found->id);
		t->started_ms = start_of(found);
		return 0;
	}
	/* It is gone: rewinding once more goes on with what is left, if there is anything. */
	if (errno != ENOENT || !id_is_valid(name))
		return -1;
	t->from = id_pack(name);
	t->started_ms = id_time_ms(t->from);
	return 0;
}

static int rewind_all(struct command_context *c, const char *verb, const struct target *t,
		      struct store *stores, int count, bool dry)
{
	struct cleanup cleanup = {.dry = dry};
	struct gc_result sum = {0};
	long in_use = 0;
	for (int i = 0; i < count; i++) {
		struct gc gc = cleanup_begin(&cleanup, c->settings, &stores[i], dry);
		/* A run that starts from now on is not meant. */
		long left = gc_remove_session_part(&gc, t->session, t->from, id_last_at(gc.now_ms));
		if (left < 0) {
			gc.result.error = errno;
			gc.result.failed++;
		} else {
			in_use += left;
		}
		int dir = dry ? -1 : store_open_session(&stores[i], t->session, false);
		if (dir >= 0)
			meta_forget_history(dir, t->started_ms, gc.now_ms + 1);
		io_close(&dir);
		cleanup_add(&sum, &gc.result);
	}
	if (in_use)
		buffer_printf(&cleanup.out, "%ld still in use by %s, left as %s (terse list)\n",
			      in_use, in_use == 1 ? "its run" : "their runs",
			      in_use == 1 ? "it is" : "they are");
	return cleanup_end(&cleanup, verb, &sum);
}

int command_rewind(struct command_context *c, int argc, char **argv)
{
	const char *session = NULL, *to = NULL, *name = NULL;
	bool dry = false;
	const struct verb_option table[] = {
		{"--to", VERB_TEXT, &to},
		{"--session", VERB_TEXT, &session},
		{"--dry-run", VERB_FLAG, &dry},
		{NULL, VERB_FLAG, NULL},
	};
	int operands = verb_parse(table, argc, argv, &name, 1);
	if (operands < 0)
		return EXIT_TERSE;
	if ((operands == 1) == (to != NULL)) {
		verb_error(argv[0], "where to? terse rewind ID, or terse rewind --to TIME");
		return EXIT_TERSE;
	}
	struct target t = {.from = 0};
	verb_session(c->settings, session, t.session);
	if (to && moment_parse(to, clock_real_ms(), &t.started_ms) < 0) {
		verb_error(argv[0],
			   "--to: %s: must be 30m (ago), 14:05, \"2026-11-20 14:05\" or @SECONDS",
			   to);
		return EXIT_TERSE;
	}
	if (to)
		t.from = id_first_at(t.started_ms);
	struct store stores[STORE_MAX];
	struct id_found found;
	int status = 0, count = verb_open_stores(argv[0], stores, &status);
	if (name && aim_at_run(&t, stores, count, name, &found) < 0) {
		verb_not_found(argv[0], name, errno, &found);
		status = 1;
	} else {
		status |= rewind_all(c, argv[0], &t, stores, count, dry);
	}
	while (count > 0)
		store_close(&stores[--count]);
	return status;
}
