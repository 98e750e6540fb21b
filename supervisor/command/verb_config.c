// terse config: what the settings are and where each comes from; checking and writing configuration
// files. What its --json prints:
//
//   {"profile":"search","agent":null,"files":["/etc/terse.ini"],"settings":[
//     {"section":"report","key":"size","value":30720,"unit":"bytes","text":"30KB","default":"4KB",
//      "origin":{"by":"profile"}}, ...]}
//
// origin.by is one of default, system, user, project (these with path and line), agent, profile,
// variable and flag (these with name). Sizes are bytes, durations milliseconds.
//
//   {"profiles":[{"name":"read","match":["cat|tac"],"settings":{"size":"30KB", ...}}, ...]}
//   {"agents":[{"name":"codex","environment":["CODEX_THREAD_ID"], ...,"settings":{...}}, ...]}

#include "config/error.h"
#include "config/ini.h"
#include "config/layer.h"
#include "config/option.h"
#include "config/option_print.h"
#include "config/profile.h"
#include "config/settings.h"
#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/quote.h"
#include "lib/utf8.h"
#include "shim/shell.h"
#include "supervisor/agents/document.h"
#include "supervisor/agents/hints.h"
#include "supervisor/agents/rule.h"
#include "supervisor/command/command.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL when out of memory; bytes that JSON can't hold become U+FFFD. */
static json_t *make_string(const char *text)
{
	struct buffer clean = BUFFER_INIT;
	json_t *string = NULL;
	if (utf8_clean(&clean, text, strlen(text)) == 0)
		string = json_stringn(clean.data ? clean.data : "", clean.len);
	buffer_release(&clean);
	return string;
}

/* Sets a member; NULL as a value is a failure of the caller's. */
static int config_json_set(json_t *object, const char *name, json_t *value)
{
	return json_object_set_new(object, name, value);
}

static int config_json_add(json_t *array, json_t *value)
{
	return json_array_append_new(array, value);
}

