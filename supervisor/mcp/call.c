// See server.h: a request that has a child.

#include "lib/human.h"
#include "lib/json.h"
#include "lib/proc.h"
#include "lib/utf8.h"
#include "supervisor/mcp/server.h"
#include "supervisor/process/control_client.h"
#include "supervisor/process/process_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* While nothing changes, the client is told this often that the command still runs. */
#define CALL_SILENCE_MS 10000

struct call *call_new(struct server *s, enum call_kind kind, const char *id)
{
	struct call *c = s->call_count < s->calls_most ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		server_send_error(s, id, RPC_INTERNAL,
				  s->call_count < s->calls_most
					  ? "out of memory"
					  : "too many requests at once; send it again later");
		return NULL;
	}
	c->kind = kind;
	c->child = (struct child){.out = -1, .err = -1, .caller = -1};
	c->leave.fd = -1;
	memcpy(c->id, id, strlen(id) + 1);
	c->next = s->calls;
	s->calls = c;
	s->call_count++;
	return c;
}

struct call *call_find(const struct server *s, const char *id)
{
	struct call *c = s->calls;
	while (c && (c->cancelled || strcmp(c->id, id) != 0))
		c = c->next;
	return c;
}

void call_free(struct server *s, struct call *c)
{
	struct call **at = &s->calls;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	s->call_count--;
	child_release(&c->child);
	shell_state_release(&c->before);
	shell_leave_close(&c->leave);
	buffer_release(&c->state);
	buffer_release(&c->stay);
	free(c->about);
	free(c);
}

int call_begin(struct server *s, struct call *c, struct order *order, const char *directory,
	       char *const *env)
{
	const struct child_start start = {
		.argv = order->argv,
		.envp = (char **)env,
		.directory = directory,
		.input = order->input,
		.input_len = order->input_len,
		.caller = c->tool == &tools[TOOL_RUN_COMMAND],
		.signals = &s->mask,
	};
	errno = ENOMEM;
	int result = order->failed ? -1 : child_start(&c->child, &start);
	int error = errno;
	order_release(order);
	if (result == 0)
		return 0;
	if (c->kind == CALL_TOOL)
		answer_wrong(s, c->id, "%s: can't be started: %s", c->tool->name, strerror(error));
	else
		server_send_error(s, c->id, RPC_INTERNAL, "can't be started: %s", strerror(error));
	call_free(s, c);
	return -1;
}

/* --- run_command ----------------------------------------------------------------------------- */

/* The program and its arguments, or the shell string, may run. */
static int call_is_allowed(struct server *s, const struct arguments_of *a, char why[ALLOW_WHY_MAX])
{
	const json_t *args = argument_list(a, "args");
	size_t count = json_array_size(args);
	if (s->allow.count == 0)
		return 0;
	if (json_object_size(argument_value(a, "env")) > 0) {
		snprintf(why, ALLOW_WHY_MAX, "env is not allowed here");
		return -1;
	}
	if (!args)
		return allow_string(&s->allow, argument_text(a, "command"), why);
	char **words = calloc(count + 2, sizeof(*words));
	if (!words) {
		snprintf(why, ALLOW_WHY_MAX, "out of memory");
		return -1;
	}
	words[0] = (char *)argument_text(a, "command");
	for (size_t i = 0; i < count; i++)
		words[i + 1] = (char *)json_string_value(json_array_get(args, i));
	int result = allow_words(&s->allow, words, why);
	free(words);
	return result;
}

/* Copies the session's state, with what the call has for its command alone. Returns 0, or -1 with
   errno. */
static int call_take_state(const struct server *s, struct call *c, const struct session *session,
			   const struct arguments_of *a)
{
	const char *cwd = argument_text(a, "cwd"), *key;
	struct buffer entry = BUFFER_INIT;
	json_t *value;
	const char *here = session->state.directory;
	/* Where patterns say what may run, nothing that a command left says what they mean. */
	bool limited = s->allow.count > 0;
	int result =
		shell_state_init(&c->before, here, limited ? s->start.env : session->state.env);
	if (result == 0 && limited)
		result = shell_state_enter(&c->before, here);
	if (result == 0 && cwd) {
		shell_state_resolve(&c->before, cwd, &entry);
		result = buffer_string(&entry) ? shell_state_enter(&c->before, entry.data) : -1;
	}
	json_object_foreach(argument_value(a, "env"), key, value)
	{
		buffer_clear(&entry);
		buffer_printf(&entry, "%s=%s", key, json_string_value(value));
		if (result == 0 &&
		    (!buffer_string(&entry) || shell_state_set(&c->before, entry.data) < 0))
			result = -1;
	}
	buffer_release(&entry);
	return result;
}

