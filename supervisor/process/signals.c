// See signals.h.

#include "supervisor/process/signals.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void signals_take(struct signals *saved)
{
	sigset_t all;
	struct sigaction action;
	/* TTOU, too, so that a front end in the background can still put terminal modes back. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &saved->mask);
	saved->children_ignored =
		sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
	/* With SIGCHLD ignored the kernel reaps by itself and the status is lost. */
	if (saved->children_ignored)
		signal(SIGCHLD, SIG_DFL);
}

void signals_restore(const struct signals *saved)
{
	signal(SIGCHLD, saved->children_ignored ? SIG_IGN : SIG_DFL);
	sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

_Noreturn void signals_end_like(int status)
{
	if (WIFSIGNALED(status)) {
		const struct rlimit none = {0, 0};
		int sig = WTERMSIG(status);
		sigset_t set;
		setrlimit(RLIMIT_CORE, &none);
		/* A core handler behind a pipe ignores the limit. */
		prctl(PR_SET_DUMPABLE, 0);
		signal(sig, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		kill(getpid(), sig);
		/* Not fatal here after all: what a shell would report. */
		_exit(128 + sig);
	}
	_exit(WEXITSTATUS(status));
}
