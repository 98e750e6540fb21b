// See server.h: requests that have a child, and run_command.

#include "config/option.h"
#include "config/settings.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/proc.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/mcp/server.h"
#include "supervisor/process/process_tree.h"
#include "supervisor/process/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

/* While nothing changes, the client is told this often that the command still runs. */
#define CALL_SILENCE_MS 10000

/* Bytes that a child may print: far above every limit of the verbs. The rest is dropped. */
#define CALL_OUTPUT_MAX ((size_t)4 * 1024 * 1024)

#define CALL_CHUNK ((size_t)64 * 1024)

/* The exit status of terse's own errors. */
#define CALL_TERSE 125

/* The descriptor that `terse run` gets as its leash. */
#define CALL_LEASH 3

/* This program, also after it was replaced on disk. */
#define CALL_PROGRAM "/proc/self/exe"

struct call *call_find(const struct server *s, const char *id)
{
	struct call *c = s->calls;
	while (c && (c->cancelled || strcmp(c->id, id) != 0))
		c = c->next;
	return c;
}

struct call *call_new(struct server *s, const char *id)
{
	struct call *c = s->call_count < s->calls_most ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		server_send_error(s, id, RPC_INTERNAL,
				  s->call_count < s->calls_most
					  ? "out of memory"
					  : "too many requests at once; send it again later");
		return NULL;
	}
	c->server = s;
	c->out = c->err = c->leash = c->leave.fd = -1;
	memcpy(c->id, id, strlen(id) + 1);
	c->next = s->calls;
	s->calls = c;
	s->call_count++;
	return c;
}

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
	io_close(&c->leave.fd);
	buffer_release(&c->stay);
	free(c->uri);
	free(c);
}

/* Answers a call of a tool with one of terse's own errors, and frees it. */
static void __attribute__((format(printf, 3, 4)))
call_refuse(struct server *s, struct call *c, const char *format, ...)
{
	struct buffer text = BUFFER_INIT, clean = BUFFER_INIT;
	va_list args;
	va_start(args, format);
	buffer_vprintf(&text, format, args);
	va_end(args);
	utf8_clean(&clean, text.data, text.len);
	clean.failed |= text.failed;
	server_answer(s, c->id, &clean, true);
	buffer_release(&text);
	buffer_release(&clean);
	call_free(s, c);
}

/* --- the child ------------------------------------------------------------------------------- */

/* The child's ends of what connects it with the server. */
struct call_ends {
	int in, out, err, leash;
};

/* The server's end, and the child's in *other: above the standard descriptors and the leash, so
   that none of them is overwritten before it is used. Returns -1 with errno, and nothing to close.
 */
static int call_connect(int type, int *other)
{
	int pair[2];
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	int own = fcntl(pair[0], F_DUPFD_CLOEXEC, CALL_LEASH + 1);
	*other = own < 0 ? -1 : fcntl(pair[1], F_DUPFD_CLOEXEC, CALL_LEASH + 1);
	int error = errno;
	io_close(&pair[0]);
	io_close(&pair[1]);
	if (*other < 0)
		io_close(&own);
	errno = error;
	return own;
}

/* In the child, a copy of the server: executes `terse` with these words in the call's directory and
   environment, or else prints, with the descriptors of its own alone. */
static _Noreturn void call_become(const struct server *s, const struct call *c,
				  const struct call_ends *e, const struct buffer *words,
				  int (*print)(const struct server *, const struct call *,
					       struct settings *))
{
	struct settings settings;
	struct option_error error = {""};
	int trace = trace_fd() > STDERR_FILENO ? trace_fd() : STDERR_FILENO;
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	if (dup2(e->in, STDIN_FILENO) < 0 || dup2(e->out, STDOUT_FILENO) < 0 ||
	    dup2(e->err, STDERR_FILENO) < 0 || (words && dup2(e->leash, CALL_LEASH) < 0))
		_exit(CALL_TERSE);
	if (words) {
		char **argv = shell_strings(words, 0);
		char **env = shell_strings(&c->before, strlen(c->before.data) + 1);
		if (argv && env && chdir(c->before.data) == 0)
			execve(CALL_PROGRAM, argv, env);
		dprintf(STDERR_FILENO, "run_command: can't be started: %s\n", strerror(errno));
		_exit(CALL_TERSE);
	}
	if (trace > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)trace - 1, 0);
	close_range((unsigned)trace + 1, ~0U, 0);
	/* What is wrong in a configuration file was said at the start. */
	if (settings_load(&settings, &error) < 0) {
		dprintf(STDERR_FILENO, "%s\n", strerror(errno));
		_exit(CALL_TERSE);
	}
	settings.words = WORDS_TOOLS;
	settings.reach = s->settings->reach;
	settings.session = (char *)s->artifacts;
	_exit(print(s, c, &settings));
}

