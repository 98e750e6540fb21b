// terse __complete WORD...: completes the last word of a command line; the words are those behind
// `terse`. For the scripts of config/completion.h.
//
// The first line of the answer says what the shell completes itself: none, files, folders, commands
// (their names), or "command N": the command that begins with the Nth of the words. The candidates
// follow, a line each: the word, a tab, its description.
//
// All that is known of a verb comes from its rows: its options, their values, and its operands by
// its forms. So a new verb is completed without a line here.

#include "config/option.h"
#include "config/profile.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/artifact/journal.h"
#include "supervisor/artifact/meta.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/process/protocol.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the shell completes itself, besides the candidates. */
enum shell_part {
	SHELL_NONE,
	SHELL_FILES,
	SHELL_FOLDERS,
	SHELL_COMMANDS, /* names of commands */
	SHELL_COMMAND,  /* a command with its arguments, from one of the words on */
};

struct candidates {
	const struct settings *settings;
	const struct verb *verb;
	const char *session; /* --session, or NULL */
	const char *before;  /* in front of each candidate: "--mode=", or "" */
	const char *prefix;  /* only candidates that begin so; `before` does not belong to it */
	enum shell_part part;
	struct buffer out; /* a line for each: the word, a tab, its description */
};

/* Artifacts that are offered: the newest ones. */
enum { IDS_MOST = 30 };

/* Columns of a description. */
enum { TEXT_WIDTH = 70 };

