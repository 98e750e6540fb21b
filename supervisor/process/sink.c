// See sink.h.

#include "supervisor/process/sink.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"
#include "supervisor/process/supervisor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* Bounds a walk up the ancestors, whose PIDs may be reused while it runs. Real chains of shells are
   shorter. */
#define ANCESTORS_MAX 32

static bool sink_is_null(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

enum sink sink_of(int fd, struct stat *st)
{
	st->st_mode = 0;
	/* If fstat() fails, the streams are split and lose their order, so it gets a second try. */
	if (fstat(fd, st) < 0 && (errno == EBADF || fstat(fd, st) < 0))
		return errno == EBADF ? SINK_CLOSED : SINK_FILE;
	switch (st->st_mode & S_IFMT) {
	case S_IFSOCK: return SINK_AGENT;
	case S_IFIFO: return SINK_PIPE;
	case S_IFCHR: return !sink_is_null(st) && isatty(fd) ? SINK_PERSON : SINK_FILE;
	default: return SINK_FILE;
	}
}

bool sink_is_same(int a, const struct stat *x, int b, const struct stat *y)
{
	if (!x->st_mode || !y->st_mode || x->st_dev != y->st_dev || x->st_ino != y->st_ino)
		return false;
	if (!S_ISREG(x->st_mode))
		return true;
	/* Two opens of a regular file have separate positions. With >>f 2>>f this does not matter,
	   since each write goes to the end of the file. */
	pid_t self = getpid();
	int flags = fcntl(a, F_GETFL), other = fcntl(b, F_GETFL);
	if (flags >= 0 && other >= 0 && flags & other & O_APPEND)
		return true;
	long order = syscall(SYS_kcmp, self, self, KCMP_FILE, a, b);
	if (order >= 0)
		return order == 0;
	/* The kernel lacks kcmp(2) or forbids it, as in many containers. Two descriptors at the
	   same position then count as one open file, since two open files would overwrite each
	   other, which hardly anybody wants. */
	return flags == other && lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR);
}

static const char *const shells[] = {"sh",      "bash", "dash", "zsh",   "ksh",  "mksh",
				     "fish",    "ash",  "yash", "rbash", "tcsh", "csh",
				     "busybox", "nu",   "pwsh", NULL};

static const char *const itself[] = {"terse", NULL};

/* Programs that run a command as another user. /proc hides their descriptors, but they do not read
   the pipe. */
static const char *const switches[] = {"sudo", "su", "doas", "runuser", "pkexec", NULL};

/* Whether the name is in the list, perhaps with a version or suffix: "bash", "bash-5.2", "ksh93",
   "bash (deleted)". */
static bool sink_is_in(const char *const *names, const char *name)
{
	for (; *names; names++) {
		size_t len = strlen(*names);
		if (strncmp(name, *names, len) != 0)
			continue;
		const char *rest = name + len;
		if (rest[strspn(rest, "-.0123456789")] == '\0' || strcmp(rest, " (deleted)") == 0)
			return true;
	}
	return false;
}

static bool sink_runs(pid_t pid, const char *const *names)
{
	char program[PATH_MAX];
	if (process_link(pid, program, sizeof(program), "exe") <= 0)
		return false;
	const char *slash = strrchr(program, '/');
	return sink_is_in(names, slash ? slash + 1 : program);
}

struct ancestor {
	pid_t pid;
	bool shell;  /* it is a shell, so a child whose descriptors are hidden may read the pipe */
	bool hidden; /* its descriptors can't be seen */
	bool holds;  /* it holds the reading end, or is hidden */
	long end;    /* if `holds`, its descriptor of the reading end; -1: not known */
};

/* READS_UNTIL_EXEC: the next exec closes the process's end of the pipe. */
enum reading { READS_STDIN, READS, READS_UNTIL_EXEC, READS_NOT, HIDDEN };

/* How the process reads the pipe through this descriptor of it. */
static enum reading sink_reading(pid_t pid, long fd)
{
	bool until_exec;
	if (!process_can_read(pid, (unsigned long)fd, &until_exec))
		return READS_NOT;
	return fd == STDIN_FILENO ? READS_STDIN : until_exec ? READS_UNTIL_EXEC : READS;
}

/* Judges a process whose descriptors can't be listed or followed. */
static enum reading sink_unseen(pid_t pid)
{
	struct process p;
	return errno == EACCES && process_read(pid, &p) == 0 && p.state != 'Z' ? HIDDEN : READS_NOT;
}

/* Looks at standard input alone: most readers have the pipe there. A child gets the pipe by
   inheriting the end that `parent` has. kcmp(2), where it is allowed, shows whether the child's
   standard input is that end, in a tenth of the time of a first look into /proc/PID. */
