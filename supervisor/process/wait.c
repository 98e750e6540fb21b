// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define POLLED_MOST 256

struct thread {
	pid_t pid;
	struct process_call call;
	dev_t terminal;
	enum wait_kind kind;
	bool also;
};

enum call_form { CALL_OTHER, CALL_READ, CALL_RECEIVE, CALL_POLL, CALL_SELECT, CALL_EPOLL };

static const struct wait_call {
	long number;
	enum call_form form;
	int timeout; /* for calls that wait for several descriptors: the index of the argument with
			the timeout */
	bool in_memory; /* the timeout is a structure that begins with the seconds; else
			   milliseconds */
} wait_calls[] = {
#ifdef SYS_poll
	{SYS_poll, CALL_POLL, 2, false},         {SYS_select, CALL_SELECT, 4, true},
	{SYS_epoll_wait, CALL_EPOLL, 3, false},
#endif
	{SYS_ppoll, CALL_POLL, 2, true},         {SYS_pselect6, CALL_SELECT, 4, true},
	{SYS_epoll_pwait, CALL_EPOLL, 3, false}, {SYS_epoll_pwait2, CALL_EPOLL, 3, true},
	{SYS_read, CALL_READ, 0, false},         {SYS_readv, CALL_READ, 0, false},
	{SYS_pread64, CALL_READ, 0, false},      {SYS_recvfrom, CALL_RECEIVE, 0, false},
	{SYS_recvmsg, CALL_RECEIVE, 0, false},
};

/* Whether the open file `fd` of the process is the terminal. */
static bool wait_is_terminal(pid_t pid, unsigned long fd, dev_t terminal)
{
	struct stat st;
	return process_stat(pid, fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       (st.st_rdev == terminal || st.st_rdev == makedev(5, 0));
}

/* Notes that the thread waits for data on this descriptor, maybe among others. */
static void wait_on_descriptor(struct thread *t, unsigned long fd)
{
	struct stat st;
	enum wait_kind kind = WAIT_UNKNOWN;
	if (wait_is_terminal(t->pid, fd, t->terminal))
		kind = WAIT_KEYS;
	else if (process_stat(t->pid, fd, &st) < 0)
		return;
	else if (fd == STDIN_FILENO && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)))
		kind = WAIT_STDIN;
	else if (S_ISSOCK(st.st_mode))
		kind = WAIT_SOCKET;
	t->also |= kind == WAIT_STDIN;
	if (kind > t->kind)
		t->kind = kind;
}

/* Reads an argument from the memory of the thread. Returns the number of bytes. */
static size_t read_memory(const struct thread *t, unsigned long at, void *data, size_t len)
{
	int fd = process_open(t->pid, "mem");
	ssize_t n = fd < 0 ? -1 : io_read_at(fd, data, len, (off_t)at);
	io_close(&fd);
	return n > 0 ? (size_t)n : 0;
}

