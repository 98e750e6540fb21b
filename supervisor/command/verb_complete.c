// terse __complete WORD...: completes the last word of a command line, for the scripts in
// packaging/completion. The words are those after `terse`.
//
// The first line of the answer says what the shell adds by itself: none, files, folders, commands
// (their names), or "command N": completions for the command that begins at the Nth word. The
// candidates follow, one a line: the word, a tab, its description.
//
// Options, their values and operands come from the verb's rows, so a new verb needs no line here.

#include "config/option.h"
#include "config/profile.h"
#include "lib/io.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The command line so far, and its candidates. */
struct line {
	const struct settings *settings;
	const struct verb *verb;
	char **words;
	int count, first; /* number of words, the last of which is completed; index of the first
			     word after the verb */
	int operands[2];  /* indexes of the first two operands */
	int operand_count;
	bool only_operands;  /* -- was given */
	const char *session; /* --session, or NULL */

	const char *before; /* put in front of each candidate: "--mode=", or "" */
	const char *prefix; /* candidates have to begin with this, without `before` */
	const char *part;   /* what the shell adds, for the first line */
	struct buffer out;  /* a newline, and the candidates */
};

/* The shell completes a command with its arguments. The number of its first word is added to the
   answer. */
#define SHELL_COMMAND "command"

/* The most artifacts that are offered; the newest ones. */
enum { IDS_MOST = 30 };

/* The most columns of a description. */
enum { TEXT_WIDTH = 70 };

static void candidates_add(struct line *l, const char *word, size_t len, const char *text)
{
	size_t prefix = strlen(l->prefix);
	if (len < prefix || memcmp(word, l->prefix, prefix) != 0)
		return;
	size_t start = l->out.len;
	buffer_printf(&l->out, "%s%.*s\t", l->before, (int)len, word);
	/* Drops a candidate that was added already: two stores may have one session, and help may
	   list an option twice. */
	if (l->out.data &&
	    memmem(l->out.data, start, l->out.data + start - 1, l->out.len - start + 1)) {
		buffer_truncate(&l->out, start);
		return;
	}
	if (text)
		row_add_cell(&l->out, text, strcspn(text, "\n"), TEXT_WIDTH);
	buffer_append_string(&l->out, "\n");
}

static void candidates_add_string(struct line *l, const char *word, const char *text)
{
	candidates_add(l, word, strlen(word), text);
}

/* --- runs and sessions ------------------------------------------------------------------- */

/* Adds an ID, described by its command, if that is known. */
static void candidates_add_id(struct line *l, const struct id_found *found)
{
	struct meta m = {0};
	struct buffer command = BUFFER_INIT;
	if (meta_read_found(found, &m) == 0)
		row_add_command(&command, &m);
	candidates_add_string(l, found->id, buffer_string(&command));
	buffer_release(&command);
	meta_release(&m);
}

static void candidates_add_sessions(struct line *l)
{
	struct store stores[STORE_MAX];
	struct journal_session *sessions;
	size_t found;
	int count = store_open_all(stores);
	journal_sessions(stores, count, NULL, &sessions, &found);
	for (size_t i = 0; i < found; i++)
		candidates_add_string(l, sessions[i].name, NULL);
	free(sessions);
	store_close_all(stores, count);
}

/* --- what the tables know ------------------------------------------------------------------ */

static void candidates_add_verbs(struct line *l)
{
	for (size_t i = 0; verbs[i]; i++) {
		if (verbs[i]->purpose)
			candidates_add_string(l, verbs[i]->name, verbs[i]->purpose);
	}
}

static void candidates_add_agents(struct line *l)
{
	for (const struct wiring *w = wirings; w->agent; w++)
		candidates_add_string(l, w->agent, NULL);
}

static void candidates_add_profiles(struct line *l)
{
	const char *name;
	for (size_t i = 0; (name = section_name(l->settings, &profiles_form, i)); i++)
		candidates_add_string(l, name, NULL);
	candidates_add_string(l, PROFILE_DEFAULT, NULL);
}