/* `object` if all went well, else NULL. */
static json_t *whole(json_t *object, int failures)
{
	if (failures == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *make_list(const struct strings *list)
{
	json_t *array = json_array();
	int failures = array ? 0 : -1;
	for (size_t i = 0; i < list->count && failures == 0; i++)
		failures = config_json_add(array, make_string(list->items[i]));
	return whole(array, failures);
}

static json_t *make_value(const struct settings *s, const struct option *o)
{
	const void *field = (const char *)s + o->offset;
	char text[VALUE_LEN];
	switch (o->type) {
	case OPTION_LIST: return make_list(field);
	case OPTION_STRING:
		return *(char *const *)field ? make_string(*(char *const *)field) : json_null();
	case OPTION_BOOL: return json_boolean(*(const int64_t *)field != 0);
	case OPTION_TRISTATE:
	case OPTION_ENUM: return json_string(option_number_text(o, *(const int64_t *)field, text));
	default: return json_integer(*(const int64_t *)field);
	}
}

static json_t *make_origin(const struct settings *s, const struct option *o)
{
	static const char *const names[] = {
		[ORIGIN_BUILT_IN] = "default",  [ORIGIN_SYSTEM] = "system",
		[ORIGIN_USER] = "user",         [ORIGIN_PROJECT] = "project",
		[ORIGIN_AGENT] = "agent",       [ORIGIN_PROFILE] = "profile",
		[ORIGIN_VARIABLE] = "variable", [ORIGIN_FLAG] = "flag",
	};
	const struct setting_source *source = &s->sources[o - option_table];
	json_t *origin = json_object();
	int failures = origin ? config_json_set(origin, "by", json_string(names[source->by])) : -1;
	if (source->by == ORIGIN_VARIABLE)
		failures |= config_json_set(origin, "name", json_string(o->variable));
	if (source->by == ORIGIN_FLAG)
		failures |= config_json_set(origin, "name", json_string(o->flag));
	if (source->line > 0) {
		if (s->files[source->by])
			failures |=
				config_json_set(origin, "path", make_string(s->files[source->by]));
		failures |= config_json_set(origin, "line", json_integer(source->line));
	}
	return whole(origin, failures);
}

static const char *unit(const struct option *o)
{
	switch (o->type) {
	case OPTION_SIZE: return "bytes";
	case OPTION_DURATION: return "ms";
	default: return o->unit;
	}
}

static json_t *make_setting(const struct settings *s, const struct option *o)
{
	json_t *setting = json_object();
	int failures = setting ? 0 : -1;
	char text[VALUE_LEN];
	failures |= config_json_set(setting, "section", json_string(o->section));
	failures |= config_json_set(setting, "key", json_string(o->key));
	failures |= config_json_set(setting, "value", make_value(s, o));
	if (unit(o))
		failures |= config_json_set(setting, "unit", json_string(unit(o)));
	if (option_is_number(o)) {
		int64_t value = *(const int64_t *)(const void *)((const char *)s + o->offset);
		failures |= config_json_set(setting, "text",
					    json_string(option_number_text(o, value, text)));
	}
	if (o->type != OPTION_LIST && o->preset)
		failures |= config_json_set(setting, "default", json_string(o->preset));
	failures |= config_json_set(setting, "origin", make_origin(s, o));
	return whole(setting, failures);
}

static char *dump(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	if (!text)
		errno = ENOMEM;
	return text;
}

static char *config_encode(const struct settings *s, const char *profile)
{
	json_t *root = json_object(), *files = json_array(), *settings = json_array();
	int failures =
		config_json_set(root, "profile", profile ? json_string(profile) : json_null());
	failures |= config_json_set(root, "agent", s->agent ? json_string(s->agent) : json_null());
	for (size_t i = 0; i < sizeof(s->files) / sizeof(*s->files); i++) {
		if (s->files[i])
			failures |= config_json_add(files, make_string(s->files[i]));
	}
	for (size_t i = 0; i < option_count; i++)
		failures |= config_json_add(settings, make_setting(s, &option_table[i]));
	failures |= config_json_set(root, "files", files);
	failures |= config_json_set(root, "settings", settings);
	return dump(whole(root, failures));
}

/* --- sections ------------------------------------------------------------------ */

/* What one layer says of a key. */
static int config_json_add_items(json_t *items, const struct layer *layer, const char *name,
				 const char *key)
{
	const struct layer_entry *e = NULL;
	int failures = 0;
	while (layer && (e = layer_next(layer, name, key, e)) != NULL)
		failures |= *e->text ? config_json_add(items, make_string(e->text)) : 0;
	return failures;
}

/* The lowest layer first. */
static int add_all_items(json_t *items, const struct layer *layer, const char *name,
			 const char *key)
{
	if (!layer)
		return 0;
	return add_all_items(items, layer->below, name, key) < 0 ||
			       config_json_add_items(items, layer, name, key) < 0
		       ? -1
		       : 0;
}

static json_t *make_items(const struct layer *top, const char *name, const struct layer_key *key)
{
	json_t *items = json_array();
	int failures = items ? 0 : -1;
	if (key->adds)
		failures |= add_all_items(items, top, name, key->name);
	else
		failures |= config_json_add_items(items, layer_with(top, name, key->name), name,
						  key->name);
	return whole(items, failures);
}

static json_t *make_section(const struct layer_form *form, const struct layer *top,
			    const char *name)
{
	json_t *section = json_object(), *settings = json_object();
	int failures = config_json_set(section, "name", json_string(name));
	for (const struct layer_key *key = form->keys; key->name; key++)
		failures |= config_json_set(section, key->name, make_items(top, name, key));
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		const struct layer *layer;
		const struct layer_entry *e = layer_value(top, name, o, &layer);
		char text[VALUE_LEN];
		if (e)
			failures |=
				config_json_set(settings, o->key,
						json_string(option_number_text(o, e->value, text)));
	}
	failures |= config_json_set(section, "settings", settings);
	return whole(section, failures);
}

static char *config_encode_sections(const struct layer_form *form, const struct layer *top)
{
	json_t *root = json_object(), *sections = json_array();
	char plural[32];
	const char *name;
	int failures = 0;
	snprintf(plural, sizeof(plural), "%ss", form->word);
	for (size_t i = 0; (name = layer_name(top, i)) != NULL; i++)
		failures |= config_json_add(sections, make_section(form, top, name));
	failures |= config_json_set(root, plural, sections);
	return dump(whole(root, failures));
}

/* --- printing ------------------------------------------------------------------ */

static int verb_config_fail(const char *what)
{
	verb_error("config", "%s: %s", what, strerror(errno));
	return EXIT_TERSE;
}

/* Prints text that holds nothing from outside, and releases it. `result`: of filling it. */
static int verb_config_print(struct buffer *text, int result)
{
	if (result == 0)
		result = io_write(STDOUT_FILENO, text->data, text->len);
	buffer_release(text);
	if (result == 0 || errno == EPIPE)
		return 0;
	verb_config_fail("standard output");
	return 1;
}

/* The same for text that may hold anything. */
static int print_clean(struct buffer *text, int result)
{
	struct buffer clean = BUFFER_INIT;
	/* Items of a list begin with a tab. */
	for (size_t at = 0, end; at < text->len && result == 0; at = end + 1) {
		const char *line = text->data + at, *newline = memchr(line, '\n', text->len - at);
		end = newline ? (size_t)(newline - text->data) : text->len;
		bool item = *line == '\t';
		if (buffer_append(&clean, line, item) < 0 ||
		    quote_text(&clean, line + item, end - at - item, 0) < 0 ||
		    buffer_append(&clean, "\n", newline != NULL) < 0)
			result = -1;
	}
	buffer_release(text);
	return verb_config_print(&clean, result);
}

static int verb_config_print_json(char *json)
{
	struct buffer text = BUFFER_INIT;
	int result = json ? buffer_printf(&text, "%s\n", json) : -1;
	free(json);
	return verb_config_print(&text, result);
}

/* --- check ----------------------------------------------------------------------- */

static void verb_config_tell(void *ctx, const char *message)
{
	struct buffer *out = ctx;
	/* A message that is lost for want of memory is still counted. */
	if (buffer_append_string(out, message) == 0)
		buffer_append(out, "\n", 1);
}

static enum origin origin_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(slash ? slash + 1 : path, PROJECT_FILE) == 0 ? ORIGIN_PROJECT : ORIGIN_USER;
}

