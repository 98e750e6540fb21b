// terse session list|show|end|new.

#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "supervisor/command/cleanup.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct session_call {
	struct verb_call *call;
	struct settings *settings;
	const char *verb; /* "session list" */
	const char *name; /* as given, or NULL */
	bool now;         /* --now */
	char own[STORE_SESSION_LEN + 1], session[STORE_SESSION_LEN + 1];
	struct store stores[STORE_MAX];
	int count;
};

static void session_describe_state(const struct inventory_session *s, int64_t now_ms, char out[48])
{
	char age[HUMAN_LEN];
	if (s->running)
		snprintf(out, 48, "%" PRIu64 " running", s->running);
	else if (s->in_use)
		snprintf(out, 48, "running");
	else if (s->ended_ms)
		snprintf(out, 48, "ended %s ago", human_age(age, now_ms - s->ended_ms));
	else
		snprintf(out, 48, "%s", s->agent_gone ? "agent gone" : "open");
}

static int session_print(const struct session_call *c, struct buffer *out)
{
	return verb_print(c->call, out);
}

/* --- list ------------------------------------------------------------------ */

static void session_add_rows(const struct session_call *c, const struct inventory *v,
			     struct buffer *out)
{
	int64_t now = clock_real_ms();
	for (size_t i = 0; i < v->session_count; i++) {
		const struct inventory_session *s = &v->sessions[i];
		char state[48], count[HUMAN_LEN], size[HUMAN_LEN], age[HUMAN_LEN];
		session_describe_state(s, now, state);
		if (out->len == 0)
			buffer_printf(out, "  %-36s  %-15s  %9s  %8s  %8s\n", "SESSION", "STATE",
				      "ARTIFACTS", "SIZE", "LAST RUN");
		buffer_printf(out, "%c %-36s  %-15s  %9s  %8s  %8s\n",
			      strcmp(s->name, c->own) == 0 ? '*' : ' ', s->name, state,
			      human_count(count, s->count), human_size(size, s->bytes),
			      human_age(age, now - s->active_ms));
	}
}

static int session_list(struct session_call *c)
{
	struct buffer out = BUFFER_INIT;
	int status = 0;
	for (int i = 0; i < c->count; i++) {
		struct inventory v;
		if (inventory_read(&v, &c->stores[i], NULL) < 0) {
			verb_error(c->verb, "%s: %m", c->stores[i].path);
			status = 1;
			continue;
		}
		session_add_rows(c, &v, &out);
		inventory_release(&v);
	}
	if (out.len == 0 && isatty(STDERR_FILENO))
		verb_error(c->verb, "there are no sessions yet");
	return session_print(c, &out) || status;
}

/* --- show ------------------------------------------------------------------ */

static int session_show(struct session_call *c)
{
	struct buffer out = BUFFER_INIT;
	int64_t now = clock_real_ms();
	for (int i = 0; i < c->count; i++) {
		struct inventory v;
		if (inventory_read(&v, &c->stores[i], c->session) < 0) {
			verb_error(c->verb, "%s: %m", c->stores[i].path);
			continue;
		}
		if (v.session_count == 1) {
			const struct inventory_session *s = &v.sessions[0];
			char state[48], count[HUMAN_LEN], size[HUMAN_LEN], age[HUMAN_LEN];
			session_describe_state(s, now, state);
			buffer_printf(&out,
				      "session:    %s%s\ndirectory:  %s/sessions/%s\n"
				      "state:      %s\nartifacts:  %s, %s\nlast run:   %s ago\n",
				      s->name, strcmp(s->name, c->own) == 0 ? " (this one)" : "",
				      c->stores[i].path, s->name, state,
				      human_count(count, s->count), human_size(size, s->bytes),
				      human_age(age, now - s->active_ms));
		}
		inventory_release(&v);
	}
	if (out.len == 0) {
		verb_error(c->verb, "%s: no such session (terse session list)", c->session);
		return 1;
	}
	return session_print(c, &out);
}

/* --- end ------------------------------------------------------------------- */

/* Prints what was removed with the session, or when it will be. */
static int session_print_end(struct session_call *c, struct cleanup *cleanup,
			     const struct gc_result *sum, long in_use, bool now)
{
	char size[HUMAN_LEN], count[HUMAN_LEN], age[HUMAN_LEN];
	struct buffer out = BUFFER_INIT;
	int status = sum->failed ? 1 : 0;
	progress_end(&cleanup->progress);
	buffer_printf(&out, "session %s ended", c->session);
	if (now)
		buffer_printf(&out, "; removed %s artifact%s, freed %s",
			      human_count(count, sum->artifacts), sum->artifacts == 1 ? "" : "s",
			      human_size(size, sum->bytes));
	else
		buffer_printf(&out,
			      "; its artifacts are kept for %s (terse session end %s --now "
			      "removes them)",
			      human_age(age, c->settings->keep), c->session);
	if (in_use)
		buffer_printf(&out, "; %ld still in use by %s, left as %s", in_use,
			      in_use == 1 ? "its run" : "their runs",
			      in_use == 1 ? "it is" : "they are");
	buffer_append(&out, "\n", 1);
	if (sum->failed)
		verb_error(c->verb, "%s could not be removed: %s", human_count(count, sum->failed),
			   strerror(sum->error));
	buffer_release(&cleanup->out);
	return session_print(c, &out) || status;
}

