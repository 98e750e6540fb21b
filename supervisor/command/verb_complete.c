// terse __complete WORD...: completes the last word of a command line; the words are those behind
// `terse`. For the scripts of config/completion.h.
//
// The first line of the answer says what the shell completes itself: none, files, folders, commands
// (their names), or "command N": the command that begins with the Nth of the words. The candidates
// follow, a line each: the word, a tab, its description.
//
// All that is known of a verb comes from its help: its options, their values, and its operands by
// the forms of its synopsis. So a new verb is completed without a line here.

#include "config/option.h"
#include "supervisor/command/candidates.h"
#include "supervisor/command/command.h"
#include "supervisor/command/help.h"
#include "supervisor/command/verb.h"

#include <ctype.h>
#include <string.h>

/* --- options in a help text --------------------------------------------------------------- */

struct help_flag {
	const char *name, *value, *text; /* value: "NAME", "yes|no"; text: what it does */
	size_t name_len, value_len;      /* value_len 0: it takes none */
};

/* What a value looks like: NAME, FROM-TO, N|failed, yes|no. A lower-case word alone is prose. */
static size_t flag_value_length(const char *at)
{
	size_t len = strcspn(at, " ],|\n");
	if (at[len] == '|' && at[len + 1] != '-')
		len += 1 + strcspn(at + len + 1, " ],\n");
	return isupper((unsigned char)*at) || memchr(at, '|', len) ? len : 0;
}

/* Finds the next option from `at` on, up to the end of its line. Returns what is behind it, or
   NULL. */
static const char *flag_scan(const char *at, struct help_flag *f)
{
	while (*at && *at != '\n' && !(at[0] == '-' && strchr(" [|", at[-1])))
		at++;
	if (*at != '-')
		return NULL;
	*f = (struct help_flag){.name = at, .name_len = strcspn(at, " ],|\n")};
	at += f->name_len;
	if (at[0] == ' ')
		f->value_len = flag_value_length(at + 1);
	if (f->value_len) {
		f->value = at + 1;
		at += 1 + f->value_len;
	}
	return at;
}

/* Where the description begins in a line of options: behind two blanks. */
static const char *flag_text(const char *at)
{
	while (*at && *at != '\n' && !(at[0] == ' ' && at[1] == ' '))
		at++;
	return at + strspn(at, " ");
}

/* Calls `each` for the options in the synopsis and in the lines of options, until it returns other
   than 0; returns that. */
static int flags_each(const struct help_topic *t, int (*each)(void *ctx, const struct help_flag *f),
		      void *ctx)
{
	const char *const texts[] = {t->text, t->synopsis};
	struct help_flag f;
	for (size_t i = 0; i < 2; i++) {
		for (const char *line = texts[i]; *line;
		     line += strcspn(line, "\n"), line += *line != '\0') {
			bool listed = i == 0 && strncmp(line, "  -", 3) == 0;
			const char *text = listed ? flag_text(line + 2) : NULL, *at = line + 1;
			if (i == 0 && !listed)
				continue;
			while ((at = flag_scan(at, &f)) && (!text || f.name < text)) {
				f.text = text;
				int stop = each(ctx, &f);
				if (stop)
					return stop;
			}
		}
	}
	return 0;
}

/* --- the line so far ------------------------------------------------------------------------- */

struct line {
	struct candidates c;
	const struct help_topic *topic;
	char **words;
	int count, first; /* the last of the words is completed; where those of the verb begin */
	int operands[2];  /* the first ones; the rest does not count */
	int operand_count;
	bool only_operands; /* -- was given */
	bool asks_help;     /* --help or -h was */
};

struct flag_search {
	const char *name;
	size_t len;
	struct help_flag found;
};

static int flag_is_named(void *ctx, const struct help_flag *f)
{
	struct flag_search *s = ctx;
	if (f->name_len != s->len || memcmp(f->name, s->name, s->len) != 0)
		return 0;
	s->found = *f;
	/* One in the list of options says more. */
	return f->value_len > 0;
}

/* Whether the verb takes the options of a run, too. */
static bool line_takes_settings(const struct line *l)
{
	static const char *const verbs[] = {"run", "filter", "config"};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(*verbs); i++) {
		if (strcmp(l->topic->verb, verbs[i]) == 0)
			return true;
	}
	return false;
}

/* The option of the table with this flag that needs a value, or NULL. */
static const struct option *line_setting(const struct line *l, const char *flag, size_t len)
{
	for (const struct option *o = option_table;
	     line_takes_settings(l) && o < option_table + option_count; o++) {
		if (o->flag && strlen(o->flag) == len && memcmp(o->flag, flag, len) == 0)
			return option_is_switch(o) ? NULL : o;
	}
	return NULL;
}

