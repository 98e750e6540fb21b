// See arguments.h.

#include "supervisor/mcp/arguments.h"

#include "lib/buffer.h"
#include "lib/quote.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether `given` is the name, or its camelCase form. */
static bool arguments_is_name(const char *name, const char *given)
{
	if (strcmp(name, given) == 0)
		return true;
	for (; *name && *given; name++, given++) {
		if (*name == '_' && *given == name[1] - 'a' + 'A')
			name++;
		else if (*name != *given)
			return false;
	}
	return !*name && !*given;
}

static void arguments_set_wrong(struct arguments_of *a, const char *name, const char *why)
{
	struct buffer safe = BUFFER_INIT;
	size_t len = strlen(name);
	quote_text(&safe, name, len < 60 ? len : 60, 0);
	const char *shown = buffer_string(&safe);
	snprintf(a->wrong, sizeof(a->wrong), "%s: %s: %s", a->tool->name, shown ? shown : "?", why);
	buffer_release(&safe);
}

/* Arguments that tools of other makers have: models give them to any. */
static const struct {
	const char *given, *name; /* "": it changes nothing */
} arguments_of_others[] = {{"timeout_ms", "timeout"}, {"description", ""}};

/* What a given name means. */
static const char *arguments_translate(const char *given)
{
	for (size_t i = 0; i < sizeof(arguments_of_others) / sizeof(*arguments_of_others); i++) {
		if (arguments_is_name(arguments_of_others[i].given, given))
			return arguments_of_others[i].name;
	}
	return given;
}

static int arguments_find(const struct tool *tool, const char *given)
{
	for (int i = 0; tool->arguments[i].name; i++) {
		if (arguments_is_name(tool->arguments[i].name, given))
			return i;
	}
	return -1;
}

static int arguments_no_such(struct arguments_of *a, const char *given)
{
	char why[300];
	size_t len = 0;
	len += (size_t)snprintf(why, sizeof(why), "no such argument; there are");
	for (int i = 0; a->tool->arguments[i].name && len < sizeof(why); i++)
		len += (size_t)snprintf(why + len, sizeof(why) - len, "%s %s", i ? "," : "",
					a->tool->arguments[i].name);
	arguments_set_wrong(a, given, a->tool->arguments[0].name ? why : "it takes no arguments");
	return -1;
}

static bool arguments_are_strings(const json_t *value)
{
	size_t i;
	const json_t *item;
	if (!json_is_array(value))
		return false;
	json_array_foreach(value, i, item)
	{
		if (!json_is_string(item))
			return false;
	}
	return true;
}

static bool arguments_are_pairs(json_t *value)
{
	const char *key;
	json_t *item;
	if (!json_is_object(value))
		return false;
	json_object_foreach(value, key, item)
	{
		if (!json_is_string(item) || !*key || strchr(key, '='))
			return false;
	}
	return true;
}

static bool arguments_is_count(const struct tool_argument *t, const json_t *value)
{
	json_int_t n = json_integer_value(value);
	return json_is_integer(value) && n >= 0 && (uint64_t)n >= t->least &&
	       (uint64_t)n <= t->most;
}

/* Whether a string of the value holds a NUL, which no word, path or variable can. */
static bool arguments_has_nul(json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;
	json_array_foreach(value, i, item)
	{
		if (arguments_has_nul(item))
			return true;
	}
	json_object_foreach(value, key, item)
	{
		if (arguments_has_nul(item))
			return true;
	}
	return json_is_string(value) &&
	       strlen(json_string_value(value)) != json_string_length(value);
}

/* What is typed or read may hold anything. */
static bool arguments_is_data(const struct tool_argument *t)
{
	return strcmp(t->name, "text") == 0 || strcmp(t->name, "stdin") == 0;
}

/* What the value has to be; NULL: it is. */
static const char *arguments_judge(const struct tool_argument *t, json_t *value, char room[100])
{
	if (!arguments_is_data(t) && arguments_has_nul(value))
		return "must not have a NUL character";
	switch (t->type) {
	case TOOL_TEXT: return json_is_string(value) ? NULL : "must be a string";
	case TOOL_LINE: return json_is_integer(value) ? NULL : "must be a whole number";
	case TOOL_FLAG: return json_is_boolean(value) ? NULL : "must be true or false";
	case TOOL_STRINGS: return arguments_are_strings(value) ? NULL : "must be a list of strings";
	case TOOL_PAIRS:
		return arguments_are_pairs(value)
			       ? NULL
			       : "must be an object of strings, by the variables' names";
	default: break;
	}
	if (arguments_is_count(t, value))
		return NULL;
	if (t->most < UINT64_MAX)
		snprintf(room, 100, "must be a whole number from %" PRIu64 " to %" PRIu64, t->least,
			 t->most);
	else
		snprintf(room, 100, "must be a whole number, %" PRIu64 " at least", t->least);
	return room;
}