void call_start(struct server *s, struct call *c, const struct buffer *words, const json_t *input,
		int (*print)(const struct server *, const struct call *, struct settings *))
{
	struct call_ends e = {-1, -1, -1, -1};
	c->pid = -1;
	/* A file in memory ends, and nobody has to write while the child reads. */
	e.in = input ? memfd_create("stdin", MFD_CLOEXEC) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (e.in < 0 ||
	    (input && (io_write(e.in, json_string_value(input), json_string_length(input)) < 0 ||
		       lseek(e.in, 0, SEEK_SET) < 0)))
		goto out;
	c->out = call_connect(SOCK_STREAM, &e.out);
	c->err = c->out < 0 ? -1 : call_connect(SOCK_STREAM, &e.err);
	c->leash = c->err < 0 || !words ? -1 : call_connect(SOCK_SEQPACKET, &e.leash);
	if (c->err >= 0 && (!words || c->leash >= 0))
		c->pid = fork();
	if (c->pid == 0)
		call_become(s, c, &e, words, print);
out:;
	int error = errno;
	io_close(&e.in);
	io_close(&e.out);
	io_close(&e.err);
	io_close(&e.leash);
	if (c->pid > 0)
		return;
	if (c->tool) {
		call_refuse(s, c, "%s: can't be started: %s", c->tool->name, strerror(error));
		return;
	}
	server_send_error(s, c->id, RPC_INTERNAL, "can't be started: %s", strerror(error));
	call_free(s, c);
}

void call_read(struct call *c)
{
	char chunk[CALL_CHUNK];
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
			/* What can't be read is missing. */
			into->failed |= n < 0;
			if (n <= 0)
				io_close(fd);
			else
				buffer_append(into, chunk, (size_t)n < room ? (size_t)n : room);
		}
	}
}

/* --- run_command ----------------------------------------------------------------------------- */

/* The defaults of run_command, as tools of its kind have them. */
#define RUN_TIMEOUT_MS 30000
#define RUN_OUT_LINES  500
#define RUN_ERR_LINES  750
#define RUN_LINES_MAX  1000000000
#define RUN_FULL_BYTES 1048576

/* Adds words with a blank between them. */
static void __attribute__((format(printf, 2, 3)))
run_add(struct buffer *words, const char *format, ...)
{
	va_list args;
	size_t from = words->len;
	va_start(args, format);
	buffer_vprintf(words, format, args);
	va_end(args);
	for (char *blank;
	     words->data && (blank = memchr(words->data + from, ' ', words->len - from));)
		*blank = '\0';
	buffer_append(words, "", 1);
}

/* Adds a word, whatever is in it. */
static void run_add_word(struct buffer *words, const char *word)
{
	buffer_append(words, word, strlen(word) + 1);
}

void call_run_words(struct buffer *words, const struct server *s, const struct arguments *a,
		    const char *leave)
{
	const json_t *args = argument_list(a, "args"), *word;
	const char *profile = argument_text(a, "profile");
	bool full = argument_flag(a, "include_full_output");
	bool kill = argument_flag(a, "kill_on_timeout");
	int64_t size = full ? RUN_FULL_BYTES : argument_number(a, "max_bytes", 0);
	size_t i;
	run_add(words, "terse run --session");
	run_add_word(words, s->artifacts);
	/* A model has no use for what a person at a terminal or a shell tool needs: heartbeats come
	   as progress, and no other program cuts the answer. */
	run_add(words, "--preview --words tools --heartbeat off --prompt report --ceiling 0 "
		       "--status failure --exit-delay off --no-detach --signal-status "
		       "--yield-status 0");
	run_add(words, "--streams %s --format %s", s->structured ? "split" : "merged",
		s->structured ? "json" : "text");
	run_add(words, "%s %d", s->keep ? "--control" : "--leash", CALL_LEASH);
	/* A command goes on after its timeout, or ends then. Either way it may be typed to. */
	run_add(words, kill ? "--tty --timeout %" PRId64 "ms" : "--yield %" PRId64 "ms",
		argument_number(a, "timeout", RUN_TIMEOUT_MS));
	run_add(words, "--max-lines %" PRId64 " --max-err-lines %" PRId64,
		full ? RUN_LINES_MAX : argument_number(a, "max_output_lines", RUN_OUT_LINES),
		full ? RUN_LINES_MAX : argument_number(a, "max_error_lines", RUN_ERR_LINES));
	if (size)
		run_add(words, "--size %" PRId64 " --failure-size %" PRId64 " --err-size %" PRId64,
			size, size, size);
	if (profile) {
		run_add(words, "--profile");
		run_add_word(words, profile);
	}
	if (leave && !args) {
		run_add(words, "--leave");
		run_add_word(words, leave);
	}
	run_add(words, args ? "--" : "-c");
	run_add_word(words, argument_text(a, "command"));
	json_array_foreach(args, i, word)
	{
		run_add_word(words, json_string_value(word));
	}
}

