// See output_queue.h.

#include "supervisor/process/output_queue.h"

#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often a write is retried if there is no memory for the queue. */
#define TRIES    100
#define PAUSE_MS 10

void output_queue_init(struct output_queue *o, int fd)
{
	struct stat st;
	*o = (struct output_queue){
		.fd = fd, .own = -1, .queue = BUFFER_INIT, .most.rlim_cur = RLIM_INFINITY};
	/* If fstat() fails, the descriptor may still be writable, unless it is not open. */
	if (fstat(fd, &st) == 0)
		o->type = st.st_mode & S_IFMT;
	else if (errno == EBADF)
		o->error = errno;
	/* Devices other than terminals are written to directly, since opening a device again may
	   have an effect. */
	if (o->type == S_IFCHR && !isatty(fd))
		o->type = S_IFREG;
	if (o->type == S_IFREG)
		getrlimit(RLIMIT_FSIZE, &o->most);
}

/* Opens the file again, since O_NONBLOCK belongs to the open file, which is shared with the
   caller. */
static void open_again(struct output_queue *o)
{
	char path[32];
	o->tried = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", o->fd);
	o->own = io_above_standard(open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

/* One write that does not block; -1 with EAGAIN when there is no room now. */
static ssize_t queue_write_some(struct output_queue *o, const char *data, size_t len)
{
	if (o->type == S_IFSOCK)
		return io_send(o->fd, data, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (o->type != S_IFIFO && o->type != S_IFCHR) {
		struct rlimit own;
		bool limited = o->most.rlim_cur != RLIM_INFINITY &&
			       getrlimit(RLIMIT_FSIZE, &own) == 0 &&
			       setrlimit(RLIMIT_FSIZE, &o->most) == 0;
		ssize_t n = write(o->fd, data, len);
		int error = errno;
		if (limited)
			setrlimit(RLIMIT_FSIZE, &own);
		errno = error;
		return n;
	}
	/* poll() says that a terminal has room, not how much. */
	if ((len > PIPE_BUF || o->type == S_IFCHR) && !o->tried)
		open_again(o);
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};
	int ready = o->own >= 0 ? 1 : poll(&p, 1, 0);
	if (ready < 0 && !o->tried)
		open_again(o);
	if (o->own >= 0)
		return write(o->own, data, len);
	if (ready <= 0) {
		errno = EAGAIN;
		return -1;
	}
	return write(o->fd, data, len < PIPE_BUF ? len : PIPE_BUF);
}

/* Writes as much as there is room for; returns how much. */
static size_t write_now(struct output_queue *o, const char *data, size_t len)
{
	size_t done = 0;
	while (done < len && !o->error) {
		ssize_t n = queue_write_some(o, data + done, len - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno == EAGAIN || errno == ENOBUFS)
			break;
		else if (errno != EINTR)
			o->error = errno;
	}
	return done;
}

void output_queue_write(struct output_queue *o, const char *data, size_t len)
{
	if (o->error || len == 0)
		return;
	size_t done = o->queue.len == 0 ? write_now(o, data, len) : 0;
	if (o->error || buffer_try_append(&o->queue, data + done, len - done) == 0)
		return;
	/* The queue has no memory for the bytes, so writes the queued bytes and then these, if the
	   reader takes them soon. */
	for (int tries = 0; tries < TRIES && !o->error; tries++) {
		output_queue_pump(o);
		size_t n = o->queue.len == 0 ? write_now(o, data + done, len - done) : 0;
		done += n;
		if (n > 0)
			tries = 0;
		if (done == len || buffer_try_append(&o->queue, data + done, len - done) == 0)
			return;
		poll(NULL, 0, PAUSE_MS);
	}
	if (!o->error)
		o->error = ENOMEM;
}

void output_queue_pump(struct output_queue *o)
{
	if (o->queue.len == 0)
		return;
	o->sent += write_now(o, o->queue.data + o->sent, o->queue.len - o->sent);
	if (o->error)
		o->sent = o->queue.len;
	/* Drops the sent bytes, so that the queue stays bounded even if the reader never empties
	   it. */
	if (o->sent == o->queue.len || o->sent >= OUTPUT_QUEUE_FULL) {
		buffer_consume(&o->queue, o->sent);
		o->sent = 0;
	}
}

void output_queue_give_up(struct output_queue *o)
{
	if (o->queue.len == 0)
		return;
	o->error = ETIMEDOUT;
	o->sent = 0;
	buffer_clear(&o->queue);
}

bool output_queue_is_full(const struct output_queue *o)
{
	return o->queue.len - o->sent > OUTPUT_QUEUE_FULL;
}

int output_queue_poll_fd(const struct output_queue *o)
{
	return o->own >= 0 ? o->own : o->fd;
}

void output_queue_release(struct output_queue *o)
{
	io_close(&o->own);
	buffer_release(&o->queue);
	o->sent = 0;
}
