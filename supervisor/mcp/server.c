// See server.h: the loop, what is sent, requests and notifications.

#include "supervisor/mcp/server.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/loop.h"
#include "lib/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

/* How long calls and the last answers may take when the client has closed its end. */
#define SERVER_END_MS 1000

/* Descriptors of a call: output, errors, its leash, and what its shell leaves. */
#define SERVER_CALL_FILES 4

/* The server's own: standard ones, signals, the output opened again, and the other ends of the
   child that is being started. */
#define SERVER_OWN_FILES 12

/* --- what is sent ---------------------------------------------------------------------------- */

void server_send(struct server *s, struct buffer *line)
{
	if (buffer_check(line) == 0)
		output_queue_write(&s->out, line->data, line->len);
	buffer_release(line);
}

void server_send_answer(struct server *s, const char *id, struct buffer *line)
{
	if (buffer_check(line) < 0) {
		/* The memory that it has is enough, as a rule. */
		buffer_clear(line);
		rpc_error(line, id, RPC_INTERNAL, "out of memory");
	}
	server_send(s, line);
}

void server_send_error(struct server *s, const char *id, enum rpc_code code, const char *format,
		       ...)
{
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	const char *message = buffer_string(&text);
	rpc_error(&line, id, code, message ? message : "out of memory");
	buffer_release(&text);
	server_send_answer(s, id, &line);
}

/* Sends the answer of a tool: `text`, and as structured content `json` (or NULL). */
static void server_send_content(struct server *s, const char *id, const struct buffer *text,
				const struct buffer *json, bool is_error)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, id);
	json_begin_array(&line, "content");
	json_begin_object(&line, NULL);
	json_add_string(&line, "type", "text");
	json_add_text(&line, "text", text->data, text->len);
	json_end_object(&line);
	json_end_array(&line);
	if (json)
		json_add_raw(&line, "structuredContent", json->data, json->len);
	if (is_error)
		json_add_bool(&line, "isError", true);
	rpc_end(&line);
	line.failed |= text->failed;
	server_send_answer(s, id, &line);
}

void server_answer(struct server *s, const char *id, const struct buffer *text, bool is_error)
{
	struct buffer json = BUFFER_INIT;
	if (!s->structured) {
		server_send_content(s, id, text, NULL, is_error);
		return;
	}
	json_begin_object(&json, NULL);
	json_add_text(&json, is_error ? "error" : "text", text->data, text->len);
	json_end_object(&json);
	json.failed |= text->failed;
	server_send_content(s, id, &json, &json, is_error);
	buffer_release(&json);
}

void server_answer_json(struct server *s, const char *id, const struct buffer *json, bool is_error)
{
	struct buffer line = *json; /* without its newline */
	while (line.len > 0 && line.data[line.len - 1] == '\n')
		line.len--;
	server_send_content(s, id, &line, &line, is_error);
}

void server_answer_empty(struct server *s, const struct rpc_message *m)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, m->id);
	rpc_end(&line);
	server_send_answer(s, m->id, &line);
}

/* The levels of the log, as syslog(3) counts them. */
static const char *const levels[] = {"emergency", "alert",  "critical", "error",
				     "warning",   "notice", "info",     "debug"};

#define LEVELS ((int)(sizeof(levels) / sizeof(*levels)))

void server_log(struct server *s, int level, const char *text)
{
	struct buffer line = BUFFER_INIT;
	if (level > s->level || output_queue_is_full(&s->out))
		return;
	rpc_begin_notification(&line, "notifications/message");
	json_add_string(&line, "level", levels[level]);
	json_add_string(&line, "logger", "terse");
	json_add_string(&line, "data", text);
	rpc_end(&line);
	server_send(s, &line);
}

/* --- requests and notifications -------------------------------------------------------------- */

