// See server.h: requests and notifications.

#include "lib/json.h"
#include "supervisor/mcp/server.h"

#include <string.h>
#include <syslog.h>

/* The revisions of the protocol, newest first. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

#define REVISIONS (sizeof(revisions) / sizeof(*revisions))

static const char instructions[] =
	"Run commands with run_command. Long output comes as a preview; its markers and last line "
	"name "
	"the artifact_id, and read_command_output reads or searches the rest. A command that still "
	"runs "
	"when its timeout is over goes on: await_command waits for it, send_input types into it, "
	"signal_command ends it.";

static const char instructions_read_only[] = "Outputs of commands are kept as artifacts. "
					     "list_commands lists them, read_command_output reads "
					     "or searches one.";

/* --- initialize --------------------------------------------------------------------------------
 */

static void methods_add_capability(struct buffer *out, const char *name, const char *flag)
{
	json_begin_object(out, name);
	if (flag)
		json_add_bool(out, flag, false);
	json_end_object(out);
}

static void methods_initialize(struct server *s, const struct rpc_message *m)
{
	const char *asked = json_string_value(json_object_get(m->params, "protocolVersion"));
	struct buffer line = BUFFER_INIT;
	if (!asked) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "initialize: protocolVersion: must be a string");
		return;
	}
	const char *revision = revisions[0];
	for (size_t i = 0; i < REVISIONS; i++) {
		if (strcmp(asked, revisions[i]) == 0)
			revision = revisions[i];
	}
	rpc_begin_result(&line, m->id);
	json_add_string(&line, "protocolVersion", revision);
	json_begin_object(&line, "capabilities");
	methods_add_capability(&line, "tools", "listChanged");
	json_begin_object(&line, "resources");
	json_add_bool(&line, "subscribe", true);
	json_add_bool(&line, "listChanged", false);
	json_end_object(&line);
	methods_add_capability(&line, "logging", NULL);
	json_end_object(&line);
	json_begin_object(&line, "serverInfo");
	json_add_string(&line, "name", "terse");
	json_add_string(&line, "title", "terse");
	json_add_string(&line, "version", TERSE_VERSION);
	json_end_object(&line);
	json_add_string(&line, "instructions",
			s->read_only ? instructions_read_only : instructions);
	rpc_end_result(&line);
	s->initialized = true;
	server_send_answer(s, m->id, &line);
}

static void methods_ping(struct server *s, const struct rpc_message *m)
{
	server_send_empty(s, m->id);
}

static const char *const levels[] = {"emergency", "alert",  "critical", "error",
				     "warning",   "notice", "info",     "debug"};

#define LEVELS ((int)(sizeof(levels) / sizeof(*levels)))

const char *methods_level_name(int level)
{
	return levels[level];
}

static void methods_set_level(struct server *s, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "level"));
	int level = 0;
	while (name && level < LEVELS && strcmp(levels[level], name) != 0)
		level++;
	if (!name || level == LEVELS) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "logging/setLevel: level: must be one of debug, info, notice, "
				  "warning, error, critical, alert, emergency");
		return;
	}
	s->level = level;
	server_send_empty(s, m->id);
}

static void methods_tools(struct server *s, const struct rpc_message *m)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, m->id);
	tool_list(&line, s->read_only, s->structured);
	rpc_end_result(&line);
	server_send_answer(s, m->id, &line);
}

static const struct {
	const char *name;
	void (*serve)(struct server *s, const struct rpc_message *m);
	bool early; /* may come before initialize */
} methods[] = {
	{"initialize", methods_initialize, true},
	{"ping", methods_ping, true},
	{"logging/setLevel", methods_set_level, false},
	{"tools/list", methods_tools, false},
	{"tools/call", call_tool, false},
	{"resources/list", resources_list, false},
	{"resources/templates/list", resources_templates, false},
	{"resources/read", resources_read, false},
	{"resources/subscribe", resources_subscribe, false},
	{"resources/unsubscribe", resources_unsubscribe, false},
};

#define METHODS (sizeof(methods) / sizeof(*methods))

static void methods_request(struct server *s, const struct rpc_message *m)
{
	size_t i = 0;
	while (i < METHODS && strcmp(methods[i].name, m->method) != 0)
		i++;
	if (i == METHODS)
		server_send_error(s, m->id, RPC_NO_METHOD, "%.100s: there is no such method",
				  m->method);
	else if (!s->initialized && !methods[i].early)
		server_send_error(s, m->id, RPC_INVALID, "%s: initialize has to come first",
				  m->method);
	else if (call_find(s, m->id))
		server_send_error(s, m->id, RPC_INVALID,
				  "id: belongs to a request that is not answered yet");
	else
		methods[i].serve(s, m);
}

/* A request that nobody waits for any more, and the end of the beginning. Another notification
   means nothing here, and has no answer, whatever is wrong with it. */
static void methods_notification(struct server *s, const struct rpc_message *m)
{
	char id[RPC_ID_MAX];
	const json_t *request = json_object_get(m->params, "requestId");
	/* main() has said it on standard error, which many clients drop. */
	if (strcmp(m->method, "notifications/initialized") == 0 && s->known)
		server_log(s, LOG_WARNING, s->known);
	if (strcmp(m->method, "notifications/cancelled") != 0 || rpc_write_id(id, request) < 0)
		return;
	struct call *c = call_find(s, id);
	if (c)
		call_cancel(c);
}

void methods_take(struct server *s, const char *line, size_t len)
{
	char why[160];
	struct rpc_message m;
	json_t *value = rpc_parse(line, len, why);
	rpc_explain(&m, value, line, len, why);
	switch (m.kind) {
	case RPC_REQUEST: methods_request(s, &m); break;
	case RPC_NOTIFICATION: methods_notification(s, &m); break;
	case RPC_RESPONSE: break;
	case RPC_WRONG:
		server_send_error(s, m.id, value ? RPC_INVALID : RPC_NOT_JSON, "%s", m.wrong);
		break;
	}
	json_decref(value);
}
