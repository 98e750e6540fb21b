// See server.h.

#include "supervisor/mcp/server.h"

#include "lib/json.h"
#include "lib/json_read.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the inbox ------------------------------------------------------------------------------- */

/* Bytes that one read(2) may take. */
#define INBOX_CHUNK ((size_t)64 * 1024)

/* Bytes of memory that an empty inbox keeps. */
#define INBOX_KEEP ((size_t)256 * 1024)

void inbox_read(void *inbox, short events)
{
	struct inbox *i = inbox;
	struct pollfd input = {.fd = i->fd, .events = POLLIN};
	char chunk[INBOX_CHUNK];
	ssize_t n;
	(void)events;
	/* The loop may report input that isn't there, and then read(2) would block. */
	if (poll(&input, 1, 0) == 0)
		return;
	buffer_consume(&i->data, i->taken);
	i->taken = 0;
	if (i->data.len == 0 && i->data.cap > INBOX_KEEP)
		buffer_release(&i->data);
	do
		n = read(i->fd, chunk, sizeof(chunk));
	while (n < 0 && errno == EINTR);
	i->ended = n == 0 || (n < 0 && errno != EAGAIN);
	if (n <= 0 || buffer_try_append(&i->data, chunk, (size_t)n) == 0)
		return;
	/* If there is no memory for the line, drops its beginning and skips the rest. */
	i->skipping |= i->data.len > 0;
	buffer_truncate(&i->data, 0);
	i->skipping |= buffer_try_append(&i->data, chunk, (size_t)n) < 0;
}

bool inbox_next(struct inbox *i, const char **line, size_t *len)
{
	for (size_t left; (left = i->data.len - i->taken) > 0 || (i->ended && i->skipping);) {
		const char *start = i->data.data + i->taken;
		const char *newline = left > 0 ? memchr(start, '\n', left) : NULL;
		size_t n = newline ? (size_t)(newline - start) : left, blanks = 0;
		i->skipping |= n > i->most;
		if (!newline && !i->ended) {
			if (i->skipping)
				buffer_truncate(&i->data, i->taken);
			return false;
		}
		i->taken += n + (newline != NULL);
		*line = i->skipping ? NULL : start;
		*len = n;
		while (blanks < n && memchr(" \t\r", start[blanks], 3))
			blanks++;
		bool found = i->skipping || blanks < n;
		i->skipping = false;
		if (found)
			return true;
	}
	return false;
}

/* --- messages -------------------------------------------------------------------------------- */

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

void rpc_read(struct rpc_message *m, const char *line, size_t len)
{
	json_error_t error = {.text = ""};
	*m = (struct rpc_message){
		.kind = RPC_WRONG, .id = "null", .method = "", .code = RPC_INVALID};
	m->value = line ? json_read(line, len, JSON_ALLOW_NUL, &error) : NULL;
	const json_t *id = json_object_get(m->value, "id");
	json_t *params = json_object_get(m->value, "params");
	const char *version = json_string_value(json_object_get(m->value, "jsonrpc"));
	const char *method = json_string_value(json_object_get(m->value, "method"));
	const bool answers =
		json_object_get(m->value, "result") || json_object_get(m->value, "error");
	const bool id_is_wrong = id && rpc_write_id(m->id, id) < 0;
	const char *wrong =
		!line                       ? "the message is over 16 MB long, so it was not read"
		: !m->value                 ? "out of memory"
		: !json_is_object(m->value) ? "a message is one JSON object, not an array of them"
		: id_is_wrong ? "id: must be a string or a whole number of at most 500 bytes"
		: !version || strcmp(version, "2.0") != 0     ? "jsonrpc: must be \"2.0\""
		: !method && !answers                         ? "method: must be a string"
		: method && params && !json_is_object(params) ? "params: must be an object"
							      : NULL;
	if (id_is_wrong)
		snprintf(m->id, sizeof(m->id), "null");
	if (line && !m->value)
		m->code = RPC_NOT_JSON;
	if (line && !m->value && *error.text)
		snprintf(m->wrong, sizeof(m->wrong), "not JSON: %.120s at byte %d", error.text,
			 error.position);
	else if (wrong)
		snprintf(m->wrong, sizeof(m->wrong), "%s", wrong);
	if (wrong)
		return;
	m->method = method ? method : "";
	m->params = params;
	m->kind = !method ? RPC_RESPONSE : id ? RPC_REQUEST : RPC_NOTIFICATION;
}

void rpc_begin(struct buffer *out, const char *id, const char *member)
{
	json_begin(out, NULL, '{');
	json_add_string(out, "jsonrpc", "2.0");
	json_add_raw(out, "id", id, strlen(id));
	json_begin(out, member, '{');
}

void rpc_end(struct buffer *out)
{
	buffer_append_string(out, "}}\n");
}

void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message)
{
	rpc_begin(out, id, "error");
	json_add_number(out, "code", code);
	json_add_string(out, "message", message);
	rpc_end(out);
}
