// See protocol.h.

#include "supervisor/process/protocol.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A send is retried if there is no memory, so that the command's status is not lost. */
#define TRIES    200
#define PAUSE_MS 10

/* How long to wait for an answer. A supervisor answers at once, unless it is stopped. */
#define ANSWER_S 5

static bool frame_try_again(int *tries)
{
	if (errno == EINTR)
		return true;
	/* ECONNRESET comes once, if the other side has closed without reading everything. The
	   frames that it has sent can still be read. */
	if (errno == ECONNRESET)
		return (*tries)++ < TRIES;
	if ((errno != ENOMEM && errno != ENOBUFS) || (*tries)++ == TRIES)
		return false;
	poll(NULL, 0, PAUSE_MS);
	return true;
}

int frame_send(int fd, enum frame_kind kind, int a, int b, const void *data, size_t len, int flags)
{
	struct frame_head head = {(uint16_t)kind, PROTOCOL_VERSION, a, b};
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)data, len}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	int tries = 0;
	if (len > FRAME_DATA) {
		errno = EMSGSIZE;
		return -1;
	}
	while (sendmsg(fd, &message, flags | MSG_NOSIGNAL) < 0) {
		if (!frame_try_again(&tries))
			return -1;
	}
	return 0;
}

ssize_t frame_receive(int fd, struct frame *f, int flags)
{
	ssize_t n;
	int tries = 0;
	do
		n = recv(fd, f, sizeof(*f), flags | MSG_TRUNC);
	while (n < 0 && frame_try_again(&tries));
	if (n < 0)
		return -1;
	if (n == 0)
		errno = EPIPE;
	else if ((size_t)n < FRAME_HEAD || (size_t)n > sizeof(*f))
		errno = EPROTO;
	else if (f->version != PROTOCOL_VERSION)
		errno = EPROTONOSUPPORT;
	else
		return n - (ssize_t)FRAME_HEAD;
	return -1;
}

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

int client_open(const struct store *stores, int count, const char *id)
{
	int error = ENOENT, fd = -1;
	for (int i = 0; i < count && fd < 0; i++) {
		int dir = store_open_folder(&stores[i], STORE_LIVE, false);
		if (dir < 0)
			continue;
		fd = connect_in(dir, id);
		if (fd < 0 && errno != ENOENT)
			error = errno;
		io_close(&dir);
	}
	errno = error;
	return fd;
}

int client_ask(int fd, enum frame_kind kind, int a, int b, const char *data, size_t len,
	       struct buffer *reply)
{
	struct frame f;
	if (reply)
		buffer_clear(reply);
	/* A client that is refused gets its answer without asking, so EPIPE is not an error yet. */
	if (frame_send(fd, kind, a, b, data, len, 0) < 0 && errno != EPIPE)
		return -1;
	do {
		ssize_t n = frame_receive(fd, &f, 0);
		if (n < 0) {
			if (errno == EAGAIN)
				errno = ETIMEDOUT;
			return -1;
		}
		if (f.kind == FRAME_DONE) {
			errno = f.a;
			return f.a ? -1 : 0;
		}
		if (reply)
			buffer_append(reply, f.data, (size_t)n);
	} while (f.a > 0);
	return reply ? buffer_check(reply) : 0;
}

int client_status(int fd, enum frame_kind kind, struct live_status *now)
{
	struct buffer reply = BUFFER_INIT;
	int result = client_ask(fd, kind, 0, 0, NULL, 0, &reply);
	if (result == 0 && reply.len == sizeof(*now)) {
		memcpy(now, reply.data, reply.len);
	} else if (result == 0) {
		errno = EPROTO;
		result = -1;
	}
	buffer_release(&reply);
	return result;
}