/* The revisions of the protocol, newest first. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

#define REVISIONS (sizeof(revisions) / sizeof(*revisions))

static const char capabilities[] =
	"{\"tools\":{\"listChanged\":false},\"resources\":{\"subscribe\":true,\"listChanged\":"
	"false},\"logging\":{}}";

static const char server_info[] =
	"{\"name\":\"terse\",\"title\":\"terse\",\"version\":\"" TERSE_VERSION "\"}";

static const char instructions[] =
	"Run commands with run_command. Long output comes as a preview; its markers and last line "
	"name the artifact_id, and read_command_output reads or searches the rest. A command that "
	"still runs when its timeout is over goes on: await_command waits for it, send_input types "
	"into it, signal_command ends it.";

static const char instructions_read_only[] = "Outputs of commands are kept as artifacts. "
					     "list_commands lists them, read_command_output reads "
					     "or searches one.";

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
	json_add_raw(&line, "capabilities", capabilities, strlen(capabilities));
	json_add_raw(&line, "serverInfo", server_info, strlen(server_info));
	json_add_string(&line, "instructions",
			s->read_only ? instructions_read_only : instructions);
	rpc_end(&line);
	s->initialized = true;
	server_send_answer(s, m->id, &line);
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
	server_answer_empty(s, m);
}

static void methods_tools(struct server *s, const struct rpc_message *m)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, m->id);
	tools_list(&line, s->read_only, s->structured);
	rpc_end(&line);
	server_send_answer(s, m->id, &line);
}

static const struct {
	const char *name;
	void (*serve)(struct server *s, const struct rpc_message *m);
	bool early; /* may come before initialize */
} methods[] = {
	{"initialize", methods_initialize, true},
	{"ping", server_answer_empty, true},
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

/* --- the loop -------------------------------------------------------------------------------- */

static void server_on_output(void *ctx, short events)
{
	struct server *s = ctx;
	(void)events;
	output_queue_pump(&s->out);
}

static void server_on_input(void *ctx, short events)
{
	struct server *s = ctx;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	(void)events;
	/* Where the loop only guesses, a read could block. */
	if (poll(&input, 1, 0) != 0)
		inbox_read(&s->in, STDIN_FILENO);
}

static void server_on_print(void *ctx, short events)
{
	(void)events;
	call_read(ctx);
}

/* A run that goes on has ended. */
static void server_on_held(void *ctx, short events)
{
	int *held = ctx;
	char packet[64];
	(void)events;
	ssize_t n = recv(*held, packet, sizeof(packet), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		io_close(held);
}

static void server_begin_end(struct server *s, int64_t at_ms)
{
	if (!s->ending || at_ms < s->end_at)
		s->end_at = at_ms;
	s->ending = true;
}

static void server_on_signal(void *ctx, short events)
{
	struct server *s = ctx;
	struct signalfd_siginfo info;
	(void)events;
	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD) {
			server_begin_end(s, 0);
			continue;
		}
		for (struct call *c = s->calls; c; c = c->next) {
			int status;
			pid_t pid = 0;
			while (!c->ended && (pid = waitpid(c->pid, &status, WNOHANG)) < 0 &&
			       errno == EINTR) {
			}
			if (pid <= 0)
				continue;
			call_read(c);
			io_close(&c->out);
			io_close(&c->err);
			c->ended = true;
			c->status =
				WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		}
	}
}

static bool server_takes_requests(const struct server *s)
{
	return !output_queue_is_full(&s->out) && s->call_count < s->calls_most;
}

/* Waits for what can happen next. */
static void server_wait(struct server *s)
{
	struct loop l;
	const struct call *only = NULL;
	size_t waiting = 0;
	/* The call that may print although too much waits already; NULL: each may. */
	for (const struct call *c = s->calls; c; c = c->next) {
		waiting += c->output.len;
		if (!c->ended && (!only || c->output.len > only->output.len))
			only = c;
	}
	if (waiting <= SERVER_OUTPUT_MAX)
		only = NULL;
	loop_begin(&l);
	if (!output_queue_is_empty(&s->out))
		loop_watch(&l, output_queue_poll_fd(&s->out), POLLOUT, server_on_output, s);
	for (struct call *c = s->calls; c; c = c->next) {
		if (!c->ended && (!only || only == c)) {
			loop_watch(&l, c->out, POLLIN, server_on_print, c);
			loop_watch(&l, c->err, POLLIN, server_on_print, c);
		}
		if (*c->token)
			loop_watch(&l, c->leash, POLLIN, call_on_progress, c);
		if (*c->token && !c->ended)
			loop_until(&l, call_ask(c));
	}
	for (size_t i = 0; i < s->held_count; i++)
		loop_watch(&l, s->held[i], POLLIN, server_on_held, &s->held[i]);
	for (size_t i = 0; i < s->watched_count; i++) {
		struct watched *w = &s->watched[i];
		loop_watch(&l, w->fd, POLLIN, resources_on_change, w);
		if (w->changed)
			loop_until(&l, w->told_at + SERVER_PROGRESS_MS);
	}
	loop_watch(&l, s->signals, POLLIN, server_on_signal, s);
	if (!s->ending && server_takes_requests(s))
		loop_watch(&l, STDIN_FILENO, POLLIN, server_on_input, s);
	if (s->ending)
		loop_until(&l, s->end_at);
	loop_turn(&l);
}

