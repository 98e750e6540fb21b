// See server.h: the loop.

#include "supervisor/mcp/server.h"
#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long calls and the last answers may take when the client has closed its end. */
#define SERVER_END_MS 1000

/* Descriptors of a call: output, errors, its leash, and what its shell leaves. */
#define SERVER_CALL_FILES 4

/* The server's own: standard ones, signals, the output opened again, and the other ends of the
   child that is being started. */
#define SERVER_OWN_FILES 12

/* Descriptors that the loop waits for: three of each call. */
#define SERVER_POLL_MAX (3 + 3 * SERVER_CALLS_MAX + SERVER_HELD_MAX + SERVER_WATCHED_MAX)

/* --- answers --------------------------------------------------------------------------------- */

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

void server_log(struct server *s, int level, const char *text)
{
	struct buffer line = BUFFER_INIT;
	if (level > s->level || output_queue_is_full(&s->out))
		return;
	rpc_begin_notification(&line, "notifications/message");
	json_add_string(&line, "level", methods_level_name(level));
	json_add_string(&line, "logger", "terse");
	json_add_string(&line, "data", text);
	rpc_end_notification(&line);
	server_send(s, &line);
}

void server_send_empty(struct server *s, const char *id)
{
	struct buffer line = BUFFER_INIT;
	rpc_begin_result(&line, id);
	rpc_end_result(&line);
	server_send_answer(s, id, &line);
}

bool server_can_hold(const struct server *s)
{
	size_t count = s->held_count;
	for (const struct call *c = s->calls; c; c = c->next)
		count += c->child.caller >= 0;
	return s->keep || count < s->held_most;
}

void server_hold(struct server *s, int fd)
{
	s->held[s->held_count++] = fd;
}

/* --- the loop -------------------------------------------------------------------------------- */

/* What a descriptor of the loop belongs to. */
struct server_poll {
	struct pollfd fds[SERVER_POLL_MAX];
	size_t count;
};

static void server_poll_add(struct server_poll *p, int fd, short events)
{
	if (p->count < SERVER_POLL_MAX)
		p->fds[p->count++] = (struct pollfd){.fd = fd, .events = events};
}

static bool server_takes_requests(const struct server *s)
{
	return !s->ending && !output_queue_is_full(&s->out) && s->call_count < s->calls_most;
}

/* The call that may print although too much waits already; NULL: each may. */
static const struct call *server_only_reader(const struct server *s)
{
	const struct call *most = NULL;
	size_t sum = 0;
	for (const struct call *c = s->calls; c; c = c->next) {
		sum += c->child.output.len;
		if (!c->ended && (!most || c->child.output.len > most->child.output.len))
			most = c;
	}
	return sum > SERVER_OUTPUT_MAX ? most : NULL;
}

static void server_poll_calls(struct server *s, struct server_poll *p)
{
	const struct call *only = server_only_reader(s);
	for (const struct call *c = s->calls; c; c = c->next) {
		bool reads = (!only || only == c) && !c->ended;
		server_poll_add(p, reads ? c->child.out : -1, POLLIN);
		server_poll_add(p, reads ? c->child.err : -1, POLLIN);
		server_poll_add(p, *c->token ? c->child.caller : -1, POLLIN);
	}
}

/* Milliseconds until something is due; -1: nothing is. */
static int server_next_wait(const struct server *s, int64_t now_ms)
{
	int64_t due = s->ending ? s->end_at : INT64_MAX;
	for (const struct call *c = s->calls; c; c = c->next) {
		if (*c->token && !c->asked && !c->ended && c->ask_at < due)
			due = c->ask_at;
	}
	for (size_t i = 0; i < s->watched_count; i++) {
		const struct watched *w = &s->watched[i];
		if (w->changed && w->told_at + SERVER_PROGRESS_MS < due)
			due = w->told_at + SERVER_PROGRESS_MS;
	}
	if (due == INT64_MAX)
		return -1;
	return due <= now_ms ? 0 : due - now_ms > 60000 ? 60000 : (int)(due - now_ms);
}

static void server_begin_end(struct server *s)
{
	if (s->ending)
		return;
	s->ending = true;
	s->end_at = clock_monotonic_ms() + SERVER_END_MS;
}

static void server_reap(struct server *s)
{
	for (struct call *c = s->calls; c; c = c->next) {
		int status;
		pid_t pid = 0;
		while (!c->ended && (pid = waitpid(c->child.pid, &status, WNOHANG)) < 0 &&
		       errno == EINTR) {
		}
		if (pid > 0) {
			child_end(&c->child, status);
			c->ended = true;
		}
	}
}

static void server_read_signals(struct server *s)
{
	struct signalfd_siginfo info;
	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			server_reap(s);
		} else {
			server_begin_end(s);
			s->end_at = 0;
		}
	}
}

