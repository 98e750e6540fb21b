// See order.h.

#include "supervisor/mcp/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The defaults of run_command, as tools of its kind have them. */
#define ORDER_TIMEOUT_MS 30000
#define ORDER_OUT_LINES  500
#define ORDER_ERR_LINES  750
#define ORDER_LINES_MAX  1000000000
#define ORDER_FULL_BYTES 1048576
#define ORDER_SEND_MS    10000
#define ORDER_SEND_IDLE  1000
#define ORDER_LIST_LIMIT 30

void order_add(struct order *o, const char *word)
{
	if (o->count + 2 > o->room) {
		size_t room = o->room ? 2 * o->room : 32;
		char **argv = realloc(o->argv, room * sizeof(*argv));
		if (!argv) {
			o->failed = true;
			return;
		}
		o->argv = argv;
		o->room = room;
	}
	char *copy = strdup(word);
	o->failed |= !copy;
	if (copy)
		o->argv[o->count++] = copy;
	o->argv[o->count] = NULL;
}

void order_add_number(struct order *o, const char *option, int64_t n)
{
	char number[32];
	snprintf(number, sizeof(number), "%" PRId64, n);
	order_add(o, option);
	order_add(o, number);
}

/* "--timeout" "30000ms" */
static void order_add_time(struct order *o, const char *option, int64_t ms)
{
	char time[32];
	snprintf(time, sizeof(time), "%" PRId64 "ms", ms);
	order_add(o, option);
	order_add(o, time);
}

void order_begin(struct order *o, const char *verb, const struct order_context *c)
{
	order_add(o, "terse");
	order_add(o, verb);
	order_add(o, "--session");
	order_add(o, c->session);
}

void order_begin_list(struct order *o, const struct order_context *c, int64_t limit)
{
	if (c->all_sessions) {
		order_add(o, "terse");
		order_add(o, "list");
		order_add(o, "--all");
	} else {
		order_begin(o, "list", c);
	}
	order_add(o, "--json");
	order_add_number(o, "--limit", limit);
}

/* Adds an option and the text of an argument, if that is given. */
static void order_add_text(struct order *o, const char *option, const struct arguments_of *a,
			   const char *name)
{
	const char *text = argument_text(a, name);
	if (!text)
		return;
	order_add(o, option);
	order_add(o, text);
}

static void order_add_argument(struct order *o, const char *option, const struct arguments_of *a,
			       const char *name)
{
	if (argument_value(a, name))
		order_add_number(o, option, argument_number(a, name, 0));
}

/* --- run_command ---------------------------------------------------------------------------- */

/* A model has no use for what a person at a terminal or a shell tool needs: heartbeats come as
   progress, and no other program cuts the answer. */
static const char *const order_run_options[] = {
	"--preview", "--words",     "tools",           "--heartbeat",
	"off",       "--prompt",    "report",          "--ceiling",
	"0",         "--status",    "failure",         "--exit-delay",
	"off",       "--no-detach", "--signal-status", "--yield-status",
	"0",
};

static void order_add_limits(struct order *o, const struct arguments_of *a)
{
	bool full = argument_flag(a, "include_full_output");
	int64_t size = full ? ORDER_FULL_BYTES : argument_number(a, "max_bytes", 0);
	order_add_number(o, "--max-lines",
			 full ? ORDER_LINES_MAX
			      : argument_number(a, "max_output_lines", ORDER_OUT_LINES));
	order_add_number(o, "--max-err-lines",
			 full ? ORDER_LINES_MAX
			      : argument_number(a, "max_error_lines", ORDER_ERR_LINES));
	if (!size)
		return;
	order_add_number(o, "--size", size);
	order_add_number(o, "--failure-size", size);
	order_add_number(o, "--err-size", size);
}

/* A command goes on after its timeout, or ends then. Either way it may be typed to. */
static void order_add_end(struct order *o, const struct arguments_of *a)
{
	int64_t timeout = argument_number(a, "timeout", ORDER_TIMEOUT_MS);
	order_add_time(o, argument_flag(a, "kill_on_timeout") ? "--timeout" : "--yield", timeout);
	if (argument_flag(a, "kill_on_timeout"))
		order_add(o, "--tty");
}

static const char *order_run(struct order *o, const struct arguments_of *a,
			     const struct order_context *c)
{
	const json_t *args = argument_list(a, "args"), *word;
	size_t i;
	order_begin(o, "run", c);
	for (i = 0; i < sizeof(order_run_options) / sizeof(*order_run_options); i++)
		order_add(o, order_run_options[i]);
	order_add(o, "--streams");
	order_add(o, c->structured ? "split" : "merged");
	order_add(o, "--format");
	order_add(o, c->structured ? "json" : "text");
	order_add(o, c->keep ? "--control" : "--leash");
	order_add(o, "3");
	order_add_end(o, a);
	order_add_limits(o, a);
	order_add_text(o, "--profile", a, "profile");
	o->input = argument_text(a, "stdin");
	o->input_len = json_string_length(argument_value(a, "stdin"));
	if (c->leave && !args) {
		order_add(o, "--leave");
		order_add(o, c->leave);
	}
	order_add(o, args ? "--" : "-c");
	order_add(o, argument_text(a, "command"));
	json_array_foreach(args, i, word)
	{
		order_add(o, json_string_value(word));
	}
	return *argument_text(a, "command") ? NULL : "run_command: command: is empty";
}

/* --- the others ------------------------------------------------------------------------------ */

