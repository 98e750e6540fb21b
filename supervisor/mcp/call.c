// See server.h: requests that have a child.

#include "config/option.h"
#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/loop.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/command/verb.h"
#include "supervisor/mcp/server.h"
#include "supervisor/process/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The shortest time between two progress notifications. */
#define CALL_PROGRESS_MS 500

/* While nothing changes, a progress notification is sent at this interval. */
#define CALL_SILENCE_MS 10000

/* The most bytes that are taken of a child's output. No verb prints as much; the rest is
   dropped. */
#define CALL_OUTPUT_MAX ((size_t)4 * 1024 * 1024)

#define CALL_CHUNK ((size_t)64 * 1024)

/* The child's descriptor of its socket to the server: the leash of `terse run` (closing it ends the
   command), or the socket over which a verb is asked for its progress. */
#define CALL_LEASH 3

/* This program, even if its file has been replaced since it started. */
#define CALL_PROGRAM "/proc/self/exe"

void call_free(struct server *s, struct call *c)
{
	struct call **at = &s->calls;
	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	s->call_count--;
	io_close(&c->out);
	io_close(&c->err);
	io_close(&c->leash);
	buffer_release(&c->output);
	buffer_release(&c->errors);
	buffer_release(&c->before);
	io_close(&c->leave);
	free(c);
}

/* --- the child ------------------------------------------------------------------------------- */

/* The child's ends of its pipes and sockets to the server. */
struct call_ends {
	int in, out, err, leash;
};

/* Makes a socket pair. Returns the server's end, and the child's in *other. Both are above
   CALL_LEASH, so the child can move its ends into place with dup2(2) in any order. CALL_LEASH
   itself is in use: by the server's signals, if by nothing else. Returns -1 with errno, and nothing
   to close. */