int client_take_status(int fd, struct live_status *now, int *refused)
{
	struct frame f;
	ssize_t n = frame_receive(fd, &f, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n < 0 && errno == EPROTONOSUPPORT)
		*refused = errno;
	if (n < 0)
		return -1;
	if (f.kind == FRAME_DONE && f.a)
		*refused = f.a;
	if (f.kind != FRAME_STATUS)
		return 0;
	if (n != sizeof(*now)) {
		errno = EPROTO;
		return -1;
	}
	memcpy(now, f.data, sizeof(*now));
	return 1;
}

static int client_newest_first(const void *a, const void *b)
{
	return strcmp(b, a);
}

int client_list(const struct store *stores, int count, char (**ids)[ID_LEN + 1], size_t *found)
{
	size_t room = 0;
	int result = 0;
	*ids = NULL;
	*found = 0;
	for (int i = 0; i < count; i++) {
		DIR *dir = io_list(store_open_folder(&stores[i], STORE_LIVE, false));
		const struct dirent *entry;
		while (dir && result == 0 && (entry = readdir(dir))) {
			if (!id_is_valid(entry->d_name))
				continue;
			char(*id)[ID_LEN + 1] = array_add(ids, found, &room, sizeof(*id));
			result = id ? 0 : -1;
			if (id)
				memcpy(id, entry->d_name, sizeof(*id));
		}
		if (dir)
			closedir(dir);
	}
	if (*found > 0)
		qsort(*ids, *found, sizeof(**ids), client_newest_first);
	return result;
}

unsigned client_sweep(const struct store *s)
{
	char(*ids)[ID_LEN + 1];
	size_t count;
	unsigned removed = 0;
	client_list(s, 1, &ids, &count);
	for (size_t i = 0; i < count; i++) {
		int fd = client_open(s, 1, ids[i]);
		removed += fd < 0 && errno == ENOENT;
		io_close(&fd);
	}
	free(ids);
	return removed;
}

/* --- ports ------------------------------------------------------------------------------------ */

struct listener {
	unsigned long inode;
	unsigned port;
};

/* Reads the listening sockets in the network namespace of the process from one of the tables of
   proc(5). */
static size_t ports_read(pid_t pid, const char *table, struct listener *found, size_t room)
{
	char line[512];
	size_t count = 0;
	int fd = process_open(pid, "net/%s", table);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	while (file && count < room && fgets(line, sizeof(line), file)) {
		struct listener l;
		unsigned state;
		/* "0: 0100007F:1F90 00000000:0000 0A queues timer retransmits uid timeout inode" */
		if (sscanf(line, " %*d: %*[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %lu", &l.port,
			   &state, &l.inode) == 3 &&
		    state == 0x0a)
			found[count++] = l;
	}
	if (file)
		fclose(file);
	else
		io_close(&fd);
	return count;
}

size_t ports_of(pid_t command, unsigned ports[PORTS_MOST])
{
	struct listener found[512];
	struct process leader, p;
	struct process_walk all, open;
	size_t listeners = ports_read(command, "tcp", found, 256), count = 0;
	listeners += ports_read(command, "tcp6", found + listeners, 256);
	if (listeners == 0 || process_read(command, &leader) < 0)
		return 0;
	for (long pid = process_walk(&all, PROCESS_ALL, 0); pid >= 0;
	     pid = process_walk_next(&all)) {
		if (process_read((pid_t)pid, &p) < 0 || p.session != leader.session)
			continue;
		for (long fd = process_walk(&open, PROCESS_DESCRIPTORS, p.pid); fd >= 0;
		     fd = process_walk_next(&open)) {
			char link[64];
			unsigned long inode;
			size_t i = 0, at = 0;
			if (!process_walk_link(&open, fd, link, sizeof(link)) ||
			    sscanf(link, "socket:[%lu]", &inode) != 1)
				continue;
			while (i < listeners && found[i].inode != inode)
				i++;
			while (i < listeners && at < count && ports[at] != found[i].port)
				at++;
			if (i < listeners && at == count && count < PORTS_MOST)
				ports[count++] = found[i].port;
		}
		process_walk_end(&open);
	}
	process_walk_end(&all);
	return count;
}
