// See rpc.h.

#include "supervisor/mcp/rpc.h"

#include "lib/buffer.h"
#include "lib/json.h"
#include "lib/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

json_t *rpc_parse(const char *line, size_t len, char why[160])
{
	json_error_t error;
	json_t *value = json_read(line, len, JSON_ALLOW_NUL, &error);
	if (!value && errno == ENOMEM)
		snprintf(why, 160, "out of memory");
	else if (!value)
		snprintf(why, 160, "not JSON: %.120s at byte %d", error.text, error.position);
	return value;
}

int rpc_write_id(char out[RPC_ID_MAX], const json_t *id)
{
	size_t len = 0;
	if (json_is_string(id) || json_is_integer(id))
		len = json_dumpb(id, out, RPC_ID_MAX - 1, JSON_ENCODE_ANY | JSON_COMPACT);
	if (len >= RPC_ID_MAX)
		len = 0;
	out[len] = '\0';
	return len > 0 ? 0 : -1;
}

static const char *rpc_judge(struct rpc_message *m, json_t *value)
{
	const json_t *id = json_object_get(value, "id"), *params = json_object_get(value, "params");
	if (!json_is_object(value))
		return "a message is one JSON object, not an array of them";
	if (id && rpc_write_id(m->id, id) < 0) {
		snprintf(m->id, sizeof(m->id), "null");
		return "id: must be a string or a whole number of at most 500 bytes";
	}
	const char *version = json_string_value(json_object_get(value, "jsonrpc"));
	if (!version || strcmp(version, "2.0") != 0)
		return "jsonrpc: must be \"2.0\"";
	m->method = json_string_value(json_object_get(value, "method"));
	if (!m->method && (json_object_get(value, "result") || json_object_get(value, "error"))) {
		m->kind = RPC_RESPONSE;
		return NULL;
	}
	if (!m->method)
		return "method: must be a string";
	if (params && !json_is_object(params))
		return "params: must be an object";
	m->params = (json_t *)params;
	m->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	return NULL;
}

/* The end of a key or a value. */
static void rpc_scan_end(struct rpc_scan *s)
{
	if (s->is_id && s->len > 0 && s->len < RPC_ID_MAX) {
		memcpy(s->id, s->token, s->len);
		s->id[s->len] = '\0';
	}
	s->is_id = false;
	s->len = 0;
}

void rpc_scan(struct rpc_scan *s, const char *data, size_t len)
{
	static const char key[] = "\"id\"";
	for (const char *at = data; at < data + len; at++) {
		bool quoted = s->quoted;
		if (!s->escaped && *at == '"')
			s->quoted = !quoted;
		s->escaped = quoted && !s->escaped && *at == '\\';
		if (!quoted && (*at == '{' || *at == '[')) {
			s->len = RPC_ID_MAX;
			s->depth++;
		} else if (!quoted && (*at == '}' || *at == ']')) {
			if (s->depth == 1)
				rpc_scan_end(s);
			s->depth -= s->depth > 0;
		}
		if (s->depth != 1)
			continue;
		if (quoted || s->quoted || !memchr(" \t\r\n{}[]:,", *at, 11)) {
			if (s->len < RPC_ID_MAX - 1)
				s->token[s->len++] = *at;
			else
				s->len = RPC_ID_MAX;
		} else if (*at == ':') {
			bool is_id =
				s->len == sizeof(key) - 1 && memcmp(s->token, key, s->len) == 0;
			rpc_scan_end(s);
			s->is_id = is_id;
		} else if (*at == ',' || *at == '{') {
			rpc_scan_end(s);
		}
	}
}

void rpc_scan_id(const struct rpc_scan *s, char id[RPC_ID_MAX])
{
	json_t *value = json_read(s->id, strlen(s->id), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	const char *written = json_is_number(value) ? s->id : "null";
	if (!json_is_string(value) || rpc_write_id(id, value) < 0)
		memcpy(id, written, strlen(written) + 1);
	json_decref(value);
}

void rpc_explain(struct rpc_message *m, json_t *value, const char *line, size_t len,
		 const char *why)
{
	struct rpc_scan scan = {.depth = 0};
	*m = (struct rpc_message){.kind = RPC_WRONG, .id = "null"};
	m->wrong = value ? rpc_judge(m, value) : why;
	if (m->kind != RPC_WRONG || strcmp(m->id, "null") != 0)
		return;
	rpc_scan(&scan, line, len);
	rpc_scan_id(&scan, m->id);
}

static void rpc_begin(struct buffer *out)
{
	json_begin_object(out, NULL);
	json_add_string(out, "jsonrpc", "2.0");
}

static void rpc_begin_answer(struct buffer *out, const char *id)
{
	rpc_begin(out);
	json_add_raw(out, "id", id, strlen(id));
}

static void rpc_end(struct buffer *out)
{
	json_end_object(out);
	buffer_append_string(out, "\n");
}

void rpc_begin_result(struct buffer *out, const char *id)
{
	rpc_begin_answer(out, id);
	json_begin_object(out, "result");
}

void rpc_end_result(struct buffer *out)
{
	json_end_object(out);
	rpc_end(out);
}

void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message)
{
	rpc_begin_answer(out, id);
	json_begin_object(out, "error");
	json_add_number(out, "code", code);
	json_add_string(out, "message", message);
	json_end_object(out);
	rpc_end(out);
}

void rpc_begin_notification(struct buffer *out, const char *method)
{
	rpc_begin(out);
	json_add_string(out, "method", method);
	json_begin_object(out, "params");
}

void rpc_end_notification(struct buffer *out)
{
	json_end_object(out);
	rpc_end(out);
}
