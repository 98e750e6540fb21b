// See server.h.

#include "supervisor/mcp/server.h"

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/quote.h"
#include "lib/tool_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the table ------------------------------------------------------------------------------- */

/* The most milliseconds that a tool may wait: a day. */
#define TOOL_TIME_MAX 86400000

#define TOOL_LINES_MAX 1000000000
#define TOOL_SIZE_MAX  1048576

static const struct argument run_arguments[] = {
	{"command", ARGUMENT_TEXT, "shell string; with args: a program", .required = true},
	{"args", ARGUMENT_STRINGS, "arguments; no shell is used then", .required = false},
	{"session", ARGUMENT_TEXT, .required = false},
	{"cwd", ARGUMENT_TEXT, "for this command only", .required = false},
	{"env", ARGUMENT_PAIRS, "for this command only", .required = false},
	{"timeout", ARGUMENT_TIME, "ms; default 30000", .required = false},
	{"kill_on_timeout", ARGUMENT_FLAG, .required = false},
	{"stdin", ARGUMENT_DATA, .required = false},
	{"max_output_lines", ARGUMENT_COUNT, "default 500", .option = "--max-lines", .least = 1,
	 .most = TOOL_LINES_MAX, .otherwise = 500},
	{"max_error_lines", ARGUMENT_COUNT, "of separate stderr; default 750",
	 .option = "--max-err-lines", .least = 1, .most = TOOL_LINES_MAX, .otherwise = 750},
	{"about", ARGUMENT_TEXT, "words; lines with them come first", .option = "--about"},
	{"max_bytes", ARGUMENT_COUNT, "preview size", .least = 64, .most = TOOL_SIZE_MAX},
	{"include_full_output", ARGUMENT_FLAG, "no preview up to 1 MB", .required = false},
	{"profile", ARGUMENT_TEXT, "how to shorten: read, search, list, log ...",
	 .option = "--profile"},
	{.name = NULL},
};

static const struct argument read_arguments[] = {
	{"artifact_id", ARGUMENT_TEXT, .required = true},
	{"offset", ARGUMENT_LINE, "first line, from 1; -1: the last", .option = "--offset"},
	{"limit", ARGUMENT_COUNT, "lines, or matches", .option = "--limit", .least = 1,
	 .most = UINT64_MAX},
	{"tail", ARGUMENT_COUNT, "the last lines", .option = "--tail", .least = 1,
	 .most = UINT64_MAX},
	{"search", ARGUMENT_TEXT, "only lines that match this PCRE2 pattern", .option = "--regexp"},
	{"context", ARGUMENT_COUNT, "lines around a match", .option = "--context", .least = 1,
	 .most = 1000},
	{"bytes", ARGUMENT_TEXT, "FROM-TO", .option = "--bytes"},
	{"stream", ARGUMENT_TEXT, NULL, .option = "--",
	 .choices = "[\"stdout\",\"stderr\",\"raw\"]"},
	{.name = NULL},
};

static const struct argument list_arguments[] = {
	{"limit", ARGUMENT_COUNT, "default 30", .option = "--limit", .least = 1, .most = 1000},
	{.name = NULL},
};

static const struct argument await_arguments[] = {
	{"artifact_id", ARGUMENT_TEXT, .required = true},
	{"for", ARGUMENT_TEXT, "or until a line matches this pattern", .option = "--for"},
	{"idle", ARGUMENT_TIME, "or until it was silent so many ms", .option = "--idle"},
	{"timeout", ARGUMENT_TIME, "ms; default 30000", .option = "--timeout", .otherwise = 30000},
	{.name = NULL},
};

static const struct argument send_arguments[] = {
	{"artifact_id", ARGUMENT_TEXT, .required = true},
	{"text", ARGUMENT_TEXT, NULL, .option = "--text"},
	{"keys", ARGUMENT_STRINGS, TOOL_KEYS, .option = "--key"},
	{"for", ARGUMENT_TEXT, "wait for a line like this", .option = "--for"},
	{"idle", ARGUMENT_TIME, "wait for so many silent ms; default 1000", .option = "--idle",
	 .otherwise = 1000},
	{"timeout", ARGUMENT_TIME, "ms; default 10000", .option = "--timeout", .otherwise = 10000},
	{.name = NULL},
};

static const struct argument signal_arguments[] = {
	{"artifact_id", ARGUMENT_TEXT, .required = true},
	{"signal", ARGUMENT_TEXT, "such as INT; none: end it", .required = false},
	{.name = NULL},
};

