// See control_client.h.

#include "supervisor/process/control_client.h"

#include "lib/io.h"
#include "supervisor/artifact/id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A supervisor answers at once, unless it is stopped. */
#define ANSWER_S 5

static int connect_in(int dir, const char *id)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = ANSWER_S};
	struct stat st;
	if (fstatat(dir, id, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid()) {
		errno = EPERM;
		return -1;
	}
	int fd = io_above_standard(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", dir, id);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == ECONNREFUSED) {
			unlinkat(dir, id, 0);
			errno = ENOENT;
		}
		io_close(&fd);
	}
	return fd;
}

int client_open(struct client *v, const struct store *stores, int count, const char *id)
{
	int error = ENOENT;
	v->fd = -1;
	for (int i = 0; i < count && v->fd < 0; i++) {
		int dir = store_open_live(&stores[i], false);
		if (dir < 0)
			continue;
		v->fd = connect_in(dir, id);
		if (v->fd < 0 && errno != ENOENT)
			error = errno;
		io_close(&dir);
	}
	errno = error;
	return v->fd < 0 ? -1 : 0;
}

ssize_t client_receive(const struct client *v, struct control_packet *p, int flags)
{
	ssize_t n;
	/* Packets from before the other side closed follow ECONNRESET. */
	do
		n = recv(v->fd, p, sizeof(*p), flags);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return -1;
	if ((size_t)n < sizeof(p->head)) {
		errno = EPIPE;
		return -1;
	}
	return n - (ssize_t)sizeof(p->head);
}

int client_send(const struct client *v, enum control_kind kind, uint32_t a, uint32_t b,
		const char *data, size_t len)
{
	struct {
		struct control_head head;
		char data[CONTROL_REQUEST_DATA];
	} out = {.head = {.kind = kind, .a = a, .b = b}};
	ssize_t n;
	if (len > sizeof(out.data)) {
		errno = EMSGSIZE;
		return -1;
	}
	if (len > 0)
		memcpy(out.data, data, len);
	do
		n = send(v->fd, &out, sizeof(out.head) + len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

int client_ask(const struct client *v, enum control_kind kind, uint32_t a, uint32_t b,
	       const char *data, size_t len, struct buffer *reply)
{
	struct control_packet p;
	ssize_t n;
	if (reply)
		buffer_clear(reply);
	/* A client that is refused has its answer before it has asked. */
	if (client_send(v, kind, a, b, data, len) < 0 && errno != EPIPE)
		return -1;
	do {
		n = client_receive(v, &p, 0);
		if (n < 0) {
			if (errno == EAGAIN)
				errno = ETIMEDOUT;
			return -1;
		}
		if (p.head.kind == CONTROL_DONE) {
			errno = (int)p.head.a;
			return p.head.a ? -1 : 0;
		}
		if (reply)
			buffer_append(reply, p.data, (size_t)n);
	} while (p.head.a > 0);
	return reply ? buffer_check(reply) : 0;
}

int client_status(const struct client *v, struct live_status *c)
{
	struct buffer json = BUFFER_INIT;
	int result = client_ask(v, CONTROL_STATUS, 0, 0, NULL, 0, &json);
	if (result == 0)
		result = live_status_parse(json.data ? json.data : "", json.len, c);
	buffer_release(&json);
	return result;
}

int client_take_status(const struct client *v, struct buffer *part, struct live_status *now,
		       int *refused)
{
	struct control_packet p;
	ssize_t n = client_receive(v, &p, MSG_DONTWAIT);
	if (n < 0)
		return errno == EAGAIN ? 0 : -1;
	if (p.head.kind == CONTROL_DONE && p.head.a)
		*refused = (int)p.head.a;
	if (p.head.kind != CONTROL_STATUS)
		return 0;
	if (buffer_try_append(part, p.data, (size_t)n) < 0)
		return -1;
	if (p.head.a > 0)
		return 0;
	int result = live_status_parse(part->data, part->len, now);
	buffer_clear(part);
	return result < 0 ? -1 : 1;
}

int client_each(const struct store *stores, int count, int (*each)(void *ctx, const char *id),
		void *ctx)
{
	int result = 0;
	for (int i = 0; i < count && result == 0; i++) {
		DIR *dir = io_list_opened(store_open_live(&stores[i], false));
		const struct dirent *entry;
		while (dir && result == 0 && (entry = readdir(dir))) {
			if (id_is_valid(entry->d_name))
				result = each(ctx, entry->d_name);
		}
		if (dir)
			closedir(dir);
	}
	return result;
}

void client_close(struct client *v)
{
	io_close(&v->fd);
}

struct sweep {
	const struct store *store;
	unsigned removed;
};

static int sweep_one(void *ctx, const char *id)
{
	struct sweep *s = ctx;
	struct client v;
	struct stat st;
	int dir = store_open_live(s->store, false);
	if (client_open(&v, s->store, 1, id) == 0)
		client_close(&v);
	else if (dir >= 0 && fstatat(dir, id, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		s->removed++;
	io_close(&dir);
	return 0;
}

unsigned client_sweep(const struct store *s)
{
	struct sweep sweep = {s, 0};
	client_each(s, 1, sweep_one, &sweep);
	return sweep.removed;
}
