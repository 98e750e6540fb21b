// See spawn.h.

#include "supervisor/process/spawn.h"

#include "lib/exec.h"
#include "lib/io.h"
#include "supervisor/process/job.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int pty_open_slave(int master, int mode)
{
	char name[32];
	const int flags = mode | O_NOCTTY | O_CLOEXEC;
	int slave = ioctl(master, TIOCGPTPEER, flags), number;
	/* Old kernels open the slave only by its name. */
	if (slave < 0 && ioctl(master, TIOCGPTN, &number) == 0) {
		snprintf(name, sizeof(name), "/dev/pts/%d", number);
		slave = open(name, flags);
	}
	return io_above_standard(slave);
}

int pty_open(struct pty *p, unsigned cols, unsigned rows, enum pty_use use,
	     const struct termios *like)
{
	const struct winsize size = {.ws_col = (unsigned short)cols,
				     .ws_row = (unsigned short)rows};
	const int unlocked = 0;
	struct termios modes;
	*p = (struct pty){.master = -1, .slave = -1};
	p->master =
		io_above_standard(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
	/* Sets the slave's size and modes through the master. */
	if (p->master < 0 || ioctl(p->master, TIOCSPTLCK, &unlocked) < 0 ||
	    ioctl(p->master, TIOCSWINSZ, &size) < 0 || (!like && tcgetattr(p->master, &modes) < 0))
		goto fail;
	if (like)
		modes = *like;
	modes.c_iflag |= IUTF8;
	if (use != PTY_TYPED) {
		modes.c_oflag &= ~(tcflag_t)OPOST;
		modes.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	}
	/* A read ends at once, even in the modes in which programs ask for passwords. */
	if (use == PTY_JOBS) {
		modes.c_lflag &= ~(tcflag_t)ICANON;
		modes.c_cc[VMIN] = modes.c_cc[VTIME] = 0;
	}
	/* Where nobody types, the command must not wait for keys. An editor without a terminal on
	   stdin reads keys from stderr, so the slave can only be written to. tcsetattr(3) would
	   also read the modes, before and after, to check what the terminal accepts. */
	if (ioctl(p->master, TCSETS, &modes) < 0 ||
	    (p->slave = pty_open_slave(p->master, use == PTY_WRITTEN ? O_WRONLY : O_RDWR)) < 0)
		goto fail;
	if (use != PTY_JOBS)
		return 0;
	/* A process needs a readable descriptor to make a terminal its controlling one; the
	   command's descriptor is write-only. */
	bool controls = ioctl(p->slave, TIOCSCTTY, 0) == 0;
	int writes = pty_open_slave(p->master, O_WRONLY);
	if (writes >= 0) {
		io_close(&p->slave);
		p->slave = writes;
	}
	/* From now on only CAP_SYS_ADMIN opens the terminal again, by /dev/tty or otherwise. */
	if (controls)
		ioctl(p->slave, TIOCEXCL);
	return 0;
fail:
	io_close(&p->master);
	io_close(&p->slave);
	return -1;
}

int pty_resize(int master, unsigned cols, unsigned rows)
{
	const struct winsize size = {.ws_col = (unsigned short)cols,
				     .ws_row = (unsigned short)rows};
	return ioctl(master, TIOCSWINSZ, &size);
}

bool pty_is_raw(int master)
{
	struct termios modes;
	return tcgetattr(master, &modes) == 0 && !(modes.c_lflag & ICANON);
}

void signals_take(struct signals *saved)
{
	sigset_t all;
	struct sigaction action;
	/* TTOU is blocked, too, so that a front end in the background can still put terminal modes
	   back. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &saved->mask);
	saved->children_ignored =
		sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
	/* While SIGCHLD is ignored, the kernel reaps children and their status is lost. */
	if (saved->children_ignored)
		signal(SIGCHLD, SIG_DFL);
}

void signals_restore(const struct signals *saved)
{
	if (saved->children_ignored)
		signal(SIGCHLD, SIG_IGN);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

_Noreturn void signals_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		const struct rlimit none = {0, 0};
		int sig = WTERMSIG(status);
		sigset_t set;
		setrlimit(RLIMIT_CORE, &none);
		/* A core handler behind a pipe ignores the limit, so the process is made
		   undumpable. */
		prctl(PR_SET_DUMPABLE, 0);
		signal(sig, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		kill(getpid(), sig);
		/* The signal was not fatal here: ends as a shell would report it. */
		_exit(128 + sig);
	}
	_exit(WEXITSTATUS(status));
}

bool environment_is_same(const char *entry, const char *other)
{
	/* Most names differ in the first byte. */
	size_t len = *entry == *other ? strcspn(entry, "=") : 0;
	return len > 0 && strncmp(entry, other, len) == 0 && (!other[len] || other[len] == '=');
}

bool environment_lists(const struct strings *list, const char *entry)
{
	for (size_t i = 0; i < list->count; i++) {
		if (environment_is_same(entry, list->items[i]))
			return true;
	}
	return false;
}

char **environment_make(char *const *from, const struct settings *s, bool captured, char *active)
{
	size_t count = 0, n = 0;
	while (from[count])
		count++;
	char **result = malloc((count + s->env_set.count + 2) * sizeof(*result));
	if (!result)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		bool kept = environment_lists(&s->env_keep, from[i]);
		bool replaced = environment_lists(&s->env_set, from[i]) ||
				environment_lists(&s->env_unset, from[i]);
		if (environment_is_same(from[i], active) || (captured && replaced && !kept))
			continue;
		result[n++] = from[i];
	}
	const struct strings given = {.items = (char **)from, .count = count};
	for (size_t i = 0; captured && i < s->env_set.count; i++) {
		char *entry = s->env_set.items[i];
		const struct strings later = {.items = s->env_set.items + i + 1,
					      .count = s->env_set.count - i - 1};
		/* Leaves out an entry if a later entry of the list sets the variable again, or if
		   the caller has the variable and [environment] keeps it. */
		if (!environment_lists(&later, entry) &&
		    !(environment_lists(&s->env_keep, entry) && environment_lists(&given, entry)))
			result[n++] = entry;
	}
	result[n++] = active;
	result[n] = NULL;
	return result;
}

