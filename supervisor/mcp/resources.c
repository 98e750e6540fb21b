// See server.h: artifacts as resources, "terse://cmd-1m5zq8k3x7f". A long text comes as a page,
// which ends with how to read on.

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/utf8.h"
#include "supervisor/artifact/id.h"
#include "supervisor/command/read.h"
#include "supervisor/command/runs.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"
#include "supervisor/process/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Resources in one answer of resources/list. */
#define RESOURCES_PAGE 50

/* Bytes of a command in the name of its resource. */
#define RESOURCES_NAME_MAX 80

/* Reads the ID in the URI of a request. Returns the URI, or NULL after answering. */
static const char *resource_parse(struct server *s, const struct rpc_message *m,
				  char id[ID_LEN + 1])
{
	const char *uri = json_string_value(json_object_get(m->params, "uri"));
	size_t scheme = sizeof(RESOURCES_SCHEME) - 1;
	if (!uri) {
		server_send_error(s, m->id, RPC_BAD_PARAMS, "%s: uri: must be a string", m->method);
		return NULL;
	}
	const char *name = strncmp(uri, RESOURCES_SCHEME, scheme) == 0 ? uri + scheme : "";
	size_t len = strlen(name);
	if (len > 0 && name[len - 1] == '/')
		len--;
	snprintf(id, ID_LEN + 1, "%.*s", (int)(len < ID_LEN ? len : ID_LEN), name);
	if (len == strlen(id) && id_is_valid(id))
		return uri;
	server_send_error(s, m->id, RPC_NOT_FOUND,
			  "%s: uri: %.100s: there is no such resource; resources/list has all",
			  m->method, uri);
	return NULL;
}

/* --- resources/list -------------------------------------------------------------------------- */

/* A page of the list; in the child. */
struct resources_page {
	struct buffer out;
	uint64_t skip;
};

static int resources_add(void *ctx, const char *id, const struct meta *m, int error)
{
	struct resources_page *page = ctx;
	struct buffer text = BUFFER_INIT, *out = &page->out;
	if (page->skip > 0) {
		page->skip--;
		return 0;
	}
	json_begin_object(out, NULL);
	buffer_printf(&text, RESOURCES_SCHEME "%s", id);
	json_add_made(out, "uri", &text);
	tool_add_command(&text, m, RESOURCES_NAME_MAX);
	if (text.len == 0)
		buffer_append_string(&text, id);
	json_add_made(out, "name", &text);
	tool_add_state(&text, m, error);
	json_add_made(out, "description", &text);
	json_add_string(out, "mimeType", "text/plain");
	if (m && runs_is_counted(m))
		json_add_count(out, "size", m->out.bytes + m->err.bytes);
	json_end_object(out);
	return buffer_check(out);
}

static int resources_print_list(const struct server *s, const struct call *c,
				struct settings *settings)
{
	struct resources_page page = {.skip = c->skip};
	bool more, failed = false;
	struct verb_call call = tool_call(settings, false, &failed);
	json_begin_object(&page.out, NULL);
	json_begin_array(&page.out, "resources");
	list_answer(&call, s->all_sessions, c->skip + RESOURCES_PAGE, resources_add, &page, &more);
	json_end_array(&page.out);
	if (more) {
		char cursor[32];
		snprintf(cursor, sizeof(cursor), "%" PRIu64, c->skip + RESOURCES_PAGE);
		json_add_string(&page.out, "nextCursor", cursor);
	}
	json_end_object(&page.out);
	return failed ? 1 : verb_print(&call, &page.out);
}

void resources_list(struct server *s, const struct rpc_message *m)
{
	const json_t *given = json_object_get(m->params, "cursor");
	const char *cursor = json_string_value(given);
	char *end = NULL;
	uint64_t skip = cursor ? strtoull(cursor, &end, 10) : 0;
	if ((given && !json_is_null(given) && !cursor) ||
	    (cursor && (!*cursor || *end || skip > 1000000))) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "resources/list: cursor: is not one that an answer had");
		return;
	}
	struct call *c = call_new(s, m->id);
	if (!c)
		return;
	c->skip = skip;
	call_start(s, c, NULL, NULL, resources_print_list);
}

void resources_templates(struct server *s, const struct rpc_message *m)
{
	static const char templates[] =
		"{\"resourceTemplates\":[{\"uriTemplate\":\"" RESOURCES_SCHEME
		"{artifact_id}\",\"name\":\"artifact\",\"title\":\"Output of a "
		"command\",\"description\":\"The output of a command. Of a long one its first "
		"page.\",\"mimeType\":\"text/plain\"}]}";
	struct buffer line = BUFFER_INIT;
	rpc_result(&line, m->id, templates, strlen(templates));
	server_send_answer(s, m->id, &line);
}

/* --- resources/read -------------------------------------------------------------------------- */

static int resources_print_text(const struct server *s, const struct call *c,
				struct settings *settings)
{
	struct verb_call call = tool_call(settings, false, NULL);
	struct read r = {.call = &call, .exit_code = -1, .name = c->artifact, .sink = SINK_AGENT};
	(void)s;
	return read_answer(&r);
}

