// See candidates.h.

#include "supervisor/command/candidates.h"

#include "config/option.h"
#include "config/profile.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/command/help.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/protocol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Artifacts that are offered: the newest ones. */
enum { IDS_MOST = 30 };

/* Columns of a description. */
enum { TEXT_WIDTH = 70 };

/* Whether the line that begins at `start` was there before: two stores may have the same session,
   and two lines of a help the same option. */
static bool candidates_has(const struct candidates *c, size_t start)
{
	size_t len = c->out.len - start;
	const char *at = c->out.data, *end = at + start;
	while (at && at < end) {
		if ((size_t)(end - at) >= len && memcmp(at, end, len) == 0)
			return true;
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
	}
	return false;
}

void candidates_add(struct candidates *c, const char *word, size_t len, const char *text)
{
	size_t prefix = strlen(c->prefix);
	if (len < prefix || memcmp(word, c->prefix, prefix) != 0)
		return;
	size_t start = c->out.len;
	buffer_printf(&c->out, "%s%.*s\t", c->before, (int)len, word);
	if (candidates_has(c, start)) {
		buffer_truncate(&c->out, start);
		return;
	}
	if (text)
		row_add_cell(&c->out, text, strcspn(text, "\n"), TEXT_WIDTH);
	buffer_append_string(&c->out, "\n");
}

static void candidates_add_string(struct candidates *c, const char *word, const char *text)
{
	candidates_add(c, word, strlen(word), text);
}

/* Words with a | between them. */
static void candidates_add_words(struct candidates *c, const char *words)
{
	for (;;) {
		size_t len = strcspn(words, "|");
		candidates_add(c, words, len, NULL);
		if (!words[len])
			return;
		words += len + 1;
	}
}

/* --- runs and sessions ------------------------------------------------------------------- */

/* An ID with its command, if that is known. */
static void candidates_add_id(struct candidates *c, const struct id_found *found)
{
	struct meta m = {0};
	struct buffer command = BUFFER_INIT;
	if (verb_read_meta(found, &m) == 0)
		row_add_command(&command, &m);
	candidates_add_string(c, found->id, buffer_string(&command));
	buffer_release(&command);
	meta_release(&m);
}

static void candidates_add_artifacts(struct candidates *c)
{
	struct store stores[STORE_MAX];
	char session[STORE_SESSION_LEN + 1];
	struct id_found found;
	int count = store_open_all(stores);
	verb_session(c->settings, c->session, session);
	struct journal *j = journal_open(stores, count, session, JOURNAL_MADE);
	for (int i = 0; j && i < IDS_MOST && journal_next_made(j, &found) > 0; i++)
		candidates_add_id(c, &found);
	journal_close(j);
	store_close_all(stores, count);
	candidates_add_string(c, "last", "the last run of this session");
}

struct live_ids {
	struct candidates *c;
	struct store *stores;
	int count, left;
};

static int candidates_on_live(void *ctx, const char *id)
{
	struct live_ids *l = ctx;
	struct client v;
	struct id_found found;
	/* A killed supervisor leaves its socket. */
	if (client_open(&v, l->stores, l->count, id) < 0)
		return 0;
	client_close(&v);
	if (id_find(l->stores, l->count, "default", id, &found) == 0)
		candidates_add_id(l->c, &found);
	else
		candidates_add_string(l->c, id, NULL);
	return --l->left == 0;
}

static void candidates_add_live(struct candidates *c)
{
	struct store stores[STORE_MAX];
	struct live_ids l = {.c = c, .stores = stores, .left = IDS_MOST};
	l.count = store_open_all(stores);
	client_each(stores, l.count, candidates_on_live, &l);
	store_close_all(stores, l.count);
}

static void candidates_add_sessions(struct candidates *c)
{
	struct store stores[STORE_MAX];
	int count = store_open_all(stores);
	for (int i = 0; i < count; i++) {
		struct store_name *names = NULL;
		size_t found = 0;
		if (store_list_sessions(&stores[i], &names, &found) < 0)
			continue;
		for (size_t k = 0; k < found; k++)
			candidates_add_string(c, names[k].text, NULL);
		free(names);
	}
	store_close_all(stores, count);
}

/* --- what the tables know ------------------------------------------------------------------ */

void candidates_add_verbs(struct candidates *c)
{
	for (const struct help_topic *t = help_topics; t->verb; t++)
		candidates_add_string(c, t->verb, t->summary);
}

