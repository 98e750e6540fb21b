// terse mcp: a server of the Model Context Protocol on standard input and output. It is for agents
// that have no shell, or whose commands can't be prefixed with terse: its tools run, read, search
// and type.
//
// One process and one poll loop. Each call that needs a verb of terse has a child (call.c), so a
// command is supervised like every other run.

#include "supervisor/mcp/server.h"

#include "config/settings.h"
#include "lib/active.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/loop.h"
#include "supervisor/command/verb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* When the client has closed its end, calls and the last answers may take this much longer. */
#define SERVER_END_MS 1000

/* The most calls at one time. */
#define SERVER_CALLS_MAX 256

/* The most bytes of output that are held for calls that have not ended. If there are more, only the
   child that has printed most is read, so that its call can end. */
#define SERVER_OUTPUT_MAX ((size_t)8 * 1024 * 1024)

/* Descriptors of one call: its output, errors, leash, and the file that its shell leaves its state
   in. */
#define SERVER_CALL_FILES 4

/* Descriptors of the server itself: the standard ones, signals, the output opened again, and the
   child's ends while a child is started. */
#define SERVER_OWN_FILES 12

/* --- what is sent ---------------------------------------------------------------------------- */

void server_send(struct server *s, const char *id, struct buffer *line)
{
	if (id && buffer_check(line) < 0) {
		/* The error usually fits into the memory that the line already has. */
		buffer_clear(line);
		rpc_error(line, id, RPC_INTERNAL, "out of memory");
	}
	if (buffer_check(line) == 0)
		output_queue_write(&s->out, line->data, line->len);
	buffer_release(line);
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
	server_send(s, id, &line);
}

void server_answer(struct server *s, const char *id, const struct buffer *text, bool is_json,
		   bool is_error)
{
	struct buffer line = BUFFER_INIT, json = {.failed = text->failed};
	if (is_json) {
		bool newline = text->len > 0 && text->data[text->len - 1] == '\n';
		buffer_append(&json, text->data, text->len - newline);
	} else if (s->structured) {
		json_begin(&json, NULL, '{');
		json_add_text(&json, is_error ? "error" : "text", text->data, text->len);
		json_end(&json, '}');
	}
	const struct buffer *shown = s->structured ? &json : text;
	rpc_begin(&line, id, "result");
	json_begin(&line, "content", '[');
	json_begin(&line, NULL, '{');
	json_add_string(&line, "type", "text");
	json_add_text(&line, "text", shown->data, shown->len);
	json_end(&line, '}');
	json_end(&line, ']');
	if (s->structured)
		json_add_raw(&line, "structuredContent", json.data, json.len);
	if (is_error)
		json_add_bool(&line, "isError", true);
	rpc_end(&line);
	line.failed |= json.failed;
	server_send(s, id, &line);
	buffer_release(&json);
}

/* --- requests and notifications -------------------------------------------------------------- */

/* The supported revisions of the protocol, newest first. */
static const char *const revisions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};

#define REVISIONS (sizeof(revisions) / sizeof(*revisions))

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
	static const char about[] =
		",\"capabilities\":{\"tools\":{\"listChanged\":false}},\"serverInfo\":{\"name\":"
		"\"terse\",\"title\":\"terse\",\"version\":\"" TERSE_VERSION "\"}";
	const char *asked = json_string_value(json_object_get(m->params, "protocolVersion"));
	const char *revision = revisions[0];
	struct buffer line = BUFFER_INIT;
	if (!asked) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "initialize: protocolVersion: must be a string");
		return;
	}
	for (size_t i = 0; i < REVISIONS; i++) {
		if (strcmp(asked, revisions[i]) == 0)
			revision = revisions[i];
	}
	rpc_begin(&line, m->id, "result");
	json_add_string(&line, "protocolVersion", revision);
	buffer_append_string(&line, about);
	json_add_string(&line, "instructions",
			s->read_only ? instructions_read_only : instructions);
	rpc_end(&line);
	s->initialized = true;
	server_send(s, m->id, &line);
}

static const struct {
	const char *name;
	/* Either `serve` sends the whole answer, or `add` appends the result to an answer that was
	   begun. If both are NULL, the result is empty. */
	void (*serve)(struct server *s, const struct rpc_message *m);
	void (*add)(struct buffer *out, bool read_only);
	bool early; /* may come before initialize */
} methods[] = {
	{"initialize", .serve = methods_initialize, .early = true},
	{"ping", .early = true},
	{"tools/list", .add = tools_list},
	{"tools/call", .serve = call_tool},
};

#define METHODS (sizeof(methods) / sizeof(*methods))

/* --- the loop -------------------------------------------------------------------------------- */

static void server_on_output(void *ctx, short events)
{
	struct server *s = ctx;
	(void)events;
	output_queue_pump(&s->out);
}

