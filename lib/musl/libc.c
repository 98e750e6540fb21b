// See libc.h.

#include "lib/musl/libc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *sigabbrev_np(int sig)
{
	static const char *const names[] = {
		[SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
		[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
		[SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
		[SIGWINCH] = "WINCH",   [SIGPOLL] = "POLL",     [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};
	return sig > 0 && (size_t)sig < sizeof(names) / sizeof(*names) ? names[sig] : NULL;
}

int close_range(unsigned first, unsigned last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

int pidfd_open(pid_t pid, unsigned flags)
{
	return (int)syscall(SYS_pidfd_open, pid, flags);
}

int pidfd_getfd(int pidfd, int fd, unsigned flags)
{
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, flags);
}

int pidfd_send_signal(int pidfd, int sig, siginfo_t *info, unsigned flags)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, sig, info, flags);
}

/* Executes sh with the file as its script. */
static void execute_script(const char *path, char *const argv[])
{
	size_t count = 0;
	while (argv[count])
		count++;
	const char *args[count + 3];
	args[0] = "sh";
	args[1] = path;
	size_t n = 2;
	for (size_t i = 1; i < count; i++)
		args[n++] = argv[i];
	args[n] = NULL;
	execv("/bin/sh", (char *const *)args);
}

#undef execvp
int musl_execvp(const char *file, char *const argv[])
{
	const char *path = getenv("PATH");
	char name[PATH_MAX];
	execvp(file, argv);
	if (errno != ENOEXEC)
		return -1;
	if (strchr(file, '/') || !path)
		execute_script(file, argv);
	/* The first one that can be executed is the one that could not be. */
	for (size_t len; !strchr(file, '/') && path; path = path[len] ? path + len + 1 : NULL) {
		len = strcspn(path, ":");
		snprintf(name, sizeof(name), "%.*s%s%s", (int)len, path, len ? "/" : "", file);
		if (access(name, X_OK) == 0) {
			execute_script(name, argv);
			break;
		}
	}
	errno = ENOEXEC;
	return -1;
}

int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}