static void candidates_add_agents(struct candidates *c)
{
	for (const struct wiring *w = wirings; w->agent; w++)
		candidates_add_string(c, w->agent, NULL);
}

static void candidates_add_settings(struct candidates *c)
{
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		char name[80];
		snprintf(name, sizeof(name), "%s.%s", o->section, o->key);
		candidates_add_string(c, name, o->help);
	}
}

static void candidates_add_profiles(struct candidates *c)
{
	const char *name;
	for (size_t i = 0; (name = layer_name(profiles_of(c->settings), i)); i++)
		candidates_add_string(c, name, NULL);
	candidates_add_string(c, PROFILE_DEFAULT, NULL);
}

static void candidates_add_keys(struct candidates *c)
{
	candidates_add_words(c, "enter|tab|escape|space|backspace|up|down|left|right|home|end|"
				"insert|delete|pageup|pagedown|shift-tab|f1|f2|f3|f4|f5|f6|f7|f8|"
				"f9|f10|f11|f12|ctrl-c|ctrl-d|ctrl-z");
}

static void candidates_add_signals(struct candidates *c)
{
	candidates_add_words(c, "HUP|INT|QUIT|KILL|USR1|USR2|TERM|CONT|STOP|TSTP");
}

static void candidates_add_states(struct candidates *c)
{
	candidates_add_words(c, "running|done|interrupted");
}

static void candidates_add_files(struct candidates *c)
{
	c->part = SHELL_FILES;
}

static void candidates_add_folders(struct candidates *c)
{
	c->part = SHELL_FOLDERS;
}

static void candidates_add_command(struct candidates *c)
{
	c->part = SHELL_COMMAND;
}

/* What the placeholders of `terse help` stand for; the first row that fits counts. */
static const struct {
	const char *verb; /* NULL: any */
	const char *place;
	void (*add)(struct candidates *c);
} places[] = {
	{"await", "ID", candidates_add_live},       {"send", "ID", candidates_add_live},
	{"attach", "ID", candidates_add_live},      {"signal", "ID", candidates_add_live},
	{"snapshot", "ID", candidates_add_live},    {NULL, "ID", candidates_add_artifacts},
	{"probe", "AGENT", candidates_add_command}, {NULL, "AGENT", candidates_add_agents},
	{"send", "KEY", candidates_add_keys},       {NULL, "KEY", candidates_add_settings},
	{NULL, "NAME", candidates_add_sessions},    {NULL, "STATE", candidates_add_states},
	{NULL, "SIGNAL", candidates_add_signals},   {NULL, "VERB", candidates_add_verbs},
	{NULL, "FILE", candidates_add_files},       {NULL, "DIR", candidates_add_folders},
	{NULL, "COMMAND", candidates_add_command},
};

static void candidates_add_one(struct candidates *c, const char *place, size_t len)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (strlen(places[i].place) != len || memcmp(places[i].place, place, len) != 0 ||
		    (places[i].verb && strcmp(places[i].verb, c->verb) != 0))
			continue;
		places[i].add(c);
		return;
	}
}

void candidates_add_place(struct candidates *c, const char *place, size_t len)
{
	for (const char *end = place + len; place < end; place++) {
		const char *bar = memchr(place, '|', (size_t)(end - place));
		size_t one = (size_t)((bar ? bar : end) - place);
		if (one > 0 && islower((unsigned char)*place))
			candidates_add(c, place, one, NULL);
		else
			candidates_add_one(c, place, one);
		place += one;
	}
}

void candidates_add_values(struct candidates *c, const struct option *o)
{
	for (size_t i = 0; o->choices && o->choices[i]; i++)
		candidates_add_string(c, o->choices[i], NULL);
	if (o->type == OPTION_SIZE)
		candidates_add_words(c, "small|medium|large");
	else if (strcmp(o->flag, "--profile") == 0)
		candidates_add_profiles(c);
	else if (strcmp(o->flag, "--session") == 0)
		candidates_add_sessions(c);
	else if (strcmp(o->flag, "--shell") == 0)
		c->part = SHELL_COMMANDS;
}

void candidates_add_flags(struct candidates *c)
{
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (o->flag)
			candidates_add_string(c, o->flag, o->help);
		if (o->negated)
			candidates_add_string(c, o->negated, o->help);
	}
	for (size_t i = 0; i < option_shorthand_count; i++)
		candidates_add_string(c, option_shorthands[i].flag, option_shorthands[i].help);
}
