// See supervisor_internal.h: the run as its clients see it.

#include "supervisor/process/supervisor_internal.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/json.h"
#include "lib/trace.h"
#include "lib/utf8.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Interval between messages about more text to clients that watch. */
#define CHANGED_MS 200

/* The most output that waits for an attached client. Further output is dropped, and a repaint
   follows later. */
#define OUTPUT_MOST ((size_t)64 * 1024)

/* How many requests of one client are answered before the next client's turn. */
#define TURN 16

struct terminal *live_screen(struct supervisor *s)
{
	struct interceptor *text = source_text(&s->sources[0]);
	if (!text)
		return NULL;
	interceptor_pause(text);
	return interceptor_terminal(text);
}

static void live_find_last_line(const char *text, size_t len, char out[LIVE_TEXT])
{
	struct buffer clean = BUFFER_INIT;
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
		len--;
	const char *newline = len ? memrchr(text, '\n', len) : NULL;
	const char *line = newline ? newline + 1 : text;
	size_t rest = len - (size_t)(line - text);
	out[0] = '\0';
	if (rest > LIVE_TEXT)
		rest = utf8_floor(line, rest, LIVE_TEXT);
	utf8_clean(&clean, line, rest);
	if (buffer_string(&clean))
		snprintf(out, LIVE_TEXT, "%.*s",
			 (int)utf8_floor(clean.data, clean.len,
					 clean.len < LIVE_TEXT ? clean.len : LIVE_TEXT - 1),
			 clean.data);
	buffer_release(&clean);
}

void live_describe_text(struct supervisor *s, struct live_status *c)
{
	struct buffer text = BUFFER_INIT;
	struct terminal *t = live_screen(s);
	if (!t)
		return;
	c->lines = terminal_lines(t);
	c->settled = interceptor_facts(s->sources[0].text).settled;
	if (terminal_pending(t, &text) == 0)
		c->bytes = c->settled + text.len;
	buffer_clear(&text);
	if (terminal_picture(t, &text, NULL, NULL) == 0)
		live_find_last_line(text.data, text.len, c->last_line);
	buffer_release(&text);
}

/* Makes the socket of the run in the directory `dir`. Owns that descriptor from then on, even after
   a failure. Returns 0, or -1 with errno. */