static enum reading sink_look_at_input(pid_t pid, const struct ancestor *parent, const char *link)
{
	char target[64];
	if (parent->end >= 0 &&
	    syscall(SYS_kcmp, parent->pid, pid, KCMP_FILE, parent->end, STDIN_FILENO) > 0)
		return READS_NOT;
	if (process_link(pid, target, sizeof(target), "fd/0") <= 0)
		return sink_unseen(pid);
	return strcmp(target, link) == 0 ? sink_reading(pid, STDIN_FILENO) : READS_NOT;
}

/* The most passes over the descriptors, which are repeated until nothing has moved. */
#define PASSES 8

/* Whether a process reads the pipe. A shell's child that is about to exec moves its end of the pipe
   to standard input: the end may move to a descriptor that was looked at before, while the listed
   one is gone. */
static enum reading sink_look_at(pid_t pid, const char *link, long *end)
{
	struct process_walk w;
	char target[64];
	enum reading reading = READS_NOT;
	bool moved = true;
	for (int i = 0; i < PASSES && moved && reading == READS_NOT; i++) {
		moved = false;
		long fd = process_walk(&w, PROCESS_DESCRIPTORS, pid);
		if (!w.dir)
			return sink_unseen(pid);
		for (; fd >= 0 && reading == READS_NOT; fd = process_walk_next(&w)) {
			bool is_there = process_walk_link(&w, fd, target, sizeof(target));
			/* If one link is hidden, all are. */
			if (!is_there && errno == EACCES) {
				reading = HIDDEN;
				break;
			}
			if (is_there && strcmp(target, link) == 0) {
				reading = sink_reading(pid, fd);
				*end = fd;
				/* Checks that the descriptor was still there after the test. */
				is_there = process_walk_link(&w, fd, target, sizeof(target));
			}
			moved |= !is_there;
		}
		process_walk_end(&w);
	}
	return reading;
}

#define EXEC_MS 100

/* `terse A | terse B`: the reader is B, below the second front end and its supervisor. */
#define BELOW_TERSE 3

/* If a parent has at most CHILDREN_MAX children, all descriptors of each child are looked at. If an
   agent that a rule knows holds the reading end and has more children, all descriptors of NEAR_MAX
   children are looked at, and the standard input of up to INPUTS_MAX. */
#define CHILDREN_MAX 32
#define NEAR_MAX     4
#define INPUTS_MAX   1024

struct search {
	const struct settings *settings;
	struct process_tree tree;
	char link[64]; /* the pipe's name */
};

static enum reading sink_look_until_exec(pid_t pid, const char *link)
{
	const struct timespec step = {.tv_nsec = 1000000};
	long end;
	enum reading reading = sink_look_at(pid, link, &end);
	/* Between fork and exec a child holds every descriptor of its parent. Such a child is seen
	   when an agent starts commands from several threads. */
	for (int ms = 0; reading == READS_UNTIL_EXEC && ms < EXEC_MS; ms++) {
		nanosleep(&step, NULL);
		reading = sink_look_at(pid, link, &end);
	}
	return reading;
}

static int compare_pids(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
	return (x > y) - (x < y);
}

/* Sorts the children by the distance of their process IDs to `except`, which is left out: processes
   that were started together come first. */
static void sort_by_distance(struct buffer *children, pid_t except)
{
	pid_t *pids = (pid_t *)children->data;
	size_t count = children->len / sizeof(*pids), kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (pids[i] != except)
			pids[kept++] = abs(pids[i] - except) * 2 + (pids[i] < except);
	}
	if (kept > 1)
		qsort(pids, kept, sizeof(*pids), compare_pids);
	for (size_t i = 0; i < kept; i++)
		pids[i] = except + (pids[i] & 1 ? -(pids[i] / 2) : pids[i] / 2);
	children->len = kept * sizeof(*pids);
}

/* Whether a child of `parent` other than `except` reads the pipe. `below`: levels to search below a
   child that is terse itself. */