/* The leash of a run that outlives its call is readable: checks whether the run has ended. */
static void server_on_held(void *ctx, short events)
{
	int *held = ctx;
	char packet[64];
	(void)events;
	ssize_t n = recv(*held, packet, sizeof(packet), MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		io_close(held);
}

static void server_on_signal(void *ctx, short events)
{
	struct server *s = ctx;
	struct signalfd_siginfo info;
	(void)events;
	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGCHLD)
			s->end_at = 0;
		for (struct call *c = s->calls; c; c = c->next)
			call_reap(c);
	}
}

static bool server_takes_requests(const struct server *s)
{
	return !output_queue_is_full(&s->out) && s->call_count < s->calls_most;
}

/* The unanswered call whose request has this ID, or NULL. */
static struct call *call_find(const struct server *s, const char *id)
{
	struct call *c = s->calls;
	while (c && (c->cancelled || strcmp(c->id, id) != 0))
		c = c->next;
	return c;
}

/* Handles a message. A notification gets no answer, even if it is wrong. The only notification that
   has an effect is the cancellation of a request. */
static void server_take(struct server *s, const char *line, size_t len)
{
	struct rpc_message m;
	char id[RPC_ID_MAX];
	size_t i = 0;
	rpc_read(&m, line, len);
	while (i < METHODS && strcmp(methods[i].name, m.method) != 0)
		i++;
	if (m.kind == RPC_WRONG) {
		server_send_error(s, m.id, m.code, "%s", m.wrong);
	} else if (m.kind == RPC_NOTIFICATION) {
		const json_t *request = json_object_get(m.params, "requestId");
		bool cancels = strcmp(m.method, "notifications/cancelled") == 0 &&
			       rpc_write_id(id, request) == 0;
		struct call *c = cancels ? call_find(s, id) : NULL;
		if (c)
			call_cancel(c);
	} else if (m.kind == RPC_REQUEST && i == METHODS) {
		server_send_error(s, m.id, RPC_NO_METHOD, "%.100s: there is no such method",
				  m.method);
	} else if (m.kind == RPC_REQUEST && !s->initialized && !methods[i].early) {
		server_send_error(s, m.id, RPC_INVALID, "%s: initialize has to come first",
				  m.method);
	} else if (m.kind == RPC_REQUEST && call_find(s, m.id)) {
		server_send_error(s, m.id, RPC_INVALID,
				  "id: belongs to a request that is not answered yet");
	} else if (m.kind == RPC_REQUEST && methods[i].serve) {
		methods[i].serve(s, &m);
	} else if (m.kind == RPC_REQUEST) {
		struct buffer answer = BUFFER_INIT;
		rpc_begin(&answer, m.id, "result");
		if (methods[i].add)
			methods[i].add(&answer, s->read_only);
		rpc_end(&answer);
		server_send(s, m.id, &answer);
	}
	json_decref(m.value);
}

/* One turn of the loop: waits for events, then handles the client's messages while the client reads
   the answers. */
static void server_turn(struct server *s)
{
	struct loop l;
	const struct call *only = NULL;
	size_t waiting = 0;
	const char *line;
	size_t len;
	/* `only`: if children have printed too much, the one call whose output is read; NULL: all
	   are read. */
	for (const struct call *c = s->calls; c; c = c->next) {
		waiting += c->output.len;
		if (c->pid && (!only || c->output.len > only->output.len))
			only = c;
	}
	if (waiting <= SERVER_OUTPUT_MAX)
		only = NULL;
	loop_begin(&l);
	if (s->out.queue.len > 0)
		loop_watch(&l, output_queue_poll_fd(&s->out), POLLOUT, server_on_output, s);
	for (struct call *c = s->calls; c; c = c->next)
		call_watch(c, &l, !only || only == c);
	for (size_t i = 0; i < s->held_count; i++)
		loop_watch(&l, s->held[i], POLLIN, server_on_held, &s->held[i]);
	loop_watch(&l, s->signals, POLLIN, server_on_signal, s);
	if (!s->in.ended && server_takes_requests(s))
		loop_watch(&l, s->in.fd, POLLIN, inbox_read, &s->in);
	if (s->end_at < INT64_MAX)
		loop_until(&l, s->end_at);
	loop_turn(&l);
	for (size_t i = s->held_count; i-- > 0;) {
		if (s->held[i] < 0)
			s->held[i] = s->held[--s->held_count];
	}
	for (struct call *c = s->calls, *next; c; c = next) {
		next = c->next;
		if (!c->pid && !output_queue_is_full(&s->out))
			call_finish(s, c);
	}
	while (server_takes_requests(s) && inbox_next(&s->in, &line, &len))
		server_take(s, line, len);
	if (s->in.ended && s->end_at == INT64_MAX)
		s->end_at = clock_monotonic_ms() + SERVER_END_MS;
}

