// See message.h.

#include "supervisor/process/message.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <sys/socket.h>

int message_send(int fd, const struct message *m, size_t len)
{
	size_t size = offsetof(struct message, data) + len;
	ssize_t n;
	do
		n = io_send(fd, m, size, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

ssize_t message_receive(int fd, struct message *m, int flags)
{
	ssize_t n;
	do
		n = recv(fd, m, sizeof(*m), flags);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	if ((size_t)n < offsetof(struct message, data)) {
		errno = EPIPE;
		return -1;
	}
	return n - (ssize_t)offsetof(struct message, data);
}
