// See server.h: answers of tools.

#include "lib/human.h"
#include "lib/json.h"
#include "lib/json_read.h"
#include "lib/quote.h"
#include "lib/tool_names.h"
#include "lib/utf8.h"
#include "supervisor/mcp/server.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

/* The exit status of terse's own errors. */
#define ANSWER_TERSE 125

static void answer_add_content(struct buffer *out, const char *text, size_t len)
{
	json_begin_array(out, "content");
	json_begin_object(out, NULL);
	json_add_string(out, "type", "text");
	json_add_text(out, "text", text, len);
	json_end_object(out);
	json_end_array(out);
}

static void answer_send(struct server *s, const char *id, const struct buffer *text, bool is_error,
			bool is_json)
{
	struct buffer line = BUFFER_INIT;
	size_t len = text->len;
	while (is_json && len > 0 && text->data[len - 1] == '\n')
		len--;
	rpc_begin_result(&line, id);
	answer_add_content(&line, text->data, len);
	if (is_json)
		json_add_raw(&line, "structuredContent", text->data, len);
	if (is_error)
		json_add_bool(&line, "isError", true);
	rpc_end_result(&line);
	line.failed |= text->failed;
	server_send_answer(s, id, &line);
}

void answer_text(struct server *s, const char *id, const struct buffer *text, bool is_error)
{
	struct buffer json = BUFFER_INIT;
	if (!s->structured) {
		answer_send(s, id, text, is_error, false);
		return;
	}
	json_begin_object(&json, NULL);
	json_add_text(&json, is_error ? "error" : "text", text->data, text->len);
	json_end_object(&json);
	json.failed |= text->failed;
	answer_send(s, id, &json, is_error, true);
	buffer_release(&json);
}

void answer_wrong(struct server *s, const char *id, const char *format, ...)
{
	struct buffer raw = BUFFER_INIT, text = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&raw, format, args);
	va_end(args);
	utf8_clean(&text, raw.data, raw.len);
	text.failed |= raw.failed;
	answer_text(s, id, &text, true);
	buffer_release(&raw);
	buffer_release(&text);
}

void answer_json(struct server *s, const char *id, const struct buffer *json, bool is_error)
{
	answer_send(s, id, json, is_error, true);
}

/* --- terse's own errors ------------------------------------------------------------------------
 */

/* Drops "terse: ", and "terse VERB: ": the verb is not the model's. */
static const char *answer_skip_prefix(const char *at, const char *end)
{
	static const char own[] = "terse: ", verb[] = "terse ";
	size_t len = (size_t)(end - at);
	if (len >= sizeof(own) - 1 && memcmp(at, own, sizeof(own) - 1) == 0)
		return at + sizeof(own) - 1;
	const char *colon = len > sizeof(verb) - 1 && memcmp(at, verb, sizeof(verb) - 1) == 0
				    ? memmem(at, len, ": ", 2)
				    : NULL;
	const char *blank = colon ? memchr(at + sizeof(verb) - 1, ' ',
					   (size_t)(colon - at) - (sizeof(verb) - 1))
				  : NULL;
	return colon && !blank ? colon + 2 : at;
}

/* Terse's own error lines (a child has the words of tools), without the one that each repeats. */
static void answer_add_errors(const struct server *s, struct buffer *out,
			      const struct buffer *errors)
{
	const char *at = errors->data, *end = at ? at + errors->len : at;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline ? newline : end;
		const char *line = answer_skip_prefix(at, line_end);
		size_t len = (size_t)(line_end - line);
		if (!s->known || strlen(s->known) != len || memcmp(line, s->known, len) != 0) {
			buffer_append(out, line, len);
			buffer_append_string(out, "\n");
		}
		at = newline ? newline + 1 : end;
	}
}

void answer_refuse(struct server *s, const struct call *c, const char *method, enum rpc_code code,
		   const struct buffer *errors)
{
	struct buffer why = BUFFER_INIT;
	answer_add_errors(s, &why, errors);
	while (why.len > 0 && why.data[why.len - 1] == '\n')
		why.len--;
	const char *text = why.len > 0 ? buffer_string(&why) : "it has failed";
	server_send_error(s, c->id, code, "%s: %s", method, text ? text : "out of memory");
	buffer_release(&why);
}

