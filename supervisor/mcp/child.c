// See child.h.

#include "supervisor/mcp/child.h"

#include "lib/io.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The descriptor that the child gets as its caller's socket. */
#define CHILD_CALLER 3

#define CHILD_CHUNK ((size_t)64 * 1024)

/* This program, also after it was replaced on disk. */
#define CHILD_PROGRAM "/proc/self/exe"

/* The ends of what connects server and child: [0] is the server's. */
struct child_ends {
	int out[2], err[2], caller[2], input;
};

static void child_close_pair(int pair[2])
{
	io_close(&pair[0]);
	io_close(&pair[1]);
}

/* Moved above the standard descriptors and the child's socket, so that none of them is overwritten
   before it is used. */
static int child_pair(int pair[2], int type)
{
	if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		int above = fcntl(pair[i], F_DUPFD_CLOEXEC, CHILD_CALLER + 1);
		int error = errno;
		io_close(&pair[i]);
		pair[i] = above;
		errno = error;
		if (above < 0) {
			child_close_pair(pair);
			return -1;
		}
	}
	return 0;
}

/* A file in memory: it ends, and nobody has to write while the child reads. */
static int child_open_input(const struct child_start *s)
{
	if (!s->input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("stdin", MFD_CLOEXEC);
	if (fd >= 0 && (io_write(fd, s->input, s->input_len) < 0 || lseek(fd, 0, SEEK_SET) < 0))
		io_close(&fd);
	return fd;
}

static int child_connect(struct child_ends *e, const struct child_start *s)
{
	if (child_pair(e->out, SOCK_STREAM) < 0 || child_pair(e->err, SOCK_STREAM) < 0 ||
	    (s->caller && child_pair(e->caller, SOCK_SEQPACKET) < 0))
		return -1;
	e->input = child_open_input(s);
	return e->input < 0 ? -1 : 0;
}

static int child_spawn(pid_t *pid, const struct child_ends *e, const struct child_start *s)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);
	if (error)
		return error;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, s->signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn_file_actions_adddup2(&actions, e->input, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, e->out[1], STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, e->err[1], STDERR_FILENO);
	if (!error && s->caller)
		error = posix_spawn_file_actions_adddup2(&actions, e->caller[1], CHILD_CALLER);
	if (!error && s->directory)
		error = posix_spawn_file_actions_addchdir_np(&actions, s->directory);
	if (!error)
		error = posix_spawn(pid, CHILD_PROGRAM, &actions, &attributes, s->argv, s->envp);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

int child_start(struct child *c, const struct child_start *start)
{
	struct child_ends e = {{-1, -1}, {-1, -1}, {-1, -1}, -1};
	*c = (struct child){.out = -1, .err = -1, .caller = -1};
	int error = child_connect(&e, start) < 0 ? errno : child_spawn(&c->pid, &e, start);
	io_close(&e.input);
	if (!error) {
		c->out = e.out[0];
		c->err = e.err[0];
		c->caller = e.caller[0];
		e.out[0] = e.err[0] = e.caller[0] = -1;
	}
	child_close_pair(e.out);
	child_close_pair(e.err);
	child_close_pair(e.caller);
	errno = error;
	return error ? -1 : 0;
}

/* Reads all that is there; at the end, closes. */
static void child_read_one(int *fd, struct buffer *into)
{
	char chunk[CHILD_CHUNK];
	while (*fd >= 0) {
		ssize_t n = recv(*fd, chunk, sizeof(chunk), MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		size_t room = CHILD_OUTPUT_MAX - into->len;
		/* What can't be read is missing. */
		into->failed |= n < 0;
		if (n <= 0)
			io_close(fd);
		else
			buffer_append(into, chunk, (size_t)n < room ? (size_t)n : room);
	}
}

void child_read(struct child *c)
{
	child_read_one(&c->out, &c->output);
	child_read_one(&c->err, &c->errors);
}

void child_end(struct child *c, int status)
{
	child_read(c);
	c->pid = 0;
	c->status = status;
	io_close(&c->out);
	io_close(&c->err);
}

int child_exit_code(const struct child *c)
{
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void child_release(struct child *c)
{
	io_close(&c->out);
	io_close(&c->err);
	io_close(&c->caller);
	buffer_release(&c->output);
	buffer_release(&c->errors);
}