static void candidates_add_ids(struct line *l)
{
	struct store stores[STORE_MAX];
	char session[STORE_SESSION_LEN + 1];
	struct journal_line made;
	int count = store_open_all(stores);
	if (l->verb->live) {
		char(*ids)[ID_LEN + 1];
		struct id_found found;
		size_t live, left = IDS_MOST;
		client_list(stores, count, &ids, &live);
		for (size_t i = 0; i < live && left > 0; i++) {
			/* A killed supervisor leaves its socket behind, so the run is contacted. */
			int run = client_open(stores, count, ids[i]);
			left -= run >= 0;
			if (run >= 0 && id_find(stores, count, "default", ids[i], &found) == 0)
				candidates_add_id(l, &found);
			else if (run >= 0)
				candidates_add_string(l, ids[i], NULL);
			io_close(&run);
		}
		free(ids);
	} else {
		verb_session_name(l->settings, l->session, session);
		struct journal *j = journal_open(stores, count, session, JOURNAL_MADE);
		for (int i = 0; j && i < IDS_MOST && journal_next(j, &made) > 0; i++)
			candidates_add_id(l, &made.of);
		journal_close(j);
		candidates_add_string(l, "last", "the last run of this session");
	}
	store_close_all(stores, count);
}

static void candidates_add_settings(struct line *l)
{
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		char name[80];
		snprintf(name, sizeof(name), "%s.%s", o->section, o->key);
		candidates_add_string(l, name, o->help);
	}
}

/* Words in capitals, in the forms of verbs and as values of options, and what they stand for. */
static const struct {
	const char *place;
	void (*add)(struct line *l);
	const char *words; /* or these words */
	const char *part;  /* or something that the shell completes */
} places[] = {
	{"ID", .add = candidates_add_ids},
	{"NAME", .add = candidates_add_sessions},
	{"SESSION", .add = candidates_add_sessions},
	{"AGENT", .add = candidates_add_agents},
	{"PROFILE", .add = candidates_add_profiles},
	{"SETTING", .add = candidates_add_settings},
	{"VERB", .add = candidates_add_verbs},
	{"KEY", .words = "enter|tab|escape|space|backspace|up|down|left|right|home|end|insert|"
			 "delete|pageup|pagedown|shift-tab|f1|f2|f3|f4|f5|f6|f7|f8|f9|f10|f11|f12|"
			 "ctrl-c|ctrl-d|ctrl-z"},
	{"SIGNAL", .words = "HUP|INT|QUIT|KILL|USR1|USR2|TERM|CONT|STOP|TSTP"},
	{"PROGRAM", .part = "commands"},
	{"FILE", .part = "files"},
	{"DIR", .part = "folders"},
	{"COMMAND", .part = SHELL_COMMAND},
};

/* Adds words that are separated by |: "ID|FILE", "yes|no". `stands`: in place of a word in
   capitals, adds what it stands for. */
static void candidates_add_words(struct line *l, const char *words, size_t len, bool stands)
{
	for (const char *end = words + len, *next; words < end; words = next + 1) {
		next = memchr(words, '|', (size_t)(end - words));
		next = next ? next : end;
		size_t one = (size_t)(next - words);
		if (!stands || islower((unsigned char)*words))
			candidates_add(l, words, one, NULL);
		for (size_t i = 0; stands && i < sizeof(places) / sizeof(*places); i++) {
			if (strlen(places[i].place) != one ||
			    memcmp(places[i].place, words, one) != 0)
				continue;
			if (places[i].add)
				places[i].add(l);
			if (places[i].words)
				candidates_add_words(l, places[i].words, strlen(places[i].words),
						     false);
			if (places[i].part)
				l->part = places[i].part;
		}
	}
}

/* --- options ---------------------------------------------------------------------------------- */

/* Returns whether the option needs a value. With `add`, adds candidates for that value. */
static bool line_value(struct line *l, const char *flag, size_t len, bool add)
{
	const char *implied = NULL;
	const struct verb_option *own = verb_option_named(l->verb, flag, len);
	const struct option *o =
		own || !l->verb->settings ? NULL : option_by_flag(flag, len, &implied);
	if (implied)
		o = NULL;
	bool needs = own ? own->value != NULL : o != NULL;
	if (!add || !needs)
		return needs;
	if (own)
		candidates_add_words(l, own->value, strlen(own->value), true);
	for (size_t i = 0; o && o->choices && o->choices[i]; i++)
		candidates_add_string(l, o->choices[i], NULL);
	if (o && o->type == OPTION_SIZE)
		candidates_add_words(l, "small|medium|large", 18, true);
	if (o && o->type == OPTION_STRING)
		candidates_add_words(l, o->unit, strlen(o->unit), true);
	return true;
}

/* --- operands --------------------------------------------------------------------------------- */

/* Returns how many words of the line are literal words of the form; -1 if the line has another word
   where the form has a literal one. Stores the operand of the form that is to be completed; *len 0:
   the form has no more operands. */