static int call_connect(int type, int *other)
{
	int pair[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	int own = io_above_standard(pair[0]);
	*other = io_above_standard(pair[1]);
	if (own < 0)
		io_close(other);
	if (*other < 0)
		io_close(&own);
	return own;
}

/* The child's part. With `env`, after vfork(): executes `terse` with these words in the call's
   directory, with this environment. Without `env`, after fork(): closes the server's descriptors
   and calls the verb, with the vocabulary, reach and session of the tools. */
static _Noreturn void call_become(const struct server *s, const struct call *c,
				  const struct call_ends *e, char **argv, char **env)
{
	struct settings settings;
	struct option_error error = {""};
	const int kept[] = {trace_fd, CALL_LEASH};
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	if (dup2(e->in, STDIN_FILENO) < 0 || dup2(e->out, STDOUT_FILENO) < 0 ||
	    dup2(e->err, STDERR_FILENO) < 0 || (e->leash >= 0 && dup2(e->leash, CALL_LEASH) < 0))
		_exit(EXIT_TERSE);
	if (env) {
		const char *directory = shell_state_value(&c->before, "PWD");
		if (chdir(directory) < 0)
			dprintf(STDERR_FILENO,
				"run_command: %s: %s; give another cwd, or start anew with "
				"end_session\n",
				directory, strerror(errno));
		else if (execve(CALL_PROGRAM, argv, env) < 0)
			dprintf(STDERR_FILENO, "run_command: can't be started: %s\n",
				strerror(errno));
		_exit(EXIT_TERSE);
	}
	io_close_others(STDERR_FILENO + 1, kept, e->leash >= 0 ? 2 : 1);
	/* Errors in configuration files were reported at the start. */
	if (settings_load(&settings, SETTINGS_SYSTEM_FILE, &error) < 0) {
		dprintf(STDERR_FILENO, "%s\n", strerror(errno));
		_exit(EXIT_TERSE);
	}
	settings.words = WORDS_TOOLS;
	settings.reach = s->settings->reach;
	settings.session = (char *)s->artifacts;
	struct verb_call call = {.verb = verb_named(c->verb),
				 .settings = &settings,
				 .argv = argv,
				 .asker = e->leash >= 0 ? CALL_LEASH : 0};
	while (argv[call.argc])
		call.argc++;
	int status = call.verb->run(&call);
	_exit(fflush(stdout) == 0 ? status : EXIT_TERSE);
}

/* Starts the call's child with these words, and with this text (or NULL) as its standard input. If
   that fails, answers with an error and frees the call. */
static void call_start(struct server *s, struct call *c, const struct buffer *words,
		       const json_t *input)
{
	struct call_ends e = {-1, -1, -1, -1};
	const bool asks = c->runs || *c->token;
	char **argv = shell_strings(words), **env = c->runs ? shell_strings(&c->before) : NULL;
	c->pid = -1;
	if (!argv || (c->runs && !env))
		goto out;
	/* The text goes into a file in memory, so the server need not write while the child
	   reads. */
	e.in = input ? memfd_create("stdin", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (e.in < 0 ||
	    (input && (io_write(e.in, json_string_value(input), json_string_length(input)) < 0 ||
		       lseek(e.in, 0, SEEK_SET) < 0)))
		goto out;
	c->out = call_connect(SOCK_STREAM, &e.out);
	c->err = c->out < 0 ? -1 : call_connect(SOCK_STREAM, &e.err);
	c->leash = c->err < 0 || !asks ? -1 : call_connect(SOCK_SEQPACKET, &e.leash);
	if (c->err >= 0 && (!asks || c->leash >= 0))
		c->pid = c->runs ? vfork() : fork();
	if (c->pid == 0)
		call_become(s, c, &e, argv, env);
out:;
	int error = errno;
	free(argv);
	free(env);
	io_close(&e.in);
	io_close(&e.out);
	io_close(&e.err);
	io_close(&e.leash);
	if (c->pid > 0)
		return;
	server_send_error(s, c->id, RPC_INTERNAL, "can't be started: %s", strerror(error));
	call_free(s, c);
}

/* Reads what the child has printed. */
static void call_read(void *ctx, short events)
{
	struct call *c = ctx;
	char chunk[CALL_CHUNK];
	(void)events;
	for (int i = 0; i < 2; i++) {
		int *fd = i ? &c->err : &c->out;
		struct buffer *into = i ? &c->errors : &c->output;
		while (*fd >= 0) {
			ssize_t n = recv(*fd, chunk, sizeof(chunk), MSG_DONTWAIT);
			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0 && errno == EAGAIN)
				break;
			size_t room = CALL_OUTPUT_MAX - into->len;
			/* Output that can't be read makes the answer an error, since something is
			   missing. */
			into->failed |= n < 0;
			if (n <= 0)
				io_close(fd);
			else
				buffer_append(into, chunk, (size_t)n < room ? (size_t)n : room);
		}
	}
}

void call_reap(struct call *c)
{
	int status;
	pid_t pid = 0;
	while (c->pid && (pid = waitpid(c->pid, &status, WNOHANG)) < 0 && errno == EINTR) {
	}
	if (pid <= 0)
		return;
	call_read(c, 0);
	c->pid = 0;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- run_command ----------------------------------------------------------------------------- */

#define RUN_TIMEOUT_MS 30000
#define RUN_LINES_MAX  1000000000
#define RUN_FULL_BYTES 1048576

/* Adds the arguments that are options of the verb. A call that waits for a line does not wait for
   silence by default. */
static void call_add_options(struct buffer *words, const struct arguments *a)
{
	const bool waits_for = argument_text(a, "for");
	for (size_t i = 0; a->tool->arguments[i].name; i++) {
		const struct argument *t = &a->tool->arguments[i];
		const json_t *value = a->values[i], *item;
		const char *text = json_string_value(value);
		int64_t otherwise = waits_for && strcmp(t->name, "idle") == 0 ? 0 : t->otherwise;
		int64_t number = value ? json_integer_value(value) : otherwise;
		size_t k;
		if (!t->option || (!value && !number))
			continue;
		if (t->choices && strncmp(t->choices + 2, text, strlen(text)) != 0)
			buffer_printf(words, "%s%s%c", t->option, text, 0);
		else if (text && !t->choices)
			buffer_printf(words, "%s=%s%c", t->option, text, 0);
		else if (number)
			buffer_printf(words, "%s=%" PRId64 "%s%c", t->option, number,
				      t->type == ARGUMENT_TIME ? "ms" : "", 0);
		json_array_foreach(value, k, item)
		{
			buffer_printf(words, "%s=%s%c", t->option, json_string_value(item), 0);
		}
	}
}

void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *prelude)
{
	/* Heartbeats are sent as progress notifications, so they are off in the text. No other
	   program cuts the answer, so there is no ceiling. */
	static const char always[] = "terse\0run\0--preview\0--words=tools\0--heartbeat=off\0"
				     "--prompt=report\0--ceiling=0\0--status=failure\0"
				     "--exit-delay=off\0--no-detach\0--signal-status\0"
				     "--yield-status=0";
	const json_t *args = argument_value(a, "args"), *word;
	size_t i;
	bool full = json_is_true(argument_value(a, "include_full_output"));
	bool kill = json_is_true(argument_value(a, "kill_on_timeout"));
	int64_t size = full ? RUN_FULL_BYTES : argument_number(a, "max_bytes", 0);
	buffer_append(words, always, sizeof(always));
	buffer_printf(words, "--session=%s%c--streams=%s%c--format=%s%c", s->artifacts, 0,
		      s->structured ? "split" : "merged", 0, s->structured ? "json" : "text", 0);
	buffer_printf(words, "%s=%d%c", s->keep ? "--control" : "--leash", CALL_LEASH, 0);
	/* When its timeout is over, a command keeps running (--yield, which gives it a terminal to
	   type into), or is ended (--timeout). --tty gives the second kind a terminal too. */
	if (kill)
		buffer_printf(words, "--tty%c", 0);
	buffer_printf(words, "%s=%" PRId64 "ms%c", kill ? "--timeout" : "--yield",
		      argument_number(a, "timeout", RUN_TIMEOUT_MS), 0);
	call_add_options(words, a);
	if (full)
		buffer_printf(words, "--max-lines=%d%c--max-err-lines=%d%c", RUN_LINES_MAX, 0,
			      RUN_LINES_MAX, 0);
	/* The limit holds for separate standard error as well. */
	if (size)
		buffer_printf(words, "--size=%" PRId64 "%c--err-size=%" PRId64 "%c", size, 0, size,
			      0);
	if (prelude && !args)
		buffer_printf(words, "--prelude=%s%c", prelude, 0);
	buffer_printf(words, "%s%c%s%c", args ? "--" : "-c", 0, argument_text(a, "command"), 0);
	json_array_foreach(args, i, word)
	{
		buffer_printf(words, "%s%c", json_string_value(word), 0);
	}
}

/* Prepares the call of a command: appends its words to `text` and returns 0; or appends why it may
   not run and returns -1. */
static int run_prepare(struct server *s, struct call *c, const struct arguments *a,
		       struct buffer *text)
{
	const char *name = argument_text(a, "session"), *cwd = argument_text(a, "cwd"), *key;
	struct session *session = sessions_find(&s->sessions, name);
	json_t *value;
	size_t held = s->held_count;
	for (const struct call *other = s->calls; other; other = other->next)
		held += other->runs && other->leash >= 0;
	if (!*argument_text(a, "command"))
		return arguments_refuse(text, "command", "is empty");
	if (!session)
		return arguments_refuse(text, "session",
					"there is none called %s; new_session starts one", name);
	/* If this run went on after its call, there would be no room to hold it. */
	if (!s->keep && held >= s->held_most) {
		buffer_printf(text,
			      "%zu commands run already, as many as this server can hold; "
			      "await_command or signal_command ends one",
			      s->held_most);
		return -1;
	}
	/* The command starts with the session's state, and with the variables and directory of this
	   call. */
	buffer_add(&c->before, &session->state);
	json_object_foreach(argument_value(a, "env"), key, value)
	{
		shell_state_set(&c->before, "%s=%s", key, json_string_value(value));
	}
	if (cwd)
		shell_state_enter(&c->before, cwd);
	if (buffer_check(&c->before) < 0) {
		buffer_append_string(text, strerror(errno));
		return -1;
	}
	c->json = s->structured;
	c->session = session->number;
	/* If the file in memory can't be made, the command runs, but its state is lost. */
	char *prelude = argument_value(a, "args") ? NULL : shell_leave_open(&c->leave, s->program);
	call_run_words(text, s, a, prelude);
	free(prelude);
	return 0;
}

/* --- other tools ----------------------------------------------------------------------------- */

const char *call_verb_words(struct buffer *words, const struct server *s, const struct arguments *a,
			    bool *json)
{
	const struct tool *tool = a->tool;
	const char *verb = argument_text(a, "search") ? "search" : tool->verb;
	*json = s->structured && verb_option_named(verb_named(verb), "--json", 6);
	buffer_printf(words, "%s%c", verb, 0);
	if (tool->also)
		buffer_printf(words, "%s%c", tool->also, 0);
	if (s->all_sessions && strcmp(verb, "list") == 0)
		buffer_printf(words, "--all%c", 0);
	if (*json)
		buffer_printf(words, "--json%c", 0);
	call_add_options(words, a);
	buffer_printf(words, "--%c", 0);
	for (size_t i = 0; tool->arguments[i].name; i++) {
		if (!tool->arguments[i].option && a->values[i])
			buffer_printf(words, "%s%c", json_string_value(a->values[i]), 0);
	}
	return verb;
}

void call_tool(struct server *s, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	const struct tool *tool = name ? tool_find(name, s->read_only) : NULL;
	struct buffer text = BUFFER_INIT, wrong = BUFFER_INIT;
	struct call *c = NULL;
	struct arguments a;
	if (!tool) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  name ? "tools/call: there is no tool %.100s; tools/list has all"
				       : "tools/call: name: must be a string",
				  name);
		return;
	}
	if (!tool->serve && !(c = calloc(1, sizeof(*c)))) {
		server_send_error(s, m->id, RPC_INTERNAL, "out of memory");
		return;
	}
	if (c) {
		*c = (struct call){.server = s, .next = s->calls, .verb = tool->verb};
		c->out = c->err = c->leash = c->leave = -1;
		memcpy(c->id, m->id, sizeof(c->id));
		c->runs = strcmp(c->verb, "run") == 0;
		rpc_write_id(c->token,
			     json_object_get(json_object_get(m->params, "_meta"), "progressToken"));
		c->told_at = clock_monotonic_ms();
		c->ask_at = c->told_at + CALL_PROGRESS_MS;
		s->calls = c;
		s->call_count++;
	}
	int status = arguments_read(&a, tool, json_object_get(m->params, "arguments"), &text);
	if (status == 0 && !c)
		status = tool->serve(s, &a, &text);
	else if (status == 0 && c->runs)
		status = run_prepare(s, c, &a, &text);
	else if (status == 0)
		c->verb = call_verb_words(&text, s, &a, &c->json);
	if (status < 0) {
		buffer_printf(&wrong, "%s: ", tool->name);
		utf8_clean(&wrong, text.data, text.len);
		wrong.failed |= text.failed;
		server_answer(s, m->id, &wrong, false, true);
		if (c)
			call_free(s, c);
	} else if (c) {
		call_start(s, c, &text, argument_value(&a, "stdin"));
	} else {
		server_answer(s, m->id, &text, false, false);
	}
	buffer_release(&text);
	buffer_release(&wrong);
}

