// See sink.h.

#include "supervisor/process/sink.h"

#include "lib/buffer.h"
#include "lib/io.h"
#include "lib/proc.h"
#include "lib/trace.h"
#include "supervisor/agents/rule.h"
#include "supervisor/process/process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Deeper than any real chain of shells; ends a loop where processes exit meanwhile. */
#define ANCESTORS_MAX 32

enum sink sink_of(int fd)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return errno == EBADF ? SINK_CLOSED : SINK_FILE;
	switch (st.st_mode & S_IFMT) {
	case S_IFSOCK: return SINK_AGENT;
	case S_IFIFO: return SINK_PIPE;
	case S_IFCHR: return isatty(fd) ? SINK_PERSON : SINK_FILE;
	default: return SINK_FILE;
	}
}

bool sink_is_same(int a, int b)
{
	struct stat x, y;
	if (fstat(a, &x) < 0 || fstat(b, &y) < 0 || x.st_dev != y.st_dev || x.st_ino != y.st_ino)
		return false;
	if (!S_ISREG(x.st_mode))
		return true;
	/* Two opens of one regular file have a position each. But each write goes to the end,
	   whichever of the two it is made by, in >>f 2>>f. */
	pid_t self = getpid();
	int flags = fcntl(a, F_GETFL), other = fcntl(b, F_GETFL);
	if (flags >= 0 && other >= 0 && flags & other & O_APPEND)
		return true;
	long order = syscall(SYS_kcmp, self, self, KCMP_FILE, a, b);
	if (order >= 0)
		return order == 0;
	/* The kernel lacks this call or forbids it, as in many containers. Two opens that stand at
	   the same place would write over each other: hardly what anybody wants. */
	return flags == other && lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR);
}

static const char *const shells[] = {"sh",   "bash", "dash",    "zsh",  "ksh",
				     "mksh", "fish", "ash",     "yash", "rbash",
				     "tcsh", "csh",  "busybox", "nu",   "pwsh"};

/* Programs that run a command as another user: they belong to somebody else, but read nothing. */
static const char *const switches[] = {"sudo", "su", "doas", "runuser", "pkexec"};

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* "bash", and also "bash-5.2", "ksh93" or "bash (deleted)". */
static bool sink_is_in(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(names[i]);
		if (strncmp(name, names[i], len) != 0)
			continue;
		const char *rest = name + len;
		if (rest[strspn(rest, "-.0123456789")] == '\0' || strcmp(rest, " (deleted)") == 0)
			return true;
	}
	return false;
}

/* A script's process bears the name of the script, so its program counts, too. */
static bool is_shell(pid_t pid, const struct process *p)
{
	char program[PATH_MAX];
	if (sink_is_in(shells, COUNT(shells), p->name))
		return true;
	if (process_link(pid, program, sizeof(program), "exe") <= 0)
		return false;
	const char *slash = strrchr(program, '/');
	return sink_is_in(shells, COUNT(shells), slash ? slash + 1 : program);
}

/* READS_UNTIL_EXEC: the next exec closes its end. */
enum reading { READS_STDIN, READS, READS_UNTIL_EXEC, READS_NOT, HIDDEN };

/* Goes through a process's descriptors once, up to one that reads the pipe. Puts what they are into
   `seen`. */
static enum reading sink_pass(pid_t pid, const char *link, struct buffer *seen)
{
	struct process p;
	struct process_walk w;
	char target[64];
	enum reading reading = READS_NOT;
	bool until_exec;
	buffer_clear(seen);
	long fd = process_walk(&w, PROCESS_DESCRIPTORS, pid);
	if (!w.dir)
		return errno == EACCES && process_read(pid, &p) == 0 && p.state != 'Z' ? HIDDEN
										       : READS_NOT;
	for (; fd >= 0 && reading == READS_NOT; fd = process_walk_next(&w)) {
		bool is_there = process_walk_link(&w, fd, target, sizeof(target));
		buffer_printf(seen, "%ld %s\n", fd, target);
		if (is_there && strcmp(target, link) == 0 &&
		    process_can_read(pid, (unsigned long)fd, &until_exec))
			reading = fd == STDIN_FILENO ? READS_STDIN
				  : until_exec       ? READS_UNTIL_EXEC
						     : READS;
	}
	process_walk_end(&w);
	return reading;
}

/* Passes until two in a row agree. */
#define PASSES 8

/* Whether a process reads the pipe. On its way to exec a shell's child moves its end to standard
   input: a pass may come to each of the two descriptors while the end is at the other one. */
