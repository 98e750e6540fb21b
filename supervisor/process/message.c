// See message.h.

#include "supervisor/process/message.h"

#include "lib/io.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>

/* A moment without memory must not cost the status of a command. */
#define TRIES    200
#define PAUSE_MS 10

static bool try_again(int *tries)
{
	if (errno == EINTR)
		return true;
	/* Comes once when the other side has closed without reading all; its own messages
	   follow. */
	if (errno == ECONNRESET)
		return (*tries)++ < TRIES;
	if ((errno != ENOMEM && errno != ENOBUFS) || (*tries)++ == TRIES)
		return false;
	poll(NULL, 0, PAUSE_MS);
	return true;
}

int message_send(int fd, const struct message *m, size_t len)
{
	size_t size = offsetof(struct message, data) + len;
	ssize_t n;
	int tries = 0;
	do
		n = io_send(fd, m, size, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && try_again(&tries));
	return n < 0 ? -1 : 0;
}

ssize_t message_receive(int fd, struct message *m, int flags)
{
	ssize_t n;
	int tries = 0;
	do
		n = recv(fd, m, sizeof(*m), flags);
	while (n < 0 && try_again(&tries));
	if (n < 0)
		return -1;
	if ((size_t)n < offsetof(struct message, data)) {
		errno = EPIPE;
		return -1;
	}
	return n - (ssize_t)offsetof(struct message, data);
}
