// terse config: prints the settings and where each comes from; checks configuration files.

#include "config/option.h"
#include "config/profile.h"
#include "config/section.h"
#include "config/settings.h"
#include "lib/buffer.h"
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

/* The completion scripts, which the assembler puts into the program. They ask `terse __complete`
   (verb_complete.c) for all verbs and options, so a script serves every version of terse. */
__asm__(".pushsection .rodata\n"
	"completion_bash:\n.incbin \"packaging/completion/terse\"\n.byte 0\n"
	"completion_zsh:\n.incbin \"packaging/completion/_terse\"\n.byte 0\n"
	"completion_fish:\n.incbin \"packaging/completion/terse.fish\"\n.byte 0\n"
	".popsection\n");
extern const char completion_bash[] __asm__("completion_bash");
extern const char completion_zsh[] __asm__("completion_zsh");
extern const char completion_fish[] __asm__("completion_fish");

/* --- values and where they come from -------------------------------------------------- */

/* The items of an option that is a list, or NULL. */
static const struct strings *config_list(const struct settings *s, const struct option *o)
{
	return o->type == OPTION_LIST ? (const void *)((const char *)s + o->offset) : NULL;
}

/* Returns the value of an option as text, which may be in `room`; NULL for a list or an empty
   text. */
static const char *config_text(struct settings *s, const struct option *o, char room[VALUE_LEN])
{
	if (option_is_number(o))
		return option_number_text(o, *option_number(s, o), room);
	return o->type == OPTION_LIST ? NULL : *(char **)(void *)((char *)s + o->offset);
}

/* Appends a text of unknown origin, on one line; NULL: nothing. */
static void config_add_clean(struct buffer *out, const char *text)
{
	quote_text(out, text ? text : "", text ? strlen(text) : 0, 0);
}

/* Appends where an option's value comes from: "built in", "/etc/terse.ini:7", "agent codex",
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

/* Returns the option whose value is in effect for `o`. That is `o` itself, except that `size`
   replaces failure_size if it was set later. */
static const struct option *option_in_force(const struct settings *s, const struct option *o)
{
	bool other =
		o->offset == offsetof(struct settings, failure_size) && settings_size_is_for_all(s);
	return other ? option_by_key("report", "size") : o;
}

/* --- as text ---------------------------------------------------------------------- */

enum { ORIGIN_COLUMN = 32 };

/* Appends every option with its value, and the origin of the value as a comment. The output is an
   ini file, but a value with newlines, or longer than a line may be, can't be read back. */
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
		/* Aligns the comments in a column. */
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

/* Checks these files, or, if there are none, those that a run would read. */
static int config_check(int count, char **files)
{
	char room[PATH_MAX], project[PATH_MAX];
	bool named;
	int status = 0;
	struct buffer out = BUFFER_INIT;
	/* The files of the system, the user and the project. */
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

/* --- init and get ----------------------------------------------------------- */

static int config_bad_usage(const char *what, const char *why)
{
	verb_error("config", "%s: %s (see terse help config)", what, why);
	return EXIT_TERSE;
}

/* Finds SECTION.KEY, or a KEY that only one section has. Returns NULL after printing an error. */
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

/* Makes the user's configuration file. Returns the exit status. */
static int config_init(void)
{
	char room[PATH_MAX];
	bool named;
	const char *path = settings_user_file(room, &named);
	struct document d;
	struct buffer sample = BUFFER_INIT, line = BUFFER_INIT;
	if (!path) {
		verb_error("config", "no home directory, or TERSE_CONFIG is empty");
		return EXIT_TERSE;
	}
	option_print_sample(&sample);
	int status = document_read(&d, path, NULL);
	const bool exists = status == 0 && d.exists;
	if (status == 0 && !exists)
		status = buffer_check(&sample) < 0 ? -1
						   : document_write(&d, sample.data, sample.len);
	if (exists)
		verb_error("config", "%s: exists already; terse config init - prints the sample",
			   path);
	else if (status < 0)
		verb_error("config", "%s: %s", path, d.reason ? d.reason : strerror(errno));
	document_release(&d);
	buffer_release(&sample);
	if (exists || status < 0)
		return exists ? 1 : EXIT_TERSE;
	config_add_clean(&line, path);
	buffer_append_string(&line, "\n");
	return verb_print(NULL, &line);
}

/* Prints one setting; of a list, each item on a line. */
static int config_get(struct settings *s, const char *name)
{
	struct buffer text = BUFFER_INIT;
	char room[VALUE_LEN];
	const struct option *o = config_find(name);
	if (!o)
		return EXIT_TERSE;
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

/* Prints the settings for a command. `plain`: the words are a command even if they look like a
   verb. */
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
		    !shell_is_builtin(*command) && !hints_find_program(*command, path))
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
			return config_init();
		if (strcmp(words[1], "-") != 0)
			return config_bad_usage(words[1], "must be - or nothing");
		option_print_sample(&text);
		return verb_print(NULL, &text);
	}
	const char *agent = rule_agent(c->settings);
	if (agent)
		rule_apply(c->settings, agent);
	if (strcmp(action, "get") == 0)
		return count == 2 ? config_get(c->settings, words[1])
				  : config_bad_usage(action, "needs one key");
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
	.forms = "[COMMAND...]\nget SETTING\ncheck [FILE...]\ninit [-]\n"
		 "completion [bash|zsh|fish]",
	.text = "Prints the settings in force (for COMMAND) and where each comes from, or one of\n"
		"them (get); checks ini files; writes a commented one (init; init - prints it);\n"
		"prints a shell's completion. SETTING: report.size, or only size if no other\n"
		"section has a size. The options of terse run are taken, too.\n",
	.options = config_options,
	.more = -1,
	.command = true,
	.settings = "",
	.run = config_run,
};