static const struct argument screen_arguments[] = {
	{"artifact_id", ARGUMENT_TEXT, .required = true},
	{.name = NULL},
};

static const struct argument new_arguments[] = {
	{"session", ARGUMENT_TEXT, "its name", .required = false},
	{"cwd", ARGUMENT_TEXT, .required = false},
	{.name = NULL},
};

static const struct argument end_arguments[] = {
	{"session", ARGUMENT_TEXT, .required = true},
	{.name = NULL},
};

static const char *tool_check_read(const struct arguments *a)
{
	const char *stream = argument_text(a, "stream");
	if (!argument_text(a, "search"))
		return argument_value(a, "context") ? "context: goes with search" : NULL;
	return argument_value(a, "tail") || argument_value(a, "bytes") ||
			       argument_number(a, "offset", 1) < 0 ||
			       (stream && strcmp(stream, "raw") == 0)
		       ? "search: goes with offset from 1 on, limit, context and stream stderr, "
			 "and with nothing else"
		       : NULL;
}

static const char *tool_check_send(const struct arguments *a)
{
	return argument_value(a, "text") || argument_value(a, "keys")
		       ? NULL
		       : "text or keys: one of them is needed";
}

const struct tool tools[] = {
	{
		.name = TOOL_RUN,
		.title = "Run a command",
		.description =
			"Run a shell command (or a program with args). Short output comes whole, "
			"long output as a preview that shows why the command ended as it did; the "
			"last line says how to read the rest with " TOOL_READ ". Do not shorten "
			"output with head or tail. cd and exported variables stay for the "
			"session's next command. A command that runs longer than timeout, or asks "
			"something, goes on: the answer names its artifact_id for " TOOL_AWAIT
			", " TOOL_SEND ", " TOOL_SIGNAL ".",
		.destructive = true,
		.open_world = true,
		.verb = "run",
		.arguments = run_arguments,
	},
	{
		.name = TOOL_READ,
		.title = "Read a command's output",
		.description = "Read lines of the whole output of a command, or search it. "
			       "artifact_id: as a preview names it, or last.",
		.read_only = true,
		.verb = "read",
		.check = tool_check_read,
		.arguments = read_arguments,
	},
	{
		.name = TOOL_LIST,
		.title = "List commands",
		.description = "List commands and their artifacts, newest first.",
		.read_only = true,
		.verb = "list",
		.arguments = list_arguments,
	},
	{
		.name = TOOL_AWAIT,
		.title = "Wait for a command",
		.description = "Wait until a running command has ended or asks something, and get "
			       "its new output.",
		.read_only = true,
		.verb = "await",
		.arguments = await_arguments,
	},
	{
		.name = TOOL_SEND,
		.title = "Type into a command",
		.description = "Type into a running command, text before keys, and get its "
			       "response. A line needs keys [\"enter\"].",
		.destructive = true,
		.open_world = true,
		.verb = "send",
		.also = "--await",
		.check = tool_check_send,
		.arguments = send_arguments,
	},
	{
		.name = TOOL_SIGNAL,
		.title = "End a command",
		.description = "End a running command and all it started, or send it a signal.",
		.destructive = true,
		.verb = "signal",
		.arguments = signal_arguments,
	},
	{
		.name = TOOL_SCREEN,
		.title = "Show a command's screen",
		.description = "Show the terminal of a running command, also of a full-screen "
			       "program.",
		.read_only = true,
		.verb = "snapshot",
		.arguments = screen_arguments,
	},
	{
		.name = "new_session",
		.title = "Start a shell session",
		.description = "Start a further session with a directory and variables of its "
			       "own, for " TOOL_RUN ".",
		.serve = sessions_serve_new,
		.arguments = new_arguments,
	},
	{
		.name = "end_session",
		.title = "End a shell session",
		.description = "Forget a session. Commands it started go on.",
		.serve = sessions_serve_end,
		.arguments = end_arguments,
	},
	{.name = NULL},
};

const struct tool *tool_find(const char *name, bool read_only)
{
	for (const struct tool *t = tools; t->name; t++) {
		if (strcmp(t->name, name) == 0)
			return read_only && !t->read_only ? NULL : t;
	}
	return NULL;
}

/* --- its JSON -------------------------------------------------------------------------------- */