/* Prints all that is wrong with a file. Returns 0, or 1. */
static void verb_config_add_place(struct buffer *out, const char *path, const char *what)
{
	if (quote_text(out, path, strlen(path), 0) == 0)
		buffer_printf(out, ": %s\n", what);
}

static int verb_config_check_file(const char *path)
{
	enum origin by = origin_of(path);
	struct buffer text = BUFFER_INIT, out = BUFFER_INIT;
	struct option_error error = {""};
	int errors = settings_read_file(by, path, &text, &error);
	if (errors == 0)
		errors = settings_check_text(by, path, text.data, text.len, verb_config_tell, &out);
	else if (*error.text)
		verb_config_tell(&out, error.text);
	else
		verb_config_add_place(&out, path, strerror(errno));
	if (errors == 0)
		verb_config_add_place(&out, path, "no errors");
	buffer_release(&text);
	return print_clean(&out, 0) == 0 && errors == 0 ? 0 : 1;
}

/* The files that a run would read. */
static int check_all(void)
{
	char room[PATH_MAX];
	bool named, none = true;
	int status = 0;
	for (enum origin by = ORIGIN_SYSTEM; by <= ORIGIN_PROJECT; by++) {
		const char *path = SETTINGS_SYSTEM_FILE;
		if (by == ORIGIN_USER)
			path = settings_user_file(room, &named);
		if (by == ORIGIN_PROJECT)
			path = project_find(room) ? room : NULL;
		if (!path || access(path, F_OK) < 0)
			continue;
		status |= verb_config_check_file(path);
		none = false;
	}
	if (none) {
		struct buffer out = BUFFER_INIT;
		return verb_config_print(
			&out, buffer_append_string(&out, "there is no configuration file\n"));
	}
	return status;
}

