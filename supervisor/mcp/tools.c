// See tools.h.

#include "supervisor/mcp/tools.h"

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/tool_names.h"

#include <string.h>

/* Milliseconds that a tool may wait: a day. */
#define TOOL_WAIT_MAX 86400000

#define TOOL_SIZE_MAX 1048576

#define ARTIFACT                                                 \
	{                                                        \
		"artifact_id", TOOL_TEXT, 0, 0, NULL, NULL, true \
	}
#define TIMEOUT(by)                                                                     \
	{                                                                               \
		"timeout", TOOL_COUNT, 1, TOOL_WAIT_MAX, "ms; default " by, NULL, false \
	}
#define SESSION                                               \
	{                                                     \
		"session", TOOL_TEXT, 0, 0, NULL, NULL, false \
	}

/* Members of structured answers (docs/json.md). An error is a text, or has a code and a message. */
#define OUTPUT(members) "{" members ",\"error\":{}}"
#define OUTPUT_TEXT     OUTPUT("\"text\":{\"type\":\"string\"}")
#define OUTPUT_DATA                             \
	OUTPUT("\"ok\":{\"type\":\"boolean\"}," \
	       "\"data\":{\"type\":\"object\"},\"text\":{\"type\":\"string\"}")
#define OUTPUT_SESSIONS OUTPUT("\"sessions\":{\"type\":\"array\"}")
#define OUTPUT_SCREEN                                                                 \
	OUTPUT("\"ok\":{\"type\":\"boolean\"},\"cols\":{\"type\":\"integer\"},"       \
	       "\"rows\":{\"type\":\"integer\"},\"row\":{\"type\":\"integer\"},"      \
	       "\"col\":{\"type\":\"integer\"},\"alternate\":{\"type\":\"boolean\"}," \
	       "\"cursor\":{\"type\":\"boolean\"},\"title\":{},\"text\":{\"type\":\"string\"}")
#define OUTPUT_RUN                                                                         \
	OUTPUT("\"version\":{\"type\":\"integer\"},\"command\":{\"type\":\"array\"},"      \
	       "\"cwd\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},"            \
	       "\"exit_code\":{\"type\":\"integer\"},\"signal\":{\"type\":\"string\"},"    \
	       "\"timed_out\":{\"type\":\"boolean\"},\"success\":{\"type\":\"boolean\"},"  \
	       "\"started\":{\"type\":\"string\"},\"duration_ms\":{\"type\":\"integer\"}," \
	       "\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"        \
	       "\"truncation\":{\"type\":\"object\"},\"artifact\":{\"type\":\"object\"},"  \
	       "\"since\":{\"type\":\"object\"},\"warnings\":{\"type\":\"array\"},"        \
	       "\"text\":{\"type\":\"string\"}")