static enum reading sink_look_at(pid_t pid, const char *link)
{
	struct buffer seen[2] = {BUFFER_INIT, BUFFER_INIT};
	enum reading reading = sink_pass(pid, link, &seen[0]);
	bool same = seen[0].len == 0;
	for (int i = 1; reading == READS_NOT && !same && i < PASSES; i++) {
		reading = sink_pass(pid, link, &seen[i % 2]);
		same = buffer_is(&seen[0], seen[1].data, seen[1].len);
	}
	buffer_release(&seen[0]);
	buffer_release(&seen[1]);
	return reading;
}

/* How long a child has to execute its program. */
#define EXEC_MS 100

/* `terse A | terse B`: the reader is B, below the second front end and its supervisor. */
#define BELOW_TERSE 3

/* Whether a child of `parent`, but for `except`, reads the pipe. `pipeline`: the parent is a shell,
   so a child of another user may well read it. `below`: levels to search below a child that is
   terse itself. */
static bool child_reads_pipe(struct process_tree *tree, const char *link, pid_t parent,
			     pid_t except, bool pipeline, int below)
{
	const struct timespec step = {.tv_nsec = 1000000};
	struct buffer children = BUFFER_INIT;
	bool found = process_tree_children(tree, parent, &children) < 0;
	const pid_t *pids = (const pid_t *)children.data;
	for (size_t i = 0; !found && i < children.len / sizeof(*pids); i++) {
		struct process p;
		const pid_t child = pids[i];
		if (child == except)
			continue;
		enum reading reading = sink_look_at(child, link);
		/* Between fork and exec it holds every end that its parent holds, as happens where
		   an agent starts commands from several threads. */
		for (int ms = 0; reading == READS_UNTIL_EXEC && ms < EXEC_MS; ms++) {
			nanosleep(&step, NULL);
			reading = sink_look_at(child, link);
		}
		found = reading <= READS_UNTIL_EXEC || (reading == HIDDEN && pipeline);
		if (found)
			TRACE(SINK, "child %d of %d reads", (int)child, (int)parent);
		bool inside = below < BELOW_TERSE; /* below a terse already */
		if (found || below == 0 ||
		    (!inside && (process_read(child, &p) < 0 || strcmp(p.name, "terse") != 0)))
			continue;
		/* B may have been started since the last pass. */
		process_tree_release(tree);
		found = child_reads_pipe(tree, link, child, except, false, below - 1);
	}
	buffer_release(&children);
	return found;
}

/* One of the processes above the writer. */
struct ancestor {
	pid_t pid;
	bool shell;
};

/* Goes from parent to parent, through whatever started terse (timeout, sudo, xargs), to the one
   that reads. Puts the processes into `up`. Returns how many, or -1 if one of them is a program
   that reads, or can't be seen. */
static int sink_climb(pid_t writer, pid_t parent, const char *link,
		      struct ancestor up[ANCESTORS_MAX])
{
	struct process p;
	int count = 0;
	/* The writer may have been killed. */
	if (process_read(writer, &p) == 0)
		parent = p.parent;
	while (count < ANCESTORS_MAX && parent > 0) {
		if (process_read(parent, &p) < 0)
			return -1;
		bool shell = is_shell(parent, &p);
		enum reading reading = sink_look_at(parent, link);
		TRACE(SINK, "above: %d %s%s%s", (int)parent, p.name, shell ? ", a shell" : "",
		      reading <= READS_UNTIL_EXEC ? ", has the reading end" : "");
		/* Some shells become the last program of a pipeline. */
		if (reading == READS_STDIN || (reading != READS_NOT && shell))
			return -1;
		up[count++] = (struct ancestor){parent, shell};
		if (reading == READS || reading == READS_UNTIL_EXEC)
			break;
		if (reading == HIDDEN && !sink_is_in(switches, COUNT(switches), p.name))
			break;
		parent = p.parent;
	}
	return count;
}

enum sink sink_of_pipe(int fd, pid_t writer, pid_t parent)
{
	char link[64];
	struct ancestor up[ANCESTORS_MAX];
	struct process_tree tree = {.passes = false};
	/* A FIFO with a name was made for programs; its reader may not even have opened it yet. */
	if (process_link(0, link, sizeof(link), "fd/%d", fd) <= 0 || strncmp(link, "pipe:", 5) != 0)
		return SINK_PROGRAM;
	/* Ancestors first: a shell may be about to start the reader, and holds its end until then.
	   After that the reader is found among the children. */
	int count = sink_climb(writer, parent, link, up);
	/* `terse ... > >(reader)`: the shell's child makes the reader before it becomes terse. */
	bool found = count < 0 || child_reads_pipe(&tree, link, writer, getpid(), false, 0);
	for (int i = 0; !found && i < count; i++)
		found = child_reads_pipe(&tree, link, up[i].pid, i ? up[i - 1].pid : writer,
					 up[i].shell, BELOW_TERSE);
	process_tree_release(&tree);
	TRACE(SINK, "descriptor %d: %s reads %s", fd, found ? "a program" : "an agent", link);
	return found ? SINK_PROGRAM : SINK_AGENT;
}

