// terse config: the settings and where each comes from; checking and writing configuration files.

#include "config/option.h"
#include "config/profile.h"
#include "config/section.h"
#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/bytes.h"
#include "lib/quote.h"
#include "shim/exec_call.h"
#include "shim/shell.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/rule.h"
#include "supervisor/agents/wiring.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The scripts that complete terse's command line, put into the program by the assembler. They know
   nothing of verbs and options: they ask `terse __complete` (verb_complete.c), so a script serves
   every version of terse. */
__asm__(".pushsection .rodata\n"
	"completion_bash:\n.incbin \"packaging/completion/terse\"\n.byte 0\n"
	"completion_zsh:\n.incbin \"packaging/completion/_terse\"\n.byte 0\n"
	"completion_fish:\n.incbin \"packaging/completion/terse.fish\"\n.byte 0\n"
	".popsection\n");
extern const char completion_bash[] __asm__("completion_bash");
extern const char completion_zsh[] __asm__("completion_zsh");
extern const char completion_fish[] __asm__("completion_fish");

/* --- values and where they come from -------------------------------------------------- */

/* The items of a list; NULL: it is none. */
static const struct strings *config_list(const struct settings *s, const struct option *o)
{
	return o->type == OPTION_LIST ? (const void *)((const char *)s + o->offset) : NULL;
}

/* Any other value as a text, perhaps in `room`; NULL: it is a list, or an empty text. */
static const char *config_text(struct settings *s, const struct option *o, char room[VALUE_LEN])
{
	if (option_is_number(o))
		return option_number_text(o, *option_number(s, o), room);
	return o->type == OPTION_LIST ? NULL : *(char **)(void *)((char *)s + o->offset);
}

/* Appends what others wrote, on one line; NULL: nothing. */
static void config_add_clean(struct buffer *out, const char *text)
{
	quote_text(out, text ? text : "", text ? strlen(text) : 0, 0);
}

/* Appends the place that an option's value is from: "built in", "/etc/terse.ini:7", "agent codex",
   "profile read", a variable, a flag. `profile`: the one that was applied, or NULL. */
static void config_add_origin(struct buffer *out, const struct option *o, const struct settings *s,
			      const char *profile)
{
	const struct setting_source *source = &s->sources[SETTING_SLOT(o->offset)];
	switch (source->by) {
	case ORIGIN_SYSTEM:
	case ORIGIN_USER:
	case ORIGIN_PROJECT:
		config_add_clean(out, s->files[source->by]);
		buffer_printf(out, ":%u", source->line);
		break;
	case ORIGIN_AGENT: buffer_printf(out, "agent %s", s->agent ? s->agent : ""); break;
	case ORIGIN_PROFILE: buffer_printf(out, "profile %s", profile ? profile : ""); break;
	case ORIGIN_VARIABLE: buffer_append_string(out, o->variable); break;
	case ORIGIN_FLAG: buffer_append_string(out, o->flag); break;
	case ORIGIN_BUILT_IN: buffer_append_string(out, "built in"); break;
	}
}

/* The option whose value holds for `o`: `size` for failure_size if it was set in a later place than
   that, else `o` itself. */
static const struct option *option_in_force(const struct settings *s, const struct option *o)
{
	bool other =
		o->offset == offsetof(struct settings, failure_size) && settings_size_is_for_all(s);
	return other ? option_by_key("report", "size") : o;
}

/* --- as text ---------------------------------------------------------------------- */

enum { ORIGIN_COLUMN = 32 };

/* Appends every option with its value, and as a comment where the value comes from. A value that
   has newlines or is longer than a line of an ini file can't be read back. */
static void config_add_settings(struct buffer *out, struct settings *s, const char *profile)
{
	const char *section = NULL;
	for (const struct option *row = option_table; row < option_table + option_count; row++) {
		if (!section || strcmp(section, row->section) != 0)
			buffer_printf(out, "%s[%s]\n", section ? "\n" : "", row->section);
		section = row->section;
		const struct option *o = option_in_force(s, row);
		const struct strings *list = config_list(s, o);
		char room[VALUE_LEN];
		const char *value = config_text(s, o, room);
		size_t start = out->len;
		buffer_printf(out, "%s =%s", row->key, value && *value ? " " : "");
		config_add_clean(out, value);
		/* The origins start in a column of their own. */
		size_t width = out->len - start;
		buffer_printf(out, "%*s ; ",
			      width < ORIGIN_COLUMN ? (int)(ORIGIN_COLUMN - width) : 0, "");
		config_add_origin(out, o, s, profile);
		buffer_append_string(out, "\n");
		for (size_t i = 0; list && i < list->count; i++) {
			buffer_append_string(out, "\t");
			config_add_clean(out, list->items[i]);
			buffer_append_string(out, "\n");
		}
	}
}