/* Returns 0, or -1 after answering why the command can't run there. */
static int call_check_directory(struct server *s, const struct call *c, bool given)
{
	const char *directory = c->before.directory;
	struct stat st;
	errno = ENOTDIR;
	if (stat(directory, &st) == 0 && S_ISDIR(st.st_mode) && access(directory, X_OK) == 0)
		return 0;
	if (given)
		answer_wrong(s, c->id, "run_command: cwd: %s: %s", directory, strerror(errno));
	else
		answer_wrong(s, c->id,
			     "run_command: the session's directory %s: %s; give cwd, or start "
			     "anew with end_session",
			     directory, strerror(errno));
	return -1;
}

/* Everything that is needed before the child of run_command can start. Returns 0, or -1 after
   answering. */
static int call_prepare_run(struct server *s, struct call *c, const struct arguments_of *a)
{
	const char *name = argument_text(a, "session");
	struct session *session = sessions_find(&s->sessions, name);
	char why[ALLOW_WHY_MAX];
	if (!session)
		answer_wrong(
			s, c->id,
			"run_command: session: there is none called %s; new_session starts one",
			name);
	else if (!server_can_hold(s))
		answer_wrong(s, c->id,
			     "run_command: %zu commands run already, as many as this server can "
			     "hold; await_command or signal_command ends one",
			     s->held_most);
	else if (call_is_allowed(s, a, why) < 0)
		answer_wrong(s, c->id, "run_command: %s", why);
	else if (call_take_state(s, c, session, a) < 0)
		answer_wrong(s, c->id, "run_command: %s", strerror(errno));
	else if (call_check_directory(s, c, argument_value(a, "cwd")) == 0) {
		c->session = session->number;
		session->commands++;
		/* Without the file in memory the command runs, and leaves nothing. */
		if (!argument_list(a, "args"))
			shell_leave_open(&c->leave);
		return 0;
	}
	return -1;
}

/* --- any tool with a child -------------------------------------------------------------------- */

/* Keeps the progress token of a request, as JSON. */
static void call_take_token(struct call *c, const struct rpc_message *m)
{
	rpc_write_id(c->token,
		     json_object_get(json_object_get(m->params, "_meta"), "progressToken"));
	c->told_at = clock_monotonic_ms();
	c->ask_at = c->told_at + SERVER_PROGRESS_MS;
}

static void call_start_tool(struct server *s, struct call *c, const struct arguments_of *a,
			    const struct rpc_message *m)
{
	struct order order;
	bool runs = c->tool == &tools[TOOL_RUN_COMMAND];
	const char *about = runs ? NULL : argument_text(a, "artifact_id");
	c->searches = c->tool == &tools[TOOL_READ_OUTPUT] && argument_text(a, "search");
	c->about = about ? strdup(about) : NULL;
	if (runs && call_prepare_run(s, c, a) < 0) {
		call_free(s, c);
		return;
	}
	char *leave = c->leave.fd >= 0 ? shell_leave_command(&c->leave, s->program) : NULL;
	const struct order_context context = {.session = s->artifacts,
					      .all_sessions = s->all_sessions,
					      .leave = leave,
					      .structured = s->structured,
					      .keep = s->keep};
	const char *wrong = order_make(&order, a, &context);
	order.failed |= about && !c->about;
	free(leave);
	if (wrong) {
		answer_wrong(s, c->id, "%s", wrong);
		order_release(&order);
		call_free(s, c);
		return;
	}
	if (runs)
		call_take_token(c, m);
	call_begin(s, c, &order, runs ? c->before.directory : NULL, runs ? c->before.env : s->env);
}

/* --- tools/call ------------------------------------------------------------------------------ */

void call_tool(struct server *s, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	const struct tool *tool = name ? tool_find(name, s->read_only) : NULL;
	struct arguments_of a;
	if (!name) {
		server_send_error(s, m->id, RPC_BAD_PARAMS, "tools/call: name: must be a string");
	} else if (!tool) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "tools/call: there is no tool %.100s; tools/list has all", name);
	} else if (arguments_read(&a, tool, json_object_get(m->params, "arguments")) < 0) {
		answer_wrong(s, m->id, "%s", a.wrong);
	} else if (!session_tools_answer(s, &a, m->id)) {
		struct call *c = call_new(s, CALL_TOOL, m->id);
		if (!c)
			return;
		c->tool = tool;
		call_start_tool(s, c, &a, m);
	}
}

/* Takes note of what the command has started in sessions of their own: it does not end with it. The
   leader of the session that ends is the supervisor, a child of the front end. */
static void call_note_staying(struct call *c)
{
	struct process_tree tree = {.passes = false};
	struct buffer pids = BUFFER_INIT;
	struct process p, leader;
	process_tree_descendants(&tree, c->child.pid, &pids);
	for (size_t at = 0; at < pids.len; at += sizeof(pid_t)) {
		pid_t pid;
		memcpy(&pid, pids.data + at, sizeof(pid));
		if (process_read(pid, &p) < 0 || p.parent == c->child.pid)
			continue;
		if (process_read(p.session, &leader) < 0 || leader.parent != c->child.pid)
			buffer_append(&c->stay, (const char *)&p, sizeof(p));
	}
	process_tree_release(&tree);
	buffer_release(&pids);
}