static int verb_config_check(int count, char **files)
{
	int status = 0;
	for (int i = 0; i < count; i++)
		status |= verb_config_check_file(files[i]);
	return count > 0 ? status : check_all();
}

/* --- init ------------------------------------------------------------------------ */

/* Makes the directories above `path`, which is changed meanwhile. */
static int make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int result = mkdir(path, 0700);
		*slash = '/';
		if (result < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

static int write_new(const char *path, const struct buffer *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -1;
	int result = io_write(fd, text->data, text->len);
	if (result < 0)
		unlink(path);
	io_close(&fd);
	return result;
}

static int init(const char *file)
{
	struct buffer text = BUFFER_INIT;
	char path[PATH_MAX];
	bool named;
	int result = option_print_sample(&text);
	if (file && strcmp(file, "-") == 0)
		return verb_config_print(&text, result);
	if (!file)
		file = settings_user_file(path, &named);
	if (!file) {
		verb_error("config", "init: no home directory: give a file's name");
		buffer_release(&text);
		return EXIT_TERSE;
	}
	if (file == path && result == 0)
		result = make_directories(path);
	if (result == 0)
		result = write_new(file, &text);
	buffer_release(&text);
	if (result < 0 && errno == EEXIST) {
		verb_error("config",
			   "%s: is there already; terse config init - prints what it "
			   "would be",
			   file);
		return 1;
	}
	if (result < 0)
		return verb_config_fail(file);
	struct buffer out = BUFFER_INIT;
	return print_clean(&out, quote_text(&out, file, strlen(file), 0) < 0
					 ? -1
					 : buffer_append(&out, "\n", 1));
}

/* --- get and set --------------------------------------------------------------- */

static bool is_named(const struct option *o, const char *name)
{
	size_t len = strlen(o->section);
	return (o->flag && strcmp(o->flag, name) == 0) || strcmp(o->variable, name) == 0 ||
	       (strncmp(o->section, name, len) == 0 && name[len] == '.' &&
		strcmp(o->key, name + len + 1) == 0);
}

/* SECTION.KEY, KEY where there is one of it, the flag or the variable; NULL after saying what is
   wrong. */
static const struct option *config_set_find(const char *name)
{
	const struct option *found = NULL, *other = NULL;
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, name);
	for (size_t i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];
		if (is_named(o, name))
			return o;
		if (strcmp(o->key, name) == 0) {
			other = found;
			found = o;
		}
		nearest_offer(&n, o->key);
		if (o->flag)
			nearest_offer(&n, o->flag);
		nearest_offer(&n, o->variable);
	}
	if (other)
		verb_error("config", "%s: %s.%s or %s.%s?", name, other->section, name,
			   found->section, name);
	else if (!found)
		verb_error("config", "%s: %s", name, nearest_reason(reason, "key", n.best));
	return other ? NULL : found;
}

/* What is in `text`, which may hold anything, and `end`. Returns the verb's status. */
static int config_set_print(const struct buffer *text, const char *end)
{
	struct buffer out = BUFFER_INIT;
	int status = EXIT_TERSE;
	if (utf8_clean(&out, text->data, text->len) == 0 && buffer_append_string(&out, end) == 0 &&
	    (io_write(STDOUT_FILENO, out.data, out.len) == 0 || errno == EPIPE))
		status = 0;
	else
		verb_error("config", "%s", strerror(errno));
	buffer_release(&out);
	return status;
}

static int config_get(const struct settings *s, int count, char **words)
{
	struct buffer text = BUFFER_INIT;
	if (count != 1) {
		verb_error("config", "which key? terse config get KEY");
		return EXIT_TERSE;
	}
	const struct option *o = config_set_find(words[0]);
	if (!o)
		return EXIT_TERSE;
	int status = option_print_value(&text, o, s) == 0
			     ? config_set_print(&text, o->type == OPTION_LIST ? "" : "\n")
			     : EXIT_TERSE;
	buffer_release(&text);
	return status;
}