/* Returns 0, or -1 with why the program and its arguments, or the shell string, may not run. */
static int run_is_allowed(const struct server *s, const struct arguments *a,
			  char why[ALLOW_WHY_MAX])
{
	const json_t *args = argument_list(a, "args"), *word;
	const char *command = argument_text(a, "command");
	struct buffer list = BUFFER_INIT;
	size_t i;
	if (s->allow.count > 0 && json_object_size(argument_value(a, "env")) > 0) {
		snprintf(why, ALLOW_WHY_MAX, "env is not allowed here");
		return -1;
	}
	if (s->allow.count == 0 || !args)
		return allow_string(&s->allow, command, why);
	run_add_word(&list, command);
	json_array_foreach(args, i, word)
	{
		run_add_word(&list, json_string_value(word));
	}
	char **words = shell_strings(&list, 0);
	snprintf(why, ALLOW_WHY_MAX, "out of memory");
	int result = words ? allow_words(&s->allow, words, why) : -1;
	free(words);
	buffer_release(&list);
	return result;
}

/* Copies the session's state, with what the call has for its command alone. Returns 0, or -1 with
   ENOMEM. */
static int run_take_state(const struct server *s, struct call *c, const struct session *session,
			  const struct arguments *a)
{
	const char *cwd = argument_text(a, "cwd"), *key;
	struct buffer text = BUFFER_INIT;
	json_t *value;
	/* Where patterns say what may run, nothing that a command left says what they mean. */
	bool limited = s->allow.count > 0;
	buffer_add(&c->before, limited ? &s->start : &session->state);
	if (limited)
		shell_state_enter(&c->before, session->state.data);
	if (cwd)
		shell_state_resolve(&c->before, cwd, &text);
	if (cwd && buffer_string(&text))
		shell_state_enter(&c->before, text.data);
	json_object_foreach(argument_value(a, "env"), key, value)
	{
		buffer_clear(&text);
		buffer_printf(&text, "%s=%s", key, json_string_value(value));
		if (buffer_string(&text))
			shell_state_set(&c->before, text.data);
	}
	c->before.failed |= text.failed;
	buffer_release(&text);
	return buffer_check(&c->before);
}

/* Returns false with errno. */
static bool run_can_enter(const char *directory)
{
	struct stat st;
	errno = ENOTDIR;
	return stat(directory, &st) == 0 && S_ISDIR(st.st_mode) && access(directory, X_OK) == 0;
}

void call_run_command(struct server *s, const struct arguments *a, const struct rpc_message *m)
{
	const char *name = argument_text(a, "session"), *cwd = argument_text(a, "cwd");
	struct session *session = sessions_find(&s->sessions, name);
	struct call *c = call_new(s, m->id);
	struct buffer words = BUFFER_INIT;
	size_t held = s->held_count;
	char why[ALLOW_WHY_MAX];
	if (!c)
		return;
	c->tool = a->tool;
	for (const struct call *other = s->calls; other; other = other->next)
		held += other->leash >= 0;
	if (!*argument_text(a, "command")) {
		call_refuse(s, c, "run_command: command: is empty");
	} else if (!session) {
		call_refuse(s, c,
			    "run_command: session: there is none called %s; new_session starts one",
			    name);
	} else if (!s->keep && held >= s->held_most) {
		/* There would be no place for it if it goes on. */
		call_refuse(s, c,
			    "run_command: %zu commands run already, as many as this server can "
			    "hold; await_command or signal_command ends one",
			    s->held_most);
	} else if (run_is_allowed(s, a, why) < 0) {
		call_refuse(s, c, "run_command: %s", why);
	} else if (run_take_state(s, c, session, a) < 0) {
		call_refuse(s, c, "run_command: %s", strerror(errno));
	} else if (!run_can_enter(c->before.data)) {
		call_refuse(s, c, "run_command: %s%s: %s%s",
			    cwd ? "cwd: " : "the session's directory ", c->before.data,
			    strerror(errno),
			    cwd ? "" : "; give cwd, or start anew with end_session");
	} else {
		c->session = session->number;
		session->commands++;
		/* Without the file in memory the command runs, and leaves nothing. */
		if (!argument_list(a, "args"))
			shell_leave_open(&c->leave);
		char *leave = c->leave.fd >= 0 ? shell_leave_command(&c->leave, s->program) : NULL;
		call_run_words(&words, s, a, leave);
		free(leave);
		rpc_write_id(c->token,
			     json_object_get(json_object_get(m->params, "_meta"), "progressToken"));
		c->told_at = clock_monotonic_ms();
		c->ask_at = c->told_at + SERVER_PROGRESS_MS;
		call_start(s, c, &words, argument_value(a, "stdin"), NULL);
		buffer_release(&words);
	}
}