/* Finds out what the thread waits for in its system call. Returns the form of the call. */
static enum call_form wait_on_call(struct thread *t)
{
	static const struct wait_call other = {.form = CALL_OTHER};
	const struct wait_call *call = &other;
	for (size_t i = 0; i < sizeof(wait_calls) / sizeof(*wait_calls); i++) {
		if (wait_calls[i].number == t->call.number)
			call = &wait_calls[i];
	}
	const unsigned long *args = t->call.args;
	struct pollfd polled[POLLED_MOST];
	size_t count = args[1] < POLLED_MOST ? args[1] : POLLED_MOST;
	fd_set set;
	char line[256];
	unsigned fd, events;
	switch (call->form) {
	case CALL_POLL:
		count = read_memory(t, args[0], polled, count * sizeof(*polled)) / sizeof(*polled);
		for (size_t i = 0; i < count; i++) {
			if (polled[i].fd >= 0 && polled[i].events & POLLIN)
				wait_on_descriptor(t, (unsigned long)polled[i].fd);
		}
		break;
	case CALL_SELECT:
		FD_ZERO(&set);
		count = args[0] < FD_SETSIZE ? args[0] : FD_SETSIZE;
		/* The set has as many words as `count` needs. */
		size_t size = (count + 63) / 64 * 8;
		if (!args[1] || read_memory(t, args[1], &set, size) != size)
			break;
		for (unsigned long i = 0; i < count; i++) {
			if (FD_ISSET(i, &set))
				wait_on_descriptor(t, i);
		}
		break;
	case CALL_EPOLL: {
		/* The kernel lists the descriptors: "tfd: 4 events: 19 data: ...". */
		int file = process_open(t->pid, "fdinfo/%lu", args[0]);
		FILE *info = file < 0 ? NULL : fdopen(file, "r");
		if (!info)
			io_close(&file);
		while (info && fgets(line, sizeof(line), info)) {
			if (sscanf(line, "tfd: %u events: %x", &fd, &events) == 2 &&
			    events & EPOLLIN)
				wait_on_descriptor(t, fd);
		}
		if (info)
			fclose(info);
		break;
	}
	case CALL_READ:
	case CALL_RECEIVE: wait_on_descriptor(t, args[0]); return call->form;
	case CALL_OTHER:
		if (t->call.number == SYS_connect)
			t->kind = WAIT_SOCKET;
		else if (t->call.number == SYS_flock ||
			 (t->call.number == SYS_fcntl &&
			  (args[1] == F_SETLKW || args[1] == F_OFD_SETLKW)))
			t->kind = WAIT_LOCK;
		else if (t->call.number == SYS_nanosleep || t->call.number == SYS_clock_nanosleep)
			t->kind = WAIT_SLEEP;
		return CALL_OTHER;
	}
	/* A terminal as standard input counts, too, even if the call does not name it: nvim makes
	   the terminal its standard input and then can't read it. */
	if (t->kind < WAIT_KEYS && wait_is_terminal(t->pid, STDIN_FILENO, t->terminal))
		t->kind = WAIT_KEYS;
	if (t->kind != WAIT_UNKNOWN)
		return call->form;
	/* A timeout of a second or more may be for an action of the program; with a shorter one the
	   program only polls. */
	unsigned long given = args[call->timeout];
	long seconds;
	bool timed = (int)given >= 1000;
	if (call->in_memory)
		timed = given &&
			(read_memory(t, given, &seconds, sizeof(seconds)) != sizeof(seconds) ||
			 seconds >= 1);
	if (!timed)
		t->kind = WAIT_ALONE;
	return call->form;
}

/* Judges a thread whose system call is hidden, by the kernel function that it sleeps in. */
static enum wait_input wait_by_channel(pid_t pid, long tid)
{
	char name[128];
	if (process_file(pid, name, sizeof(name), "task/%ld/wchan", tid) < 0 ||
	    strcmp(name, "0") == 0)
		return INPUT_HIDDEN;
	if (strcmp(name, "n_tty_read") == 0)
		return INPUT_READ;
	return strstr(name, "poll") || strcmp(name, "do_select") == 0 ? INPUT_POLLED : INPUT_NONE;
}

void wait_look(struct wait *w, dev_t terminal, pid_t group)
{
	struct buffer run = BUFFER_INIT;
	bool runs = process_tree_descendants(getpid(), &run) < 0;
	const pid_t *pids = (const pid_t *)run.data;
	*w = (struct wait){.kind = WAIT_UNKNOWN};
	for (size_t i = 0; !runs && i < run.len / sizeof(*pids); i++) {
		struct process p;
		struct process_walk threads;
		if (process_read(pids[i], &p) < 0 || (group && p.group != group))
			continue;
		runs = p.state == 'R' || p.state == 'D';
		if (group && p.state != 'S')
			continue;
		for (long tid = process_walk(&threads, PROCESS_THREADS, p.pid);
		     tid >= 0 && !runs && !(group && w->input == INPUT_READ);
		     tid = process_walk_next(&threads)) {
			struct thread t = {.pid = p.pid, .terminal = terminal};
			enum wait_input input = INPUT_NONE;
			if (process_call(p.pid, tid, &t.call) == 0) {
				enum call_form form = wait_on_call(&t);
				/* One thread that reads decides, since most other threads only wait
				   for work. */
				runs = t.call.runs && !group;
				if (form >= CALL_POLL)
					input = INPUT_POLLED;
				else if (form == CALL_READ && t.kind == WAIT_KEYS)
					input = INPUT_READ;
			} else {
				input = wait_by_channel(p.pid, tid);
			}
			if (input > w->input)
				w->input = input;
			if (t.kind > w->kind) {
				*w = (struct wait){.kind = t.kind,
						   .input = w->input,
						   .pid = p.pid,
						   .also = t.also};
				memcpy(w->name, p.name, sizeof(w->name));
			}
		}
		process_walk_end(&threads);
	}
	if (runs)
		w->input = INPUT_NONE;
	if (runs || (w->kind == WAIT_ALONE && run.len > sizeof(*pids)))
		w->kind = WAIT_UNKNOWN;
	buffer_release(&run);
}