static void candidates_add(struct candidates *c, const char *word, size_t len, const char *text)
{
	size_t prefix = strlen(c->prefix);
	if (len < prefix || memcmp(word, c->prefix, prefix) != 0)
		return;
	size_t start = c->out.len;
	buffer_printf(&c->out, "%s%.*s\t", c->before, (int)len, word);
	/* It may have been there before: two stores may have the same session, and two lines of a
	   help the same option. */
	size_t added = c->out.len - start;
	const char *at = c->out.data, *end = at + start;
	while (at && at < end) {
		if ((size_t)(end - at) >= added && memcmp(at, end, added) == 0) {
			buffer_truncate(&c->out, start);
			return;
		}
		at = memchr(at, '\n', (size_t)(end - at));
		at = at ? at + 1 : end;
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

struct live_ids {
	struct candidates *c;
	struct store *stores;
	int count, left;
};

static int candidates_on_live(void *ctx, const char *id)
{
	struct live_ids *l = ctx;
	struct id_found found;
	/* A killed supervisor leaves its socket. */
	int run = client_open(l->stores, l->count, id);
	if (run < 0)
		return 0;
	io_close(&run);
	if (id_find(l->stores, l->count, "default", id, &found) == 0)
		candidates_add_id(l->c, &found);
	else
		candidates_add_string(l->c, id, NULL);
	return --l->left == 0;
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

static void candidates_add_verbs(struct candidates *c)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (verbs[i]->purpose)
			candidates_add_string(c, verbs[i]->name, verbs[i]->purpose);
	}
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

static void candidates_add_ids(struct candidates *c)
{
	struct store stores[STORE_MAX];
	char session[STORE_SESSION_LEN + 1];
	struct id_found found;
	int count = store_open_all(stores);
	if (c->verb->live) {
		struct live_ids l = {.c = c, .stores = stores, .count = count, .left = IDS_MOST};
		client_each(stores, count, candidates_on_live, &l);
	} else {
		verb_session_name(c->settings, c->session, session);
		struct journal *j = journal_open(stores, count, session, JOURNAL_MADE);
		for (int i = 0; j && i < IDS_MOST && journal_next_made(j, &found) > 0; i++)
			candidates_add_id(c, &found);
		journal_close(j);
		candidates_add_string(c, "last", "the last run of this session");
	}
	store_close_all(stores, count);
}

/* What the words in capitals stand for, in the forms of a verb and as values of its options. */
static const struct {
	const char *place;
	void (*add)(struct candidates *c);
	const char *words;    /* or these */
	enum shell_part part; /* or what the shell completes */
} places[] = {
	{"ID", candidates_add_ids, NULL, SHELL_NONE},
	{"NAME", candidates_add_sessions, NULL, SHELL_NONE},
	{"SESSION", candidates_add_sessions, NULL, SHELL_NONE},
	{"AGENT", candidates_add_agents, NULL, SHELL_NONE},
	{"SETTING", candidates_add_settings, NULL, SHELL_NONE},
	{"VERB", candidates_add_verbs, NULL, SHELL_NONE},
	{"KEY", NULL,
	 "enter|tab|escape|space|backspace|up|down|left|right|home|end|insert|delete|pageup|"
	 "pagedown|"
	 "shift-tab|f1|f2|f3|f4|f5|f6|f7|f8|f9|f10|f11|f12|ctrl-c|ctrl-d|ctrl-z",
	 SHELL_NONE},
	{"SIGNAL", NULL, "HUP|INT|QUIT|KILL|USR1|USR2|TERM|CONT|STOP|TSTP", SHELL_NONE},
	{"FILE", NULL, NULL, SHELL_FILES},
	{"DIR", NULL, NULL, SHELL_FOLDERS},
	{"COMMAND", NULL, NULL, SHELL_COMMAND},
};

/* Adds what a place of `len` bytes can be: "ID|FILE", "yes|no", "N|failed". */
static void candidates_add_place(struct candidates *c, const char *place, size_t len)
{
	for (const char *end = place + len; place < end; place++) {
		const char *bar = memchr(place, '|', (size_t)(end - place));
		size_t one = (size_t)((bar ? bar : end) - place);
		if (one > 0 && islower((unsigned char)*place))
			candidates_add(c, place, one, NULL);
		for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
			if (strlen(places[i].place) != one ||
			    memcmp(places[i].place, place, one) != 0)
				continue;
			if (places[i].add)
				places[i].add(c);
			if (places[i].words)
				candidates_add_words(c, places[i].words);
			if (places[i].part != SHELL_NONE)
				c->part = places[i].part;
		}
		place += one;
	}
}

/* --- the line so far ------------------------------------------------------------------------- */

struct line {
	struct candidates c;
	const struct verb *verb;
	char **words;
	int count, first; /* the last of the words is completed; where those of the verb begin */
	int operands[2];  /* the first ones; the rest does not count */
	int operand_count;
	bool only_operands; /* -- was given */
	bool asks_help;     /* --help or -h was */
};

/* Whether the option needs a value; adds its candidates if `add`. */
static bool line_value(struct line *l, const char *flag, size_t len, bool add)
{
	const char *implied = NULL;
	const struct verb_option *own = verb_option_named(l->verb, flag, len);
	const struct option *o =
		own || !l->verb->settings ? NULL : option_by_flag(flag, len, &implied);
	if (implied)
		o = NULL;
	struct candidates *c = &l->c;
	bool needs = own ? own->value != NULL : o != NULL;
	if (!add || !needs)
		return needs;
	if (own)
		candidates_add_place(c, own->value, strlen(own->value));
	for (size_t i = 0; o && o->choices && o->choices[i]; i++)
		candidates_add_string(c, o->choices[i], NULL);
	if (o && o->type == OPTION_SIZE) {
		candidates_add_words(c, "small|medium|large");
	} else if (o && strcmp(o->flag, "--profile") == 0) {
		const char *name;
		for (size_t i = 0; (name = layer_name(profiles_of(c->settings), i)); i++)
			candidates_add_string(c, name, NULL);
		candidates_add_string(c, PROFILE_DEFAULT, NULL);
	} else if (o && strcmp(o->flag, "--session") == 0) {
		candidates_add_sessions(c);
	} else if (o && strcmp(o->flag, "--shell") == 0) {
		c->part = SHELL_COMMANDS;
	}
	return true;
}

/* --- operands --------------------------------------------------------------------------------- */

/* The next operand of a form; an option that the form needs is left out. Returns what is behind it,
   or NULL at the end. */
static const char *form_next(const char *at, const char **operand, size_t *len, bool *repeats)
{
	do {
		at += strspn(at, " [");
		*operand = at;
		*len = strcspn(at, " ]\n.");
		*repeats = at[*len] == '.' || (at[*len] == ']' && at[*len + 1] == '.');
		at += strcspn(at, " \n");
	} while (**operand == '-');
	return *len > 0 ? at : NULL;
}

/* How many words of the line the form names as they are typed; -1: another word stands there.
   Stores the operand that is completed next; *len 0: the form has no more. */
static int form_match(const struct line *l, const char *form, const char **operand, size_t *len)
{
	int score = 0;
	bool repeats = false;
	for (int i = 0; i <= l->operand_count; i++) {
		const char *next = repeats && *len ? form : form_next(form, operand, len, &repeats);
		if (!next) {
			*len = 0;
			return score;
		}
		form = next;
		if (i == l->operand_count || i >= 2 || !islower((unsigned char)**operand))
			continue;
		const char *word = l->words[l->operands[i]];
		if (strlen(word) != *len || memcmp(word, *operand, *len) != 0)
			return -1;
		score++;
	}
	return score;
}

/* Calls form_match() for each form of the verb; adds what those with the most words named offer.
   Returns the best score. */
static int line_try_forms(struct line *l, int wanted)
{
	int best = -1;
	for (const char *form = l->verb->forms; *form;
	     form += strcspn(form, "\n"), form += *form != '\0') {
		const char *operand = "";
		size_t len = 0;
		int score = form_match(l, form, &operand, &len);
		best = score > best ? score : best;
		if (score >= 0 && score == wanted && len > 0)
			candidates_add_place(&l->c, operand, len);
	}
	return best;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether the first operand was a command, whose arguments follow. */
static bool line_is_command(const struct line *l)
{
	return l->operand_count > 0 && strstr(l->verb->forms, "[ARG...]");
}

/* Goes over the words before the last one. Returns the option whose value the last one is, or
   NULL. Stops where a command begins. */
static const char *line_walk(struct line *l)
{
	for (int i = l->first; i < l->count - 1; i++) {
		const char *word = l->words[i];
		size_t len = strcspn(word, "=");
		if (l->only_operands || word[0] != '-' || !word[1]) {
			if (l->operand_count < 2)
				l->operands[l->operand_count] = i;
			l->operand_count++;
		} else if (strcmp(word, "--") == 0) {
			l->only_operands = true;
		} else if (strncmp(word, "--session=", len + 1) == 0) {
			l->c.session = word + len + 1;
		} else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			l->asks_help = true;
		} else if (!word[len] && line_value(l, word, len, false)) {
			if (i + 1 == l->count - 1)
				return word;
			if (strcmp(word, "--session") == 0)
				l->c.session = l->words[i + 1];
			/* What follows a shell string are its arguments. */
			if (strcmp(word, "-c") == 0)
				return NULL;
			i++;
		}
		if (line_is_command(l))
			return NULL;
	}
	return NULL;
}

static void line_complete_flag(struct line *l, char *current)
{
	char *equals = strchr(current, '=');
	if (!equals) {
		for (const struct verb_option *o = l->verb->options; o && o->name; o++) {
			if (o->help && o->name[1] == '-')
				candidates_add_string(&l->c, o->name, o->help);
		}
		/* The options of terse.ini that the verb takes, too. */
		if (!l->verb->settings)
			return;
		const char *section = l->verb->settings;
		for (const struct option *o = option_table; o < option_table + option_count; o++) {
			if (*section && strcmp(section, o->section) != 0)
				continue;
			char room[FLAG_LEN];
			const char *flag;
			for (size_t i = 0; (flag = option_flag(o, i, room)); i++)
				candidates_add_string(&l->c, flag, o->help);
		}
		return;
	}
	static char before[64];
	size_t len = (size_t)(equals - current);
	if (len + 2 > sizeof(before))
		return;
	memcpy(before, current, len + 1);
	before[len + 1] = '\0';
	l->c.before = before;
	l->c.prefix = equals + 1;
	line_value(l, current, len, true);
}

bool verb_help_is_asked(const struct verb *v, int count, char **words)
{
	/* One more would be completed. */
	struct line l = {.verb = v, .words = words, .count = count + 1};
	line_walk(&l);
	return l.asks_help;
}

static int complete_run(struct verb_call *c)
{
	static char empty[] = "";
	char *none[] = {empty};
	struct line l = {.words = c->argc > 1 ? c->argv + 1 : none,
			 .count = c->argc > 1 ? c->argc - 1 : 1};
	l.verb = l.count > 1 ? verb_named(l.words[0]) : NULL;
	l.first = l.verb ? 1 : 0;
	if (!l.verb)
		l.verb = verbs[0];
	l.c = (struct candidates){.settings = c->settings,
				  .verb = l.verb,
				  .before = "",
				  .prefix = l.words[l.count - 1]};
	char *current = l.words[l.count - 1];
	const char *flag = line_walk(&l);
	if (flag) {
		line_value(&l, flag, strlen(flag), true);
	} else if (line_is_command(&l)) {
		l.c.part = SHELL_COMMAND;
	} else if (current[0] == '-' && !l.only_operands) {
		line_complete_flag(&l, current);
	} else {
		line_try_forms(&l, line_try_forms(&l, 3));
		if (l.count == 1)
			candidates_add_verbs(&l.c);
	}
	static const char *const parts[] = {
		[SHELL_NONE] = "none",       [SHELL_FILES] = "files",
		[SHELL_FOLDERS] = "folders", [SHELL_COMMANDS] = "commands",
		[SHELL_COMMAND] = "command",
	};
	struct buffer out = BUFFER_INIT;
	buffer_append_string(&out, parts[l.c.part]);
	if (l.c.part == SHELL_COMMAND)
		/* Which word begins the command, from 1. */
		buffer_printf(&out, " %d", 1 + (l.operand_count > 0 ? l.operands[0] : l.count - 1));
	buffer_append_string(&out, "\n");
	buffer_add(&out, &l.c.out);
	buffer_release(&l.c.out);
	return verb_print(c, &out);
}

const struct verb verb_complete = {
	.name = "__complete",
	.forms = "WORD...",
	.text = "For completion scripts.\n",
	.run = complete_run,
};
