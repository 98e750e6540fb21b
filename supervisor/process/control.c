// See control.h.

#include "supervisor/process/control.h"

#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
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

struct control_client {
	struct control_client *next;
	int fd;
	struct buffer queue; /* packets, each behind its length (size_t) */
	size_t sent;         /* bytes of the queue */
	bool watches, changed;
	bool attached, sizes; /* `sizes`: its terminal's size is the run's */
	bool behind;          /* missed output */
	bool dead;
	bool caller; /* its end is reported */
};

void control_init(struct control *c, const struct control_events *events)
{
	*c = (struct control){.events = *events, .dir = -1, .fd = -1};
}

/* Through /proc, since the path of a directory may be too long for an address. */
static void make_address(struct sockaddr_un *address, int dir, const char *prefix, const char *name)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s%s", dir, prefix,
		 name);
}

int control_open(struct control *c, int dir, const char *name)
{
	struct sockaddr_un address;
	char temporary[sizeof(c->name) + 1];
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(temporary, sizeof(temporary), ".%s", c->name);
	c->dir = dir;
	c->fd = io_above_standard(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (c->fd < 0)
		goto fail;
	make_address(&address, dir, "", temporary);
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

static void control_add_packet(struct control_client *client, enum control_kind kind, uint32_t a,
			       const char *data, size_t len)
{
	const struct control_head head = {.kind = kind, .a = a};
	size_t total = sizeof(head) + len;
	if (buffer_reserve(&client->queue, sizeof(total) + total) < 0) {
		client->dead = true;
		return;
	}
	buffer_append(&client->queue, &total, sizeof(total));
	buffer_append(&client->queue, &head, sizeof(head));
	buffer_append(&client->queue, data, len);
}

static void control_add_long(struct control_client *client, enum control_kind kind,
			     const char *data, size_t len)
{
	do {
		size_t n = len < CONTROL_PACKET_DATA ? len : CONTROL_PACKET_DATA;
		len -= n;
		control_add_packet(client, kind, kind == CONTROL_OUTPUT ? 0 : (uint32_t)len, data,
				   n);
		data += n;
	} while (len > 0);
}

static void control_add_result(struct control_client *client, int error)
{
	control_add_packet(client, CONTROL_DONE, (uint32_t)error, NULL, 0);
}

/* Queues the answer that an event has made, or its error. */
static void control_add_json(struct control_client *client, enum control_kind kind, int error,
			     struct buffer *json)
{
	if (error)
		control_add_result(client, error);
	else
		control_add_long(client, kind, json->data, json->len);
	buffer_release(json);
}

static void control_add_status(struct control *c, struct control_client *client)
{
	struct buffer json = BUFFER_INIT;
	int error = c->events.status(c->events.ctx, client->watches, &json);
	client->changed = false;
	control_add_json(client, CONTROL_STATUS, error, &json);
}

static void control_add_picture(struct control *c, struct control_client *client, bool painted)
{
	struct buffer json = BUFFER_INIT;
	int error = c->events.picture(c->events.ctx, painted, &json);
	control_add_json(client, CONTROL_PICTURE, error, &json);
}

/* The output that the client has missed is on the screen, or in the text. */
static void control_repaint(struct control *c, struct control_client *client)
{
	struct buffer out = BUFFER_INIT;
	if (c->events.repaint(c->events.ctx, &out) == 0 && out.len > 0)
		control_add_long(client, CONTROL_OUTPUT, out.data, out.len);
	client->behind = false;
	buffer_release(&out);
}

static int control_attach(struct control *c, struct control_client *client, uint32_t cols,
			  uint32_t rows)
{
	int error = 0;
	if (cols && rows)
		error = c->events.resize(c->events.ctx, cols, rows, true);
	if (error)
		return error;
	client->attached = client->behind = true;
	client->sizes = cols && rows;
	return 0;
}

static int control_resize(struct control *c, struct control_client *client, uint32_t cols,
			  uint32_t rows)
{
	if (client->attached && !client->sizes)
		return EPERM;
	return c->events.resize(c->events.ctx, cols, rows, client->attached);
}

static void control_answer(struct control *c, struct control_client *client,
			   const struct control_packet *p, size_t len)
{
	const struct control_events *e = &c->events;
	const struct control_head *h = &p->head;
	/* A client that only looks may change nothing. */
	bool looks = client->attached && !client->sizes;
	switch (h->kind) {
	case CONTROL_WATCH:
		client->watches = true;
		if (h->a == 1)
			e->follow(e->ctx);
		/* fall through */
	case CONTROL_STATUS: control_add_status(c, client); return;
	case CONTROL_PICTURE: control_add_picture(c, client, h->a == 1); return;
	case CONTROL_TYPE:
		control_add_result(client,
				   looks ? EPERM : e->type(e->ctx, p->data, len, h->a == 1));
		break;
	case CONTROL_CLOSE: control_add_result(client, looks ? EPERM : e->close(e->ctx)); break;
	case CONTROL_SIGNAL:
		control_add_result(client, looks         ? EPERM
					   : h->a > 1000 ? EINVAL
							 : e->signal(e->ctx, (int)h->a, h->b == 1));
		break;
	case CONTROL_RESIZE:
		control_add_result(client, control_resize(c, client, h->a, h->b));
		break;
	case CONTROL_ATTACH:
		control_add_result(client, control_attach(c, client, h->a, h->b));
		break;
	case CONTROL_REPORTED: control_add_result(client, e->reported(e->ctx, h->a)); break;
	default: control_add_result(client, EPROTO); break;
	}
}

/* Takes one request. Returns whether there may be another one. */
static bool control_take_request(struct control *c, struct control_client *client)
{
	struct {
		struct control_packet packet;
		char more; /* to tell a packet that is too long */
	} in;
	ssize_t n;
	do
		n = recv(client->fd, &in.packet, sizeof(in), MSG_DONTWAIT | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		client->dead = true;
		return false;
	}
	size_t len = (size_t)n - sizeof(in.packet.head);
	if ((size_t)n < sizeof(in.packet.head) || len > CONTROL_REQUEST_DATA)
		control_add_result(client, EPROTO);
	else
		control_answer(c, client, &in.packet, len);
	return true;
}

static void control_serve_one(struct control *c, struct control_client *client)
{
	control_pump(client);
	for (int i = 0; i < TURN && !client->dead && !control_is_queued(client); i++) {
		bool more = control_take_request(c, client);
		if (!client->dead && !control_is_queued(client) && client->behind)
			control_repaint(c, client);
		if (!client->dead && !control_is_queued(client) && client->changed)
			control_add_status(c, client);
		control_pump(client);
		if (!more)
			break;
	}
}

/* Whether the terminal of a client still sets the size. */
static bool control_has_terminal(const struct control *c)
{
	for (const struct control_client *client = c->clients; client; client = client->next) {
		if (client->sizes)
			return true;
	}
	return false;
}

static void control_drop(struct control *c, struct control_client **at)
{
	struct control_client *client = *at;
	bool sizes = client->sizes, left = client->caller && c->events.left;
	*at = client->next;
	c->count--;
	io_close(&client->fd);
	buffer_release(&client->queue);
	free(client);
	if (sizes && !control_has_terminal(c))
		c->events.resize(c->events.ctx, 0, 0, true);
	if (left)
		c->events.left(c->events.ctx);
}

void control_adopt(struct control *c, int fd)
{
	struct control_client *client =
		c->count < CONTROL_CLIENTS ? calloc(1, sizeof(*client)) : NULL;
	if (!client) {
		const struct control_head full = {.kind = CONTROL_DONE, .a = EBUSY};
		send(fd, &full, sizeof(full), MSG_DONTWAIT | MSG_NOSIGNAL);
		close(fd);
		return;
	}
	client->fd = fd;
	client->next = c->clients;
	c->clients = client;
	c->count++;
}

void control_hold(struct control *c, int fd)
{
	int before = c->count;
	control_adopt(c, fd);
	if (c->count > before)
		c->clients->caller = true;
}

static bool control_is_ours(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

static void control_take_clients(struct control *c)
{
	while (c->fd >= 0) {
		int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno == EINTR)
			continue;
		if (fd < 0)
			return;
		fd = io_above_standard(fd);
		if (fd >= 0 && control_is_ours(fd))
			control_adopt(c, fd);
		else
			io_close(&fd);
	}
}

size_t control_poll(const struct control *c, struct pollfd *fds, size_t room)
{
	size_t n = 0;
	if (c->fd >= 0 && n < room)
		fds[n++] = (struct pollfd){.fd = c->fd, .events = POLLIN};
	for (const struct control_client *client = c->clients; client && n < room;
	     client = client->next) {
		short events = control_is_queued(client) ? POLLOUT : POLLIN;
		fds[n++] = (struct pollfd){.fd = client->fd, .events = events};
	}
	return n;
}

void control_serve(struct control *c)
{
	control_take_clients(c);
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
		control_add_long(client, CONTROL_OUTPUT, data, len);
		control_pump(client);
	}
}

void control_changed(struct control *c)
{
	for (struct control_client *client = c->clients; client; client = client->next) {
		if (!client->watches)
			continue;
		client->changed = true;
		if (!control_is_queued(client)) {
			control_add_status(c, client);
			control_pump(client);
		}
	}
}

int control_attached(const struct control *c)
{
	int count = 0;
	for (const struct control_client *client = c->clients; client; client = client->next)
		count += client->attached;
	return count;
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
	while (c->clients) {
		c->clients->sizes = c->clients->caller = false;
		control_drop(c, &c->clients);
	}
	io_close(&c->dir);
}
