// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/human.h"
#include "lib/io.h"
#include "lib/loop.h"
#include "lib/proc.h"
#include "lib/quote.h"
#include "lib/trace.h"
#include "supervisor/process/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

/* Bytes that are worth a wake-up. */
#define LEAST (RATE_LIMIT_RATE / 10)

static int64_t rate_limit_used(const struct rate_limit *p, int64_t now_ms)
{
	int64_t over = (now_ms - p->at_ms) * (RATE_LIMIT_RATE / 1000);
	return p->used > over ? p->used - over : 0;
}

void rate_limit_take(struct rate_limit *p, uint64_t bytes, int64_t now_ms)
{
	p->used = rate_limit_used(p, now_ms) + (int64_t)bytes;
	p->at_ms = now_ms;
}

int64_t rate_limit_wait(const struct rate_limit *p, int64_t now_ms)
{
	int64_t taken = rate_limit_used(p, now_ms);
	return taken < RATE_LIMIT_BURST
		       ? 0
		       : (taken - RATE_LIMIT_BURST + LEAST) / (RATE_LIMIT_RATE / 1000);
}

void discard_output(int fds[2])
{
	static char chunk[4096];
	struct rate_limit pace = {0};
	struct loop l;
	loop_begin(&l);
	while (fds[0] >= 0 || fds[1] >= 0) {
		int64_t now = clock_monotonic_ms(), wait = rate_limit_wait(&pace, now);
		if (wait > 0)
			loop_until(&l, now + wait);
		for (int i = 0; i < 2 && wait == 0; i++)
			loop_watch(&l, fds[i], POLLIN, NULL, NULL);
		loop_turn(&l);
		for (int i = 0; i < 2; i++) {
			int end = -1;
			while (fds[i] >= 0 && end < 0 &&
			       rate_limit_wait(&pace, clock_monotonic_ms()) == 0)
				rate_limit_take(
					&pace,
					reader_thread_read(fds[i], chunk, sizeof(chunk), &end),
					clock_monotonic_ms());
			if (end >= 0 && end != EAGAIN)
				io_close(&fds[i]);
		}
	}
}

/* The most holders that are looked at; any others do not count as daemons. */
#define HOLDERS 64

void lingering_look(struct lingering *l, const int fds[2])
{
	struct buffer who = BUFFER_INIT;
	int all = pipe_holder_find(fds, 2, l->holders, LINGERING_HOLDERS);
	l->count = all < LINGERING_HOLDERS ? all : LINGERING_HOLDERS;
	if (all > 0)
		quote_text(&who, l->holders[0].name, strlen(l->holders[0].name), 0);
	if (all > 1)
		buffer_printf(&who, " and %d other%s still write", all - 1, all > 2 ? "s" : "");
	else if (all > 0)
		buffer_append_string(&who, " still writes");
	snprintf(l->who, sizeof(l->who), "%s", buffer_string(&who) ? who.data : "");
	buffer_release(&who);
}

/* A shell's child on its way to read a pipe (`> >(reader)`) holds both ends of it for a moment. */
static bool is_on_its_way(pid_t pid)
{
	struct process p;
	struct process_walk w;
	char link[64], ends[2][64] = {"", ""};
	bool found = false;
	if (process_read(pid, &p) < 0 || !p.forked)
		return false;
	for (long fd = process_walk(&w, PROCESS_DESCRIPTORS, pid); fd >= 0 && !found;
	     fd = process_walk_next(&w)) {
		if (!process_walk_link(&w, fd, link, sizeof(link)) ||
		    strncmp(link, "pipe:", 5) != 0)
			continue;
		char *end = ends[process_can_read(pid, (unsigned long)fd, NULL)];
		snprintf(end, sizeof(ends[0]), "%s", link);
		found = strcmp(ends[0], ends[1]) == 0;
	}
	process_walk_end(&w);
	return found;
}

/* Whether its standard input is such a pipe. Opened once more, a pipe tells that it has no writer.
 */
static bool is_finishing(pid_t pid, const struct stat *input, bool just_ended)
{
	struct stat st;
	struct process process;
	if (just_ended && process_read(pid, &process) == 0 && process.forked)
		return true;
	if (is_on_its_way(pid))
		return true;
	if (process_stat(pid, STDIN_FILENO, &st) < 0 || !S_ISFIFO(st.st_mode) ||
	    (st.st_dev == input->st_dev && st.st_ino == input->st_ino))
		return false;
	struct pollfd p = {.fd = process_open(pid, "fd/0"), .events = POLLIN};
	bool finishing = p.fd >= 0 && poll(&p, 1, 0) > 0 && (p.revents & POLLHUP);
	io_close(&p.fd);
	return finishing;
}

bool lingering_finishes(const struct lingering *l, const struct stat *input, bool just_ended)
{
	bool any = false;
	for (int i = 0; i < l->count && !any; i++)
		any = is_finishing(l->holders[i].pid, input, just_ended);
	return any;
}

void lingering_begin(struct lingering *l, const struct settings *settings, int64_t now_ms)
{
	l->settings = settings;
	l->end_at = settings->linger ? now_ms + settings->linger : 0;
	l->idle_at = settings->linger_idle ? now_ms + settings->linger_idle : 0;
}

void lingering_came(struct lingering *l, uint64_t bytes, int64_t now_ms)
{
	if (!l->settings || bytes == 0)
		return;
	rate_limit_take(&l->pace, bytes, now_ms);
	if (l->idle_at)
		l->idle_at = now_ms + l->settings->linger_idle;
}

void lingering_end(struct lingering *l, const char *why)
{
	snprintf(l->why, sizeof(l->why), "%s", why);
}

int64_t lingering_due(const struct lingering *l, int64_t now_ms)
{
	int64_t pause = rate_limit_wait(&l->pace, now_ms), due = l->end_at;
	if (l->idle_at && (!due || l->idle_at < due))
		due = l->idle_at;
	if (pause && (!due || now_ms + pause < due))
		due = now_ms + pause;
	return due;
}

bool lingering_is_over(struct lingering *l, const int fds[2], int64_t now_ms)
{
	char time[HUMAN_LEN];
	if (*l->why)
		return true;
	if (l->end_at && now_ms >= l->end_at) {
		snprintf(l->why, sizeof(l->why), "%s after the command ([run] linger)",
			 human_duration(time, l->settings->linger));
	} else if (l->idle_at && now_ms >= l->idle_at) {
		l->idle_at = now_ms + l->settings->linger_idle;
		/* A process with a session of its own needs no terminal, so the supervisor does not
		   stay for it. */
		struct pipe_holder found[HOLDERS];
		int count = pipe_holder_find(fds, 2, found, HOLDERS), daemons = 0;
		for (int i = 0; i < count && i < HOLDERS; i++)
			daemons += found[i].session != getpid();
		if (count > 0 && daemons == count)
			snprintf(l->why, sizeof(l->why), "silent for %s ([run] linger_idle)",
				 human_duration(time, l->settings->linger_idle));
	}
	if (*l->why)
		TRACE(PROCESS, "supervisor: the recording ends: %s", l->why);
	return *l->why;
}