/* --- check ----------------------------------------------------------------------- */

/* Without files, those that a run would read. */
static int config_check(int count, char **files)
{
	char room[PATH_MAX], project[PATH_MAX];
	bool named;
	int status = 0;
	struct buffer out = BUFFER_INIT;
	/* The file of the system, the user's, the project's. */
	const char *read[] = {SETTINGS_SYSTEM_FILE, settings_user_file(room, &named),
			      project_find(project) ? project : NULL};
	for (int i = 0; i < (count > 0 ? count : 3); i++) {
		const char *path = count > 0 ? files[i] : read[i];
		if (!path || (count == 0 && access(path, F_OK) < 0))
			continue;
		const char *slash = strrchr(path, '/');
		enum origin by = strcmp(slash ? slash + 1 : path, PROJECT_FILE) == 0
					 ? ORIGIN_PROJECT
					 : ORIGIN_USER;
		struct buffer text = BUFFER_INIT;
		size_t start = out.len;
		struct option_error error = {""};
		int errors = settings_read_file(by, path, &text, &error);
		const char *what = errors ? strerror(errno) : "no errors";
		if (errors == 0)
			errors = settings_check_text(by, path, text.data, text.len, &out, NULL);
		else if (*error.text)
			buffer_printf(&out, "%s\n", error.text);
		if (out.len == start) {
			config_add_clean(&out, path);
			buffer_printf(&out, ": %s\n", what);
		}
		buffer_release(&text);
		status |= errors != 0;
	}
	if (out.len == 0)
		buffer_append_string(&out, "there is no configuration file\n");
	return verb_print(NULL, &out) || status;
}

/* --- init, get and set ----------------------------------------------------------- */

static int config_bad_usage(const char *what, const char *why)
{
	verb_error("config", "%s: %s (see terse help config)", what, why);
	return EXIT_TERSE;
}

/* SECTION.KEY, or KEY where there is one of it; NULL after saying what is wrong. */
static const struct option *config_find(const char *name)
{
	const struct option *found = NULL;
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, name);
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		size_t len = strlen(o->section);
		bool named = strncmp(o->section, name, len) == 0 && name[len] == '.';
		nearest_offer(&n, o->key);
		if (strcmp(o->key, named ? name + len + 1 : name) != 0)
			continue;
		if (named)
			return o;
		if (found) {
			verb_error("config", "%s: %s.%s or %s.%s?", name, found->section, name,
				   o->section, name);
			return NULL;
		}
		found = o;
	}
	if (!found)
		verb_error("config", "%s: %s", name, nearest_reason(reason, "key", n.best));
	return found;
}

/* What is behind the value in a line of an ini file: blanks, a comment, the line's end. */
static const char *config_tail(const char *line, const char *end)
{
	const char *tail = line;
	while (tail < end && !(*tail == ';' && tail > line && strchr(" \t", tail[-1])))
		tail++;
	while (tail > line && strchr(" \t\r\n", tail[-1]))
		tail--;
	return tail;
}

/* Appends the text with the setting in it: in the place that it has in `now`, which are the text's
   settings, else behind the last other one of its section or its header, or in a new section at the
   end. Lines end as the first one does. */