/* Whether the option takes the values; says why not. */
static bool are_good(const struct option *o, char **values, int count)
{
	struct settings s = {0};
	struct option_error error = {""}, message;
	int i = 0, result = o->type == OPTION_LIST || count == 1 ? 0 : -1;
	if (result < 0)
		snprintf(error.text, sizeof(error.text), "takes one value");
	for (; result == 0 && i < count; i++)
		result = o->type == OPTION_LIST ? option_append(&s, o, values[i], &error)
						: option_set(&s, o, values[i], &error);
	if (result < 0) {
		config_error_write(&(struct config_error){.where = o->key,
							  .value = i ? values[i - 1] : NULL,
							  .reason = error.text},
				   &message);
		verb_error("config", "%s", message.text);
	}
	option_clear(&s, o);
	return result == 0;
}

static void config_set_tell(void *ctx, const char *message)
{
	verb_error(ctx, "%s", message);
}

/* Returns the verb's status. */
static int config_set_write_file(const char *path, const struct option *o, char **values, int count)
{
	struct document d;
	struct buffer next = BUFFER_INIT, line = BUFFER_INIT;
	const char *why = NULL;
	int status = EXIT_TERSE;
	if (document_read(&d, path, NULL) < 0) {
		why = d.reason ? d.reason : strerror(errno);
	} else if (settings_check_text(ORIGIN_USER, path, d.text.len ? d.text.data : "", d.text.len,
				       config_set_tell, (char *)"config") != 0) {
		why = "has errors, and is left as it is";
	} else if (ini_set(&next, d.text.len ? d.text.data : "", d.text.len, o->section, o->key,
			   values, (size_t)count) < 0) {
		why = errno == EINVAL ? "an ini file can't hold that value" : strerror(errno);
	} else if (document_write(&d, next.data, next.len) < 0) {
		why = strerror(errno);
	} else if (buffer_printf(&line, "%s: [%s] %s =", path, o->section, o->key) == 0) {
		for (int i = 0; i < count; i++)
			buffer_printf(&line, " %s", values[i]);
		status = config_set_print(&line, "\n");
	}
	if (why)
		verb_error("config", "%s: %s", path, why);
	document_release(&d);
	buffer_release(&next);
	buffer_release(&line);
	return status;
}

static int config_set(int count, char **words)
{
	char room[PATH_MAX];
	bool named;
	if (count < 2) {
		verb_error("config", "what? terse config set KEY VALUE");
		return EXIT_TERSE;
	}
	const struct option *o = config_set_find(words[0]);
	if (!o || !are_good(o, words + 1, count - 1))
		return EXIT_TERSE;
	const char *path = settings_user_file(room, &named);
	if (!path) {
		verb_error("config", "set: no home directory, or TERSE_CONFIG is empty");
		return EXIT_TERSE;
	}
	return config_set_write_file(path, o, words + 1, count - 1);
}

/* --- what is in effect -------------------------------------------------------------- */

static bool is_program(const char *word)
{
	char path[PATH_MAX];
	return shell_is_builtin(word) ||
	       (strchr(word, '/') ? access(word, X_OK) == 0 : hints_find_program(word, path));
}

static int no_such_action(const char *word)
{
	static const char *const actions[] = {"check", "init",       "completion", "get",
					      "set",   "--profiles", "--agents"};
	char reason[NEAREST_LEN];
	struct nearest n;
	nearest_init(&n, word);
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		nearest_offer(&n, actions[i]);
	verb_error("config", "%s: %s", word,
		   nearest_reason(reason, "action, and no such command", n.best));
	return EXIT_TERSE;
}