const struct tool tools[TOOLS] = {
	[TOOL_RUN_COMMAND] =
		{
			.name = TOOL_RUN,
			.output = OUTPUT_RUN,
			.title = "Run a command",
			.description =
				"Run a shell command (or a program with args). Short output comes "
				"whole, long output as a preview that shows why the command ended "
				"as "
				"it did; the last line says how to read the rest with " TOOL_READ
				". Do not shorten output with head or tail. cd and exported "
				"variables "
				"stay for the session's next command. A command that runs longer "
				"than "
				"timeout, or asks something, goes on: the answer names its "
				"artifact_id "
				"for " TOOL_AWAIT ", " TOOL_SEND ", " TOOL_SIGNAL ".",
			.destructive = true,
			.open_world = true,
			.arguments =
				{
					{"command", TOOL_TEXT, 0, 0,
					 "shell string; with args: a program", NULL, true},
					{"args", TOOL_STRINGS, 0, 0,
					 "arguments; no shell is used then", NULL, false},
					SESSION,
					{"cwd", TOOL_TEXT, 0, 0, "for this command only", NULL,
					 false},
					{"env", TOOL_PAIRS, 0, 0, "for this command only", NULL,
					 false},
					TIMEOUT("30000"),
					{"kill_on_timeout", TOOL_FLAG, 0, 0, NULL, NULL, false},
					{"stdin", TOOL_TEXT, 0, 0, NULL, NULL, false},
					{"max_output_lines", TOOL_COUNT, 1, 1000000000,
					 "default 500", NULL, false},
					{"max_error_lines", TOOL_COUNT, 1, 1000000000,
					 "of separate stderr; default 750", NULL, false},
					{"max_bytes", TOOL_COUNT, 64, TOOL_SIZE_MAX, "preview size",
					 NULL, false},
					{"include_full_output", TOOL_FLAG, 0, 0,
					 "no preview up to 1 MB", NULL, false},
					{"profile", TOOL_TEXT, 0, 0,
					 "how to shorten: read, search, list, log ...", NULL,
					 false},
				},
		},
	[TOOL_READ_OUTPUT] =
		{
			.name = TOOL_READ,
			.output = OUTPUT_DATA,
			.title = "Read a command's output",
			.description = "Read lines of the whole output of a command, or search it. "
				       "artifact_id: as a preview names it, or last.",
			.read_only = true,
			.arguments =
				{
					ARTIFACT,
					{"offset", TOOL_LINE, 0, 0,
					 "first line, from 1; -1: the last", NULL, false},
					{"limit", TOOL_COUNT, 1, UINT64_MAX, "lines, or matches",
					 NULL, false},
					{"tail", TOOL_COUNT, 1, UINT64_MAX, "the last lines", NULL,
					 false},
					{"search", TOOL_TEXT, 0, 0,
					 "only lines that match this PCRE2 pattern", NULL, false},
					{"context", TOOL_COUNT, 0, 1000, "lines around a match",
					 NULL, false},
					{"bytes", TOOL_TEXT, 0, 0, "FROM-TO", NULL, false},
					{"stream", TOOL_TEXT, 0, 0, NULL,
					 "[\"stdout\",\"stderr\",\"raw\"]", false},
				},
		},
	[TOOL_LIST_COMMANDS] =
		{
			.name = TOOL_LIST,
			.output = OUTPUT_DATA,
			.title = "List commands",
			.description = "List commands and their artifacts, running ones first.",
			.read_only = true,
			.arguments =
				{
					{"limit", TOOL_COUNT, 1, 1000, "default 30", NULL, false},
				},
		},
	[TOOL_AWAIT_COMMAND] =
		{
			.name = TOOL_AWAIT,
			.output = OUTPUT_TEXT,
			.title = "Wait for a command",
			.description = "Wait until a running command has ended or asks something, "
				       "and get its new output.",
			.read_only = true,
			.arguments =
				{
					ARTIFACT,
					{"for", TOOL_TEXT, 0, 0,
					 "or until a line matches this pattern", NULL, false},
					{"idle", TOOL_COUNT, 1, TOOL_WAIT_MAX,
					 "or until it was silent so many ms", NULL, false},
					TIMEOUT("30000"),
				},
		},
	[TOOL_SEND_INPUT] =
		{
			.name = TOOL_SEND,
			.output = OUTPUT_TEXT,
			.title = "Type into a command",
			.description = "Type into a running command, text before keys, and get its "
				       "response. A line needs keys [\"enter\"].",
			.destructive = true,
			.open_world = true,
			.arguments =
				{
					ARTIFACT,
					{"text", TOOL_TEXT, 0, 0, NULL, NULL, false},
					{"keys", TOOL_STRINGS, 0, 0, TOOL_KEYS, NULL, false},
					{"for", TOOL_TEXT, 0, 0, "wait for a line like this", NULL,
					 false},
					{"idle", TOOL_COUNT, 1, TOOL_WAIT_MAX,
					 "wait for so many silent ms; default 1000", NULL, false},
					TIMEOUT("10000"),
				},
		},
	[TOOL_SIGNAL_COMMAND] =
		{
			.name = TOOL_SIGNAL,
			.output = OUTPUT_TEXT,
			.title = "End a command",
			.description = "End a running command and all it started, or send it a "
				       "signal.",
			.destructive = true,
			.arguments =
				{
					ARTIFACT,
					{"signal", TOOL_TEXT, 0, 0, "such as INT; none: end it",
					 NULL, false},
				},
		},
	[TOOL_SHOW_SCREEN] =
		{
			.name = TOOL_SCREEN,
			.output = OUTPUT_SCREEN,
			.title = "Show a command's screen",
			.description = "Show the terminal of a running command, also of a "
				       "full-screen program.",
			.read_only = true,
			.arguments = {ARTIFACT},
		},
	[TOOL_NEW_SESSION] =
		{
			.name = "new_session",
			.output = OUTPUT_TEXT,
			.title = "Start a shell session",
			.description = "Start a further session with a directory and variables of "
				       "its own, for " TOOL_RUN ".",
			.arguments =
				{
					{"session", TOOL_TEXT, 0, 0, "its name", NULL, false},
					{"cwd", TOOL_TEXT, 0, 0, NULL, NULL, false},
				},
		},
	[TOOL_END_SESSION] =
		{
			.name = "end_session",
			.output = OUTPUT_TEXT,
			.title = "End a shell session",
			.description = "Forget a session. Commands it started go on.",
			.arguments =
				{
					{"session", TOOL_TEXT, 0, 0, NULL, NULL, true},
				},
		},
	[TOOL_LIST_SESSIONS] =
		{
			.name = "list_sessions",
			.output = OUTPUT_SESSIONS,
			.title = "List shell sessions",
			.description = "List the sessions: directory, age, commands.",
			.read_only = true,
		},
};

