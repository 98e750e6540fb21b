// See process_tree.h.

#include "supervisor/process/process_tree.h"

#include "lib/io.h"
#include "lib/proc.h"
#include "lib/trace.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* Readings of the lists until two in a row agree. */
#define READINGS 8

/* Descendants to look for: a fork bomb has no end. */
#define DESCENDANTS ((size_t)4096)

struct process_tree_pair {
	pid_t pid, parent;
};

/* Reads the kernel's lists of each thread's children, one behind the other. Returns how many lists
   there were. */
static int process_tree_read_lists(pid_t parent, struct buffer *out)
{
	struct process_walk w;
	int count = 0;
	buffer_clear(out);
	for (long tid = process_walk(&w, PROCESS_THREADS, parent); tid >= 0;
	     tid = process_walk_next(&w)) {
		int fd = process_open(parent, "task/%ld/children", tid);
		ssize_t n = -1;
		while (fd >= 0 && buffer_reserve(out, 1024) == 0) {
			n = io_read(fd, out->data + out->len, out->cap - out->len);
			if (n <= 0)
				break;
			out->len += (size_t)n;
		}
		io_close(&fd);
		count += n == 0;
	}
	process_walk_end(&w);
	return count;
}

/* While a list is read, a child that ends makes the kernel skip another, and a thread that ends
   leaves its children to another one. The one that has gone is missing in the next reading, so two
   readings that agree have skipped nobody. Returns 0, or -1 if no two agree. */
static int process_tree_read_steady(pid_t parent, struct buffer *text)
{
	struct buffer again = BUFFER_INIT;
	int result = -1, lists = process_tree_read_lists(parent, text);
	for (int i = 0; lists > 0 && result < 0 && i < READINGS; i++) {
		lists = process_tree_read_lists(parent, &again);
		if (buffer_is(text, again.data, again.len))
			result = 0;
		struct buffer other = *text;
		*text = again;
		again = other;
	}
	buffer_release(&again);
	/* A process that is gone or hidden has no children; otherwise the kernel keeps no lists. */
	if (lists == 0 && access("/proc/thread-self/children", F_OK) == 0) {
		buffer_clear(text);
		return 0;
	}
	return result;
}

int process_tree_children(struct process_tree *k, pid_t parent, struct buffer *out)
{
	buffer_clear(out);
	if (!k->passes) {
		struct buffer text = BUFFER_INIT;
		bool is_steady = process_tree_read_steady(parent, &text) == 0;
		const char *at = is_steady ? buffer_string(&text) : NULL;
		char *end;
		k->passes = !at;
		for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end) {
			const pid_t child = (pid_t)pid;
			buffer_append(out, &child, sizeof(child));
		}
		buffer_release(&text);
		if (!k->passes && buffer_check(out) == 0)
			return 0;
	}
	k->passes = true;
	buffer_clear(out);
	if (k->all.len == 0) {
		struct process_walk w;
		struct process p;
		for (long pid = process_walk(&w, PROCESS_ALL, 0); pid >= 0;
		     pid = process_walk_next(&w)) {
			if (process_read((pid_t)pid, &p) < 0)
				continue;
			const struct process_tree_pair pair = {p.pid, p.parent};
			buffer_append(&k->all, &pair, sizeof(pair));
		}
		process_walk_end(&w);
	}
	const struct process_tree_pair *pairs = (const struct process_tree_pair *)k->all.data;
	for (size_t i = 0; i < k->all.len / sizeof(*pairs); i++) {
		if (pairs[i].parent == parent)
			buffer_append(out, &pairs[i].pid, sizeof(pairs[i].pid));
	}
	return buffer_check(&k->all) < 0 ? -1 : buffer_check(out);
}

int process_tree_descendants(pid_t parent, struct buffer *out)
{
	struct process_tree k = {.passes = false};
	struct buffer children = BUFFER_INIT;
	int result = process_tree_children(&k, parent, out);
	for (size_t at = 0; at < out->len && at < DESCENDANTS * sizeof(pid_t);
	     at += sizeof(pid_t)) {
		pid_t pid;
		memcpy(&pid, out->data + at, sizeof(pid));
		if (process_tree_children(&k, pid, &children) < 0)
			result = -1;
		buffer_append(out, children.data, children.len);
	}
	process_tree_release(&k);
	buffer_release(&children);
	return result < 0 ? -1 : buffer_check(out);
}

void process_tree_release(struct process_tree *k)
{
	buffer_release(&k->all);
}

/* Channels at most: standard output and error. */
#define CHANNELS 2

/* The name of an open end in /proc/PID/fd. */
struct end {
	char link[64];
};

static bool pipe_holder_holds(pid_t pid, const struct end *ends, int count)
{
	char link[sizeof(ends->link)];
	struct process_walk w;
	bool found = false;
	for (long fd = process_walk(&w, PROCESS_DESCRIPTORS, pid); fd >= 0 && !found;
	     fd = process_walk_next(&w)) {
		if (!process_walk_link(&w, fd, link, sizeof(link)))
			continue;
		for (int i = 0; i < count; i++)
			found |= strcmp(ends[i].link, link) == 0;
	}
	process_walk_end(&w);
	return found;
}