static bool child_reads_pipe(struct search *s, const struct ancestor *parent, pid_t except,
			     int below)
{
	struct buffer children = BUFFER_INIT;
	struct process p;
	bool found = process_tree_children(&s->tree, parent->pid, &children) < 0;
	if (!found)
		sort_by_distance(&children, except);
	const pid_t *pids = (const pid_t *)children.data;
	size_t count = children.len / sizeof(*pids), whole = count;
	if (count > CHILDREN_MAX) {
		bool known = parent->holds && rule_ancestor(s->settings, NULL, parent->pid, &p) &&
			     p.pid == parent->pid;
		found = !known && !parent->hidden;
		whole = NEAR_MAX;
		TRACE(SINK, "%zu children of %d: %s", count, (int)parent->pid,
		      found ? "too many to look at" : "standard input of most");
	}
	for (size_t i = 0; !found && i < count && i < INPUTS_MAX; i++) {
		enum reading reading = i < whole ? sink_look_until_exec(pids[i], s->link)
						 : sink_look_at_input(pids[i], parent, s->link);
		/* If the parent is hidden, all processes of its user are, so there is nothing to
		   see. */
		if (reading == HIDDEN && parent->hidden)
			break;
		found = reading <= READS_UNTIL_EXEC || (reading == HIDDEN && parent->shell);
		if (found)
			TRACE(SINK, "child %d of %d reads", (int)pids[i], (int)parent->pid);
		bool inside = below < BELOW_TERSE; /* the search is below another terse already */
		if (found || below == 0 || i >= whole || (!inside && !sink_runs(pids[i], itself)))
			continue;
		/* The reader may have been started since the last pass. */
		process_tree_release(&s->tree);
		const struct ancestor terse = {.pid = pids[i], .end = -1};
		found = child_reads_pipe(s, &terse, except, below - 1);
	}
	buffer_release(&children);
	return found;
}

enum sink sink_of_pipe(const struct settings *settings, int fd, pid_t writer, pid_t parent)
{
	struct ancestor up[ANCESTORS_MAX];
	struct search s = {.settings = settings};
	struct process p;
	int count = 0;
	bool found = false;
	/* A named FIFO is for programs; its reader may not even have opened it yet. */
	if (process_link(0, s.link, sizeof(s.link), "fd/%d", fd) <= 0 ||
	    strncmp(s.link, "pipe:", 5) != 0)
		return SINK_PROGRAM;
	/* The writer may have been killed. */
	if (process_read(writer, &p) == 0)
		parent = p.parent;
	/* Looks at the ancestors first (timeout, sudo, xargs ...), up to one that holds the reading
	   end: a shell holds it until it has started the reader, which is then one of the shell's
	   children. */
	for (bool holds = false; !found && !holds && count < ANCESTORS_MAX && parent > 0;
	     parent = p.parent) {
		/* An ancestor that can't be seen may be a program that reads. */
		if (process_read(parent, &p) < 0) {
			found = true;
			break;
		}
		/* A process that executes a script has the script's name, so the file name of its
		   interpreter is checked, too. */
		bool shell = sink_is_in(shells, p.name) || sink_runs(parent, shells);
		struct ancestor *a = &up[count++];
		*a = (struct ancestor){.pid = parent, .shell = shell, .end = -1};
		enum reading reading = sink_look_at(parent, s.link, &a->end);
		TRACE(SINK, "above: %d %s%s%s", (int)parent, p.name, shell ? ", a shell" : "",
		      reading <= READS_UNTIL_EXEC ? ", has the reading end" : "");
		/* Some shells execute the last program of a pipeline in their own process. */
		found = reading == READS_STDIN || (reading != READS_NOT && shell);
		a->hidden = reading == HIDDEN && !sink_is_in(switches, p.name);
		holds = a->holds = a->hidden || reading == READS || reading == READS_UNTIL_EXEC;
	}
	/* `terse ... > >(reader)`: the process that becomes terse is the reader's parent. */
	const struct ancestor self = {.pid = writer, .end = -1};
	found = found || child_reads_pipe(&s, &self, getpid(), 0);
	for (int i = 0; !found && i < count; i++)
		found = child_reads_pipe(&s, &up[i], i ? up[i - 1].pid : writer, BELOW_TERSE);
	process_tree_release(&s.tree);
	TRACE(SINK, "descriptor %d: %s reads %s", fd, found ? "a program" : "an agent", s.link);
	return found ? SINK_PROGRAM : SINK_AGENT;
}

static void channels_look_into(struct channels *l, int i, const struct settings *s)
{
	if (l->sink[i] == SINK_PIPE)
		l->sink[i] = sink_of_pipe(s, STDOUT_FILENO + i, getpid(), getppid());
}

/* `later`: somebody may type to the command later (terse send). */
static enum channel channel_for(const struct channels *l, int i, const struct settings *s,
				bool later)
{
	switch (l->sink[i]) {
	case SINK_CLOSED: return CHANNEL_INHERIT;
	case SINK_PERSON:
		/* Standard output goes elsewhere, so standard error stays the person's terminal. */
		if (i == 1 && !l->person)
			return CHANNEL_INHERIT;
		break;
	case SINK_FILE:
		/* The command gets the file itself, unless a setting needs terse between the
		   command and the file. */
		if (!s->redact && s->redact_patterns.count == 0 && !s->record &&
		    s->pty != TRI_YES && s->print != PRINT_FULL && !later)
			return CHANNEL_INHERIT;
		/* fallthrough */
	case SINK_PROGRAM:
		if (s->pty == TRI_YES || (later && s->pty == TRI_AUTO && i == 0))
			return CHANNEL_PTY;
		return CHANNEL_PIPE;
	default: break;
	}
	return s->pty == TRI_NO ? CHANNEL_PIPE : CHANNEL_PTY;
}