/* With a command: as they are for it. `plain`: it is one for certain. */
static int print_settings(struct settings *s, char **command, bool plain, bool json)
{
	struct buffer text = BUFFER_INIT;
	struct profile_choice choice;
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
		    !is_program(*command))
			return no_such_action(*command);
	}
	if (json)
		return verb_config_print_json(config_encode(s, profile));
	return print_clean(&text, option_print_settings(&text, s, profile));
}

static int print_sections(const struct settings *s, const struct layer_form *form,
			  const struct layer *top, bool json)
{
	struct buffer text = BUFFER_INIT;
	if (json)
		return verb_config_print_json(config_encode_sections(form, top));
	return print_clean(&text, layer_write(&text, s, form, top));
}

struct request {
	bool json, profiles, agents, manual;
	char **words; /* what follows the options */
	int count;
	bool plain; /* -- before them: a command */
};

static int verb_config_bad_usage(const char *what, const char *why)
{
	verb_error("config", "%s: %s (see terse help config)", what, why);
	return -1;
}

static int verb_config_no_such_option(const char *name)
{
	static const char *const own[] = {"--json", "--profiles", "--agents", "--man", NULL};
	const char *best = option_nearest_flag(name, own);
	if (!best)
		return verb_config_bad_usage(name, "no such option");
	verb_error("config", "%s: no such option (did you mean %s?)", name, best);
	return -1;
}

static int verb_config_parse(struct settings *s, int argc, char **argv, struct request *r)
{
	struct option_error error = {""};
	int i = 1;
	while (i < argc && argv[i][0] == '-' && argv[i][1] && !r->plain) {
		if (strcmp(argv[i], "--json") == 0) {
			r->json = true;
			i++;
		} else if (strcmp(argv[i], "--profiles") == 0) {
			r->profiles = true;
			i++;
		} else if (strcmp(argv[i], "--agents") == 0) {
			r->agents = true;
			i++;
		} else if (strcmp(argv[i], "--man") == 0) {
			r->manual = true;
			i++;
		} else if (strcmp(argv[i], "--") == 0) {
			r->plain = true;
			i++;
		} else {
			int taken = settings_take_flag(s, argc, argv, &i, &error);
			if (taken < 0) {
				verb_error("config", "%s", error.text);
				return -1;
			}
			if (taken == 0)
				return verb_config_no_such_option(argv[i]);
		}
	}
	r->words = argv + i;
	r->count = argc - i;
	return 0;
}

int command_config(struct command_context *c, int argc, char **argv)
{
	struct request r = {.json = false};
	if (verb_config_parse(c->settings, argc, argv, &r) < 0)
		return EXIT_TERSE;
	const char *action = r.count > 0 && !r.plain ? r.words[0] : "";
	if (r.profiles)
		return print_sections(c->settings, &profiles_form, profiles_of(c->settings),
				      r.json);
	if (r.agents)
		return print_sections(c->settings, &rules_form, rules_of(c->settings), r.json);
	if (r.manual) {
		struct buffer text = BUFFER_INIT;
		return verb_config_print(&text, option_print_manual(&text));
	}
	if (strcmp(action, "check") == 0)
		return verb_config_check(r.count - 1, r.words + 1);
	if (strcmp(action, "completion") == 0) {
		struct buffer text = BUFFER_INIT;
		if (r.count == 1 || strcmp(r.words[1], "bash") == 0)
			return verb_config_print(&text, option_print_completion(&text));
		verb_config_bad_usage(r.words[1], "there is a completion for bash only");
		return EXIT_TERSE;
	}
	if (strcmp(action, "init") == 0) {
		if (r.count > 1 && r.words[1][0] == '-' && r.words[1][1]) {
			verb_config_bad_usage(r.words[1], "no such option");
			return EXIT_TERSE;
		}
		return init(r.words[1]);
	}
	const char *agent = rule_agent(c->settings);
	if (agent)
		rule_apply(c->settings, agent);
	if (strcmp(action, "get") == 0)
		return config_get(c->settings, r.count - 1, r.words + 1);
	if (strcmp(action, "set") == 0)
		return config_set(r.count - 1, r.words + 1);
	return print_settings(c->settings, r.words, r.plain, r.json);
}