/* One turn: what has come is dealt with, as long as the client takes answers. */
static void server_turn(struct server *s)
{
	struct rpc_message m;
	const char *line;
	size_t len;
	server_wait(s);
	for (size_t i = s->held_count; i-- > 0;) {
		if (s->held[i] < 0)
			s->held[i] = s->held[--s->held_count];
	}
	for (size_t i = s->watched_count; i-- > 0;) {
		struct watched *w = &s->watched[i];
		if (w->changed && clock_monotonic_ms() >= w->told_at + SERVER_PROGRESS_MS)
			resources_tell(s, w);
		if (w->fd < 0 && !w->changed)
			*w = s->watched[--s->watched_count];
	}
	for (struct call *c = s->calls, *next; c; c = next) {
		next = c->next;
		if (c->ended && !output_queue_is_full(&s->out))
			call_finish(s, c);
	}
	while (server_takes_requests(s) && inbox_next(&s->in, &line, &len)) {
		rpc_read(&m, line, len);
		switch (m.kind) {
		case RPC_REQUEST: methods_request(s, &m); break;
		case RPC_NOTIFICATION: methods_notification(s, &m); break;
		case RPC_RESPONSE: break;
		case RPC_WRONG: server_send_error(s, m.id, m.code, "%s", m.wrong); break;
		}
		rpc_release(&m);
	}
	if (s->in.ended)
		server_begin_end(s, clock_monotonic_ms() + SERVER_END_MS);
}

/* As many calls and runs that go on as there are descriptors for: further requests wait, rather
   than fail because of that. */
static void server_find_limits(struct server *s)
{
	struct rlimit files;
	size_t most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : SERVER_OWN_FILES;
	size_t held = most / (SERVER_CALL_FILES + 1);
	s->held_most = held < SERVER_HELD_MAX ? held : SERVER_HELD_MAX;
	size_t left =
		most > s->held_most + SERVER_OWN_FILES ? most - s->held_most - SERVER_OWN_FILES : 0;
	size_t calls = left / SERVER_CALL_FILES;
	s->calls_most = calls < 1 ? 1 : calls < SERVER_CALLS_MAX ? calls : SERVER_CALLS_MAX;
}

int server_run(struct server *s)
{
	static const int ends[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
	sigset_t set;
	/* A client that ignores it has left that to this process, and then no child could be waited
	   for. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaddset(&set, ends[i]);
	s->signals = io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	/* A client that has gone is an error of write(2). */
	sigaddset(&set, SIGPIPE);
	if (s->signals < 0 || sigprocmask(SIG_BLOCK, &set, &s->mask) < 0)
		return -1;
	server_find_limits(s);
	output_queue_init(&s->out, STDOUT_FILENO);
	s->in = (struct inbox){.most = INBOX_LINE_MAX};
	while (!s->out.error && (!s->ending || ((s->calls || !output_queue_is_empty(&s->out)) &&
						clock_monotonic_ms() < s->end_at)))
		server_turn(s);
	/* Everything that the server holds is closed, by which the commands on a leash end. */
	while (s->calls) {
		if (!s->calls->ended && s->calls->leash < 0)
			kill(s->calls->pid, SIGKILL);
		call_free(s, s->calls);
	}
	while (s->held_count > 0)
		io_close(&s->held[--s->held_count]);
	while (s->watched_count > 0)
		io_close(&s->watched[--s->watched_count].fd);
	sessions_release(&s->sessions);
	buffer_release(&s->start);
	buffer_release(&s->in.data);
	output_queue_release(&s->out);
	io_close(&s->signals);
	return 0;
}
