// See source.h.

#include "supervisor/process/source.h"

#include "lib/io.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RING ((size_t)512 * 1024)

/* The owner is woken for so many bytes, or for fewer when nothing more comes for a moment. */
#define WORTH        SOURCE_CHUNK
#define OWED_WAIT_MS 2

#define STACK ((size_t)256 * 1024)

struct reader_thread {
	int fd;
	int filled; /* eventfd: to the owner */
	int stop;   /* eventfd: to the thread */
	pthread_t thread;
	pthread_mutex_t mutex; /* for what follows */
	pthread_cond_t room;
	size_t first, len;   /* of what is in the ring */
	size_t given;        /* so much of it has the owner, since the last call */
	int end;             /* EAGAIN while there may be more */
	bool announced;      /* `filled` is set */
	bool stopping, over; /* the thread is to end, was joined */
	char *ring;
};

#define PTY_HANGUPS 3

size_t reader_thread_read(int fd, char *data, size_t len, int *end)
{
	for (unsigned hangups = 0;;) {
		ssize_t n = read(fd, data, len);
		*end = n == 0 ? 0 : n < 0 ? errno : -1;
		if (n > 0)
			return (size_t)n;
		/* Linux: while no slave is open, a read of the master that finds nothing in the
		   line discipline's buffer (4 KB) gives EIO. Output beyond that lies in the port's
		   flip buffer, which flush_to_ldisc() empties from a workqueue. The read first
		   waits for that work (tty_buffer_flush_work()), but not for work that was queued
		   again meanwhile. So only a repeated EIO means the end. */
		if (*end != EINTR && (*end != EIO || hangups++ == PTY_HANGUPS))
			return 0;
	}
}

static void reader_thread_announce(struct reader_thread *in)
{
	if (!in->announced)
		eventfd_write(in->filled, 1);
	in->announced = true;
}

static void *reader_thread_run(void *arg)
{
	struct reader_thread *in = arg;
	pthread_mutex_lock(&in->mutex);
	while (!in->stopping && in->end == EAGAIN) {
		size_t start = (in->first + in->len) % RING, room = RING - in->len, n;
		int end;
		if (room == 0) {
			pthread_cond_wait(&in->room, &in->mutex);
			continue;
		}
		pthread_mutex_unlock(&in->mutex);
		n = reader_thread_read(in->fd, in->ring + start,
				       room < RING - start ? room : RING - start, &end);
		pthread_mutex_lock(&in->mutex);
		in->len += n;
		if (n == 0 && end != EAGAIN)
			in->end = end;
		if (in->len >= WORTH || in->end != EAGAIN)
			reader_thread_announce(in);
		if (n > 0 || in->end != EAGAIN || in->stopping)
			continue;
		/* Waits until there is more to read, or for the end. */
		struct pollfd fds[] = {{.fd = in->fd, .events = POLLIN},
				       {.fd = in->stop, .events = POLLIN}};
		bool owes = in->len > 0 && !in->announced;
		pthread_mutex_unlock(&in->mutex);
		int ready = poll(fds, 2, owes ? OWED_WAIT_MS : -1);
		pthread_mutex_lock(&in->mutex);
		if (ready == 0 && in->len > 0)
			reader_thread_announce(in);
	}
	pthread_mutex_unlock(&in->mutex);
	return NULL;
}

struct reader_thread *reader_thread_begin(int fd)
{
	cpu_set_t set;
	bool pays = sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
	struct reader_thread *in = pays ? calloc(1, sizeof(*in)) : NULL;
	if (!in)
		return NULL;
	in->fd = fd;
	in->end = EAGAIN;
	in->over = true;
	in->filled = io_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	in->stop = io_above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	pthread_mutex_init(&in->mutex, NULL);
	pthread_cond_init(&in->room, NULL);
	in->ring = io_block(RING);
	pthread_attr_t attributes;
	if (in->filled >= 0 && in->stop >= 0 && in->ring && pthread_attr_init(&attributes) == 0) {
		/* With all signals blocked, since they are for the owner. */
		sigset_t all, before;
		pthread_attr_setstacksize(&attributes, STACK);
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		in->over = pthread_create(&in->thread, &attributes, reader_thread_run, in) != 0;
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		pthread_attr_destroy(&attributes);
	}
	if (in->over) {
		reader_thread_free(in);
		return NULL;
	}
	return in;
}

int reader_thread_poll_fd(const struct reader_thread *in)
{
	return in->filled;
}

size_t reader_thread_next(struct reader_thread *in, const char **data, int *end)
{
	pthread_mutex_lock(&in->mutex);
	if (in->given > 0) {
		in->first = (in->first + in->given) % RING;
		in->len -= in->given;
		pthread_cond_signal(&in->room);
	}
	size_t len = in->len < RING - in->first ? in->len : RING - in->first;
	in->given = len < SOURCE_CHUNK ? len : SOURCE_CHUNK;
	*data = in->ring + in->first;
	*end = len > 0 ? -1 : in->end;
	if (in->announced && len == 0 && in->end == EAGAIN) {
		eventfd_t value;
		eventfd_read(in->filled, &value);
		in->announced = false;
	}
	pthread_mutex_unlock(&in->mutex);
	return in->given;
}

void reader_thread_end(struct reader_thread *in)
{
	if (in->over)
		return;
	pthread_mutex_lock(&in->mutex);
	in->stopping = true;
	pthread_cond_signal(&in->room);
	pthread_mutex_unlock(&in->mutex);
	eventfd_write(in->stop, 1);
	pthread_join(in->thread, NULL);
	in->over = true;
}

void reader_thread_free(struct reader_thread *in)
{
	if (!in)
		return;
	reader_thread_end(in);
	pthread_cond_destroy(&in->room);
	pthread_mutex_destroy(&in->mutex);
	io_close(&in->filled);
	io_close(&in->stop);
	free(in->ring);
	free(in);
}
