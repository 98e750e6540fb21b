// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "lib/utf8.h"
#include "supervisor/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

/* Descriptors of one poll that are looked at. */
#define POLLED_MOST 256

/* One thread, while it is looked at. */
struct thread {
	pid_t pid;
	struct process_call call;
	dev_t terminal;
	enum wait_kind kind;
	bool also;
};

/* How a system call waits for descriptors. */
enum call_form { CALL_OTHER, CALL_READ, CALL_RECEIVE, CALL_POLL, CALL_SELECT, CALL_EPOLL };

static const struct wait_call {
	long number;
	enum call_form form;
	int timeout;    /* the argument that has it, of those that wait for several descriptors */
	bool in_memory; /* it is a structure that begins with the seconds; else milliseconds */
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

/* The thread waits for data on this descriptor, maybe among others. */
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

/* Reads an argument from the memory of the thread. Returns how many bytes. */
static size_t read_memory(const struct thread *t, unsigned long at, void *data, size_t len)
{
	int fd = process_open(t->pid, "mem");
	ssize_t n = fd < 0 ? -1 : io_read_at(fd, data, len, (off_t)at);
	io_close(&fd);
	return n > 0 ? (size_t)n : 0;
}

/* Finds out for what the thread waits in its system call. Returns the form of that. */
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
	/* Cases that the descriptors alone do not show. nvim makes the terminal its standard input,
	   and finds that it can't be read. */
	if (t->kind < WAIT_KEYS && wait_is_terminal(t->pid, STDIN_FILENO, t->terminal))
		t->kind = WAIT_KEYS;
	if (t->kind != WAIT_UNKNOWN)
		return call->form;
	/* With a timeout of a second or more the program may do something after that; shorter ones
	   only pass the time. */
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

/* Judges a thread whose system call can't be seen by where the kernel has put it to sleep. */
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
				/* One thread that reads decides; most others wait for work. */
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

/* Whether one of the run's processes is a server: it listens on a socket that is not local (an
   editor has a local one for its own purposes), or that can't be seen. */
static bool wait_is_serving(void)
{
	struct buffer run = BUFFER_INIT;
	bool found = process_tree_descendants(getpid(), &run) < 0;
	const pid_t *pids = (const pid_t *)run.data;
	for (size_t i = 0; !found && i < run.len / sizeof(*pids); i++) {
		char link[16];
		struct process_walk w;
		int process = pidfd_open(pids[i], 0);
		long fd = process_walk(&w, PROCESS_DESCRIPTORS, pids[i]);
		for (; fd >= 0 && process >= 0 && !found; fd = process_walk_next(&w)) {
			int accepts = 0, domain = AF_UNIX;
			socklen_t size = sizeof(accepts);
			if (!process_walk_link(&w, fd, link, sizeof(link)) ||
			    strncmp(link, "socket:", 7) != 0)
				continue;
			int own = pidfd_getfd(process, (int)fd, 0);
			if (own < 0) {
				found = errno != EBADF && errno != ESRCH;
				continue;
			}
			getsockopt(own, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size);
			getsockopt(own, SOL_SOCKET, SO_DOMAIN, &domain, &size);
			close(own);
			found = accepts && domain != AF_UNIX;
		}
		process_walk_end(&w);
		io_close(&process);
	}
	buffer_release(&run);
	return found;
}

/* Two looks in a row must agree. */
#define AGREED 2

/* How long a program has to react to HUP. */
#define HUP_GRACE_MS 500

void looks_touch(struct looks *l, int64_t now_ms)
{
	l->active_ms = now_ms;
	l->pause_ms = l->first_ms;
	l->at = l->device ? now_ms + (l->sent ? HUP_GRACE_MS : l->first_ms) : 0;
	l->agreed = 0;
	l->prompts = false;
}

/* A look found that it waits, or not. Returns whether looks agree that it waits. */
static bool looks_note(struct looks *l, bool waits, int64_t now_ms, int64_t again_ms,
		       int64_t most_ms)
{
	if (waits) {
		l->at = now_ms + again_ms;
		return ++l->agreed >= AGREED;
	}
	l->agreed = 0;
	l->at = now_ms + l->pause_ms;
	l->pause_ms = l->pause_ms * 3 / 2 < most_ms ? l->pause_ms * 3 / 2 : most_ms;
	return false;
}

void looks_hang_up(struct looks *l)
{
	static const int signals[] = {SIGHUP, SIGTERM, SIGKILL};
	kill(l->wait.pid, signals[l->sent]);
	l->sent += l->sent < 2;
}

#define AGAIN_MS 100

#define PAUSE_MOST_MS 30000

enum keys_found looks_find_keys(struct looks *l, const struct terminal *t, int64_t now_ms)
{
	if (!l->at)
		return KEYS_NOTHING;
	if (l->screen_at && now_ms >= l->screen_at) {
		l->screen_at = 0;
		if (t && terminal_facts(t).is_alternate && !l->reported) {
			l->wait.kind = WAIT_SCREEN;
			l->reported = true;
			return KEYS_WAITS;
		}
	}
	if (now_ms < l->at)
		return KEYS_NOTHING;
	pid_t last = l->wait.pid;
	wait_look(&l->wait, l->device, 0);
	if (l->wait.pid != last)
		l->agreed = l->sent = 0;
	/* Whether it wants single keys. */
	bool screen = (t && terminal_facts(t).is_alternate) || pty_is_raw(l->master);
	/* elinks: its keys would come from its standard input, which has nothing. */
	if (l->wait.kind == WAIT_ALONE && screen)
		l->wait.kind = WAIT_KEYS;
	if (!looks_note(l, l->wait.kind == WAIT_KEYS, now_ms, AGAIN_MS, PAUSE_MOST_MS))
		return KEYS_NOTHING;
	if (l->hangs_up && !l->wait.also && screen && !wait_is_serving()) {
		l->at = now_ms + (l->sent == 1 ? l->grace : HUP_GRACE_MS);
		looks_hang_up(l);
		return l->sent == 1 ? KEYS_HUNG_UP : KEYS_NOTHING;
	}
	l->at = now_ms + l->pause_ms;
	if (l->reported)
		return KEYS_NOTHING;
	l->reported = true;
	return KEYS_WAITS;
}

/* Between looks for a prompt. */
#define MOST_MS 2000

/* How long the terminal has to be quiet where a look is weaker evidence. */
#define POLLS_QUIET_MS  250
#define HIDDEN_QUIET_MS 1500

#define TEXT_MOST ((size_t)200)

bool looks_find_prompt(struct looks *l, struct terminal *t, int64_t now_ms)
{
	if (!l->at || now_ms < l->at)
		return false;
	struct termios modes;
	pid_t group = tcgetpgrp(l->master);
	const int64_t quiet_ms = now_ms - l->active_ms;
	struct wait w = {.input = INPUT_NONE};
	if (group > 0 && tcgetattr(l->master, &modes) == 0)
		wait_look(&w, l->device, group);
	bool seems = w.input == INPUT_READ;
	if ((w.input == INPUT_POLLED && !(modes.c_lflag & ICANON) && quiet_ms >= POLLS_QUIET_MS) ||
	    (w.input == INPUT_HIDDEN && (!(modes.c_lflag & ECHO) || quiet_ms >= HIDDEN_QUIET_MS))) {
		/* Whether the screen looks as if somebody was asked something. */
		struct buffer line = BUFFER_INIT;
		seems = terminal_facts(t).is_alternate ||
			(prompt_text(t, &line) == 0 && line.len > 0);
		buffer_release(&line);
	}
	bool waited = l->prompts;
	if (w.pid != l->wait.pid)
		l->sent = 0;
	l->wait = w;
	l->prompts = looks_note(l, seems, now_ms, LOOK_PROMPT_MS, MOST_MS);
	if (l->prompts)
		l->at = now_ms + MOST_MS;
	return l->prompts && !waited;
}

int prompt_text(struct terminal *t, struct buffer *out)
{
	struct buffer picture = BUFFER_INIT;
	unsigned row, col;
	int result = -1;
	if (terminal_facts(t).is_alternate)
		return 0;
	if (terminal_picture(t, &picture, &row, &col) < 0)
		goto out;
	const char *at = picture.data, *end = at + picture.len;
	while (at < end && --row > 0) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		at = newline ? newline + 1 : end;
	}
	const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
	size_t len = stop ? (size_t)(stop - at) : (size_t)(end - at);
	/* The end of a long question matters most. */
	if (len > TEXT_MOST) {
		size_t from = utf8_floor(at, len, len - TEXT_MOST);
		at += from;
		len -= from;
	}
	if (col > 1 && len > 0)
		utf8_clean(out, at, len);
	/* The picture has no blanks at the ends of rows. */
	size_t columns = 0;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		i += utf8_decode(at + i, len - i, &cp);
		columns += utf8_width(cp);
	}
	if (len > 0 && col > columns + 1)
		buffer_append(out, " ", 1);
	result = buffer_check(out);
out:
	buffer_release(&picture);
	return result;
}