static int session_end(struct session_call *c)
{
	struct cleanup cleanup = {.dry = false};
	struct gc_result sum = {0};
	bool now = c->now || c->settings->keep == 0, found = false;
	long in_use = 0;
	for (int i = 0; i < c->count; i++) {
		/* What is removed now needs no note, for which a full disk has no room. */
		if (gc_end_session(&c->stores[i], c->session) < 0 && (!now || errno == ENOENT)) {
			if (errno != ENOENT && sum.failed++ == 0)
				sum.error = errno;
			continue;
		}
		found = true;
		if (!now)
			continue;
		struct gc gc = cleanup_begin(&cleanup, c->settings, &c->stores[i], false);
		long left = gc_remove_session_part(&gc, c->session, 0, UINT64_MAX);
		in_use += left > 0 ? left : 0;
		if (left < 0 && gc.result.failed++ == 0)
			gc.result.error = errno;
		cleanup_add(&sum, &gc.result);
		gc_remove_session(&c->stores[i], c->session);
	}
	if (!found && !sum.failed) {
		/* It was removed before, or never existed. */
		struct buffer out = BUFFER_INIT;
		buffer_printf(&out, "session %s does not exist (any more)\n", c->session);
		return session_print(c, &out);
	}
	return session_print_end(c, &cleanup, &sum, in_use, now);
}

/* --- new ------------------------------------------------------------------- */

/* Makes a unique name that sorts by time. */
static int session_make_name(char out[STORE_SESSION_LEN + 1])
{
	char id[ID_LEN + 1];
	uint16_t draw;
	if (getrandom(&draw, sizeof(draw), 0) != (ssize_t)sizeof(draw))
		return -1;
	uint64_t first = id_first_at(clock_real_ms());
	id_unpack(first | (draw & (id_last_at(0) - id_first_at(0))), id);
	snprintf(out, STORE_SESSION_LEN + 1, "session-%s", strchr(id, '-') + 1);
	return 0;
}

static int session_create(struct session_call *c)
{
	struct buffer out = BUFFER_INIT;
	struct store store;
	if (!c->name && session_make_name(c->session) < 0) {
		verb_error(c->verb, "%m");
		return 1;
	}
	if (store_open_write(&store) < 0) {
		verb_error(c->verb, "%m");
		return 1;
	}
	int fd = store_open_session(&store, c->session, false);
	bool there = fd >= 0;
	if (!there)
		fd = store_open_session(&store, c->session, true);
	if (there)
		verb_error(c->verb, "%s: exists already", c->session);
	else if (fd < 0)
		verb_error(c->verb, "%s: %m", c->session);
	store_close(&store);
	if (there || fd < 0) {
		io_close(&fd);
		return 1;
	}
	io_close(&fd);
	buffer_printf(&out, "%s\n", c->session);
	return session_print(c, &out);
}

static const struct {
	const char *name, *title;
	int (*run)(struct session_call *c);
} actions[] = {
	{"list", "session list", session_list},
	{"show", "session show", session_show},
	{"end", "session end", session_end},
	{"new", "session new", session_create},
};

static int session_run(struct verb_call *context)
{
	struct session_call c = {.call = context, .settings = context->settings};
	if (verb_parse(context, &c) < 0)
		return EXIT_TERSE;
	const char *action = context->operand_count ? context->operands[0] : "list";
	c.name = context->operand_count ? context->operands[1] : NULL;
	size_t i = 0, count = sizeof(actions) / sizeof(*actions);
	while (i < count && strcmp(actions[i].name, action) != 0)
		i++;
	if (i == count) {
		verb_error("session", "%s: must be list, show, end or new (see terse help session)",
			   action);
		return EXIT_TERSE;
	}
	if ((actions[i].run == session_list && c.name) ||
	    (c.now && actions[i].run != session_end)) {
		verb_error(actions[i].title, "%s: not valid here (see terse help session)",
			   c.now ? "--now" : c.name);
		return EXIT_TERSE;
	}
	c.verb = actions[i].title;
	verb_session_name(c.settings, NULL, c.own);
	verb_session_name(c.settings, c.name, c.session);
	int status = 0;
	c.count = verb_open_stores(context, c.stores, &status);
	status |= actions[i].run(&c);
	store_close_all(c.stores, c.count);
	return status;
}

static const struct verb_option session_options[] = {
	{"--now", 0, VERB_FLAG, offsetof(struct session_call, now), NULL,
	 "end: remove its artifacts at once"},
	VERB_END_ROW,
};

const struct verb verb_session = {
	.name = "session",
	.purpose = "list, show, end and create sessions",
	.forms = "[list]\nshow [NAME]\nend [NAME]\nnew [NAME]",
	.text = "Lists the sessions, describes one, ends one, or creates one and prints its name\n"
		"(export TERSE_SESSION=$(terse session new)). NAME defaults to the caller's\n"
		"session. Artifacts of an ended session are removed after [session] keep.\n",
	.options = session_options,
	.most = 2,
	.run = session_run,
};
