// See server.h: the tools that are verbs of terse. Each is called in a child of the server, with
// the settings of that moment, and prints the answer.

#include "config/value.h"
#include "lib/human.h"
#include "lib/tool_names.h"
#include "supervisor/command/live_run.h"
#include "supervisor/command/read.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/search.h"
#include "supervisor/mcp/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The defaults of the tools. */
#define LIST_LIMIT    30
#define AWAIT_MS      30000
#define SEND_MS       10000
#define SEND_IDLE_MS  1000
#define TOOL_WORD_MAX 2048 /* columns of a command */

struct verb_call tool_call(struct settings *settings, bool json, bool *failed)
{
	static const struct verb tool = {.name = ""};
	return (struct verb_call){
		.verb = &tool, .settings = settings, .json = json, .failed = failed};
}

/* Says what is wrong with a call. Returns the exit status. */
static int tool_refuse(const char *why)
{
	dprintf(STDERR_FILENO, "%s\n", why);
	return 1;
}

static int tool_search(const struct server *s, const struct arguments *a, struct settings *settings)
{
	bool failed = false;
	const char *stream = argument_text(a, "stream");
	uint64_t context = (uint64_t)argument_number(a, "context", 0);
	int64_t offset = argument_number(a, "offset", 1);
	struct verb_call call = tool_call(settings, s->structured, &failed);
	struct search search = {
		.call = &call,
		.name = argument_text(a, "artifact_id"),
		.query = {.pattern = argument_text(a, "search"),
			  .standard_error = stream && strcmp(stream, "stderr") == 0,
			  .before = context,
			  .after = context,
			  .from = (uint64_t)offset,
			  .limit = (uint64_t)argument_number(a, "limit", 0)},
		.sink = SINK_AGENT,
		.first = -1,
	};
	if (argument_value(a, "tail") || argument_value(a, "bytes"))
		return tool_refuse("read_command_output: search: goes with offset, limit and "
				   "context, not with tail or bytes");
	if (stream && strcmp(stream, "raw") == 0)
		return tool_refuse("read_command_output: search: looks at text, not at stream raw");
	if (offset < 0)
		return tool_refuse("read_command_output: offset: a search begins at a line from 1 "
				   "on");
	search_answer(&search);
	/* That nothing was found is no error. */
	return failed;
}

int tool_read(const struct server *s, const struct call *c, struct settings *settings)
{
	const struct arguments *a = c->arguments;
	const char *stream = argument_text(a, "stream");
	if (argument_text(a, "search"))
		return tool_search(s, a, settings);
	if (argument_number(a, "context", 0) > 0)
		return tool_refuse("read_command_output: context: goes with search");
	struct verb_call call = tool_call(settings, s->structured, NULL);
	struct read r = {
		.call = &call,
		.bytes = argument_text(a, "bytes"),
		.standard_error = stream && strcmp(stream, "stderr") == 0,
		.raw = stream && strcmp(stream, "raw") == 0,
		.exit_code = -1,
		.name = argument_text(a, "artifact_id"),
		.lines = {.first = argument_number(a, "offset", 0),
			  .limit = (uint64_t)argument_number(a, "limit", 0),
			  .tail = (uint64_t)argument_number(a, "tail", 0)},
		.sink = SINK_AGENT,
	};
	return read_answer(&r);
}

void tool_add_command(struct buffer *out, const struct meta *m, size_t width)
{
	struct buffer words = BUFFER_INIT;
	if (m)
		row_add_command(&words, m);
	row_add_cell(out, words.data, words.len, width);
	out->failed |= words.failed;
	buffer_release(&words);
}

void tool_add_state(struct buffer *out, const struct meta *m, int error)
{
	char state[24];
	if (!m) {
		buffer_printf(out, "metadata: %s", strerror(error));
		return;
	}
	bool counted = runs_is_counted(m);
	uint64_t lines = counted ? m->out.lines + m->err.lines : 0;
	runs_describe_state(m, state);
	buffer_printf(out, "%s, %s line%s, %s", state, HUMAN_COUNT(lines), lines == 1 ? "" : "s",
		      HUMAN_SIZE(counted ? m->out.bytes + m->err.bytes : 0));
}