static const char *arguments_judge_choice(const struct tool_argument *t, const json_t *value,
					  char room[100])
{
	char quoted[32];
	const char *text = json_string_value(value);
	if (!t->choices || !text)
		return NULL;
	snprintf(quoted, sizeof(quoted), "\"%.28s\"", text);
	if (!strchr(text, '"') && strstr(t->choices, quoted))
		return NULL;
	snprintf(room, 100, "must be one of %s", t->choices);
	return room;
}

/* The value that a string stands for where another type is wanted; NULL: it stands for none. */
static json_t *arguments_make_value(const struct tool_argument *t, const char *text)
{
	static const char scheme[] = RESOURCES_SCHEME;
	char *end;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	if (t->type == TOOL_FLAG && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
		return json_boolean(*text == 't');
	if ((t->type == TOOL_COUNT || t->type == TOOL_LINE) && end > text && !*end && !errno)
		return json_integer(number);
	if (strcmp(t->name, "artifact_id") == 0 && strncmp(text, scheme, strlen(scheme)) == 0)
		return json_string(text + strlen(scheme));
	return NULL;
}

/* Replaces the member's value by the one that it stands for. */
static json_t *arguments_convert(const struct tool_argument *t, json_t *given, const char *key,
				 json_t *value)
{
	const char *text = json_string_value(value);
	json_t *made = text ? arguments_make_value(t, text) : NULL;
	return made && json_object_set_new(given, key, made) == 0 ? made : value;
}

/* Clients that have to give every argument give null, "" or 0 for what they leave out. Text that is
   sent may be empty. */
static bool arguments_is_left_out(const struct tool_argument *t, const json_t *value)
{
	const char *text = json_string_value(value);
	if (t->type == TOOL_TEXT && !t->required && text && !*text)
		return !arguments_is_data(t);
	if (t->type == TOOL_LINE || (t->type == TOOL_COUNT && t->least > 0))
		return json_is_null(value) ||
		       (json_is_integer(value) && json_integer_value(value) == 0);
	return json_is_null(value);
}

int arguments_read(struct arguments_of *a, const struct tool *tool, json_t *given)
{
	const char *key;
	json_t *value;
	char room[100];
	*a = (struct arguments_of){.tool = tool};
	if (given && !json_is_object(given)) {
		arguments_set_wrong(a, "arguments", "must be an object");
		return -1;
	}
	json_object_foreach(given, key, value)
	{
		const char *name = arguments_translate(key);
		int at = arguments_find(tool, name);
		if (!*name)
			continue;
		if (at < 0)
			return arguments_no_such(a, key);
		value = arguments_convert(&tool->arguments[at], given, key, value);
		if (arguments_is_left_out(&tool->arguments[at], value))
			continue;
		const char *why = arguments_judge(&tool->arguments[at], value, room);
		if (!why)
			why = arguments_judge_choice(&tool->arguments[at], value, room);
		if (why) {
			arguments_set_wrong(a, key, why);
			return -1;
		}
		a->values[at] = value;
	}
	for (int i = 0; tool->arguments[i].name; i++) {
		if (tool->arguments[i].required && !a->values[i]) {
			arguments_set_wrong(a, tool->arguments[i].name, "is missing");
			return -1;
		}
	}
	return 0;
}

json_t *argument_value(const struct arguments_of *a, const char *name)
{
	int at = arguments_find(a->tool, name);
	return at < 0 ? NULL : a->values[at];
}

const char *argument_text(const struct arguments_of *a, const char *name)
{
	return json_string_value(argument_value(a, name));
}

int64_t argument_number(const struct arguments_of *a, const char *name, int64_t otherwise)
{
	const json_t *value = argument_value(a, name);
	return value ? json_integer_value(value) : otherwise;
}

bool argument_flag(const struct arguments_of *a, const char *name)
{
	return json_is_true(argument_value(a, name));
}

const json_t *argument_list(const struct arguments_of *a, const char *name)
{
	const json_t *value = argument_value(a, name);
	return json_array_size(value) ? value : NULL;
}
