// See spawn.h.

#include "supervisor/process/spawn.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

int spawn_exec(char *const *argv, char *const *envp)
{
	/* execvpe() searches the PATH of this process, the command's may differ. */
	environ = (char **)envp;
	execvp(argv[0], argv);
	return errno;
}

int spawn_exit_status(int exec_errno)
{
	return exec_errno == ENOENT ? 127 : 126;
}

_Noreturn static void become_command(const struct spawn *s, int error, pid_t parent)
{
	int failed = 0;
	setpgid(0, 0);
	/* The keeper's death must not leave the command behind, even if it came before this line.
	 */
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != parent)
		_exit(128 + SIGHUP);
	if (s->terminal >= 0)
		tcsetpgrp(s->terminal, getpid());
	for (int i = 0; i < 3 && !failed; i++) {
		if (s->fds[i] >= 0 && dup2(s->fds[i], i) < 0)
			failed = errno;
	}
	if (!failed && s->cwd && chdir(s->cwd) < 0)
		failed = errno;
	if (!failed) {
		signals_restore(s->signals);
		failed = spawn_exec(s->argv, s->envp);
	}
	io_write(error, &failed, sizeof(failed));
	_exit(spawn_exit_status(failed));
}

pid_t spawn_command(const struct spawn *s, int *error)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		ends[i] = io_above_standard(ends[i]);
	pid_t parent = getpid();
	pid_t pid = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
	if (pid == 0)
		become_command(s, ends[1], parent);
	io_close(&ends[1]);
	if (pid < 0)
		io_close(&ends[0]);
	else
		setpgid(pid, pid);
	*error = ends[0];
	return pid;
}

int spawn_error(int *error)
{
	int failed = 0;
	if (read(*error, &failed, sizeof(failed)) != sizeof(failed))
		failed = 0;
	io_close(error);
	return failed;
}