/* The names of the types, in a schema and for a model. */
static const struct {
	const char *json, *must;
} types[] = {
	[ARGUMENT_TEXT] = {"string", "a string"},
	[ARGUMENT_DATA] = {"string", "a string"},
	[ARGUMENT_COUNT] = {"integer", "a whole number"},
	[ARGUMENT_TIME] = {"integer", "a whole number"},
	[ARGUMENT_LINE] = {"integer", "a whole number"},
	[ARGUMENT_FLAG] = {"boolean", "true or false"},
	[ARGUMENT_STRINGS] = {"array", "a list of strings"},
	[ARGUMENT_PAIRS] = {"object", "an object of strings, by the variables' names"},
};

void tools_list(struct buffer *out, bool read_only)
{
	json_begin(out, "tools", '[');
	for (const struct tool *t = tools; t->name; t++) {
		if (read_only && !t->read_only)
			continue;
		json_begin(out, NULL, '{');
		json_add_string(out, "name", t->name);
		json_add_string(out, "title", t->title);
		json_add_string(out, "description", t->description);
		bool any = false;
		json_begin(out, "inputSchema", '{');
		json_add_string(out, "type", "object");
		json_begin(out, "properties", '{');
		for (const struct argument *a = t->arguments; a->name; a++) {
			bool list = a->type == ARGUMENT_STRINGS;
			json_begin(out, a->name, '{');
			json_add_string(out, "type", types[a->type].json);
			if (list || a->type == ARGUMENT_PAIRS) {
				json_begin(out, list ? "items" : "additionalProperties", '{');
				json_add_string(out, "type", "string");
				json_end(out, '}');
			}
			if (a->choices)
				json_add_raw(out, "enum", a->choices, strlen(a->choices));
			if (a->description)
				json_add_string(out, "description", a->description);
			json_end(out, '}');
			any |= a->required;
		}
		json_end(out, '}');
		if (any)
			json_begin(out, "required", '[');
		for (const struct argument *a = t->arguments; a->name; a++) {
			if (a->required)
				json_add_string(out, NULL, a->name);
		}
		if (any)
			json_end(out, ']');
		json_end(out, '}');
		json_begin(out, "annotations", '{');
		json_add_string(out, "title", t->title);
		json_add_bool(out, "readOnlyHint", t->read_only);
		json_add_bool(out, "destructiveHint", t->destructive);
		json_add_bool(out, "openWorldHint", t->open_world);
		json_end(out, '}');
		json_end(out, '}');
	}
	json_end(out, ']');
}

/* --- the arguments of a call ----------------------------------------------------------------- */

int arguments_refuse(struct buffer *wrong, const char *name, const char *format, ...)
{
	size_t len = strlen(name);
	va_list args;
	quote_text(wrong, name, len < 60 ? len : 60, 0);
	buffer_append_string(wrong, ": ");
	va_start(args, format);
	buffer_vprintf(wrong, format, args);
	va_end(args);
	return -1;
}

static int arguments_find(const struct tool *tool, const char *given)
{
	for (int i = 0; tool->arguments[i].name; i++) {
		if (strcmp(tool->arguments[i].name, given) == 0)
			return i;
	}
	return -1;
}

/* Whether the value is a string. Sets *nul if it has a NUL, which no word, path or variable can
   have. */
static bool arguments_is_text(const json_t *value, bool *nul)
{
	const char *text = json_string_value(value);
	*nul |= text && strlen(text) != json_string_length(value);
	return text;
}

/* Stores the value of an argument that was given as `key`. Returns 0; or appends what the value has
   to be and returns -1. */