static int live_listen(struct live *c, int dir, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char temporary[sizeof(c->name) + 1];
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(temporary, sizeof(temporary), ".%s", c->name);
	c->dir = dir;
	c->fd = io_above_standard(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (c->fd < 0)
		goto fail;
	/* Goes through /proc, since the path may be too long for a socket's address. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir, temporary);
	mode_t mask = umask(0177);
	int bound = bind(c->fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	/* The socket gets its name once it listens, since a socket that refuses connections counts
	   as left by a killed supervisor. */
	if (bound == 0 && listen(c->fd, LIVE_CLIENTS) == 0 &&
	    renameat(dir, temporary, dir, c->name) == 0)
		return 0;
	if (bound == 0)
		io_unlink(dir, temporary);
fail:
	io_close(&c->fd);
	io_close(&c->dir);
	return -1;
}

void live_try_open(struct supervisor *s, int64_t now_ms)
{
	struct store store;
	int next = 0, result = -1;
	(void)now_ms;
	if (!s->timer[TIMER_OPEN])
		return;
	s->timer[TIMER_OPEN] = 0;
	while (result < 0 && record_claim(&s->record) == 0 && store_open_next(&store, &next) == 0) {
		int dir = store_open_folder(&store, STORE_LIVE, true);
		if (dir >= 0)
			result = live_listen(&s->live, dir, s->record.meta.id);
		store_close(&store);
	}
	if (result < 0)
		TRACE(PROCESS, "supervisor: no socket: %m");
	else
		TRACE(PROCESS, "supervisor: socket %s", s->live.name);
}

int live_open(struct supervisor *s)
{
	live_try_open(s, 0);
	struct interceptor *text = s->live.fd >= 0 ? source_text(&s->sources[0]) : NULL;
	if (!text)
		return -1;
	interceptor_pause(text);
	interceptor_spill(text);
	interceptor_update_live(text);
	return s->record.artifact ? 0 : -1;
}

/* Bytes of the command in the header, which asciinema shows. */
#define COMMAND_MOST ((size_t)1000)

/* Appends a line and releases it. Returns false, with nothing appended, if there was no memory for
   the line. */
static bool cast_append(struct cast *c, struct buffer *line)
{
	bool complete = buffer_check(line) == 0;
	if (complete)
		artifact_append(c->artifact, ARTIFACT_CAST, line->data, line->len);
	buffer_release(line);
	return complete;
}

static void cast_start(struct cast *c, struct artifact *artifact, const struct meta *m,
		       bool newlines)
{
	struct buffer line = BUFFER_INIT, words = BUFFER_INIT;
	*c = (struct cast){.artifact = artifact, .newlines = newlines};
	json_begin(&line, NULL, '{');
	json_add_number(&line, "version", 2);
	json_add_count(&line, "width", m->cols);
	json_add_count(&line, "height", m->rows);
	json_add_number(&line, "timestamp", m->started_ms / 1000);
	for (char **arg = m->argv; arg && *arg && words.len < COMMAND_MOST && !words.failed;
	     arg++) {
		buffer_append_string(&words, arg == m->argv ? "" : " ");
		buffer_append_string(&words, *arg);
	}
	size_t most = words.len < COMMAND_MOST ? words.len : COMMAND_MOST;
	json_add_text(&line, "command", words.data, utf8_floor(words.data, words.len, most));
	line.failed |= words.failed;
	buffer_release(&words);
	json_end(&line, '}');
	buffer_append_string(&line, "\n");
	if (!cast_append(c, &line))
		c->artifact = NULL;
}

static void cast_add_event(struct cast *c, int64_t ms, char kind, const char *data, size_t len)
{
	struct buffer line = BUFFER_INIT;
	buffer_printf(&line, "[%" PRId64 ".%03d,\"%c\",", ms / 1000, (int)(ms % 1000), kind);
	json_add_text(&line, NULL, data, len);
	buffer_append_string(&line, "]\n");
	cast_append(c, &line);
}

static void cast_output(struct cast *c, int64_t ms, const char *data, size_t len)
{
	struct buffer bytes = BUFFER_INIT;
	size_t cut = 0;
	buffer_append(&bytes, c->partial, c->partial_len);
	if (!c->newlines)
		buffer_append(&bytes, data, len);
	/* Puts a CR in front of each LF that has none. */
	for (size_t n; c->newlines && len > 0; data += n, len -= n) {
		const char *newline = memchr(data, '\n', len);
		n = newline ? (size_t)(newline - data) : len;
		buffer_append(&bytes, data, n);
		if (n > 0)
			c->last = data[n - 1];
		if (newline) {
			buffer_append_string(&bytes, c->last == '\r' ? "\n" : "\r\n");
			c->last = '\n';
			n++;
		}
	}
	if (buffer_check(&bytes) == 0) {
		if (!utf8_incomplete(bytes.data, bytes.len, &cut))
			cut = 0;
		c->partial_len = cut;
		memcpy(c->partial, bytes.data + bytes.len - cut, cut);
		if (bytes.len > cut)
			cast_add_event(c, ms, 'o', bytes.data, bytes.len - cut);
	}
	buffer_release(&bytes);
}

static bool live_client_is_queued(const struct live_client *client)
{
	return client->queue.len > client->sent;
}

static void live_client_pump(struct live_client *client)
{
	while (!client->dead && live_client_is_queued(client)) {
		size_t len;
		const char *at = client->queue.data + client->sent;
		memcpy(&len, at, sizeof(len));
		ssize_t n = send(client->fd, at + sizeof(len), len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n >= 0)
			client->sent += sizeof(len) + len;
		else if (errno == EAGAIN || errno == ENOBUFS)
			break;
		else if (errno != EINTR)
			client->dead = true;
	}
	if (client->sent == client->queue.len || client->sent > OUTPUT_MOST) {
		buffer_consume(&client->queue, client->sent);
		client->sent = 0;
	}
	if (client->queue.len == 0 && client->queue.cap > OUTPUT_MOST)
		buffer_release(&client->queue);
}

static void live_client_queue(struct live_client *client, enum frame_kind kind, int a,
			      const char *data, size_t len)
{
	const struct frame_head head = {(uint16_t)kind, PROTOCOL_VERSION, a, 0};
	size_t total = FRAME_HEAD + len;
	if (buffer_reserve(&client->queue, sizeof(total) + total) < 0) {
		client->dead = true;
		return;
	}
	buffer_append(&client->queue, &total, sizeof(total));
	buffer_append(&client->queue, &head, FRAME_HEAD);
	buffer_append(&client->queue, data, len);
}

/* Queues an answer, in frames of one kind. */
static void live_client_send(struct live_client *client, enum frame_kind kind, const void *data,
			     size_t len)
{
	const char *at = data;
	do {
		size_t n = len < FRAME_DATA ? len : FRAME_DATA;
		len -= n;
		live_client_queue(client, kind, kind == FRAME_OUTPUT ? 0 : (int)len, at, n);
		at += n;
	} while (len > 0);
}

void live_tell_soon(struct supervisor *s, int64_t now_ms)
{
	int64_t at = s->live.told_at + CHANGED_MS;
	if (s->live.clients && !s->timer[TIMER_CHANGED])
		s->timer[TIMER_CHANGED] = at > now_ms ? at : now_ms;
}

void live_output(struct supervisor *s, const char *data, size_t len)
{
	struct cast *cast = &s->live.cast;
	if (s->live.clients)
		live_tell_soon(s, clock_monotonic_ms());
	/* Makes the artifact before the first byte. */
	if (s->live.recording) {
		bool cooked = s->sources[0].pty && s->job->channels.controlling;
		s->live.recording = false;
		if (source_text(&s->sources[0]))
			interceptor_spill(s->sources[0].text);
		if (s->record.artifact)
			cast_start(cast, s->record.artifact, &s->record.meta, !cooked);
	}
	if (cast->artifact)
		cast_output(cast, clock_monotonic_ms() - s->job->begun_ms, data, len);
	for (struct live_client *client = s->live.clients; client; client = client->next) {
		client->behind |=
			client->attached && client->queue.len - client->sent > OUTPUT_MOST;
		if (!client->attached || client->behind)
			continue;
		live_client_send(client, FRAME_OUTPUT, data, len);
		live_client_pump(client);
	}
}

int live_resize(struct supervisor *s, unsigned cols, unsigned rows, bool own)
{
	char size[32];
	if (cols < 2 || cols > 1000 || rows < 2 || rows > 500)
		return EINVAL;
	if (!supervisor_terminal(s))
		return ENOTTY;
	TRACE(TERMINAL, "size %ux%u", cols, rows);
	pty_resize(s->sources[0].fd, cols, rows);
	snprintf(size, sizeof(size), "%ux%u", cols, rows);
	if (s->live.cast.artifact)
		cast_add_event(&s->live.cast, clock_monotonic_ms() - s->job->begun_ms, 'r', size,
			       strlen(size));
	if (source_text(&s->sources[0]))
		terminal_resize(interceptor_terminal(s->sources[0].text), cols, rows);
	if (own) {
		s->live.cols = cols;
		s->live.rows = rows;
	}
	return 0;
}

bool live_has_person(const struct live *c)
{
	const struct live_client *client = c->clients;
	while (client && !client->sizes)
		client = client->next;
	return client;
}

/* Sends the status to a client that has asked for it, or to a client that watches if the status has
   changed. */
static void live_answer_status(struct supervisor *s, struct live_client *client, bool watches,
			       bool follows)
{
	struct interceptor *text = source_text(&s->sources[0]);
	int64_t now_ms = clock_monotonic_ms();
	client->watches |= watches;
	client->changed = false;
	if (follows && text) {
		interceptor_follow(text);
		interceptor_settle(text, now_ms);
	}
	/* The caller can ask before the run has its socket, and the answer names the ID. */
	live_try_open(s, now_ms);
	if (!live_screen(s) && s->sources[0].run) {
		live_client_queue(client, FRAME_DONE, ENOMEM, NULL, 0);
		return;
	}
	/* A client that watches will read the text, so the text needs an artifact. */
	if (client->watches)
		record_open(&s->record);
	if (client->watches && text) {
		interceptor_spill(text);
		interceptor_update_live(text);
	}
	struct live_status now = {
		.state = s->state >= SUPERVISOR_FLUSHING ? LIVE_ENDED
			 : s->stopped                    ? LIVE_STOPPED
			 : s->looks.prompts || s->asked  ? LIVE_WAITING
							 : LIVE_RUNNING,
		.pid = s->record.meta.command,
		.elapsed_ms = now_ms - s->job->begun_ms,
		.quiet_ms = now_ms - s->looks.active_ms,
		.reported = s->live.reported,
		.terminal = s->device != 0,
	};
	/* The ID is the socket's name, since without an artifact the metadata have no ID. */
	memcpy(now.id, s->live.name, sizeof(now.id) - 1);
	if (now.state == LIVE_WAITING)
		prompt_read(s, now.prompt);
	now.asked = now.state == LIVE_WAITING ? s->asked : WAIT_UNKNOWN;
	/* The command is cut if it does not fit. Its words may hold any bytes. */
	struct buffer word = BUFFER_INIT;
	for (char *const *arg = s->record.meta.argv; arg && *arg && !now.argv_cut; arg++) {
		size_t room = LIVE_ARGV - now.argv_len;
		buffer_clear(&word);
		utf8_clean(&word, *arg, strlen(*arg));
		now.argv_cut = word.failed || word.len >= room;
		size_t n = !now.argv_cut ? word.len
			   : room > 1    ? utf8_floor(word.data, word.len, room - 1)
					 : 0;
		if (now.argv_cut && n == 0)
			break;
		memcpy(now.argv + now.argv_len, word.data, n);
		now.argv_len += n + 1;
	}
	buffer_release(&word);
	live_describe_text(s, &now);
	live_client_send(client, FRAME_STATUS, &now, sizeof(now));
}

/* Appends the screen in the form of FRAME_PICTURE:
   {"cols":80,"rows":24,"row":1,"col":3,"alternate":false, "cursor":true,"title":"...","text":"one
   line per row\n..."}; row and col from 1. Returns 0, or -1 with ENOMEM. */
static int picture_append(struct buffer *out, struct terminal *t)
{
	struct buffer picture = BUFFER_INIT, clean = BUFFER_INIT;
	const struct terminal_facts facts = terminal_facts(t);
	unsigned row, col;
	int result = terminal_picture(t, &picture, &row, &col);
	utf8_clean(&clean, picture.data, picture.len);
	if (result < 0 || buffer_check(&clean) < 0)
		goto out;
	json_begin(out, NULL, '{');
	json_add_count(out, "cols", facts.cols);
	json_add_count(out, "rows", facts.rows);
	json_add_count(out, "row", row);
	json_add_count(out, "col", col);
	json_add_bool(out, "alternate", facts.is_alternate);
	json_add_bool(out, "cursor", facts.shows_cursor);
	json_add_string(out, "title", facts.title);
	json_add_text(out, "text", clean.data, clean.len);
	json_end(out, '}');
	result = buffer_check(out);
out:
	buffer_release(&picture);
	buffer_release(&clean);
	return result;
}

/* Ends the run as somebody has asked. `why`: the text says this if background processes
   continue. */
static void supervisor_end_run(struct supervisor *s, const char *why)
{
	supervisor_hurry(s, clock_monotonic_ms(), SIGTERM);
	snprintf(s->linger_why, sizeof(s->linger_why), "%s", why);
	supervisor_end_tree(s, TREE_TERM);
}

static int live_signal(struct supervisor *s, int sig, bool own)
{
	TRACE(SIGNALS, "supervisor: a client asks for signal %d", sig);
	if (sig < 0 || sig > 1000)
		return EINVAL;
	if (s->state == SUPERVISOR_RUNNING)
		s->wanted = !own ? 0 : sig ? sig : WANTED_END;
	if (sig == 0) {
		supervisor_end_run(s, "terse signal ended the run");
		return 0;
	}
	if (signal_is_end(sig))
		supervisor_hurry(s, clock_monotonic_ms(), sig);
	if (sig == SIGKILL)
		supervisor_end_tree(s, TREE_KILL);
	else if (s->state != SUPERVISOR_RUNNING)
		return ESRCH;
	else if (kill(-s->group, sig) < 0)
		return errno;
	return 0;
}

static void live_answer(struct supervisor *s, struct live_client *client, const struct frame *f,
			size_t len)
{
	const unsigned a = (unsigned)f->a, b = (unsigned)f->b;
	int error = 0;
	switch (len <= FRAME_REQUEST ? f->kind : FRAME_REQUESTS) {
	case FRAME_STATUS: live_answer_status(s, client, false, false); return;
	case FRAME_WATCH: live_answer_status(s, client, true, a == 1); return;
	case FRAME_PICTURE: {
		struct buffer out = BUFFER_INIT;
		struct terminal *t = live_screen(s);
		bool drawn = t && picture_append(&out, t) == 0;
		if (drawn)
			live_client_send(client, FRAME_PICTURE, out.data, out.len);
		buffer_release(&out);
		if (drawn)
			return;
		error = ENOMEM;
		break;
	}
	case FRAME_TYPE: {
		struct terminal *t = a == 1 && len == 3 ? live_screen(s) : NULL;
		bool other = t && terminal_facts(t).has_cursor_keys;
		if (b != 1 && (s->asked == WAIT_SECRET || prompt_hides(s, ""))) {
			error = EACCES;
			break;
		}
		s->unanswered = false;
		const char *keys = other ? (const char[]){f->data[0], 'O', f->data[2]} : f->data;
		error = prompt_type(s, keys, len);
		break;
	}
	case FRAME_CLOSE: error = prompt_type_end(s); break;
	case FRAME_SIGNAL: error = live_signal(s, f->a, b == 1); break;
	case FRAME_RESIZE: error = live_resize(s, a, b, !client->attached); break;
	case FRAME_ATTACH:
		error = a && b ? live_resize(s, a, b, false) : 0;
		if (error)
			break;
		client->attached = client->behind = true;
		client->sizes = a && b;
		break;
	case FRAME_REPORTED: s->live.reported = (uint64_t)f->a; break;
	default: error = EPROTO; break;
	}
	live_client_queue(client, FRAME_DONE, error, NULL, 0);
}

static void live_client_serve(struct supervisor *s, struct live_client *client)
{
	live_client_pump(client);
	for (int i = 0; i < TURN && !client->dead && !live_client_is_queued(client); i++) {
		struct frame f;
		ssize_t n = frame_receive(client->fd, &f, MSG_DONTWAIT);
		bool more = n >= 0 || errno == EPROTO || errno == EPROTONOSUPPORT;
		if (n >= 0)
			live_answer(s, client, &f, (size_t)n);
		else if (more)
			live_client_queue(client, FRAME_DONE, errno, NULL, 0);
		else
			client->dead = errno != EAGAIN;
		/* A client that has missed output gets the screen; the rest of that output is in
		   the text. */
		if (!client->dead && !live_client_is_queued(client) && client->behind) {
			struct buffer out = BUFFER_INIT;
			struct terminal *t = live_screen(s);
			if (t && terminal_repaint(t, &out) == 0 && out.len > 0)
				live_client_send(client, FRAME_OUTPUT, out.data, out.len);
			client->behind = false;
			buffer_release(&out);
		}
		if (!client->dead && !live_client_is_queued(client) && client->changed)
			live_answer_status(s, client, false, false);
		live_client_pump(client);
		if (!more)
			break;
	}
}

static void live_client_drop(struct live *c, struct live_client **at)
{
	struct live_client *client = *at;
	*at = client->next;
	c->count--;
	io_close(&client->fd);
	buffer_release(&client->queue);
	free(client);
}

void live_serve(struct supervisor *s)
{
	struct live *c = &s->live;
	for (struct live_client **at = &c->clients; *at;) {
		live_client_serve(s, *at);
		if (!(*at)->dead) {
			at = &(*at)->next;
			continue;
		}
		bool unsizes = (*at)->sizes, left = (*at)->caller && s->job->leashed;
		live_client_drop(c, at);
		/* The last client with a terminal is gone, so the run gets its own size again. */
		if (unsizes && !live_has_person(c) && s->state < SUPERVISOR_FLUSHING) {
			live_resize(s, c->cols, c->rows, false);
			looks_touch(&s->looks, clock_monotonic_ms());
		}
		if (!left)
			continue;
		TRACE(PROCESS, "supervisor: the caller has gone");
		s->interrupted |= s->state == SUPERVISOR_RUNNING;
		supervisor_end_run(s, "its caller has gone");
	}
}

void live_adopt(struct live *c, int fd, bool caller)
{
	struct live_client *client = c->count < LIVE_CLIENTS ? calloc(1, sizeof(*client)) : NULL;
	if (!client) {
		frame_send(fd, FRAME_DONE, EBUSY, 0, NULL, 0, MSG_DONTWAIT);
		close(fd);
		return;
	}
	client->fd = fd;
	client->caller = caller;
	client->next = c->clients;
	c->clients = client;
	c->count++;
}

static void live_accept(void *ctx, short revents)
{
	struct live *c = ctx;
	(void)revents;
	for (;;) {
		int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			break;
		fd = io_above_standard(fd);
		struct ucred peer;
		socklen_t size = sizeof(peer);
		if (fd >= 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
		    peer.uid == geteuid())
			live_adopt(c, fd, false);
		else
			io_close(&fd);
	}
}

void live_watch(struct live *c, struct loop *l)
{
	loop_watch(l, c->fd, POLLIN, live_accept, c);
	for (const struct live_client *client = c->clients; client; client = client->next)
		loop_watch(l, client->fd, live_client_is_queued(client) ? POLLOUT : POLLIN, NULL,
			   NULL);
}

void live_tell_now(struct supervisor *s, int64_t now_ms)
{
	s->timer[TIMER_CHANGED] = 0;
	s->live.told_at = now_ms;
	for (struct live_client *client = s->live.clients; client; client = client->next) {
		if (!client->watches)
			continue;
		client->changed = true;
		if (!live_client_is_queued(client)) {
			live_answer_status(s, client, false, false);
			live_client_pump(client);
		}
	}
}

bool live_is_pending(const struct live *c)
{
	for (const struct live_client *client = c->clients; client; client = client->next) {
		if (!client->dead &&
		    (live_client_is_queued(client) || client->behind || client->changed))
			return true;
	}
	return false;
}

void live_close(struct live *c)
{
	if (c->fd >= 0)
		unlinkat(c->dir, c->name, 0);
	io_close(&c->fd);
	while (c->clients)
		live_client_drop(c, &c->clients);
	io_close(&c->dir);
}