static int form_match(const struct line *l, const char *form, const char **operand, size_t *len)
{
	int score = 0;
	bool repeats = false;
	for (int i = 0; i <= l->operand_count; i++) {
		/* Goes to the form's next operand. Skips options in the form. */
		while (!repeats || !*len) {
			form += strspn(form, " [");
			*operand = form;
			*len = strcspn(form, " ]\n.");
			repeats = form[*len] == '.' || (form[*len] == ']' && form[*len + 1] == '.');
			form += strcspn(form, " \n");
			if (*len == 0)
				return score;
			if (**operand != '-')
				break;
		}
		if (i == l->operand_count || i >= 2 || !islower((unsigned char)**operand))
			continue;
		const char *word = l->words[l->operands[i]];
		if (strlen(word) != *len || memcmp(word, *operand, *len) != 0)
			return -1;
		score++;
	}
	return score;
}

/* Calls form_match() for each form of the verb, and adds candidates of the forms with the score
   `wanted`. Returns the highest score. */
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
			candidates_add_words(l, operand, len, true);
	}
	return best;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Whether the first operand is a command, whose arguments follow. */
static bool line_is_command(const struct line *l)
{
	return l->operand_count > 0 && strstr(l->verb->forms, "[ARG...]");
}

/* Reads the words before the last one, up to where a command begins. Returns the option whose value
   the last word is, or NULL. */
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
			l->session = word + len + 1;
		} else if (!word[len] && line_value(l, word, len, false)) {
			if (i + 1 == l->count - 1)
				return word;
			if (strcmp(word, "--session") == 0)
				l->session = l->words[i + 1];
			/* After a shell string come only its arguments. */
			if (strcmp(word, "-c") == 0)
				return NULL;
			i++;
		}
		if (line_is_command(l))
			return NULL;
	}
	return NULL;
}

/* Adds the options of the verb, and those of terse.ini that it takes. */
static void line_complete_flag(struct line *l)
{
	const char *section = l->verb->settings, *flag;
	for (const struct verb_option *o = l->verb->options; o && o->name; o++) {
		if (o->help && o->name[1] == '-')
			candidates_add_string(l, o->name, o->help);
	}
	for (const struct option *o = option_table; section && o < option_table + option_count;
	     o++) {
		char room[FLAG_LEN];
		if (*section && strcmp(section, o->section) != 0)
			continue;
		for (size_t i = 0; (flag = option_flag(o, i, room)); i++)
			candidates_add_string(l, flag, o->help);
	}
}

static int complete_run(struct verb_call *c)
{
	static char empty[] = "";
	char *none[] = {empty}, before[64];
	struct line l = {.settings = c->settings,
			 .words = c->argc > 1 ? c->argv + 1 : none,
			 .count = c->argc > 1 ? c->argc - 1 : 1,
			 .before = "",
			 .part = "none"};
	const struct verb *named = l.count > 1 ? verb_named(l.words[0]) : NULL;
	l.first = named ? 1 : 0;
	l.verb = named ? named : verbs[0];
	char *current = l.words[l.count - 1], *equals = strchr(current, '=');
	l.prefix = current;
	buffer_append_string(&l.out, "\n");
	const char *flag = line_walk(&l);
	if (flag) {
		line_value(&l, flag, strlen(flag), true);
	} else if (line_is_command(&l)) {
		l.part = SHELL_COMMAND;
	} else if (current[0] == '-' && !l.only_operands && equals) {
		snprintf(before, sizeof(before), "%.*s", (int)(equals + 1 - current), current);
		l.before = before;
		l.prefix = equals + 1;
		line_value(&l, current, (size_t)(equals - current), true);
	} else if (current[0] == '-' && !l.only_operands) {
		line_complete_flag(&l);
	} else {
		line_try_forms(&l, line_try_forms(&l, 3));
		if (l.count == 1)
			candidates_add_verbs(&l);
	}
	struct buffer out = BUFFER_INIT;
	buffer_append_string(&out, l.part);
	if (strcmp(l.part, SHELL_COMMAND) == 0)
		/* The number of the word that begins the command, from 1. */
		buffer_printf(&out, " %d", 1 + (l.operand_count > 0 ? l.operands[0] : l.count - 1));
	buffer_add(&out, &l.out);
	buffer_release(&l.out);
	return verb_print(c, &out);
}

const struct verb verb_complete = {
	.name = "__complete",
	.forms = "WORD...",
	.text = "For completion scripts.\n",
	.run = complete_run,
};