static void config_edit(struct buffer *out, const struct buffer *text, struct settings *now,
			const struct option *o, const char *value)
{
	unsigned place = option_source(now, o)->line, number = 1;
	const bool is_there = place > 0;
	const char *eol = newline_of(text->data, text->len);
	const size_t section_len = strlen(o->section);
	for (const struct option *other = option_table; other < option_table + option_count;
	     other++)
		if (!is_there && strcmp(other->section, o->section) == 0 &&
		    other->type != OPTION_LIST && option_source(now, other)->line > place)
			place = option_source(now, other)->line;
	for (size_t at = 0, end; at < text->len; at = end, number++) {
		const char *line = text->data + at, *newline = memchr(line, '\n', text->len - at);
		end = newline ? (size_t)(newline - text->data) + 1 : text->len;
		if (!place && end - at > section_len + 1 && *line == '[' &&
		    strncmp(line + 1, o->section, section_len) == 0 && line[section_len + 1] == ']')
			place = number;
		if (is_there && number == place) {
			line = config_tail(line, text->data + end);
			buffer_printf(out, "%s = %s", o->key, value);
		}
		buffer_append(out, line, (size_t)(text->data + end - line));
		if (!newline)
			buffer_append_string(out, eol);
		if (!is_there && number == place)
			buffer_printf(out, "%s = %s%s", o->key, value, eol);
	}
	if (!place)
		buffer_printf(out, "%s[%s]%s%s = %s%s", text->len ? eol : "", o->section, eol,
			      o->key, value, eol);
}

/* Whether that value is what is read from the text: part of it may look like a comment or another
   line, or be too much for one. */
static bool config_holds(const struct buffer *text, const char *path, const struct option *o,
			 const char *value)
{
	struct settings s;
	struct option_error error;
	if (settings_init(&s) < 0)
		return false;
	bool holds = settings_load_text(&s, ORIGIN_USER, path, text->data, text->len, &error) == 0;
	const char *const *field =
		(const char *const *)(const void *)((const char *)&s + o->offset);
	if (holds && o->type == OPTION_STRING)
		holds = strcmp(*field ? *field : "", value) == 0;
	settings_release(&s);
	return holds;
}

/* Makes the user's file, or sets the option in it. Returns the exit status. */
static int config_write(const struct option *o, const char *value)
{
	char room[PATH_MAX];
	bool named;
	const char *path = settings_user_file(room, &named), *what = path, *why = NULL;
	if (!path) {
		verb_error("config", "no home directory, or TERSE_CONFIG is empty");
		return EXIT_TERSE;
	}
	struct document d;
	struct settings now;
	struct option_error error = {""};
	struct buffer next = BUFFER_INIT, line = BUFFER_INIT;
	int result = document_read(&d, path, NULL);
	const bool exists = result == 0 && d.exists && !o;
	if (result < 0)
		why = d.reason ? d.reason : strerror(errno);
	else if (exists)
		why = "exists already; terse config init - prints the sample";
	else if (!o)
		option_print_sample(&next);
	else if (settings_init(&now) < 0)
		why = strerror(errno);
	else {
		if (settings_load_text(&now, ORIGIN_USER, path, d.text.data, d.text.len, &error) <
		    0)
			what = NULL;
		else if (option_set(&now, o, value, &error) < 0)
			what = o->key;
		else
			config_edit(&next, &d.text, &now, o, value);
		why = what == path ? NULL : *error.text ? error.text : strerror(errno);
		if (!why && buffer_check(&next) == 0 && !config_holds(&next, path, o, value)) {
			what = o->key;
			why = "an ini file can't hold that value";
		}
		settings_release(&now);
	}
	if (!why && (buffer_check(&next) < 0 || document_write(&d, next.data, next.len) < 0))
		why = strerror(errno);
	document_release(&d);
	buffer_release(&next);
	if (why) {
		verb_error("config", "%s%s%s", what ? what : "", what ? ": " : "", why);
		return exists ? 1 : EXIT_TERSE;
	}
	config_add_clean(&line, path);
	if (o) {
		buffer_printf(&line, ": [%s] %s = ", o->section, o->key);
		config_add_clean(&line, value);
	}
	buffer_append_string(&line, "\n");
	return verb_print(NULL, &line);
}

/* get: prints one setting, the items of a list on a line each. set: writes it. */
static int config_get_or_set(struct settings *s, char **words, int count)
{
	const bool sets = strcmp(words[0], "set") == 0;
	struct buffer text = BUFFER_INIT;
	char room[VALUE_LEN];
	if (count != 2 + sets)
		return config_bad_usage(words[0],
					sets ? "needs a key and a value" : "needs one key");
	const struct option *o = config_find(words[1]);
	if (!o)
		return EXIT_TERSE;
	if (sets && o->type == OPTION_LIST)
		return config_bad_usage(words[1], "is a list; edit the ini file for it");
	if (sets)
		return config_write(o, words[2]);
	o = option_in_force(s, o);
	const struct strings *list = config_list(s, o);
	const char *value = config_text(s, o, room);
	for (size_t i = 0; i < (list ? list->count : 1); i++) {
		config_add_clean(&text, list ? list->items[i] : value);
		buffer_append_string(&text, "\n");
	}
	return verb_print(NULL, &text);
}