/* --- what a child has printed -------------------------------------------------------------------
 */

/* Whether the last line is terse's own. */
static bool answer_ends_with_report(const struct buffer *output)
{
	static const char report[] = "[terse: ";
	if (output->len < sizeof(report) || output->data[output->len - 1] != '\n')
		return false;
	const char *newline = memrchr(output->data, '\n', output->len - 1);
	const char *line = newline ? newline + 1 : output->data;
	size_t len = (size_t)(output->data + output->len - line);
	return len >= sizeof(report) - 1 && memcmp(line, report, sizeof(report) - 1) == 0;
}

static void answer_run(struct server *s, struct call *c)
{
	struct buffer text = BUFFER_INIT;
	int code = child_exit_code(&c->child);
	bool own = code == ANSWER_TERSE && c->child.output.len == 0 && c->child.errors.len > 0;
	bool reported = answer_ends_with_report(&c->child.output);
	buffer_add(&text, &c->child.output);
	if (!reported && text.len > 0 && text.data[text.len - 1] != '\n' && code)
		buffer_append_string(&text, "\n");
	answer_add_errors(s, &text, &c->child.errors);
	/* Where the command was not started or could not be supervised, no report says how it
	   ended. */
	if (!own && code && !reported)
		buffer_printf(&text, "[terse: exit %d]\n", code);
	else if (text.len == 0)
		buffer_append_string(&text, "[terse: exit 0]\n");
	answer_text(s, c->id, &text, own);
	buffer_release(&text);
}

/* Answers with the JSON that the child has printed; Returns
   whether it is JSON. Without memory that is not known: an answer made of the output has failed
   then. */
static bool answer_structured(struct server *s, struct call *c)
{
	struct buffer *output = &c->child.output, message = BUFFER_INIT, json = BUFFER_INIT;
	json_t *root = json_read(output->data, output->len, 0, NULL);
	bool is = json_is_object(root);
	output->failed |= !root && errno == ENOMEM;
	const json_t *error = json_object_get(root, "error");
	/* The error of a run that was not started is a part of its description. */
	bool refused = json_is_false(json_object_get(root, "ok"));
	const char *why = json_string_value(json_object_get(error, "message"));
	if (is && (!refused || !why)) {
		answer_send(s, c->id, output, false, true);
	} else if (is) {
		buffer_append_string(&json, why);
		answer_add_errors(s, &message, &json);
		buffer_clear(&json);
		while (message.len > 0 && message.data[message.len - 1] == '\n')
			message.len--;
		json_begin_object(&json, NULL);
		json_add_bool(&json, "ok", false);
		json_begin_object(&json, "error");
		json_add_string(&json, "code", json_string_value(json_object_get(error, "code")));
		json_add_made(&json, "message", &message);
		json_end_object(&json);
		json_end_object(&json);
		answer_send(s, c->id, &json, true, true);
		buffer_release(&json);
	}
	json_decref(root);
	return is;
}

void answer_add_command(struct buffer *out, const json_t *run)
{
	const json_t *words = json_object_get(run, "command");
	const char *second = json_string_value(json_array_get(words, 1));
	size_t i = second && strcmp(second, "-c") == 0 && json_array_size(words) > 2 ? 2 : 0;
	for (size_t first = i; i < json_array_size(words); i++) {
		const json_t *word = json_array_get(words, i);
		const char *text = json_string_value(word);
		buffer_append_string(out, i > first ? " " : "");
		quote_text(out, text ? text : "", json_string_length(word), 0);
	}
}

void answer_add_state(struct buffer *out, const json_t *run)
{
	const char *state = json_string_value(json_object_get(run, "state"));
	const char *signal = json_string_value(json_object_get(run, "signal"));
	const char *error = json_string_value(json_object_get(run, "error"));
	const json_t *code = json_object_get(run, "exit_code");
	uint64_t lines = (uint64_t)json_integer_value(json_object_get(run, "lines"));
	if (error) {
		buffer_printf(out, "metadata: %s", error);
		return;
	}
	if (state && strcmp(state, "done") == 0 && json_is_integer(code))
		buffer_printf(out, "exit %d", (int)json_integer_value(code));
	else if (state && strcmp(state, "done") == 0 && signal)
		buffer_append_string(out, signal);
	else
		buffer_append_string(out, state ? state : "?");
	buffer_printf(out, ", %s line%s, %s", HUMAN_COUNT(lines), lines == 1 ? "" : "s",
		      HUMAN_SIZE((uint64_t)json_integer_value(json_object_get(run, "bytes"))));
}