/* Whether the option needs a value; adds its candidates if `add`. */
static bool line_value(struct line *l, const char *flag, size_t len, bool add)
{
	struct flag_search search = {.name = flag, .len = len};
	const struct option *o = line_setting(l, flag, len);
	flags_each(l->topic, flag_is_named, &search);
	if (add && search.found.value_len)
		candidates_add_place(&l->c, search.found.value, search.found.value_len);
	else if (add && o)
		candidates_add_values(&l->c, o);
	return search.found.value_len || o;
}

static int line_add_flag(void *ctx, const struct help_flag *f)
{
	struct line *l = ctx;
	if (f->name_len != 2 || f->name[1] != '-')
		candidates_add(&l->c, f->name, f->name_len, f->text);
	return 0;
}

/* --- operands --------------------------------------------------------------------------------- */

/* The next operand of a form: a word that is no option and no option's value. Returns what is
   behind it, or NULL at the end. */
static const char *form_next(const char *at, const char **operand, size_t *len, bool *repeats)
{
	for (;;) {
		at += strspn(at, " [");
		size_t word = strcspn(at, " \n");
		if (word == 0 || at[0] == '|')
			return NULL;
		*operand = at;
		*len = strcspn(at, " ]\n.");
		*repeats = at[*len] == '.' || (at[*len] == ']' && at[*len + 1] == '.');
		bool option = at[0] == '-', closed = at[word - 1] == ']';
		at += word;
		if (option && !closed && at[0] == ' ' && isupper((unsigned char)at[1]))
			at += 1 + strcspn(at + 1, " \n");
		if (option || *len == 0 || strncmp(*operand, "OPTIONS", *len) == 0)
			continue;
		/* Behind TEXT|--key the rest is options. */
		return memmem(*operand, *len, "|-", 2) ? at + strcspn(at, "\n") : at;
	}
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
	for (const char *form = l->topic->synopsis; *form;
	     form += strcspn(form, "\n"), form += *form != '\0') {
		const char *operand = "", *at = form + strspn(form, " ");
		size_t len = 0;
		/* Behind "terse VERB". */
		at += strlen("terse ");
		at += strcspn(at, " \n");
		int score = form_match(l, at, &operand, &len);
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
	return l->operand_count > 0 && strstr(l->topic->synopsis, "[ARG...]");
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

/* Which word begins the command, from 1. */
static int line_command_at(const struct line *l)
{
	return 1 + (l->operand_count > 0 ? l->operands[0] : l->count - 1);
}

static void line_complete_flag(struct line *l, char *current)
{
	char *equals = strchr(current, '=');
	if (!equals) {
		flags_each(l->topic, line_add_flag, l);
		if (line_takes_settings(l))
			candidates_add_flags(&l->c);
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

static void line_complete(struct line *l)
{
	char *current = l->words[l->count - 1];
	const char *flag = line_walk(l);
	if (flag) {
		line_value(l, flag, strlen(flag), true);
	} else if (line_is_command(l)) {
		l->c.part = SHELL_COMMAND;
	} else if (current[0] == '-' && !l->only_operands) {
		line_complete_flag(l, current);
	} else {
		line_try_forms(l, line_try_forms(l, 3));
		if (l->count == 1)
			candidates_add_verbs(&l->c);
	}
}

bool help_is_asked(const struct help_topic *t, int count, char **words)
{
	/* One more would be completed. */
	struct line l = {.topic = t, .words = words, .count = count + 1};
	line_walk(&l);
	return l.asks_help;
}

int command_complete(struct command_context *context, int argc, char **argv)
{
	static char empty[] = "";
	char *none[] = {empty};
	struct line l = {.words = argc > 1 ? argv + 1 : none, .count = argc > 1 ? argc - 1 : 1};
	l.topic = l.count > 1 ? help_find(l.words[0]) : NULL;
	l.first = l.topic ? 1 : 0;
	if (!l.topic)
		l.topic = help_find("run");
	l.c = (struct candidates){.settings = context->settings,
				  .verb = l.topic->verb,
				  .before = "",
				  .prefix = l.words[l.count - 1]};
	line_complete(&l);
	static const char *const parts[] = {
		[SHELL_NONE] = "none",       [SHELL_FILES] = "files",
		[SHELL_FOLDERS] = "folders", [SHELL_COMMANDS] = "commands",
		[SHELL_COMMAND] = "command",
	};
	struct buffer out = BUFFER_INIT;
	buffer_append_string(&out, parts[l.c.part]);
	if (l.c.part == SHELL_COMMAND)
		buffer_printf(&out, " %d", line_command_at(&l));
	buffer_append_string(&out, "\n");
	buffer_add(&out, &l.c.out);
	buffer_release(&l.c.out);
	return verb_print(&(struct verb){.name = "__complete"}, &out);
}