/* --- while it runs --------------------------------------------------------------------------- */

void call_cancel(struct call *c)
{
	c->cancelled = true;
	c->token[0] = '\0';
	if (c->runs && c->leash >= 0)
		frame_send(c->leash, FRAME_SIGNAL, 0, 0, NULL, 0, 0);
	else if (c->pid)
		kill(c->pid, SIGKILL);
}

/* Sends the state of a run to the client. */
static void call_on_progress(void *ctx, short events)
{
	struct call *c = ctx;
	struct live_status now;
	struct frame p;
	ssize_t n;
	(void)events;
	while ((n = frame_receive(c->leash, &p, MSG_DONTWAIT)) >= 0) {
		struct buffer text = BUFFER_INIT, line = BUFFER_INIT;
		int64_t now_ms = clock_monotonic_ms();
		c->asked = false;
		if (p.kind != FRAME_STATUS || n != sizeof(now))
			continue;
		memcpy(&now, p.data, sizeof(now));
		bool asks = now.state == LIVE_WAITING;
		bool same = now.lines == c->told_lines && now.bytes == c->told_bytes &&
			    asks == c->told_asks;
		if ((same && now_ms < c->told_at + CALL_SILENCE_MS) ||
		    output_queue_is_full(&c->server->out))
			continue;
		c->told_lines = now.lines;
		c->told_bytes = now.bytes;
		c->told_asks = asks;
		c->told_at = now_ms;
		/* The message is "12 lines, 340 B: Compiling foo.c", or an event as terse follow
		   words it. */
		if (asks || (same && now.quiet_ms >= CALL_SILENCE_MS))
			watched_add_state(&text, &now, asks);
		else
			buffer_printf(&text, "%s line%s, %s%s%s", HUMAN_COUNT(now.lines),
				      now.lines == 1 ? "" : "s", HUMAN_SIZE(now.bytes),
				      *now.last_line ? ": " : "", now.last_line);
		buffer_append_string(&line, "{\"jsonrpc\":\"2.0\",\"method\":"
					    "\"notifications/progress\",\"params\":{");
		json_add_raw(&line, "progressToken", c->token, strlen(c->token));
		/* The protocol wants a progress value that always grows, so this is the time, not
		   the size of the text. */
		json_add_number(&line, "progress", now.elapsed_ms);
		json_add_made(&line, "message", &text);
		rpc_end(&line);
		server_send(c->server, NULL, &line);
	}
	if (errno != EAGAIN)
		c->token[0] = '\0';
}

