// See supervisor_internal.h.

#include "supervisor/process/supervisor_internal.h"

#include "lib/human.h"
#include "lib/io.h"
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

/* The most readings of the lists, which are repeated until two in a row agree. */
#define READINGS 8

/* The most descendants that are looked for: a fork bomb has no end. */
#define DESCENDANTS ((size_t)4096)

struct process_tree_pair {
	pid_t pid, parent;
};

/* Appends the kernel's list of children for each thread of the process. Returns how many lists
   there were. */
static int process_tree_read_lists(pid_t parent, struct buffer *out)
{
	struct process_walk w;
	int count = 0;
	buffer_clear(out);
	for (long tid = process_walk(&w, PROCESS_THREADS, parent); tid >= 0;
	     tid = process_walk_next(&w)) {
		int fd = process_open(parent, "task/%ld/children", tid);
		count += fd >= 0 && io_read_all(fd, out, SIZE_MAX) == 0;
		io_close(&fd);
	}
	process_walk_end(&w);
	return count;
}

/* Finds the children in the lists. If a child ends while a list is read, the kernel skips another
   child; if a thread ends, its children go to another thread. A child that has ended is missing in
   the next reading, so if two readings agree, nobody was skipped. Returns 0, or -1 if no two agree,
   or if the kernel keeps no lists. */
static int process_tree_list(pid_t parent, struct buffer *out)
{
	struct buffer text[2] = {BUFFER_INIT, BUFFER_INIT};
	int lists = process_tree_read_lists(parent, &text[0]), result = -1;
	for (int i = 1; lists > 0 && result < 0 && i <= READINGS; i++) {
		lists = process_tree_read_lists(parent, &text[i % 2]);
		if (buffer_is(&text[0], text[1].data, text[1].len))
			result = 0;
	}
	const char *at = result == 0 ? buffer_string(&text[0]) : NULL;
	char *end;
	for (long pid; at && (pid = strtol(at, &end, 10)) > 0; at = end) {
		const pid_t child = (pid_t)pid;
		buffer_append(out, &child, sizeof(child));
	}
	/* A process that is gone or hidden has no children. */
	if (lists == 0)
		result = access("/proc/thread-self/children", F_OK);
	else if (!at)
		result = -1;
	buffer_release(&text[0]);
	buffer_release(&text[1]);
	return result < 0 ? -1 : buffer_check(out);
}

int process_tree_children(struct process_tree *k, pid_t parent, struct buffer *out)
{
	buffer_clear(out);
	k->passes = k->passes || process_tree_list(parent, out) < 0;
	if (!k->passes)
		return 0;
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

int pipe_holder_find(const int fds[2], struct process *found, int most)
{
	char ends[2][64], link[64];
	struct process_walk w, descriptors;
	struct process p;
	int known = 0, there = 0;
	/* Finds the names that the command's ends of the channels have in /proc. Both ends of a
	   pipe have the same name. */
	for (int i = 0; i < 2; i++) {
		struct stat st;
		int number;
		if (fds[i] < 0 || fstat(fds[i], &st) < 0)
			continue;
		if (S_ISFIFO(st.st_mode))
			snprintf(ends[known++], sizeof(link), "pipe:[%llu]",
				 (unsigned long long)st.st_ino);
		else if (ioctl(fds[i], TIOCGPTN, &number) == 0)
			snprintf(ends[known++], sizeof(link), "/dev/pts/%d", number);
	}
	if (known == 0)
		return 0;
	for (long pid = process_walk(&w, PROCESS_ALL, 0); pid >= 0; pid = process_walk_next(&w)) {
		bool holds = false;
		if (pid == getpid())
			continue;
		for (long fd = process_walk(&descriptors, PROCESS_DESCRIPTORS, (pid_t)pid);
		     fd >= 0 && !holds; fd = process_walk_next(&descriptors)) {
			if (process_walk_link(&descriptors, fd, link, sizeof(link)))
				holds = strcmp(ends[0], link) == 0 ||
					(known > 1 && strcmp(ends[1], link) == 0);
		}
		process_walk_end(&descriptors);
		if (!holds || process_read((pid_t)pid, &p) < 0)
			continue;
		if (there < most)
			found[there] = p;
		there++;
	}
	process_walk_end(&w);
	return there;
}

/* HUP_GRACE_MS: how soon TERM follows HUP. LOOK_MS: the interval between checks whether all
   processes are gone. If KILL does not help (a process hangs in the kernel), that interval grows up
   to LOOK_MOST_MS. */
#define HUP_GRACE_MS 100
#define LOOK_MS      20
#define LOOK_MOST_MS 1000

static bool is_member(pid_t pid, const struct tree_end *e)
{
	struct process p;
	return process_read(pid, &p) == 0 && (p.session == e->session || pid == e->command) &&
	       process_is_alive(&p);
}

/* `resume`: also continues stopped processes, which get the signal only then. */
static int send_to_all(const struct tree_end *e, int sig, bool resume)
{
	struct process_walk w;
	int count = 0, seen = 0;
	/* Sessions 0 and 1 are never those of a run: 1 is init's, and 0 stands for every session
	   that began outside the container. Only the leader of a session may end that session. */
	if (e->session <= 1 || (e->session != getpid() && e->session == getsid(0)))
		return 0;
	for (long n = process_walk(&w, PROCESS_ALL, 0); n >= 0; n = process_walk_next(&w)) {
		const pid_t pid = (pid_t)n;
		seen++;
		if (pid <= 1 || pid == e->session || pid == getpid() || !is_member(pid, e))
			continue;
		count++;
		/* Uses a pidfd, so that a recycled PID is never signalled. */
		int fd = sig ? pidfd_open(pid, 0) : -1;
		if (fd >= 0 && is_member(pid, e) && pidfd_send_signal(fd, sig, NULL, 0) == 0 &&
		    resume)
			pidfd_send_signal(fd, SIGCONT, NULL, 0);
		/* The kernel lacks pidfds, or a sandbox forbids them. */
		if (sig && fd < 0 && errno != ESRCH && kill(pid, sig) == 0 && resume)
			kill(pid, SIGCONT);
		io_close(&fd);
	}
	process_walk_end(&w);
	/* If /proc can't be read, signals the command's process group instead. */
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

bool tree_end_step(struct tree_end *e, int first, int64_t now_ms)
{
	static const int signals[] = {
		[TREE_HUP] = SIGHUP, [TREE_TERM] = SIGTERM, [TREE_KILL] = SIGKILL};
	const bool begins = e->step < first, due = begins || now_ms >= e->next_ms;
	if (!due && now_ms < e->look_ms)
		return true;
	if (begins)
		e->step = first;
	else if (due && e->step < TREE_KILL)
		e->step++;
	if (due) {
		TRACE(SIGNALS, "%s to session %d", HUMAN_SIGNAL(signals[e->step]), (int)e->session);
		if (e->step == TREE_KILL)
			e->pause_ms = e->pause_ms ? e->pause_ms * 2 : LOOK_MS;
		if (e->pause_ms > LOOK_MOST_MS)
			e->pause_ms = LOOK_MOST_MS;
		e->next_ms = now_ms + (e->step == TREE_HUP    ? HUP_GRACE_MS
				       : e->step == TREE_TERM ? e->grace_ms
							      : e->pause_ms);
	}
	int left = send_to_all(e, due ? signals[e->step] : 0, due && e->step < TREE_KILL);
	e->look_ms = e->step == TREE_KILL ? e->next_ms : now_ms + LOOK_MS;
	return left > 0;
}
