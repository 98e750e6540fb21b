// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Bytes that wait for an attached client; more is dropped, and a repaint sent later. */
#define OUTPUT_MOST ((size_t)64 * 1024)

/* Requests of one client that are answered before the next has a turn. */
#define TURN 16

int control_open(struct control *c, int dir, const char *name)
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
	/* Through /proc, since the path of a directory may be too long for an address. */
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir, temporary);
	mode_t mask = umask(0177);
	int bound = bind(c->fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	/* Renamed once it listens: a socket that refuses counts as one of a killed supervisor. */
	if (bound == 0 && listen(c->fd, CONTROL_CLIENTS) == 0 &&
	    renameat(dir, temporary, dir, c->name) == 0)
		return 0;
	int error = errno;
	if (bound == 0)
		unlinkat(dir, temporary, 0);
	errno = error;
fail:
	io_close(&c->fd);
	io_close(&c->dir);
	return -1;
}

static bool control_is_queued(const struct control_client *client)
{
	return client->queue.len > client->sent;
}

static void control_pump(struct control_client *client)
{
	while (!client->dead && control_is_queued(client)) {
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
	/* Free the memory of a large picture. */
	if (client->queue.len == 0 && client->queue.cap > OUTPUT_MOST)
		buffer_release(&client->queue);
}

static void control_queue(struct control_client *client, enum frame_kind kind, int a,
			  const char *data, size_t len)
{
	struct frame head;
	size_t total = FRAME_HEAD + len;
	head.kind = (uint16_t)kind;
	head.version = PROTOCOL_VERSION;
	head.a = a;
	head.b = 0;
	if (buffer_reserve(&client->queue, sizeof(total) + total) < 0) {
		client->dead = true;
		return;
	}
	buffer_append(&client->queue, &total, sizeof(total));
	buffer_append(&client->queue, &head, FRAME_HEAD);
	buffer_append(&client->queue, data, len);
}

void control_answer(struct control_client *client, enum frame_kind kind, const void *data,
		    size_t len)
{
	const char *at = data;
	do {
		size_t n = len < FRAME_DATA ? len : FRAME_DATA;
		len -= n;
		control_queue(client, kind, kind == FRAME_OUTPUT ? 0 : (int)len, at, n);
		at += n;
	} while (len > 0);
}

static void control_ask(struct control *c, struct control_client *client, const struct frame *f,
			size_t len)
{
	bool known = f->kind < FRAME_REQUESTS && c->requests[f->kind] && len <= FRAME_REQUEST;
	int error = known ? c->requests[f->kind](c->ctx, client, f, len) : EPROTO;
	if (error != CONTROL_ANSWERED)
		control_queue(client, FRAME_DONE, error, NULL, 0);
}

static void control_answer_status(struct control *c, struct control_client *client)
{
	static const struct frame status = {.kind = FRAME_STATUS};
	client->changed = false;
	control_ask(c, client, &status, 0);
}

static void control_serve_one(struct control *c, struct control_client *client)
{
	control_pump(client);
	for (int i = 0; i < TURN && !client->dead && !control_is_queued(client); i++) {
		struct frame f;
		ssize_t n = frame_receive(client->fd, &f, MSG_DONTWAIT);
		bool more = n >= 0 || errno == EPROTO || errno == EPROTONOSUPPORT;
		if (n >= 0)
			control_ask(c, client, &f, (size_t)n);
		else if (more)
			control_queue(client, FRAME_DONE, errno, NULL, 0);
		else
			client->dead = errno != EAGAIN;
		/* The output that it has missed is on the screen, or in the text. */
		if (!client->dead && !control_is_queued(client) && client->behind) {
			struct buffer out = BUFFER_INIT;
			if (c->repaint(c->ctx, &out) == 0 && out.len > 0)
				control_answer(client, FRAME_OUTPUT, out.data, out.len);
			client->behind = false;
			buffer_release(&out);
		}
		if (!client->dead && !control_is_queued(client) && client->changed)
			control_answer_status(c, client);
		control_pump(client);
		if (!more)
			break;
	}
}

static void control_drop(struct control *c, struct control_client **at)
{
	struct control_client *client = *at;
	bool unsizes = client->sizes;
	c->left |= client->caller;
	*at = client->next;
	c->count--;
	io_close(&client->fd);
	buffer_release(&client->queue);
	free(client);
	for (const struct control_client *other = c->clients; other; other = other->next)
		unsizes &= !other->sizes;
	c->unsized |= unsizes;
}

void control_adopt(struct control *c, int fd, bool caller)
{
	struct control_client *client =
		c->count < CONTROL_CLIENTS ? calloc(1, sizeof(*client)) : NULL;
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

static void control_accept(void *ctx, short revents)
{
	struct control *c = ctx;
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
			control_adopt(c, fd, false);
		else
			io_close(&fd);
	}
}

void control_watch(struct control *c, struct loop *l)
{
	loop_watch(l, c->fd, POLLIN, control_accept, c);
	for (const struct control_client *client = c->clients; client; client = client->next)
		loop_watch(l, client->fd, control_is_queued(client) ? POLLOUT : POLLIN, NULL, NULL);
}

void control_serve(struct control *c)
{
	for (struct control_client **at = &c->clients; *at;) {
		control_serve_one(c, *at);
		if ((*at)->dead)
			control_drop(c, at);
		else
			at = &(*at)->next;
	}
}

void control_output(struct control *c, const char *data, size_t len)
{
	for (struct control_client *client = c->clients; client; client = client->next) {
		if (!client->attached || client->behind)
			continue;
		if (client->queue.len - client->sent + len > OUTPUT_MOST) {
			client->behind = true;
			continue;
		}
		control_answer(client, FRAME_OUTPUT, data, len);
		control_pump(client);
	}
}

void control_changed(struct control *c)
{
	c->changed_at = 0;
	for (struct control_client *client = c->clients; client; client = client->next) {
		if (!client->watches)
			continue;
		client->changed = true;
		if (!control_is_queued(client)) {
			control_answer_status(c, client);
			control_pump(client);
		}
	}
}

bool control_is_pending(const struct control *c)
{
	for (const struct control_client *client = c->clients; client; client = client->next) {
		if (!client->dead &&
		    (control_is_queued(client) || client->behind || client->changed))
			return true;
	}
	return false;
}

void control_close(struct control *c)
{
	if (c->fd >= 0)
		unlinkat(c->dir, c->name, 0);
	io_close(&c->fd);
	while (c->clients)
		control_drop(c, &c->clients);
	io_close(&c->dir);
}