int pipe_holder_find(const int *fds, int count, struct pipe_holder *found, int most)
{
	struct end ends[CHANNELS];
	struct process_walk w;
	struct process p;
	int known = 0, there = 0;
	/* The command's ends of the channels. Both ends of a pipe have one name. */
	for (int i = 0; i < count && known < CHANNELS; i++) {
		struct stat st;
		int number;
		if (fds[i] < 0 || fstat(fds[i], &st) < 0)
			continue;
		if (S_ISFIFO(st.st_mode))
			snprintf(ends[known++].link, sizeof(ends->link), "pipe:[%llu]",
				 (unsigned long long)st.st_ino);
		else if (ioctl(fds[i], TIOCGPTN, &number) == 0)
			snprintf(ends[known++].link, sizeof(ends->link), "/dev/pts/%d", number);
	}
	if (known == 0)
		return 0;
	for (long pid = process_walk(&w, PROCESS_ALL, 0); pid >= 0; pid = process_walk_next(&w)) {
		if (pid == getpid() || !pipe_holder_holds((pid_t)pid, ends, known) ||
		    process_read((pid_t)pid, &p) < 0)
			continue;
		if (there < most) {
			found[there] = (struct pipe_holder){.pid = p.pid, .session = p.session};
			memcpy(found[there].name, p.name, sizeof(found->name));
		}
		there++;
	}
	process_walk_end(&w);
	return there;
}

/* How soon TERM follows HUP, and the interval between checks whether all have gone, which grows
   where KILL does not help (a process that hangs in the kernel). */
#define HUP_GRACE_MS 100
#define LOOK_MS      20
#define LOOK_MOST_MS 1000

static bool is_member(pid_t pid, const struct tree_end *e)
{
	struct process p;
	return process_read(pid, &p) == 0 && (p.session == e->session || pid == e->command) &&
	       process_is_alive(&p);
}

/* Uses a pidfd, so that a recycled PID is never signalled. */
static void tree_end_signal(pid_t pid, const struct tree_end *e, int sig, bool resume)
{
	int fd = pidfd_open(pid, 0);
	if (fd < 0) {
		/* Too old a kernel, or forbidden. */
		if (errno != ESRCH && kill(pid, sig) == 0 && resume)
			kill(pid, SIGCONT);
		return;
	}
	if (is_member(pid, e) && pidfd_send_signal(fd, sig, NULL, 0) == 0 && resume)
		pidfd_send_signal(fd, SIGCONT, NULL, 0);
	close(fd);
}

/* `resume`: stopped ones are continued, so that they get the signal. */
static int send_to_all(const struct tree_end *e, int sig, bool resume)
{
	struct process_walk w;
	int count = 0, seen = 0;
	/* Below 2 it is nobody's: 0 is what all processes have whose session began outside of a
	   container. A process ends its own session only if it leads it. */
	if (e->session <= 1 || (e->session != getpid() && e->session == getsid(0)))
		return 0;
	for (long pid = process_walk(&w, PROCESS_ALL, 0); pid >= 0; pid = process_walk_next(&w)) {
		seen++;
		if (pid <= 1 || pid == e->session || pid == getpid() || !is_member((pid_t)pid, e))
			continue;
		count++;
		if (sig)
			tree_end_signal((pid_t)pid, e, sig, resume);
	}
	process_walk_end(&w);
	/* Where /proc can't be read, the command's process group has to do. */
	if (seen || e->group <= 1 || kill(-e->group, sig) < 0)
		return count;
	if (resume)
		kill(-e->group, SIGCONT);
	return 1;
}

int tree_signal(pid_t session, int sig)
{
	const struct tree_end e = {.session = session};
	return send_to_all(&e, sig, false);
}

static int take_step(struct tree_end *e, int64_t now_ms)
{
	static const char *const names[] = {
		[TREE_HUP] = "HUP", [TREE_TERM] = "TERM", [TREE_KILL] = "KILL"};
	TRACE(SIGNALS, "SIG%s to session %d", names[e->step], (int)e->session);
	switch (e->step) {
	case TREE_HUP: e->next_ms = now_ms + HUP_GRACE_MS; return send_to_all(e, SIGHUP, true);
	case TREE_TERM: e->next_ms = now_ms + e->grace_ms; return send_to_all(e, SIGTERM, true);
	default:
		e->pause_ms = e->pause_ms ? e->pause_ms * 2 : LOOK_MS;
		if (e->pause_ms > LOOK_MOST_MS)
			e->pause_ms = LOOK_MOST_MS;
		e->next_ms = now_ms + e->pause_ms;
		return send_to_all(e, SIGKILL, false);
	}
}

bool tree_end_step(struct tree_end *e, int first, int64_t now_ms)
{
	int left;
	if (e->step < first) {
		e->step = first;
		left = take_step(e, now_ms);
	} else if (now_ms >= e->next_ms) {
		if (e->step < TREE_KILL)
			e->step++;
		left = take_step(e, now_ms);
	} else if (now_ms >= e->look_ms) {
		left = send_to_all(e, 0, false);
	} else {
		return true;
	}
	e->look_ms = now_ms + LOOK_MS;
	if (e->step == TREE_KILL)
		e->look_ms = e->next_ms;
	return left > 0;
}