int spawn_exec(const struct job *job, char *const *envp)
{
	/* exec_search() searches the PATH of `environ`, so that has to be the command's. */
	environ = (char **)envp;
	return exec_search(job->program ? job->program : job->argv[0], job->argv);
}

int spawn_exit_status(int exec_errno)
{
	return exec_errno == ENOENT ? 127 : 126;
}

void spawn_reap(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

pid_t spawn_command(const struct job *job, char *const *envp, const int fds[3], int terminal,
		    pid_t *group)
{
	/* The child reports its error through the shared memory. */
	volatile int failed = 0;
	char **own = environ;
	pid_t parent = getpid(), leader = 0;
	/* Makes a group whose leader has ended; 0 where that is not possible. */
	if (!job->leads) {
		leader = vfork();
		if (leader == 0) {
			setpgid(0, 0);
			_exit(0);
		}
		leader = leader > 0 ? leader : 0;
	}
	/* vfork(): fork() would copy the page tables for nothing, and this process might run first
	   and delay the command. */
	pid_t pid = vfork();
	/* The child shares this process's memory until exec: it makes only system calls, and
	   changes no memory that the parent relies on. */
	if (pid == 0) {
		/* The child makes a group of its own if it can't join the leader's. */
		if (setpgid(0, leader) < 0)
			setpgid(0, 0);
		/* The command must not outlive the supervisor, even if the supervisor died before
		   this line. */
		prctl(PR_SET_PDEATHSIG, SIGHUP);
		failed = getppid() != parent ? ESRCH : 0;
		if (terminal >= 0 && !failed)
			tcsetpgrp(terminal, getpgrp());
		for (int i = 0; i < 3 && !failed; i++)
			failed = fds[i] >= 0 && dup2(fds[i], i) < 0 ? errno : 0;
		signals_restore(&job->signals);
		if (!failed)
			failed = spawn_exec(job, envp);
		_exit(spawn_exit_status(failed));
	}
	environ = own;
	*group = leader ? leader : pid;
	if (leader && (pid < 0 || failed))
		spawn_reap(leader);
	if (pid > 0 && failed) {
		spawn_reap(pid);
		errno = failed;
		return 0;
	}
	return pid;
}
