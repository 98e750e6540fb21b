// See server.h: the prompt "debug-failure", which hands a model the last failure and how to go on.

#include "lib/json.h"
#include "supervisor/mcp/server.h"

#include <string.h>

#define PROMPTS_NAME "debug-failure"

void prompts_list(struct server *s, const struct rpc_message *m)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, m->id);
	json_begin_array(&line, "prompts");
	json_begin_object(&line, NULL);
	json_add_string(&line, "name", PROMPTS_NAME);
	json_add_string(&line, "title", "Debug a failed command");
	json_add_string(
		&line, "description",
		"The output of the last command that failed, or of a given one, and how to go "
		"on.");
	json_begin_array(&line, "arguments");
	json_begin_object(&line, NULL);
	json_add_string(&line, "name", "artifact_id");
	json_add_string(&line, "description", "a command; none: the last that failed");
	json_add_bool(&line, "required", false);
	json_end_object(&line);
	json_end_array(&line);
	json_end_object(&line);
	json_end_array(&line);
	rpc_end_result(&line);
	server_send_answer(s, m->id, &line);
}

static void prompts_send(struct server *s, const char *id, const char *what,
			 const struct buffer *output)
{
	struct buffer line = BUFFER_INIT, text = BUFFER_INIT;
	buffer_printf(&text, "%s failed. Its output, as far as it fits here:\n\n", what);
	buffer_add(&text, output);
	buffer_append_string(
		&text, "\nFind out why. Where lines are left out, read_command_output reads them "
		       "or searches all. Name the cause, then mend it and run the command "
		       "again.\n");
	rpc_begin_result(&line, id);
	json_add_string(&line, "description", "A command that failed");
	json_begin_array(&line, "messages");
	json_begin_object(&line, NULL);
	json_add_string(&line, "role", "user");
	json_begin_object(&line, "content");
	json_add_string(&line, "type", "text");
	json_add_text(&line, "text", text.data, text.len);
	json_end_object(&line);
	json_end_object(&line);
	json_end_array(&line);
	rpc_end_result(&line);
	line.failed |= text.failed;
	buffer_release(&text);
	server_send_answer(s, id, &line);
}

/* The preview of a given run. */
static void prompts_read(struct server *s, const char *id, const char *artifact)
{
	struct call *c = call_new(s, CALL_PROMPT, id);
	struct order order = {.argv = NULL};
	const struct order_context context = {.session = s->artifacts};
	if (!c)
		return;
	c->about = strdup(artifact);
	order_begin(&order, "read", &context);
	order_add(&order, "--preview");
	order_add(&order, "--");
	order_add(&order, artifact);
	order.failed |= !c->about;
	call_begin(s, c, &order, NULL, s->env);
}

void prompts_get(struct server *s, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	const json_t *given =
		json_object_get(json_object_get(m->params, "arguments"), "artifact_id");
	struct buffer what = BUFFER_INIT;
	if (!name || strcmp(name, PROMPTS_NAME) != 0) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "prompts/get: name: there is only " PROMPTS_NAME);
	} else if (given && !json_is_string(given)) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "prompts/get: artifact_id: must be a string");
	} else if (given) {
		prompts_read(s, m->id, json_string_value(given));
	} else if (s->failed_name.len == 0) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "prompts/get: no command has failed yet; artifact_id names one");
	} else {
		buffer_append_string(&what, "The command `");
		buffer_add(&what, &s->failed_name);
		buffer_append_string(&what, "`");
		const char *text = buffer_string(&what);
		prompts_send(s, m->id, text ? text : "A command", &s->failed);
	}
	buffer_release(&what);
}

void prompts_answer(struct server *s, struct call *c)
{
	struct buffer what = BUFFER_INIT;
	if (child_exit_code(&c->child) != 0 && c->child.output.len == 0) {
		answer_refuse(s, c, "prompts/get", RPC_BAD_PARAMS, &c->child.errors);
		return;
	}
	buffer_printf(&what, "The command %s", c->about);
	const char *text = buffer_string(&what);
	prompts_send(s, c->id, text ? text : "A command", &c->child.output);
	buffer_release(&what);
}