void resources_read(struct server *s, const struct rpc_message *m)
{
	char id[ID_LEN + 1];
	const char *uri = resource_parse(s, m, id);
	struct call *c = uri ? call_new(s, m->id) : NULL;
	if (!c)
		return;
	memcpy(c->artifact, id, sizeof(id));
	c->uri = strdup(uri);
	if (c->uri) {
		call_start(s, c, NULL, NULL, resources_print_text);
		return;
	}
	server_send_error(s, c->id, RPC_INTERNAL, "out of memory");
	call_free(s, c);
}

void resources_answer(struct server *s, struct call *c)
{
	struct buffer line = BUFFER_INIT;
	if (c->status && c->output.len == 0) {
		while (c->errors.len > 0 && c->errors.data[c->errors.len - 1] == '\n')
			buffer_truncate(&c->errors, c->errors.len - 1);
		const char *why = c->errors.len > 0 ? buffer_string(&c->errors) : "it has failed";
		server_send_error(s, c->id, c->uri ? RPC_NOT_FOUND : RPC_INTERNAL, "%s: %s",
				  c->uri ? "resources/read" : "resources/list",
				  why ? why : "out of memory");
		return;
	}
	if (c->uri) {
		rpc_begin_result(&line, c->id);
		json_begin_array(&line, "contents");
		json_begin_object(&line, NULL);
		json_add_string(&line, "uri", c->uri);
		json_add_string(&line, "mimeType", "text/plain");
		json_add_text(&line, "text", c->output.data ? c->output.data : "", c->output.len);
		json_end_object(&line);
		json_end_array(&line);
		rpc_end(&line);
	} else {
		rpc_result(&line, c->id, c->output.data, c->output.len);
	}
	line.failed |= c->output.failed;
	server_send_answer(s, c->id, &line);
}

/* --- subscriptions -------------------------------------------------------------------------- */

static struct watched *resources_find_watched(struct server *s, const char *id)
{
	for (size_t i = 0; i < s->watched_count; i++) {
		if (strcmp(s->watched[i].id, id) == 0)
			return &s->watched[i];
	}
	return NULL;
}

/* Watches the run, if it lives: an artifact that is complete never changes. */
void resources_subscribe(struct server *s, const struct rpc_message *m)
{
	const struct verb_call call = {.settings = s->settings, .session = s->artifacts};
	struct store stores[STORE_MAX];
	struct id_found found;
	char id[ID_LEN + 1];
	int count;
	if (!resource_parse(s, m, id))
		return;
	if (resources_find_watched(s, id)) {
		server_answer_empty(s, m);
		return;
	}
	bool kept = verb_find(&call, id, stores, &count, &found) == 0;
	int run = verb_reaches(&call, stores, count, id) ? client_open(stores, count, id) : -1;
	bool lives = run >= 0;
	store_close_all(stores, count);
	if (lives && s->watched_count < SERVER_WATCHED_MAX) {
		struct watched *w = &s->watched[s->watched_count++];
		*w = (struct watched){.fd = run};
		memcpy(w->id, id, sizeof(id));
		frame_send(run, FRAME_WATCH, 0, 0, NULL, 0, 0);
	} else {
		io_close(&run);
	}
	if (kept || lives)
		server_answer_empty(s, m);
	else
		server_send_error(s, m->id, RPC_NOT_FOUND,
				  "resources/subscribe: %s: there is no such artifact", id);
}

void resources_unsubscribe(struct server *s, const struct rpc_message *m)
{
	char id[ID_LEN + 1];
	if (!resource_parse(s, m, id))
		return;
	struct watched *w = resources_find_watched(s, id);
	if (w) {
		io_close(&w->fd);
		*w = s->watched[--s->watched_count];
	}
	server_answer_empty(s, m);
}

void resources_tell(struct server *s, struct watched *w)
{
	struct buffer line = BUFFER_INIT;
	char uri[sizeof(RESOURCES_SCHEME) + ID_LEN];
	w->told_at = clock_monotonic_ms();
	if (output_queue_is_full(&s->out))
		return;
	w->changed = false;
	snprintf(uri, sizeof(uri), RESOURCES_SCHEME "%s", w->id);
	rpc_begin_notification(&line, "notifications/resources/updated");
	json_add_string(&line, "uri", uri);
	rpc_end(&line);
	server_send(s, &line);
}

void resources_on_change(void *ctx, short events)
{
	struct watched *w = ctx;
	struct frame p;
	(void)events;
	while (frame_receive(w->fd, &p, MSG_DONTWAIT) >= 0)
		w->changed |= p.kind == FRAME_STATUS;
	if (errno == EAGAIN)
		return;
	/* The artifact is complete. The last word comes at once, or as soon as there is room. */
	io_close(&w->fd);
	w->changed = true;
	w->told_at = clock_monotonic_ms() - SERVER_PROGRESS_MS;
}