/* Tells the client what has stayed of a cancelled command. */
static void call_tell_staying(struct server *s, const struct call *c)
{
	struct buffer text = BUFFER_INIT;
	struct process p;
	for (size_t at = 0; at < c->stay.len; at += sizeof(p)) {
		memcpy(&p, c->stay.data + at, sizeof(p));
		if (!process_is_alive(&p))
			continue;
		buffer_append_string(&text, text.len
						    ? ", "
						    : "the cancelled command has ended; what it "
						      "started in sessions of their own goes on: ");
		utf8_clean(&text, p.name, strlen(p.name));
		buffer_printf(&text, " (PID %d)", (int)p.pid);
	}
	if (text.len > 0 && buffer_string(&text))
		server_log(s, LOG_WARNING, text.data);
	buffer_release(&text);
}

/* The command ends with its session; its answer is dropped when it comes. */
void call_cancel(struct call *c)
{
	const struct client caller = {.fd = c->child.caller};
	if (caller.fd >= 0 && !c->ended)
		call_note_staying(c);
	c->cancelled = true;
	c->token[0] = '\0';
	if (caller.fd >= 0)
		client_send(&caller, CONTROL_SIGNAL, 0, 0, NULL, 0);
	else if (!c->ended)
		kill(c->child.pid, SIGKILL);
}

/* --- progress --------------------------------------------------------------------------------- */

void call_progress(struct server *s, struct call *c, int64_t now_ms)
{
	const struct client caller = {.fd = c->child.caller};
	(void)s;
	if (c->asked || now_ms < c->ask_at || caller.fd < 0)
		return;
	c->asked = client_send(&caller, CONTROL_STATUS, 0, 0, NULL, 0) == 0;
	c->ask_at = now_ms + SERVER_PROGRESS_MS;
}

/* "12 lines, 340 B: Compiling foo.c", unless that was said already. */
static void call_tell(struct server *s, struct call *c, const struct live_status *now,
		      int64_t now_ms)
{
	struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
	bool same = now->lines == c->told_lines && now->bytes == c->told_bytes;
	if ((same && now_ms < c->told_at + CALL_SILENCE_MS) || output_queue_is_full(&s->out))
		return;
	c->told_lines = now->lines;
	c->told_bytes = now->bytes;
	c->told_at = now_ms;
	buffer_printf(&text, "%s line%s, %s%s%s", HUMAN_COUNT(now->lines),
		      now->lines == 1 ? "" : "s", HUMAN_SIZE(now->bytes),
		      *now->last_line ? ": " : "", now->last_line);
	rpc_begin_notification(&line, "notifications/progress");
	json_add_raw(&line, "progressToken", c->token, strlen(c->token));
	/* It has to grow, which the text of a command need not do. */
	json_add_number(&line, "progress", now->elapsed_ms);
	json_add_text(&line, "message", text.data, text.len);
	rpc_end_notification(&line);
	line.failed |= text.failed;
	buffer_release(&text);
	server_send(s, &line);
}

void call_receive(struct server *s, struct call *c, int64_t now_ms)
{
	const struct client caller = {.fd = c->child.caller};
	struct control_packet p;
	struct live_status now;
	ssize_t n;
	while ((n = client_receive(&caller, &p, MSG_DONTWAIT)) >= 0) {
		if (p.head.kind != CONTROL_STATUS) {
			c->asked = false;
			continue;
		}
		buffer_append(&c->state, p.data, (size_t)n);
		if (p.head.a > 0)
			continue;
		c->asked = false;
		if (buffer_check(&c->state) == 0 &&
		    live_status_parse(c->state.data, c->state.len, &now) == 0)
			call_tell(s, c, &now, now_ms);
		buffer_clear(&c->state);
	}
	if (errno != EAGAIN)
		c->token[0] = '\0';
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The session goes on with what the command's shell left, unless the command goes on. */
static void call_take_left(struct server *s, struct call *c)
{
	struct session *session = sessions_by_number(&s->sessions, c->session);
	char *left;
	size_t len;
	if (c->leave.fd < 0 || !session)
		return;
	if (shell_leave_read(&c->leave, &left, &len) < 0) {
		server_log(s, LOG_INFO,
			   "the command's shell has left no directory and variables: the session "
			   "keeps those that it had");
		return;
	}
	shell_state_take(&session->state, &c->before, left, len);
	free(left);
}

/* Whether the other end of the run's leash is there, since the command or its children go on. */
static bool call_goes_on(const struct call *c)
{
	char byte;
	ssize_t n = recv(c->child.caller, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	return c->child.caller >= 0 && n < 0 && errno == EAGAIN;
}

void call_finish(struct server *s, struct call *c)
{
	call_take_left(s, c);
	if (!s->keep && call_goes_on(c)) {
		server_hold(s, c->child.caller);
		c->child.caller = -1;
	}
	call_tell_staying(s, c);
	if (!c->cancelled && c->kind == CALL_TOOL)
		answer_call(s, c);
	else if (!c->cancelled)
		resources_answer(s, c);
	call_free(s, c);
}