void call_watch(struct call *c, struct loop *l, bool may_print)
{
	int64_t now_ms = clock_monotonic_ms();
	if (c->pid && may_print) {
		loop_watch(l, c->out, POLLIN, call_read, c);
		loop_watch(l, c->err, POLLIN, call_read, c);
	}
	if (!*c->token)
		return;
	loop_watch(l, c->leash, POLLIN, call_on_progress, c);
	if (c->pid && !c->asked && now_ms >= c->ask_at) {
		c->asked = frame_send(c->leash, FRAME_STATUS, 0, 0, NULL, 0, 0) == 0;
		c->ask_at = now_ms + CALL_PROGRESS_MS;
	}
	/* Wakes up to ask again, unless the child still owes an answer. */
	if (c->pid && !c->asked)
		loop_until(l, c->ask_at);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Answers with what the child has printed. For run_command, adds how the command ended if its
   report doesn't say so. */
static void call_answer(struct server *s, const struct call *c)
{
	const char *at = c->errors.data, *end = at + c->errors.len;
	char prefix[32];
	int len = snprintf(prefix, sizeof(prefix), "terse %s: ", c->verb);
	static const char refused[] = "{\"ok\":false";
	struct buffer text = BUFFER_INIT;
	bool runs = c->runs, none = c->output.len == 0;
	bool wrong = none && (runs ? c->status == EXIT_TERSE && c->errors.len > 0 : c->status != 0);
	buffer_add(&text, &c->output);
	const char *all = buffer_string(&text);
	if (c->json && text.len > 0) {
		server_answer(s, c->id, &text, true,
			      !runs && text.len > sizeof(refused) &&
				      memcmp(text.data, refused, sizeof(refused) - 1) == 0);
		buffer_release(&text);
		return;
	}
	/* Whether the last line is terse's own. */
	const char *last = all && !none ? memrchr(all, '\n', text.len - 1) : NULL;
	bool ends = all && !none && all[text.len - 1] == '\n';
	bool reported = ends && strncmp(last ? last + 1 : all, "[terse: ", 8) == 0;
	if (runs && !none && !ends && c->status)
		buffer_append_string(&text, "\n");
	/* Adds the child's standard error. "terse: " and "terse read: " are dropped from its lines,
	   since a model knows only the names of tools. */
	for (const char *next; at < end; at = next) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		next = newline ? newline + 1 : end;
		if (next - at > 7 && memcmp(at, "terse: ", 7) == 0)
			at += 7;
		if (next - at > len && memcmp(at, prefix, (size_t)len) == 0)
			at += len;
		buffer_printf(&text, "%.*s\n", (int)((newline ? newline : end) - at), at);
	}
	/* There is no report if the command was not started or could not be supervised. */
	if (runs && !wrong && ((c->status && !reported) || text.len == 0))
		buffer_printf(&text, "[terse: exit %d]\n", c->status);
	else if (text.len == 0)
		buffer_append_string(&text, "[terse: nothing is there]\n");
	server_answer(s, c->id, &text, false, wrong);
	buffer_release(&text);
}

void call_finish(struct server *s, struct call *c)
{
	struct buffer left = BUFFER_INIT;
	size_t i = 0;
	char byte;
	/* The session takes over the state that the command's shell has written, unless the session
	   has ended. */
	while (i < s->sessions.count && s->sessions.items[i].number != c->session)
		i++;
	if (c->leave >= 0 && i < s->sessions.count &&
	    io_read_all(c->leave, &left, SHELL_STATE_MAX) == 0)
		shell_state_take(&s->sessions.items[i].state, &c->before, left.data, left.len);
	buffer_release(&left);
	/* If the other end of the leash is still open, the command or its children still run. */
	if (!s->keep && c->runs && c->leash >= 0 &&
	    recv(c->leash, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN) {
		s->held[s->held_count++] = c->leash;
		c->leash = -1;
	}
	if (!c->cancelled)
		call_answer(s, c);
	call_free(s, c);
}