/* A run in the list, as one line. */
static void answer_add_run(struct buffer *out, const json_t *run)
{
	buffer_printf(out, "%s  ", json_string_value(json_object_get(run, "id")));
	answer_add_state(out, run);
	buffer_append_string(out, "  ");
	answer_add_command(out, run);
	buffer_append_string(out, "\n");
}

static bool answer_runs_still(const json_t *run)
{
	const char *state = json_string_value(json_object_get(run, "state"));
	return state && strcmp(state, "running") == 0;
}

json_t *answer_read_list(const struct call *c, const json_t **runs, struct buffer *errors)
{
	const struct buffer *out = &c->child.output;
	json_t *root = buffer_check(out) == 0 ? json_read(out->data, out->len, 0, NULL) : NULL;
	if (!root && errno == ENOMEM)
		buffer_append_string(errors, "out of memory");
	const json_t *error = json_object_get(root, "error");
	const char *message = json_string_value(json_object_get(error, "message"));
	*runs = json_object_get(json_object_get(root, "data"), "runs");
	if (*runs)
		return root;
	buffer_append_string(errors, message ? message : "");
	buffer_add(errors, &c->child.errors);
	json_decref(root);
	return NULL;
}

/* The runs of `terse list --json`, those that run first. */
static void answer_list(struct server *s, struct call *c)
{
	const json_t *runs, *run;
	struct buffer text = BUFFER_INIT, errors = BUFFER_INIT;
	json_t *root = answer_read_list(c, &runs, &errors);
	size_t i;
	for (int running = 1; running >= 0; running--) {
		json_array_foreach(runs, i, run)
		{
			if (answer_runs_still(run) == (running == 1))
				answer_add_run(&text, run);
		}
	}
	text.failed |= c->child.output.failed;
	if (!root)
		answer_add_errors(s, &text, &errors);
	else if (text.len == 0)
		buffer_append_string(&text, "no command has an artifact yet\n");
	else if (json_is_true(json_object_get(json_object_get(root, "data"), "truncated")))
		buffer_printf(&text, "[%zu shown; more: " TOOL_LIST " limit=%zu]\n",
			      json_array_size(runs), json_array_size(runs) * 10);
	answer_text(s, c->id, &text, !root);
	buffer_release(&text);
	buffer_release(&errors);
	json_decref(root);
}

static void answer_signal(struct server *s, struct call *c)
{
	struct buffer text = BUFFER_INIT;
	bool failed = child_exit_code(&c->child) != 0;
	if (failed)
		answer_add_errors(s, &text, &c->child.errors);
	else
		buffer_printf(&text,
			      "[terse: done; what was not shown yet: " TOOL_AWAIT TOOL_ID "%s]\n",
			      c->about);
	answer_text(s, c->id, &text, failed);
	buffer_release(&text);
}

/* A verb that reads or waits: standard error has a note or an error. Its status is the command's
   where it waits. */
static void answer_verb(struct server *s, struct call *c)
{
	static const char no_match[] = "no match in ";
	struct buffer text = BUFFER_INIT;
	const struct buffer *output = &c->child.output;
	buffer_add(&text, output);
	answer_add_errors(s, &text, &c->child.errors);
	bool is_error = child_exit_code(&c->child) != 0 && output->len == 0;
	if (is_error && c->searches && buffer_string(&text) && strstr(text.data, no_match))
		is_error = false;
	if (text.len == 0)
		buffer_append_string(&text, "[terse: nothing is there]\n");
	answer_text(s, c->id, &text, is_error);
	buffer_release(&text);
}

void answer_call(struct server *s, struct call *c)
{
	if (s->structured && answer_structured(s, c))
		return;
	if (c->tool == &tools[TOOL_RUN_COMMAND])
		answer_run(s, c);
	else if (c->tool == &tools[TOOL_LIST_COMMANDS])
		answer_list(s, c);
	else if (c->tool == &tools[TOOL_SIGNAL_COMMAND])
		answer_signal(s, c);
	else
		answer_verb(s, c);
}
