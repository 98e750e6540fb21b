// See libc.h.

#include "lib/musl/libc.h"

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

static void add_first(sigset_t *set)
{
	enum { WORD = 8 * sizeof(*set->__bits), BIT = SIGRTMIN - 1 };
	set->__bits[BIT / WORD] |= 1UL << BIT % WORD;
}

#undef sigaddset
int musl_sigaddset(sigset_t *set, int sig)
{
	if (sig != SIGRTMIN)
		return sigaddset(set, sig);
	add_first(set);
	return 0;
}

#undef sigfillset
int musl_sigfillset(sigset_t *set)
{
	sigfillset(set);
	add_first(set);
	return 0;
}

/* musl's own function leaves signal 32 out of `before`. The kernel's set has a bit for each of 64
   signals. */
int musl_sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, 64 / 8);
}

int malloc_trim(size_t pad)
{
	(void)pad;
	return 0;
}