void channels_look(struct channels *l)
{
	*l = (struct channels){.keyboard = -1};
	l->typed = sink_of(STDIN_FILENO, &l->given[0]) == SINK_PERSON;
	for (int i = 0; i < 2; i++)
		l->sink[i] = sink_of(STDOUT_FILENO + i, &l->given[1 + i]);
}

void channels_decide(struct channels *l, const struct settings *s, bool captured, bool jobs)
{
	static const char *const sinks[] = {"a person", "an agent", "a program",
					    "a file",   "a pipe",   "nobody"};
	static const char *const channels[] = {"a pty", "a pipe", "inherited",
					       "merged with stdout"};
	const bool later = s->yield > 0 || s->detach;
	for (int i = 0; i < 2; i++) {
		enum sink sink = l->sink[i];
		/* Some agents collect output in a file. */
		if (sink == SINK_FILE && s->agent &&
		    rule_has_file(s, s->agent, RULE_OUTPUT, STDOUT_FILENO + i))
			sink = SINK_AGENT;
		bool is_forced = s->print == PRINT_PREVIEW || s->format != FORMAT_TEXT;
		if ((is_forced && sink != SINK_CLOSED) || (captured && sink == SINK_PERSON))
			sink = SINK_AGENT;
		l->sink[i] = sink;
	}
	/* The streams are merged with --detach, where nobody reads them separately, and stay
	   separate in JSON. */
	bool merged = s->streams == STREAMS_MERGED || (s->streams == STREAMS_AUTO && s->detach);
	if (s->streams == STREAMS_AUTO && !s->detach && s->format == FORMAT_TEXT) {
		merged = sink_is_same(STDOUT_FILENO, &l->given[1], STDERR_FILENO, &l->given[2]);
		if (!merged) {
			channels_look_into(l, 0, s);
			channels_look_into(l, 1, s);
			merged = l->sink[0] == SINK_AGENT && l->sink[1] == SINK_AGENT;
		}
	}
	l->person = l->sink[0] == SINK_PERSON;

	if (l->typed && !l->person) {
		channels_look_into(l, 0, s);
		bool plain =
			s->print == PRINT_AUTO && s->timeout == 0 && s->tty != TRI_YES && !later;
		if (plain && l->sink[0] != SINK_AGENT) {
			TRACE(SINK, "a person's pipeline: the command is executed directly");
			l->direct = true;
			return;
		}
	}
	l->channel[0] = channel_for(l, 0, s, later);
	l->channel[1] = merged ? CHANNEL_MERGED : channel_for(l, 1, s, later);
	/* With --detach the person sees only the ID. */
	if (s->detach)
		l->person = false;
	/* `echo x | terse less` reads the person's keys from the terminal behind /dev/tty. */
	if (l->channel[0] == CHANNEL_PTY && l->person && s->tty != TRI_NO)
		l->keyboard = l->typed ? STDIN_FILENO
				       : io_above_standard(
						 open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
	bool asked = s->tty == TRI_YES || (s->tty == TRI_AUTO && later);
	l->called = s->person && s->agent && s->tty == TRI_AUTO && !asked && !l->person &&
		    l->channel[0] == CHANNEL_PTY;
	l->controlling = l->channel[0] == CHANNEL_PTY && (l->keyboard >= 0 || asked || l->called);
	/* A shell uses the terminal on its standard error for job control. */
	bool shown = l->channel[merged ? 0 : 1] == CHANNEL_PTY;
	l->jobs = jobs && shown && !l->controlling;
	/* Without a person, a pipe or file stays the command's stdin. The terminal replaces a
	   device such as /dev/null, and a socket to which the agent has written nothing. */
	const mode_t given = l->given[0].st_mode;
	char byte;
	bool idle = S_ISCHR(given) || (later && S_ISSOCK(given) &&
				       recv(STDIN_FILENO, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0);
	l->stdin_pty = l->controlling && !l->called &&
		       (l->keyboard == STDIN_FILENO || (!l->person && idle));
	l->stdin_held = l->keyboard != STDIN_FILENO && !sink_is_null(&l->given[0]);
	for (int i = 0; i < 2; i++)
		TRACE(SINK, "%s: %s, for %s", i ? "stderr" : "stdout", channels[l->channel[i]],
		      sinks[l->sink[i]]);
	TRACE(SINK, "controlling terminal: %s%s, stdin: %s, keyboard: %s",
	      l->controlling ? "yes" : "no", l->jobs ? ", but for job control" : "",
	      l->stdin_pty ? "the terminal" : "as given",
	      l->keyboard >= 0 ? "the person's" : "none");
}
