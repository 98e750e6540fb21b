// See spawn.h.

#include "supervisor/process/spawn.h"

#include "supervisor/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether a file that the kernel does not execute is no script either: one of another machine's. */
static bool is_binary(const char *path)
{
	char start[128];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, start, sizeof(start));
	io_close(&fd);
	const char *line = n > 0 ? memchr(start, '\n', (size_t)n) : NULL;
	size_t len = line ? (size_t)(line - start) : n > 0 ? (size_t)n : 0;
	return len > 0 && memchr(start, '\0', len);
}

/* Whether execvp() goes on searching behind a file that could not be executed for this. */
static bool is_passed_over(int error)
{
	return error == EACCES || error == ENOENT || error == ENOTDIR || error == ESTALE ||
	       error == ENODEV || error == ETIMEDOUT;
}

/* Executes what execvp() would, but no script without #!. Returns ENOEXEC for a binary, else 0. */
static int exec_unless_script(const char *file, char *const *argv)
{
	char path[PATH_MAX];
	int error = ENOENT;
	const char *entry = strchr(file, '/') ? "" : getenv("PATH");
	while (entry && *file && is_passed_over(error)) {
		size_t len = strcspn(entry, ":");
		int size = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, entry, len ? "/" : "",
				    file);
		if (size < (int)sizeof(path)) {
			execve(path, argv, environ);
			error = errno;
		}
		if (error == ENOEXEC)
			return is_binary(path) ? ENOEXEC : 0;
		entry = entry[len] ? entry + len + 1 : NULL;
	}
	return 0;
}

int spawn_exec(const char *program, char *const *argv, char *const *envp)
{
	const char *file = program ? program : argv[0];
	/* execvpe() searches the PATH of this process, the command's may differ. */
	environ = (char **)envp;
	/* execvp() would give a binary of another machine to sh. */
	if (exec_unless_script(file, argv) == ENOEXEC)
		return ENOEXEC;
	execvp(file, argv);
	return errno;
}

int spawn_exit_status(int exec_errno)
{
	return exec_errno == ENOENT ? 127 : 126;
}

static void spawn_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns a group whose leader has ended, 0 where there can be none. */
static pid_t make_group(void)
{
	pid_t pid = vfork();
	if (pid == 0) {
		setpgid(0, 0);
		_exit(0);
	}
	return pid > 0 ? pid : 0;
}

/* Runs in the child, which shares this process's memory until it is executed: only
   system calls, and nothing is changed but what the parent knows of. Returns an errno. */
static int spawn_become_command(const struct spawn *s, pid_t parent, pid_t group)
{
	/* One of its own where that group can't be joined. */
	if (setpgid(0, group) < 0)
		setpgid(0, 0);
	/* The keeper's death must not leave the command behind, even if it came before this line.
	 */
	prctl(PR_SET_PDEATHSIG, SIGHUP);
	if (getppid() != parent)
		return ESRCH;
	if (s->terminal >= 0)
		tcsetpgrp(s->terminal, getpgrp());
	for (int i = 0; i < 3; i++) {
		if (s->fds[i] >= 0 && dup2(s->fds[i], i) < 0)
			return errno;
	}
	signals_restore(s->signals);
	return spawn_exec(s->program, s->argv, s->envp);
}

pid_t spawn_command(const struct spawn *s, pid_t *group)
{
	/* The shared memory is also how the child tells why it failed. */
	volatile int failed = 0;
	char **own = environ;
	pid_t parent = getpid(), leader = s->leads ? 0 : make_group();
	/* A fork would copy the page tables for nothing, and let the command wait for a processor
	   behind what this process does next. */
	pid_t pid = vfork();
	if (pid == 0) {
		failed = spawn_become_command(s, parent, leader);
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