static void order_add_stream(struct order *o, const struct arguments_of *a)
{
	const char *stream = argument_text(a, "stream");
	if (stream && strcmp(stream, "stderr") == 0)
		order_add(o, "--stderr");
	if (stream && strcmp(stream, "raw") == 0)
		order_add(o, "--raw");
}

static const char *order_search(struct order *o, const struct arguments_of *a,
				const struct order_context *c)
{
	const char *stream = argument_text(a, "stream");
	if (argument_value(a, "tail") || argument_value(a, "bytes"))
		return "read_command_output: search: goes with offset, limit and context, not with "
		       "tail or bytes";
	if (stream && strcmp(stream, "raw") == 0)
		return "read_command_output: search: looks at text, not at stream raw";
	order_begin(o, "search", c);
	order_add_stream(o, a);
	order_add_argument(o, "--offset", a, "offset");
	order_add_argument(o, "--limit", a, "limit");
	order_add_argument(o, "-C", a, "context");
	if (c->structured)
		order_add(o, "--json");
	order_add(o, "-e");
	order_add(o, argument_text(a, "search"));
	order_add(o, "--");
	order_add(o, argument_text(a, "artifact_id"));
	return argument_number(a, "offset", 1) < 0
		       ? "read_command_output: offset: a search begins at a line from 1 on"
		       : NULL;
}

static const char *order_read(struct order *o, const struct arguments_of *a,
			      const struct order_context *c)
{
	if (argument_text(a, "search"))
		return order_search(o, a, c);
	if (argument_number(a, "context", 0) > 0)
		return "read_command_output: context: goes with search";
	order_begin(o, "read", c);
	order_add_stream(o, a);
	order_add_argument(o, "--offset", a, "offset");
	order_add_argument(o, "--limit", a, "limit");
	order_add_argument(o, "--tail", a, "tail");
	order_add_text(o, "--bytes", a, "bytes");
	if (c->structured)
		order_add(o, "--json");
	order_add(o, "--");
	order_add(o, argument_text(a, "artifact_id"));
	return NULL;
}

static const char *order_list(struct order *o, const struct arguments_of *a,
			      const struct order_context *c)
{
	order_begin_list(o, c, argument_number(a, "limit", ORDER_LIST_LIMIT));
	return NULL;
}

static const char *order_await(struct order *o, const struct arguments_of *a,
			       const struct order_context *c)
{
	order_begin(o, "await", c);
	order_add_time(o, "--timeout", argument_number(a, "timeout", ORDER_TIMEOUT_MS));
	if (argument_value(a, "idle"))
		order_add_time(o, "--idle", argument_number(a, "idle", 0));
	order_add_text(o, "--for", a, "for");
	order_add(o, "--");
	order_add(o, argument_text(a, "artifact_id"));
	return NULL;
}

/* The text goes through standard input, whatever it begins with and however long it is. */
static const char *order_send(struct order *o, const struct arguments_of *a,
			      const struct order_context *c)
{
	const json_t *keys = argument_value(a, "keys"), *key;
	size_t i;
	if (!argument_text(a, "text") && json_array_size(keys) == 0)
		return "send_input: text or keys: one of them is needed";
	order_begin(o, "send", c);
	order_add(o, argument_text(a, "artifact_id"));
	if (argument_text(a, "text")) {
		order_add(o, "--file");
		order_add(o, "-");
		o->input = argument_text(a, "text");
		o->input_len = json_string_length(argument_value(a, "text"));
	}
	json_array_foreach(keys, i, key)
	{
		order_add(o, "--key");
		order_add(o, json_string_value(key));
	}
	order_add(o, "--await");
	order_add_time(o, "--timeout", argument_number(a, "timeout", ORDER_SEND_MS));
	if (!argument_text(a, "for"))
		order_add_time(o, "--idle", argument_number(a, "idle", ORDER_SEND_IDLE));
	else if (argument_value(a, "idle"))
		order_add_time(o, "--idle", argument_number(a, "idle", 0));
	order_add_text(o, "--for", a, "for");
	return *argument_text(a, "artifact_id") == '-' ? "send_input: artifact_id: no such artifact"
						       : NULL;
}

static const char *order_signal(struct order *o, const struct arguments_of *a,
				const struct order_context *c)
{
	order_begin(o, "signal", c);
	order_add(o, "--");
	order_add(o, argument_text(a, "artifact_id"));
	if (argument_text(a, "signal"))
		order_add(o, argument_text(a, "signal"));
	return NULL;
}

static const char *order_screen(struct order *o, const struct arguments_of *a,
				const struct order_context *c)
{
	order_begin(o, "snapshot", c);
	if (c->structured)
		order_add(o, "--json");
	order_add(o, "--");
	order_add(o, argument_text(a, "artifact_id"));
	return NULL;
}

const char *order_make(struct order *o, const struct arguments_of *a, const struct order_context *c)
{
	static const char *(*const makers[TOOLS])(struct order *, const struct arguments_of *,
						  const struct order_context *) = {
		[TOOL_RUN_COMMAND] = order_run,    [TOOL_READ_OUTPUT] = order_read,
		[TOOL_LIST_COMMANDS] = order_list, [TOOL_AWAIT_COMMAND] = order_await,
		[TOOL_SEND_INPUT] = order_send,    [TOOL_SIGNAL_COMMAND] = order_signal,
		[TOOL_SHOW_SCREEN] = order_screen,
	};
	*o = (struct order){.argv = NULL};
	return makers[a->tool - tools](o, a, c);
}

void order_release(struct order *o)
{
	for (size_t i = 0; i < o->count; i++)
		free(o->argv[i]);
	free(o->argv);
	*o = (struct order){.argv = NULL};
}