const struct tool *tool_find(const char *name, bool read_only)
{
	for (size_t i = 0; i < TOOLS; i++) {
		if (strcmp(tools[i].name, name) == 0)
			return read_only && !tools[i].read_only ? NULL : &tools[i];
	}
	return NULL;
}

static void tool_add_type(struct buffer *out, const struct tool_argument *a)
{
	static const char *const types[] = {
		[TOOL_TEXT] = "string",  [TOOL_COUNT] = "integer", [TOOL_LINE] = "integer",
		[TOOL_FLAG] = "boolean", [TOOL_STRINGS] = "array", [TOOL_PAIRS] = "object",
	};
	json_add_string(out, "type", types[a->type]);
	if (a->type == TOOL_STRINGS || a->type == TOOL_PAIRS) {
		json_begin_object(out, a->type == TOOL_STRINGS ? "items" : "additionalProperties");
		json_add_string(out, "type", "string");
		json_end_object(out);
	}
	if (a->choices)
		json_add_raw(out, "enum", a->choices, strlen(a->choices));
	if (a->description)
		json_add_string(out, "description", a->description);
}

static void tool_add_schema(struct buffer *out, const struct tool *t)
{
	bool any = false;
	json_begin_object(out, "inputSchema");
	json_add_string(out, "type", "object");
	json_begin_object(out, "properties");
	for (const struct tool_argument *a = t->arguments; a->name; a++) {
		json_begin_object(out, a->name);
		tool_add_type(out, a);
		json_end_object(out);
		any |= a->required;
	}
	json_end_object(out);
	if (any)
		json_begin_array(out, "required");
	for (const struct tool_argument *a = t->arguments; a->name; a++) {
		if (a->required)
			json_add_string(out, NULL, a->name);
	}
	if (any)
		json_end_array(out);
	json_end_object(out);
}

static void tool_add(struct buffer *out, const struct tool *t, bool structured)
{
	json_begin_object(out, NULL);
	json_add_string(out, "name", t->name);
	json_add_string(out, "title", t->title);
	json_add_string(out, "description", t->description);
	tool_add_schema(out, t);
	if (structured) {
		json_begin_object(out, "outputSchema");
		json_add_string(out, "type", "object");
		json_add_raw(out, "properties", t->output, strlen(t->output));
		json_end_object(out);
	}
	json_begin_object(out, "annotations");
	json_add_string(out, "title", t->title);
	json_add_bool(out, "readOnlyHint", t->read_only);
	json_add_bool(out, "destructiveHint", t->destructive);
	json_add_bool(out, "openWorldHint", t->open_world);
	json_end_object(out);
	json_end_object(out);
}

void tool_list(struct buffer *out, bool read_only, bool structured)
{
	json_begin_array(out, "tools");
	for (size_t i = 0; i < TOOLS; i++) {
		if (tools[i].read_only || !read_only)
			tool_add(out, &tools[i], structured);
	}
	json_end_array(out);
}