/* --- tools/call ------------------------------------------------------------------------------ */

void call_tool(struct server *s, const struct rpc_message *m)
{
	const char *name = json_string_value(json_object_get(m->params, "name"));
	const struct tool *tool = name ? tool_find(name, s->read_only) : NULL;
	struct arguments a;
	if (!name) {
		server_send_error(s, m->id, RPC_BAD_PARAMS, "tools/call: name: must be a string");
	} else if (!tool) {
		server_send_error(s, m->id, RPC_BAD_PARAMS,
				  "tools/call: there is no tool %.100s; tools/list has all", name);
	} else if (arguments_read(&a, tool, json_object_get(m->params, "arguments")) < 0) {
		struct buffer text = BUFFER_INIT;
		buffer_append_string(&text, a.wrong);
		server_answer(s, m->id, &text, true);
		buffer_release(&text);
	} else if (tool->serve) {
		tool->serve(s, &a, m);
	} else {
		struct call *c = call_new(s, m->id);
		if (!c)
			return;
		c->tool = tool;
		c->arguments = &a;
		call_start(s, c, NULL, NULL, tool->print);
	}
}

/* The command ends with its session; its answer is dropped when it comes. */
void call_cancel(struct call *c)
{
	struct buffer pids = BUFFER_INIT;
	struct process p, leader;
	/* What the command has started in sessions of their own does not end with it. The leader of
	   the session that ends is the supervisor, a child of the front end. */
	if (c->leash >= 0 && !c->ended)
		process_tree_descendants(c->pid, &pids);
	for (size_t at = 0; at < pids.len; at += sizeof(pid_t)) {
		pid_t pid;
		memcpy(&pid, pids.data + at, sizeof(pid));
		if (process_read(pid, &p) < 0 || p.parent == c->pid)
			continue;
		if (process_read(p.session, &leader) < 0 || leader.parent != c->pid)
			buffer_append(&c->stay, (const char *)&p, sizeof(p));
	}
	buffer_release(&pids);
	c->cancelled = true;
	c->token[0] = '\0';
	if (c->leash >= 0)
		frame_send(c->leash, FRAME_SIGNAL, 0, 0, NULL, 0, 0);
	else if (!c->ended)
		kill(c->pid, SIGKILL);
}

/* --- progress --------------------------------------------------------------------------------- */

int64_t call_ask(struct call *c)
{
	int64_t now_ms = clock_monotonic_ms();
	if (!c->asked && now_ms >= c->ask_at && c->leash >= 0) {
		c->asked = frame_send(c->leash, FRAME_STATUS, 0, 0, NULL, 0, 0) == 0;
		c->ask_at = now_ms + SERVER_PROGRESS_MS;
	}
	return c->asked ? 0 : c->ask_at;
}

void call_on_progress(void *ctx, short events)
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
		bool same = now.lines == c->told_lines && now.bytes == c->told_bytes;
		if ((same && now_ms < c->told_at + CALL_SILENCE_MS) ||
		    output_queue_is_full(&c->server->out))
			continue;
		c->told_lines = now.lines;
		c->told_bytes = now.bytes;
		c->told_at = now_ms;
		/* "12 lines, 340 B: Compiling foo.c" */
		buffer_printf(&text, "%s line%s, %s%s%s", HUMAN_COUNT(now.lines),
			      now.lines == 1 ? "" : "s", HUMAN_SIZE(now.bytes),
			      *now.last_line ? ": " : "", now.last_line);
		rpc_begin_notification(&line, "notifications/progress");
		json_add_raw(&line, "progressToken", c->token, strlen(c->token));
		/* It has to grow, which the text of a command need not do. */
		json_add_number(&line, "progress", now.elapsed_ms);
		json_add_made(&line, "message", &text);
		rpc_end(&line);
		server_send(c->server, &line);
	}
	if (errno != EAGAIN)
		c->token[0] = '\0';
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Adds the errors of a run without "terse: " or "terse run: ", which are not the model's, and
   without what is wrong in a configuration file, which each run repeats. */