/* Answers the calls whose child has ended, as long as the client takes answers. */
static void server_finish_calls(struct server *s)
{
	struct call *next;
	for (struct call *c = s->calls; c; c = next) {
		next = c->next;
		if (c->ended && !output_queue_is_full(&s->out))
			call_finish(s, c);
	}
}

/* Runs that have ended since. */
static void server_look_at_held(struct server *s, const struct pollfd *fds)
{
	for (size_t i = s->held_count; i-- > 0;) {
		char packet[64];
		if (!fds[i].revents)
			continue;
		ssize_t n = recv(s->held[i], packet, sizeof(packet), MSG_DONTWAIT);
		if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
			continue;
		io_close(&s->held[i]);
		s->held[i] = s->held[--s->held_count];
	}
}

static void server_look_at_watched(struct server *s, const struct pollfd *fds, int64_t now_ms)
{
	for (size_t i = s->watched_count; i-- > 0;) {
		struct watched *w = &s->watched[i];
		if (fds[i].revents)
			resources_receive(w, now_ms);
		if (w->changed && now_ms >= w->told_at + SERVER_PROGRESS_MS)
			resources_tell(s, w, now_ms);
		if (w->fd < 0 && !w->changed)
			s->watched[i] = s->watched[--s->watched_count];
	}
}

static void server_look_at_calls(struct server *s, const struct pollfd *fds, int64_t now_ms)
{
	for (struct call *c = s->calls; c; c = c->next, fds += 3) {
		if (!c->ended && (fds[0].revents || fds[1].revents))
			child_read(&c->child);
		if (*c->token && fds[2].revents)
			call_receive(s, c, now_ms);
		if (*c->token && !c->ended)
			call_progress(s, c, now_ms);
	}
}

/* Takes requests one by one, as long as there is room for their answers. */
static void server_take_lines(struct server *s)
{
	const char *line;
	size_t len;
	char id[RPC_ID_MAX];
	enum inbox_kind kind;
	while (!output_queue_is_full(&s->out) && s->call_count < s->calls_most &&
	       (kind = inbox_next(&s->in, &line, &len)) != INBOX_NOTHING) {
		if (kind == INBOX_LINE) {
			methods_take(s, line, len);
			continue;
		}
		snprintf(id, sizeof(id), "%.*s", (int)len, line);
		server_send_error(s, id, RPC_INVALID,
				  "the message is over 16 MB long, so it was not read");
	}
}

static void server_turn(struct server *s)
{
	struct server_poll p;
	int64_t now_ms = clock_monotonic_ms();
	p.count = 0;
	server_poll_add(&p, s->signals, POLLIN);
	server_poll_add(&p, server_takes_requests(s) ? STDIN_FILENO : -1, POLLIN);
	server_poll_add(&p, output_queue_is_empty(&s->out) ? -1 : output_queue_poll_fd(&s->out),
			POLLOUT);
	const struct pollfd *calls = p.fds + p.count;
	server_poll_calls(s, &p);
	const struct pollfd *held = p.fds + p.count;
	for (size_t i = 0; i < s->held_count; i++)
		server_poll_add(&p, s->held[i], POLLIN);
	const struct pollfd *watched = p.fds + p.count;
	for (size_t i = 0; i < s->watched_count; i++)
		server_poll_add(&p, s->watched[i].fd, POLLIN);
	if (io_poll(p.fds, p.count, server_next_wait(s, now_ms)) < 0)
		return;
	now_ms = clock_monotonic_ms();
	if (p.fds[2].revents)
		output_queue_pump(&s->out);
	server_look_at_calls(s, calls, now_ms);
	server_look_at_held(s, held);
	server_look_at_watched(s, watched, now_ms);
	if (p.fds[0].revents)
		server_read_signals(s);
	server_finish_calls(s);
	if (p.fds[1].revents)
		inbox_read(&s->in, STDIN_FILENO);
	server_take_lines(s);
	if (s->in.ended)
		server_begin_end(s);
}

static bool server_is_done(const struct server *s)
{
	if (s->out.error)
		return true;
	if (!s->ending)
		return false;
	return clock_monotonic_ms() >= s->end_at || (!s->calls && output_queue_is_empty(&s->out));
}

/* Everything that the server holds is closed, by which the commands on a leash end. */
static void server_release(struct server *s)
{
	while (s->calls) {
		if (!s->calls->ended && s->calls->child.caller < 0)
			kill(s->calls->child.pid, SIGKILL);
		call_free(s, s->calls);
	}
	while (s->held_count > 0)
		io_close(&s->held[--s->held_count]);
	while (s->watched_count > 0)
		io_close(&s->watched[--s->watched_count].fd);
	free(s->watched);
	sessions_release(&s->sessions);
	shell_state_release(&s->start);
	inbox_release(&s->in);
	output_queue_release(&s->out);
	io_close(&s->signals);
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
	inbox_init(&s->in, INBOX_LINE_MAX);
	while (!server_is_done(s))
		server_turn(s);
	server_release(s);
	return 0;
}