/* --- what is in effect -------------------------------------------------------------- */

/* With a command: its settings. `plain`: the words are certainly a command. */
static int config_print_settings(struct settings *s, char **command, bool plain)
{
	struct buffer text = BUFFER_INIT;
	struct profile_choice choice;
	char path[PATH_MAX];
	struct option_error error = {""};
	const char *profile = NULL;
	if (*command || s->profile) {
		const char *string = command[0] && !command[1] && shell_is_string(command[0])
					     ? command[0]
					     : NULL;
		if (profile_choose(s, command, string, &choice, &error) < 0) {
			verb_error("config", "%s", *error.text ? error.text : strerror(errno));
			return EXIT_TERSE;
		}
		profile_apply(s, &choice);
		profile = profile_name(&choice);
		if (!plain && *command && !string && strcmp(profile, PROFILE_DEFAULT) == 0 &&
		    !shell_is_builtin(*command) &&
		    (strchr(*command, '/') ? access(*command, X_OK) != 0
					   : !hints_find_program(*command, path)))
			return config_bad_usage(*command, "no such action, and no such command");
	}
	config_add_settings(&text, s, profile);
	return verb_print(NULL, &text);
}

struct config_options {
	bool profiles, agents;
};

static int config_run(struct verb_call *c)
{
	struct config_options r = {.profiles = false};
	if (verb_parse(c, &r) < 0)
		return EXIT_TERSE;
	char **words = c->operands;
	int count = c->operand_count;
	const char *action = count > 0 && !c->plain ? words[0] : "";
	struct buffer text = BUFFER_INIT;
	if (r.profiles || r.agents) {
		section_write(&text, c->settings, r.profiles ? &profiles_form : &rules_form);
		return verb_print(NULL, &text);
	}
	if (strcmp(action, "check") == 0)
		return config_check(count - 1, words + 1);
	if (strcmp(action, "completion") == 0) {
		const char *shell = count > 1 ? words[1] : "bash";
		const char *script = strcmp(shell, "bash") == 0   ? completion_bash
				     : strcmp(shell, "zsh") == 0  ? completion_zsh
				     : strcmp(shell, "fish") == 0 ? completion_fish
								  : NULL;
		if (!script)
			return config_bad_usage(shell,
						"there are completions for bash, zsh and fish");
		buffer_append_string(&text, script);
		return verb_print(NULL, &text);
	}
	if (strcmp(action, "init") == 0) {
		if (count == 1)
			return config_write(NULL, NULL);
		if (strcmp(words[1], "-") != 0)
			return config_bad_usage(words[1], "must be - or nothing");
		option_print_sample(&text);
		return verb_print(NULL, &text);
	}
	const char *agent = rule_agent(c->settings);
	if (agent)
		rule_apply(c->settings, agent);
	if (strcmp(action, "get") == 0 || strcmp(action, "set") == 0)
		return config_get_or_set(c->settings, words, count);
	return config_print_settings(c->settings, words, c->plain);
}

static const struct verb_option config_options[] = {
	{"--profiles", 0, VERB_FLAG, offsetof(struct config_options, profiles), NULL,
	 "the known commands, in the syntax of the ini file"},
	{"--agents", 0, VERB_FLAG, offsetof(struct config_options, agents), NULL,
	 "the known agents, in the same syntax"},
	VERB_END_ROW,
};

const struct verb verb_config = {
	.name = "config",
	.purpose = "print the settings in force; check and write ini files",
	.forms = "[COMMAND...]\nget SETTING\nset SETTING VALUE\ncheck [FILE...]\ninit [-]\n"
		 "completion [bash|zsh|fish]",
	.text = "Prints the settings in force (for COMMAND) and where each comes from, or one of\n"
		"them (get); sets one in the user's ini file and leaves the rest alone (set);\n"
		"checks ini files; writes a commented one (init; init - prints it); prints a\n"
		"shell's completion. SETTING: report.size, or size where there is one of it. The\n"
		"options of terse run are taken, too.\n",
	.options = config_options,
	.more = -1,
	.command = true,
	.settings = "",
	.run = config_run,
};