/* Serves until the client closes standard input. Returns 0, or -1 with errno. */
static int server_run(struct server *s)
{
	static const int ends[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};
	struct rlimit files;
	sigset_t set;
	/* A client may ignore SIGCHLD. The server would inherit that and could not wait for its
	   children. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaddset(&set, ends[i]);
	s->signals = io_above_standard(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
	/* SIGPIPE is blocked, too: if the client is gone, write(2) fails, and the server
	   continues. */
	sigaddset(&set, SIGPIPE);
	if (s->signals < 0 || sigprocmask(SIG_BLOCK, &set, &s->mask) < 0)
		return -1;
	/* Divides the limit of descriptors among calls and runs that outlive their calls. Further
	   requests wait, and do not fail. */
	size_t most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur : SERVER_OWN_FILES;
	size_t held = most / (SERVER_CALL_FILES + 1);
	s->held_most = held < SERVER_HELD_MAX ? held : SERVER_HELD_MAX;
	size_t kept = s->held_most + SERVER_OWN_FILES;
	size_t calls = most > kept ? (most - kept) / SERVER_CALL_FILES : 0;
	s->calls_most = calls < 1 ? 1 : calls < SERVER_CALLS_MAX ? calls : SERVER_CALLS_MAX;
	output_queue_init(&s->out, STDOUT_FILENO);
	s->in = (struct inbox){.fd = STDIN_FILENO, .most = INBOX_LINE_MAX};
	s->end_at = INT64_MAX;
	while (!s->out.error && clock_monotonic_ms() < s->end_at &&
	       (s->end_at == INT64_MAX || s->calls || s->out.queue.len > 0))
		server_turn(s);
	/* Closes everything that the server holds. A command ends when its leash is closed. */
	while (s->calls) {
		if (s->calls->pid && !s->calls->runs)
			kill(s->calls->pid, SIGKILL);
		call_free(s, s->calls);
	}
	while (s->held_count > 0)
		io_close(&s->held[--s->held_count]);
	buffer_release(&s->in.data);
	output_queue_release(&s->out);
	io_close(&s->signals);
	return 0;
}

/* --- the verb -------------------------------------------------------------------------------- */

static int mcp_run(struct verb_call *c)
{
	struct server *s = calloc(1, sizeof(*s));
	char *directory = NULL;
	int status = EXIT_TERSE;
	ssize_t n = 0;
	if (s && verb_parse(c, s) < 0)
		goto out;
	if (s)
		n = readlink("/proc/self/exe", s->program, sizeof(s->program) - 1);
	if (!s || n < 0 || !(directory = shell_directory()))
		goto failed;
	shell_state_init(&s->start, directory, environ);
	/* The server may run inside a run of terse. Its tools are not part of that run. */
	unsetenv(ACTIVE_NAME);
	unsetenv("TERSE");
	s->settings = c->settings;
	s->settings->reach = s->all_sessions ? REACH_STORE : REACH_SESSION;
	/* Artifacts belong to the session of the agent's conversation. If that is unknown, they get
	   a session that ends with this process. */
	s->artifacts = session_name(s->settings, getppid(), s->room);
	if (strcmp(s->artifacts, "default") == 0 && !s->settings->session)
		s->artifacts = session_of_process("mcp", s->room);
	if (sessions_begin(&s->sessions, SESSIONS_DEFAULT, &s->start) && server_run(s) == 0)
		status = 0;
failed:
	if (status)
		verb_error("mcp", "%s", strerror(errno));
out:
	for (size_t i = 0; s && i < s->sessions.count; i++)
		buffer_release(&s->sessions.items[i].state);
	if (s)
		buffer_release(&s->start);
	free(s);
	free(directory);
	return status;
}

static const struct verb_option mcp_options[] = {
	{"--read-only", 0, VERB_FLAG, offsetof(struct server, read_only), NULL,
	 "only the tools that neither run nor type anything"},
	{"--all-sessions", 0, VERB_FLAG, offsetof(struct server, all_sessions), NULL,
	 "the tools reach the artifacts of every session"},
	{"--keep", 0, VERB_FLAG, offsetof(struct server, keep), NULL,
	 "commands that are running when the server ends continue"},
	{"--structured", 0, VERB_FLAG, offsetof(struct server, structured), NULL,
	 "answers are JSON, as text and as structured content"},
	VERB_END_ROW,
};

const struct verb verb_mcp = {
	.name = "mcp",
	.purpose = "serve the tools of terse to an agent without a shell",
	.forms = "",
	.text = "Speaks the Model Context Protocol on standard input and output: an agent starts\n"
		"it and gets tools that run, read, search and type.\n",
	.options = mcp_options,
	.run = mcp_run,
};