static int arguments_take(struct arguments *a, int at, const char *key, json_t *value,
			  struct buffer *wrong)
{
	const struct argument *t = &a->tool->arguments[at];
	const bool time = t->type == ARGUMENT_TIME;
	const uint64_t least = time ? 1 : t->least, most = time ? TOOL_TIME_MAX : t->most;
	const char *text = json_string_value(value), *name;
	char must[100];
	json_int_t n = json_integer_value(value);
	json_t *item;
	bool nul = false, good = true;
	size_t i;
	snprintf(must, sizeof(must), "%s", types[t->type].must);
	switch (t->type) {
	case ARGUMENT_TEXT:
	case ARGUMENT_DATA: good = arguments_is_text(value, &nul); break;
	case ARGUMENT_COUNT:
	case ARGUMENT_TIME:
		good = json_is_integer(value) && n >= 0 && (uint64_t)n >= least &&
		       (uint64_t)n <= most;
		if (most == UINT64_MAX)
			snprintf(must, sizeof(must), "a whole number, %" PRIu64 " at least", least);
		else
			snprintf(must, sizeof(must), "a whole number from %" PRIu64 " to %" PRIu64,
				 least, most);
		break;
	case ARGUMENT_LINE: good = json_is_integer(value); break;
	case ARGUMENT_FLAG: good = json_is_boolean(value); break;
	case ARGUMENT_STRINGS:
		good = json_is_array(value);
		json_array_foreach(value, i, item)
		{
			good &= arguments_is_text(item, &nul);
		}
		break;
	case ARGUMENT_PAIRS:
		good = json_is_object(value);
		json_object_foreach(value, name, item)
		{
			good &= arguments_is_text(item, &nul) && *name && !strchr(name, '=');
		}
		break;
	}
	if (nul && t->type != ARGUMENT_DATA)
		return arguments_refuse(wrong, key, "must not have a NUL character");
	if (good && t->choices) {
		snprintf(must, sizeof(must), "\"%.28s\"", text);
		good = !strchr(text, '"') && strstr(t->choices, must);
		snprintf(must, sizeof(must), "one of %s", t->choices);
	}
	if (!good)
		return arguments_refuse(wrong, key, "must be %s", must);
	a->values[at] = value;
	return 0;
}

/* Returns the value that a model has meant. A string is converted to the type that the argument
   has, and replaced in `given`. NULL: the argument counts as not given. Some clients have to give
   every argument and write null, "", 0 or [] for that; an empty text of type ARGUMENT_DATA is a
   value. */
static json_t *arguments_mend(const struct argument *t, json_t *given, const char *key,
			      json_t *value)
{
	const bool is_number = strcmp(types[t->type].json, "integer") == 0;
	const char *text = json_string_value(value);
	json_t *made = NULL;
	char *end;
	errno = 0;
	long long number = text ? strtoll(text, &end, 10) : 0;
	if (text && t->type == ARGUMENT_FLAG &&
	    (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
		made = json_boolean(*text == 't');
	else if (text && is_number && end > text && !*end && !errno)
		made = json_integer(number);
	if (made && json_object_set_new(given, key, made) == 0)
		value = made;
	bool left_out =
		json_is_null(value) ||
		(t->type == ARGUMENT_TEXT && !t->required && json_is_string(value) &&
		 !json_string_length(value)) ||
		(t->type == ARGUMENT_STRINGS && json_is_array(value) && !json_array_size(value)) ||
		(is_number && json_is_integer(value) && !json_integer_value(value));
	return left_out ? NULL : value;
}

int arguments_read(struct arguments *a, const struct tool *tool, json_t *given,
		   struct buffer *wrong)
{
	const struct argument *t = tool->arguments;
	const char *key;
	json_t *value;
	*a = (struct arguments){.tool = tool};
	if (given && !json_is_object(given))
		return arguments_refuse(wrong, "arguments", "must be an object");
	json_object_foreach(given, key, value)
	{
		/* Models give these two arguments to any tool, since other tools have them. */
		if (strcmp(key, "description") == 0)
			continue;
		int at = arguments_find(tool, strcmp(key, "timeout_ms") == 0 ? "timeout" : key);
		if (at < 0) {
			arguments_refuse(wrong, key, "no such argument; there are");
			for (int i = 0; t[i].name; i++)
				buffer_printf(wrong, "%s %s", i ? "," : "", t[i].name);
			return -1;
		}
		value = arguments_mend(&t[at], given, key, value);
		if (value && arguments_take(a, at, key, value, wrong) < 0)
			return -1;
	}
	for (int i = 0; t[i].name; i++) {
		if (t[i].required && !a->values[i])
			return arguments_refuse(wrong, t[i].name, "is missing");
	}
	const char *why = tool->check ? tool->check(a) : NULL;
	if (why)
		buffer_append_string(wrong, why);
	return why ? -1 : 0;
}

json_t *argument_value(const struct arguments *a, const char *name)
{
	int at = arguments_find(a->tool, name);
	return at < 0 ? NULL : a->values[at];
}

const char *argument_text(const struct arguments *a, const char *name)
{
	return json_string_value(argument_value(a, name));
}

int64_t argument_number(const struct arguments *a, const char *name, int64_t otherwise)
{
	const json_t *value = argument_value(a, name);
	return value ? json_integer_value(value) : otherwise;
}