/* Those that run come first. */
struct tool_rows {
	struct buffer running, ended;
	size_t count;
};

static int tool_add_row(void *ctx, const char *id, const struct meta *m, int error)
{
	struct tool_rows *rows = ctx;
	struct buffer *out = m && m->state == META_RUNNING ? &rows->running : &rows->ended;
	buffer_printf(out, "%s  ", id);
	tool_add_state(out, m, error);
	buffer_append_string(out, "  ");
	tool_add_command(out, m, TOOL_WORD_MAX);
	buffer_append_string(out, "\n");
	rows->count++;
	return buffer_check(out);
}

int tool_list(const struct server *s, const struct call *c, struct settings *settings)
{
	struct tool_rows rows = {.count = 0};
	bool more, failed = false;
	struct verb_call call = tool_call(settings, s->structured, &failed);
	list_answer(&call, s->all_sessions,
		    (uint64_t)argument_number(c->arguments, "limit", LIST_LIMIT),
		    s->structured ? NULL : tool_add_row, &rows, &more);
	if (s->structured || failed)
		return failed;
	buffer_add(&rows.running, &rows.ended);
	buffer_release(&rows.ended);
	if (rows.count == 0)
		buffer_append_string(&rows.running, "no command has an artifact yet\n");
	else if (more)
		buffer_printf(&rows.running, "[%zu shown; more: " TOOL_LIST " limit=%zu]\n",
			      rows.count, rows.count * 10);
	return verb_print(&call, &rows.running);
}

static struct await tool_awaited(const struct arguments *a, int64_t timeout_ms)
{
	return (struct await){.name = argument_text(a, "artifact_id"),
			      .pattern = argument_text(a, "for"),
			      .from = 1,
			      .timeout = argument_number(a, "timeout", timeout_ms),
			      .idle = argument_number(a, "idle", 0)};
}

int tool_await(const struct server *s, const struct call *c, struct settings *settings)
{
	const struct await a = tool_awaited(c->arguments, AWAIT_MS);
	const struct verb_call call = tool_call(settings, false, NULL);
	(void)s;
	return await_answer(&call, &a);
}

int tool_send(const struct server *s, const struct call *c, struct settings *settings)
{
	const struct arguments *a = c->arguments;
	const json_t *text = argument_value(a, "text"), *keys = argument_value(a, "keys"), *key;
	struct await await = tool_awaited(a, SEND_MS);
	struct send_item *items = calloc(json_array_size(keys) + 1, sizeof(*items));
	const struct verb_call call = tool_call(settings, false, NULL);
	size_t count = 0, i;
	(void)s;
	if (!items)
		return tool_refuse("out of memory");
	if (text)
		items[count++] = (struct send_item){SEND_TEXT, json_string_value(text),
						    json_string_length(text)};
	json_array_foreach(keys, i, key)
	{
		items[count++] = (struct send_item){SEND_KEY, json_string_value(key), 0};
	}
	if (!await.pattern && !await.idle)
		await.idle = SEND_IDLE_MS;
	int status = count > 0 ? send_answer(&call, items, count, true, &await)
			       : tool_refuse("send_input: text or keys: one of them is needed");
	free(items);
	return status;
}

int tool_signal(const struct server *s, const struct call *c, struct settings *settings)
{
	const char *name = argument_text(c->arguments, "artifact_id");
	const struct verb_call call = tool_call(settings, false, NULL);
	(void)s;
	int status = signal_answer(&call, name, argument_text(c->arguments, "signal"));
	if (status == 0)
		dprintf(STDOUT_FILENO,
			"[terse: done; what was not shown yet: " TOOL_AWAIT TOOL_ID "%s]\n", name);
	return status;
}

int tool_screen(const struct server *s, const struct call *c, struct settings *settings)
{
	const struct verb_call call = tool_call(settings, false, NULL);
	return snapshot_answer(&call, argument_text(c->arguments, "artifact_id"), s->structured,
			       NULL);
}
