// See spawn.h.

#include "supervisor/process/spawn.h"

#include <errno.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int spawn_exec(const char *program, char *const *argv, char *const *envp)
{
	/* execvpe() searches the PATH of this process, the command's may differ. */
	environ = (char **)envp;
	execvp(program ? program : argv[0], argv);
	return errno;
}

int spawn_exit_status(int exec_errno)
{
	return exec_errno == ENOENT ? 127 : 126;
}

/* Runs in the child, which shares this process's memory until it is executed: only
   system calls, and nothing is changed but what the parent knows of. Returns an errno. */
static int become_command(const struct spawn *s, pid_t parent)
{
	setpgid(0, 0);
	/* The keeper's death must not leave the command behind, even if it came before this line.
	 */
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != parent)
		return ESRCH;
	if (s->terminal >= 0)
		tcsetpgrp(s->terminal, getpid());
	for (int i = 0; i < 3; i++) {
		if (s->fds[i] >= 0 && dup2(s->fds[i], i) < 0)
			return errno;
	}
	signals_restore(s->signals);
	return spawn_exec(s->program, s->argv, s->envp);
}

pid_t spawn_command(const struct spawn *s)
{
	/* The shared memory is also how the child tells why it failed. */
	volatile int failed = 0;
	char **own = environ;
	pid_t parent = getpid();
	/* A fork would copy the page tables for nothing, and let the command wait for a processor
	   behind what this process does next. */
	pid_t pid = vfork();
	if (pid == 0) {
		failed = become_command(s, parent);
		_exit(spawn_exit_status(failed));
	}
	environ = own;
	if (pid > 0 && failed) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		errno = failed;
		return 0;
	}
	return pid;
}