static void call_add_errors(const struct server *s, const struct call *c, struct buffer *out)
{
	static const char *const prefixes[] = {"terse: ", "terse run: "};
	const char *at = c->errors.data, *end = at + c->errors.len;
	for (const char *next; at < end; at = next) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		next = newline ? newline + 1 : end;
		for (size_t i = 0; i < 2; i++) {
			size_t len = strlen(prefixes[i]);
			if ((size_t)(next - at) > len && memcmp(at, prefixes[i], len) == 0)
				at += len;
		}
		size_t len = (size_t)((newline ? newline : end) - at);
		if (!s->known || strlen(s->known) != len || memcmp(at, s->known, len) != 0)
			buffer_printf(out, "%.*s\n", (int)len, at);
	}
}

/* Answers a tool with what its child has printed; run_command with how the command ended, too. */
static void call_answer(struct server *s, const struct call *c)
{
	struct buffer text = BUFFER_INIT;
	bool runs = c->tool->serve, failed = c->status && (!runs || c->output.len == 0);
	if (s->structured && c->output.len > 0 && (runs || c->tool->prints_json)) {
		server_answer_json(s, c->id, &c->output, failed);
		return;
	}
	buffer_add(&text, &c->output);
	if (!runs) {
		buffer_add(&text, &c->errors);
		if (text.len == 0)
			buffer_append_string(&text, "[terse: nothing is there]\n");
		server_answer(s, c->id, &text, failed && c->output.len == 0);
		buffer_release(&text);
		return;
	}
	bool own = c->status == CALL_TERSE && c->output.len == 0 && c->errors.len > 0;
	const char *all = buffer_string(&text);
	const char *newline = all && text.len > 0 ? memrchr(all, '\n', text.len - 1) : NULL;
	const char *last = newline ? newline + 1 : all;
	/* Whether the last line is terse's own. */
	bool reported = last && strncmp(last, "[terse: ", 8) == 0 && all[text.len - 1] == '\n';
	if (!reported && text.len > 0 && text.data[text.len - 1] != '\n' && c->status)
		buffer_append_string(&text, "\n");
	call_add_errors(s, c, &text);
	/* Where the command was not started or could not be supervised, no report says how it
	   ended. */
	if (!own && c->status && !reported)
		buffer_printf(&text, "[terse: exit %d]\n", c->status);
	else if (text.len == 0)
		buffer_append_string(&text, "[terse: exit 0]\n");
	server_answer(s, c->id, &text, own);
	buffer_release(&text);
}

void call_finish(struct server *s, struct call *c)
{
	struct buffer left = BUFFER_INIT, staying = BUFFER_INIT;
	struct process p;
	size_t i = 0;
	char byte;
	/* The session goes on with what the command's shell left, unless the command goes on, or
	   the session has ended. */
	while (i < s->sessions.count && s->sessions.items[i].number != c->session)
		i++;
	if (c->leave.fd >= 0 && i < s->sessions.count) {
		if (shell_leave_read(&c->leave, &left) == 0)
			shell_state_take(&s->sessions.items[i].state, &c->before, left.data,
					 left.len);
		else
			server_log(s, LOG_INFO,
				   "the command's shell has left no directory and variables: the "
				   "session keeps those that it had");
	}
	buffer_release(&left);
	/* The other end of its leash is there, since the command or its children go on. */
	if (!s->keep && c->leash >= 0 && recv(c->leash, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	    errno == EAGAIN) {
		s->held[s->held_count++] = c->leash;
		c->leash = -1;
	}
	/* The client is told what has stayed of a cancelled command. */
	for (size_t at = 0; at < c->stay.len; at += sizeof(p)) {
		memcpy(&p, c->stay.data + at, sizeof(p));
		if (!process_is_alive(&p))
			continue;
		buffer_append_string(&staying,
				     staying.len ? ", "
						 : "the cancelled command has ended; what it "
						   "started in sessions of their own goes on: ");
		utf8_clean(&staying, p.name, strlen(p.name));
		buffer_printf(&staying, " (PID %d)", (int)p.pid);
	}
	if (staying.len > 0 && buffer_string(&staying))
		server_log(s, LOG_WARNING, staying.data);
	buffer_release(&staying);
	if (!c->cancelled && c->tool)
		call_answer(s, c);
	else if (!c->cancelled)
		resources_answer(s, c);
	call_free(s, c);
}