static void channels_look_into(struct channels *l, int i)
{
	if (l->sink[i] == SINK_PIPE)
		l->sink[i] = sink_of_pipe(STDOUT_FILENO + i, getpid(), getppid());
}

/* `later`: the command may be typed to later (terse send). */
static enum channel channel_for(const struct channels *l, int i, const struct settings *s,
				bool later)
{
	switch (l->sink[i]) {
	case SINK_CLOSED: return CHANNEL_INHERIT;
	case SINK_PERSON:
		/* Standard error on a person's terminal while stdout goes elsewhere. */
		if (i == 1 && !l->person)
			return CHANNEL_INHERIT;
		break;
	case SINK_FILE:
		/* Unless something was asked for that only this program can do, between the command
		   and a file. */
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

void channels_decide(struct channels *l, const struct settings *s, bool captured, bool jobs)
{
	static const char *const sinks[] = {"a person", "an agent", "a program",
					    "a file",   "a pipe",   "nobody"};
	static const char *const channels[] = {"a pty", "a pipe", "inherited",
					       "merged with stdout"};
	const bool typed = isatty(STDIN_FILENO), later = s->yield > 0 || s->detach;
	*l = (struct channels){.keyboard = -1};
	for (int i = 0; i < 2; i++) {
		enum sink sink = sink_of(STDOUT_FILENO + i);
		/* Some agents collect output in a file. */
		if (sink == SINK_FILE && s->agent && rule_collects(s, s->agent, STDOUT_FILENO + i))
			sink = SINK_AGENT;
		bool is_forced = s->print == PRINT_PREVIEW || s->format != FORMAT_TEXT;
		if ((is_forced && sink != SINK_CLOSED) || (captured && sink == SINK_PERSON))
			sink = SINK_AGENT;
		l->sink[i] = sink;
	}
	/* Nobody reads standard output or standard error of a run that is left at once; a program
	   that asks for JSON wants to know which is which. */
	bool merged = s->streams == STREAMS_MERGED || (s->streams == STREAMS_AUTO && s->detach);
	if (s->streams == STREAMS_AUTO && !s->detach && s->format == FORMAT_TEXT) {
		merged = sink_is_same(STDOUT_FILENO, STDERR_FILENO);
		if (!merged) {
			channels_look_into(l, 0);
			channels_look_into(l, 1);
			merged = l->sink[0] == SINK_AGENT && l->sink[1] == SINK_AGENT;
		}
	}
	l->person = l->sink[0] == SINK_PERSON;

	if (typed && !l->person) {
		channels_look_into(l, 0);
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
	/* The person only sees the ID. */
	if (s->detach)
		l->person = false;
	/* `echo x | terse less` reads the person's keys from the terminal behind /dev/tty. */
	if (l->channel[0] == CHANNEL_PTY && l->person && s->tty != TRI_NO)
		l->keyboard =
			typed ? STDIN_FILENO
			      : io_above_standard(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
	bool asked = s->tty == TRI_YES || (s->tty == TRI_AUTO && later);
	l->controlling = l->channel[0] == CHANNEL_PTY && (l->keyboard >= 0 || asked);
	/* A shell takes the terminal on its standard error. */
	bool shown = l->channel[merged ? 0 : 1] == CHANNEL_PTY;
	l->jobs = jobs && shown && !l->controlling;
	/* Without a person, a pipe or file on stdin stays what it is; /dev/null gives way, and so
	   does a socket through which an agent could write but has not. */
	struct stat st;
	char byte;
	bool is_there = fstat(STDIN_FILENO, &st) == 0;
	bool idle = is_there && (S_ISCHR(st.st_mode) ||
				 (later && S_ISSOCK(st.st_mode) &&
				  recv(STDIN_FILENO, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0));
	l->stdin_pty = l->controlling && (l->keyboard == STDIN_FILENO || (!l->person && idle));
	for (int i = 0; i < 2; i++)
		TRACE(SINK, "%s: %s, for %s", i ? "stderr" : "stdout", channels[l->channel[i]],
		      sinks[l->sink[i]]);
	TRACE(SINK, "controlling terminal: %s%s, stdin: %s, keyboard: %s",
	      l->controlling ? "yes" : "no", l->jobs ? ", but for job control" : "",
	      l->stdin_pty ? "the terminal" : "as given",
	      l->keyboard >= 0 ? "the person's" : "none");
}
