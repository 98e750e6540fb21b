// See rpc.h.

#include "supervisor/mcp/rpc.h"

#include "lib/json.h"
#include "lib/json_read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- the ID of what can't be read ------------------------------------------------------------ */

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

void rpc_scan_id(struct rpc_scan *s, char id[RPC_ID_MAX])
{
	/* The message may break right behind it. */
	if (s->depth == 1 && !s->quoted)
		rpc_scan_end(s);
	json_t *value = json_read(s->id, strlen(s->id), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	const char *written = json_is_number(value) ? s->id : "null";
	if (!json_is_string(value) || rpc_write_id(id, value) < 0)
		memcpy(id, written, strlen(written) + 1);
	json_decref(value);
}

/* --- the inbox ------------------------------------------------------------------------------- */

/* Bytes that are read at once. */
#define INBOX_CHUNK ((size_t)64 * 1024)

/* Memory that stays reserved between messages. */
#define INBOX_KEEP ((size_t)256 * 1024)

/* Where the unfinished line begins. */
static size_t inbox_start_of_last(const struct inbox *i)
{
	const char *newline = i->data.len > i->taken ? memrchr(i->data.data + i->taken, '\n',
							       i->data.len - i->taken)
						     : NULL;
	return newline ? (size_t)(newline + 1 - i->data.data) : i->taken;
}

/* Adds a part of one line; `ends`: with its newline. One that is too long is dropped, and its mark
   is a line that begins with NUL, as no other does, with its ID. */
static void inbox_add_part(struct inbox *i, const char *data, size_t len, bool ends)
{
	size_t start = inbox_start_of_last(i);
	bool fits = !i->skipping && i->data.len - start + len <= i->most;
	if (fits && buffer_try_append(&i->data, data, len + ends) == 0) {
		/* It is no JSON either way. */
		if (len > 0 && !i->data.data[start])
			i->data.data[start] = '\1';
		return;
	}
	if (!i->skipping) {
		i->scan = (struct rpc_scan){.depth = 0};
		rpc_scan(&i->scan, i->data.data + start, i->data.len - start);
		buffer_truncate(&i->data, start);
		if (i->looked > start)
			i->looked = start;
	}
	rpc_scan(&i->scan, data, len);
	i->skipping = !ends;
	if (!ends)
		return;
	char mark[1 + RPC_ID_MAX] = "";
	rpc_scan_id(&i->scan, mark + 1);
	size_t end = 1 + strlen(mark + 1);
	mark[end++] = '\n';
	/* Where there is no memory for it, the report is lost. */
	buffer_try_append(&i->data, mark, end);
}

void inbox_add(struct inbox *i, const char *data, size_t len)
{
	buffer_consume(&i->data, i->taken);
	i->looked -= i->taken;
	i->taken = 0;
	if (i->data.len == 0 && i->data.cap > INBOX_KEEP)
		buffer_release(&i->data);
	while (len > 0) {
		const char *newline = memchr(data, '\n', len);
		size_t n = newline ? (size_t)(newline - data) : len;
		inbox_add_part(i, data, n, newline);
		n += newline ? 1 : 0;
		data += n;
		len -= n;
	}
}

void inbox_read(struct inbox *i, int fd)
{
	char chunk[INBOX_CHUNK];
	ssize_t n;
	do
		n = read(fd, chunk, sizeof(chunk));
	while (n < 0 && errno == EINTR);
	if (n > 0)
		inbox_add(i, chunk, (size_t)n);
	if (n > 0 || (n < 0 && errno == EAGAIN))
		return;
	i->ended = true;
	if (i->skipping || inbox_start_of_last(i) < i->data.len)
		inbox_add(i, "\n", 1);
}

bool inbox_next(struct inbox *i, const char **line, size_t *len)
{
	for (;;) {
		size_t from = i->looked > i->taken ? i->looked : i->taken, blanks = 0;
		const char *newline =
			i->data.len > from ? memchr(i->data.data + from, '\n', i->data.len - from)
					   : NULL;
		i->looked = newline ? (size_t)(newline - i->data.data) + 1 : i->data.len;
		if (!newline)
			return false;
		*line = i->data.data + i->taken;
		*len = (size_t)(newline - *line);
		i->taken = i->looked;
		while (blanks < *len && memchr(" \t\r", (*line)[blanks], 3))
			blanks++;
		if (blanks < *len)
			return true;
	}
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

/* Returns what is wrong with a message, or NULL. */
static const char *rpc_judge(struct rpc_message *m)
{
	if (!json_is_object(m->value))
		return "a message is one JSON object, not an array of them";
	const json_t *id = json_object_get(m->value, "id");
	json_t *params = json_object_get(m->value, "params");
	if (id && rpc_write_id(m->id, id) < 0) {
		snprintf(m->id, sizeof(m->id), "null");
		return "id: must be a string or a whole number of at most 500 bytes";
	}
	const char *version = json_string_value(json_object_get(m->value, "jsonrpc"));
	if (!version || strcmp(version, "2.0") != 0)
		return "jsonrpc: must be \"2.0\"";
	m->method = json_string_value(json_object_get(m->value, "method"));
	if (!m->method &&
	    (json_object_get(m->value, "result") || json_object_get(m->value, "error"))) {
		m->kind = RPC_RESPONSE;
		return NULL;
	}
	if (!m->method)
		return "method: must be a string";
	if (params && !json_is_object(params))
		return "params: must be an object";
	m->params = params;
	m->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	return NULL;
}

void rpc_read(struct rpc_message *m, const char *line, size_t len)
{
	json_error_t error;
	struct rpc_scan scan = {.depth = 0};
	*m = (struct rpc_message){.kind = RPC_WRONG, .id = "null", .code = RPC_INVALID};
	if (len > 0 && !*line) {
		snprintf(m->id, sizeof(m->id), "%.*s", (int)len - 1, line + 1);
		snprintf(m->wrong, sizeof(m->wrong),
			 "the message is over 16 MB long, so it was not read");
		return;
	}
	m->value = json_read(line, len, JSON_ALLOW_NUL, &error);
	if (m->value) {
		const char *wrong = rpc_judge(m);
		snprintf(m->wrong, sizeof(m->wrong), "%s", wrong ? wrong : "");
	} else {
		m->code = RPC_NOT_JSON;
		if (errno == ENOMEM)
			snprintf(m->wrong, sizeof(m->wrong), "out of memory");
		else
			snprintf(m->wrong, sizeof(m->wrong), "not JSON: %.120s at byte %d",
				 error.text, error.position);
	}
	if (m->kind != RPC_WRONG || strcmp(m->id, "null") != 0)
		return;
	rpc_scan(&scan, line, len);
	rpc_scan_id(&scan, m->id);
}

void rpc_release(struct rpc_message *m)
{
	json_decref(m->value);
}

static void rpc_begin(struct buffer *out)
{
	json_begin_object(out, NULL);
	json_add_string(out, "jsonrpc", "2.0");
}

void rpc_end(struct buffer *out)
{
	json_end_object(out);
	json_end_object(out);
	buffer_append_string(out, "\n");
}

void rpc_begin_result(struct buffer *out, const char *id)
{
	rpc_begin(out);
	json_add_raw(out, "id", id, strlen(id));
	json_begin_object(out, "result");
}

void rpc_result(struct buffer *out, const char *id, const char *json, size_t len)
{
	rpc_begin(out);
	json_add_raw(out, "id", id, strlen(id));
	json_add_raw(out, "result", json, len);
	json_end_object(out);
	buffer_append_string(out, "\n");
}

void rpc_error(struct buffer *out, const char *id, enum rpc_code code, const char *message)
{
	rpc_begin(out);
	json_add_raw(out, "id", id, strlen(id));
	json_begin_object(out, "error");
	json_add_number(out, "code", code);
	json_add_string(out, "message", message);
	rpc_end(out);
}

void rpc_begin_notification(struct buffer *out, const char *method)
{
	rpc_begin(out);
	json_add_string(out, "method", method);
	json_begin_object(out, "params");
}
